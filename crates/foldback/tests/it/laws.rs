//! Laws 1 and 9: the graph at any position is one thing, however it is come by, and the same
//! commands give the same events.

use crate::scene::{Stage, events, open, options};
use crate::script::Script;
use foldback::event::{Body, Digest, Event};
use foldback::{Engine, RuntimeGraph, graph_text};

#[tokio::test]
async fn at_every_position_the_fold_is_what_stood_when_the_event_was_appended() {
    let folder = tempfile::tempdir().unwrap();
    let stage = Stage::on(open(folder.path(), 0)).await;
    // While the session is played, each command's end is photographed.
    let mut photographs = vec![(stage.graph().await.position(), stage.text().await)];
    {
        let mut script = Script::new(&stage, false);
        script.photographs = Some(Vec::new());
        script.play().await;
        photographs.extend(script.photographs.take().unwrap());
    }
    assert!(photographs.len() > 35);
    let all = events(&stage.engine, stage.opened.id).await;
    for round in 0..2 {
        let engine = if round == 0 {
            &stage.engine
        } else {
            &Engine::open(
                folder.path(),
                foldback::Options {
                    read_only: true,
                    ..options(1)
                },
            )
            .unwrap()
        };
        let mut step = RuntimeGraph::default();
        for (index, event) in all.iter().enumerate() {
            step.apply(event);
            let position = index as u64 + 1;
            let zero = RuntimeGraph::fold(&all[..=index]);
            let asked = engine.graph(stage.opened.id, Some(position)).await.unwrap();
            assert_eq!(zero, step, "at {position}");
            assert_eq!(zero, asked, "at {position}");
            let seen = photographs.iter().find(|(at, _)| *at == position);
            if let Some((_, text)) = seen {
                assert_eq!(graph_text(&asked), *text, "at {position}, as it stood");
            }
        }
    }
    let last = photographs.last().unwrap();
    assert_eq!(last.0, all.len() as u64);
}

/// An event without what differs for each store: the digests of sealed bytes, whose nonces are
/// random, and what is keyed by the store's random keys.
fn blank(event: &Event) -> String {
    let mut event = event.clone();
    let zero = Digest::from_bytes([0; 32]);
    for payload in event.body.payloads() {
        // Only what names the payload is blanked; sizes, tokens and media types are compared.
        assert_ne!(payload.sealed_digest, zero);
    }
    match &mut event.body {
        Body::ToolMemoryDerived(body) => {
            body.subject = body
                .subject
                .map(|_| foldback::event::ShortDigest::from_bytes([0; 16]));
            body.question = None;
            body.facts.clear();
        }
        Body::ToolArtifactCaptured(body) => body.question = None,
        Body::MemoriesConflicted(body) => body.keys.clear(),
        _ => {}
    }
    let text = format!("{event:?}");
    // `address: …, sealed_digest: …,` of every payload reference.
    let mut pieces = text.split("address: ");
    let mut out = pieces.next().unwrap().to_owned();
    for piece in pieces {
        let (_, rest) = piece.split_once(", bytes: ").unwrap();
        out.push_str(rest);
    }
    out
}

#[tokio::test]
async fn the_same_commands_on_two_stores_give_the_same_events() {
    let mut texts = Vec::new();
    for _ in 0..2 {
        let folder = tempfile::tempdir().unwrap();
        let stage = Stage::on(open(folder.path(), 0)).await;
        Script::new(&stage, false).play().await;
        let all = events(&stage.engine, stage.opened.id).await;
        texts.push(all.iter().map(blank).collect::<Vec<_>>());
    }
    let memory = Stage::new().await;
    Script::new(&memory, false).play().await;
    let all = events(&memory.engine, memory.opened.id).await;
    texts.push(all.iter().map(blank).collect());
    for (index, first) in texts[0].iter().enumerate() {
        assert_eq!(first, &texts[1][index]);
        assert_eq!(first, &texts[2][index]);
    }
    assert_eq!(texts[0].len(), texts[1].len());
    assert!(texts[0].len() > 45);
}

#[tokio::test]
async fn an_assembly_that_names_no_payload_has_the_same_bytes_on_two_stores() {
    let mut records = Vec::new();
    for _ in 0..2 {
        let stage = Stage::new().await;
        Script::new(&stage, false).play().await;
        let all = events(&stage.engine, stage.opened.id).await;
        let assemblies: Vec<Vec<u8>> = all
            .iter()
            .filter(|event| matches!(event.body, Body::ContextAssembled(_)))
            .map(|event| event.encode().unwrap())
            .collect();
        assert_eq!(assemblies.len(), 2);
        records.push(assemblies);
    }
    assert_eq!(records[0], records[1]);
}
