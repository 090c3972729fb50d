//! Claude Code sessions without child agents.

#![expect(
    clippy::needless_pass_by_value,
    reason = "the makers of lines take what `json!` gives, which reads best in place"
)]

use crate::outline::{findings, one, outline};
use foldback_trace::{SourceBody, SourceConversation};
use serde_json::{Value, json};

/// Writes a line: its id, its parent, its kind and its message's members.
pub(crate) fn line(uuid: &str, parent: Option<&str>, kind: &str, message: Value) -> Value {
    json!({
        "type": kind,
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": "s1",
        "timestamp": "2026-01-02T03:04:05.006Z",
        "message": message,
    })
}

pub(crate) fn said(uuid: &str, parent: Option<&str>, text: &str) -> Value {
    line(
        uuid,
        parent,
        "user",
        json!({"role": "user", "content": text}),
    )
}

pub(crate) fn answered(uuid: &str, parent: &str, id: &str, blocks: Value) -> Value {
    line(
        uuid,
        Some(parent),
        "assistant",
        json!({"id": id, "role": "assistant", "model": "m", "content": blocks,
            "stop_reason": null, "usage": {"input_tokens": 10, "output_tokens": 1}}),
    )
}

pub(crate) fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

pub(crate) fn tool(id: &str, name: &str, input: Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

pub(crate) fn result(uuid: &str, parent: &str, id: &str, content: Value) -> Value {
    let block = json!({"type": "tool_result", "tool_use_id": id, "content": content});
    line(
        uuid,
        Some(parent),
        "user",
        json!({"role": "user", "content": [block]}),
    )
}

/// Sets a member of a line.
pub(crate) fn with(mut line: Value, name: &str, value: Value) -> Value {
    line[name] = value;
    line
}

pub(crate) fn file(lines: &[Value]) -> String {
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    lines.join("\n") + "\n"
}

pub(crate) fn session(lines: &[Value]) -> SourceConversation {
    one("s1.jsonl", file(lines).as_bytes())
}

#[test]
fn an_answer_over_several_lines_is_one_run() {
    let mut second = answered("a2", "a1", "msg_1", json!([text("Looking.")]));
    second["message"]["usage"]["output_tokens"] = json!(50);
    let mut third = answered(
        "a3",
        "a2",
        "msg_1",
        json!([tool("t1", "Read", json!({"z": 1, "a": 2}))]),
    );
    third["message"]["stop_reason"] = json!("tool_use");
    let thought = json!({"type": "thinking", "thinking": "hm", "signature": "sig"});
    let read = session(&[
        said("u1", None, "Fix it"),
        answered("a1", "u1", "msg_1", json!([thought])),
        second,
        third,
        result("r1", "a3", "t1", json!("[1]")),
        answered("a4", "r1", "msg_2", json!([text("Done.")])),
    ]);
    insta::assert_snapshot!(outline(&read), @r#"
    0/user: user "Fix it"
    0/assistant: run started m
    0/assistant: assistant <thinking "hm" Some("sig")>
    0/assistant: assistant "Looking."
    0/assistant: call Read json {"z":1,"a":2} [a3:0]
    0/assistant: run finished tool_use 10+50
    0/assistant: result succeeded json [1] [a3:0]
    0/assistant: run started m
    0/assistant: assistant "Done."
    0/assistant: run finished - 10+1
    "#);
    assert!(read.findings.is_empty(), "{:?}", read.findings);
    assert_eq!(read.key, "s1");
    assert_eq!(read.title.as_deref(), Some("Fix it"));
    assert_eq!(read.participants[1].model.as_deref(), Some("m"));
    assert_eq!(read.records[0].at.unwrap().0, 1_767_323_045_006_000);
}

#[test]
fn parallel_calls_and_lines_between_them_do_not_fork() {
    let progress = json!({"type": "progress", "uuid": "p1", "parentUuid": "a2", "data": {}});
    let read = session(&[
        said("u1", None, "go"),
        answered("a1", "u1", "msg_1", json!([tool("t1", "A", json!({}))])),
        result("r1", "a1", "t1", json!("one")),
        answered("a2", "a1", "msg_1", json!([tool("t2", "B", json!({}))])),
        progress,
        answered("x1", "a2", "msg_x", json!([text("between")])),
        result("r2", "p1", "t2", json!("two")),
        answered("a3", "r2", "msg_2", json!([text("Both.")])),
        said("u2", Some("a3"), "thanks"),
    ]);
    assert_eq!(read.branches.len(), 1, "{:?}", read.branches);
    assert!(read.findings.is_empty(), "{:?}", read.findings);
    let runs: Vec<&str> = read
        .records
        .iter()
        .filter_map(|record| match &record.body {
            SourceBody::RunStarted { run, .. } => Some(run.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(runs, ["run:msg_1", "run:msg_x", "run:msg_2"]);
}

#[test]
fn a_second_child_forks_after_its_parent() {
    let read = session(&[
        said("u1", None, "one"),
        answered("a1", "u1", "msg_1", json!([text("first")])),
        said("u2", Some("a1"), "two"),
        answered("a2", "u2", "msg_2", json!([text("second")])),
        said("u3", Some("a1"), "another two"),
        answered("a3", "u3", "msg_3", json!([text("other")])),
        answered("a4", "u3", "msg_4", json!([text("again")])),
        said("u4", Some("a2"), "on with the first"),
    ]);
    insta::assert_snapshot!(outline(&read), @r#"
    0/user: user "one"
    0/assistant: run started m
    0/assistant: assistant "first"
    0/assistant: run finished - 10+1
    0/user: user "two"
    0/assistant: run started m
    0/assistant: assistant "second"
    0/assistant: run finished - 10+1
    1/user: user "another two"
    1/assistant: run started m
    1/assistant: assistant "other"
    1/assistant: run finished - 10+1
    2/assistant: run started m
    2/assistant: assistant "again"
    2/assistant: run finished - 10+1
    0/user: user "on with the first"
    "#);
    let forks: Vec<_> = read
        .branches
        .iter()
        .map(|b| (b.key.as_str(), b.parent))
        .collect();
    assert_eq!(
        forks,
        [
            ("main", None),
            ("fork:u3", Some((0, 3))),
            ("fork:a4", Some((1, 8)))
        ]
    );
}

#[test]
fn a_compaction_goes_on_with_what_it_compacts() {
    let boundary = json!({"type": "system", "subtype": "compact_boundary", "uuid": "b",
        "parentUuid": null, "logicalParentUuid": "h", "compactMetadata": {"preTokens": 9}});
    let hook =
        json!({"type": "system", "subtype": "stop_hook_summary", "uuid": "h", "parentUuid": "a1"});
    let read = session(&[
        said("u1", None, "one"),
        answered("a1", "u1", "msg_1", json!([text("first")])),
        hook,
        boundary,
        with(
            said("c", Some("b"), "In short: one."),
            "isCompactSummary",
            json!(true),
        ),
        with(said("m", Some("c"), "Caveat: x"), "isMeta", json!(true)),
        said(
            "l",
            Some("m"),
            "<local-command-stdout>Compacted</local-command-stdout>",
        ),
        said("u2", Some("l"), "<command-name>/go</command-name>"),
        said("i", Some("u2"), "[Request interrupted by user]"),
        said(
            "k",
            Some("i"),
            "<system-reminder>x</system-reminder>\n\nwhat I typed",
        ),
    ]);
    assert_eq!(read.branches.len(), 1);
    assert!(read.findings.is_empty(), "{:?}", read.findings);
    let text = outline(&read);
    let tail: Vec<&str> = text.lines().skip(6).collect();
    insta::assert_snapshot!(tail.join("\n"), @r#"
    0/user: summary by the client "In short: one."
    0/user: notice by the client "Caveat: x"
    0/user: notice by the client "<local-command-stdout>Compacted</local-command-stdout>"
    0/user: user by the client "<command-name>/go</command-name>"
    0/user: notice by the client "[Request interrupted by user]"
    0/user: user "<system-reminder>x</system-reminder>\n\nwhat I typed"
    "#);
}

#[test]
fn results_keep_what_they_show_and_what_stands_beside() {
    let long = "y".repeat(5000);
    let image = json!({"type": "image", "source": {"type": "base64", "data": "AA"}});
    let mut failed = result(
        "r2",
        "a1",
        "t2",
        json!("<tool_use_error>No file</tool_use_error>"),
    );
    failed["message"]["content"][0]["is_error"] = json!(true);
    let mut refused = result(
        "r3",
        "a1",
        "t3",
        json!("The user doesn't want to proceed with this tool use. Stop."),
    );
    refused["message"]["content"][0]["is_error"] = json!(true);
    let calls: Vec<Value> = ["t1", "t2", "t3", "t4", "t5"]
        .iter()
        .map(|id| tool(id, "Read", json!({"n": id})))
        .collect();
    let read = session(&[
        said("u1", None, "go"),
        answered("a1", "u1", "msg_1", json!(calls)),
        with(
            result("r1", "a1", "t1", json!(long)),
            "toolUseResult",
            json!({"stdout": long, "durationMs": 12}),
        ),
        with(failed, "toolUseResult", json!("Error: No file")),
        with(refused, "toolUseResult", json!("Error: refused")),
        with(
            result("r4", "a1", "t4", json!([text("same"), image])),
            "toolUseResult",
            json!([text("same"), image]),
        ),
        with(
            result("r5", "a1", "t5", json!([text("alone")])),
            "toolUseResult",
            json!("Error: alone"),
        ),
        result("r6", "a1", "t5", json!("again")),
        result("r7", "a1", "t9", json!(null)),
    ]);
    let text = outline(&read).replace(&long, "LONG");
    let results: Vec<&str> = text
        .lines()
        .filter(|line| line.contains(": result"))
        .collect();
    insta::assert_snapshot!(results.join("\n"), @r#"
    0/assistant: result succeeded text LONG + {"stdout":{"$same":"e1c7101be18f21874fdd69d43b0bef12ee1072130568c84a9f7fd8173b01e21b","bytes":5000},"durationMs":12} [a1:0]
    0/assistant: result failed text <tool_use_error>No file</tool_use_error> + "Error: No file" [a1:1]
    0/assistant: result cancelled text The user doesn't want to proceed with this tool use. Stop. + "Error: refused" [a1:2]
    0/assistant: result succeeded parts [{"type":"text","text":"same"},{"type":"image","json":"{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"data\":\"AA\"}}"}] [a1:3]
    0/assistant: result failed text alone [a1:4]
    0/assistant: result succeeded text again [orphan]
    0/assistant: result succeeded text  [orphan]
    "#);
    assert_eq!(
        findings(&read),
        ["duplicate-result line 8", "orphan-result line 9"]
    );
    let slow = read.records.iter().find_map(|record| match &record.body {
        SourceBody::Result { duration_ms, .. } => *duration_ms,
        _ => None,
    });
    assert_eq!(slow, Some(12));
}

#[test]
fn nothing_of_a_damaged_file_is_lost() {
    let odd = [
        said("u1", None, "one").to_string(),
        "{\"type\":\"user\",\"mess".into(),
        "[1]".into(),
        "{\"silly\":1}".into(),
        "{\"type\":\"new\",\"uuid\":\"n\",\"parentUuid\":\"u1\"}".into(),
        "{\"type\":\"user\",\"uuid\":\"e\",\"message\":\"error\"}".into(),
        said("u1", None, "one").to_string(),
        said("u1", None, "another").to_string(),
        "[1]".into(),
        said("u2", Some("gone"), "half \u{1F600}")
            .to_string()
            .replace('\u{1F600}', "\\ud83d"),
        with(said("u3", Some("u2"), "x"), "sessionId", json!("s0")).to_string(),
        "{\"type\":\"user\",\"uuid\":\"u4\",\"message\":{\"con".into(),
    ];
    let read = one("s1.jsonl", odd.join("\n").as_bytes());
    insta::assert_snapshot!(outline(&read), @r#"
    0/user: user "one"
    0/user: kept invalid-json {"type":"user","mess
    0/user: kept not-an-object [1]
    0/user: kept no-type {"silly":1}
    0/user: kept unknown-type {"type":"new","uuid":"n","parentUuid":"u1"}
    0/user: kept no-message {"type":"user","uuid":"e","message":"error"}
    0/user: user "another"
    0/user: kept not-an-object [1]
    0/user: kept lone-surrogate {"type":"user","uuid":"u2","parentUuid":"gone","sessionId":"s1","timestamp":"2026-01-02T03:04:05.006Z","message":{"role":"user","content":"half \ud83d"}}
    0/user: user "half �"
    0/assistant: kept line-context {"sessionId":"s0"}
    0/user: user "x"
    "#);
    assert_eq!(
        findings(&read),
        [
            "invalid-json line 2",
            "not-an-object line 3",
            "no-type line 4",
            "unknown-type line 5",
            "no-message line 6",
            "duplicate-line line 7",
            "duplicate-uuid line 8",
            "not-an-object line 9",
            "lone-surrogate line 10",
            "missing-parent line 10",
            "other-session line 11",
            "truncated-line line 12",
        ]
    );
    let keys: std::collections::BTreeSet<&String> = read.records.iter().map(|r| &r.key).collect();
    assert_eq!(keys.len(), read.records.len(), "keys are unique");
}

#[test]
fn a_title_is_the_sessions_own() {
    let summary =
        |text: &str, leaf: &str| json!({"type": "summary", "summary": text, "leafUuid": leaf});
    let read = session(&[
        summary("another session", "elsewhere"),
        said("u1", None, "\n  first line\nsecond"),
        summary("this one", "u1"),
    ]);
    assert_eq!(read.title.as_deref(), Some("this one"));
    assert_eq!(findings(&read), ["foreign-summary line 1"]);
    let read = session(&[
        summary("another session", "elsewhere"),
        said("u1", None, "\n  first line\n"),
    ]);
    assert_eq!(read.title.as_deref(), Some("first line"));
}

#[test]
fn what_the_client_made_up_in_the_models_place_is_no_run() {
    let mut error = answered("a1", "u1", "x", json!([text("API Error")]));
    error["message"]["model"] = json!("<synthetic>");
    let read = session(&[said("u1", None, "go"), error]);
    insta::assert_snapshot!(outline(&read), @r#"
    0/user: user "go"
    0/assistant: notice by the client "API Error"
    "#);
}

#[test]
fn the_whole_form_is_read_like_the_lines() {
    let lines = [
        said("u1", None, "one"),
        answered("a1", "u1", "msg_1", json!([text("first")])),
    ];
    let whole = json!({"loglines": lines, "origin": "web"}).to_string();
    let read = one("x.json", whole.as_bytes());
    assert_eq!(read.key, "s1");
    let by_line = session(&lines);
    let keys = |one: &SourceConversation| {
        one.records
            .iter()
            .map(|r| r.key.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(&read)[1..], keys(&by_line));
    assert_eq!(read.records[1].place.to_string(), "/loglines/0");
    insta::assert_snapshot!(outline(&read).lines().next().unwrap(), @r#"0/user: kept session-fields {"origin":"web"}"#);
}

#[test]
fn a_call_that_the_model_went_on_without_is_told() {
    let lines = [
        said("u1", None, "go"),
        answered("a1", "u1", "msg_1", json!([tool("t1", "Run", json!({}))])),
        said("u2", Some("a1"), "never mind"),
        answered("a2", "u2", "msg_2", json!([text("fine")])),
    ];
    assert_eq!(findings(&session(&lines)), ["unanswered-call line 2"]);
    assert!(
        findings(&session(&lines[..3])).is_empty(),
        "it may still be answered"
    );
}
