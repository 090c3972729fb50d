//! Transcripts to import, written for these tests.

#![expect(
    clippy::needless_pass_by_value,
    reason = "values are made where they are passed"
)]

use serde_json::{Value, json};

/// A chat with the given messages.
pub(crate) fn chat(messages: &[Value]) -> String {
    json!(messages).to_string()
}

pub(crate) fn says(role: &str, text: &str) -> Value {
    json!({"role": role, "content": text})
}

pub(crate) fn calls(calls: &[(&str, &str, &str)]) -> Value {
    let calls: Vec<Value> = calls
        .iter()
        .map(|(id, tool, arguments)| {
            json!({"id": id, "type": "function", "function": {"name": tool, "arguments": arguments}})
        })
        .collect();
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

pub(crate) fn result(id: &str, text: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": text})
}

/// A short chat: a question, one call, its result, the answer, and another question.
pub(crate) fn short() -> Vec<Value> {
    vec![
        says("system", "You know the tides."),
        says("user", "When is high water at Inverness?"),
        calls(&[("c1", "tides", r#"{"port":"Inverness"}"#)]),
        result("c1", r#"{"port":"Inverness","high":"14:20","height":4.1}"#),
        says("assistant", "At 14:20, 4.1 metres."),
        says("user", "And at Leith?"),
        calls(&[("c2", "tides", r#"{"port":"Leith"}"#)]),
        result("c2", r#"{"port":"Leith","high":"16:05","height":5.0}"#),
        says("assistant", "At 16:05, 5.0 metres."),
    ]
}

/// Two trajectories of one task file.
pub(crate) fn taubench() -> String {
    let one = |task: u64, port: &str| {
        json!({"task_id": task, "trial": 0, "reward": 1.0, "info": {"task": {"user_id": port}},
        "traj": [
            says("system", "You know the tides."),
            says("user", &format!("When is high water at {port}?")),
            calls(&[("c1", "tides", &json!({"port": port}).to_string())]),
            result("c1", &json!({"port": port, "high": "14:20"}).to_string()),
            says("assistant", "At 14:20."),
            says("user", "###STOP###"),
        ]})
    };
    json!([one(0, "Inverness"), one(1, "Leith")]).to_string()
}

/// One line of a session.
fn line(
    kind: &str,
    id: &str,
    parent: Option<&str>,
    second: u32,
    side: bool,
    message: Value,
) -> Value {
    json!({
        "parentUuid": parent, "isSidechain": side, "sessionId": "tide-1", "type": kind,
        "message": message, "uuid": id, "cwd": "/home/dev/tide", "version": "2.0.1",
        "timestamp": format!("2026-03-01T10:00:{second:02}.000Z"),
    })
}

fn user(id: &str, parent: Option<&str>, second: u32, content: Value) -> Value {
    line(
        "user",
        id,
        parent,
        second,
        false,
        json!({"role": "user", "content": content}),
    )
}

fn model(id: &str, parent: &str, second: u32, side: bool, of: &str, block: Value) -> Value {
    let message = json!({
        "id": of, "type": "message", "role": "assistant", "model": "claude-example-1",
        "content": [block], "stop_reason": null,
        "usage": {"input_tokens": 5, "output_tokens": 9, "cache_read_input_tokens": 7},
    });
    line("assistant", id, Some(parent), second, side, message)
}

fn tool_use(id: &str, name: &str, input: Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

fn tool_result(id: &str, content: Value) -> Value {
    json!([{"tool_use_id": id, "type": "tool_result", "content": content}])
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// The words of a child agent that nobody else may read.
pub(crate) const CHILD_SECRET: &str = "the pilot's number is 0463-55012";

/// The lines of a session with thinking, parallel calls, a child, a branch, a compaction, and lines
/// that are none of these.
#[expect(clippy::too_many_lines, reason = "one session, told in its order")]
pub(crate) fn session() -> Vec<String> {
    let side = |id, parent, second, content: Value| {
        let message = json!({"role": "user", "content": content});
        line("user", id, parent, second, true, message)
    };
    let mut summary = user(
        "c1",
        Some("b1"),
        19,
        json!("Summary: north.csv is from 2024."),
    );
    summary["isCompactSummary"] = json!(true);
    let thinking = json!({"type": "thinking", "thinking": "Look at both.", "signature": "c2ln"});
    let lines = [
        json!({"type": "file-history-snapshot", "messageId": "u1", "snapshot": {"kept": true}}),
        user("u1", None, 0, json!("Which tide tables are out of date?")),
        model("a1", "u1", 1, false, "m1", thinking),
        model("a2", "a1", 2, false, "m1", text("I will look at both.")),
        model(
            "a3",
            "a2",
            3,
            false,
            "m1",
            tool_use("t1", "Bash", json!({"command": "ls tables"})),
        ),
        model(
            "a4",
            "a3",
            4,
            false,
            "m1",
            tool_use("t2", "Read", json!({"file_path": "north.csv"})),
        ),
        user(
            "r1",
            Some("a3"),
            5,
            tool_result("t1", json!("north.csv 2024-01-02\nsouth.csv 2026-01-01")),
        ),
        user(
            "r2",
            Some("a4"),
            6,
            tool_result("t2", json!("port,height\nInverness,4.1\nLeith,5.0\n")),
        ),
        model("a5", "r2", 7, false, "m2", text("north.csv is from 2024.")),
        user(
            "u2",
            Some("a5"),
            8,
            json!("Have an agent fetch the new one."),
        ),
        model(
            "a6",
            "u2",
            9,
            false,
            "m3",
            tool_use("t3", "Task", json!({"prompt": "Fetch the tide table."})),
        ),
        side("s1", None, 10, json!("Fetch the tide table.")),
        model(
            "s2",
            "s1",
            11,
            true,
            "m4",
            tool_use("x1", "WebFetch", json!({"url": "https://tides.example"})),
        ),
        side(
            "s3",
            Some("s2"),
            12,
            json!([{"tool_use_id": "x1", "type": "tool_result", "content": CHILD_SECRET, "is_error": true}]),
        ),
        model("s4", "s3", 13, true, "m5", text("The site is down.")),
        user(
            "r3",
            Some("a6"),
            14,
            tool_result("t3", json!([text("The site is down.")])),
        ),
        model(
            "a7",
            "r3",
            15,
            false,
            "m6",
            text("The site is down; shall I try later?"),
        ),
        user("u3", Some("a5"), 16, json!("No, use the printed one.")),
        model("a8", "u3", 17, false, "m7", text("I need a photo of it.")),
        json!({"type": "system", "subtype": "compact_boundary", "uuid": "b1", "parentUuid": null,
            "logicalParentUuid": "a8", "sessionId": "tide-1"}),
        summary,
        user("u4", Some("c1"), 20, json!("Then take the old one.")),
        model(
            "a9",
            "u4",
            21,
            false,
            "m8",
            tool_use("t4", "Read", json!({"file_path": "south.csv"})),
        ),
        user(
            "r4",
            Some("a9"),
            22,
            tool_result("t4", json!("port,height\nDover,6.7\n")),
        ),
        model("a10", "r4", 23, false, "m9", text("Dover has 6.7 metres.")),
        json!({"type": "summary", "summary": "Tide tables", "leafUuid": "a10"}),
    ];
    lines.iter().map(Value::to_string).collect()
}

pub(crate) fn session_text() -> String {
    session().join("\n") + "\n"
}
