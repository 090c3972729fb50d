//! Plays a scenario's steps through the engine's public commands.

use super::fixture::{Result, Scenario, Step};
use foldback::event::kind::{ChildStatus, ParticipantKind, RecordRef};
use foldback::event::{
    BranchId, CallId, CheckpointId, Confidence, ConfidenceSource, Freshness, Label, MediaType,
    MemoryId, MessageId, MessageRole, Micros, ParticipantId, Privacy, RecordKind, RunId,
    RuntimeKind, Visibility,
};
use foldback::{
    Captured, ChildStart, Clock, Content, Conversation, Engine, MemoryDraft, NewArtifact, NewCall,
    NewConversation, NewFact, NewMessage, NewParticipant, NewSkill, NewSkills, Opened, Options,
    Outcome, Promote, StartRun, TakeCheckpoint,
};
use serde_json::Value;
use std::collections::BTreeMap;

/// What the names of a scenario stand for.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) engine: Engine,
    pub(super) opened: Opened,
    pub(super) participants: BTreeMap<String, ParticipantId>,
    pub(super) branches: BTreeMap<String, BranchId>,
    pub(super) runs: BTreeMap<String, RunId>,
    pub(super) captured: BTreeMap<String, Captured>,
    pub(super) calls: BTreeMap<String, CallId>,
    messages: BTreeMap<String, MessageId>,
    children: BTreeMap<String, ChildStart>,
    pub(super) checkpoints: BTreeMap<String, CheckpointId>,
}

pub(super) fn label(text: &str) -> Label {
    Label::new(text).unwrap_or_else(|error| panic!("`{text}`: {error}"))
}

pub(super) fn time(text: &str) -> Micros {
    let time = chrono::DateTime::parse_from_rfc3339(text);
    Micros(
        time.unwrap_or_else(|e| panic!("`{text}`: {e}"))
            .timestamp_micros(),
    )
}

fn named<T>(found: Option<T>, what: &str, name: &str) -> T {
    found.unwrap_or_else(|| panic!("no {what} is called `{name}`"))
}

pub(super) fn mode(name: Option<&String>) -> RuntimeKind {
    name.map_or(RuntimeKind::Chat, |name| {
        named(RuntimeKind::from_name(name), "mode", name)
    })
}

fn privacy(name: Option<&String>) -> Privacy {
    name.map_or(Privacy::Internal, |name| {
        named(Privacy::from_name(name), "privacy class", name)
    })
}

fn visibility(name: &str) -> Visibility {
    named(Visibility::from_name(name), "visibility", name)
}

impl Stage {
    /// Opens the conversation and plays all steps.
    pub(super) async fn play(scenario: &Scenario, remembers: bool) -> Self {
        let options = Options {
            clock: Clock::fixed(time(&scenario.header.starts)),
            ..Options::default()
        };
        let engine = Engine::in_memory(options).unwrap();
        let new = NewConversation {
            user_name: Some("Nora".to_owned()),
            ..NewConversation::titled(&scenario.header.title)
        };
        let opened = engine.open_conversation(new).await.unwrap();
        let mut stage = Self {
            engine,
            opened,
            participants: BTreeMap::from([("user".to_owned(), opened.user)]),
            branches: BTreeMap::from([("main".to_owned(), opened.branch)]),
            runs: BTreeMap::new(),
            captured: BTreeMap::new(),
            calls: BTreeMap::new(),
            messages: BTreeMap::new(),
            children: BTreeMap::new(),
            checkpoints: BTreeMap::new(),
        };
        for (line, step) in &scenario.steps {
            if !remembers && matches!(step, Step::Remember { .. }) {
                continue;
            }
            let said = format!("{}:{line}", scenario.name);
            stage
                .step(step)
                .await
                .unwrap_or_else(|error| panic!("{said}: {error}"));
        }
        stage
    }

    fn talk(&self) -> Conversation<'_> {
        self.engine.conversation(self.opened.id)
    }

    fn talk_at(&self, at: Option<&String>) -> Conversation<'_> {
        match at {
            Some(at) => self.talk().at(time(at)),
            None => self.talk(),
        }
    }

    pub(super) fn participant(&self, name: &str) -> ParticipantId {
        named(self.participants.get(name).copied(), "participant", name)
    }

    pub(super) fn branch(&self, name: Option<&String>) -> BranchId {
        let name = name.map_or("main", String::as_str);
        named(self.branches.get(name).copied(), "branch", name)
    }

    pub(super) fn run(&self, name: &str) -> RunId {
        named(self.runs.get(name).copied(), "run", name)
    }

    fn call(&self, name: &str) -> CallId {
        named(self.calls.get(name).copied(), "call", name)
    }

    fn memory(&self, name: &str) -> MemoryId {
        let captured = named(self.captured.get(name), "result", name);
        named(captured.memory, "memory", name)
    }

    async fn step(&mut self, step: &Step) -> std::result::Result<(), foldback::Error> {
        match step {
            Step::Join { name, kind, model } => {
                let kind = kind.as_ref().map_or(ParticipantKind::Model, |kind| {
                    named(ParticipantKind::from_name(kind), "kind", kind)
                });
                let new = NewParticipant {
                    kind,
                    name: Some(name.clone()),
                    model: model.as_deref().map(label),
                };
                let id = self.talk().join(new).await?;
                self.participants.insert(name.clone(), id);
            }
            Step::Run {
                name,
                by,
                on,
                mode: kind,
            } => {
                let run = StartRun {
                    branch: Some(self.branch(on.as_ref())),
                    runtime_kind: mode(kind.as_ref()),
                    ..StartRun::chat(self.participant(by))
                };
                let id = self.talk().start_run(run).await?;
                self.runs.insert(name.clone(), id);
            }
            Step::End { run } => {
                let ending = foldback::RunEnding::Finished {
                    finish_reason: None,
                    usage: None,
                    model: None,
                };
                self.talk().end_run(self.run(run), ending).await?;
            }
            Step::System { .. }
            | Step::User { .. }
            | Step::Moderator { .. }
            | Step::Say { .. }
            | Step::Draft { .. }
            | Step::Finalize { .. } => {
                self.say(step).await?;
            }
            Step::Call {
                name,
                run,
                tool,
                args,
                privacy: class,
            } => {
                let call = NewCall {
                    privacy: privacy(class.as_ref()),
                    ..NewCall::json(self.run(run), label(tool), &args.to_string())
                };
                let id = self.talk().request_call(call).await?;
                self.calls.insert(name.clone(), id);
            }
            Step::Result(result) => self.capture(result, Outcome::Succeeded, false).await?,
            Step::Fail(result) => {
                let retryable = result.retry;
                self.capture(result, Outcome::Failed { retryable }, false)
                    .await?;
            }
            Step::Pending(result) => self.capture(result, Outcome::Pending, false).await?,
            Step::Deferred(result) => self.capture(result, Outcome::Deferred, false).await?,
            Step::Resolve(result) => self.capture(result, Outcome::Succeeded, true).await?,
            Step::Supersede { .. }
            | Step::Conflict { .. }
            | Step::Revalidate { .. }
            | Step::Skills { .. }
            | Step::Fact { .. }
            | Step::Job { .. } => self.state(step).await?,
            Step::Remember { of, text } => {
                self.remember(of, text, &[]).await?;
            }
            Step::Quote { of, text, quotes } => {
                self.remember(of, text, quotes).await?;
            }
            Step::Fork { .. }
            | Step::Child { .. }
            | Step::Report { .. }
            | Step::Promote { .. }
            | Step::Checkpoint { .. }
            | Step::Restore { .. } => self.boundary(step).await?,
        }
        Ok(())
    }

    /// Brings a memory that stands for one result, made by a model.
    async fn remember(
        &mut self,
        of: &str,
        text: &str,
        quotes: &[String],
    ) -> std::result::Result<(), foldback::Error> {
        let graph = self.engine.graph(self.opened.id, None).await?;
        let captured = *named(self.captured.get(of), "result", of);
        let own = graph.memory(&self.memory(of)).unwrap();
        let memory = MemoryDraft {
            artifacts: vec![captured.artifact],
            summary: text.to_owned(),
            confidence: Confidence {
                permille: 900,
                source: ConfidenceSource::Model,
                rationale: label("read-whole"),
            },
            extractor: label("gpt-4o-mini"),
            extractor_version: 1,
            subject: None,
            freshness: own.freshness,
            stale_after: own.stale_after,
            revalidation: own.revalidation.clone(),
            ambiguities: Vec::new(),
            quotes: quotes.to_vec(),
        };
        let made = self.talk().derive(memory).await?;
        // It takes over what is known of the one that the engine derived.
        let disagreeing = own
            .conflicts_with
            .iter()
            .filter_map(|other| graph.memory(other));
        for other in disagreeing {
            let newest = other.artifacts.first().and_then(|id| graph.artifact(id));
            let other = newest
                .and_then(|a| a.memories.last().copied())
                .unwrap_or(other.id);
            self.talk().conflict(vec![other, made]).await?;
        }
        Ok(())
    }

    /// Says something of memories, or states what a participant has.
    async fn state(&mut self, step: &Step) -> std::result::Result<(), foldback::Error> {
        match step {
            Step::Supersede {
                memory,
                over,
                because,
            } => {
                let over = over.iter().map(|name| self.memory(name)).collect();
                self.talk()
                    .supersede(self.memory(memory), over, label(because))
                    .await?;
            }
            Step::Conflict { memories } => {
                let memories = memories.iter().map(|name| self.memory(name)).collect();
                self.talk().conflict(memories).await?;
            }
            Step::Revalidate { memory, by, at } => {
                let artifact = self.captured.get(by).map(|captured| captured.artifact);
                self.talk()
                    .revalidate(self.memory(memory), artifact, time(at))
                    .await?;
            }
            Step::Skills {
                of,
                profile,
                skills,
                tools,
                integrations,
            } => {
                let skills = skills.iter().map(|(name, text)| NewSkill {
                    name: label(name),
                    text: text.as_str().map(ToOwned::to_owned),
                });
                let labels = |names: &[String]| names.iter().map(|name| label(name)).collect();
                let new = NewSkills {
                    participant: self.participant(of),
                    profile: profile.as_deref().map(label),
                    skills: skills.collect(),
                    direct_tools: labels(tools),
                    integrations: labels(integrations),
                };
                self.talk().change_skills(new).await?;
            }
            Step::Fact { of, text } => {
                let fact = NewFact {
                    participant: Some(self.participant(of)),
                    text: text.clone(),
                    source: None,
                    supersedes: Vec::new(),
                    privacy: Privacy::Personal,
                };
                self.talk().remember_fact(fact).await?;
            }
            Step::Job { of, name, text } => {
                let (of, main) = (self.participant(of), self.opened.branch);
                self.talk()
                    .trigger_job(of, main, label(name), Some(text.clone()))
                    .await?;
            }
            _ => unreachable!("only what states something"),
        }
        Ok(())
    }

    async fn say(&mut self, step: &Step) -> std::result::Result<(), foldback::Error> {
        match step {
            Step::System { text } => {
                self.talk()
                    .record_message(NewMessage::system(&text.get()))
                    .await?;
            }
            Step::User { text, by, on, at } => {
                let by = self.participant(by.as_deref().unwrap_or("user"));
                let said = NewMessage::user(by, &text.get()).on(self.branch(on.as_ref()));
                self.talk_at(at.as_ref()).record_message(said).await?;
            }
            Step::Moderator { by, text } => {
                let said = NewMessage {
                    role: MessageRole::Moderator,
                    ..NewMessage::user(self.participant(by), &text.get())
                };
                self.talk().record_message(said).await?;
            }
            Step::Say {
                run,
                text,
                name,
                on,
                visibility: to,
            } => {
                let run = self.run(run);
                let graph = self.engine.graph(self.opened.id, None).await?;
                let node = graph.run(&run).unwrap();
                let mut said = NewMessage::assistant(node.participant, run, &text.get());
                said.branch = Some(match on {
                    Some(_) => self.branch(on.as_ref()),
                    None => node.branch,
                });
                if let Some(to) = to {
                    said.visibility = visibility(to);
                }
                let id = self.talk().record_message(said).await?;
                self.messages.extend(name.clone().map(|name| (name, id)));
            }
            Step::Draft { name, run, text } => {
                let run = self.run(run);
                let graph = self.engine.graph(self.opened.id, None).await?;
                let node = graph.run(&run).unwrap();
                let said = NewMessage {
                    draft: true,
                    ..NewMessage::assistant(node.participant, run, &text.get()).on(node.branch)
                };
                let id = self.talk().record_message(said).await?;
                self.messages.insert(name.clone(), id);
            }
            Step::Finalize { draft, text } => {
                let id = named(self.messages.get(draft).copied(), "draft", draft);
                let content = Some(Content::Text(text.get()));
                self.talk()
                    .finalize_message(id, content, Visibility::Branch)
                    .await?;
            }
            _ => unreachable!("only what is said"),
        }
        Ok(())
    }

    async fn boundary(&mut self, step: &Step) -> std::result::Result<(), foldback::Error> {
        match step {
            Step::Fork { name, from } => {
                let graph = self.engine.graph(self.opened.id, None).await?;
                let from = self.branch(from.as_ref());
                let id = self.talk().fork(from, graph.position()).await?;
                self.branches.insert(name.clone(), id);
            }
            Step::Child {
                name,
                parent,
                call,
                model,
            } => {
                let (parent, main) = (self.participant(parent), self.opened.branch);
                let call = call.as_ref().map(|call| self.call(call));
                let model = model.as_deref().map(label);
                let child = self
                    .talk()
                    .start_child(parent, main, call, name, model)
                    .await?;
                self.participants.insert(name.clone(), child.participant);
                self.branches.insert(name.clone(), child.branch);
                self.children.insert(name.clone(), child);
            }
            Step::Report {
                child,
                status,
                text,
            } => {
                let started = named(self.children.get(child).copied(), "child", child);
                let status = named(ChildStatus::from_name(status), "status", status);
                let text = text.as_ref().map(super::fixture::Text::get);
                self.talk()
                    .finish_child(started.run, status, text.as_deref(), Privacy::Internal)
                    .await?;
            }
            Step::Promote {
                memory,
                to,
                on,
                because,
            } => {
                let record = RecordRef {
                    kind: RecordKind::Memory,
                    id: *self.memory(memory).as_bytes(),
                };
                let promotion = Promote {
                    record,
                    to: visibility(to),
                    branch: on.as_ref().map(|_| self.branch(on.as_ref())),
                    shared_with: Vec::new(),
                    ground: label(because),
                };
                self.talk().promote(promotion).await?;
            }
            Step::Checkpoint {
                name,
                by,
                run,
                open,
                state,
            } => {
                let checkpoint = TakeCheckpoint {
                    participant: self.participant(by),
                    branch: self.opened.branch,
                    run: Some(self.run(run)),
                    assembly: None,
                    open_calls: open.iter().map(|call| self.call(call)).collect(),
                    state: state.as_ref().map(|state| state.clone().into_bytes()),
                };
                let id = self.talk().take_checkpoint(checkpoint).await?;
                self.checkpoints.insert(name.clone(), id);
            }
            Step::Restore { checkpoint, run } => {
                let known = self.checkpoints.get(checkpoint).copied();
                let id = named(known, "checkpoint", checkpoint);
                let run = Some(self.run(run));
                self.talk().restore_checkpoint(id, run).await?;
            }
            _ => unreachable!("only what crosses a boundary"),
        }
        Ok(())
    }

    async fn capture(
        &mut self,
        result: &Result,
        outcome: Outcome,
        later: bool,
    ) -> std::result::Result<(), foldback::Error> {
        let (content, media) = match (&result.json, &result.text) {
            (Some(json), None) => (json_text(json), MediaType::Json),
            (None, Some(text)) => (text.get(), MediaType::Text),
            _ => panic!("a result of `{}` is either JSON or text", result.of),
        };
        let media = result.media.as_ref().map_or(media, |name| {
            named(MediaType::from_name(name), "media type", name)
        });
        let open = matches!(outcome, Outcome::Pending | Outcome::Deferred);
        let new = NewArtifact {
            outcome,
            derive: !open,
            privacy: privacy(result.privacy.as_ref()),
            freshness: result
                .freshness
                .as_ref()
                .map(|name| named(Freshness::from_name(name), "freshness class", name)),
            revalidation: result.check_with.iter().map(|tool| label(tool)).collect(),
            changes: result.changes.clone(),
            ..NewArtifact::succeeded(self.call(&result.of), content, media)
        };
        let talk = self.talk_at(result.at.as_ref());
        let captured = if later {
            talk.resolve(new).await?
        } else {
            talk.capture(new).await?
        };
        let name = result.name.as_ref().unwrap_or(&result.of).clone();
        self.captured.insert(name, captured);
        Ok(())
    }
}

/// JSON as most tools send it.
fn json_text(json: &Value) -> String {
    json.to_string()
}
