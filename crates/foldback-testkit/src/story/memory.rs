//! Memories, what becomes of them, promotion and checkpoints.

use super::manner::short;
use super::{Recorded, Story};
use foldback_event::kind::{
    CheckpointRestored, CheckpointTaken, FactDigest, MemoriesConflicted, MemoriesSuperseded,
    MemoryRevalidated, PromotionRule, ProvenanceRepairTried, RecordPromoted, RepairOutcome,
    SubjectChanged, ToolMemoryDerived,
};
use foldback_event::{
    Actor, ArtifactId, CallId, CheckpointId, Confidence, ConfidenceSource, Freshness, Label,
    MemoryId, ParticipantId, RunId, Visibility,
};

impl Story {
    /// A memory is derived from an artifact.
    pub fn derives(&mut self, artifact: ArtifactId, summary: &str) -> MemoryId {
        self.derives_from(&[artifact], summary)
    }

    /// A memory is derived from several artifacts; the first one says whose it is.
    pub fn derives_from(&mut self, artifacts: &[ArtifactId], summary: &str) -> MemoryId {
        let memory = MemoryId::derive(self.next_event(), 0);
        let summary = self.payload(summary);
        let brief = self.next.brief.take().map(|text| self.payload(&text));
        let outline = self.next.outline.take().map(|text| self.payload(&text));
        let source = artifacts
            .first()
            .and_then(|id| self.artifacts.get(id))
            .cloned();
        let run = source.as_ref().and_then(|source| source.run);
        let who = run
            .and_then(|run| self.runs.get(&run))
            .map(|place| place.participant);
        let branch = source.as_ref().map_or(self.stage, |source| source.branch);
        let observed_at = self.now().plus_seconds(1);
        let mut facts: Vec<FactDigest> = self.next.facts.iter().map(fact_digest).collect();
        facts.sort_unstable();
        let body = ToolMemoryDerived {
            memory,
            ownership: self.ownership(who, run, branch),
            privacy: self.next_privacy(),
            artifacts: artifacts.to_vec(),
            tool: source
                .as_ref()
                .map_or(Label::or_stand_in("unknown"), |s| s.tool.clone()),
            extractor: Label::or_stand_in(if self.next.structured {
                "json"
            } else {
                "story"
            }),
            extractor_version: 1,
            summary,
            detail: None,
            lossless: self.next.lossless,
            subject: self.next.subject,
            question: source.and_then(|source| source.question),
            facts,
            confidence: Confidence {
                permille: 900,
                source: ConfidenceSource::Extractor,
                rationale: Label::or_stand_in("exact-copy"),
            },
            ambiguities: Vec::new(),
            limits: Vec::new(),
            freshness: self.next.freshness.unwrap_or(Freshness::Bounded),
            observed_at,
            stale_after: self.next.stale_after.map(|s| observed_at.plus_seconds(s)),
            revalidation: Vec::new(),
            promotion: PromotionRule::Private,
            brief,
            outline,
        };
        self.tell(body);
        memory
    }

    /// A memory replaces older ones because the same question was asked again.
    pub fn supersedes(&mut self, memory: MemoryId, old: &[MemoryId]) {
        let ground = Label::or_stand_in("same-question");
        self.tell(MemoriesSuperseded {
            memory,
            supersedes: old.to_vec(),
            ground,
        });
    }

    /// Memories disagree on what one fact says.
    pub fn conflicts(&mut self, memories: &[MemoryId], about: &str) {
        let keys = vec![half(&["fact", about])];
        self.tell(MemoriesConflicted {
            memories: memories.to_vec(),
            keys,
        });
    }

    /// A memory is checked against its source again and still holds.
    pub fn revalidates(&mut self, memory: MemoryId, artifact: Option<ArtifactId>) {
        let observed_at = self.now().plus_seconds(1);
        self.tell(MemoryRevalidated {
            memory,
            artifact,
            observed_at,
        });
    }

    /// A repair of a memory's provenance is tried.
    pub fn repairs(&mut self, memory: MemoryId, artifact: ArtifactId, outcome: RepairOutcome) {
        self.tell(ProvenanceRepairTried {
            memory,
            artifact,
            outcome,
        });
    }

    /// A tool's outcome changed what memories are about.
    pub fn changes(&mut self, artifact: ArtifactId, about: &[&str]) {
        let subjects = about.iter().map(|words| Self::subject(words)).collect();
        self.tell(SubjectChanged { artifact, subjects });
    }

    /// A private record may be seen by more.
    pub fn promotes(&mut self, record: impl Recorded, to: Visibility) {
        self.promotes_to(record, to, &[], "shared-by-user");
    }

    /// A private record may be seen by more, by some participants, on a stated ground.
    pub fn promotes_to(
        &mut self,
        record: impl Recorded,
        to: Visibility,
        shared_with: &[ParticipantId],
        ground: &str,
    ) {
        self.tell(RecordPromoted {
            record: record.record(),
            from: Visibility::ParticipantPrivate,
            to,
            branch: None,
            shared_with: shared_with.to_vec(),
            ground: Label::or_stand_in(ground),
        });
    }

    /// A run's state is stored, with the calls that are open.
    pub fn checkpoint(&mut self, run: RunId, state: &str) -> CheckpointId {
        let checkpoint = CheckpointId::derive(self.next_event(), 0);
        let place = self.runs.get(&run).copied();
        let branch = place.map_or(self.stage, |place| place.branch);
        let state = Some(self.payload(state));
        let open_calls: Vec<CallId> = self
            .calls
            .iter()
            .filter(|(_, call)| call.run == run && call.open.is_some())
            .map(|(id, _)| *id)
            .collect();
        let body = CheckpointTaken {
            checkpoint,
            ownership: self.ownership(place.map(|p| p.participant), Some(run), branch),
            run: Some(run),
            assembly: None,
            open_calls,
            state,
        };
        self.tell_as(Actor::RUNTIME, None, body);
        checkpoint
    }

    /// A run goes on from a stored state.
    pub fn restores(&mut self, checkpoint: CheckpointId, run: RunId) {
        self.tell_as(
            Actor::RUNTIME,
            None,
            CheckpointRestored {
                checkpoint,
                run: Some(run),
            },
        );
    }
}

fn fact_digest((key, value): &(String, String)) -> FactDigest {
    FactDigest {
        key: half(&["fact", key]),
        value: half(&["value", value]),
    }
}

/// Gives the first eight bytes of a short digest.
fn half(parts: &[&str]) -> [u8; 8] {
    let mut out = [0; 8];
    for (to, from) in out.iter_mut().zip(short(parts).as_bytes()) {
        *to = *from;
    }
    out
}
