//! Steps 3 to 6 and 8: a verdict for every candidate, unit by unit.

mod outcome;
mod outdated;
mod recovery;
mod standing;

use super::candidates::Candidates;
use super::cost::{self, Cost};
use super::frame::Frame;
use super::unit::{Entry, Unit};
use crate::assembly::{Note, Section};
use crate::policy::{ThinkingSpan, Verdict};
use foldback_event::kind::RecordRef;
use foldback_event::{
    ArtifactId, CallId, MediaType, MemoryId, MessageId, MessageRole, Presentation, Reason,
    RecordKind, RunId,
};
use foldback_graph::call_tokens;
use foldback_graph::node::{Call, Memory, Message};
use std::collections::{BTreeMap, BTreeSet};

/// Judges all candidates.
pub(super) fn judge(frame: &Frame<'_>, candidates: &Candidates) -> Vec<Unit> {
    let mut judge = Judge {
        frame,
        candidates: &candidates.positions,
        recovery: recovery::Recovery::new(frame, &candidates.positions),
        units: Vec::new(),
        of_run: BTreeMap::new(),
        notices: 0,
        cost: Cost::of(frame.assembler),
        rehydrated: outcome::Rehydrated::default(),
    };
    for position in &candidates.positions {
        if let Some(record) = frame.graph.record_at(*position) {
            judge.record(*position, *record);
        }
    }
    judge.units
}

/// The state of judging: units in the order of their first record.
struct Judge<'f, 'a> {
    frame: &'f Frame<'a>,
    candidates: &'f BTreeSet<u64>,
    recovery: recovery::Recovery<'a>,
    units: Vec<Unit>,
    /// The unit of each run, so that what a model said at once stays together.
    of_run: BTreeMap<RunId, usize>,
    /// How many conflicts were noticed.
    notices: u64,
    cost: Cost,
    rehydrated: outcome::Rehydrated,
}

impl Judge<'_, '_> {
    fn record(&mut self, position: u64, record: RecordRef) {
        let graph = self.frame.graph;
        match record.kind {
            RecordKind::Message => {
                if let Some(node) = graph.message(&MessageId::from_bytes(record.id)) {
                    self.message(position, record, node);
                }
            }
            RecordKind::Call => {
                if let Some(node) = graph.call(&CallId::from_bytes(record.id)) {
                    self.call(position, record, node);
                }
            }
            RecordKind::Artifact => self.lone_artifact(position, record),
            RecordKind::Memory => self.lone_memory(position, record),
            RecordKind::Skill | RecordKind::Fact | RecordKind::Checkpoint | RecordKind::Child => {
                self.standing(position, record);
            }
        }
    }

    fn message(&mut self, position: u64, record: RecordRef, node: &Message) {
        let frame = self.frame;
        let tokens = u64::from(node.content.tokens);
        let verdict = frame.gate(&record, &node.common, true);
        let beside = !frame.on_lineage(&node.common);
        let instructions = node.role == MessageRole::System;
        let mut entry = entry(position, record, &verdict, tokens);
        entry.section = match (instructions, beside) {
            (true, _) => Section::Instructions,
            (false, true) => Section::Tail,
            (false, false) => Section::History,
        };
        if verdict.permitted {
            let omitted = if position < frame.marks.summary && !instructions && !beside {
                Some(Reason::Summarized)
            } else if node.content.media_type == MediaType::Thinking && !self.keeps_thinking(node) {
                Some(Reason::Inactive)
            } else {
                None
            };
            match omitted {
                Some(reason) => entry.omit(reason),
                None if frame.graph.is_erased(&node.content.address) => {
                    entry.show(
                        Presentation::Marker,
                        Reason::Erased,
                        cost::marker(Reason::Erased),
                    );
                }
                None => {
                    let caption = if beside { cost::CAPTION } else { 0 };
                    entry.show(Presentation::Raw, Reason::Permitted, tokens + caption);
                }
            }
        }
        let run = if beside { None } else { node.run };
        self.put(run, position, vec![entry], false);
    }

    /// Thinking is the requester's own and, by default, of this turn: providers drop what is older.
    fn keeps_thinking(&self, node: &Message) -> bool {
        let own = node.participant == Some(self.frame.request.participant);
        own && match self.frame.policy.presentation.thinking {
            ThinkingSpan::Always => true,
            ThinkingSpan::Never => false,
            ThinkingSpan::Turn => node.common.origin.position > self.frame.marks.prompt,
        }
    }

    fn call(&mut self, position: u64, record: RecordRef, node: &Call) {
        let frame = self.frame;
        let verdict = frame.gate(&record, &node.common, true);
        let tokens = call_tokens(&node.tool, &node.arguments);
        let mut call = entry(position, record, &verdict, tokens);
        let outcomes = self.outcomes(node);
        let protected = verdict.permitted && self.recovery.needs(frame, node, &outcomes);
        let mut entries = Vec::new();
        // A call that was open when the history was summarized is told by its later outcome.
        let told = outcomes
            .last()
            .map_or(position, |last| last.common.origin.position);
        let omitted = if !verdict.permitted {
            Some(Reason::CallOmitted)
        } else if !frame.on_lineage(&node.common) {
            call.omit(Reason::BranchExcluded);
            Some(Reason::CallOmitted)
        } else if told < frame.marks.summary && !protected {
            call.omit(Reason::Summarized);
            Some(Reason::Summarized)
        } else {
            let reason = if protected {
                Reason::Recovery
            } else {
                Reason::Permitted
            };
            call.show(Presentation::Raw, reason, tokens);
            None
        };
        if let Some(reason) = omitted {
            for artifact in &outcomes {
                entries.extend(self.omit_outcome(artifact, reason));
            }
        } else if let Some((last, earlier)) = outcomes.split_last() {
            for artifact in earlier {
                entries.extend(self.omit_outcome(artifact, Reason::Replaced));
            }
            entries.extend(self.outcome(&mut call, last, protected));
        } else {
            // The renderer puts a notice in the place of the result that is not there yet.
            call.tokens = call.tokens.saturating_add(cost::OPEN);
        }
        if protected {
            call.note = Some(Note::Protected);
        }
        for entry in entries.iter_mut().filter(|e| e.section == Section::History) {
            entry.anchor = position;
        }
        entries.insert(0, call);
        self.put(node.run, position, entries, protected);
    }

    /// A result that no candidate call asked for cannot be shown: a provider refuses it.
    fn lone_artifact(&mut self, position: u64, record: RecordRef) {
        let Some(node) = self
            .frame
            .graph
            .artifact(&ArtifactId::from_bytes(record.id))
        else {
            return;
        };
        let call = node.call.and_then(|id| self.frame.graph.call(&id));
        if call.is_some_and(|call| self.judges(call, &node.id)) {
            return;
        }
        let verdict = self.frame.gate(&record, &node.common, true);
        let tokens = node.result.map_or(0, |result| u64::from(result.tokens));
        let mut entry = entry(position, record, &verdict, tokens);
        if verdict.permitted {
            entry.omit(Reason::CallOmitted);
        }
        self.put(None, position, vec![entry], false);
    }

    /// Tells whether an artifact is judged with a call: one that came before its call is not.
    fn judges(&self, call: &Call, artifact: &ArtifactId) -> bool {
        self.candidates.contains(&call.common.origin.position) && call.artifacts.contains(artifact)
    }

    /// A memory whose one artifact is judged with a call that may stand in the history is judged
    /// there; any other stands alone, such as one that was shared while its call was not.
    fn lone_memory(&mut self, position: u64, record: RecordRef) {
        let frame = self.frame;
        let Some(node) = frame.graph.memory(&MemoryId::from_bytes(record.id)) else {
            return;
        };
        if self.is_judged_with_call(node) {
            return;
        }
        let verdict = frame.gate_memory(node);
        let tokens = u64::from(node.summary.tokens);
        let mut entry = entry(position, record, &verdict, tokens);
        entry.section = Section::Tail;
        if verdict.permitted {
            if position < frame.marks.summary && frame.on_lineage(&node.common) {
                entry.omit(Reason::Summarized);
            } else {
                self.show_memory(&mut entry, node, cost::CAPTION);
            }
        }
        self.put(None, position, vec![entry], false);
    }

    fn is_judged_with_call(&self, memory: &Memory) -> bool {
        let graph = self.frame.graph;
        let [artifact] = memory.artifacts.as_slice() else {
            return false;
        };
        let Some(artifact) = graph.artifact(artifact) else {
            return false;
        };
        let call = artifact.call.and_then(|id| graph.call(&id));
        self.candidates.contains(&artifact.common.origin.position)
            && artifact.memories.contains(&memory.id)
            && call.is_some_and(|call| self.judges(call, &artifact.id) && self.may_stand(call))
    }

    /// Tells whether a call may stand in the history at all.
    fn may_stand(&self, call: &Call) -> bool {
        let record = RecordRef {
            kind: RecordKind::Call,
            id: *call.id.as_bytes(),
        };
        self.frame.on_lineage(&call.common)
            && self.frame.gate(&record, &call.common, true).permitted
    }

    /// Adds entries to their run's unit, or makes them a unit of their own.
    fn put(&mut self, run: Option<RunId>, position: u64, entries: Vec<Entry>, protected: bool) {
        let known = run.and_then(|run| self.of_run.get(&run).copied());
        if let Some(unit) = known.and_then(|at| self.units.get_mut(at)) {
            unit.entries.extend(entries);
            unit.protected |= protected;
            return;
        }
        if let Some(run) = run {
            self.of_run.insert(run, self.units.len());
        }
        self.units.push(Unit {
            position,
            entries,
            protected,
        });
    }
}

/// Makes the verdict of the gates an entry; a permitted record still waits for its form.
fn entry(position: u64, record: RecordRef, verdict: &Verdict<'_>, tokens: u64) -> Entry {
    Entry {
        position,
        anchor: position,
        record,
        section: Section::History,
        presentation: None,
        reason: if verdict.permitted {
            Reason::Permitted
        } else {
            verdict.reason
        },
        rule: verdict.rule.cloned(),
        tokens,
        note: None,
        ladder: None,
    }
}
