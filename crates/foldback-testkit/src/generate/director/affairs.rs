//! Branches, children, promotion, policy and the rarer events.

use super::Director;
use foldback_event::kind::{ChildStatus, RetentionClass};
use foldback_event::{Presentation, RecordKind, Visibility};

impl Director {
    pub(super) fn branch(&mut self) {
        if self.rng.chance(60)
            && let Some(branch) = self.rng.pick(&self.branches).copied()
        {
            self.story.on(branch);
            return self.say();
        }
        let parent = self.story.stage();
        let at = self.rng.below(self.story.position()) + 1;
        let branch = self.story.fork(parent, at);
        self.branches.push(branch);
        if self.rng.chance(50) {
            self.story.on(branch);
        }
        if self.models.len() < 4 {
            let model = self.story.model("other", "claude");
            self.models.push(model);
        }
    }

    pub(super) fn delegate(&mut self) {
        if let Some(child) = self.children.pop() {
            let status = self
                .rng
                .pick(ChildStatus::ALL)
                .copied()
                .unwrap_or(ChildStatus::Failed);
            let report = self.marked("the report");
            if self.rng.chance(20) {
                self.story.silent();
            }
            self.story.child_ends(child, status, &report);
            return;
        }
        let Some(parent) = self.rng.pick(&self.models).copied() else {
            return;
        };
        let call = self.rng.pick(&self.requested).copied();
        let child = self.story.child(parent, "scout", call);
        let run = self.story.run(child.participant);
        self.open_runs.push((run, child.participant));
        self.children.push(child);
    }

    pub(super) fn widen(&mut self) {
        if let Some(record) = self.rng.pick(&self.private).copied() {
            let to = match self.rng.below(3) {
                0 => Visibility::Conversation,
                1 => Visibility::ParticipantPrivate,
                _ => Visibility::Branch,
            };
            let with = self.rng.pick(&self.models).copied();
            self.story
                .promotes_to(record, to, with.as_slice(), "finding");
        }
    }

    pub(super) fn govern(&mut self) {
        let policy = match self.policy {
            Some(policy) if self.rng.chance(80) => policy,
            _ => {
                let number = self.rng.below(9);
                self.story.policy("test", &format!("schema = 1 # {number}"))
            }
        };
        self.policy = Some(policy);
        let Some(who) = self.rng.pick(&self.models).copied() else {
            return;
        };
        let mut selected = Vec::new();
        if let Some((position, _)) = self.rng.pick(&self.memories) {
            selected.push((*position, RecordKind::Memory, Presentation::Compact));
        }
        if let Some((position, _)) = self.rng.pick(&self.artifacts) {
            selected.push((*position, RecordKind::Artifact, Presentation::Raw));
        }
        let left_out = self.rng.below(4);
        let assembly = self.story.assembled(who, policy, &selected, left_out);
        let run = self.story.run_from(who, assembly);
        self.open_runs.push((run, who));
    }

    pub(super) fn keep_house(&mut self) {
        let text = self.words();
        let human = self.humans.first().copied();
        match (self.rng.below(10), self.open_runs.last().copied(), human) {
            (0 | 1, Some((run, _)), _) => {
                let state = self.marked("state");
                let checkpoint = self.story.checkpoint(run, &state);
                self.checkpoints.push(checkpoint);
            }
            (2, Some((run, _)), _) => {
                if let Some(checkpoint) = self.rng.pick(&self.checkpoints).copied() {
                    self.story.restores(checkpoint, run);
                }
            }
            (3, _, _) => {
                let loaded = self.rng.chance(50);
                self.story.skills(&[("rebooking", loaded, &text)]);
            }
            (4, _, Some(human)) => {
                let old = self.facts.pop();
                let fact = self.story.fact_instead(human, &text, old.as_slice());
                self.facts.push(fact);
            }
            (5, _, _) => {
                if let Some(who) = self.rng.pick(&self.models).copied() {
                    self.story.job(who, "nightly", &text);
                }
            }
            (6, _, _) => {
                if let Some(record) = self.rng.pick(&self.private).copied() {
                    self.story.retains(record, RetentionClass::Hold);
                }
            }
            (7, _, _) => {
                let position = 1 + self.rng.below(self.story.position());
                self.story.erases_first_of(position);
            }
            (8, _, _) => {
                self.story.imported("openai-chat", &text);
                self.story.kept("unknown-type", 7, &text);
            }
            (_, _, _) => {
                if self.humans.len() < 3 {
                    let human = self.story.human("Tom");
                    self.humans.push(human);
                }
            }
        }
    }
}
