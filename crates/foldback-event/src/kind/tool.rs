//! Bodies of the tool family. Artifacts come first: memory is a later decision.

use crate::{
    ArtifactId, CallId, CallStatus, Label, MessageId, Ownership, PayloadRef, Privacy, RunId,
    ShortDigest,
};
use serde::{Deserialize, Serialize};

/// A model asked for a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCallRequested {
    /// The call.
    pub call: CallId,
    /// The run that asked.
    pub run: Option<RunId>,
    /// The message that the call stands in, if it has text beside it.
    pub message: Option<MessageId>,
    /// Whose it is and who may see it.
    pub ownership: Ownership,
    /// How sensitive it is.
    pub privacy: Privacy,
    /// The tool.
    pub tool: Label,
    /// The provider's id of the call; may recur within a conversation.
    pub source_id: Option<Label>,
    /// The arguments, byte for byte.
    pub arguments: PayloadRef,
}

/// A tool's whole outcome was captured, before anything shortened it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolArtifactCaptured {
    /// The artifact.
    pub artifact: ArtifactId,
    /// The call it answers; none for a result whose call is not known.
    pub call: Option<CallId>,
    /// The run that asked.
    pub run: Option<RunId>,
    /// Whose it is and who may see it.
    pub ownership: Ownership,
    /// How sensitive it is.
    pub privacy: Privacy,
    /// The tool.
    pub tool: Label,
    /// How the call stands.
    pub status: CallStatus,
    /// Whether a failed call may be tried again; the error then stays until it is made good.
    pub retryable: bool,
    /// What the model was given: the result, or the error of a failed call.
    pub result: Option<PayloadRef>,
    /// Further structured outcome that the tool gave beside it.
    pub structured: Option<PayloadRef>,
    /// Keyed digest of tool and arguments: the same question asked again has the same digest.
    pub question: Option<ShortDigest>,
    /// The tool's version, where known.
    pub tool_version: Option<Label>,
    /// The provider or host that ran it, where known.
    pub runtime: Option<Label>,
    /// Skills that were active.
    pub skills: Vec<Label>,
    /// How long the tool took, in microseconds, where known.
    pub duration_us: Option<u64>,
}

/// An open call got its later artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCallResolved {
    /// The call.
    pub call: CallId,
    /// The artifact that was open.
    pub open: ArtifactId,
    /// The artifact that resolves it.
    pub artifact: ArtifactId,
}
