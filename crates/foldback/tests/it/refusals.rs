//! What cannot be done is refused with its code, and a refused command leaves no trace.

mod unknown;

use crate::scene::{Stage, command, label, open, options};
use foldback::event::kind::{ChildStatus, ConversationErased, RecordRef};
use foldback::event::{
    Actor, ArtifactId, BatchId, Body, BranchId, Confidence, ConfidenceSource, ConversationId,
    Envelope, Event, EventId, Freshness, GENESIS, Label, MediaType, MemoryId, Micros,
    ParticipantId, Privacy, RecordKind, Visibility, chain_hash,
};
use foldback::{
    AssembleRequest, Conversation, Engine, Error, MemoryDraft, NewArtifact, NewCall, NewFact,
    NewMessage, Outcome, Promote, RunEnding, TakeCheckpoint,
};
use foldback_store::{EventLog, FileLog, LogOptions, NewEvent};
use std::path::Path;

/// Gives a command that must be refused, and checks that it left nothing.
async fn refused<T: std::fmt::Debug>(
    stage: &Stage,
    code: &str,
    says: &str,
    run: impl AsyncFn(Conversation<'_>) -> Result<T, Error>,
) {
    let (marks, text) = (stage.marks().await, stage.text().await);
    for talk in [stage.talk(), stage.talk().command(command("refused"))] {
        let error = run(talk).await.expect_err(says);
        assert_eq!(error.code(), code, "{error}");
        assert!(error.to_string().contains(says), "`{error}` lacks `{says}`");
        assert!(Error::CODES.contains(&error.code()));
        assert_eq!(stage.marks().await, marks, "{says}: it wrote");
        assert_eq!(stage.text().await, text, "{says}: the graph moved");
    }
}

fn nobody() -> ParticipantId {
    ParticipantId::from_bytes([7; 16])
}

fn nowhere() -> BranchId {
    BranchId::from_bytes([7; 16])
}

fn ended() -> RunEnding {
    RunEnding::Finished {
        finish_reason: None,
        usage: None,
        model: None,
    }
}

fn fact(stage: &Stage) -> NewFact {
    NewFact {
        participant: Some(stage.agent),
        text: "sleeps low".to_owned(),
        source: None,
        supersedes: vec![],
        privacy: Privacy::Internal,
    }
}

fn checkpoint(stage: &Stage) -> TakeCheckpoint {
    TakeCheckpoint {
        participant: stage.agent,
        branch: stage.opened.branch,
        run: None,
        assembly: None,
        open_calls: vec![],
        state: Some(b"state".to_vec()),
    }
}

fn memory(artifacts: Vec<ArtifactId>) -> MemoryDraft {
    MemoryDraft {
        artifacts,
        summary: "s".to_owned(),
        confidence: Confidence {
            permille: 1,
            source: ConfidenceSource::Model,
            rationale: label("guess"),
        },
        extractor: label("model"),
        extractor_version: 1,
        subject: None,
        freshness: Freshness::Durable,
        stale_after: None,
        revalidation: vec![],
        ambiguities: vec![],
        quotes: Vec::new(),
    }
}

fn promotion(memory: MemoryId, to: Visibility) -> Promote {
    Promote {
        record: RecordRef {
            kind: RecordKind::Memory,
            id: *memory.as_bytes(),
        },
        to,
        branch: None,
        shared_with: vec![],
        ground: label("asked"),
    }
}

#[tokio::test]
async fn what_is_done_already_is_refused() {
    let stage = Stage::new().await;
    let agent = stage.agent;
    let run = stage.run().await;
    let found = stage.ask(run, "t", "{}", r#"{"a":1}"#).await;
    let call = stage
        .graph()
        .await
        .artifact(&found.artifact)
        .unwrap()
        .call
        .unwrap();
    let pending = stage.call(run, "u", "{}").await;
    let open = NewArtifact::open(pending, Outcome::Pending, "runs");
    stage.talk().capture(open).await.unwrap();
    let untouched = stage.call(run, "v", "{}").await;
    let said = NewMessage::assistant(agent, run, "said");
    let said = stage.talk().record_message(said).await.unwrap();
    let child = stage
        .talk()
        .start_child(agent, stage.opened.branch, None, "c", None)
        .await
        .unwrap();
    let end = async |status| {
        let talk = stage.talk();
        talk.finish_child(child.run, status, None, Privacy::Internal)
            .await
    };
    end(ChildStatus::Cancelled).await.unwrap();

    let text = |call| NewArtifact::succeeded(call, "again", MediaType::Text);
    refused(&stage, "FB0016", "has its outcome", async |t| {
        t.capture(text(call)).await
    })
    .await;
    // An open call is resolved, not captured again.
    refused(&stage, "FB0016", "has its outcome", async |t| {
        t.capture(text(pending)).await
    })
    .await;
    refused(&stage, "FB0016", "is not pending", async |t| {
        t.resolve(text(call)).await
    })
    .await;
    refused(&stage, "FB0016", "is not pending", async |t| {
        t.resolve(text(untouched)).await
    })
    .await;
    refused(&stage, "FB0016", "is final already", async |t| {
        t.finalize_message(said, None, Visibility::Branch).await
    })
    .await;
    refused(&stage, "FB0016", "has ended", async |t| {
        let status = ChildStatus::Succeeded;
        t.finish_child(child.run, status, Some("late"), Privacy::Internal)
            .await
    })
    .await;
    stage.talk().resolve(text(pending)).await.unwrap();
    refused(&stage, "FB0016", "is not pending", async |t| {
        t.resolve(text(pending)).await
    })
    .await;
    stage.talk().end_run(run, ended()).await.unwrap();
    refused(&stage, "FB0016", "has ended", async |t| {
        t.end_run(run, ended()).await
    })
    .await;
    refused(&stage, "FB0016", "has ended", async |t| {
        t.request_call(NewCall::json(run, label("t"), "{}")).await
    })
    .await;
    refused(&stage, "FB0016", "has ended", async |t| {
        t.record_message(NewMessage::assistant(agent, run, "late"))
            .await
    })
    .await;
    // A result may come after its run has ended: tools outlive requests.
    stage.talk().capture(text(untouched)).await.unwrap();
}

#[tokio::test]
async fn a_promotion_widens_or_is_refused() {
    let stage = Stage::new().await;
    let run = stage.run().await;
    let memory = stage
        .ask(run, "t", "{}", r#"{"a":1}"#)
        .await
        .memory
        .unwrap();
    let says = "widens nothing";
    for to in [Visibility::ParticipantPrivate, Visibility::AuditOnly] {
        refused(&stage, "FB0016", says, async |t| {
            t.promote(promotion(memory, to)).await
        })
        .await;
    }
    refused(&stage, "FB0012", "participant `", async |t| {
        t.promote(Promote {
            shared_with: vec![nobody()],
            ..promotion(memory, Visibility::ParticipantPrivate)
        })
        .await
    })
    .await;
    refused(&stage, "FB0012", "branch `", async |t| {
        t.promote(Promote {
            branch: Some(nowhere()),
            ..promotion(memory, Visibility::Branch)
        })
        .await
    })
    .await;
    let promote = promotion(memory, Visibility::Conversation);
    stage.talk().promote(promote).await.unwrap();
    for to in [Visibility::Branch, Visibility::Conversation] {
        refused(&stage, "FB0016", says, async |t| {
            t.promote(promotion(memory, to)).await
        })
        .await;
    }
}

#[tokio::test]
async fn a_command_that_expects_another_position_is_refused() {
    let stage = Stage::new().await;
    let end = stage.marks().await.0 as u64;
    let user = stage.opened.user;
    for expected in [0, end - 1, end + 1] {
        refused(&stage, "FB0011", "the command expected", async |t| {
            t.expecting(expected)
                .record_message(NewMessage::user(user, "x"))
                .await
        })
        .await;
        refused(&stage, "FB0011", "the command expected", async |t| {
            t.expecting(expected).assemble(stage.chat()).await
        })
        .await;
    }
    let talk = stage.talk().expecting(end);
    talk.record_message(NewMessage::user(user, "x"))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_budget_below_the_floor_is_refused_and_leaves_no_policy_behind() {
    let stage = Stage::new().await;
    let message = NewMessage::user(stage.opened.user, &"a long question ".repeat(40));
    stage.talk().record_message(message).await.unwrap();
    refused(&stage, "FB0017", "below the", async |t| {
        let budget_tokens = Some(3);
        t.assemble(AssembleRequest {
            budget_tokens,
            ..stage.chat()
        })
        .await
    })
    .await;
}

#[tokio::test]
async fn an_id_of_another_command_is_refused() {
    let stage = Stage::new().await;
    let user = stage.opened.user;
    let run = stage.run().await;
    let call = stage.call(run, "t", "{}").await;
    let id = command("said");
    let message = NewMessage::user(user, "x");
    let talk = stage.talk().command(id);
    talk.record_message(message).await.unwrap();
    // Its events would be no answer: an artifact's id made of a message's event names nothing.
    refused(&stage, "FB0016", "another command", async |t| {
        let result = NewArtifact::succeeded(call, "x", MediaType::Text);
        t.command(id).capture(result).await
    })
    .await;
    refused(&stage, "FB0016", "another command", async |t| {
        t.command(id).assemble(stage.chat()).await
    })
    .await;
}

#[tokio::test]
async fn an_unknown_conversation_takes_no_command() {
    let engine = Engine::in_memory(options(0)).unwrap();
    let id = ConversationId::from_source(&[1; 16], "never");
    let talk = engine.conversation(id);
    let error = talk
        .record_message(NewMessage::system("x"))
        .await
        .unwrap_err();
    assert_eq!(error.code(), "FB0012");
    assert_eq!(engine.conversation_ids().await.unwrap(), []);
}

/// Appends one event to a store that no engine has open, chained as it must be.
pub(crate) async fn append(path: &Path, id: ConversationId, body: Body) {
    let (log, _) = FileLog::open(path, LogOptions::default()).unwrap();
    let head = log.head(id).await.unwrap();
    let (version, previous) = head.map_or((0, GENESIS), |head| (head.version, head.hash));
    let event_id = EventId::from_source(id.as_bytes(), &format!("appended {version}"));
    let event = Event {
        envelope: Envelope {
            conversation: id,
            version: version + 1,
            event_id,
            recorded_at: Micros(crate::scene::START + 40 * 86_400_000_000),
            occurred_at: None,
            actor: Actor::ENGINE,
            causation: None,
            correlation: None,
        },
        body,
    };
    let record = event.encode().unwrap();
    let hash = chain_hash(&previous, &record);
    let new = NewEvent {
        event_id,
        record,
        hash,
    };
    let batch = BatchId::from_source(event_id.as_bytes(), "append");
    log.append(id, version, batch, vec![new]).await.unwrap();
    log.close().await;
}

pub(crate) async fn erase(path: &Path, id: ConversationId) {
    let ground = Label::new("asked-for").unwrap();
    append(path, id, ConversationErased { ground }.into()).await;
}

#[tokio::test]
async fn an_erased_conversation_takes_no_command() {
    let folder = tempfile::tempdir().unwrap();
    let stage = Stage::on(open(folder.path(), 0)).await;
    let run = stage.run().await;
    let checkpoint = stage
        .talk()
        .take_checkpoint(checkpoint(&stage))
        .await
        .unwrap();
    let (opened, agent) = (stage.opened, stage.agent);
    drop(stage);
    erase(folder.path(), opened.id).await;
    let engine = open(folder.path(), 1);
    let stage = Stage {
        engine,
        opened,
        agent,
    };
    let user = opened.user;
    refused(&stage, "FB0015", "was erased", async |t| {
        t.record_message(NewMessage::user(user, "x")).await
    })
    .await;
    refused(&stage, "FB0015", "was erased", async |t| {
        t.restore_checkpoint(checkpoint, Some(run)).await
    })
    .await;
    refused(&stage, "FB0015", "was erased", async |t| {
        t.assemble(stage.chat()).await
    })
    .await;
    refused(&stage, "FB0015", "was erased", async |t| {
        t.fork(opened.branch, 1).await
    })
    .await;
}
