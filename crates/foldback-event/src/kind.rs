//! The kinds of events: past-tense facts with explicit numbers and versions.
//!
//! One table below lists every kind; the bodies stand in one file per family.
//! Texts and bytes are payload references; bodies hold ids, numbers, times, labels and digests.

mod assembly;
mod boundary;
mod conversation;
mod memory;
mod payloads;
mod retention;
mod run;
mod source;
mod tool;

pub use assembly::{
    AssemblyRequest, ContextAssembled, LayoutAccount, LayoutPlan, OmissionCount, Placement,
    PolicyActivated, PolicyRegistered, Relevance, Route, SafetyDecision, Selected, StageDuration,
    TokenAccount,
};
pub use boundary::{
    CheckpointRestored, CheckpointTaken, ChildRunFinished, ChildRunStarted, ChildStatus,
    RecordPromoted, RecordRef,
};
pub use conversation::{
    BranchForked, ConversationOpened, MessageFinalized, MessageRecorded, ParticipantJoined,
    ParticipantKind, SkillEntry, SkillStateChanged, UserFactRemembered,
};
pub use memory::{
    FactDigest, MemoriesConflicted, MemoriesSuperseded, MemoryRevalidated, Omitted, PromotionRule,
    ProvenanceRepairTried, RepairOutcome, SubjectChanged, ToolMemoryDerived,
};
pub use retention::{
    AccountErased, ConversationErased, PayloadErased, RetentionChanged, RetentionClass,
};
pub use run::{JobTriggered, ModelRunFailed, ModelRunFinished, ModelRunStarted, Usage};
pub use source::{FindingRecorded, SourceImported, SourceRecordKept};
pub use tool::{ToolArtifactCaptured, ToolCallRequested, ToolCallResolved};

use crate::number::numbered;

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $text:literal, v $version:literal, $must:literal
        $(, v $before:literal lacks $lacks:literal)?;)*) => {
        numbered! {
            /// The kind of an event.
            Kind as "event kind" {
                $($(#[$doc])* $name = $number, $text;)*
            }
        }

        impl Kind {
            /// Gives the version of the body that this library writes.
            pub const fn version(self) -> u16 {
                match self { $(Self::$name => $version,)* }
            }

            /// Tells whether a reader that does not know the kind must refuse to assemble.
            ///
            /// It is set where passing over the event would show more than the log allows.
            pub const fn must_understand(self) -> bool {
                match self { $(Self::$name => $must,)* }
            }
        }

        /// What an event says.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Body {
            $($(#[$doc])* $name($name),)*
            /// A kind or body version that this library does not know; kept byte for byte.
            Unknown(Unknown),
        }

        impl Body {
            /// Gives the kind, where it is known.
            pub const fn kind(&self) -> Option<Kind> {
                match self {
                    $(Self::$name(_) => Some(Kind::$name),)*
                    Self::Unknown(_) => None,
                }
            }

            pub(crate) fn encode(&self) -> Result<Vec<u8>, crate::codec::EncodeError> {
                match self {
                    $(Self::$name(body) => crate::codec::encode_value(body),)*
                    Self::Unknown(unknown) => Ok(unknown.bytes.clone()),
                }
            }

            pub(crate) fn decode(
                number: u16,
                version: u16,
                must_understand: bool,
                bytes: &[u8],
            ) -> Result<Self, crate::codec::DecodeError> {
                match (Kind::from_number(number), version) {
                    $((Ok(Kind::$name), $version) => {
                        crate::codec::decode_body(bytes).map(Self::$name)
                    }
                    $((Ok(Kind::$name), $before) => {
                        // What a later version adds are options at the end: here they are absent.
                        let whole = [bytes, &[0; $lacks]].concat();
                        crate::codec::decode_body(&whole).map(Self::$name)
                    })?)*
                    _ => Ok(Self::Unknown(Unknown {
                        number,
                        version,
                        must_understand,
                        bytes: bytes.to_vec(),
                    })),
                }
            }
        }

        $(impl From<$name> for Body {
            fn from(body: $name) -> Self {
                Self::$name(body)
            }
        })*
    };
}

/// An event body of a kind or version that this library does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// The kind's number.
    pub number: u16,
    /// The body's version.
    pub version: u16,
    /// Whether assembly must be refused.
    pub must_understand: bool,
    /// The body, byte for byte.
    pub bytes: Vec<u8>,
}

kinds! {
    /// A conversation begins.
    ConversationOpened = 1, "conversation-opened", v 1, true;
    /// A branch leaves another at a position.
    BranchForked = 2, "branch-forked", v 1, true;
    /// A participant joins.
    ParticipantJoined = 3, "participant-joined", v 1, false;
    /// Somebody said something.
    MessageRecorded = 4, "message-recorded", v 1, false;
    /// A draft message became final.
    MessageFinalized = 5, "message-finalized", v 1, false;
    /// The loaded skills, profile, direct tools or integrations changed.
    SkillStateChanged = 6, "skill-state-changed", v 1, false;
    /// A durable fact about a user was remembered; never mixed with tool memory.
    UserFactRemembered = 7, "user-fact-remembered", v 1, false;

    /// An attempt to generate begins.
    ModelRunStarted = 20, "model-run-started", v 1, false;
    /// An attempt to generate ended with an answer.
    ModelRunFinished = 21, "model-run-finished", v 1, false;
    /// An attempt to generate ended without an answer.
    ModelRunFailed = 22, "model-run-failed", v 1, false;
    /// A scheduled job fired.
    JobTriggered = 23, "job-triggered", v 1, false;

    /// A model asked for a tool: the intent, before the effect.
    ToolCallRequested = 40, "tool-call-requested", v 1, false;
    /// A tool's whole outcome was captured.
    ToolArtifactCaptured = 41, "tool-artifact-captured", v 1, false;
    /// An open call got its later artifact.
    ToolCallResolved = 42, "tool-call-resolved", v 1, false;

    /// A compact memory was derived from artifacts.
    ToolMemoryDerived = 60, "tool-memory-derived", v 2, false, v 1 lacks 2;
    /// Memories on one subject disagree.
    MemoriesConflicted = 61, "memories-conflicted", v 1, true;
    /// A memory replaces older ones.
    MemoriesSuperseded = 62, "memories-superseded", v 1, true;
    /// A memory was checked against its source again.
    MemoryRevalidated = 63, "memory-revalidated", v 1, true;
    /// A repair of broken provenance was tried.
    ProvenanceRepairTried = 64, "provenance-repair-tried", v 1, true;
    /// A tool changed what memories are about.
    SubjectChanged = 65, "subject-changed", v 1, true;

    /// A record may be seen by more than before.
    RecordPromoted = 80, "record-promoted", v 1, false;
    /// A child agent's run begins.
    ChildRunStarted = 81, "child-run-started", v 1, true;
    /// A child agent's run ended.
    ChildRunFinished = 82, "child-run-finished", v 1, false;
    /// A resumable state was stored.
    CheckpointTaken = 83, "checkpoint-taken", v 1, false;
    /// A run goes on from a stored state.
    CheckpointRestored = 84, "checkpoint-restored", v 1, true;

    /// A policy document became known.
    PolicyRegistered = 100, "policy-registered", v 1, false;
    /// A policy document became the one in force.
    PolicyActivated = 101, "policy-activated", v 1, true;
    /// A request's context was assembled.
    ContextAssembled = 102, "context-assembled", v 2, false, v 1 lacks 1;

    /// A record's retention class changed.
    RetentionChanged = 120, "retention-changed", v 1, true;
    /// A payload's bytes were destroyed.
    PayloadErased = 121, "payload-erased", v 1, true;
    /// All content of the conversation was destroyed.
    ConversationErased = 122, "conversation-erased", v 1, true;
    /// All content of the account was destroyed.
    AccountErased = 123, "account-erased", v 1, true;

    /// A source file was imported up to some point.
    SourceImported = 140, "source-imported", v 1, false;
    /// A source record that says nothing we understand was kept whole.
    SourceRecordKept = 141, "source-record-kept", v 1, false;
    /// Something odd was seen in a source.
    FindingRecorded = 142, "finding-recorded", v 1, false;
}
