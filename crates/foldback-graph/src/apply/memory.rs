//! Folding the memory family.

use super::common;
use crate::RuntimeGraph;
use crate::finding::FindingCode;
use crate::node::{Artifact, Change, Memory, Origin};
use foldback_event::kind::{
    MemoriesConflicted, MemoriesSuperseded, MemoryRevalidated, ProvenanceRepairTried, RecordRef,
    RepairOutcome, SubjectChanged, ToolMemoryDerived,
};
use foldback_event::{ArtifactId, MemoryId, RecordKind};

fn artifact_ref(id: &ArtifactId) -> RecordRef {
    RecordRef {
        kind: RecordKind::Artifact,
        id: *id.as_bytes(),
    }
}

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
        let mut seen_at = origin.position;
        for artifact in &body.artifacts {
            match self.artifacts.get_mut(artifact) {
                Some(artifact) => {
                    artifact.memories.push(body.memory);
                    seen_at = seen_at.min(artifact.common.origin.position);
                }
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
            seen_at,
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

    pub(super) fn revalidate(&mut self, origin: Origin, body: &MemoryRevalidated) {
        let shown_by = body.artifact.and_then(|id| self.artifacts.get(&id));
        let seen_at = shown_by.map_or(origin.position, position);
        match self.memories.get_mut(&body.memory) {
            Some(memory) => {
                memory.observed_at = memory.observed_at.max(body.observed_at);
                memory.stale_after = None;
                memory.seen_at = memory.seen_at.max(seen_at);
            }
            None => self.find(FindingCode::UnknownRecord, Some(memory_ref(&body.memory))),
        }
    }

    /// Provenance that was repaired leads to the artifact that was found, and nowhere else.
    pub(super) fn try_repair(&mut self, body: &ProvenanceRepairTried) {
        let Some(memory) = self.memories.get_mut(&body.memory) else {
            self.find(FindingCode::UnknownRecord, Some(memory_ref(&body.memory)));
            return;
        };
        memory.repair_tries = memory.repair_tries.saturating_add(1);
        memory.broken = body.outcome == RepairOutcome::Unresolved;
        if memory.broken || memory.artifacts.contains(&body.artifact) {
            return;
        }
        if !self.artifacts.contains_key(&body.artifact) {
            let record = artifact_ref(&body.artifact);
            self.find(FindingCode::UnknownRecord, Some(record));
            return;
        }
        let before = std::mem::replace(&mut memory.artifacts, vec![body.artifact]);
        for id in before {
            if let Some(artifact) = self.artifacts.get_mut(&id) {
                artifact.memories.retain(|memory| *memory != body.memory);
            }
        }
        if let Some(artifact) = self.artifacts.get_mut(&body.artifact) {
            artifact.memories.push(body.memory);
            memory.seen_at = position(artifact);
        }
    }

    /// Keeps what changed per subject; who may take it for known is for a policy to say.
    pub(super) fn change_subjects(&mut self, origin: Origin, body: &SubjectChanged) {
        let artifact = self.artifacts.get(&body.artifact);
        let change = Change {
            position: artifact.map_or(origin.position, position),
            at: artifact.map_or(origin.at, |artifact| artifact.common.origin.at),
            by: artifact.and_then(|artifact| {
                let ownership = &artifact.common.ownership;
                let who = ownership.owner_participant?;
                Some((who, ownership.branch))
            }),
        };
        if artifact.is_none() {
            let record = artifact_ref(&body.artifact);
            self.find(FindingCode::UnknownRecord, Some(record));
        }
        for subject in &body.subjects {
            let known = self.changes.entry(*subject).or_default();
            let at = known.partition_point(|known| known.position <= change.position);
            known.insert(at, change);
        }
    }
}

fn position(artifact: &Artifact) -> u64 {
    artifact.common.origin.position
}
