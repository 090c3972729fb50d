//! The parts of a policy beside its routes and gates: what happens to a record once it may enter.
//!
//! The `Default` of each part is what holds for the keys that a document does not write; the
//! commented default document states the same values, and a test holds the two together.

use super::closed::closed;
use super::facts::Trust;
use foldback_event::kind::Route;
use foldback_event::{Freshness, Label, Privacy};

closed! {
    /// What becomes of a memory that is stale or superseded.
    Outdated as "form" {
        /// A notice takes its place: what it was about, since when it does not hold, how to check.
        Marker, "marker";
        /// It is left out.
        Omit, "omit";
        /// It is shown as if nothing had happened.
        Show, "show";
    }
}

closed! {
    /// What becomes of memories that contradict each other.
    Conflicting as "form" {
        /// Both sides enter, with a notice that they disagree.
        Notice, "notice";
        /// Both sides enter without one.
        Show, "show";
    }
}

closed! {
    /// Which failed calls recovery protects.
    FailedCalls as "choice of failed calls" {
        /// Those that the tool said may be tried again.
        Retryable, "retryable";
        /// These, and the newest failure of each tool that has not succeeded since.
        Latest, "latest";
        /// None.
        None, "none";
    }
}

closed! {
    /// How long a result stays raw after its capture.
    RawSpan as "span" {
        /// Never: it is compact from the start.
        Never, "never";
        /// In the first request of its participant after the capture.
        Once, "once";
        /// Until the user's next message.
        Turn, "turn";
        /// Always.
        Always, "always";
    }
}

closed! {
    /// When the brief form of a result becomes due.
    BriefAfter as "time" {
        /// From its capture on.
        Start, "start";
        /// After the first request of its participant that follows the capture.
        Once, "once";
        /// From the user's next message on.
        Turn, "turn";
        /// Never.
        Never, "never";
    }
}

closed! {
    /// When a form that is due takes the place of a larger one that an earlier request held.
    Edits as "time of edits" {
        /// In the next request.
        AtOnce, "at-once";
        /// As soon as it saves more, over the requests that are reckoned with, than writing anew
        /// what stands behind it costs.
        WhenTheyPay, "when-they-pay";
    }
}

closed! {
    /// How long a model's thinking stays in its requests.
    ThinkingSpan as "span" {
        /// Until the user's next message.
        Turn, "turn";
        /// Always.
        Always, "always";
        /// Never.
        Never, "never";
    }
}

/// When observations become stale (the article, 4.7).
///
/// A window counts from the time of observation, for a memory that does not state itself when it
/// becomes stale. Durable and permanent observations have no window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreshnessRules {
    /// Seconds for which a volatile observation holds; none for always.
    pub volatile_seconds: Option<u64>,
    /// Seconds for which a session's state holds; none for always.
    pub session_seconds: Option<u64>,
    /// Seconds for which a bounded observation holds; none for always.
    pub bounded_seconds: Option<u64>,
    /// What becomes of a stale memory.
    pub stale: Outdated,
}

impl Default for FreshnessRules {
    fn default() -> Self {
        Self {
            volatile_seconds: Some(900),
            session_seconds: None,
            bounded_seconds: Some(86_400),
            stale: Outdated::Marker,
        }
    }
}

impl FreshnessRules {
    /// Gives the seconds for which an observation of a class holds; none for always.
    pub const fn window_seconds(&self, class: Freshness) -> Option<u64> {
        match class {
            Freshness::Volatile => self.volatile_seconds,
            Freshness::Session => self.session_seconds,
            Freshness::Bounded => self.bounded_seconds,
            Freshness::Durable | Freshness::Permanent => None,
        }
    }
}

/// How disagreement and replacement are shown (the article, 4.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConflictRules {
    /// What becomes of a superseded memory.
    pub superseded: Outdated,
    /// What becomes of conflicting memories.
    pub conflicting: Conflicting,
    /// The most notices of conflicts in one request; further conflicts are counted in the last.
    pub notices_max: u64,
}

impl Default for ConflictRules {
    fn default() -> Self {
        Self {
            superseded: Outdated::Marker,
            conflicting: Conflicting::Notice,
            notices_max: 8,
        }
    }
}

/// Which state recovery needs and no budget removes (the article, 4.5, 4.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecoveryRules {
    /// Whether pending and deferred calls are protected.
    pub open: bool,
    /// Which failed calls are protected.
    pub failed: FailedCalls,
    /// The most tokens of an error that is shown whole; a longer one is shown compact.
    pub error_tokens_max: u64,
}

impl Default for RecoveryRules {
    fn default() -> Self {
        Self {
            open: true,
            failed: FailedCalls::Latest,
            error_tokens_max: 400,
        }
    }
}

/// In which form a selected record enters (the article, 4.6, 4.11).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresentationRules {
    /// How long structured data (JSON, tables) stays raw whose compact form keeps every value.
    pub raw_structured: RawSpan,
    /// How long any other result stays raw whose compact form keeps every value; blanks may be
    /// gone from it, and an edit may need them.
    pub raw_lossless: RawSpan,
    /// How long a result stays raw whose compact form leaves something out.
    pub raw_lossy: RawSpan,
    /// The most tokens of a result that always stays raw.
    pub small_tokens: u64,
    /// The most tokens of a result that is shown raw unless its exact bytes are asked for: one
    /// result must not take the place of all else.
    pub raw_tokens_max: u64,
    /// The least share of a result's tokens, in percent, that its compact form must save to stand
    /// for it.
    pub saving_percent_min: u64,
    /// When the brief form of a result becomes due; schema 2.
    pub brief_after: BriefAfter,
    /// The privacy classes of which the outline may stand where a gate keeps the values from a
    /// route, in ascending order; schema 2.
    pub outline: Vec<Privacy>,
    /// How long a model's thinking stays.
    pub thinking: ThinkingSpan,
}

impl PresentationRules {
    /// Gives what holds for the keys that a document of a schema does not write.
    pub(super) fn of_schema(schema: u16) -> Self {
        let default = Self::default();
        if schema < 2 {
            return Self {
                brief_after: BriefAfter::Never,
                outline: Vec::new(),
                ..default
            };
        }
        default
    }
}

impl Default for PresentationRules {
    fn default() -> Self {
        Self {
            brief_after: BriefAfter::Turn,
            outline: vec![
                Privacy::Personal,
                Privacy::OauthDerived,
                Privacy::GoogleDerived,
                Privacy::SecretAdjacent,
            ],
            raw_structured: RawSpan::Never,
            raw_lossless: RawSpan::Turn,
            raw_lossy: RawSpan::Turn,
            small_tokens: 64,
            raw_tokens_max: 30_000,
            saving_percent_min: 20,
            thinking: ThinkingSpan::Turn,
        }
    }
}

/// What the input of a route costs, in thousandths of an input token that is not cached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceRule {
    /// The provider; any if none is given.
    pub provider: Option<Label>,
    /// The model; any if none is given.
    pub model: Option<Label>,
    /// The day on which the price was read off the provider's list.
    pub dated: Label,
    /// An input token that is read from the cache.
    pub read_permille: u64,
    /// An input token that is written to the cache.
    pub write_permille: u64,
}

impl PriceRule {
    pub(super) fn matches(&self, route: &Route) -> bool {
        let fits = |wanted: &Option<Label>, found: Option<&Label>| {
            wanted.as_ref().is_none_or(|wanted| found == Some(wanted))
        };
        fits(&self.provider, Some(&route.provider)) && fits(&self.model, route.model.as_ref())
    }
}

/// How a request keeps the beginning of the one before it (the article, 7); schema 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayoutRules {
    /// When a smaller form that is due takes the place of a larger one.
    pub edits: Edits,
    /// The fewest further requests that a saving is reckoned over; the most if that is less.
    pub horizon_min: u64,
    /// The most further requests that a saving is reckoned over.
    pub horizon_max: u64,
}

impl LayoutRules {
    /// Gives how many further requests a saving is reckoned over: as many as there were before,
    /// within the bounds.
    pub(crate) fn horizon(&self, before: u64) -> u64 {
        before.max(self.horizon_min).min(self.horizon_max)
    }

    /// Gives what holds for the keys that a document of a schema does not write.
    pub(super) const fn of_schema(schema: u16) -> Self {
        Self {
            edits: if schema < 2 {
                Edits::AtOnce
            } else {
                Edits::WhenTheyPay
            },
            horizon_min: 16,
            horizon_max: 64,
        }
    }
}

/// How much raw evidence may be brought back on demand (the article, 4.11).
///
/// A gate must permit the raw bytes besides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RehydrationRules {
    /// The most bytes that one request brings back, all artifacts together.
    pub bytes_max: u64,
    /// The most artifacts that one request brings back.
    pub count_max: u64,
    /// The privacy classes that may be brought back, in ascending order.
    pub privacy: Vec<Privacy>,
    /// The trusts of routes for which it may be done, in ascending order.
    pub trust: Vec<Trust>,
}

impl Default for RehydrationRules {
    fn default() -> Self {
        Self {
            bytes_max: 131_072,
            count_max: 8,
            privacy: vec![
                Privacy::Public,
                Privacy::Internal,
                Privacy::Personal,
                Privacy::OauthDerived,
                Privacy::GoogleDerived,
            ],
            trust: vec![Trust::Standard, Trust::Trusted],
        }
    }
}

impl RehydrationRules {
    /// Tells whether raw bytes of a class may be brought back for a route of a trust.
    pub fn allows(&self, privacy: Privacy, trust: Trust) -> bool {
        self.privacy.contains(&privacy) && self.trust.contains(&trust)
    }
}

/// How much a request may hold, and how many records are looked at for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BudgetRules {
    /// The most tokens of a request that states no budget of its own.
    pub tokens: u64,
    /// The most candidates of one assembly.
    pub candidates: u64,
}

impl Default for BudgetRules {
    fn default() -> Self {
        Self {
            tokens: 180_000,
            candidates: 4_096,
        }
    }
}
