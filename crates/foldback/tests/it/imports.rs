//! Importing: nothing is lost, nothing is doubled, and what is odd is said.

use crate::scene::{NIGHT_TRAIN, events, hashes, holds, import, import_with, marks, open, options};
use crate::sources::{
    CHILD_SECRET, calls, chat, result, says, session, session_text, short, taubench,
};
use foldback::event::{
    Body, CallStatus, ConversationId, MessageRole, Privacy, RecordKind, Visibility,
};
use foldback::{AssembleRequest, Engine, ImportOptions, ImportedConversation, RuntimeGraph};

fn memory() -> Engine {
    Engine::in_memory(options(0)).unwrap()
}

async fn graph(engine: &Engine, id: ConversationId) -> RuntimeGraph {
    engine.graph(id, None).await.unwrap()
}

/// Imports into an engine of its own and gives the one conversation.
async fn one(name: &str, text: &str) -> (Engine, ImportedConversation) {
    let engine = memory();
    let mut rows = import(&engine, name, text).await.unwrap();
    assert_eq!(rows.len(), 1);
    holds(&engine).await;
    let row = rows.remove(0);
    assert_eq!(row.events, marks(&engine, row.id).await.0 as u64);
    (engine, row)
}

#[tokio::test]
async fn the_same_file_twice_adds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (session, short, taubench) = (session_text(), chat(&short()), taubench());
    let files = [
        ("night-train.json", NIGHT_TRAIN, 1),
        ("tide-1.jsonl", &session, 1),
        ("short.json", &short, 1),
        ("airline.json", &taubench, 2),
    ];
    let mut engine = open(folder.path(), 0);
    for day in 1..4 {
        for (name, text, count) in files {
            let first = import(&engine, name, text).await.unwrap();
            assert_eq!(first.len(), count, "{name}");
            let mut before = Vec::new();
            for row in &first {
                before.push(hashes(&engine, row.id).await);
                assert_eq!(row.events > 0, day == 1, "{name} on day {day}: {row:?}");
            }
            let again = import(&engine, name, text).await.unwrap();
            for ((first, again), before) in first.iter().zip(&again).zip(before) {
                assert_eq!(hashes(&engine, again.id).await, before, "{name}");
                assert_eq!(again.events, 0, "{name}");
                assert!(again.already_present > 0);
                let same = |row: &ImportedConversation| ImportedConversation {
                    events: 0,
                    already_present: 0,
                    ..row.clone()
                };
                assert_eq!(same(again), same(first), "{name}");
            }
        }
        // Other names of the same files are the same conversations, where the content says who.
        let renamed = import(&engine, "copy.json", NIGHT_TRAIN).await.unwrap();
        assert_eq!(renamed[0].events, 0);
        drop(engine);
        engine = open(folder.path(), day);
    }
    assert_eq!(holds(&engine).await.conversations, 5);
}

#[tokio::test]
async fn a_call_id_that_is_used_again_names_another_call() {
    let messages = [
        says("user", "Tides?"),
        calls(&[("c", "tides", r#"{"port":"A"}"#)]),
        result("c", "high at 1"),
        calls(&[("c", "tides", r#"{"port":"B"}"#)]),
        result("c", "high at 2"),
        says("assistant", "1 and 2."),
    ];
    let (engine, row) = one("f.json", &chat(&messages)).await;
    let graph = graph(&engine, row.id).await;
    let results: Vec<(u32, usize)> = graph
        .calls()
        .map(|call| (call.arguments.tokens, call.artifacts.len()))
        .collect();
    assert_eq!(results.len(), 2);
    assert!(
        results.iter().all(|(_, artifacts)| *artifacts == 1),
        "{results:?}"
    );
}

#[tokio::test]
async fn an_orphan_result_is_kept_and_found() {
    let messages = [
        says("user", "Tides?"),
        result("nobody", "high at 1"),
        says("assistant", "1."),
    ];
    let (engine, row) = one("f.json", &chat(&messages)).await;
    let graph = graph(&engine, row.id).await;
    let artifact = graph.artifacts().next().expect("it is kept");
    assert_eq!(artifact.call, None);
    assert!(!row.findings.is_empty(), "{row:?}");
    let account = engine.account_of(&graph);
    let bytes = engine
        .payload(account, artifact.result.as_ref().unwrap())
        .unwrap();
    assert_eq!(bytes, b"high at 1");
}

#[tokio::test]
async fn a_call_without_a_result_is_found_and_does_not_break_a_request() {
    let messages = [
        says("user", "Tides?"),
        calls(&[("c1", "tides", "{}"), ("c2", "moon", "{}")]),
        result("c1", "high at 1"),
        says("assistant", "1, and no moon."),
        says("user", "Sure?"),
        says("assistant", "Yes."),
    ];
    let (engine, row) = one("f.json", &chat(&messages)).await;
    let graph = graph(&engine, row.id).await;
    assert_eq!(
        (
            graph.calls().count(),
            graph.artifacts().filter(|a| a.call.is_some()).count()
        ),
        (2, 1)
    );
    assert!(!row.findings.is_empty(), "{row:?}");
}

#[tokio::test]
async fn a_call_id_for_another_call_in_one_message_is_found() {
    let messages = [
        says("user", "Tides?"),
        calls(&[("c", "tides", r#"{"port":"A"}"#), ("c", "moon", "{}")]),
        result("c", "high at 1"),
        result("c", "full"),
        says("assistant", "1, and full."),
    ];
    let (engine, row) = one("f.json", &chat(&messages)).await;
    let graph = graph(&engine, row.id).await;
    assert_eq!(graph.calls().count(), 2, "neither is lost");
    assert_eq!(graph.artifacts().count(), 2, "neither is lost");
    assert!(!row.findings.is_empty(), "{row:?}");
}

#[tokio::test]
async fn malformed_arguments_are_kept_to_the_byte() {
    let odd = "{\"port\": \"A\", \u{7}oops";
    let messages = [
        says("user", "Tides?"),
        calls(&[("c", "tides", odd)]),
        result("c", "Error: arguments"),
        says("assistant", "Sorry."),
    ];
    let (engine, row) = one("f.json", &chat(&messages)).await;
    let graph = graph(&engine, row.id).await;
    let call = graph.calls().next().unwrap();
    let bytes = engine
        .payload(engine.account_of(&graph), &call.arguments)
        .unwrap();
    assert_eq!(bytes, odd.as_bytes());
}

async fn kept(engine: &Engine, id: ConversationId) -> Vec<(String, Vec<u8>)> {
    let account = engine.account_of(&graph(engine, id).await);
    let kept = events(engine, id)
        .await
        .into_iter()
        .filter_map(|event| match event.body {
            Body::SourceRecordKept(body) => {
                let bytes = engine.payload(account, &body.content).unwrap();
                Some((body.code.to_string(), bytes))
            }
            _ => None,
        });
    kept.collect()
}

#[tokio::test]
async fn lines_that_are_no_message_are_kept_to_the_byte() {
    let broken = "{\"type\":\"user\",\"uuid\":\"lost\",  \"mess";
    let number = "[2]";
    let unknown =
        "{\"type\":\"tide-gauge\",  \"uuid\":\"g\" ,\"sessionId\":\"tide-1\",\"height\":4.10}";
    let mut lines = session();
    for (at, line) in [(9, broken), (10, number), (11, unknown)] {
        lines.insert(at, line.to_owned());
    }
    let (engine, row) = one("tide-1.jsonl", &(lines.join("\n") + "\n")).await;
    let kept = kept(&engine, row.id).await;
    for line in [broken, number, unknown, &lines[0]] {
        let found = kept
            .iter()
            .filter(|(_, bytes)| bytes == line.as_bytes())
            .count();
        assert_eq!(found, 1, "`{line}` in {kept:?}");
    }
    assert!(
        row.findings.values().sum::<u64>() >= 2,
        "{:?}",
        row.findings
    );
}

#[tokio::test]
async fn what_a_chat_holds_beside_its_messages_is_kept() {
    let text = format!(
        "{{\"model\":\"gpt-4o\",\"temperature\": 0.50,\"messages\":{},\"tools\":[ {{\"x\":1}} ]}}",
        chat(&short())
    );
    let (engine, row) = one("f.json", &text).await;
    let kept = kept(&engine, row.id).await;
    let all: Vec<String> = kept
        .iter()
        .map(|(_, bytes)| String::from_utf8(bytes.clone()).unwrap())
        .collect();
    assert!(
        all.iter()
            .any(|text| text.contains("0.50") && text.contains("[ {\"x\":1} ]")),
        "{all:?}"
    );
}

#[tokio::test]
async fn a_child_agent_is_private_and_its_words_reach_nobody() {
    let (engine, row) = one("tide-1.jsonl", &session_text()).await;
    let graph = graph(&engine, row.id).await;
    let child = graph.children().next().expect("a child");
    let mut private = 0;
    for (position, record) in graph.records() {
        let common = graph.common(record).unwrap();
        let owns = common.ownership.owner_participant == Some(child.participant);
        if common.ownership.branch == child.branch {
            assert_eq!(
                common.ownership.visibility,
                Visibility::ParticipantPrivate,
                "{position}"
            );
            assert!(owns, "{position}");
            private += 1;
        }
    }
    assert!(private >= 4, "{private}");
    let text = foldback::graph_text(&graph);
    let main = graph
        .participants()
        .find(|p| p.kind.name() == "model")
        .unwrap();
    let request = AssembleRequest::chat(main.id, crate::scene::label("anthropic"));
    let branches: Vec<_> = graph.branches().map(|branch| branch.id).collect();
    for branch in branches
        .into_iter()
        .filter(|branch| *branch != child.branch)
    {
        let request = AssembleRequest {
            branch: Some(branch),
            ..request.clone()
        };
        let assembled = engine.conversation(row.id).assemble(request).await.unwrap();
        let rendered = foldback::anthropic::render(&assembled.prompt).to_string();
        assert!(!rendered.contains(CHILD_SECRET), "{text}\n{rendered}");
    }
    // The child itself does see it.
    let request = AssembleRequest {
        participant: child.participant,
        branch: Some(child.branch),
        runtime_kind: foldback::event::RuntimeKind::Child,
        ..request
    };
    let assembled = engine.conversation(row.id).assemble(request).await.unwrap();
    let rendered = foldback::anthropic::render(&assembled.prompt).to_string();
    assert!(rendered.contains(CHILD_SECRET), "{rendered}");
    assert!(
        !rendered.contains("out of date"),
        "it inherits nothing: {rendered}"
    );
}

#[tokio::test]
async fn a_session_keeps_its_branches_and_its_compaction() {
    let (engine, row) = one("tide-1.jsonl", &session_text()).await;
    let graph = graph(&engine, row.id).await;
    // Main, the one that left at a5, and the child's.
    assert!(
        graph.branches().count() >= 3,
        "{}",
        foldback::graph_text(&graph)
    );
    assert!(graph.branches().any(|branch| branch.parent.is_some()));
    let mut summary = None;
    for message in graph.messages() {
        let text = engine
            .text_of(&graph, &message.content)
            .unwrap()
            .or_notice();
        if text.starts_with("Summary:") {
            summary = Some(message.role);
        }
    }
    assert_eq!(
        summary,
        Some(MessageRole::Summary),
        "the summary is told from what people said"
    );
    assert_eq!(row.tool_calls, 5);
    assert_eq!(row.artifacts, 5);
    let failed = graph
        .artifacts()
        .filter(|artifact| artifact.status == CallStatus::Failed);
    assert_eq!(failed.count(), 1);
}

#[tokio::test]
async fn the_callers_privacy_and_visibility_are_applied() {
    let engine = memory();
    let account = foldback::event::AccountId::from_source(&[3; 16], "ines");
    let options = ImportOptions {
        account: Some(account),
        privacy: Privacy::Personal,
        visibility: Visibility::Conversation,
        format: None,
        ..ImportOptions::default()
    };
    let rows = import_with(&engine, "tide-1.jsonl", &session_text(), &options)
        .await
        .unwrap();
    let graph = graph(&engine, rows[0].id).await;
    assert_eq!(engine.account_of(&graph), account);
    let child = graph.children().next().unwrap().branch;
    for (position, record) in graph.records() {
        let common = graph.common(record).unwrap();
        // That a child ended is for its parent alone, whatever the caller chose.
        if record.kind == RecordKind::Child {
            assert_eq!(common.ownership.visibility, Visibility::ParticipantPrivate);
            continue;
        }
        assert_eq!(common.privacy, Privacy::Personal, "{position}");
        let wanted = if common.ownership.branch == child {
            Visibility::ParticipantPrivate
        } else {
            Visibility::Conversation
        };
        assert_eq!(common.ownership.visibility, wanted, "{position} {record:?}");
    }
    // Under another account it is another conversation.
    let other = import(&engine, "tide-1.jsonl", &session_text())
        .await
        .unwrap();
    assert_ne!(other[0].id, rows[0].id);
    assert!(other[0].events > 0);
}
