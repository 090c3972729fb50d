//! The policy document: what may enter a request, in which form, and how much of it.
//!
//! A policy is one typed TOML document that names everything in closed vocabularies. It is resolved
//! before any candidate is looked at, and its evaluation is a pure function of a few facts: no
//! clock, no allocation, no expression language. docs/policy.md is the guide and the reference.
//!
//! **Invariant:** a decision of a schema never changes; a changed meaning is a later schema. The
//! frozen decisions stand in `tests/it/policy_golden.rs`.
//!
//! What this module does not do: it knows no graph and no record, and it applies none of the later
//! parts (freshness, conflicts, presentation, budget). The assembler does.

mod closed;
mod error;
mod facts;
mod gate;
mod load;
mod nearest;
mod reader;
mod route;
mod rules;
mod warning;

pub use error::{PolicyError, PolicyErrors, Problem};
pub use facts::{Owner, RecordFacts, RequestFacts, Trust};
pub use gate::{Effect, Gate, Matcher, Verdict};
pub use route::RouteRule;
pub use rules::{
    BriefAfter, BudgetRules, ConflictRules, Conflicting, Edits, FailedCalls, FreshnessRules,
    LayoutRules, Outdated, PresentationRules, PriceRule, RawSpan, RecoveryRules, RehydrationRules,
    ThinkingSpan,
};
pub use warning::{Concern, Exposure, PolicyWarning, warnings};

use foldback_event::kind::Route;
use foldback_event::{Digest, Label};

/// The newest schema that this version reads.
pub const SCHEMA: u16 = 2;

/// The most bytes of a document.
pub const DOCUMENT_BYTES_MAX: usize = 256 * 1024;

/// The most route rules, and the most gates: a decision walks them all.
pub const RULES_MAX: usize = 256;

const DIGEST_CONTEXT: &str = "foldback 2026 policy document v1";

/// A policy document, read and checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Its schema.
    pub schema: u16,
    /// Its name.
    pub name: Label,
    /// BLAKE3 of the document's bytes: two documents that differ in a comment differ here.
    pub digest: Digest,
    /// How far routes are trusted; the first match decides, no match is untrusted.
    pub routes: Vec<RouteRule>,
    /// The permit and forbid rules, in order.
    pub gates: Vec<Gate>,
    /// When observations become stale, and what becomes of them.
    pub freshness: FreshnessRules,
    /// How disagreement and replacement are shown.
    pub conflicts: ConflictRules,
    /// Which state no budget removes.
    pub recovery: RecoveryRules,
    /// In which form a selected record enters.
    pub presentation: PresentationRules,
    /// How much raw evidence may be brought back.
    pub rehydration: RehydrationRules,
    /// How much a request may hold.
    pub budget: BudgetRules,
    /// How a request keeps the beginning of the one before it.
    pub layout: LayoutRules,
    /// What the input of routes costs; the first match decides.
    pub prices: Vec<PriceRule>,
}

/// What input costs where no price is stated: no cache, so that nothing is saved by keeping.
const NO_CACHE: (u64, u64) = (1_000, 1_000);

impl Policy {
    /// Reads a document.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it, each with its line: unknown keys, values and types, missing
    /// keys, duplicate ids, numbers out of range. Text that is no TOML gives its syntax errors alone.
    pub fn parse(text: &str) -> Result<Self, PolicyErrors> {
        load::load(text)
    }

    /// Gives the text of the built-in document, `policies/default.toml`.
    pub const fn builtin() -> &'static str {
        include_str!("../policies/default.toml")
    }

    /// Reads the built-in document.
    ///
    /// # Panics
    ///
    /// Never: a test reads the same text.
    #[expect(clippy::expect_used, reason = "the text is a constant that tests read")]
    pub fn default_policy() -> Self {
        Self::parse(Self::builtin()).expect("the built-in policy is valid")
    }

    /// Tells how far a route is trusted: by the first rule that matches it, else not at all.
    pub fn trust(&self, route: &Route) -> Trust {
        self.routes
            .iter()
            .find(|rule| rule.matches(route))
            .map_or(Trust::Untrusted, |rule| rule.trust)
    }

    /// Gives what an input token costs that is read from the cache of a route, and one that is
    /// written to it, in thousandths of one that is not cached.
    pub fn price(&self, route: &Route) -> (u64, u64) {
        let found = self.prices.iter().find(|price| price.matches(route));
        found.map_or(NO_CACHE, |price| {
            (price.read_permille, price.write_permille)
        })
    }

    /// Decides whether a record may enter a request.
    ///
    /// The first matching forbid decides; else the first matching permit; else the record stays out.
    pub fn decide(&self, request: &RequestFacts, record: &RecordFacts) -> Verdict<'_> {
        gate::decide(&self.gates, facts::Facts::of(*request, *record))
    }
}
