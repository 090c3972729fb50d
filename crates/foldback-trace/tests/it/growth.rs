//! A file that grows keeps the keys of its records.

use crate::data::folder;
use crate::outline::{one, try_read};
use foldback_trace::{SourceBody, SourceConversation, SourceRecord};
use std::collections::BTreeMap;

/// Checks that the records of a shorter file stand in the longer one: same keys, same order, same
/// bodies, but for the ends of runs, which tell what was used so far.
fn extends(shorter: &SourceConversation, longer: &SourceConversation) {
    assert_eq!(shorter.key, longer.key);
    let at: BTreeMap<&str, usize> = longer
        .records
        .iter()
        .enumerate()
        .map(|(index, r)| (r.key.as_str(), index))
        .collect();
    assert_eq!(at.len(), longer.records.len(), "keys are unique");
    let ends = |r: &SourceRecord| matches!(r.body, SourceBody::RunFinished { .. });
    let mut last = None;
    for record in shorter.records.iter().filter(|record| !ends(record)) {
        let index = at.get(record.key.as_str()).copied();
        assert!(index.is_some(), "`{}` is gone", record.key);
        assert!(index > last, "`{}` moved", record.key);
        last = index;
        let same = &longer.records[index.unwrap()];
        assert_eq!(
            (same.branch, same.participant),
            (record.branch, record.participant)
        );
        match (&same.body, &record.body) {
            // A long string may be named once the message that holds it has been written.
            (SourceBody::Result { content: a, .. }, SourceBody::Result { content: b, .. }) => {
                assert_eq!(a, b);
            }
            (a, b) => assert_eq!(a, b, "`{}` changed", record.key),
        }
    }
    for (index, branch) in shorter.branches.iter().enumerate() {
        let same = &longer.branches[index];
        assert_eq!((&same.key, same.sidechain), (&branch.key, branch.sidechain));
    }
}

fn grow_by_lines(name: &str, text: &[u8], steps: usize) {
    let whole = one(name, text);
    let ends: Vec<usize> = text
        .iter()
        .enumerate()
        .filter(|(_, b)| **b == b'\n')
        .map(|(at, _)| at + 1)
        .collect();
    // Before a line names the session, only the file's name can tell it.
    let named = text
        .windows(11)
        .position(|bytes| bytes == b"\"sessionId\"")
        .unwrap();
    let ends: Vec<usize> = ends.into_iter().filter(|end| *end > named).collect();
    let mut tried = 0;
    for end in ends.iter().step_by((ends.len() / steps).max(1)) {
        // Cut at a line and within the next one.
        for cut in [*end, (*end + 40).min(text.len())] {
            if let Ok(format) = foldback_trace::detect(&text[..cut], name) {
                assert_eq!(format, whole.format);
                let all = try_read(name, &text[..cut]).unwrap();
                extends(&all[0], &whole);
                tried += 1;
            }
        }
    }
    assert!(
        tried >= steps.min(ends.len()),
        "only {tried} cuts of `{name}` were tried"
    );
}

#[test]
fn a_session_that_grows_keeps_its_keys() {
    grow_by_lines("s1.jsonl", include_bytes!("fixtures/session.jsonl"), 1000);
}

#[test]
fn real_sessions_that_grow_keep_their_keys() {
    let Some(folder) = folder() else { return };
    let files = [
        "claude-code-jsonl/em_large.jsonl",
        "claude-code-jsonl/em_tiny.jsonl",
        "claude-code-jsonl/ccv_fe5e1c67-53e7-4862-81ae-d0e013e3270b.jsonl",
        "claude-code-jsonl/ccl_edge_cases.jsonl",
        "copilot-chat-sessions/98b76fb9-f5d3-40c5-ab82-b970c20e3764.jsonl",
    ];
    for name in files {
        let bytes = std::fs::read(folder.join(name)).unwrap();
        let name = name.rsplit('/').next().unwrap();
        grow_by_lines(name, &bytes, 7);
    }
}

#[test]
fn a_chat_that_grows_keeps_its_keys_and_one_that_goes_another_way_does_not() {
    let messages = [
        r#"{"role":"system","content":"s"}"#,
        r#"{"role":"user","content":"u"}"#,
        r#"{"role":"assistant","content":"a","tool_calls":[{"id":"c","function":{"name":"t","arguments":"{}"}}]}"#,
        r#"{"role":"tool","tool_call_id":"c","content":"r"}"#,
        r#"{"role":"user","content":"v"}"#,
    ];
    let chat = |messages: &[&str]| one("f", format!("[{}]", messages.join(" ,\n ")).as_bytes());
    let whole = chat(&messages);
    for count in 2..=messages.len() {
        extends(&chat(&messages[..count]), &whole);
    }
    let mut other = messages;
    other[2] = r#"{"role":"assistant","content":"b"}"#;
    let other = chat(&other);
    assert_eq!(other.key, whole.key, "it begins alike");
    let shared = |r: &&SourceRecord| whole.records.iter().any(|one| one.key == r.key);
    assert_eq!(other.records.iter().filter(shared).count(), 2);
}
