//! Step 1: the request resolved against the graph, before any candidate is looked at.

use super::AssembleError;
use crate::policy::{Owner, Policy, RecordFacts, RequestFacts, Verdict};
use foldback_event::kind::{AssemblyRequest, RecordRef};
use foldback_event::{BranchId, ParticipantId, RecordKind};
use foldback_graph::node::{Branch, Common, Memory};
use foldback_graph::{Lineage, RuntimeGraph};
use std::collections::BTreeMap;

/// What all steps share.
pub(super) struct Frame<'a> {
    pub(super) graph: &'a RuntimeGraph,
    pub(super) policy: &'a Policy,
    pub(super) request: &'a AssemblyRequest,
    /// The version of the assembler whose rules hold.
    pub(super) assembler: u16,
    pub(super) lineage: Lineage,
    pub(super) facts: RequestFacts,
    pub(super) marks: Marks,
    /// The children of the requester, by participant, and whether they ended.
    children: BTreeMap<ParticipantId, bool>,
}

/// Positions on the lineage that presentation depends on; 0 where there is none.
pub(super) struct Marks {
    /// The requester's newest run before the one that the request is for.
    pub(super) run: u64,
    /// What somebody said last, as far as the requester may see it.
    pub(super) prompt: u64,
    /// The newest summary that the requester may see: one that it may not cuts nothing.
    pub(super) summary: u64,
}

impl<'a> Frame<'a> {
    pub(super) fn new(
        graph: &'a RuntimeGraph,
        policy: &'a Policy,
        request: &'a AssemblyRequest,
        assembler: u16,
    ) -> Result<Self, AssembleError> {
        let position = request.position;
        if graph.position() != position {
            return Err(AssembleError::Position {
                graph: graph.position(),
                request: position,
            });
        }
        if graph.refuses_assembly() {
            return Err(AssembleError::NotUnderstood);
        }
        if graph.conversation().is_none() {
            return Err(AssembleError::NotOpened { position });
        }
        let participant = request.participant;
        if graph.participant(&participant).is_none() {
            return Err(AssembleError::UnknownParticipant {
                participant,
                position,
            });
        }
        let branch = request.branch;
        let lineage = graph
            .lineage(&branch)
            .ok_or(AssembleError::UnknownBranch { branch, position })?;
        let facts = RequestFacts {
            runtime_kind: request.runtime_kind,
            trust: policy.trust(&request.route),
            zero_retention: request.route.zero_retention,
        };
        let children = graph
            .children()
            .filter(|child| child.parent == Some(participant))
            .map(|child| (child.participant, child.end.is_some()))
            .collect();
        let mut frame = Self {
            graph,
            policy,
            request,
            assembler,
            lineage,
            facts,
            marks: Marks {
                run: 0,
                prompt: 0,
                summary: 0,
            },
            children,
        };
        frame.marks = Marks {
            run: frame.run_before(),
            prompt: frame.newest_seen(|branch| &branch.prompts),
            summary: frame.newest_seen(|branch| &branch.summaries),
        };
        Ok(frame)
    }

    /// Counts the requester's runs on the lineage before the one that the request is for.
    pub(super) fn runs_before(&self) -> u64 {
        let this = self.request.run.and_then(|run| self.graph.run(&run));
        let this = this.map(|run| run.origin.position);
        let segments = self.lineage.segments().iter();
        let runs = segments.flat_map(|segment| {
            let branch = self.graph.branch(&segment.branch);
            let runs = branch.map_or(&[][..], |branch| &branch.runs);
            runs.iter()
                .take_while(|(position, _)| *position <= segment.to)
        });
        let own = runs
            .filter(|(position, who)| *who == self.request.participant && Some(*position) != this);
        own.count() as u64
    }

    /// Finds where the requester's newest run started, leaving out the one that the request is for:
    /// that one has not read anything yet.
    fn run_before(&self) -> u64 {
        let this = self.request.run.and_then(|run| self.graph.run(&run));
        let this = this.map(|run| run.origin.position);
        let found = self.lineage.segments().iter().rev().find_map(|segment| {
            let runs = &self.graph.branch(&segment.branch)?.runs;
            let end = runs.partition_point(|(position, _)| *position <= segment.to);
            let own = runs.get(..end)?.iter().rev();
            own.filter(|(_, who)| *who == self.request.participant)
                .map(|(position, _)| *position)
                .find(|position| Some(*position) != this)
        });
        found.unwrap_or(0)
    }

    /// Finds the newest of some messages of each branch that the gates let in.
    fn newest_seen(&self, messages: impl Fn(&Branch) -> &[u64]) -> u64 {
        let found = self.lineage.segments().iter().rev().find_map(|segment| {
            let all = messages(self.graph.branch(&segment.branch)?);
            let end = all.partition_point(|position| *position <= segment.to);
            let inherited = all.get(..end)?.iter().rev().copied();
            let mut inherited = inherited;
            inherited.find(|position| {
                self.graph.record_at(*position).is_some_and(|record| {
                    let common = self.graph.common(record);
                    common.is_some_and(|common| self.gate(record, common, true).permitted)
                })
            })
        });
        found.unwrap_or(0)
    }

    /// Tells how a record's owner relates to the requester (the article, 4.9).
    fn owner(&self, common: &Common) -> Owner {
        let me = self.request.participant;
        match common.ownership.owner_participant {
            Some(owner) if owner == me => Owner::Own,
            _ if common.ownership.shared_with.contains(&me) => Owner::Shared,
            None => Owner::Conversation,
            Some(owner) if self.children.contains_key(&owner) => Owner::Child,
            Some(_) => Owner::Other,
        }
    }

    pub(super) fn on_lineage(&self, common: &Common) -> bool {
        let at = |branch: &BranchId| self.lineage.holds(branch, common.origin.position);
        let promoted = common
            .promotion
            .as_ref()
            .and_then(|p| p.branch.map(|b| (b, p.position)));
        at(&common.ownership.branch)
            || promoted.is_some_and(|(branch, position)| self.lineage.holds(&branch, position))
    }

    /// Asks the gates whether a memory may enter. A compact form that keeps every value tells as much
    /// as the raw bytes, so it needs the same permission.
    pub(super) fn gate_memory(&self, memory: &Memory) -> Verdict<'a> {
        let record = RecordRef {
            kind: RecordKind::Memory,
            id: *memory.id.as_bytes(),
        };
        self.gate(&record, &memory.common, memory.lossless)
    }

    /// Step 3: asks the gates whether a record may enter, raw or in a compact form.
    pub(super) fn gate(&self, record: &RecordRef, common: &Common, raw: bool) -> Verdict<'a> {
        let draft = record.kind == RecordKind::Message
            && self
                .graph
                .message(&foldback_event::MessageId::from_bytes(record.id))
                .is_some_and(|message| message.draft);
        let facts = RecordFacts {
            kind: record.kind,
            owner: self.owner(common),
            visibility: common.ownership.visibility,
            on_lineage: self.on_lineage(common),
            privacy: common.privacy,
            draft,
            promoted: common.promotion.is_some(),
            raw,
        };
        self.policy.decide(&self.facts, &facts)
    }
}
