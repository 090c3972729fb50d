//! Ids of records that an event may name whatever their kind.

use foldback_event::kind::RecordRef;
use foldback_event::{
    ArtifactId, CallId, CheckpointId, FactId, MemoryId, MessageId, RecordKind, RunId,
};

/// An id of a record that can be promoted, retained and selected.
pub trait Recorded {
    /// Gives the reference.
    fn record(self) -> RecordRef;
}

impl Recorded for RecordRef {
    fn record(self) -> RecordRef {
        self
    }
}

macro_rules! recorded {
    ($($id:ident => $kind:ident;)*) => {$(
        impl Recorded for $id {
            fn record(self) -> RecordRef {
                RecordRef { kind: RecordKind::$kind, id: *self.as_bytes() }
            }
        }
    )*};
}

recorded! {
    MessageId => Message;
    CallId => Call;
    ArtifactId => Artifact;
    MemoryId => Memory;
    FactId => Fact;
    CheckpointId => Checkpoint;
    RunId => Child;
}
