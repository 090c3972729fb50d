//! Layouts: Foldback's own, and the plain ones that need no engine.
//!
//! A plain layout is told by one position: results up to it are elided, those after it are raw.

use super::account::Thread;
use super::block::{Block, Counter};
use super::history::{Entry, EntryKind};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A way to lay out requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layout {
    /// The whole history each time: what is appended is all that is new.
    Replay,
    /// What Foldback assembles.
    Foldback,
    /// The newest three results are raw.
    KeepLast3,
    /// The newest five results are raw.
    KeepLast5,
    /// Whenever more than 10,000 tokens of raw results have gathered, all but the newest three are
    /// elided for good.
    ClearAt10000,
    /// A result is raw in the first request after it, and elided from then on.
    RawOnce,
}

impl Layout {
    /// All layouts, in the order in which they are told.
    pub const ALL: [Self; 6] = [
        Self::Replay,
        Self::Foldback,
        Self::KeepLast3,
        Self::KeepLast5,
        Self::ClearAt10000,
        Self::RawOnce,
    ];

    /// Gives the name for people and for reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Replay => "replay",
            Self::Foldback => "foldback",
            Self::KeepLast3 => "keep last 3",
            Self::KeepLast5 => "keep last 5",
            Self::ClearAt10000 => "clear at 10k",
            Self::RawOnce => "raw once",
        }
    }
}

/// What stands in the place of an elided result, and about what any such notice takes.
const ELIDED: &str = "[result elided: call again to see it]";
const ELIDED_TOKENS: u64 = 10;
const GATHERED_TOKENS_MAX: u64 = 10_000;

/// The plain layouts, with what they remember between requests.
#[derive(Debug, Default)]
pub(super) struct Plain {
    cleared: BTreeMap<Thread, u64>,
}

impl Plain {
    /// Gives the position up to which results are elided.
    pub(super) fn elided_to(
        &mut self,
        layout: Layout,
        thread: Thread,
        replay: &[Arc<Entry>],
        run_before: u64,
    ) -> u64 {
        let results = || {
            replay
                .iter()
                .filter(|entry| entry.artifact().is_some())
                .rev()
        };
        let beyond = |count: usize| results().nth(count).map_or(0, |entry| entry.position);
        match layout {
            Layout::Replay | Layout::Foldback => 0,
            Layout::KeepLast3 => beyond(3),
            Layout::KeepLast5 => beyond(5),
            Layout::RawOnce => run_before,
            Layout::ClearAt10000 => {
                let cleared = self.cleared.entry(thread).or_default();
                let gathered: u64 = results()
                    .filter(|entry| entry.position > *cleared)
                    .map(|entry| entry.block.tokens)
                    .sum();
                if gathered > GATHERED_TOKENS_MAX {
                    *cleared = beyond(3).max(*cleared);
                }
                *cleared
            }
        }
    }
}

/// Tells whether an entry stands as it was, where results up to a position are elided.
pub(super) fn is_raw(entry: &Entry, elided_to: u64) -> bool {
    !matches!(entry.kind, EntryKind::Result(_))
        || entry.position > elided_to
        || entry.block.tokens <= ELIDED_TOKENS
}

/// Lays out a replay in which results up to a position are elided.
pub(super) fn blocks(counter: &mut Counter, replay: &[Arc<Entry>], elided_to: u64) -> Vec<Block> {
    let elided = Block {
        tokens: ELIDED_TOKENS,
        ..counter.text(ELIDED)
    };
    let block = |entry: &Arc<Entry>| {
        if is_raw(entry, elided_to) {
            entry.block
        } else {
            elided
        }
    };
    replay
        .iter()
        .map(block)
        .filter(|block| block.tokens > 0)
        .collect()
}
