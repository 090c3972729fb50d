//! Draws any value of the wire format from a seed: for round trips, not for meaning.
//!
//! Numbers prefer the borders of the variable-length form, where an encoder goes wrong first.

mod body;

use crate::Rng;
use foldback_event::kind::{
    ChildStatus, ParticipantKind, PromotionRule, RepairOutcome, RetentionClass,
};
use foldback_event::{
    AccountId, Actor, ActorKind, ArtifactId, AssemblyId, Body, BranchId, CallId, CallStatus,
    CheckpointId, Confidence, ConfidenceSource, ConversationId, Digest, Envelope, Event, EventId,
    FactId, Freshness, Isolation, JobId, Kind, Label, MediaType, MemoryId, MessageId, MessageRole,
    Micros, Ownership, ParticipantId, PayloadRef, Presentation, Privacy, Reason, RecordKind, RunId,
    RuntimeKind, ShortDigest, Visibility,
};

/// A value that can be drawn.
pub trait Draw {
    /// Draws one.
    fn draw(rng: &mut Rng) -> Self;
}

/// Draws the body of a kind.
pub fn body(kind: Kind, rng: &mut Rng) -> Body {
    body::of_kind(kind, rng)
}

/// Draws an event of a kind.
pub fn event(kind: Kind, rng: &mut Rng) -> Event {
    Event {
        envelope: Envelope::draw(rng),
        body: body(kind, rng),
    }
}

/// Implements [`Draw`] for structs, field by field.
macro_rules! draw_fields {
    ($($name:ident { $($field:ident),* $(,)? })*) => {$(
        impl $crate::draw::Draw for $name {
            fn draw(rng: &mut $crate::Rng) -> Self {
                Self { $($field: $crate::draw::Draw::draw(rng),)* }
            }
        }
    )*};
}
pub(crate) use draw_fields;

macro_rules! draw_bytes {
    ($($name:ident)*) => {$(
        impl Draw for $name {
            fn draw(rng: &mut Rng) -> Self {
                Self::from_bytes(Draw::draw(rng))
            }
        }
    )*};
}

macro_rules! draw_numbered {
    ($($name:ident else $other:ident;)*) => {$(
        impl Draw for $name {
            fn draw(rng: &mut Rng) -> Self {
                rng.pick(Self::ALL).copied().unwrap_or(Self::$other)
            }
        }
    )*};
}

draw_bytes! {
    AccountId ArtifactId AssemblyId BranchId CallId CheckpointId ConversationId EventId FactId
    JobId MemoryId MessageId ParticipantId RunId Digest ShortDigest
}

draw_numbered! {
    ActorKind else Engine;
    CallStatus else Succeeded;
    ChildStatus else Succeeded;
    ConfidenceSource else Extractor;
    Freshness else Volatile;
    Isolation else Isolated;
    MediaType else Text;
    MessageRole else User;
    ParticipantKind else Human;
    Presentation else Raw;
    Privacy else Unknown;
    PromotionRule else Private;
    Reason else NotPermitted;
    RecordKind else Message;
    RepairOutcome else Unresolved;
    RetentionClass else Conversation;
    RuntimeKind else Chat;
    Visibility else AuditOnly;
}

draw_fields! {
    Actor { kind, participant }
    Confidence { permille, source, rationale }
    Envelope {
        conversation, version, event_id, recorded_at, occurred_at, actor, causation, correlation,
    }
    Ownership {
        owner_participant, owner_run, branch, visibility, shared_with, isolation, runtime_kind,
    }
    PayloadRef { address, sealed_digest, bytes, tokens, media_type }
}

impl Draw for u64 {
    fn draw(rng: &mut Rng) -> Self {
        const BORDERS: [u64; 10] = [
            0,
            1,
            250,
            251,
            255,
            65_535,
            65_536,
            4_294_967_295,
            4_294_967_296,
            u64::MAX,
        ];
        if rng.chance(40) {
            return rng.pick(&BORDERS).copied().unwrap_or(0);
        }
        let shift = rng.below(64);
        rng.number() >> shift
    }
}

impl Draw for u32 {
    fn draw(rng: &mut Rng) -> Self {
        Self::try_from(u64::draw(rng) & u64::from(Self::MAX)).unwrap_or(0)
    }
}

impl Draw for u16 {
    fn draw(rng: &mut Rng) -> Self {
        Self::try_from(u64::draw(rng) & u64::from(Self::MAX)).unwrap_or(0)
    }
}

impl Draw for i64 {
    fn draw(rng: &mut Rng) -> Self {
        let size = u64::draw(rng).cast_signed();
        if rng.chance(30) {
            size.wrapping_neg()
        } else {
            size
        }
    }
}

impl Draw for bool {
    fn draw(rng: &mut Rng) -> Self {
        rng.chance(50)
    }
}

impl<const N: usize> Draw for [u8; N] {
    fn draw(rng: &mut Rng) -> Self {
        let mut out = [0; N];
        for byte in &mut out {
            *byte = rng.number().to_le_bytes()[0];
        }
        out
    }
}

impl<T: Draw> Draw for Option<T> {
    fn draw(rng: &mut Rng) -> Self {
        rng.is_there().then(|| T::draw(rng))
    }
}

impl<T: Draw> Draw for Vec<T> {
    fn draw(rng: &mut Rng) -> Self {
        let length = rng.length();
        (0..length).map(|_| T::draw(rng)).collect()
    }
}

impl<A: Draw, B: Draw> Draw for (A, B) {
    fn draw(rng: &mut Rng) -> Self {
        (A::draw(rng), B::draw(rng))
    }
}

impl Draw for Micros {
    fn draw(rng: &mut Rng) -> Self {
        Self(i64::draw(rng))
    }
}

impl Draw for Label {
    fn draw(rng: &mut Rng) -> Self {
        const WORDS: [&str; 8] = [
            "x",
            "gpt-4o",
            "get_reservation",
            "anthropic/claude@2026",
            "same-question",
            "rows",
            "a.b:c/d+e",
            "eu-central-1",
        ];
        if rng.chance(5) {
            return Self::or_stand_in(&"L".repeat(Self::MAX));
        }
        Self::or_stand_in(rng.pick(&WORDS).copied().unwrap_or("x"))
    }
}
