//! Runs, calls and what tools gave.

use super::{ArtifactPlace, CallPlace, RunPlace, Story};
use foldback_event::kind::{
    ModelRunFailed, ModelRunFinished, ModelRunStarted, ToolArtifactCaptured, ToolCallRequested,
    ToolCallResolved, Usage,
};
use foldback_event::{
    Actor, ArtifactId, AssemblyId, CallId, CallStatus, Label, ParticipantId, PayloadRef, RunId,
    RuntimeKind,
};

impl Story {
    /// A participant begins to generate: on the stage, or on its own branch if it is a child.
    pub fn run(&mut self, who: ParticipantId) -> RunId {
        self.run_with(who, None, None)
    }

    /// A participant tries a failed run again.
    pub fn retries(&mut self, failed: RunId, who: ParticipantId) -> RunId {
        self.run_with(who, Some(failed), None)
    }

    /// A participant begins to generate from a recorded assembly.
    pub fn run_from(&mut self, who: ParticipantId, assembly: AssemblyId) -> RunId {
        self.run_with(who, None, Some(assembly))
    }

    fn run_with(
        &mut self,
        participant: ParticipantId,
        retries: Option<RunId>,
        assembly: Option<AssemblyId>,
    ) -> RunId {
        let run = RunId::derive(self.next_event(), 0);
        let own = self.children.get(&participant).copied();
        let branch = own.unwrap_or(self.stage);
        let ordinary = if own.is_some() {
            RuntimeKind::Child
        } else {
            RuntimeKind::Chat
        };
        let kind = self.next_mode().unwrap_or(ordinary);
        self.runs.insert(
            run,
            RunPlace {
                participant,
                branch,
                kind,
            },
        );
        let body = ModelRunStarted {
            run,
            participant,
            branch,
            runtime_kind: kind,
            provider: Some(Label::or_stand_in("openai")),
            model: Some(Label::or_stand_in("gpt-4o")),
            assembly,
            retries,
        };
        self.tell_as(Actor::RUNTIME, None, body);
        run
    }

    /// A run ends with an answer.
    pub fn finishes(&mut self, run: RunId, reason: &str) {
        let body = ModelRunFinished {
            run,
            finish_reason: Some(Label::or_stand_in(reason)),
            usage: Some(Usage {
                input: 100,
                output: 10,
                cache_read: 0,
                cache_write: 0,
            }),
            model: None,
        };
        self.tell_as(Actor::RUNTIME, None, body);
    }

    /// A run ends without an answer.
    pub fn breaks_off(&mut self, run: RunId, error: &str, retryable: bool) {
        let error = Some(self.payload(error));
        self.tell_as(
            Actor::RUNTIME,
            None,
            ModelRunFailed {
                run,
                error,
                retryable,
            },
        );
    }

    /// A run asks for a tool.
    pub fn calls(&mut self, run: RunId, tool: &str, arguments: &str) -> CallId {
        let event = self.next_event();
        let call = CallId::derive(event, 0);
        let place = self.runs.get(&run).copied();
        let branch = place.map_or(self.stage, |place| place.branch);
        let who = place.map(|place| place.participant);
        let question = Self::question(tool, arguments);
        let tool = Label::or_stand_in(tool);
        let arguments = self.payload(arguments);
        let kept = CallPlace {
            event,
            run,
            tool: tool.clone(),
            question,
            branch,
            open: None,
        };
        self.calls.insert(call, kept);
        let body = ToolCallRequested {
            call,
            run: Some(run),
            message: None,
            ownership: self.ownership(who, Some(run), branch),
            privacy: self.next_privacy(),
            tool,
            source_id: self.next.source_id.clone(),
            arguments,
        };
        self.tell_as(who.map_or(Actor::RUNTIME, Actor::participant), None, body);
        call
    }

    /// A call succeeds.
    pub fn result(&mut self, call: CallId, text: &str) -> ArtifactId {
        let result = (!self.next.silent).then(|| self.payload(text));
        self.outcome(call, CallStatus::Succeeded, false, result)
    }

    /// A call fails.
    pub fn fails(&mut self, call: CallId, error: &str, retryable: bool) -> ArtifactId {
        let error = Some(self.payload(error));
        self.outcome(call, CallStatus::Failed, retryable, error)
    }

    /// A call runs on.
    pub fn pending(&mut self, call: CallId) -> ArtifactId {
        self.outcome(call, CallStatus::Pending, false, None)
    }

    /// A call waits for a person or for another system.
    pub fn defers(&mut self, call: CallId, text: &str) -> ArtifactId {
        let text = Some(self.payload(text));
        self.outcome(call, CallStatus::Deferred, false, text)
    }

    /// A call is given up.
    pub fn cancels(&mut self, call: CallId) -> ArtifactId {
        self.outcome(call, CallStatus::Cancelled, false, None)
    }

    /// An open call gets its later artifact: two events.
    ///
    /// Where the call was never pending or deferred, only the artifact is written.
    pub fn resolves(&mut self, call: CallId, text: &str) -> ArtifactId {
        let open = self.calls.get(&call).and_then(|place| place.open);
        let artifact = self.result(call, text);
        if let Some(open) = open {
            self.tell(ToolCallResolved {
                call,
                open,
                artifact,
            });
        }
        artifact
    }

    /// A call has an outcome of any status.
    pub fn outcome(
        &mut self,
        call: CallId,
        status: CallStatus,
        retryable: bool,
        result: Option<PayloadRef>,
    ) -> ArtifactId {
        let artifact = ArtifactId::derive(self.next_event(), 0);
        let place = self.calls.get_mut(&call).map(|place| {
            place.open = status.is_open().then_some(artifact);
            place.clone()
        });
        let kept = ArtifactPlace {
            run: place.as_ref().map(|place| place.run),
            tool: place
                .as_ref()
                .map_or(Label::or_stand_in("unknown"), |p| p.tool.clone()),
            question: place.as_ref().map(|place| place.question),
            branch: place.as_ref().map_or(self.stage, |place| place.branch),
        };
        let cause = place.map(|place| place.event);
        self.captures(
            artifact,
            Some(call),
            kept,
            (status, retryable, result),
            cause,
        );
        artifact
    }

    /// An oddity: a result comes whose call is not known.
    pub fn orphan(&mut self, tool: &str, text: &str) -> ArtifactId {
        let artifact = ArtifactId::derive(self.next_event(), 0);
        let result = Some(self.payload(text));
        let kept = ArtifactPlace {
            run: None,
            tool: Label::or_stand_in(tool),
            question: None,
            branch: self.stage,
        };
        self.captures(
            artifact,
            None,
            kept,
            (CallStatus::Succeeded, false, result),
            None,
        );
        artifact
    }

    fn captures(
        &mut self,
        artifact: ArtifactId,
        call: Option<CallId>,
        place: ArtifactPlace,
        (status, retryable, result): (CallStatus, bool, Option<PayloadRef>),
        cause: Option<foldback_event::EventId>,
    ) {
        let who = place
            .run
            .and_then(|run| self.runs.get(&run))
            .map(|place| place.participant);
        let body = ToolArtifactCaptured {
            artifact,
            call,
            run: place.run,
            ownership: self.ownership(who, place.run, place.branch),
            privacy: self.next_privacy(),
            tool: place.tool.clone(),
            status,
            retryable,
            result,
            structured: None,
            question: place.question,
            tool_version: None,
            runtime: None,
            skills: Vec::new(),
            duration_us: None,
        };
        self.artifacts.insert(artifact, place);
        self.tell_as(Actor::RUNTIME, cause, body);
    }
}
