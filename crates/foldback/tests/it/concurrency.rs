//! Many writers at once: nothing is lost, nothing is doubled, and one wins where one may.

use crate::scene::{Stage, command, holds, open};
use foldback::event::{Body, ConversationId, MediaType, MessageId, RecordKind};
use foldback::{Engine, NewArtifact, NewConversation, NewMessage, PayloadText};
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::task::JoinSet;

const TASKS: usize = 50;

/// The texts of a conversation's user messages, in order.
async fn said(engine: &Engine, id: ConversationId) -> Vec<String> {
    let graph = engine.graph(id, None).await.unwrap();
    let messages = graph.records().filter_map(|(_, record)| {
        let id = MessageId::from_bytes(record.id);
        (record.kind == RecordKind::Message).then(|| graph.message(&id).unwrap())
    });
    let texts = messages.map(
        |message| match engine.text_of(&graph, &message.content).unwrap() {
            PayloadText::Text(text) => text,
            other => panic!("{other:?}"),
        },
    );
    texts.collect()
}

async fn dense(engine: &Engine, id: ConversationId) -> usize {
    let rows = engine.events(id).await.unwrap();
    for (index, row) in rows.iter().enumerate() {
        assert_eq!(row.event.envelope.version, index as u64 + 1);
    }
    rows.len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fifty_tasks_write_to_one_conversation() {
    let folder = tempfile::tempdir().unwrap();
    let stage = Stage::on(open(folder.path(), 0)).await;
    let (opened, agent) = (stage.opened, stage.agent);
    let before = stage.marks().await.0;
    let engine = Arc::new(stage.engine);
    let mut tasks = JoinSet::new();
    for n in 0..TASKS {
        let engine = Arc::clone(&engine);
        tasks.spawn(async move {
            let talk = engine.conversation(opened.id);
            let text = format!("message {n:02}");
            talk.record_message(NewMessage::user(opened.user, &text))
                .await
                .unwrap();
            let run = talk
                .start_run(foldback::StartRun::chat(agent))
                .await
                .unwrap();
            let new = foldback::NewCall::json(run, crate::scene::label("t"), "{}");
            let call = talk.request_call(new).await.unwrap();
            let result = NewArtifact::succeeded(call, text, MediaType::Text);
            talk.capture(result).await.unwrap();
        });
    }
    tasks.join_all().await;
    let graph = engine.graph(opened.id, None).await.unwrap();
    assert_eq!(graph.artifacts().count(), TASKS);
    assert_eq!(graph.findings(), []);
    let texts = said(&engine, opened.id).await;
    let unique: BTreeSet<&String> = texts.iter().collect();
    assert_eq!((texts.len(), unique.len()), (TASKS, TASKS));
    assert!(dense(&engine, opened.id).await >= before + 4 * TASKS);
    holds(&engine).await;
    drop(engine);
    assert_eq!(said(&open(folder.path(), 1), opened.id).await, texts);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fifty_tasks_write_to_as_many_conversations() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Arc::new(open(folder.path(), 0));
    let mut tasks = JoinSet::new();
    for n in 0..TASKS {
        let engine = Arc::clone(&engine);
        tasks.spawn(async move {
            let new = NewConversation::titled(&format!("talk {n:02}"));
            let opened = engine.open_conversation(new).await.unwrap();
            let talk = engine.conversation(opened.id);
            for m in 0..6 {
                let message = NewMessage::user(opened.user, &format!("{n} {m}"));
                talk.record_message(message).await.unwrap();
            }
            (opened.id, n)
        });
    }
    for (id, n) in tasks.join_all().await {
        let wanted: Vec<String> = (0..6).map(|m| format!("{n} {m}")).collect();
        assert_eq!(
            said(&engine, id).await,
            wanted,
            "in the order they were said"
        );
        assert_eq!(dense(&engine, id).await, 8);
    }
    assert_eq!(holds(&engine).await.conversations, TASKS as u64);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_all_that_expect_one_position_exactly_one_wins() {
    let stage = Stage::new().await;
    let opened = stage.opened;
    let engine = Arc::new(stage.engine);
    let begin = dense(&engine, opened.id).await as u64;
    for round in 0..20 {
        let mut tasks = JoinSet::new();
        for n in 0..8 {
            let engine = Arc::clone(&engine);
            tasks.spawn(async move {
                let talk = engine.conversation(opened.id).expecting(begin + round);
                let message = NewMessage::user(opened.user, &format!("{round} by {n}"));
                talk.record_message(message).await
            });
        }
        let results = tasks.join_all().await;
        let refused: Vec<&str> = results
            .iter()
            .filter_map(|result| result.as_ref().err().map(foldback::Error::code))
            .collect();
        assert_eq!(refused, ["FB0011"; 7], "round {round}");
    }
    assert_eq!(dense(&engine, opened.id).await as u64, begin + 20);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_command_given_by_many_at_once_is_carried_out_once() {
    let stage = Stage::new().await;
    let opened = stage.opened;
    let engine = Arc::new(stage.engine);
    let before = dense(&engine, opened.id).await;
    let mut tasks = JoinSet::new();
    for _ in 0..TASKS {
        let engine = Arc::clone(&engine);
        tasks.spawn(async move {
            let talk = engine.conversation(opened.id).command(command("once"));
            let message = NewMessage::user(opened.user, "once");
            talk.record_message(message).await.unwrap()
        });
    }
    let ids: BTreeSet<_> = tasks.join_all().await.into_iter().collect();
    assert_eq!(ids.len(), 1);
    assert_eq!(dense(&engine, opened.id).await, before + 1);
}

#[tokio::test]
async fn a_command_that_is_given_up_leaves_the_conversation_usable() {
    let stage = Stage::new().await;
    let user = stage.opened.user;
    for n in 0..20 {
        let talk = stage.talk();
        let write = talk.record_message(NewMessage::user(user, "given up"));
        // Polled n times, then dropped: it is written whole or not at all.
        let mut write = std::pin::pin!(write);
        for _ in 0..n {
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            if write.as_mut().poll(&mut context).is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
    }
    stage
        .talk()
        .record_message(NewMessage::user(user, "last"))
        .await
        .unwrap();
    let rows = stage.engine.events(stage.opened.id).await.unwrap();
    assert!(matches!(
        rows.last().unwrap().event.body,
        Body::MessageRecorded(_)
    ));
    assert_eq!(dense(&stage.engine, stage.opened.id).await, rows.len());
    assert_eq!(stage.graph().await.position(), rows.len() as u64);
    holds(&stage.engine).await;
}
