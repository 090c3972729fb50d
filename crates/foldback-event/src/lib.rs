//! The vocabulary of Foldback: ids, enums, event kinds, the envelope and its codec.
//!
//! Everything here is plain data and pure functions.
//! The crate reads no clock, no random source, no file and no environment: time and ids enter as
//! arguments and are read back from the event.
//!
//! The byte layout is told once, in `docs/event-format.md`; the code refers to its sections.

mod chain;
pub mod codec;
mod digest;
mod envelope;
mod id;
pub mod kind;
mod label;
pub mod limits;
mod number;
mod payload;
mod record;
mod time;

pub use chain::{GENESIS, chain_hash};
pub use digest::{Digest, ParseDigestError, ShortDigest};
pub use envelope::{Actor, ActorKind, Envelope, Event};
pub use id::{
    AccountId, ArtifactId, AssemblyId, BatchId, BranchId, CallId, CheckpointId, ConversationId,
    EventId, FactId, JobId, MemoryId, MessageId, ParseIdError, ParticipantId, RunId, StoreId,
};
pub use kind::{Body, Kind};
pub use label::{Label, LabelError};
pub use number::UnknownNumber;
pub use payload::{MediaType, PayloadRef};
pub use record::{
    CallStatus, Confidence, ConfidenceSource, Freshness, Isolation, MessageRole, Ownership,
    Presentation, Privacy, Reason, RecordKind, RuntimeKind, Visibility,
};
pub use time::Micros;
