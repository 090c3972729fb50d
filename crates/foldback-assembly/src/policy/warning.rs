//! What is allowed in a policy and yet deserves a second look.
//!
//! Every statement about gates is exact: it comes from deciding every combination of facts that the
//! rules tell apart, not from reading the rules.

use super::facts::{
    DRAFT, Facts, LINEAGE, OWNER, Owner, PRIVACY, PROMOTED, RAW, SPANS, Span, TRUST, Trust,
    VISIBILITY,
};
use super::gate::{Effect, Gate, Matcher, decide};
use super::{Conflicting, FailedCalls, Outdated, Policy};
use foldback_event::{Label, Privacy, Visibility};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Something that a policy does and its author may not have meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyWarning {
    /// The line of the rule, where the warning is about a rule.
    pub line: Option<usize>,
    /// The id of the gate, where the warning is about a gate.
    pub rule: Option<Label>,
    /// What it is.
    pub concern: Concern,
}

impl fmt::Display for PolicyWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        if let Some(rule) = &self.rule {
            write!(f, "gate `{rule}` ")?;
        }
        self.concern.fmt(f)
    }
}

/// What deserves a second look.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Concern {
    /// A permit lets something sensitive in.
    Exposes(Exposure),
    /// A gate decides nothing.
    NeverDecides {
        /// The one gate that decides all that it matches, where it is one.
        covered_by: Option<Label>,
    },
    /// No gate permits anything: every assembly is empty.
    PermitsNothing,
    /// An earlier route rule matches all that this one does.
    RouteNeverMatches {
        /// The line of the earlier rule.
        covered_by_line: usize,
    },
    /// A route rule trusts every provider fully.
    TrustsEveryRoute,
    /// No route rule: every route is untrusted.
    NoRoutes,
    /// Stale memories are shown as current.
    ShowsStale,
    /// Superseded memories are shown as current.
    ShowsSuperseded,
    /// Conflicts are not pointed out.
    HidesConflicts,
    /// A budget may drop calls that are still open.
    DropsOpenCalls,
    /// A budget may drop errors that a retry needs.
    DropsFailedCalls,
}

impl fmt::Display for Concern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exposes(exposure) => write!(f, "lets in {exposure}"),
            Self::NeverDecides {
                covered_by: Some(id),
            } => write!(f, "decides nothing: `{id}` decides all that it matches"),
            Self::NeverDecides { covered_by: None } => {
                f.write_str("decides nothing: other gates decide all that it matches")
            }
            Self::PermitsNothing => f.write_str("no gate permits anything: every record stays out"),
            Self::RouteNeverMatches { covered_by_line } => write!(
                f,
                "the route rule never matches: the one in line {covered_by_line} matches before it"
            ),
            Self::TrustsEveryRoute => f.write_str("the route rule trusts every provider"),
            Self::NoRoutes => f.write_str("no route rule: every route is untrusted"),
            Self::ShowsStale => f.write_str("`freshness.stale` shows stale memories as current"),
            Self::ShowsSuperseded => {
                f.write_str("`conflicts.superseded` shows superseded memories as current")
            }
            Self::HidesConflicts => {
                f.write_str("`conflicts` shows conflicting memories without a notice")
            }
            Self::DropsOpenCalls => {
                f.write_str("`recovery.open` lets a budget drop calls that are still open")
            }
            Self::DropsFailedCalls => {
                f.write_str("`recovery.failed` lets a budget drop errors that a retry needs")
            }
        }
    }
}

/// What a permit may let in by mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Exposure {
    /// Records for auditors.
    AuditOnly,
    /// What others keep private.
    OthersPrivate,
    /// A child's state that was not promoted.
    UnpromotedChild,
    /// What belongs to a sibling branch and was shared with no one.
    SiblingBranch,
    /// What someone else has not finished.
    OthersDraft,
    /// What was not classified.
    UnknownPrivacy,
    /// Raw bytes near a secret.
    SecretRaw,
    /// Compact forms of what is near a secret, on a route that is not trusted.
    SecretOffTrusted,
    /// Raw bytes fetched under a user's grant, on a route that is not trusted.
    GrantRawOffTrusted,
    /// Raw bytes about a person, on an untrusted route.
    PersonalRawUntrusted,
}

impl fmt::Display for Exposure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AuditOnly => "records that are for auditors only",
            Self::OthersPrivate => "what other participants keep private",
            Self::UnpromotedChild => "state of child runs that was not promoted",
            Self::SiblingBranch => "records of sibling branches",
            Self::OthersDraft => "drafts of others",
            Self::UnknownPrivacy => "records of unknown privacy class",
            Self::SecretRaw => "raw bytes near a secret",
            Self::SecretOffTrusted => "what is near a secret on routes that are not trusted",
            Self::GrantRawOffTrusted => {
                "raw bytes fetched under a user's grant on routes that are not trusted"
            }
            Self::PersonalRawUntrusted => "raw bytes about persons on untrusted routes",
        })
    }
}

/// Names everything in a policy that deserves a second look: rules in the order of their lines,
/// then the other parts.
pub fn warnings(policy: &Policy) -> Vec<PolicyWarning> {
    let mut out = route_warnings(policy);
    out.extend(gate_warnings(&policy.gates));
    out.sort_by_key(|warning| warning.line);
    let parts = [
        (policy.routes.is_empty(), Concern::NoRoutes),
        (
            policy.freshness.stale == Outdated::Show,
            Concern::ShowsStale,
        ),
        (
            policy.conflicts.superseded == Outdated::Show,
            Concern::ShowsSuperseded,
        ),
        (
            policy.conflicts.conflicting == Conflicting::Show || policy.conflicts.notices_max == 0,
            Concern::HidesConflicts,
        ),
        (!policy.recovery.open, Concern::DropsOpenCalls),
        (
            policy.recovery.failed == FailedCalls::None,
            Concern::DropsFailedCalls,
        ),
    ];
    out.extend(
        parts
            .into_iter()
            .filter(|(holds, _)| *holds)
            .map(|(_, concern)| PolicyWarning {
                line: None,
                rule: None,
                concern,
            }),
    );
    out
}

fn route_warnings(policy: &Policy) -> Vec<PolicyWarning> {
    let mut out = Vec::new();
    for (index, rule) in policy.routes.iter().enumerate() {
        let earlier = policy
            .routes
            .iter()
            .take(index)
            .find(|earlier| earlier.covers(rule));
        let concern = match earlier {
            Some(earlier) => Concern::RouteNeverMatches {
                covered_by_line: earlier.line,
            },
            None if rule.is_catch_all() && rule.trust == Trust::Trusted => {
                Concern::TrustsEveryRoute
            }
            None => continue,
        };
        out.push(PolicyWarning {
            line: Some(rule.line),
            rule: None,
            concern,
        });
    }
    out
}

fn gate_warnings(gates: &[Gate]) -> Vec<PolicyWarning> {
    let exposures = exposures();
    let mut deciding: BTreeSet<&Label> = BTreeSet::new();
    let mut exposed: BTreeSet<(&Label, Exposure)> = BTreeSet::new();
    let mut permits = false;
    for facts in distinct_facts(gates, &exposures) {
        let verdict = decide(gates, facts);
        let Some(rule) = verdict.rule else { continue };
        deciding.insert(rule);
        if verdict.permitted {
            permits = true;
            let held = exposures.iter().filter(|(_, matcher)| matcher.holds(facts));
            exposed.extend(held.map(|(exposure, _)| (rule, *exposure)));
        }
    }
    let mut out = Vec::new();
    if !permits {
        out.push(PolicyWarning {
            line: None,
            rule: None,
            concern: Concern::PermitsNothing,
        });
    }
    let lines: BTreeMap<&Label, usize> = gates.iter().map(|gate| (&gate.id, gate.line)).collect();
    out.extend(exposed.into_iter().map(|(rule, exposure)| PolicyWarning {
        line: lines.get(rule).copied(),
        rule: Some(rule.clone()),
        concern: Concern::Exposes(exposure),
    }));
    for (index, gate) in gates.iter().enumerate() {
        if !deciding.contains(&gate.id) {
            let covered_by = covering(gates, index, gate).map(|by| by.id.clone());
            out.push(PolicyWarning {
                line: Some(gate.line),
                rule: Some(gate.id.clone()),
                concern: Concern::NeverDecides { covered_by },
            });
        }
    }
    out
}

/// Finds one gate that decides everything which `gate` matches.
fn covering<'g>(gates: &'g [Gate], index: usize, gate: &Gate) -> Option<&'g Gate> {
    gates.iter().enumerate().find_map(|(at, other)| {
        let goes_first = match (other.effect, gate.effect) {
            (Effect::Forbid, Effect::Permit) => true,
            (Effect::Permit, Effect::Forbid) => false,
            _ => at < index,
        };
        let covers = other.unless.is_none() && other.when.covers(gate.when);
        (goes_first && covers).then_some(other)
    })
}

fn exposures() -> Vec<(Exposure, Matcher)> {
    let any = Matcher::ANY;
    let private = any.narrow(VISIBILITY, &[Visibility::ParticipantPrivate]);
    let on_branch = [Visibility::ParticipantPrivate, Visibility::Branch];
    let not_own = [
        Owner::Shared,
        Owner::Conversation,
        Owner::Child,
        Owner::Other,
    ];
    let not_addressed = [Owner::Conversation, Owner::Child, Owner::Other];
    let not_shared = [Owner::Own, Owner::Conversation, Owner::Child, Owner::Other];
    let off_trusted = [Trust::Untrusted, Trust::Standard];
    let raw = any.narrow_boolean(RAW, true);
    let secret = [Privacy::SecretAdjacent];
    let grant = [Privacy::OauthDerived, Privacy::GoogleDerived];
    vec![
        (
            Exposure::AuditOnly,
            any.narrow(VISIBILITY, &[Visibility::AuditOnly]),
        ),
        (
            Exposure::OthersPrivate,
            private.narrow(OWNER, &not_addressed),
        ),
        (
            Exposure::UnpromotedChild,
            any.narrow(OWNER, &[Owner::Child])
                .narrow_boolean(PROMOTED, false),
        ),
        (
            Exposure::SiblingBranch,
            any.narrow_boolean(LINEAGE, false)
                .narrow(VISIBILITY, &on_branch)
                .narrow(OWNER, &not_shared),
        ),
        (
            Exposure::OthersDraft,
            any.narrow_boolean(DRAFT, true).narrow(OWNER, &not_own),
        ),
        (
            Exposure::UnknownPrivacy,
            any.narrow(PRIVACY, &[Privacy::Unknown]),
        ),
        (Exposure::SecretRaw, raw.narrow(PRIVACY, &secret)),
        (
            Exposure::SecretOffTrusted,
            any.narrow(PRIVACY, &secret).narrow(TRUST, &off_trusted),
        ),
        (
            Exposure::GrantRawOffTrusted,
            raw.narrow(PRIVACY, &grant).narrow(TRUST, &off_trusted),
        ),
        (
            Exposure::PersonalRawUntrusted,
            raw.narrow(PRIVACY, &[Privacy::Personal])
                .narrow(TRUST, &[Trust::Untrusted]),
        ),
    ]
}

/// Walks one combination of facts for each class of combinations that no rule tells apart: a few
/// thousand instead of three quarters of a million.
fn distinct_facts(
    gates: &[Gate],
    exposures: &[(Exposure, Matcher)],
) -> impl Iterator<Item = Facts> {
    let matchers: Vec<Matcher> = gates
        .iter()
        .flat_map(|gate| std::iter::once(gate.when).chain(gate.unless))
        .chain(exposures.iter().map(|(_, matcher)| *matcher))
        .collect();
    let mut all = vec![0];
    for (span, count) in SPANS {
        let bits = distinct_bits(span, count, &matchers);
        all = all
            .iter()
            .flat_map(|facts| bits.iter().map(move |bit| facts | bit))
            .collect();
    }
    all.into_iter().map(Facts)
}

fn distinct_bits(span: Span, count: usize, matchers: &[Matcher]) -> Vec<u64> {
    let mut out: Vec<u64> = Vec::new();
    for bit in span.bits(count) {
        let apart = |known: &u64| {
            matchers
                .iter()
                .any(|matcher| matcher.separates(bit, *known))
        };
        if out.iter().all(apart) {
            out.push(bit);
        }
    }
    out
}
