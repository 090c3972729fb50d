//! Tool calls and artifacts: the intent before the effect, the whole outcome before any shortening.

use super::{Begun, Conversation, Pen, event};
use crate::classify::{Classified, PRIVACY_RAISED, classify};
use crate::derive::{self, Condensed};
use crate::error::Error;
use foldback_event::kind::{
    FindingRecorded, ToolArtifactCaptured, ToolCallRequested, ToolCallResolved,
};
use foldback_event::{
    ArtifactId, CallId, CallStatus, EventId, Freshness, Kind, Label, MediaType, MemoryId,
    MessageId, Ownership, PayloadRef, Privacy, RunId,
};
use foldback_graph::node::Call;

/// A tool call to be requested.
#[derive(Debug, Clone)]
pub struct NewCall {
    /// The run that asks.
    pub run: RunId,
    /// The message that the call stands in, if it has text beside it.
    pub message: Option<MessageId>,
    /// The tool.
    pub tool: Label,
    /// The provider's id of the call.
    pub source_id: Option<Label>,
    /// The arguments, byte for byte.
    pub arguments: Vec<u8>,
    /// How sensitive it is.
    pub privacy: Privacy,
}

impl NewCall {
    /// Makes a call with JSON arguments.
    pub fn json(run: RunId, tool: Label, arguments: &str) -> Self {
        Self {
            run,
            message: None,
            tool,
            source_id: None,
            arguments: arguments.as_bytes().to_vec(),
            privacy: Privacy::Internal,
        }
    }
}

/// What a tool came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It returned.
    Succeeded,
    /// It failed; a failure that may be tried again stays in the requests until it is made good.
    Failed {
        /// Whether it may be tried again.
        retryable: bool,
    },
    /// It runs.
    Pending,
    /// It waits for a person or for another system.
    Deferred,
    /// It was given up.
    Cancelled,
}

impl Outcome {
    /// Returns the status that is recorded, and whether the call may be tried again.
    const fn recorded(&self) -> (CallStatus, bool) {
        match self {
            Self::Succeeded => (CallStatus::Succeeded, false),
            Self::Failed { retryable } => (CallStatus::Failed, *retryable),
            Self::Pending => (CallStatus::Pending, false),
            Self::Deferred => (CallStatus::Deferred, false),
            Self::Cancelled => (CallStatus::Cancelled, false),
        }
    }
}

/// A tool's whole outcome.
#[derive(Debug, Clone)]
pub struct NewArtifact {
    /// The call.
    pub call: CallId,
    /// How it came out.
    pub outcome: Outcome,
    /// The result or the error, whole.
    pub content: Vec<u8>,
    /// What the content is.
    pub media_type: MediaType,
    /// Further structured outcome that the tool gave beside it.
    pub structured: Option<Vec<u8>>,
    /// How sensitive it is, at the least: the call's class and what the content gives away raise it.
    pub privacy: Privacy,
    /// Whether the content is not looked at for secrets and data under a grant: the caller's explicit
    /// word that the stated class is right.
    pub as_stated: bool,
    /// How long it holds; the extractor's own judgement if none is given.
    pub freshness: Option<Freshness>,
    /// Tools that can check it again; the tool itself if none is given.
    pub revalidation: Vec<Label>,
    /// What the tool changed, in the words that memories about it have as their subject, such as
    /// `reservation_id=4WQ150`: what others read of it before is stale from here on. A success of a tool
    /// that is known to write a file changes `file=` and its path by itself.
    pub changes: Vec<String>,
    /// The tool's version.
    pub tool_version: Option<Label>,
    /// How long the tool took, in microseconds.
    pub duration_us: Option<u64>,
    /// Whether the engine derives a compact memory from it.
    pub derive: bool,
}

impl NewArtifact {
    /// Makes a successful text or JSON result.
    pub fn succeeded(call: CallId, content: impl Into<Vec<u8>>, media_type: MediaType) -> Self {
        Self {
            call,
            outcome: Outcome::Succeeded,
            content: content.into(),
            media_type,
            structured: None,
            privacy: Privacy::Internal,
            as_stated: false,
            freshness: None,
            revalidation: Vec::new(),
            changes: Vec::new(),
            tool_version: None,
            duration_us: None,
            derive: true,
        }
    }

    /// Makes a failure.
    pub fn failed(call: CallId, error: impl Into<Vec<u8>>, retryable: bool) -> Self {
        let outcome = Outcome::Failed { retryable };
        Self {
            outcome,
            ..Self::succeeded(call, error, MediaType::Text)
        }
    }

    /// Makes an outcome that is still open.
    pub fn open(call: CallId, outcome: Outcome, content: impl Into<Vec<u8>>) -> Self {
        Self {
            outcome,
            derive: false,
            ..Self::succeeded(call, content, MediaType::Text)
        }
    }
}

/// What capturing gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Captured {
    /// The artifact.
    pub artifact: ArtifactId,
    /// The memory that was derived from it, if one was.
    pub memory: Option<MemoryId>,
}

impl Conversation<'_> {
    /// Records that a model asks for a tool: to be called before the tool runs.
    ///
    /// # Errors
    ///
    /// [`Error`] if the run does not exist or has ended, or it cannot be written.
    pub async fn request_call(&self, new: NewCall) -> Result<CallId, Error> {
        let events = match self.begin(&[Kind::ToolCallRequested]).await? {
            Begun::Before(before) => before.ids,
            Begun::Now(mut pen) => {
                let runtime_kind = pen.open_run(new.run)?;
                let run = pen
                    .graph()
                    .run(&new.run)
                    .map(|run| (run.participant, run.branch));
                let (participant, branch) = run.ok_or(Error::Bug {
                    what: "a run without a node",
                })?;
                if let Some(message) = new.message
                    && pen.graph().message(&message).is_none()
                {
                    let id = message.to_string();
                    return Err(Error::UnknownRecord {
                        what: "message",
                        id,
                    });
                }
                let media_type = derive::argument_type(&new.arguments);
                let arguments = self
                    .engine
                    .seal_one(pen.account, new.arguments, media_type)
                    .await?;
                let ownership = Ownership {
                    runtime_kind,
                    ..pen.private(Some(new.run), participant, branch)
                };
                let id = pen.next_id();
                let body = ToolCallRequested {
                    call: CallId::derive(id, 0),
                    run: Some(new.run),
                    message: new.message,
                    ownership,
                    privacy: new.privacy,
                    tool: new.tool,
                    source_id: new.source_id,
                    arguments,
                };
                pen.push(id, body)?;
                pen.finish().await?
            }
        };
        Ok(CallId::derive(event(&events, 0)?, 0))
    }

    /// Captures a tool's whole outcome, before anything shortens it, and derives its memory.
    ///
    /// # Errors
    ///
    /// [`Error`] if the call does not exist or has a final outcome, or it cannot be written.
    pub async fn capture(&self, new: NewArtifact) -> Result<Captured, Error> {
        let mut derived = new.derive;
        let events = match self.begin(&[Kind::ToolArtifactCaptured]).await? {
            Begun::Before(before) => {
                derived = before.kinds.get(1) == Some(&Some(Kind::ToolMemoryDerived));
                before.ids
            }
            Begun::Now(mut pen) => {
                let call = pen.known_call(new.call)?;
                if pen.is_settled(&call) {
                    return Err(Error::CallSettled { call: new.call });
                }
                if pen.open_artifact(&call).is_some() {
                    return Err(Error::CallSettled { call: new.call });
                }
                pen.write_artifact(new, &call).await?;
                pen.finish().await?
            }
        };
        captured(&events, 0, derived)
    }

    /// Gives an open call its later outcome.
    ///
    /// # Errors
    ///
    /// [`Error`] if the call does not exist or is not open, or it cannot be written.
    pub async fn resolve(&self, new: NewArtifact) -> Result<Captured, Error> {
        let mut derived = new.derive;
        let events = match self.begin(&[Kind::ToolArtifactCaptured]).await? {
            Begun::Before(before) => {
                derived = before.kinds.get(1) == Some(&Some(Kind::ToolMemoryDerived));
                before.ids
            }
            Begun::Now(mut pen) => {
                let call = pen.known_call(new.call)?;
                let open = pen.open_artifact(&call);
                let open = open.ok_or(Error::CallNotOpen { call: new.call })?;
                let artifact = pen.write_artifact(new, &call).await?;
                let id = pen.next_id();
                pen.push(
                    id,
                    ToolCallResolved {
                        call: call.id,
                        open,
                        artifact,
                    },
                )?;
                pen.finish().await?
            }
        };
        captured(&events, 0, derived)
    }
}

/// The artifact's event comes first and its memory's, if one was derived, directly after it.
fn captured(events: &[EventId], first: usize, derived: bool) -> Result<Captured, Error> {
    let artifact = event(events, first)?;
    let memory = if derived { events.get(first + 1) } else { None };
    Ok(Captured {
        artifact: ArtifactId::derive(artifact, 0),
        memory: memory.map(|event| MemoryId::derive(*event, 0)),
    })
}

impl Pen<'_> {
    fn known_call(&self, call: CallId) -> Result<Call, Error> {
        let node = self.graph().call(&call).cloned();
        node.ok_or_else(|| Error::UnknownRecord {
            what: "call",
            id: call.to_string(),
        })
    }

    fn is_settled(&self, call: &Call) -> bool {
        let last = call
            .artifacts
            .last()
            .and_then(|id| self.graph().artifact(id));
        last.is_some_and(|artifact| !artifact.status.is_open())
    }

    fn open_artifact(&self, call: &Call) -> Option<ArtifactId> {
        let last = call
            .artifacts
            .last()
            .and_then(|id| self.graph().artifact(id))?;
        (last.status.is_open() && last.resolved_by.is_none()).then_some(last.id)
    }

    async fn write_artifact(&mut self, new: NewArtifact, call: &Call) -> Result<ArtifactId, Error> {
        let engine = self.conversation.engine;
        let (status, retryable) = new.outcome.recorded();
        let arguments = engine.payload(self.account, &call.arguments)?;
        let source = derive::Source {
            tool: call.tool.as_str(),
            arguments: &arguments,
            result: &new.content,
            media_type: new.media_type,
            failed: status == CallStatus::Failed,
        };
        let stated = new.privacy.max(call.common.privacy);
        let class = if new.as_stated {
            Classified::stated(stated)
        } else {
            classify(call.tool.as_str(), &new.content, stated)
        };
        let privacy = class.privacy;
        let condensed = new.derive.then(|| Condensed::of(&source, privacy));
        let question = engine.question(self.account, call.tool.as_str(), &arguments)?;
        let mut payloads = vec![(new.content, new.media_type)];
        let structured = new.structured.is_some();
        payloads.extend(new.structured.map(|bytes| (bytes, MediaType::Json)));
        if let Some(condensed) = &condensed {
            payloads.extend(condensed.payloads());
        }
        let raised = class.told(stated);
        payloads.extend(raised.map(|told| (told.into_bytes(), MediaType::Text)));
        let mut refs = engine.seal(self.account, payloads).await?.into_iter();
        let result = refs.next();
        let structured = if structured { refs.next() } else { None };
        let id = self.next_id();
        let artifact = ArtifactId::derive(id, 0);
        let body = ToolArtifactCaptured {
            artifact,
            call: Some(call.id),
            run: call.run,
            ownership: call.common.ownership.clone(),
            privacy,
            tool: call.tool.clone(),
            status,
            retryable,
            result,
            structured,
            question: Some(question),
            tool_version: new.tool_version,
            runtime: None,
            skills: Vec::new(),
            duration_us: new.duration_us,
        };
        self.push(id, body)?;
        if let Some(condensed) = condensed
            && let Some(parts) = condensed.parts(artifact, &mut refs)
        {
            let terms = derive::Terms {
                freshness: new.freshness,
                revalidation: new.revalidation,
                observed_at: self
                    .conversation
                    .occurred_at
                    .unwrap_or_else(|| engine.clock.now()),
            };
            let bodies =
                engine.derive(self.graph(), self.account, &condensed, &parts, terms, |n| {
                    let _ = n;
                    self.next_id()
                })?;
            for (id, body) in bodies {
                self.push(id, body)?;
            }
        }
        self.write_change(artifact, &new.changes, &arguments)?;
        if class.rule.is_some() {
            self.write_raise(artifact, refs.next())?;
        }
        Ok(artifact)
    }

    /// Says what the tool changed of that which earlier memories are about.
    fn write_change(
        &mut self,
        artifact: ArtifactId,
        stated: &[String],
        arguments: &[u8],
    ) -> Result<(), Error> {
        let engine = self.conversation.engine;
        let changed = engine.changed(self.graph(), self.account, artifact, stated, arguments)?;
        if let Some(changed) = changed {
            let id = self.next_id();
            self.push(id, changed)?;
        }
        Ok(())
    }

    /// Says that the classifier raised the class of a result.
    fn write_raise(
        &mut self,
        artifact: ArtifactId,
        detail: Option<PayloadRef>,
    ) -> Result<(), Error> {
        let node = self.graph().artifact(&artifact);
        let finding = FindingRecorded {
            code: Label::or_stand_in(PRIVACY_RAISED),
            place: node.map_or(0, |node| node.common.origin.position),
            detail,
        };
        let id = self.next_id();
        self.push(id, finding)?;
        Ok(())
    }
}
