//! Bodies of the run family.

use crate::{AssemblyId, BranchId, JobId, Label, ParticipantId, PayloadRef, RunId, RuntimeKind};
use serde::{Deserialize, Serialize};

/// An attempt to generate begins: the request was sent just before this event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelRunStarted {
    /// The run.
    pub run: RunId,
    /// The participant that generates.
    pub participant: ParticipantId,
    /// The branch it continues.
    pub branch: BranchId,
    /// The mode.
    pub runtime_kind: RuntimeKind,
    /// The provider that is asked, where known.
    pub provider: Option<Label>,
    /// The model that is asked for.
    pub model: Option<Label>,
    /// The assembly that was sent, if one was recorded.
    pub assembly: Option<AssemblyId>,
    /// The run that this one tries again.
    pub retries: Option<RunId>,
}

/// What a provider says it counted, in its own tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Input tokens that were neither read from nor written to a cache.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Input tokens read from a cache.
    pub cache_read: u64,
    /// Input tokens written to a cache.
    pub cache_write: u64,
}

/// An attempt to generate ended with an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelRunFinished {
    /// The run.
    pub run: RunId,
    /// Why the model stopped, in the provider's word.
    pub finish_reason: Option<Label>,
    /// What was used.
    pub usage: Option<Usage>,
    /// The model that really answered.
    pub model: Option<Label>,
}

/// An attempt to generate ended without an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelRunFailed {
    /// The run.
    pub run: RunId,
    /// What went wrong.
    pub error: Option<PayloadRef>,
    /// Whether trying again may help.
    pub retryable: bool,
}

/// A scheduled job fired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobTriggered {
    /// The job's firing.
    pub job: JobId,
    /// The branch it works on.
    pub branch: BranchId,
    /// The participant that works.
    pub participant: ParticipantId,
    /// The job's name.
    pub name: Label,
    /// What it is to do.
    pub instruction: Option<PayloadRef>,
}
