//! The events of a conversation, one line each.

use super::record_id;
use crate::event::{ArtifactId, Body, ConversationId, MemoryId};
use crate::{EventRow, rfc3339};
use serde::Serialize;

/// The events of a conversation.
#[derive(Debug, Clone, Serialize)]
pub struct LogReport {
    /// `foldback.log/1`
    pub schema: &'static str,
    /// The conversation.
    pub conversation: String,
    /// A line per event, in order.
    pub events: Vec<LogRow>,
}

/// One event.
#[derive(Debug, Clone, Serialize)]
pub struct LogRow {
    /// Its position in the conversation.
    pub position: u64,
    /// Its id.
    pub event: String,
    /// Its kind.
    pub kind: String,
    /// When it happened, where its source says so.
    pub occurred_at: Option<String>,
    /// When the store took it.
    pub recorded_at: String,
    /// Who caused it.
    pub actor: String,
    /// What it is about, in a few words that no program should read.
    pub detail: String,
    /// Its chain hash.
    pub hash: String,
}

impl LogReport {
    /// Makes the report of a conversation's events.
    pub fn new(conversation: ConversationId, events: &[EventRow]) -> Self {
        let row = |row: &EventRow| {
            let envelope = &row.event.envelope;
            LogRow {
                position: envelope.version,
                event: envelope.event_id.to_string(),
                kind: kind(&row.event.body),
                occurred_at: envelope.occurred_at.map(rfc3339),
                recorded_at: rfc3339(envelope.recorded_at),
                actor: match envelope.actor.participant {
                    Some(participant) => participant.to_string(),
                    None => envelope.actor.kind.to_string(),
                },
                detail: detail(&row.event.body),
                hash: row.hash.to_string(),
            }
        };
        Self {
            schema: "foldback.log/1",
            conversation: conversation.to_string(),
            events: events.iter().map(row).collect(),
        }
    }
}

fn kind(body: &Body) -> String {
    match (body, body.kind()) {
        (_, Some(kind)) => kind.to_string(),
        (Body::Unknown(unknown), None) => format!("unknown-{}", unknown.number),
        (_, None) => "unknown".to_owned(),
    }
}

fn listed(ids: impl Iterator<Item = String>) -> String {
    ids.collect::<Vec<_>>().join(" ")
}

/// Says what an event is about: ids are short, and nothing of its content is told.
fn detail(body: &Body) -> String {
    match body {
        Body::ConversationOpened(b) => match &b.source {
            Some(source) => format!("from {source}"),
            None => format!("on {}", b.branch.short()),
        },
        Body::BranchForked(b) => match b.parent {
            Some(parent) => format!("{} off {} at {}", b.branch.short(), parent.short(), b.at),
            None => b.branch.short(),
        },
        Body::ParticipantJoined(b) => format!("{} {}", b.participant.short(), b.kind),
        Body::MessageRecorded(b) => {
            format!("{} {} {} tok", b.message.short(), b.role, b.content.tokens)
        }
        Body::MessageFinalized(b) => b.message.short(),
        Body::SkillStateChanged(b) => {
            let loaded = b.skills.iter().filter(|skill| skill.loaded).count();
            format!("{loaded} of {} loaded", b.skills.len())
        }
        Body::UserFactRemembered(b) => b.fact.short(),
        Body::ModelRunStarted(_)
        | Body::ModelRunFinished(_)
        | Body::ModelRunFailed(_)
        | Body::JobTriggered(_) => run(body),
        Body::ToolCallRequested(b) => format!("{} {}", b.call.short(), b.tool),
        Body::ToolArtifactCaptured(b) => {
            let tokens = b.result.map_or(0, |result| result.tokens);
            let (id, tool, status) = (b.artifact.short(), &b.tool, b.status);
            format!("{id} {tool} {status} {tokens} tok")
        }
        Body::ToolCallResolved(b) => format!("{} by {}", b.call.short(), b.artifact.short()),
        Body::ToolMemoryDerived(_)
        | Body::MemoriesConflicted(_)
        | Body::MemoriesSuperseded(_)
        | Body::MemoryRevalidated(_)
        | Body::ProvenanceRepairTried(_)
        | Body::SubjectChanged(_) => memory(body),
        Body::RecordPromoted(b) => format!("{} to {}", record_id(&b.record), b.to),
        Body::ChildRunStarted(b) => format!("{} by {}", b.run.short(), b.participant.short()),
        Body::ChildRunFinished(b) => format!("{} {}", b.run.short(), b.status),
        Body::CheckpointTaken(b) => b.checkpoint.short(),
        Body::CheckpointRestored(b) => b.checkpoint.short(),
        Body::PolicyRegistered(b) => format!("{} {}", b.name, b.digest.short()),
        Body::PolicyActivated(b) => b.digest.short(),
        Body::ContextAssembled(b) => {
            let (id, at) = (b.assembly.short(), b.request.position);
            format!("{id} at {at}, {} tok", b.tokens.assembled)
        }
        Body::RetentionChanged(b) => format!("{} {}", record_id(&b.record), b.class),
        Body::PayloadErased(b) => format!("{} ({})", b.address.short(), b.ground),
        Body::ConversationErased(b) => format!("({})", b.ground),
        Body::AccountErased(b) => format!("{} ({})", b.account.short(), b.ground),
        Body::SourceImported(b) => format!("{}, {} bytes", b.format, b.bytes),
        Body::SourceRecordKept(b) => format!("{} at source {}", b.code, b.place),
        Body::FindingRecorded(b) => format!("{} at source {}", b.code, b.place),
        Body::Unknown(b) => format!("version {}, {} bytes", b.version, b.bytes.len()),
    }
}

fn run(body: &Body) -> String {
    match body {
        Body::ModelRunStarted(b) => {
            let model = b.model.as_ref().or(b.provider.as_ref());
            let model = model.map_or(String::new(), |model| format!(" {model}"));
            format!("{}{model}", b.run.short())
        }
        Body::ModelRunFinished(b) => {
            let reason = b.finish_reason.as_ref();
            let reason = reason.map_or(String::new(), |reason| format!(" {reason}"));
            format!("{}{reason}", b.run.short())
        }
        Body::ModelRunFailed(b) => b.run.short(),
        Body::JobTriggered(b) => format!("{} {}", b.job.short(), b.name),
        _ => String::new(),
    }
}

fn memory(body: &Body) -> String {
    match body {
        Body::ToolMemoryDerived(b) => {
            let from = listed(b.artifacts.iter().map(ArtifactId::short));
            format!("{} of {from}", b.memory.short())
        }
        Body::MemoriesConflicted(b) => listed(b.memories.iter().map(MemoryId::short)),
        Body::MemoriesSuperseded(b) => {
            let older = listed(b.supersedes.iter().map(MemoryId::short));
            format!("{} over {older}", b.memory.short())
        }
        Body::MemoryRevalidated(b) => b.memory.short(),
        Body::ProvenanceRepairTried(b) => format!("{} {}", b.memory.short(), b.outcome),
        Body::SubjectChanged(b) => {
            let count = b.subjects.len();
            let plural = if count == 1 { "" } else { "s" };
            format!("{count} subject{plural} by {}", b.artifact.short())
        }
        _ => String::new(),
    }
}
