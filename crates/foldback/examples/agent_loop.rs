//! A small agent with a scripted model, which uses the whole engine as a live runtime does.
//!
//! It records messages, runs and calls, captures results before they are shortened, waits for a
//! person, fails and tries again, derives, supersedes, promotes, forks a branch, starts and ends a
//! child, takes and restores a checkpoint, and prints what its next request holds at each turn.
//!
//! Run it with `cargo run --example agent_loop -p foldback`.

#![expect(clippy::print_stdout, reason = "an example is there to print")]

use foldback::event::kind::{ChildStatus, RecordRef};
use foldback::event::{
    BranchId, CallId, Confidence, ConfidenceSource, Freshness, Label, MediaType, ParticipantId,
    Privacy, RecordKind, RunId, RuntimeKind, Visibility,
};
use foldback::{
    AssembleRequest, Assembled, Captured, Conversation, Engine, Error, MemoryDraft, NewArtifact,
    NewCall, NewConversation, NewFact, NewMessage, NewParticipant, NewSkill, NewSkills, Options,
    Outcome, Promote, RunEnding, StartRun, TakeCheckpoint, assembly_text,
};
use std::fmt::Write as _;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let engine = Engine::in_memory(Options::default())?;
    let opened = engine
        .open_conversation(NewConversation::titled("Quarterly report"))
        .await?;
    let talk = engine.conversation(opened.id);
    let agent = talk
        .join(NewParticipant::model("analyst", label("gpt-4o")))
        .await?;
    let scene = Scene {
        talk,
        agent,
        user: opened.user,
        branch: opened.branch,
    };
    scene.set().await?;
    let (older, newer) = scene.ask_twice().await?;
    scene.fail().await?;
    let (run, call) = scene.wait_for_a_person(older, newer).await?;
    scene.resume(run, call).await?;
    let last = scene.ask_for_exact_bytes(&engine, newer).await?;

    println!(
        "as a provider gets it:\n{:#}",
        foldback::openai::render(&last.prompt)
    );
    println!("why:");
    for explanation in engine.recorded(opened.id, &last.id).await?.explain() {
        println!("  #{:<3} {}", explanation.position, explanation.sentence);
    }
    let found = engine.verify(|_| ()).await?;
    assert!(found.ok(), "{:?}", found.problems);
    println!(
        "verified: {} events, {} of {} assemblies reproduced",
        found.events, found.reproduced, found.assemblies
    );
    Ok(())
}

/// One conversation of one agent with one person.
struct Scene<'e> {
    talk: Conversation<'e>,
    agent: ParticipantId,
    user: ParticipantId,
    branch: BranchId,
}

impl Scene<'_> {
    /// Instructions, a fact about the user, skills, and the first question.
    async fn set(&self) -> Result<(), Error> {
        let instructions = NewMessage::system("You prepare reports. Ask before you send one.");
        self.talk.record_message(instructions).await?;
        let fact = NewFact {
            participant: None,
            text: "prefers short answers".to_owned(),
            source: None,
            supersedes: Vec::new(),
            privacy: Privacy::Internal,
        };
        self.talk.remember_fact(fact).await?;
        let tables = NewSkill {
            name: label("tables"),
            text: Some("Round to euros.".to_owned()),
        };
        let skills = NewSkills {
            participant: self.agent,
            profile: Some(label("analyst")),
            skills: vec![
                tables,
                NewSkill {
                    name: label("charts"),
                    text: None,
                },
            ],
            direct_tools: vec![label("query_sales"), label("send_mail")],
            integrations: vec![label("drive")],
        };
        self.talk.change_skills(skills).await?;
        let question = NewMessage::user(self.user, "Prepare the Q3 report for the north.");
        self.talk.record_message(question).await?;
        Ok(())
    }

    /// Two turns with the same question: the newer memory supersedes the older one by itself.
    async fn ask_twice(&self) -> Result<(Captured, Captured), Error> {
        let mut table = "region,month,store,revenue\n".to_owned();
        for n in 1..=40 {
            let (month, revenue) = (7 + n % 3, 1_000 + n * 37);
            let _ = writeln!(table, "north,2026-0{month},store-{n:02},{revenue}");
        }
        let run = self.start("the first request").await?;
        let question = r#"{"region":"north","quarter":3}"#;
        let call = self.call(run, "query_sales", question).await?;
        let result = NewArtifact::succeeded(call, table.clone(), MediaType::Csv);
        let older = self.talk.capture(result).await?;
        self.finish(run).await?;

        let run = self.start("with the fresh result raw").await?;
        let question = r#"{"quarter":3,"region":"north"}"#;
        let call = self.call(run, "query_sales", question).await?;
        table.push_str("north,2026-09,store-41,2517\n");
        let result = NewArtifact::succeeded(call, table, MediaType::Csv);
        let newer = self.talk.capture(result).await?;
        self.finish(run).await?;
        Ok((older, newer))
    }

    /// A failure that may be tried again stays in the requests until it is made good.
    async fn fail(&self) -> Result<(), Error> {
        let run = self.start("with the older result superseded").await?;
        let call = self
            .call(run, "send_mail", r#"{"to":"board@example.org"}"#)
            .await?;
        let error = "Error: mailbox is over its quota (code 452), try again after 18:00";
        self.talk
            .capture(NewArtifact::failed(call, error, true))
            .await?;
        self.finish(run).await
    }

    /// A call that waits for a person, a checkpoint, a memory that a model made, and a child that
    /// does research in the meantime.
    async fn wait_for_a_person(
        &self,
        older: Captured,
        newer: Captured,
    ) -> Result<(RunId, CallId), Error> {
        let run = self.start("with the error protected").await?;
        let call = self
            .call(run, "send_mail", r#"{"to":"board@example.org"}"#)
            .await?;
        let waiting = NewArtifact::open(call, Outcome::Deferred, "waiting for approval by Ines");
        self.talk.capture(waiting).await?;
        let checkpoint = TakeCheckpoint {
            participant: self.agent,
            branch: self.branch,
            run: Some(run),
            assembly: None,
            open_calls: vec![call],
            state: Some(b"step 4".to_vec()),
        };
        let checkpoint = self.talk.take_checkpoint(checkpoint).await?;
        if let Some(older) = older.memory {
            let memory = MemoryDraft {
                artifacts: vec![newer.artifact],
                summary: "north, Q3: 41 stores, store-41 is new".to_owned(),
                confidence: Confidence {
                    permille: 800,
                    source: ConfidenceSource::Model,
                    rationale: label("summary-by-model"),
                },
                extractor: label("gpt-4o-mini"),
                extractor_version: 1,
                subject: None,
                freshness: Freshness::Bounded,
                stale_after: None,
                revalidation: vec![label("query_sales")],
                ambiguities: Vec::new(),
                quotes: Vec::new(),
            };
            let memory = self.talk.derive(memory).await?;
            self.talk
                .supersede(memory, vec![older], label("covers-it"))
                .await?;
        }
        self.child().await?;
        let state = self.talk.restore_checkpoint(checkpoint, Some(run)).await?;
        let state = state.unwrap_or_default();
        println!(
            "restored runtime state: {}",
            String::from_utf8_lossy(&state)
        );
        Ok((run, call))
    }

    /// A child's scratch stays its own; its report, and what is promoted, reaches the parent.
    async fn child(&self) -> Result<(), Error> {
        let child = self
            .talk
            .start_child(self.agent, self.branch, None, "researcher", None)
            .await?;
        let brief = NewMessage::user(self.agent, "Find what moved the north in Q3.");
        let brief = NewMessage {
            visibility: Visibility::ParticipantPrivate,
            ..brief
        };
        self.talk.record_message(brief.on(child.branch)).await?;
        let run = StartRun {
            branch: Some(child.branch),
            runtime_kind: RuntimeKind::Child,
            ..StartRun::chat(child.participant)
        };
        let run = self.talk.start_run(run).await?;
        let call = self
            .call(run, "search_notes", r#"{"query":"north Q3"}"#)
            .await?;
        let notes = "three notes name store-41, opened 2026-09-02";
        let notes = NewArtifact::succeeded(call, notes, MediaType::Text);
        let notes = self.talk.capture(notes).await?;
        self.finish(run).await?;
        let report = Some("Store 41 opened in September and brings 2,517.");
        let status = ChildStatus::Succeeded;
        self.talk
            .finish_child(child.run, status, report, Privacy::Internal)
            .await?;
        if let Some(memory) = notes.memory {
            let promotion = Promote {
                record: RecordRef {
                    kind: RecordKind::Memory,
                    id: *memory.as_bytes(),
                },
                to: Visibility::Branch,
                branch: Some(self.branch),
                shared_with: Vec::new(),
                ground: label("cited-in-report"),
            };
            self.talk.promote(promotion).await?;
        }
        Ok(())
    }

    /// The parent goes on with the child's report and the open call, which is then resolved.
    async fn resume(&self, run: RunId, call: CallId) -> Result<(), Error> {
        let runtime_kind = RuntimeKind::ParentResume;
        let request = AssembleRequest {
            runtime_kind,
            ..self.request()
        };
        show("the parent resumed", &self.talk.assemble(request).await?);
        let result = NewArtifact::succeeded(call, "approved and sent", MediaType::Text);
        self.talk.resolve(result).await?;
        let said = NewMessage::assistant(self.agent, run, "The report is sent.");
        self.talk.record_message(said).await?;
        self.finish(run).await
    }

    /// Another branch leaves; then the main one needs the exact bytes of a result.
    async fn ask_for_exact_bytes(
        &self,
        engine: &Engine,
        newer: Captured,
    ) -> Result<Assembled, Error> {
        let position = engine.graph(self.talk.id(), None).await?.position();
        let branch = self.talk.fork(self.branch, position).await?;
        let elsewhere = NewMessage::user(self.user, "What if we wait?").on(branch);
        self.talk.record_message(elsewhere).await?;
        let question = NewMessage::user(self.user, "Thanks. And the exact table, please?");
        self.talk.record_message(question).await?;
        let request = AssembleRequest {
            exact: vec![newer.artifact],
            ..self.request()
        };
        let last = self.talk.assemble(request).await?;
        show("the last request", &last);
        Ok(last)
    }

    fn request(&self) -> AssembleRequest {
        AssembleRequest::chat(self.agent, label("openai"))
    }

    async fn call(&self, run: RunId, tool: &str, arguments: &str) -> Result<CallId, Error> {
        self.talk
            .request_call(NewCall::json(run, label(tool), arguments))
            .await
    }

    async fn start(&self, what: &str) -> Result<RunId, Error> {
        let assembled = self.talk.assemble(self.request()).await?;
        show(what, &assembled);
        let run = StartRun {
            assembly: Some(assembled.id),
            ..StartRun::chat(self.agent)
        };
        self.talk.start_run(run).await
    }

    async fn finish(&self, run: RunId) -> Result<(), Error> {
        let finish_reason = Some(label("tool_calls"));
        let ending = RunEnding::Finished {
            finish_reason,
            usage: None,
            model: None,
        };
        self.talk.end_run(run, ending).await
    }
}

fn label(text: &str) -> Label {
    Label::or_stand_in(text)
}

fn show(what: &str, assembled: &Assembled) {
    println!("--- {what}\n{}", assembly_text(&assembled.assembly));
}
