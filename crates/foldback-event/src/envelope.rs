//! The envelope: what every event says besides its body.

use crate::number::numbered;
use crate::{Body, ConversationId, EventId, Micros, ParticipantId};
use serde::{Deserialize, Serialize};

numbered! {
    /// Who caused an event.
    ActorKind as "actor kind" {
        /// A participant of the conversation.
        Participant = 1, "participant";
        /// The runtime that embeds the engine.
        Runtime = 2, "runtime";
        /// The engine itself, following a rule.
        Engine = 3, "engine";
        /// An import.
        Importer = 4, "importer";
        /// An operator.
        Operator = 5, "operator";
    }
}

/// Who caused an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actor {
    /// What it is.
    pub kind: ActorKind,
    /// Which participant, where it is one.
    pub participant: Option<ParticipantId>,
}

impl Actor {
    /// The engine itself.
    pub const ENGINE: Self = Self {
        kind: ActorKind::Engine,
        participant: None,
    };
    /// An import.
    pub const IMPORTER: Self = Self {
        kind: ActorKind::Importer,
        participant: None,
    };
    /// The embedding runtime.
    pub const RUNTIME: Self = Self {
        kind: ActorKind::Runtime,
        participant: None,
    };

    /// A participant.
    pub const fn participant(id: ParticipantId) -> Self {
        Self {
            kind: ActorKind::Participant,
            participant: Some(id),
        }
    }
}

/// What every event says besides its body.
///
/// The position in the store is not part of it: an event keeps its hash when its conversation is
/// moved to another store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope {
    /// The conversation.
    pub conversation: ConversationId,
    /// The position in the conversation, from 1 and dense.
    pub version: u64,
    /// The event's own id: UUIDv7, or UUIDv5 of its source when imported.
    pub event_id: EventId,
    /// When the store took it.
    pub recorded_at: Micros,
    /// When it happened, where that is known and differs.
    pub occurred_at: Option<Micros>,
    /// Who caused it.
    pub actor: Actor,
    /// The event that led to it.
    pub causation: Option<EventId>,
    /// The first event of the story it belongs to.
    pub correlation: Option<EventId>,
}

impl Envelope {
    /// Gives the time that reasoning uses: when it happened, else when it was recorded.
    pub fn time(&self) -> Micros {
        self.occurred_at.unwrap_or(self.recorded_at)
    }
}

/// An event: an envelope and a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// What every event says.
    pub envelope: Envelope,
    /// What this one says.
    pub body: Body,
}
