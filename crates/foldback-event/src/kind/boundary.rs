//! Bodies of the boundary family: promotion, children, checkpoints.

use crate::number::numbered;
use crate::{
    AssemblyId, BranchId, CallId, CheckpointId, Label, Ownership, ParticipantId, PayloadRef,
    Privacy, RecordKind, RunId, Visibility,
};
use serde::{Deserialize, Serialize};

/// Names a record of any kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RecordRef {
    /// The kind.
    pub kind: RecordKind,
    /// The id's bytes.
    pub id: [u8; 16],
}

/// A record may be seen by more than before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordPromoted {
    /// The record.
    pub record: RecordRef,
    /// Who could see it.
    pub from: Visibility,
    /// Who may see it now.
    pub to: Visibility,
    /// The branch on which it is seen from now on, where it moves to another.
    pub branch: Option<BranchId>,
    /// Participants it is shared with.
    pub shared_with: Vec<ParticipantId>,
    /// The ground, as a code.
    pub ground: Label,
}

/// A child agent's run begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildRunStarted {
    /// The child's run, an outer frame around its model runs.
    pub run: RunId,
    /// The child.
    pub participant: ParticipantId,
    /// The branch that holds the child's state.
    pub branch: BranchId,
    /// The participant it works for.
    pub parent: Option<ParticipantId>,
    /// The branch it works for.
    pub parent_branch: Option<BranchId>,
    /// The call that started it.
    pub parent_call: Option<CallId>,
}

numbered! {
    /// How a child run ended.
    ChildStatus as "child status" {
        /// It did what it was asked.
        Succeeded = 1, "succeeded";
        /// It failed.
        Failed = 2, "failed";
        /// It ran out of time.
        TimedOut = 3, "timed-out";
        /// It was stopped.
        Cancelled = 4, "cancelled";
    }
}

/// A child agent's run ended. Its report is for the parent; its scratch stays private.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildRunFinished {
    /// The child's run.
    pub run: RunId,
    /// How it ended.
    pub status: ChildStatus,
    /// The final report, or the error of a failed child.
    pub report: Option<PayloadRef>,
    /// How sensitive the report is.
    pub privacy: Privacy,
}

/// A resumable state was stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointTaken {
    /// The checkpoint.
    pub checkpoint: CheckpointId,
    /// Whose it is and who may see it.
    pub ownership: Ownership,
    /// The run whose state it is.
    pub run: Option<RunId>,
    /// The assembly that the run was given, if one was recorded.
    pub assembly: Option<AssemblyId>,
    /// Calls that were open.
    pub open_calls: Vec<CallId>,
    /// State that only the runtime understands.
    pub state: Option<PayloadRef>,
}

/// A run goes on from a stored state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointRestored {
    /// The checkpoint.
    pub checkpoint: CheckpointId,
    /// The run that goes on.
    pub run: Option<RunId>,
}
