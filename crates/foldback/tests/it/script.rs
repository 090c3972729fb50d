//! One scripted session that gives every command there is, each under an id of its own.

use crate::scene::{Stage, command, label};
use foldback::event::kind::{ChildStatus, RecordRef, Usage};
use foldback::event::{
    Confidence, ConfidenceSource, Freshness, MediaType, Micros, Privacy, RecordKind, RuntimeKind,
    Visibility,
};
use foldback::{
    AssembleRequest, Content, Conversation, Error, MemoryDraft, NewArtifact, NewCall, NewFact,
    NewMessage, NewSkill, NewSkills, Outcome, Promote, RunEnding, StartRun, TakeCheckpoint,
};
use std::fmt::Debug;

/// Gives commands by name and keeps what each gave.
#[derive(Debug)]
pub(crate) struct Script<'s> {
    stage: &'s Stage,
    /// Whether each command is given twice.
    twice: bool,
    /// The name of each command with its result.
    pub(crate) results: Vec<(String, String)>,
    /// If asked for: where each command ended, and the graph's text there.
    pub(crate) photographs: Option<Vec<(u64, String)>>,
}

impl<'s> Script<'s> {
    pub(crate) fn new(stage: &'s Stage, twice: bool) -> Self {
        Self {
            stage,
            twice,
            results: Vec::new(),
            photographs: None,
        }
    }

    async fn give<T: Debug + PartialEq>(
        &mut self,
        name: &str,
        run: impl AsyncFn(Conversation<'_>) -> Result<T, Error>,
    ) -> T {
        let talk = || self.stage.talk().command(command(name));
        let result = run(talk()).await.unwrap_or_else(|e| panic!("{name}: {e}"));
        if self.twice {
            let marks = self.stage.marks().await;
            let again = run(talk()).await.unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(again, result, "`{name}` again gives another result");
            assert_eq!(self.stage.marks().await, marks, "`{name}` again wrote");
        }
        if let Some(photographs) = &mut self.photographs {
            let graph = self.stage.graph().await;
            photographs.push((graph.position(), foldback::graph_text(&graph)));
        }
        self.results.push((name.to_owned(), format!("{result:?}")));
        result
    }

    /// Gives all commands.
    pub(crate) async fn play(&mut self) {
        self.beginning().await;
        self.asking().await;
        self.waiting().await;
        self.leaving().await;
    }

    async fn beginning(&mut self) {
        let (agent, user) = (self.stage.agent, self.stage.opened.user);
        self.give("system", async |talk| {
            let text = "You book sleepers. Ask before you change a booking.";
            talk.record_message(NewMessage::system(text)).await
        })
        .await;
        let fact = |text: &str, source, supersedes| NewFact {
            participant: Some(agent),
            text: text.to_owned(),
            source,
            supersedes,
            privacy: Privacy::Personal,
        };
        let old = self
            .give("fact", async |talk| {
                talk.remember_fact(fact("sleeps low", None, vec![])).await
            })
            .await;
        let said = self
            .give("user", async |talk| {
                let text = "The upper berth from now on, please. What does Vienna cost?";
                talk.record_message(NewMessage::user(user, text)).await
            })
            .await;
        self.give("newer fact", async |talk| {
            let fact = fact("sleeps high", Some(said), vec![old]);
            talk.remember_fact(fact).await
        })
        .await;
        self.give("skills", async |talk| {
            let skills = NewSkills {
                participant: agent,
                profile: Some(label("clerk")),
                skills: vec![
                    NewSkill {
                        name: label("fares"),
                        text: Some("Round to euros.".to_owned()),
                    },
                    NewSkill {
                        name: label("refunds"),
                        text: None,
                    },
                ],
                direct_tools: vec![label("search")],
                integrations: vec![label("mail")],
            };
            talk.change_skills(skills).await
        })
        .await;
    }

    #[expect(clippy::too_many_lines, reason = "one scene, told in its order")]
    async fn asking(&mut self) {
        let stage = self.stage;
        let agent = stage.agent;
        let first = self
            .give("assemble", async |talk| talk.assemble(stage.chat()).await)
            .await;
        let run = self
            .give("run", async |talk| {
                let run = StartRun {
                    assembly: Some(first.id),
                    provider: Some(label("openai")),
                    model: Some(label("gpt-4o")),
                    ..StartRun::chat(agent)
                };
                talk.start_run(run).await
            })
            .await;
        let draft = self
            .give("draft", async |talk| {
                let message = NewMessage::assistant(agent, run, "I will lo");
                let draft = NewMessage {
                    draft: true,
                    ..message
                };
                talk.record_message(draft).await
            })
            .await;
        self.give("finalize", async |talk| {
            let content = Some(Content::Text("I will look at the fares.".to_owned()));
            talk.finalize_message(draft, content, Visibility::Branch)
                .await
        })
        .await;
        let ask = async |talk: Conversation<'_>, arguments: &str| {
            let call = NewCall {
                source_id: Some(label("call_1")),
                ..NewCall::json(run, label("fares"), arguments)
            };
            talk.request_call(call).await
        };
        let fares = "berth,price\nupper,84\nlower,96\n";
        let call = self
            .give("call", async |talk| {
                ask(talk, r#"{"to":"Wien","day":15}"#).await
            })
            .await;
        let older = self
            .give("capture", async |talk| {
                talk.capture(NewArtifact::succeeded(call, fares, MediaType::Csv))
                    .await
            })
            .await;
        let call = self
            .give("same call", async |talk| {
                ask(talk, r#"{"day":15,"to":"Wien"}"#).await
            })
            .await;
        let newer = self
            .give("same capture", async |talk| {
                let result = NewArtifact {
                    structured: Some(br#"{"rows":2}"#.to_vec()),
                    ..NewArtifact::succeeded(call, fares, MediaType::Csv)
                };
                talk.capture(result).await
            })
            .await;
        let (old, new) = (older.memory.unwrap(), newer.memory.unwrap());
        let drawn = self
            .give("derive", async |talk| {
                let memory = MemoryDraft {
                    artifacts: vec![older.artifact, newer.artifact],
                    summary: "the upper berth is 84 euros".to_owned(),
                    confidence: Confidence {
                        permille: 900,
                        source: ConfidenceSource::Model,
                        rationale: label("read-twice"),
                    },
                    extractor: label("gpt-4o-mini"),
                    extractor_version: 1,
                    subject: Some("fares to Wien".to_owned()),
                    freshness: Freshness::Bounded,
                    stale_after: None,
                    revalidation: vec![label("fares")],
                    ambiguities: vec![],
                    quotes: Vec::new(),
                };
                talk.derive(memory).await
            })
            .await;
        self.give("conflict", async |talk| {
            talk.conflict(vec![drawn, new]).await
        })
        .await;
        self.give("supersede", async |talk| {
            talk.supersede(drawn, vec![old], label("covers-it")).await
        })
        .await;
        self.give("revalidate", async |talk| {
            let at = Micros(crate::scene::START + 5_000_000);
            talk.revalidate(drawn, Some(newer.artifact), at).await
        })
        .await;
        self.give("end run", async |talk| {
            let usage = Some(Usage::default());
            let ending = RunEnding::Finished {
                finish_reason: Some(label("tool_calls")),
                usage,
                model: Some(label("gpt-4o-2024-08-06")),
            };
            talk.end_run(run, ending).await
        })
        .await;
    }

    async fn waiting(&mut self) {
        let stage = self.stage;
        let (agent, branch) = (stage.agent, stage.opened.branch);
        let failed = self
            .give("failing run", async |talk| {
                talk.start_run(StartRun::chat(agent)).await
            })
            .await;
        self.give("fail run", async |talk| {
            let ending = RunEnding::Failed {
                error: Some("overloaded".to_owned()),
                retryable: true,
            };
            talk.end_run(failed, ending).await
        })
        .await;
        let run = self
            .give("retrying run", async |talk| {
                let run = StartRun {
                    retries: Some(failed),
                    ..StartRun::chat(agent)
                };
                talk.start_run(run).await
            })
            .await;
        let call = self
            .give("failing call", async |talk| {
                let call = NewCall::json(run, label("book"), r#"{"berth":"upper"}"#);
                talk.request_call(call).await
            })
            .await;
        self.give("failure", async |talk| {
            talk.capture(NewArtifact::failed(call, "Error 409: try again", true))
                .await
        })
        .await;
        let call = self
            .give("deferred call", async |talk| {
                let call = NewCall::json(run, label("book"), r#"{"berth":"41"}"#);
                talk.request_call(call).await
            })
            .await;
        self.give("defer", async |talk| {
            let open = NewArtifact::open(call, Outcome::Deferred, "waits for Ines");
            talk.capture(open).await
        })
        .await;
        let checkpoint = self
            .give("checkpoint", async |talk| {
                let new = TakeCheckpoint {
                    participant: agent,
                    branch,
                    run: Some(run),
                    assembly: None,
                    open_calls: vec![call],
                    state: Some(b"\x00step 4\xff".to_vec()),
                };
                talk.take_checkpoint(new).await
            })
            .await;
        self.give("restore", async |talk| {
            let kept = talk.restore_checkpoint(checkpoint, Some(run)).await?;
            assert_eq!(kept.as_deref(), Some(&b"\x00step 4\xff"[..]));
            Ok(kept)
        })
        .await;
        self.give("resolve", async |talk| {
            let result = NewArtifact::succeeded(call, "booked BK7Q2M", MediaType::Text);
            talk.resolve(result).await
        })
        .await;
        self.give("answer", async |talk| {
            let said = NewMessage::assistant(agent, run, "Booked, upper berth.");
            talk.record_message(said).await
        })
        .await;
    }

    async fn leaving(&mut self) {
        let stage = self.stage;
        let (agent, main) = (stage.agent, stage.opened.branch);
        self.give("job", async |talk| {
            let instruction = Some("Look at the fares again.".to_owned());
            talk.trigger_job(agent, main, label("nightly"), instruction)
                .await
        })
        .await;
        let branch = self
            .give("fork", async |talk| talk.fork(main, 8).await)
            .await;
        self.give("elsewhere", async |talk| {
            let said = NewMessage::user(stage.opened.user, "What if we wait?").on(branch);
            talk.record_message(said).await
        })
        .await;
        let child = self
            .give("child", async |talk| {
                talk.start_child(agent, main, None, "scout", Some(label("gpt-4o-mini")))
                    .await
            })
            .await;
        let run = self
            .give("child run", async |talk| {
                let run = StartRun {
                    branch: Some(child.branch),
                    runtime_kind: RuntimeKind::Child,
                    ..StartRun::chat(child.participant)
                };
                talk.start_run(run).await
            })
            .await;
        let call = self
            .give("child call", async |talk| {
                let call = NewCall::json(run, label("search"), r#"{"q":"breakfast"}"#);
                talk.request_call(call).await
            })
            .await;
        let found = self
            .give("child capture", async |talk| {
                let result = r#"{"breakfast":"06:00","id":"BR-1182"}"#;
                let result = NewArtifact::succeeded(call, result, MediaType::Json);
                talk.capture(result).await
            })
            .await;
        self.give("finish child", async |talk| {
            let (status, report) = (ChildStatus::Succeeded, Some("breakfast is at six"));
            talk.finish_child(child.run, status, report, Privacy::Internal)
                .await
        })
        .await;
        self.give("promote", async |talk| {
            let promotion = Promote {
                record: RecordRef {
                    kind: RecordKind::Memory,
                    id: *found.memory.unwrap().as_bytes(),
                },
                to: Visibility::Branch,
                branch: Some(main),
                shared_with: vec![],
                ground: label("cited-in-report"),
            };
            talk.promote(promotion).await
        })
        .await;
        self.give("last assembly", async |talk| {
            let request = AssembleRequest {
                exact: vec![found.artifact],
                runtime_kind: RuntimeKind::ParentResume,
                ..stage.chat()
            };
            talk.assemble(request).await
        })
        .await;
    }
}
