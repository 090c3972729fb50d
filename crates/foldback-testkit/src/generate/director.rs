//! Chooses what happens next in a generated conversation.

mod affairs;

use crate::story::{ChildRun, Recorded, Story};
use crate::{Rng, draw};
use foldback_event::kind::{BranchForked, RecordRef, RepairOutcome};
use foldback_event::{
    ArtifactId, BranchId, CallId, CallStatus, CheckpointId, Digest, FactId, Freshness, Kind,
    MediaType, MemoryId, MessageId, ParticipantId, Privacy, RunId, RuntimeKind, Visibility,
};

/// What a conversation has come to, for choosing what may follow.
pub(super) struct Director {
    pub(super) story: Story,
    pub(super) rng: Rng,
    humans: Vec<ParticipantId>,
    models: Vec<ParticipantId>,
    branches: Vec<BranchId>,
    open_runs: Vec<(RunId, ParticipantId)>,
    failed_runs: Vec<(RunId, ParticipantId)>,
    requested: Vec<CallId>,
    waiting: Vec<CallId>,
    children: Vec<ChildRun>,
    drafts: Vec<MessageId>,
    artifacts: Vec<(u64, ArtifactId)>,
    memories: Vec<(u64, MemoryId)>,
    checkpoints: Vec<CheckpointId>,
    facts: Vec<FactId>,
    private: Vec<RecordRef>,
    policy: Option<Digest>,
    canaries: Option<u64>,
}

const TOOLS: [&str; 4] = [
    "get_reservation",
    "search_flights",
    "read_file",
    "list_mail",
];

impl Director {
    pub(super) fn new(seed: u64) -> Self {
        let mut story = Story::new(&format!("history {seed}"));
        let human = story.human("Mia");
        let model = story.model("agent", "gpt-4o");
        let main = story.main();
        Self {
            story,
            rng: Rng::new(seed),
            humans: vec![human],
            models: vec![model],
            branches: vec![main],
            open_runs: Vec::new(),
            failed_runs: Vec::new(),
            requested: Vec::new(),
            waiting: Vec::new(),
            children: Vec::new(),
            drafts: Vec::new(),
            artifacts: Vec::new(),
            memories: Vec::new(),
            checkpoints: Vec::new(),
            facts: Vec::new(),
            private: Vec::new(),
            policy: None,
            canaries: None,
        }
    }

    /// Puts a canary of its own into each text from here on.
    pub(super) const fn with_canaries(mut self) -> Self {
        self.canaries = Some(0);
        self
    }

    /// Writes what may well happen next.
    pub(super) fn step(&mut self) {
        match self.rng.below(100) {
            0..12 => self.say(),
            12..28 => self.generate(),
            28..46 => self.call(),
            46..64 => self.answer_call(),
            64..76 => self.remember(),
            76..82 => self.branch(),
            82..88 => self.delegate(),
            88..92 => self.widen(),
            92..96 => self.govern(),
            _ => self.keep_house(),
        }
    }

    /// Writes something that no well-behaved source would.
    pub(super) fn odd_step(&mut self) {
        match self.rng.below(7) {
            0 => {
                self.story.orphan("lost_tool", "nobody asked");
            }
            1 => {
                let position = 1 + self.rng.below(self.story.position());
                self.story.repeats(position);
            }
            2 => {
                let must = self.rng.chance(30);
                let number = 900 + u16::try_from(self.rng.below(50)).unwrap_or(0);
                self.story.unknown(number, must);
            }
            3 => {
                let nowhere = BranchId::from_bytes([0xee; 16]);
                let at = self.story.position() + 5;
                let branch = self.story.fork(nowhere, at);
                self.branches.push(branch);
            }
            4 => {
                let place = self.rng.below(500);
                self.story.finds("duplicate-call-id", place);
            }
            5 => {
                // A branch that leaves itself.
                let branch = BranchId::from_bytes([0xaa; 16]);
                self.story.tell(BranchForked {
                    branch,
                    parent: Some(branch),
                    at: 2,
                    title: None,
                });
            }
            _ => {
                // Any body at all: its ids name nothing.
                if let Some(kind) = self.rng.pick(Kind::ALL).copied() {
                    let body = draw::body(kind, &mut self.rng);
                    self.story.tell(body);
                }
            }
        }
    }

    /// Makes the next record more or less sensitive and visible than ordinary.
    fn vary(&mut self) {
        if self.rng.chance(30)
            && let Some(class) = self.rng.pick(Privacy::ALL)
        {
            self.story.privacy(*class);
        }
        if self.rng.chance(25) {
            match self.rng.below(4) {
                0 => self.story.private(),
                1 => self.story.visibility(Visibility::Conversation),
                2 => self.story.visibility(Visibility::AuditOnly),
                _ => match self.rng.pick(&self.models) {
                    Some(model) => self.story.shared_with(&[*model]),
                    None => self.story.private(),
                },
            };
        }
        if self.rng.chance(10)
            && let Some(mode) = self.rng.pick(RuntimeKind::ALL)
        {
            self.story.mode(*mode);
        }
        self.story.wait(self.rng.below(600).cast_signed());
    }

    fn words(&mut self) -> String {
        let number = self.rng.below(30);
        let long = "and so on ".repeat(usize::try_from(self.rng.below(20)).unwrap_or(0));
        self.marked(&format!("reservation 4WQ{number} {long}"))
    }

    /// Gives a text its canary, if texts have them: a word that stands nowhere else.
    fn marked(&mut self, text: &str) -> String {
        let Some(count) = &mut self.canaries else {
            return text.to_owned();
        };
        *count += 1;
        match text.strip_suffix('}') {
            Some(json) => format!(r#"{json},"note":"cn{count}x"}}"#),
            None => format!("{text} cn{count}x"),
        }
    }

    fn say(&mut self) {
        let text = self.words();
        let Some(who) = self.rng.pick(&self.humans).copied() else {
            return;
        };
        match self.rng.below(10) {
            0 => {
                self.story.system(&text);
            }
            1 => {
                self.story.notice(&text);
            }
            2 => {
                let draft = self.story.drafts(who, &text);
                self.drafts.push(draft);
            }
            3 => {
                if let Some(draft) = self.drafts.pop() {
                    self.story.finalizes(draft, Some(&text), Visibility::Branch);
                }
            }
            4 if self.rng.chance(40) => {
                self.story.summary(&text);
            }
            5 => {
                let moderator = self.story.moderator("chair");
                self.story
                    .mode(RuntimeKind::Discussion)
                    .directs(moderator, &text);
            }
            _ => {
                self.vary();
                let message = self.story.says(who, &text);
                self.private.push(message.record());
            }
        }
    }

    fn generate(&mut self) {
        let text = self.words();
        if self.open_runs.is_empty() || self.rng.chance(40) {
            let Some(who) = self.rng.pick(&self.models).copied() else {
                return;
            };
            let run = if let Some((failed, same)) = self.failed_runs.pop() {
                (self.story.retries(failed, same), same)
            } else {
                self.vary();
                (self.story.run(who), who)
            };
            self.open_runs.push(run);
            return;
        }
        let at = usize::try_from(self.rng.below(self.open_runs.len() as u64)).unwrap_or(0);
        let (run, who) = self.open_runs.swap_remove(at);
        if self.rng.chance(15) {
            let error = self.marked("overloaded");
            self.story.breaks_off(run, &error, true);
            self.failed_runs.push((run, who));
        } else {
            self.vary();
            let message = self.story.answers(run, &text);
            self.private.push(message.record());
            self.story.finishes(run, "stop");
        }
    }

    fn call(&mut self) {
        let Some((run, _)) = self.rng.pick(&self.open_runs).copied() else {
            return self.generate();
        };
        // Several calls in a row are parallel ones.
        for _ in 0..=self.rng.below(3) {
            let tool = self.rng.pick(&TOOLS).copied().unwrap_or("tool");
            let id = self.rng.below(6);
            let arguments = self.marked(&format!(r#"{{"id":"4WQ{id}"}}"#));
            if self.rng.chance(50) {
                self.story
                    .source_id(&format!("call_{}", self.rng.below(40)));
            }
            self.vary();
            let call = self.story.calls(run, tool, &arguments);
            self.requested.push(call);
        }
    }

    fn answer_call(&mut self) {
        if !self.waiting.is_empty() && self.rng.chance(40) {
            let call = self.waiting.swap_remove(0);
            let late = self.marked(r#"{"late":true}"#);
            let artifact = self.story.resolves(call, &late);
            self.artifacts.push((self.story.position() - 1, artifact));
            return;
        }
        if self.requested.is_empty() {
            return self.call();
        }
        let at = usize::try_from(self.rng.below(self.requested.len() as u64)).unwrap_or(0);
        let call = self.requested.swap_remove(at);
        let text = self.words();
        self.vary();
        let artifact = match self.rng.below(10) {
            0 => {
                let retryable = self.rng.chance(50);
                let error = self.marked("timed out");
                self.story.fails(call, &error, retryable)
            }
            1 => {
                self.waiting.push(call);
                self.story.pending(call)
            }
            2 => {
                self.waiting.push(call);
                let note = self.marked("asked a person");
                self.story.defers(call, &note)
            }
            3 => self.story.cancels(call),
            4 => self.story.silent().result(call, ""),
            5 => {
                let table = self.marked("id,day\n1,Thu");
                let rows = self.story.payload_as(MediaType::Csv, table.as_bytes());
                self.story
                    .outcome(call, CallStatus::Succeeded, false, Some(rows))
            }
            _ => self.story.result(call, &text),
        };
        self.private.push(artifact.record());
        self.artifacts.push((self.story.position(), artifact));
    }

    fn remember(&mut self) {
        let Some((_, artifact)) = self.rng.pick(&self.artifacts).copied() else {
            return self.answer_call();
        };
        let pair = (
            self.rng.pick(&self.memories).copied(),
            self.memories.last().copied(),
        );
        match (self.rng.below(10), pair) {
            (0, (Some((_, old)), Some((_, new)))) if old != new => {
                self.story.supersedes(new, &[old]);
            }
            (1, (Some((_, one)), Some((_, other)))) if one != other => {
                self.story.conflicts(&[one, other], "day");
            }
            (2, (Some((_, memory)), _)) => self.story.revalidates(memory, Some(artifact)),
            (3, (Some((_, memory)), _)) => {
                let found = self.rng.chance(50);
                let outcome = if found {
                    RepairOutcome::Repaired
                } else {
                    RepairOutcome::Unresolved
                };
                self.story.repairs(memory, artifact, outcome);
            }
            (4, _) => {
                let about = format!("4WQ{}", self.rng.below(6));
                self.story.changes(artifact, &[&about]);
            }
            _ => {
                let text = self.words();
                self.vary();
                if let Some(class) = self.rng.pick(Freshness::ALL) {
                    self.story.freshness(*class);
                }
                if self.rng.chance(30) {
                    self.story.stale_after(self.rng.below(3_600).cast_signed());
                }
                let day = if self.rng.chance(50) { "Thu" } else { "Fri" };
                self.story
                    .about(&format!("4WQ{}", self.rng.below(6)))
                    .facts(&[("day", day)]);
                let memory = self.story.derives(artifact, &text);
                self.private.push(memory.record());
                self.memories.push((self.story.position(), memory));
            }
        }
    }
}
