//! Step 7, second half: the budget.
//!
//! Instructions, what recovery protects and the newest message are the floor: a budget below it
//! is refused. Above it, units are taken in one fixed order until the first that does not fit, so
//! a larger budget always holds what a smaller one held.

use super::AssembleError;
use super::frame::Frame;
use super::unit::{Entry, Unit};
use crate::assembly::Section;
use foldback_event::kind::TokenAccount;
use foldback_event::{MediaType, MessageId, Presentation, Reason, RecordKind};
use std::cmp::Reverse;
use std::collections::BTreeMap;

pub(super) fn spend(frame: &Frame<'_>, units: &mut [Unit]) -> Result<TokenAccount, AssembleError> {
    let budget = frame
        .request
        .budget_tokens
        .unwrap_or(frame.policy.budget.tokens);
    let scores: BTreeMap<u64, i64> = frame
        .request
        .relevance
        .iter()
        .flat_map(|relevance| relevance.scores.iter().copied())
        .collect();
    let mut order: Vec<usize> = (0..units.len()).collect();
    order.sort_by_key(|at| units.get(*at).map(|unit| rank(frame, &scores, unit)));
    let mut used: u64 = 0;
    let mut protected: u64 = 0;
    let mut full = false;
    for at in order {
        let Some(unit) = units.get_mut(at) else {
            continue;
        };
        if !unit.is_in() {
            continue;
        }
        let mut cost = unit.tokens();
        if is_floor(frame, unit) {
            used = used.saturating_add(cost);
            if unit.protected {
                protected = protected.saturating_add(cost);
            }
        } else {
            if !full && used > budget {
                return Err(AssembleError::BelowFloor {
                    budget,
                    floor: used,
                });
            }
            let mut fits = !full && used.saturating_add(cost) <= budget;
            if !fits && !full && unit.condense() {
                // The unit at the edge enters in its compact form; what ranks lower is out, so
                // that a larger budget never holds less.
                cost = unit.tokens();
                fits = used.saturating_add(cost) <= budget;
                full = true;
            }
            if fits {
                used = used.saturating_add(cost);
            } else {
                full = true;
                unit.omit(Reason::Budget);
            }
        }
    }
    if used > budget {
        return Err(AssembleError::BelowFloor {
            budget,
            floor: used,
        });
    }
    // The graph's sum leaves thinking out, as providers drop that of earlier turns; what is shown
    // of this turn's would be sent by a replay too.
    let thinking = units.iter().flat_map(|unit| &unit.entries);
    let thinking = thinking.filter(|entry| is_shown_thinking(frame, entry));
    let thinking = thinking.fold(0, |sum: u64, entry| sum.saturating_add(entry.tokens));
    let replay = frame.graph.replay_tokens(&frame.lineage);
    Ok(TokenAccount {
        replay: replay.saturating_add(thinking),
        assembled: used,
        protected,
        budget,
    })
}

fn is_shown_thinking(frame: &Frame<'_>, entry: &Entry) -> bool {
    let message = frame.graph.message(&MessageId::from_bytes(entry.record.id));
    entry.record.kind == RecordKind::Message
        && entry.presentation == Some(Presentation::Raw)
        && message.is_some_and(|message| message.content.media_type == MediaType::Thinking)
}

fn is_floor(frame: &Frame<'_>, unit: &Unit) -> bool {
    unit.protected
        || unit.position == frame.marks.prompt
        || unit
            .entries
            .iter()
            .any(|entry| entry.section == Section::Instructions)
}

/// Orders units: the floor, then this turn from its newest record back, then the rest by relevance
/// and age, then what comes from beside the lineage.
fn rank(
    frame: &Frame<'_>,
    scores: &BTreeMap<u64, i64>,
    unit: &Unit,
) -> (u8, Reverse<i64>, Reverse<u64>) {
    let position = Reverse(unit.position);
    if is_floor(frame, unit) {
        return (0, Reverse(0), position);
    }
    let tail = unit
        .entries
        .iter()
        .all(|entry| entry.section == Section::Tail);
    let standing = unit
        .entries
        .iter()
        .all(|e| matches!(e.section, Section::Skills | Section::Facts));
    if standing {
        return (1, Reverse(0), position);
    }
    if unit.position >= frame.marks.prompt && !tail {
        return (2, Reverse(0), position);
    }
    let score = unit
        .entries
        .iter()
        .filter_map(|entry| scores.get(&entry.position))
        .max();
    let class = if tail { 4 } else { 3 };
    (class, Reverse(score.copied().unwrap_or(0)), position)
}
