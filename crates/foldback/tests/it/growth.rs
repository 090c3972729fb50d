//! A file that grows adds only what is new; one that goes on otherwise becomes a branch.

use crate::scene::{NIGHT_TRAIN, events, hashes, holds, import, options};
use crate::sources::{chat, says, session, short};
use foldback::event::{Body, ConversationId, EventId};
use foldback::{Engine, ImportedConversation, graph_text, transcript_text};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A graph's text without positions, which importing in parts shifts, and without findings, which a
/// cut file may have more of; these are given apart.
async fn shape(engine: &Engine, id: ConversationId) -> (Vec<String>, BTreeSet<String>) {
    let text = graph_text(&engine.graph(id, None).await.unwrap());
    let (mut lines, mut findings) = (Vec::new(), BTreeSet::new());
    for line in text.lines() {
        let line = line.trim_start().split_once(' ').unwrap().1;
        if let Some(finding) = line.strip_prefix("! ") {
            findings.insert(finding.to_owned());
            continue;
        }
        // Which model answers is not known before it has answered.
        let line = match line.rsplit_once(" model ") {
            Some((before, _)) if line.starts_with("participant ") => before,
            _ => line,
        };
        let mut words: Vec<&str> = line.split(' ').collect();
        if words[0] == "branch"
            && let Some(last) = words.last_mut()
        {
            *last = if last.starts_with("br") { *last } else { "…" };
        }
        lines.push(words.join(" "));
    }
    (lines, findings)
}

/// Imports each text in turn into one engine, and the last into another, and compares.
async fn grow(name: &str, texts: &[String]) -> ImportedConversation {
    let grown = Engine::in_memory(options(0)).unwrap();
    let mut last: Option<(ImportedConversation, Vec<_>)> = None;
    for (step, text) in texts.iter().enumerate() {
        let rows = import(&grown, name, text).await.unwrap();
        assert_eq!(rows.len(), 1, "{name} {step}");
        let row = rows[0].clone();
        let all = hashes(&grown, row.id).await;
        if let Some((before, hashes)) = &last {
            assert_eq!(row.id, before.id, "{name} {step}");
            assert_eq!(
                all[..hashes.len()],
                hashes[..],
                "{name} {step}: it only adds"
            );
            assert_eq!(
                all.len() - hashes.len(),
                usize::try_from(row.events).unwrap()
            );
        }
        let again = import(&grown, name, text).await.unwrap();
        assert_eq!(again[0].events, 0, "{name} {step}: the same again");
        last = Some((row, all));
    }
    let (row, _) = last.unwrap();
    let once = Engine::in_memory(options(0)).unwrap();
    let whole = import(&once, name, texts.last().unwrap()).await.unwrap();
    assert_eq!(whole[0].id, row.id);
    let (lines, findings) = shape(&grown, row.id).await;
    let (wanted, wanted_findings) = shape(&once, row.id).await;
    assert_eq!(sorted(&lines), sorted(&wanted), "{name}");
    assert_eq!(lines, wanted, "{name}: the same in another order");
    assert!(
        wanted_findings.is_subset(&findings),
        "{name}: {wanted_findings:?} {findings:?}"
    );
    // Beside what an import leaves as its mark, and what an unfinished file told otherwise, the
    // events are the same.
    let ids = async |engine: &Engine| -> BTreeMap<EventId, String> {
        let rows = events(engine, row.id).await.into_iter();
        let told = rows.filter(|event| {
            !matches!(
                event.body,
                Body::SourceImported(_) | Body::FindingRecorded(_) | Body::ModelRunFinished(_)
            )
        });
        told.map(|e| (e.envelope.event_id, format!("{:?}", e.body.kind())))
            .collect()
    };
    assert_eq!(ids(&grown).await, ids(&once).await, "{name}");
    holds(&grown).await;
    row
}

fn sorted(lines: &[String]) -> Vec<String> {
    let mut lines = lines.to_vec();
    lines.sort();
    lines
}

#[tokio::test]
async fn a_chat_cut_at_every_message_grows_into_the_whole() {
    let document: Value = serde_json::from_str(NIGHT_TRAIN).unwrap();
    let messages = document["messages"].as_array().unwrap();
    let texts: Vec<String> = (2..=messages.len()).map(|n| chat(&messages[..n])).collect();
    let row = grow("night-train.json", &texts).await;
    assert_eq!(row.tool_calls, 9);
    assert_eq!(row.artifacts, 9);
}

#[tokio::test]
async fn a_session_cut_at_every_line_grows_into_the_whole() {
    let lines = session();
    let texts: Vec<String> = (2..=lines.len())
        .map(|n| lines[..n].join("\n") + "\n")
        .collect();
    let row = grow("tide-1.jsonl", &texts).await;
    assert_eq!(row.artifacts, 5);
}

#[tokio::test]
async fn a_session_cut_within_a_line_grows_into_the_whole() {
    let text = session().join("\n") + "\n";
    let cuts = [700, 1_900, 2_777, 4_000, 5_555, 7_000];
    for cut in cuts.into_iter().filter(|cut| *cut < text.len()) {
        let engine = Engine::in_memory(options(0)).unwrap();
        import(&engine, "tide-1.jsonl", text.get(..cut).unwrap())
            .await
            .unwrap();
        let row = import(&engine, "tide-1.jsonl", &text)
            .await
            .unwrap()
            .remove(0);
        let once = Engine::in_memory(options(0)).unwrap();
        import(&once, "tide-1.jsonl", &text).await.unwrap();
        let (lines, _) = shape(&engine, row.id).await;
        assert_eq!(lines, shape(&once, row.id).await.0, "cut at {cut}");
    }
}

/// The texts of a branch's transcript, by branch.
async fn transcripts(engine: &Engine, id: ConversationId) -> Vec<String> {
    let graph = engine.graph(id, None).await.unwrap();
    let account = engine.account_of(&graph);
    let mut out = Vec::new();
    let mut branches: Vec<_> = graph.branches().collect();
    branches.sort_by_key(|branch| branch.origin.position);
    for branch in branches {
        let transcript = Engine::transcript(&graph, Some(branch.id)).unwrap();
        let text = transcript_text(&graph, &transcript, &|payload| {
            let text = engine.text(account, payload).ok();
            text.map(foldback::PayloadText::or_notice)
        });
        out.push(text);
    }
    out
}

#[tokio::test]
async fn chats_that_begin_alike_are_branches_of_one_conversation() {
    let engine = Engine::in_memory(options(0)).unwrap();
    let first = short();
    let mut other = first[..5].to_vec();
    other.push(says("user", "And at Dover, please?"));
    other.push(says("assistant", "Dover is not on my list."));
    let one = import(&engine, "a.json", &chat(&first))
        .await
        .unwrap()
        .remove(0);
    let before = hashes(&engine, one.id).await;
    let two = import(&engine, "b.json", &chat(&other))
        .await
        .unwrap()
        .remove(0);
    assert_eq!(two.id, one.id);
    let after = hashes(&engine, one.id).await;
    assert_eq!(after[..before.len()], before[..], "what was there stands");
    let texts = transcripts(&engine, one.id).await;
    assert_eq!(texts.len(), 2, "{texts:?}");
    let has = |at: usize, what: &str| texts[at].contains(what);
    assert!(has(0, "Leith") && !has(0, "Dover"), "{}", texts[0]);
    assert!(
        has(1, "Dover") && !has(1, "Leith") && has(1, "Inverness"),
        "{}",
        texts[1]
    );
    // Either again adds nothing.
    for messages in [&first, &other] {
        import(&engine, "c.json", &chat(messages)).await.unwrap();
        assert_eq!(hashes(&engine, one.id).await, after);
    }
    // Either grows on its own branch.
    let mut grown = other.clone();
    grown.push(says("user", "What a pity about Dover."));
    let mut longer = first.clone();
    longer.push(says("user", "Thank you for Leith."));
    for messages in [&grown, &longer, &grown, &longer] {
        import(&engine, "d.json", &chat(messages)).await.unwrap();
    }
    let texts = transcripts(&engine, one.id).await;
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert!(texts[0].contains("Thank you for Leith") && !texts[0].contains("pity"));
    assert!(texts[1].contains("pity about Dover") && !texts[1].contains("Leith"));
    // A third way leaves from the second.
    let mut third = other[..6].to_vec();
    third.push(says("assistant", "Dover has 6.7 metres."));
    import(&engine, "e.json", &chat(&third)).await.unwrap();
    let texts = transcripts(&engine, one.id).await;
    assert_eq!(texts.len(), 3, "{texts:?}");
    assert!(texts[2].contains("6.7") && texts[2].contains("Dover, please"));
    assert!(!texts[2].contains("not on my list") && !texts[2].contains("Leith"));
    assert!(!texts[0].contains("Dover") && !texts[1].contains("6.7"));
    holds(&engine).await;
    crate::scene::replay(&engine, one.id).await;
    let marks = hashes(&engine, one.id).await;
    // What Foldback itself added at the end is no part of the chat, and makes no branch.
    for messages in [&grown, &longer, &third] {
        import(&engine, "f.json", &chat(messages)).await.unwrap();
    }
    assert_eq!(hashes(&engine, one.id).await, marks);
    longer.push(says("assistant", "You are welcome."));
    import(&engine, "g.json", &chat(&longer)).await.unwrap();
    let texts = transcripts(&engine, one.id).await;
    assert_eq!(texts.len(), 3, "{texts:?}");
    assert!(texts[0].contains("You are welcome"));
}
