//! Gates: the ordered permit and forbid rules (the article, 4.5).

use super::closed::closed;
use super::facts::{Facts, Indexed, SPANS, Span};
use foldback_event::{Label, Reason};

closed! {
    /// What a gate does with what it matches.
    Effect as "effect" {
        /// Lets it in, unless another gate forbids it.
        Permit, "permit";
        /// Keeps it out, whatever permits it.
        Forbid, "forbid";
    }
}

/// The facts for which a rule holds: any of the listed values of each matcher, all matchers
/// together. A matcher that is not written holds for every value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Matcher(
    // INVARIANT: at least one bit in each span.
    u64,
);

impl Matcher {
    /// Holds for everything.
    pub const ANY: Self = Self(u64::MAX);

    /// Narrows one span to the given values; no values leave it as it is.
    pub(super) fn narrow<T: Indexed>(self, span: Span, values: &[T]) -> Self {
        self.narrow_to(
            span,
            values.iter().fold(0, |bits, v| bits | span.bit(v.index())),
        )
    }

    pub(super) fn narrow_boolean(self, span: Span, value: bool) -> Self {
        self.narrow_to(span, span.boolean(value))
    }

    fn narrow_to(self, span: Span, bits: u64) -> Self {
        if bits == 0 {
            return self;
        }
        Self(self.0 & (bits | !span.mask()))
    }

    pub(super) const fn holds(self, facts: Facts) -> bool {
        facts.0 & !self.0 == 0
    }

    /// Tells whether this holds wherever `other` does.
    pub(super) fn covers(self, other: Self) -> bool {
        SPANS.iter().all(|(span, _)| {
            let mask = span.mask();
            other.0 & mask & !self.0 == 0
        })
    }

    /// Tells whether this tells two values apart.
    pub(super) const fn separates(self, bit: u64, other: u64) -> bool {
        (self.0 & bit == 0) != (self.0 & other == 0)
    }
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    /// Its name: what explanations and recorded safety decisions cite.
    pub id: Label,
    /// What it does.
    pub effect: Effect,
    /// The reason code of what it decides; `permitted` for a permit.
    pub reason: Reason,
    /// What it matches.
    pub when: Matcher,
    /// What it leaves alone although it matches.
    pub unless: Option<Matcher>,
    /// The line of the document on which it begins.
    pub line: usize,
}

impl Gate {
    /// The reasons that a forbidding gate may give. The other reasons tell what later steps of an
    /// assembly did, and a gate that used them would blur the counts.
    pub const FORBID_REASONS: &'static [Reason] = &[
        Reason::NotPermitted,
        Reason::BranchExcluded,
        Reason::ParticipantPrivate,
        Reason::AuditOnly,
        Reason::NotPromoted,
        Reason::PrivacyRoute,
        Reason::Draft,
    ];

    pub(super) fn applies(&self, facts: Facts) -> bool {
        self.when.holds(facts) && !self.unless.is_some_and(|unless| unless.holds(facts))
    }
}

/// What the gates say of one record in one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict<'p> {
    /// Whether it may enter.
    pub permitted: bool,
    /// The rule that decided; none where no rule permits.
    pub rule: Option<&'p Label>,
    /// The reason code.
    pub reason: Reason,
}

/// Decides: the first matching forbid, else the first matching permit, else no.
pub(super) fn decide(gates: &[Gate], facts: Facts) -> Verdict<'_> {
    let mut permit = None;
    for gate in gates {
        if !gate.applies(facts) {
            continue;
        }
        match gate.effect {
            Effect::Forbid => {
                return Verdict {
                    permitted: false,
                    rule: Some(&gate.id),
                    reason: gate.reason,
                };
            }
            Effect::Permit => permit = permit.or(Some(gate)),
        }
    }
    match permit {
        Some(gate) => Verdict {
            permitted: true,
            rule: Some(&gate.id),
            reason: gate.reason,
        },
        None => Verdict {
            permitted: false,
            rule: None,
            reason: Reason::NotPermitted,
        },
    }
}
