//! Who takes part, and on which branch.

use super::{RunPlace, Story};
use foldback_event::kind::{
    BranchForked, ChildRunFinished, ChildRunStarted, ChildStatus, JobTriggered, ParticipantJoined,
    ParticipantKind,
};
use foldback_event::{Actor, BranchId, CallId, JobId, Label, ParticipantId, RunId, RuntimeKind};

/// A child agent at work.
#[derive(Debug, Clone, Copy)]
pub struct ChildRun {
    /// Its outer run.
    pub run: RunId,
    /// The child.
    pub participant: ParticipantId,
    /// The branch that holds its state.
    pub branch: BranchId,
}

impl Story {
    /// A person joins.
    pub fn human(&mut self, name: &str) -> ParticipantId {
        self.joins(ParticipantKind::Human, name, None)
    }

    /// A model joins.
    pub fn model(&mut self, name: &str, model: &str) -> ParticipantId {
        self.joins(ParticipantKind::Model, name, Some(model))
    }

    /// The moderator of a discussion joins.
    pub fn moderator(&mut self, name: &str) -> ParticipantId {
        self.joins(ParticipantKind::Moderator, name, None)
    }

    fn joins(&mut self, kind: ParticipantKind, name: &str, model: Option<&str>) -> ParticipantId {
        let participant = ParticipantId::derive(self.next_event(), 0);
        let name = Some(self.payload(name));
        let model = model.map(Label::or_stand_in);
        self.tell(ParticipantJoined {
            participant,
            kind,
            name,
            model,
        });
        participant
    }

    /// A branch leaves another after a position; the stage stays where it is.
    pub fn fork(&mut self, parent: BranchId, at: u64) -> BranchId {
        let branch = BranchId::derive(self.next_event(), 0);
        self.tell(BranchForked {
            branch,
            parent: Some(parent),
            at,
            title: None,
        });
        branch
    }

    /// A child agent begins to work for a participant, on a branch of its own that inherits
    /// nothing: three events.
    pub fn child(&mut self, parent: ParticipantId, name: &str, call: Option<CallId>) -> ChildRun {
        let parent_branch = self.stage;
        let branch = BranchId::derive(self.next_event(), 0);
        self.tell(BranchForked {
            branch,
            parent: None,
            at: 0,
            title: None,
        });
        let participant = self.joins(ParticipantKind::Child, name, None);
        self.children.insert(participant, branch);
        let run = RunId::derive(self.next_event(), 0);
        let place = RunPlace {
            participant,
            branch,
            kind: RuntimeKind::Child,
        };
        self.runs.insert(run, place);
        self.tell(ChildRunStarted {
            run,
            participant,
            branch,
            parent: Some(parent),
            parent_branch: Some(parent_branch),
            parent_call: call,
        });
        ChildRun {
            run,
            participant,
            branch,
        }
    }

    /// A child ends and reports to its parent.
    pub fn child_ends(&mut self, child: ChildRun, status: ChildStatus, report: &str) {
        let privacy = self.next_privacy();
        let report = (!self.next.silent).then(|| self.payload(report));
        let body = ChildRunFinished {
            run: child.run,
            status,
            report,
            privacy,
        };
        self.tell_as(Actor::participant(child.participant), None, body);
    }

    /// A scheduled job fires.
    pub fn job(&mut self, participant: ParticipantId, name: &str, instruction: &str) -> JobId {
        let job = JobId::derive(self.next_event(), 0);
        let instruction = Some(self.payload(instruction));
        let body = JobTriggered {
            job,
            branch: self.stage,
            participant,
            name: Label::or_stand_in(name),
            instruction,
        };
        self.tell_as(Actor::RUNTIME, None, body);
        job
    }
}
