//! Conversations joined into long ones.

use foldback_event::MessageRole;
use foldback_trace::{Format, SourceBody, SourceConversation, SourceFile, read};
use serde_json::json;
use std::collections::BTreeSet;

fn chat(boat: &str) -> serde_json::Value {
    let call = json!({"id": "a", "type": "function",
        "function": {"name": "find", "arguments": json!({"boat": boat}).to_string()}});
    json!([
        {"role": "system", "content": "You keep the registry of a small harbour."},
        {"role": "user", "content": format!("Where is {boat}?")},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "name": "find", "content": "berth 4"},
        {"role": "assistant", "content": "At berth 4."},
    ])
}

fn episodes(count: usize) -> Vec<SourceConversation> {
    let episodes: Vec<_> = (0..count)
        .map(|at| json!({"task_id": at, "trial": 0, "reward": 1.0, "info": {}, "traj": chat(&format!("boat {at}"))}))
        .collect();
    let bytes = serde_json::to_vec(&episodes).unwrap();
    let file = SourceFile {
        name: "episodes.json",
        bytes: &bytes,
        companion: false,
    };
    read(Format::TauBench, &[file]).unwrap()
}

#[test]
fn conversations_follow_each_other_in_groups() {
    let single = episodes(5);
    let joined = SourceConversation::join(single.clone(), 2);
    assert_eq!(joined.len(), 3);
    let runs = |source: &SourceConversation| {
        let is_run =
            |r: &&foldback_trace::SourceRecord| matches!(r.body, SourceBody::RunStarted { .. });
        source.records.iter().filter(is_run).count()
    };
    let each: Vec<usize> = joined.iter().map(runs).collect();
    assert_eq!(each, [4, 4, 2]);
    let keys: BTreeSet<&str> = joined.iter().map(|source| &*source.key).collect();
    assert_eq!(keys.len(), 3);
    for source in &joined {
        let keys: BTreeSet<&str> = source.records.iter().map(|record| &*record.key).collect();
        assert_eq!(keys.len(), source.records.len(), "keys stay unique");
        let calls: BTreeSet<&str> = source
            .records
            .iter()
            .filter_map(|record| match &record.body {
                SourceBody::CallRequested { call, .. } => Some(&**call),
                _ => None,
            })
            .collect();
        for record in &source.records {
            if let SourceBody::Result { call, .. } = &record.body {
                assert!(calls.contains(call.as_deref().unwrap()));
            }
        }
    }
}

#[test]
fn an_instruction_is_given_once() {
    let joined = SourceConversation::join(episodes(3), 3);
    let [one] = joined.as_slice() else {
        panic!("one conversation")
    };
    let given = one.records.iter().filter(|record| {
        matches!(
            record.body,
            SourceBody::Message {
                role: MessageRole::System,
                ..
            }
        )
    });
    assert_eq!(given.count(), 1);
}

#[test]
fn a_size_of_one_leaves_all_as_it_is() {
    for size in [0, 1] {
        assert_eq!(SourceConversation::join(episodes(2), size), episodes(2));
    }
}
