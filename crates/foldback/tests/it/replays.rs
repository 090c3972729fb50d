//! A replayed conversation verifies wherever and whenever it is folded again.

use crate::scene::{NIGHT_TRAIN, Stage, hashes, holds, import, marks, open, options, replay};
use crate::script::Script;
use crate::sources::{chat, session_text, short, taubench};
use foldback::event::{ConversationId, Reason};
use foldback::{Engine, Options, PolicyDocument, Replay};
use std::path::Path;

/// Fills a store with a file of each kind and replays them.
async fn fill(engine: &Engine) -> Vec<(ConversationId, Replay)> {
    let (session, short, taubench) = (session_text(), chat(&short()), taubench());
    let files = [
        ("night-train.json", NIGHT_TRAIN),
        ("tide-1.jsonl", &session),
        ("short.json", &short),
        ("airline.json", &taubench),
    ];
    let mut out = Vec::new();
    for (name, text) in files {
        for row in import(engine, name, text).await.unwrap() {
            out.push((row.id, replay(engine, row.id).await));
        }
    }
    out
}

async fn the_same(engine: &Engine, all: &[(ConversationId, Replay)]) {
    let found = holds(engine).await;
    let count: usize = all.iter().map(|(_, replay)| replay.requests.len()).sum();
    assert_eq!(found.assemblies, count as u64);
    assert!(count > 20, "{count}");
    assert_eq!(found.memories_skipped, 0);
    for (id, before) in all {
        for request in &before.requests {
            let recorded = engine.recorded(*id, &request.assembly).await.unwrap();
            assert_eq!(recorded.differences, Vec::<&str>::new());
            assert_eq!(recorded.assembly.tokens.assembled, request.assembled_tokens);
            assert_eq!(recorded.graph.position(), request.position);
        }
    }
}

async fn all_hashes(engine: &Engine, all: &[(ConversationId, Replay)]) -> Vec<Vec<String>> {
    let mut out = Vec::new();
    for (id, _) in all {
        let hashes = hashes(engine, *id).await;
        out.push(hashes.iter().map(ToString::to_string).collect());
    }
    out
}

pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}

#[tokio::test]
async fn every_assembly_reproduces_and_replaying_again_adds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path(), 0);
    let all = fill(&engine).await;
    the_same(&engine, &all).await;
    let before = all_hashes(&engine, &all).await;
    for (id, first) in &all {
        assert_eq!(&replay(&engine, *id).await, first);
    }
    assert_eq!(all_hashes(&engine, &all).await, before);
    drop(engine);

    // In another process, after the caches are deleted, and beside a writer.
    let engine = open(folder.path(), 1);
    the_same(&engine, &all).await;
    for (id, first) in &all {
        assert_eq!(&replay(&engine, *id).await, first);
    }
    assert_eq!(all_hashes(&engine, &all).await, before);
    let read_only = Options {
        read_only: true,
        create: false,
        ..options(2)
    };
    let reader = Engine::open(folder.path(), read_only).unwrap();
    the_same(&reader, &all).await;
    let error = reader
        .replay(all[0].0, &other_policy(), |_, _| Ok(()))
        .await;
    assert!(error.is_err(), "a reader writes nothing");
    drop((reader, engine));
    std::fs::remove_dir_all(folder.path().join("cache")).unwrap();
    let engine = open(folder.path(), 3);
    the_same(&engine, &all).await;
    assert_eq!(all_hashes(&engine, &all).await, before);
    drop(engine);

    // Moved to another place.
    let elsewhere = tempfile::tempdir().unwrap();
    copy(folder.path(), elsewhere.path());
    let engine = open(elsewhere.path(), 4);
    the_same(&engine, &all).await;
}

fn other_policy() -> PolicyDocument {
    let text = PolicyDocument::builtin().unwrap().text().to_owned();
    PolicyDocument::parse(&format!("{text}\n# another\n")).unwrap()
}

#[tokio::test]
async fn another_policy_gives_assemblies_of_its_own() {
    let engine = Engine::in_memory(options(0)).unwrap();
    let row = import(&engine, "short.json", &chat(&short()))
        .await
        .unwrap()
        .remove(0);
    let first = replay(&engine, row.id).await;
    let before = marks(&engine, row.id).await.0;
    let policy = other_policy();
    let second = engine.replay(row.id, &policy, |_, _| Ok(())).await.unwrap();
    assert_eq!(first.requests.len(), second.requests.len());
    for (one, two) in first.requests.iter().zip(&second.requests) {
        assert_ne!(one.assembly, two.assembly);
        assert_eq!(one.assembled_tokens, two.assembled_tokens);
    }
    let after = marks(&engine, row.id).await.0;
    assert_eq!(
        after - before,
        second.requests.len() + 2,
        "registered and activated"
    );
    // Going back finds the first ones.
    assert_eq!(replay(&engine, row.id).await, first);
    assert_eq!(marks(&engine, row.id).await.0, after);
    holds(&engine).await;
}

#[tokio::test]
async fn a_grown_conversation_is_replayed_on() {
    let engine = Engine::in_memory(options(0)).unwrap();
    let messages = short();
    let row = import(&engine, "s.json", &chat(&messages[..5]))
        .await
        .unwrap()
        .remove(0);
    let first = replay(&engine, row.id).await;
    import(&engine, "s.json", &chat(&messages)).await.unwrap();
    let second = replay(&engine, row.id).await;
    assert_eq!(second.requests[..first.requests.len()], first.requests[..]);
    assert_eq!(second.requests.len(), 4);
    let found = holds(&engine).await;
    assert_eq!(found.assemblies, 4, "none is recorded twice");
}

#[tokio::test]
async fn a_live_session_replays_like_an_imported_one() {
    let stage = Stage::new().await;
    Script::new(&stage, false).play().await;
    let replayed = replay(&stage.engine, stage.opened.id).await;
    assert_eq!(replayed.requests.len(), 4, "one for each run");
    let marks = stage.marks().await;
    assert_eq!(replay(&stage.engine, stage.opened.id).await, replayed);
    assert_eq!(stage.marks().await, marks);
    holds(&stage.engine).await;
}

#[tokio::test]
async fn old_results_leave_the_requests_of_a_long_chat() {
    let engine = Engine::in_memory(options(0)).unwrap();
    let row = import(&engine, "night-train.json", NIGHT_TRAIN)
        .await
        .unwrap()
        .remove(0);
    let replayed = replay(&engine, row.id).await;
    let last = replayed.requests.last().unwrap();
    assert!(last.assembled_tokens < last.replay_tokens, "{last:?}");
    assert!(last.omitted.values().sum::<u64>() > 0);
    assert!(
        !last.omitted.contains_key(&Reason::Budget),
        "nothing competes for room here"
    );
    for request in &replayed.requests {
        let recorded = engine.recorded(row.id, &request.assembly).await.unwrap();
        let candidates = recorded.assembly.decisions.len() as u64;
        let out: u64 = request.omitted.values().sum();
        let kept = recorded.assembly.decisions.iter();
        let kept = kept
            .filter(|decision| decision.presentation.is_some())
            .count() as u64;
        assert_eq!(kept + out, candidates, "every candidate has one verdict");
    }
    let nobody = ConversationId::from_source(&[1; 16], "nobody");
    let policy = PolicyDocument::builtin().unwrap();
    let error = engine
        .replay(nobody, &policy, |_, _| Ok(()))
        .await
        .unwrap_err();
    assert_eq!(error.code(), "FB0012");
}
