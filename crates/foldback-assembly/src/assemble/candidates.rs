//! Step 2: which records are looked at, bounded whatever the length of the history.
//!
//! Instructions, the newest summary and prompt, and what recovery needs come first, then the
//! lineage from its newest record back, then records that are seen beyond their branch.
//! A sibling branch never crowds the lineage out.

use super::frame::Frame;
use foldback_event::{CallId, RecordKind};
use std::collections::BTreeSet;

/// The records that are looked at, and how many are not.
pub(super) struct Candidates {
    /// Their positions, ascending.
    pub(super) positions: BTreeSet<u64>,
    /// How many records stand beside the lineage and are not seen beyond their branch.
    pub(super) beside: u64,
    /// How many records of the lineage lie beyond the bound.
    pub(super) beyond: u64,
}

/// How many states of skills are looked at, however long ago they were set: the newest that each
/// participant may see is in force.
const SKILLS_MAX: usize = 64;

pub(super) fn collect(frame: &Frame<'_>) -> Candidates {
    let graph = frame.graph;
    let bound = usize::try_from(frame.policy.budget.candidates).unwrap_or(usize::MAX);
    let mut positions: BTreeSet<u64> = graph.instructions_on(&frame.lineage).collect();
    // However long ago they were: the prompt is what the request answers, and a summary stands for
    // all that it cuts.
    let marks = [frame.marks.prompt, frame.marks.summary];
    positions.extend(marks.into_iter().filter(|position| *position > 0));
    let skills = graph.skills_newest_first();
    positions.extend(skills.filter(|at| on_lineage(frame, *at)).take(SKILLS_MAX));
    let unresolved = graph.unresolved_newest_first();
    for position in unresolved.filter(|at| on_lineage(frame, *at)).take(bound) {
        positions.insert(position);
        let outcome = outcome(frame, position).into_iter();
        positions.extend(outcome.filter(|at| on_lineage(frame, *at)));
    }
    positions.extend(graph.newest_first(&frame.lineage).take(bound));
    let mut own = positions.len() as u64;
    for position in graph.wide_newest_first() {
        if positions.len() >= bound.saturating_mul(2) {
            break;
        }
        if positions.insert(position) && on_lineage(frame, position) {
            own += 1;
        }
    }
    let beyond = graph.count_on(&frame.lineage).saturating_sub(own);
    let looked_at = positions.len() as u64;
    let rest = graph.record_count().saturating_sub(looked_at);
    Candidates {
        positions,
        beside: rest.saturating_sub(beyond),
        beyond,
    }
}

fn on_lineage(frame: &Frame<'_>, position: u64) -> bool {
    frame
        .graph
        .record_at(position)
        .and_then(|record| frame.graph.common(record))
        .is_some_and(|common| frame.lineage.holds(&common.ownership.branch, position))
}

/// Gives the positions of a call's artifacts and of their memories.
fn outcome(frame: &Frame<'_>, position: u64) -> Vec<u64> {
    let graph = frame.graph;
    let mut out = Vec::new();
    let Some(record) = graph
        .record_at(position)
        .filter(|r| r.kind == RecordKind::Call)
    else {
        return out;
    };
    let Some(call) = graph.call(&CallId::from_bytes(record.id)) else {
        return out;
    };
    for artifact in call.artifacts.iter().filter_map(|id| graph.artifact(id)) {
        out.push(artifact.common.origin.position);
        let memories = artifact.memories.iter().filter_map(|id| graph.memory(id));
        out.extend(memories.map(|memory| memory.common.origin.position));
    }
    out
}
