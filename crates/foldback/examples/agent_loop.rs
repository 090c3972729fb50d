//! A small agent with a scripted model, which uses the whole engine as a live runtime does.
//!
//! It records messages, runs and calls, captures results before they are shortened, waits for a
//! person, fails and tries again, derives, supersedes, promotes, forks a branch, starts and ends a
//! child, takes and restores a checkpoint, and prints what its next request holds at each turn.
//!
//! Run it with `cargo run --example agent_loop -p foldback`.

use foldback::event::kind::{ChildStatus, RecordRef};
use foldback::event::{
    Confidence, ConfidenceSource, Freshness, Label, MediaType, ParticipantId, Privacy, RecordKind,
    RunId, RuntimeKind, Visibility,
};
use foldback::{
    AssembleRequest, Assembled, Conversation, Engine, Error, MemoryDraft, NewArtifact, NewCall,
    NewConversation, NewFact, NewMessage, NewParticipant, NewSkill, NewSkills, Options, Outcome,
    Promote, RunEnding, StartRun, TakeCheckpoint, assembly_text,
};

fn label(text: &str) -> Label {
    Label::or_stand_in(text)
}

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
    talk.record_message(NewMessage::system(
        "You prepare reports. Ask before you send one.",
    ))
    .await?;
    talk.remember_fact(NewFact {
        participant: None,
        text: "prefers short answers".to_owned(),
        source: None,
        supersedes: Vec::new(),
        privacy: Privacy::Internal,
    })
    .await?;
    talk.change_skills(NewSkills {
        participant: agent,
        profile: Some(label("analyst")),
        skills: vec![
            NewSkill {
                name: label("tables"),
                text: Some("Round to whole euros.".to_owned()),
            },
            NewSkill {
                name: label("charts"),
                text: None,
            },
        ],
        direct_tools: vec![label("query_sales"), label("send_mail")],
        integrations: vec![label("drive")],
    })
    .await?;
    talk.record_message(NewMessage::user(
        opened.user,
        "Prepare the Q3 report for the north.",
    ))
    .await?;

    // A turn: assemble, start the run with that assembly, call a tool, capture its whole outcome.
    let run = start(&talk, agent, "the first request").await?;
    let call = talk
        .request_call(NewCall::json(
            run,
            label("query_sales"),
            r#"{"region":"north","quarter":3}"#,
        ))
        .await?;
    let rows: String = (1..=40)
        .map(|n| {
            format!(
                "north,2026-0{},store-{n:02},{}\n",
                7 + n % 3,
                1_000 + n * 37
            )
        })
        .collect();
    let table = format!("region,month,store,revenue\n{rows}");
    let first = talk
        .capture(NewArtifact::succeeded(call, table, MediaType::Csv))
        .await?;
    finish(&talk, run).await?;

    // The same question again: the newer memory supersedes the older one by itself.
    let run = start(&talk, agent, "with the fresh result raw").await?;
    let call = talk
        .request_call(NewCall::json(
            run,
            label("query_sales"),
            r#"{"quarter":3,"region":"north"}"#,
        ))
        .await?;
    let table = format!("region,month,store,revenue\n{rows}north,2026-09,store-41,2517\n");
    let second = talk
        .capture(NewArtifact::succeeded(call, table, MediaType::Csv))
        .await?;
    finish(&talk, run).await?;

    // A failure that may be tried again stays in the requests until it is made good.
    let run = start(&talk, agent, "with the older result superseded").await?;
    let mail = NewCall::json(run, label("send_mail"), r#"{"to":"board@example.org"}"#);
    let call = talk.request_call(mail.clone()).await?;
    let error = "Error: mailbox is over its quota (code 452), try again after 18:00";
    talk.capture(NewArtifact::failed(call, error, true)).await?;
    finish(&talk, run).await?;

    // A call that waits for a person: captured as deferred, resolved later.
    let run = start(&talk, agent, "with the error protected").await?;
    let call = talk.request_call(mail).await?;
    let waiting = NewArtifact::open(call, Outcome::Deferred, "waiting for approval by Ines");
    talk.capture(waiting).await?;
    let checkpoint = talk
        .take_checkpoint(TakeCheckpoint {
            participant: agent,
            branch: opened.branch,
            run: Some(run),
            assembly: None,
            open_calls: vec![call],
            state: Some(b"step 4".to_vec()),
        })
        .await?;

    // A child does research of its own. Its scratch stays private; its report reaches the parent.
    let child = talk
        .start_child(agent, opened.branch, None, "researcher", None)
        .await?;
    let brief = NewMessage::user(agent, "Find what moved the north in Q3.").on(child.branch);
    talk.record_message(NewMessage {
        visibility: Visibility::ParticipantPrivate,
        ..brief
    })
    .await?;
    let child_run = talk
        .start_run(StartRun {
            branch: Some(child.branch),
            runtime_kind: RuntimeKind::Child,
            ..StartRun::chat(child.participant)
        })
        .await?;
    let search = NewCall::json(child_run, label("search_notes"), r#"{"query":"north Q3"}"#);
    let search = talk.request_call(search).await?;
    let notes =
        NewArtifact::succeeded(search, "[scratch] three notes on store-41", MediaType::Text);
    let notes = talk.capture(notes).await?;
    finish(&talk, child_run).await?;
    let report = "Store 41 opened in September and brings 2,517.";
    talk.finish_child(
        child.run,
        ChildStatus::Succeeded,
        Some(report),
        Privacy::Internal,
    )
    .await?;
    if let Some(memory) = notes.memory {
        talk.promote(Promote {
            record: RecordRef {
                kind: RecordKind::Memory,
                id: *memory.as_bytes(),
            },
            to: Visibility::Branch,
            branch: Some(opened.branch),
            shared_with: vec![agent],
            ground: label("cited-in-report"),
        })
        .await?;
    }

    // The parent goes on from its checkpoint, with the child's report and the open call.
    let state = talk.restore_checkpoint(checkpoint, Some(run)).await?;
    println!(
        "restored runtime state: {}",
        String::from_utf8_lossy(&state.unwrap_or_default())
    );
    let request = AssembleRequest {
        runtime_kind: RuntimeKind::ParentResume,
        ..AssembleRequest::chat(agent, label("openai"))
    };
    show("the parent resumed", &talk.assemble(request).await?);
    talk.resolve(NewArtifact::succeeded(
        call,
        "approved and sent",
        MediaType::Text,
    ))
    .await?;
    let said = NewMessage::assistant(agent, run, "The report is sent.");
    talk.record_message(said).await?;
    finish(&talk, run).await?;

    // A memory that a model made, which says so.
    if let Some(older) = first.memory {
        let memory = talk
            .derive(MemoryDraft {
                artifacts: vec![second.artifact],
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
            })
            .await?;
        talk.supersede(memory, vec![older], label("covers-it"))
            .await?;
    }

    // Another branch leaves before the mail; what happens there stays there.
    let position = engine.graph(opened.id, None).await?.position();
    let branch = talk.fork(opened.branch, position).await?;
    talk.record_message(NewMessage::user(opened.user, "What if we wait?").on(branch))
        .await?;
    talk.record_message(NewMessage::user(
        opened.user,
        "Thanks. And the exact table, please?",
    ))
    .await?;
    let request = AssembleRequest {
        exact: vec![second.artifact],
        ..AssembleRequest::chat(agent, label("openai"))
    };
    let last = talk.assemble(request).await?;
    show("the last request", &last);
    println!(
        "as a provider gets it:\n{:#}",
        foldback::openai::render(&last.prompt)
    );

    let recorded = engine.recorded(opened.id, &last.id).await?;
    println!("why:");
    for explanation in recorded.explain() {
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

async fn start(talk: &Conversation<'_>, agent: ParticipantId, what: &str) -> Result<RunId, Error> {
    let assembled = talk
        .assemble(AssembleRequest::chat(agent, label("openai")))
        .await?;
    show(what, &assembled);
    let run = StartRun {
        assembly: Some(assembled.id),
        ..StartRun::chat(agent)
    };
    talk.start_run(run).await
}

async fn finish(talk: &Conversation<'_>, run: RunId) -> Result<(), Error> {
    let finish_reason = Some(label("tool_calls"));
    talk.end_run(
        run,
        RunEnding::Finished {
            finish_reason,
            usage: None,
            model: None,
        },
    )
    .await
}

fn show(what: &str, assembled: &Assembled) {
    println!("--- {what}\n{}", assembly_text(&assembled.assembly));
}
