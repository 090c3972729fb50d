//! One source record: what it seals, and the events it becomes.

use super::importer::Importer;
use crate::classify::{Classified, PRIVACY_RAISED, classify};
use crate::derive::{Condensed, Source, Terms};
use crate::engine::{Write, payload_of};
use crate::error::Error;
use foldback_event::kind::{
    ChildRunFinished, ChildRunStarted, ChildStatus, MessageRecorded, ModelRunFinished,
    ModelRunStarted, SourceRecordKept, ToolArtifactCaptured, ToolCallRequested,
};
use foldback_event::{
    ArtifactId, Body, CallStatus, Isolation, Label, MediaType, MessageId, Ownership, PayloadRef,
    Privacy, RunId, RuntimeKind, Visibility,
};
use foldback_trace::{Content, Format, Part, SourceBody, SourceFinding, SourceRecord};

const UNSEALED: Error = Error::Bug {
    what: "a payload was not sealed",
};

/// What a record needs to be there before it is written.
pub(super) enum Subject {
    /// Nothing but its own branch and participant.
    Itself,
    /// A child's branch and the child.
    Child {
        /// The index of the branch.
        branch: usize,
        /// The index of the participant.
        participant: usize,
    },
}

/// A record that is about to be written.
pub(super) struct Step<'s> {
    pub(super) record: &'s SourceRecord,
    /// The message's thinking and the rest, kept apart: they are shown for different times.
    contents: Vec<Content>,
    condensed: Option<Condensed>,
    /// The class of a result.
    class: Classified,
}

impl<'s> Step<'s> {
    /// Lists the keys of the events that a record may become, the one that it always becomes first.
    pub(super) fn event_keys(record: &SourceRecord) -> Vec<String> {
        let key = &record.key;
        match &record.body {
            SourceBody::Message { .. } => vec![format!("message:{key}"), format!("said:{key}")],
            SourceBody::RunStarted { .. } => vec![format!("started:{key}")],
            SourceBody::RunFinished { .. } => vec![format!("finished:{key}")],
            SourceBody::CallRequested { .. } => vec![format!("call:{key}")],
            SourceBody::Result { .. } => vec![
                format!("artifact:{key}"),
                format!("derived 0:{key}"),
                format!("derived 1:{key}"),
                format!("derived 2:{key}"),
                format!("changed:{key}"),
            ],
            SourceBody::ChildStarted { .. } => vec![format!("child started:{key}")],
            SourceBody::ChildFinished { .. } => vec![format!("child finished:{key}")],
            SourceBody::Kept { .. } => vec![format!("kept:{key}")],
        }
    }

    pub(super) fn plan(import: &Importer<'s>, record: &'s SourceRecord) -> Self {
        let mut step = Self {
            record,
            contents: Vec::new(),
            condensed: None,
            class: Classified::stated(import.options.privacy),
        };
        match &record.body {
            SourceBody::Message { content, .. } => step.contents = split_thinking(content),
            SourceBody::Result {
                call,
                tool,
                status,
                content,
                media_type,
                ..
            } if !content.is_empty() => {
                let arguments = call
                    .as_deref()
                    .and_then(|call| import.calls.get(call))
                    .and_then(|at| import.source.records.get(*at))
                    .and_then(|record| match &record.body {
                        SourceBody::CallRequested { arguments, .. } => Some(arguments.as_slice()),
                        _ => None,
                    });
                let source = Source {
                    tool: tool.as_deref().unwrap_or_default(),
                    arguments: arguments.unwrap_or_default(),
                    result: content,
                    media_type: *media_type,
                    failed: *status == CallStatus::Failed,
                };
                if !import.options.as_stated {
                    step.class = classify(source.tool, content, import.options.privacy);
                }
                step.condensed = Some(Condensed::of(&source, step.class.privacy));
            }
            _ => {}
        }
        step
    }

    /// Tells what was raised in the class of a result.
    pub(super) fn raised(&self, stated: Privacy) -> Option<SourceFinding> {
        Some(SourceFinding {
            code: PRIVACY_RAISED,
            place: self.record.place.clone(),
            detail: self.class.told(stated)?,
        })
    }

    pub(super) fn subject(&self) -> Subject {
        match &self.record.body {
            SourceBody::ChildStarted {
                child, participant, ..
            }
            | SourceBody::ChildFinished {
                child, participant, ..
            } => Subject::Child {
                branch: *child,
                participant: *participant,
            },
            _ => Subject::Itself,
        }
    }

    /// Lists what the record seals, in the order in which [`Step::write`] takes the references.
    pub(super) fn payloads(&self) -> Vec<(Vec<u8>, MediaType)> {
        match &self.record.body {
            SourceBody::Message { .. } => self.contents.iter().map(payload_of).collect(),
            SourceBody::CallRequested {
                arguments,
                media_type,
                ..
            } => {
                vec![(arguments.clone(), *media_type)]
            }
            SourceBody::Result {
                content,
                media_type,
                structured,
                ..
            } => {
                let mut out = vec![(content.clone(), *media_type)];
                out.extend(
                    structured
                        .iter()
                        .map(|bytes| (bytes.clone(), MediaType::Source)),
                );
                out.extend(self.condensed.iter().flat_map(Condensed::payloads));
                out
            }
            SourceBody::Kept { bytes, .. } => vec![(bytes.clone(), MediaType::Source)],
            _ => Vec::new(),
        }
    }

    pub(super) fn write(
        self,
        import: &mut Importer<'s>,
        write: &mut Write<'_>,
        refs: &mut impl Iterator<Item = PayloadRef>,
    ) -> Result<(), Error> {
        let record = self.record;
        let body = match &record.body {
            SourceBody::Message { .. } => return self.write_message(import, write, refs),
            SourceBody::Result { .. } => return self.write_result(import, write, refs),
            SourceBody::CallRequested { .. } | SourceBody::Kept { .. } => {
                let payload = refs.next().ok_or(UNSEALED)?;
                self.sealed_body(import, payload)
            }
            _ => self.plain_body(import),
        };
        let Some((key, body)) = Self::event_keys(record).into_iter().next().zip(body) else {
            return Err(Error::Bug {
                what: "a source record of no known kind",
            });
        };
        let event_id = import.event_id(&key);
        import.push(write, event_id, record.at, body)
    }

    /// Makes the body of a record that seals one payload.
    fn sealed_body(&self, import: &Importer<'s>, payload: PayloadRef) -> Option<Body> {
        match &self.record.body {
            SourceBody::CallRequested {
                run,
                call,
                source_id,
                tool,
                ..
            } => {
                let run = run.as_ref().map(|run| import.run(run));
                let body = ToolCallRequested {
                    call: import.call(call),
                    run,
                    message: None,
                    ownership: self.ownership(import, run),
                    privacy: import.options.privacy,
                    tool: Label::or_stand_in(tool),
                    source_id: Label::new(source_id).ok(),
                    arguments: payload,
                };
                Some(body.into())
            }
            SourceBody::Kept { code, .. } => {
                let (code, place) = (Label::or_stand_in(code), self.record.place.number);
                Some(
                    SourceRecordKept {
                        code,
                        place,
                        content: payload,
                    }
                    .into(),
                )
            }
            _ => None,
        }
    }

    /// Makes the body of a record that seals nothing.
    fn plain_body(&self, import: &Importer<'s>) -> Option<Body> {
        let record = self.record;
        let label = |text: &Option<String>| text.as_deref().map(Label::or_stand_in);
        Some(match &record.body {
            SourceBody::RunStarted {
                run,
                provider,
                model,
            } => ModelRunStarted {
                run: import.run(run),
                participant: import.participant(record.participant),
                branch: import.branch(record.branch),
                runtime_kind: self.runtime_kind(import),
                provider: Some(provider_of(provider.as_deref(), import.source.format)),
                model: label(model),
                assembly: None,
                retries: None,
            }
            .into(),
            SourceBody::RunFinished {
                run,
                finish_reason,
                usage,
                model,
            } => ModelRunFinished {
                run: import.run(run),
                finish_reason: label(finish_reason),
                usage: *usage,
                model: label(model),
            }
            .into(),
            SourceBody::ChildStarted {
                child,
                participant,
                parent_call,
            } => ChildRunStarted {
                run: child_run(import, *child),
                participant: import.participant(*participant),
                branch: import.branch(*child),
                parent: Some(import.participant(record.participant)),
                parent_branch: Some(import.branch(record.branch)),
                parent_call: parent_call.as_ref().map(|call| import.call(call)),
            }
            .into(),
            SourceBody::ChildFinished { child, status, .. } => ChildRunFinished {
                run: child_run(import, *child),
                status: match status {
                    CallStatus::Succeeded => ChildStatus::Succeeded,
                    CallStatus::Cancelled => ChildStatus::Cancelled,
                    _ => ChildStatus::Failed,
                },
                // The report is the result of the call that started the child.
                report: None,
                privacy: import.options.privacy,
            }
            .into(),
            _ => return None,
        })
    }

    fn write_message(
        &self,
        import: &mut Importer<'s>,
        write: &mut Write<'_>,
        refs: &mut impl Iterator<Item = PayloadRef>,
    ) -> Result<(), Error> {
        let record = self.record;
        let SourceBody::Message { role, run, .. } = &record.body else {
            return Ok(());
        };
        let run = run.as_ref().map(|run| import.run(run));
        let keys = Self::event_keys(record);
        for (key, content) in keys.iter().zip(refs.take(self.contents.len())) {
            let event_id = import.event_id(key);
            let body = MessageRecorded {
                message: MessageId::derive(event_id, 0),
                role: *role,
                participant: Some(import.participant(record.participant)),
                ownership: self.ownership(import, run),
                privacy: import.options.privacy,
                run,
                content,
                draft: false,
            };
            import.push(write, event_id, record.at, body.into())?;
        }
        Ok(())
    }

    fn write_result(
        self,
        import: &mut Importer<'s>,
        write: &mut Write<'_>,
        refs: &mut impl Iterator<Item = PayloadRef>,
    ) -> Result<(), Error> {
        let record = self.record;
        let SourceBody::Result {
            call,
            tool,
            status,
            structured,
            duration_ms,
            ..
        } = &record.body
        else {
            return Ok(());
        };
        let result = refs.next();
        let structured = structured.as_ref().and_then(|_| refs.next());
        let keys = Self::event_keys(record);
        let ids: Vec<_> = keys.iter().map(|key| import.event_id(key)).collect();
        let [artifact_event, derived @ .., changed_event] = ids.as_slice() else {
            return Ok(());
        };
        let call = call.as_ref().map(|call| import.call(call));
        let node = call.as_ref().and_then(|call| write.graph().call(call));
        let run = node.and_then(|call| call.run);
        let arguments = node.map(|call| call.arguments);
        let arguments = match arguments {
            Some(arguments) => import.engine.payload(import.account, &arguments)?,
            None => Vec::new(),
        };
        let tool = tool.as_deref().unwrap_or("unknown");
        let question = import.engine.question(import.account, tool, &arguments)?;
        let artifact = ArtifactId::derive(*artifact_event, 0);
        let body = ToolArtifactCaptured {
            artifact,
            call,
            run,
            ownership: self.ownership(import, run),
            privacy: self.class.privacy,
            tool: Label::or_stand_in(tool),
            status: *status,
            retryable: false,
            result,
            structured,
            question: call.map(|_| question),
            tool_version: None,
            runtime: None,
            skills: Vec::new(),
            duration_us: duration_ms.map(|ms| ms.saturating_mul(1_000)),
        };
        import.push(write, *artifact_event, record.at, body.into())?;
        let changed =
            import
                .engine
                .changed(write.graph(), import.account, artifact, &[], &arguments)?;
        if let Some(changed) = changed {
            import.push(write, *changed_event, record.at, changed)?;
        }
        let Some(condensed) = &self.condensed else {
            return Ok(());
        };
        let parts = condensed.parts(artifact, refs).ok_or(UNSEALED)?;
        let observed_at = write
            .graph()
            .artifact(&artifact)
            .map(|node| node.common.origin.at)
            .ok_or(Error::Bug {
                what: "an artifact was not folded",
            })?;
        let terms = Terms {
            freshness: None,
            revalidation: Vec::new(),
            observed_at,
        };
        let fallback = *artifact_event;
        let bodies = import.engine.derive(
            write.graph(),
            import.account,
            condensed,
            &parts,
            terms,
            |n| derived.get(n as usize).copied().unwrap_or(fallback),
        )?;
        for (id, body) in bodies {
            import.push(write, id, record.at, body)?;
        }
        Ok(())
    }

    fn runtime_kind(&self, import: &Importer<'_>) -> RuntimeKind {
        let sidechain = import
            .source
            .branches
            .get(self.record.branch)
            .is_some_and(|b| b.sidechain);
        if sidechain {
            RuntimeKind::Child
        } else {
            RuntimeKind::Chat
        }
    }

    /// What a child did is private to the child, whatever the caller chose for the rest.
    fn ownership(&self, import: &Importer<'_>, run: Option<RunId>) -> Ownership {
        let runtime_kind = self.runtime_kind(import);
        let child = runtime_kind == RuntimeKind::Child;
        let visibility = if child {
            Visibility::ParticipantPrivate
        } else {
            import.options.visibility
        };
        // What is said to a child is the child's own state as much as what it answers.
        let owner = if child {
            self.child_of(import)
        } else {
            self.record.participant
        };
        Ownership {
            owner_participant: Some(import.participant(owner)),
            owner_run: run,
            branch: import.branch(self.record.branch),
            visibility,
            shared_with: Vec::new(),
            isolation: Isolation::Isolated,
            runtime_kind,
        }
    }

    /// Finds the participant that runs on the record's branch.
    fn child_of(&self, import: &Importer<'_>) -> usize {
        let branch = self.record.branch;
        let runs = import.source.records.iter().find(|record| {
            record.branch == branch && matches!(record.body, SourceBody::RunStarted { .. })
        });
        runs.map_or(self.record.participant, |record| record.participant)
    }
}

fn child_run(import: &Importer<'_>, branch: usize) -> RunId {
    let key = import
        .source
        .branches
        .get(branch)
        .map_or("", |b| b.key.as_str());
    RunId::from_source(import.id.as_bytes(), &format!("child:{key}"))
}

fn provider_of(provider: Option<&str>, format: Format) -> Label {
    Label::or_stand_in(provider.unwrap_or(match format {
        Format::OpenAiChat | Format::TauBench => "openai",
        Format::ClaudeCode => "anthropic",
    }))
}

/// Parts a message's thinking from the rest; what has none stays whole.
fn split_thinking(content: &Content) -> Vec<Content> {
    let Content::Parts(parts) = content else {
        return vec![content.clone()];
    };
    let is_thinking =
        |part: &&Part| matches!(part, Part::Thinking { .. } | Part::RedactedThinking { .. });
    let (thinking, rest): (Vec<&Part>, Vec<&Part>) = parts.iter().partition(is_thinking);
    let whole = |parts: Vec<&Part>| Content::Parts(parts.into_iter().cloned().collect());
    match (thinking.is_empty(), rest.is_empty()) {
        (false, false) => {
            vec![
                whole(thinking),
                Content::of_parts(rest.into_iter().cloned().collect()),
            ]
        }
        _ => vec![content.clone()],
    }
}
