//! Steps 4 and 5: whether a memory still holds, or another replaces it.

use super::Judge;
use crate::assembly::Note;
use crate::policy::Outdated;
use foldback_event::{MemoryId, Micros, Reason};
use foldback_graph::node::{Change, Memory};

impl Judge<'_, '_> {
    /// Says what is wrong with a memory, and what the policy makes of it.
    pub(super) fn outdated(&self, memory: &Memory) -> Option<(Outdated, Reason, Note)> {
        let (freshness, conflicts) = (self.frame.policy.freshness, self.frame.policy.conflicts);
        if freshness.stale != Outdated::Show {
            if memory.broken {
                let since = Note::StaleSince(memory.observed_at);
                return Some((freshness.stale, Reason::BrokenProvenance, since));
            }
            if let Some(change) = self.changed_since(memory) {
                let (position, at) = (change.position, change.at);
                let note = Note::Changed { position, at };
                return Some((freshness.stale, Reason::Stale, note));
            }
            if let Some(since) = self.stale_since(memory) {
                return Some((freshness.stale, Reason::Stale, Note::StaleSince(since)));
            }
        }
        // A policy that shows stale memories as current still says which ones were replaced.
        let newer = self.replacement(memory);
        let shows = conflicts.superseded == Outdated::Show;
        newer.filter(|_| !shows).map(|newer| {
            let note = Note::SupersededBy(newer);
            (conflicts.superseded, Reason::Superseded, note)
        })
    }

    /// Tells since when a memory is stale at the time of the request (the article, 4.7).
    fn stale_since(&self, memory: &Memory) -> Option<Micros> {
        let window = self.frame.policy.freshness.window_seconds(memory.freshness);
        let by_window = window.map(|seconds| {
            memory
                .observed_at
                .plus_seconds(i64::try_from(seconds).unwrap_or(i64::MAX))
        });
        let until = memory.stale_after.or(by_window)?;
        (self.frame.request.as_of > until).then_some(until)
    }

    /// Finds the first change of what a memory is about that came after it was seen and that the
    /// requester cannot know of: its own on this lineage stand in the request after what it read.
    fn changed_since(&self, memory: &Memory) -> Option<&Change> {
        let subject = memory.subject.as_ref()?;
        let changes = self.frame.graph.changes(subject).rev();
        let since = changes.take_while(|change| change.position > memory.seen_at);
        since
            .filter(|change| self.is_of_this_world(change) && !self.is_own(change))
            .last()
    }

    /// Nothing of a sibling branch enters, so what was changed there was not changed here; what a child
    /// or a parent changed was, wherever its state stands.
    fn is_of_this_world(&self, change: &Change) -> bool {
        let graph = self.frame.graph;
        let Some((_, branch)) = change.by else {
            return true;
        };
        let here = graph.lineage(&graph.home(&self.frame.request.branch));
        here.is_none_or(|here| here.holds(&graph.home(&branch), change.position))
    }

    fn is_own(&self, change: &Change) -> bool {
        change.by.is_some_and(|(who, branch)| {
            who == self.frame.request.participant
                && self.frame.lineage.holds(&branch, change.position)
        })
    }

    /// Tells whether a memory may be shown as current in the place of a raw result.
    pub(super) fn may_stand_in(&self, memory: &Memory) -> bool {
        self.outdated(memory).is_none() && !self.frame.graph.is_erased(&memory.summary.address)
    }

    /// Finds the newest memory that replaces another for this request; what a sibling branch replaced
    /// for itself stands here.
    fn replacement(&self, memory: &Memory) -> Option<MemoryId> {
        let newest_first = memory.superseded_by.iter().rev();
        newest_first.copied().find(|id| self.replaces(id, memory))
    }

    pub(super) fn is_replaced(&self, memory: &Memory) -> bool {
        self.replacement(memory).is_some()
    }

    /// Names point one way: only a newer memory replaces, so that two never replace each other.
    fn replaces(&self, id: &MemoryId, older: &Memory) -> bool {
        let newer = self.frame.graph.memory(id);
        newer.is_some_and(|newer| newer.common.origin.position > older.common.origin.position)
            && self.is_admissible(id)
    }

    /// A replacement counts only if it could enter itself; else the older memory would vanish with
    /// nothing in its place.
    pub(super) fn is_admissible(&self, id: &MemoryId) -> bool {
        let Some(memory) = self.frame.graph.memory(id) else {
            return false;
        };
        self.candidates.contains(&memory.common.origin.position)
            && !memory.broken
            && self.frame.gate_memory(memory).permitted
    }
}
