//! What was odd in a conversation: answers, not errors.

use foldback_event::kind::RecordRef;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What is odd.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum FindingCode {
    /// An event stands before the conversation was opened, or opens it again.
    NotOpened,
    /// A record was created twice.
    DuplicateRecord,
    /// A result's call is not known.
    OrphanResult,
    /// An event names a branch that is not known.
    UnknownBranch,
    /// An event names a participant that is not known.
    UnknownParticipant,
    /// An event names a run that is not known.
    UnknownRun,
    /// An event names a record that is not known.
    UnknownRecord,
    /// A call has a second final outcome.
    SecondOutcome,
    /// A branch inherits from a position that does not exist yet.
    ForkFromFuture,
    /// The event is of a kind that this version does not know.
    UnknownKind,
    /// The same, and passing over it could show too much: assembly is refused.
    UnknownKindMustUnderstand,
    /// A version is missing or repeated.
    VersionGap,
    /// An event came after the conversation was erased.
    AfterErasure,
    /// An import saw something odd in its source.
    Source(
        /// The importer's code.
        String,
    ),
}

impl FindingCode {
    /// Gives the code for people and programs.
    pub fn as_str(&self) -> &str {
        match self {
            Self::NotOpened => "not-opened",
            Self::DuplicateRecord => "duplicate-record",
            Self::OrphanResult => "orphan-result",
            Self::UnknownBranch => "unknown-branch",
            Self::UnknownParticipant => "unknown-participant",
            Self::UnknownRun => "unknown-run",
            Self::UnknownRecord => "unknown-record",
            Self::SecondOutcome => "second-outcome",
            Self::ForkFromFuture => "fork-from-future",
            Self::UnknownKind => "unknown-kind",
            Self::UnknownKindMustUnderstand => "unknown-kind-must-understand",
            Self::VersionGap => "version-gap",
            Self::AfterErasure => "after-erasure",
            Self::Source(code) => code,
        }
    }
}

impl fmt::Display for FindingCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Something odd, and where.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Finding {
    /// The position of the event.
    pub position: u64,
    /// What is odd.
    pub code: FindingCode,
    /// The record it is about.
    pub record: Option<RecordRef>,
    /// The place in an imported source: a line number or array index, from 1.
    pub place: Option<u64>,
}
