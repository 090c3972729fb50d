//! Which decisions of one request come out otherwise under another policy, and by which rule.

use super::{Explanation, explain_assembly, explain_record};
use crate::assembly::Assembly;
use foldback_graph::RuntimeGraph;
use std::collections::BTreeSet;

/// A decision that comes out otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// The decision under the first policy.
    pub before: Explanation,
    /// The decision under the second.
    pub after: Explanation,
}

impl Moved {
    /// Names what moved it: the rule that keeps it out now, the rule that kept it out before and no
    /// longer does, the result that its memory stands for, or else the reason that another part of
    /// the policy gives.
    pub fn cause(&self) -> String {
        let (before, after) = (&self.before, &self.after);
        let kept_out = |row: &Explanation| row.rule.clone().filter(|_| row.presentation.is_none());
        match (kept_out(before), kept_out(after)) {
            (_, Some(rule)) => format!("rule {rule}"),
            (Some(rule), None) => format!("no longer rule {rule}"),
            _ if "replaced" == before.reason || "replaced" == after.reason => {
                "its result".to_owned()
            }
            _ => after.reason.to_owned(),
        }
    }

    /// Tells whether the model would read something else, and not the same for another reason.
    pub fn is_seen(&self) -> bool {
        self.before.presentation != self.after.presentation
    }
}

/// Lists the decisions that differ in form, reason or rule between two assemblies of one request,
/// in ascending order of position.
pub fn moved(graph: &RuntimeGraph, before: &Assembly, after: &Assembly) -> Vec<Moved> {
    let positions: BTreeSet<u64> = [before, after]
        .into_iter()
        .flat_map(|assembly| explain_assembly(graph, assembly))
        .map(|row| row.position)
        .collect();
    let rows = positions.into_iter().filter_map(|position| {
        Some(Moved {
            before: explain_record(graph, before, position)?,
            after: explain_record(graph, after, position)?,
        })
    });
    let differs = |moved: &Moved| {
        let side = |row: &Explanation| (row.presentation, row.reason, row.rule.clone());
        side(&moved.before) != side(&moved.after)
    };
    rows.filter(differs).collect()
}
