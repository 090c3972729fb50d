//! The account of a layout: tokens, what a cache holds of them, and what was needed.
//!
//! Prices are whole permille of the price of an input token, so that sums are exact.

use super::block::Block;
use super::layout::Layout;
use foldback_event::{BranchId, ParticipantId};
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// What a token costs that is written to a provider's cache, in permille of an input token.
pub const CACHE_WRITE_PERMILLE: u64 = 1_250;

/// How much of what was needed was there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kept {
    /// How many texts stand in earlier results alone.
    pub needed: u64,
    /// How many of them stand in the request.
    pub kept: u64,
    /// How many of them do, or are in the bytes of an artifact whose handle does.
    pub reachable: u64,
}

impl AddAssign for Kept {
    fn add_assign(&mut self, other: Self) {
        self.needed += other.needed;
        self.kept += other.kept;
        self.reachable += other.reachable;
    }
}

/// What requests took and held under one layout.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Measure {
    /// All tokens.
    pub tokens: u64,
    /// Those that the request before began with as well, so that a cache holds them.
    pub cached: u64,
    /// Needed values of arguments.
    pub values: Kept,
    /// Needed lines of edits.
    pub lines: Kept,
}

impl Measure {
    /// Gives the cost in input tokens, where a token read from the cache costs so many permille.
    pub fn cost(&self, read_permille: u64) -> u64 {
        let written = self.tokens.saturating_sub(self.cached);
        let milli = u128::from(written) * u128::from(CACHE_WRITE_PERMILLE)
            + u128::from(self.cached) * u128::from(read_permille);
        u64::try_from((milli + 500) / 1_000).unwrap_or(u64::MAX)
    }
}

impl AddAssign for Measure {
    fn add_assign(&mut self, other: Self) {
        self.tokens += other.tokens;
        self.cached += other.cached;
        self.values += other.values;
        self.lines += other.lines;
    }
}

/// Whose requests share a cache: those of one participant on one branch.
pub(super) type Thread = (ParticipantId, BranchId);

/// What each thread was sent last, under each layout.
#[derive(Debug, Default)]
pub(super) struct Cache {
    sent: BTreeMap<(Layout, Thread), Vec<Block>>,
}

impl Cache {
    /// Measures a request against the one before it, and remembers it.
    pub(super) fn send(&mut self, layout: Layout, thread: Thread, blocks: Vec<Block>) -> Measure {
        let before = self.sent.entry((layout, thread)).or_default();
        let same = before
            .iter()
            .zip(&blocks)
            .take_while(|(before, now)| before == now);
        let measure = Measure {
            tokens: blocks.iter().map(|block| block.tokens).sum(),
            cached: same.map(|(block, _)| block.tokens).sum(),
            ..Measure::default()
        };
        *before = blocks;
        measure
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_is_exact_to_half_a_token() {
        let measure = Measure {
            tokens: 1_000,
            cached: 600,
            ..Measure::default()
        };
        assert_eq!(measure.cost(100), 500 + 60);
        assert_eq!(measure.cost(50), 500 + 30);
    }
}
