//! Folding the memory family.

use super::common;
use crate::RuntimeGraph;
use crate::finding::FindingCode;
use crate::node::{Memory, Origin};
use foldback_event::kind::{
    MemoriesConflicted, MemoriesSuperseded, MemoryRevalidated, ProvenanceRepairTried, RecordRef,
    RepairOutcome, ToolMemoryDerived,
};
use foldback_event::{MemoryId, RecordKind};

fn memory_ref(id: &MemoryId) -> RecordRef {
    RecordRef {
        kind: RecordKind::Memory,
        id: *id.as_bytes(),
    }
}

impl RuntimeGraph {
    pub(super) fn derive_memory(&mut self, origin: Origin, body: &ToolMemoryDerived) {
        let record = memory_ref(&body.memory);
        if self.memories.contains_key(&body.memory) {
            self.find(FindingCode::DuplicateRecord, Some(record));
            return;
        }
        for artifact in &body.artifacts {
            match self.artifacts.get_mut(artifact) {
                Some(artifact) => artifact.memories.push(body.memory),
                None => self.find(FindingCode::UnknownRecord, Some(record)),
            }
        }
        if let Some(question) = body.question {
            self.questions
                .entry((question, body.ownership.branch))
                .or_default()
                .push(body.memory);
        }
        if let Some(subject) = body.subject {
            self.subjects.entry(subject).or_default().push(body.memory);
        }
        let node = Memory {
            id: body.memory,
            common: common(origin, &body.ownership, body.privacy),
            artifacts: body.artifacts.clone(),
            tool: body.tool.clone(),
            extractor: body.extractor.clone(),
            extractor_version: body.extractor_version,
            summary: body.summary,
            detail: body.detail,
            brief: body.brief,
            outline: body.outline,
            lossless: body.lossless,
            subject: body.subject,
            question: body.question,
            facts: body.facts.clone(),
            freshness: body.freshness,
            observed_at: body.observed_at,
            stale_after: body.stale_after,
            revalidation: body.revalidation.clone(),
            promotion_rule: body.promotion,
            supersedes: Vec::new(),
            superseded_by: Vec::new(),
            conflicts_with: Vec::new(),
            repair_tries: 0,
            broken: false,
        };
        self.memories.insert(body.memory, node);
        self.place(record, &body.ownership, 0);
    }

    pub(super) fn conflict(&mut self, body: &MemoriesConflicted) {
        for id in &body.memories {
            let others = body.memories.iter().filter(|other| *other != id);
            match self.memories.get_mut(id) {
                Some(memory) => {
                    for other in others {
                        if !memory.conflicts_with.contains(other) {
                            memory.conflicts_with.push(*other);
                        }
                    }
                    memory.conflicts_with.sort_unstable();
                }
                None => self.find(FindingCode::UnknownRecord, Some(memory_ref(id))),
            }
        }
    }

    /// `supersedes` stands on the new memory; `superseded_by` is derived on the old ones.
    pub(super) fn supersede(&mut self, body: &MemoriesSuperseded) {
        let Some(memory) = self.memories.get_mut(&body.memory) else {
            self.find(FindingCode::UnknownRecord, Some(memory_ref(&body.memory)));
            return;
        };
        for old in &body.supersedes {
            if *old != body.memory && !memory.supersedes.contains(old) {
                memory.supersedes.push(*old);
            }
        }
        for old in &body.supersedes {
            match self.memories.get_mut(old) {
                // A memory never supersedes itself: the old one would vanish with its replacement.
                Some(old) if old.id != body.memory => {
                    if !old.superseded_by.contains(&body.memory) {
                        old.superseded_by.push(body.memory);
                    }
                }
                _ => self.find(FindingCode::UnknownRecord, Some(memory_ref(old))),
            }
        }
    }

    pub(super) fn revalidate(&mut self, body: &MemoryRevalidated) {
        match self.memories.get_mut(&body.memory) {
            Some(memory) => {
                memory.observed_at = memory.observed_at.max(body.observed_at);
                memory.stale_after = None;
            }
            None => self.find(FindingCode::UnknownRecord, Some(memory_ref(&body.memory))),
        }
    }

    pub(super) fn try_repair(&mut self, body: &ProvenanceRepairTried) {
        match self.memories.get_mut(&body.memory) {
            Some(memory) => {
                memory.repair_tries = memory.repair_tries.saturating_add(1);
                memory.broken = body.outcome == RepairOutcome::Unresolved;
            }
            None => self.find(FindingCode::UnknownRecord, Some(memory_ref(&body.memory))),
        }
    }
}
