//! The lineage of a branch: what it inherits, and from where.

use crate::RuntimeGraph;
use foldback_event::{BranchId, MessageId, ParticipantId};
use std::collections::BTreeMap;

/// A part of a lineage: one branch up to a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// The branch.
    pub branch: BranchId,
    /// The last position that counts.
    pub to: u64,
}

/// The branches that a branch inherits from, the oldest first and itself last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lineage {
    segments: Vec<Segment>,
    limit: BTreeMap<BranchId, u64>,
}

impl Lineage {
    /// Gives the parts, the oldest first.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Tells whether a record at `position` on `branch` is inherited.
    pub fn holds(&self, branch: &BranchId, position: u64) -> bool {
        self.limit.get(branch).is_some_and(|to| position <= *to)
    }
}

impl RuntimeGraph {
    /// Follows a branch to its root; none if the branch is not known.
    ///
    /// What a branch inherits is limited at each fork, and by each fork nearer to the leaf.
    /// A parent that is not known, or that leads back to the branch, ends the walk: an import may
    /// say so, and what stands on the branch itself stays readable.
    pub fn lineage(&self, branch: &BranchId) -> Option<Lineage> {
        let mut segments = Vec::new();
        let mut limit = BTreeMap::new();
        let mut next = Some((*branch, u64::MAX));
        while let Some((id, to)) = next {
            let Some(node) = self.branches.get(&id) else {
                break;
            };
            if limit.contains_key(&id) {
                break;
            }
            limit.insert(id, to);
            segments.push(Segment { branch: id, to });
            next = node.parent.map(|parent| (parent, node.at.min(to)));
        }
        if segments.is_empty() {
            return None;
        }
        segments.reverse();
        Some(Lineage { segments, limit })
    }

    /// Finds the branch that work on a branch is done for: a child's is its parent's, and so on up.
    pub fn home(&self, branch: &BranchId) -> BranchId {
        let mut home = *branch;
        // A source may say that two children are each other's parent.
        for _ in 0..=self.children.len() {
            let mut children = self.children.values();
            let child = children.find(|child| child.branch == home);
            match child.and_then(|child| child.parent_branch) {
                Some(parent) => home = parent,
                None => break,
            }
        }
        home
    }

    /// Walks the positions of the records on a lineage, the newest first.
    pub fn newest_first<'g>(&'g self, lineage: &'g Lineage) -> impl Iterator<Item = u64> + 'g {
        lineage.segments.iter().rev().flat_map(move |segment| {
            let records = self
                .branches
                .get(&segment.branch)
                .map_or(&[][..], |b| b.records.as_slice());
            let end = records.partition_point(|position| *position <= segment.to);
            records.get(..end).unwrap_or_default().iter().rev().copied()
        })
    }

    /// Counts the records on a lineage.
    pub fn count_on(&self, lineage: &Lineage) -> u64 {
        let mut count = 0;
        for segment in &lineage.segments {
            if let Some(branch) = self.branches.get(&segment.branch) {
                count += branch.records.partition_point(|p| *p <= segment.to) as u64;
            }
        }
        count
    }

    /// Finds the newest summary on a lineage: what stands before it is summarized by it.
    pub fn summary_on(&self, lineage: &Lineage) -> Option<u64> {
        lineage.segments.iter().rev().find_map(|segment| {
            let summaries = &self.branches.get(&segment.branch)?.summaries;
            let end = summaries.partition_point(|position| *position <= segment.to);
            summaries.get(end.checked_sub(1)?).copied()
        })
    }

    /// Finds where what somebody said last stands on a lineage.
    pub fn prompt_on(&self, lineage: &Lineage) -> Option<u64> {
        lineage.segments.iter().rev().find_map(|segment| {
            let prompts = &self.branches.get(&segment.branch)?.prompts;
            let end = prompts.partition_point(|position| *position <= segment.to);
            prompts.get(end.checked_sub(1)?).copied()
        })
    }

    /// Finds where a participant's newest run on a lineage started.
    pub fn run_on(&self, lineage: &Lineage, participant: &ParticipantId) -> Option<u64> {
        lineage.segments.iter().rev().find_map(|segment| {
            let runs = &self.branches.get(&segment.branch)?.runs;
            let end = runs.partition_point(|(position, _)| *position <= segment.to);
            let inherited = runs.get(..end)?.iter().rev();
            inherited
                .filter(|(_, who)| who == participant)
                .map(|(position, _)| *position)
                .next()
        })
    }

    /// Walks the operator's instructions on a lineage, the oldest first.
    pub fn instructions_on<'g>(&'g self, lineage: &'g Lineage) -> impl Iterator<Item = u64> + 'g {
        lineage.segments.iter().flat_map(move |segment| {
            let all = self
                .branches
                .get(&segment.branch)
                .map_or(&[][..], |b| b.instructions.as_slice());
            let end = all.partition_point(|position| *position <= segment.to);
            all.get(..end).unwrap_or_default().iter().copied()
        })
    }

    /// Sums what sending the whole lineage takes, from its newest summary on and with the
    /// instructions before it; in tokens, without thinking.
    pub fn replay_tokens(&self, lineage: &Lineage) -> u64 {
        let from = self.summary_on(lineage).unwrap_or(0);
        let mut sum: u64 = 0;
        for segment in &lineage.segments {
            let Some(branch) = self.branches.get(&segment.branch) else {
                continue;
            };
            let before = |position: u64| {
                let end = branch.records.partition_point(|p| *p < position);
                end.checked_sub(1)
                    .and_then(|at| branch.replay.get(at))
                    .copied()
                    .unwrap_or(0)
            };
            let all = before(segment.to.saturating_add(1));
            sum = sum.saturating_add(all.saturating_sub(before(from)));
        }
        for position in self
            .instructions_on(lineage)
            .filter(|position| *position < from)
        {
            let message = self
                .record_at(position)
                .and_then(|record| self.message(&MessageId::from_bytes(record.id)));
            sum = sum.saturating_add(message.map_or(0, |m| u64::from(m.content.tokens)));
        }
        sum
    }
}
