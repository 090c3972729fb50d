//! The assembler: ten steps from a graph, a policy and a request to an assembly.
//!
//! They are: (1) resolve policy and request, (2) candidates, bounded, (3) gates, (4) freshness,
//! (5) supersession and conflicts, (6) protection of what recovery needs, (7) presentation and
//! budget, (8) rehydration, (9) layout, (10) the record, which the caller appends.
//!
//! Steps 3 to 6 and 8 judge one unit at a time (`judge`), so a call and its result are decided
//! together and never part.

mod budget;
mod candidates;
mod cost;
mod frame;
mod judge;
mod unit;

use crate::assembly::{Assembly, Decision};
use crate::policy::Policy;
use foldback_event::kind::{AssemblyRequest, OmissionCount, SafetyDecision};
use foldback_event::{BranchId, Label, ParticipantId, Reason};
use foldback_graph::RuntimeGraph;
use frame::Frame;
use std::collections::BTreeMap;

/// The version of the assembler's meaning. It rises whenever the same inputs may give another
/// selection, and recorded assemblies name the one that made them.
pub const ASSEMBLER_VERSION: u16 = 1;

/// Says why no context is assembled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AssembleError {
    /// The graph is folded to another position than the request names.
    #[error("the graph stands at position {graph}, the request asks for {request}")]
    Position {
        /// Where the graph stands.
        graph: u64,
        /// What the request asks for.
        request: u64,
    },
    /// The conversation was never opened.
    #[error("the conversation is not opened at position {position}")]
    NotOpened {
        /// The position.
        position: u64,
    },
    /// The branch is not known.
    #[error("branch `{branch}` does not exist at position {position}")]
    UnknownBranch {
        /// The branch.
        branch: BranchId,
        /// The position.
        position: u64,
    },
    /// The participant is not in the conversation.
    #[error("participant `{participant}` is not in the conversation at position {position}")]
    UnknownParticipant {
        /// The participant.
        participant: ParticipantId,
        /// The position.
        position: u64,
    },
    /// The log holds an event that must be understood and is not.
    #[error("the conversation holds an event of a newer kind that must be understood")]
    NotUnderstood,
    /// The budget cannot even hold what is protected.
    #[error(
        "a budget of {budget} tokens is below the {floor} that instructions, recovery and the newest message need"
    )]
    BelowFloor {
        /// The budget.
        budget: u64,
        /// What is needed at least.
        floor: u64,
    },
}

/// Decides what a participant's next request contains.
///
/// # Errors
///
/// [`AssembleError`] where the request cannot be answered as it stands; nothing is bent silently.
pub fn assemble(
    graph: &RuntimeGraph,
    policy: &Policy,
    request: &AssemblyRequest,
) -> Result<Assembly, AssembleError> {
    let frame = Frame::new(graph, policy, request)?;
    let candidates = candidates::collect(&frame);
    let mut units = judge::judge(&frame, &candidates);
    let account = budget::spend(&frame, &mut units)?;
    let mut decisions: Vec<Decision> = units.iter().flat_map(unit::Unit::decisions).collect();
    decisions.sort_by_key(|decision| decision.position);
    let mut items: Vec<_> = units.iter().flat_map(unit::Unit::items).collect();
    items.sort_by_key(|item| (item.section, item.position, item.record.kind));
    Ok(Assembly {
        request: request.clone(),
        policy: policy.digest,
        assembler: ASSEMBLER_VERSION,
        omissions: count(&decisions, &candidates),
        safety: safety(&decisions),
        tokens: account,
        items,
        decisions,
    })
}

fn count(decisions: &[Decision], candidates: &candidates::Candidates) -> Vec<OmissionCount> {
    let mut counts: BTreeMap<Reason, u64> = BTreeMap::new();
    for decision in decisions
        .iter()
        .filter(|decision| decision.presentation.is_none())
    {
        *counts.entry(decision.reason).or_default() += 1;
    }
    for (reason, count) in [
        (Reason::BranchExcluded, candidates.beside),
        (Reason::CandidateBound, candidates.beyond),
    ] {
        if count > 0 {
            *counts.entry(reason).or_default() += count;
        }
    }
    counts
        .into_iter()
        .map(|(reason, count)| OmissionCount { reason, count })
        .collect()
}

/// Counts what a rule kept out.
fn safety(decisions: &[Decision]) -> Vec<SafetyDecision> {
    let mut counts: BTreeMap<(&Label, Reason), u64> = BTreeMap::new();
    for decision in decisions
        .iter()
        .filter(|decision| decision.presentation.is_none())
    {
        if let Some(rule) = &decision.rule {
            *counts.entry((rule, decision.reason)).or_default() += 1;
        }
    }
    counts
        .into_iter()
        .map(|((rule, reason), count)| SafetyDecision {
            rule: rule.clone(),
            reason,
            count,
        })
        .collect()
}
