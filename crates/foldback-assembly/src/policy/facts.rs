//! The closed vocabulary of facts that gates look at, and its bits.
//!
//! A decision looks at eleven facts. Each takes one bit in its own span of one word, so that a rule
//! is a mask and matching is one `and`. The bits are internal to a process and never stored.

use super::closed::closed;
use foldback_event::{Privacy, RecordKind, RuntimeKind, Visibility};

closed! {
    /// How a record's owner relates to the participant whose request it is (the article, 4.9).
    Owner as "owner" {
        /// The requester itself.
        Own, "own";
        /// Someone who shared the record with the requester.
        Shared, "shared";
        /// No one: the record belongs to the conversation.
        Conversation, "conversation";
        /// A child run of the requester.
        Child, "child";
        /// Someone else.
        Other, "other";
    }
}

closed! {
    /// How far a route to a provider is trusted (the article, 4.5, 4.11).
    Trust as "trust" {
        /// Only what may leave the account in any case.
        Untrusted, "untrusted";
        /// Under a contract, yet not for data that others' terms bind.
        Standard, "standard";
        /// Cleared for restricted data.
        Trusted, "trusted";
    }
}

/// What a gate may know of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestFacts {
    /// The mode in which the request is made.
    pub runtime_kind: RuntimeKind,
    /// The trust that the policy puts in the request's route (`Policy::trust`).
    pub trust: Trust,
    /// Whether the provider keeps nothing.
    pub zero_retention: bool,
}

/// What a gate may know of a candidate record.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and a gate matches it as true or false"
)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordFacts {
    /// Its kind.
    pub kind: RecordKind,
    /// How its owner relates to the requester.
    pub owner: Owner,
    /// Who may see it, after promotions.
    pub visibility: Visibility,
    /// Whether it stands on the lineage of the request's branch, after promotions.
    pub on_lineage: bool,
    /// How sensitive it is.
    pub privacy: Privacy,
    /// Whether it may still change.
    pub draft: bool,
    /// Whether an event promoted it.
    pub promoted: bool,
    /// Whether its raw bytes are asked for, or a compact form that keeps every value of them; not a
    /// shortened form, marker or reference.
    pub raw: bool,
}

/// One matcher's span of bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    at: u32,
    width: u32,
}

impl Span {
    pub(super) const fn mask(self) -> u64 {
        ((1 << self.width) - 1) << self.at
    }

    /// Gives the bit of the value with this index.
    pub(super) const fn bit(self, index: u32) -> u64 {
        (1 << (index % self.width)) << self.at
    }

    pub(super) const fn boolean(self, value: bool) -> u64 {
        self.bit(if value { 1 } else { 0 })
    }

    /// Gives the bits of the values that exist, in order.
    pub(super) fn bits(self, count: usize) -> impl Iterator<Item = u64> {
        (0..self.width)
            .take(count)
            .map(move |index| self.bit(index))
    }
}

pub(super) const RECORDS: Span = Span { at: 0, width: 12 };
pub(super) const OWNER: Span = Span { at: 12, width: 8 };
pub(super) const VISIBILITY: Span = Span { at: 20, width: 6 };
pub(super) const LINEAGE: Span = Span { at: 26, width: 2 };
pub(super) const PRIVACY: Span = Span { at: 28, width: 10 };
pub(super) const TRUST: Span = Span { at: 38, width: 4 };
pub(super) const ZERO_RETENTION: Span = Span { at: 42, width: 2 };
pub(super) const DRAFT: Span = Span { at: 44, width: 2 };
pub(super) const PROMOTED: Span = Span { at: 46, width: 2 };
pub(super) const RAW: Span = Span { at: 48, width: 2 };
pub(super) const RUNTIME: Span = Span { at: 50, width: 10 };

/// Every span with the number of values in it.
pub(super) const SPANS: [(Span, usize); 11] = [
    (RECORDS, RecordKind::ALL.len()),
    (OWNER, Owner::ALL.len()),
    (VISIBILITY, Visibility::ALL.len()),
    (LINEAGE, 2),
    (PRIVACY, Privacy::ALL.len()),
    (TRUST, Trust::ALL.len()),
    (ZERO_RETENTION, 2),
    (DRAFT, 2),
    (PROMOTED, 2),
    (RAW, 2),
    (RUNTIME, RuntimeKind::ALL.len()),
];

// A vocabulary that outgrows its span would make two values one.
const _: () = assert!(RecordKind::ALL.len() <= 12);
const _: () = assert!(Visibility::ALL.len() <= 6);
const _: () = assert!(Privacy::ALL.len() <= 10);
const _: () = assert!(RuntimeKind::ALL.len() <= 10);

/// A value's place in its vocabulary's span.
pub(super) trait Indexed: Copy {
    /// Gives the index; two values never share one.
    fn index(self) -> u32;
}

macro_rules! indexed_by_number {
    ($($name:ident)*) => {$(
        impl Indexed for $name {
            fn index(self) -> u32 {
                u32::from(self.number() - 1)
            }
        }
    )*};
}

indexed_by_number!(RecordKind Visibility Privacy RuntimeKind);

impl Indexed for Owner {
    fn index(self) -> u32 {
        match self {
            Self::Own => 0,
            Self::Shared => 1,
            Self::Conversation => 2,
            Self::Child => 3,
            Self::Other => 4,
        }
    }
}

impl Indexed for Trust {
    fn index(self) -> u32 {
        match self {
            Self::Untrusted => 0,
            Self::Standard => 1,
            Self::Trusted => 2,
        }
    }
}

/// The facts of one decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Facts(
    // INVARIANT: exactly one bit in each span.
    pub(super) u64,
);

impl Facts {
    pub(super) fn of(request: RequestFacts, record: RecordFacts) -> Self {
        Self(
            RECORDS.bit(record.kind.index())
                | OWNER.bit(record.owner.index())
                | VISIBILITY.bit(record.visibility.index())
                | LINEAGE.boolean(record.on_lineage)
                | PRIVACY.bit(record.privacy.index())
                | TRUST.bit(request.trust.index())
                | ZERO_RETENTION.boolean(request.zero_retention)
                | DRAFT.boolean(record.draft)
                | PROMOTED.boolean(record.promoted)
                | RAW.boolean(record.raw)
                | RUNTIME.bit(request.runtime_kind.index()),
        )
    }
}
