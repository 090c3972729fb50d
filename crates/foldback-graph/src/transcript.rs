//! The transcript: what people saw, as one projection among others.
//!
//! It holds messages and tool cards of one branch, in order. It never holds memories, policies or
//! assemblies: how the runtime thinks is no prose of the conversation (the article, 4.12).

use crate::RuntimeGraph;
use foldback_event::{
    ArtifactId, BranchId, CallId, CallStatus, Label, MediaType, MessageId, MessageRole, Micros,
    ParticipantId, PayloadRef, RecordKind,
};
use std::fmt::Write as _;

/// What an entry of a transcript is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryKind {
    /// Somebody said something.
    Message {
        /// The message.
        id: MessageId,
        /// Who speaks.
        role: MessageRole,
        /// The participant that speaks.
        participant: Option<ParticipantId>,
        /// What was said.
        content: PayloadRef,
        /// Whether it may still change.
        draft: bool,
    },
    /// A tool was used.
    Tool {
        /// The call; none for a result without one.
        call: Option<CallId>,
        /// The tool.
        tool: Label,
        /// The arguments.
        arguments: Option<PayloadRef>,
        /// How the call stands.
        status: CallStatus,
        /// The artifact that tells so.
        artifact: Option<ArtifactId>,
        /// The result or the error.
        result: Option<PayloadRef>,
    },
}

/// One entry of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The position of the event that began it.
    pub position: u64,
    /// When it happened.
    pub at: Micros,
    /// What it is.
    pub kind: EntryKind,
}

/// The human view of one branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    /// The branch.
    pub branch: BranchId,
    /// The entries, in order.
    pub entries: Vec<Entry>,
}

/// Projects a branch as people saw it; none if the branch is not known.
pub fn transcript(graph: &RuntimeGraph, branch: &BranchId) -> Option<Transcript> {
    let lineage = graph.lineage(branch)?;
    let mut entries: Vec<Entry> = graph
        .newest_first(&lineage)
        .filter_map(|position| entry(graph, position))
        .collect();
    entries.reverse();
    Some(Transcript {
        branch: *branch,
        entries,
    })
}

fn entry(graph: &RuntimeGraph, position: u64) -> Option<Entry> {
    let record = graph.record_at(position)?;
    match record.kind {
        RecordKind::Message => {
            let node = graph.message(&MessageId::from_bytes(record.id))?;
            // A model's thinking is kept for the provider that signed it; nobody was shown it.
            if node.content.media_type == MediaType::Thinking {
                return None;
            }
            let kind = EntryKind::Message {
                id: node.id,
                role: node.role,
                participant: node.participant,
                content: node.content,
                draft: node.draft,
            };
            Some(Entry {
                position,
                at: node.common.origin.at,
                kind,
            })
        }
        RecordKind::Call => {
            let node = graph.call(&CallId::from_bytes(record.id))?;
            let last = node.artifacts.last().and_then(|id| graph.artifact(id));
            let kind = EntryKind::Tool {
                call: Some(node.id),
                tool: node.tool.clone(),
                arguments: Some(node.arguments),
                status: last.map_or(CallStatus::Pending, |artifact| artifact.status),
                artifact: last.map(|artifact| artifact.id),
                result: last.and_then(|artifact| artifact.result),
            };
            Some(Entry {
                position,
                at: node.common.origin.at,
                kind,
            })
        }
        RecordKind::Artifact => {
            // A result shows on its call's card; only one without a call has a card of its own.
            let node = graph.artifact(&ArtifactId::from_bytes(record.id))?;
            if node.call.is_some_and(|call| graph.call(&call).is_some()) {
                return None;
            }
            let kind = EntryKind::Tool {
                call: None,
                tool: node.tool.clone(),
                arguments: None,
                status: node.status,
                artifact: Some(node.id),
                result: node.result,
            };
            Some(Entry {
                position,
                at: node.common.origin.at,
                kind,
            })
        }
        RecordKind::Memory
        | RecordKind::Skill
        | RecordKind::Fact
        | RecordKind::Checkpoint
        | RecordKind::Child => None,
    }
}

/// The most characters of a tool's arguments or result that a card shows.
const CARD_CHARS: usize = 200;

/// Writes a transcript as text that a person reads; `text` gives the words of a payload, or none
/// where they are erased or cannot be opened.
pub fn transcript_text(
    graph: &RuntimeGraph,
    transcript: &Transcript,
    text: &dyn Fn(&PayloadRef) -> Option<String>,
) -> String {
    let mut out = String::new();
    let words = |payload: &PayloadRef| text(payload).unwrap_or_else(|| "[not readable]".to_owned());
    for entry in &transcript.entries {
        match &entry.kind {
            EntryKind::Message {
                role,
                participant,
                content,
                draft,
                ..
            } => {
                let name = participant
                    .and_then(|id| graph.participant(&id))
                    .and_then(|node| node.name.as_ref())
                    .map(words);
                let draft = if *draft { " (draft)" } else { "" };
                let who = match name {
                    Some(name) if name != role.name() => format!("{role} {name}"),
                    _ => role.to_string(),
                };
                let _ = writeln!(out, "#{} {who}{draft}", entry.position);
                for line in words(content).lines() {
                    let _ = writeln!(out, "    {line}");
                }
            }
            EntryKind::Tool {
                tool,
                arguments,
                status,
                result,
                ..
            } => {
                let _ = writeln!(out, "#{} tool {tool} {status}", entry.position);
                if let Some(arguments) = arguments {
                    let _ = writeln!(out, "    > {}", shorten(&words(arguments)));
                }
                if let Some(result) = result {
                    let _ = writeln!(out, "    < {}", shorten(&words(result)));
                }
            }
        }
    }
    out
}

/// Puts a text on one line of bounded length.
fn shorten(text: &str) -> String {
    let mut out: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if out.chars().count() > CARD_CHARS {
        out = out.chars().take(CARD_CHARS).collect();
        out.push('…');
    }
    out
}
