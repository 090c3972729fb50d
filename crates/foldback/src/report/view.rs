//! The graph and the transcript, for programs.

use crate::event::{ConversationId, PayloadRef};
use crate::{Relation, RuntimeGraph, Transcript, graph_text, rfc3339};
use foldback_graph::{EntryKind, Finding};
use serde::Serialize;

/// The runtime graph at a position.
#[derive(Debug, Clone, Serialize)]
pub struct GraphReport {
    /// `foldback.graph/1`
    pub schema: &'static str,
    /// The conversation.
    pub conversation: String,
    /// The position that it is folded to.
    pub position: u64,
    /// How many nodes there are of each kind.
    pub counts: Counts,
    /// The stable text form, a line per node.
    pub nodes: Vec<String>,
    /// The named edges.
    pub relations: Vec<RelationRow>,
    /// What was odd.
    pub findings: Vec<FindingRow>,
}

/// How many nodes of each kind a graph has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Branches.
    pub branches: u64,
    /// Participants.
    pub participants: u64,
    /// Messages.
    pub messages: u64,
    /// Runs.
    pub runs: u64,
    /// Calls.
    pub calls: u64,
    /// Artifacts.
    pub artifacts: u64,
    /// Memories.
    pub memories: u64,
    /// Children.
    pub children: u64,
    /// Checkpoints.
    pub checkpoints: u64,
    /// Assemblies.
    pub assemblies: u64,
}

/// A named edge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RelationRow {
    /// What it says.
    pub kind: &'static str,
    /// Where it starts.
    pub from: String,
    /// Where it ends.
    pub to: String,
}

impl RelationRow {
    /// Makes the row of an edge.
    pub fn new(relation: &Relation) -> Self {
        Self {
            kind: relation.kind.name(),
            from: relation.from.to_string(),
            to: relation.to.to_string(),
        }
    }
}

/// Something odd.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FindingRow {
    /// What, as a stable code.
    pub code: String,
    /// The position of the event.
    pub position: u64,
    /// The place in an imported source: a line number or array index, from 1.
    pub place: Option<u64>,
}

impl GraphReport {
    /// Makes the report of a graph.
    pub fn new(conversation: ConversationId, graph: &RuntimeGraph) -> Self {
        let finding = |finding: &Finding| FindingRow {
            code: finding.code.to_string(),
            position: finding.position,
            place: finding.place,
        };
        Self {
            schema: "foldback.graph/1",
            conversation: conversation.to_string(),
            position: graph.position(),
            counts: Counts {
                branches: graph.branches().count() as u64,
                participants: graph.participants().count() as u64,
                messages: graph.messages().count() as u64,
                runs: graph.runs().count() as u64,
                calls: graph.calls().count() as u64,
                artifacts: graph.artifacts().count() as u64,
                memories: graph.memories().count() as u64,
                children: graph.children().count() as u64,
                checkpoints: graph.checkpoints().count() as u64,
                assemblies: graph.assemblies().count() as u64,
            },
            nodes: graph_text(graph).lines().map(str::to_owned).collect(),
            relations: graph.relations().iter().map(RelationRow::new).collect(),
            findings: graph.findings().iter().map(finding).collect(),
        }
    }
}

/// A branch as people saw it.
#[derive(Debug, Clone, Serialize)]
pub struct TranscriptReport {
    /// `foldback.transcript/1`
    pub schema: &'static str,
    /// The conversation.
    pub conversation: String,
    /// The position that it is folded to.
    pub position: u64,
    /// The branch.
    pub branch: String,
    /// The entries, in order.
    pub entries: Vec<TranscriptRow>,
}

/// One entry of a transcript.
#[derive(Debug, Clone, Serialize)]
pub struct TranscriptRow {
    /// The position of the event that began it.
    pub position: u64,
    /// When it happened.
    pub at: String,
    /// `message` or `tool`.
    pub kind: &'static str,
    /// The message or the call; null for a result without a call.
    pub id: Option<String>,
    /// Who speaks; null for a tool.
    pub role: Option<&'static str>,
    /// The participant that speaks.
    pub participant: Option<String>,
    /// The participant's name.
    pub name: Option<String>,
    /// What was said; null for a tool, and where it cannot be read.
    pub text: Option<String>,
    /// Whether the message may still change.
    pub draft: bool,
    /// The tool.
    pub tool: Option<String>,
    /// How the call stands.
    pub status: Option<&'static str>,
    /// The arguments.
    pub arguments: Option<String>,
    /// The artifact that holds the result.
    pub artifact: Option<String>,
    /// The result or the error.
    pub result: Option<String>,
}

impl TranscriptReport {
    /// Makes the report of a transcript; `text` opens a payload.
    pub fn new(
        conversation: ConversationId,
        graph: &RuntimeGraph,
        transcript: &Transcript,
        text: &dyn Fn(&PayloadRef) -> Option<String>,
    ) -> Self {
        let mut entries = Vec::with_capacity(transcript.entries.len());
        for entry in &transcript.entries {
            let mut row = TranscriptRow {
                position: entry.position,
                at: rfc3339(entry.at),
                kind: "message",
                id: None,
                role: None,
                participant: None,
                name: None,
                text: None,
                draft: false,
                tool: None,
                status: None,
                arguments: None,
                artifact: None,
                result: None,
            };
            match &entry.kind {
                EntryKind::Message {
                    id,
                    role,
                    participant,
                    content,
                    draft,
                } => {
                    let node = participant.and_then(|id| graph.participant(&id));
                    row.id = Some(id.to_string());
                    row.role = Some(role.name());
                    row.participant = participant.map(|id| id.to_string());
                    row.name = node.and_then(|node| node.name.as_ref()).and_then(text);
                    row.text = text(content);
                    row.draft = *draft;
                }
                EntryKind::Tool {
                    call,
                    tool,
                    arguments,
                    status,
                    artifact,
                    result,
                } => {
                    row.kind = "tool";
                    row.id = call.map(|id| id.to_string());
                    row.tool = Some(tool.to_string());
                    row.status = Some(status.name());
                    row.arguments = arguments.as_ref().and_then(text);
                    row.artifact = artifact.map(|id| id.to_string());
                    row.result = result.as_ref().and_then(text);
                }
            }
            entries.push(row);
        }
        Self {
            schema: "foldback.transcript/1",
            conversation: conversation.to_string(),
            position: graph.position(),
            branch: transcript.branch.to_string(),
            entries,
        }
    }
}
