//! Which payloads an event names: the one list that verification and erasure go by.

use super::Body;
use crate::PayloadRef;

impl Body {
    /// Lists the payloads that the event names, in the order of its fields.
    ///
    /// A policy's document is sealed for the store and not for the account; it is listed by
    /// [`Body::policy_document`] instead.
    pub fn payloads(&self) -> Vec<PayloadRef> {
        let mut out = Vec::new();
        match self {
            Self::ConversationOpened(b) => out.extend(b.title),
            Self::BranchForked(b) => out.extend(b.title),
            Self::ParticipantJoined(b) => out.extend(b.name),
            Self::MessageRecorded(b) => out.push(b.content),
            Self::MessageFinalized(b) => out.extend(b.content),
            Self::SkillStateChanged(b) => out.extend(b.skills.iter().filter_map(|s| s.text)),
            Self::UserFactRemembered(b) => out.push(b.content),
            Self::ModelRunFailed(b) => out.extend(b.error),
            Self::JobTriggered(b) => out.extend(b.instruction),
            Self::ToolCallRequested(b) => out.push(b.arguments),
            Self::ToolArtifactCaptured(b) => {
                out.extend(b.result);
                out.extend(b.structured);
            }
            Self::ToolMemoryDerived(b) => {
                out.push(b.summary);
                out.extend(b.detail);
                out.extend(b.brief);
                out.extend(b.outline);
            }
            Self::ChildRunFinished(b) => out.extend(b.report),
            Self::CheckpointTaken(b) => out.extend(b.state),
            Self::SourceRecordKept(b) => out.push(b.content),
            Self::FindingRecorded(b) => out.extend(b.detail),
            Self::ModelRunStarted(_)
            | Self::ModelRunFinished(_)
            | Self::ToolCallResolved(_)
            | Self::MemoriesConflicted(_)
            | Self::MemoriesSuperseded(_)
            | Self::MemoryRevalidated(_)
            | Self::ProvenanceRepairTried(_)
            | Self::SubjectChanged(_)
            | Self::RecordPromoted(_)
            | Self::ChildRunStarted(_)
            | Self::CheckpointRestored(_)
            | Self::PolicyRegistered(_)
            | Self::PolicyActivated(_)
            | Self::ContextAssembled(_)
            | Self::RetentionChanged(_)
            | Self::PayloadErased(_)
            | Self::ConversationErased(_)
            | Self::AccountErased(_)
            | Self::SourceImported(_)
            | Self::Unknown(_) => {}
        }
        out
    }

    /// Gives the document that the event registers, if it registers one.
    pub fn policy_document(&self) -> Option<PayloadRef> {
        match self {
            Self::PolicyRegistered(b) => Some(b.document),
            _ => None,
        }
    }
}
