//! The assembler: ten steps from a graph, a policy and a request to an assembly.
//!
//! They are: (1) resolve policy and request, (2) candidates, bounded, (3) gates, (4) freshness,
//! (5) supersession and conflicts, (6) protection of what recovery needs, (7) presentation,
//! layout against the request before, and budget, (8) rehydration, (9) layout, (10) the record, which the caller appends.
//!
//! Steps 3 to 6 and 8 judge one unit at a time (`judge`), so a call and its result are decided
//! together and never part.

mod budget;
mod candidates;
mod cost;
mod frame;
mod judge;
mod plan;
mod unit;

use crate::assembly::{Assembly, Decision, Item};
use crate::policy::Policy;
use foldback_event::kind::{
    AssemblyRequest, ContextAssembled, LayoutAccount, LayoutPlan, OmissionCount, Placement,
    SafetyDecision,
};
use foldback_event::{AssemblyId, BranchId, Label, ParticipantId, Reason};
use foldback_graph::RuntimeGraph;
use frame::Frame;
use std::collections::BTreeMap;

/// The version of the assembler's meaning. It rises whenever the same inputs may give another
/// selection, and recorded assemblies name the one that made them.
pub const ASSEMBLER_VERSION: u16 = 2;

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
    /// The assembly that the request extends is not the one that was handed over, or is none that
    /// it can extend: an earlier one of the same participant.
    #[error("{}", ill_extended(extends.as_ref(), given.as_ref()))]
    Extends {
        /// What the request extends.
        extends: Option<AssemblyId>,
        /// What was handed over.
        given: Option<AssemblyId>,
    },
    /// A later assembler made the decision.
    #[error("assembler {version} made it; this version knows assemblers 1 to {ASSEMBLER_VERSION}")]
    UnknownAssembler {
        /// The version.
        version: u16,
    },
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

fn ill_extended(extends: Option<&AssemblyId>, given: Option<&AssemblyId>) -> String {
    match (extends, given) {
        (Some(extends), None) => format!(
            "the request extends {}, and that assembly was not handed over",
            extends.short()
        ),
        (None, Some(given)) => format!(
            "the assembly {} was handed over, and the request does not say that it extends it",
            given.short()
        ),
        (Some(extends), Some(given)) if extends != given => format!(
            "the request extends {}, and {} was handed over",
            extends.short(),
            given.short()
        ),
        _ => "the request extends an assembly that is not an earlier one of its participant"
            .to_owned(),
    }
}

/// Decides what a participant's next request contains.
///
/// `previous` is the recorded assembly that the request extends: the one that `request.extends`
/// names, none if that names none.
///
/// # Errors
///
/// [`AssembleError`] where the request cannot be answered as it stands; nothing is bent silently.
pub fn assemble(
    graph: &RuntimeGraph,
    policy: &Policy,
    request: &AssemblyRequest,
    previous: Option<&ContextAssembled>,
) -> Result<Assembly, AssembleError> {
    decide(graph, policy, request, previous, ASSEMBLER_VERSION)
}

/// Decides a recorded request again, under the rules of the assembler that decided it.
///
/// # Errors
///
/// As [`assemble`], and if the assembler is a later one than this.
pub fn reassemble(
    graph: &RuntimeGraph,
    policy: &Policy,
    recorded: &ContextAssembled,
    previous: Option<&ContextAssembled>,
) -> Result<Assembly, AssembleError> {
    let version = recorded.assembler;
    if !(1..=ASSEMBLER_VERSION).contains(&version) {
        return Err(AssembleError::UnknownAssembler { version });
    }
    decide(graph, policy, &recorded.request, previous, version)
}

fn decide(
    graph: &RuntimeGraph,
    policy: &Policy,
    request: &AssemblyRequest,
    previous: Option<&ContextAssembled>,
    assembler: u16,
) -> Result<Assembly, AssembleError> {
    let frame = Frame::new(graph, policy, request, assembler)?;
    // Assembler 1 took no notice of the request before.
    let previous = if assembler < 2 {
        None
    } else {
        extended(request, previous)?
    };
    let candidates = candidates::collect(&frame);
    let mut units = judge::judge(&frame, &candidates);
    let plan = plan::plan(&frame, previous, &mut units);
    let tokens = budget::spend(&frame, &mut units)?;
    let mut decisions: Vec<Decision> = units.iter().flat_map(unit::Unit::decisions).collect();
    decisions.sort_by_key(|decision| decision.position);
    let items = plan::laid_out(assembler, &units);
    let prefix = plan::prefix(&frame, previous, &items);
    let items: Vec<Item> = items.into_iter().map(|(_, item)| item).collect();
    let layout = (assembler >= 2).then(|| account(graph, &items, prefix, plan));
    Ok(Assembly {
        request: request.clone(),
        policy: policy.digest,
        assembler,
        omissions: count(&decisions, &candidates),
        safety: safety(&decisions),
        tokens,
        layout,
        items,
        decisions,
    })
}

/// Checks that the earlier assembly is the one that the request extends, and an earlier one of the
/// same participant.
fn extended<'p>(
    request: &AssemblyRequest,
    previous: Option<&'p ContextAssembled>,
) -> Result<Option<&'p ContextAssembled>, AssembleError> {
    let given = previous.map(|previous| previous.assembly);
    let fits = previous.is_none_or(|previous| {
        let before = &previous.request;
        before.participant == request.participant && before.position <= request.position
    });
    if given == request.extends && fits {
        return Ok(previous);
    }
    Err(AssembleError::Extends {
        extends: request.extends,
        given,
    })
}

fn account(graph: &RuntimeGraph, items: &[Item], prefix: u64, plan: LayoutPlan) -> LayoutAccount {
    let assembled = items
        .iter()
        .fold(0, |sum: u64, item| sum.saturating_add(item.tokens));
    let read = prefix.saturating_mul(plan.read_permille);
    let written = assembled
        .saturating_sub(prefix)
        .saturating_mul(plan.write_permille);
    let placements = items.iter().map(|item| Placement {
        tokens: item.tokens,
        names: plan::named(graph, item.note),
    });
    LayoutAccount {
        placements: placements.collect(),
        prefix,
        cost: read.saturating_add(written),
        plan,
    }
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
