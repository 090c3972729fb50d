use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;

fn call(id: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "read_file", "arguments": "{}"}})
}

fn answer(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": "done"})
}

fn said(content: Value) -> Value {
    by("user", content)
}

fn by(role: &str, content: Value) -> Value {
    let mut message = json!({ "role": role });
    message["content"] = content;
    json!({ "messages": [message] })
}

/// One call, as written, with an answer to each of the ids.
fn called(call: Value, answers: &[&str]) -> Value {
    let mut messages =
        vec![json!({"role": "assistant", "content": null, "tool_calls": Value::Array(vec![call])})];
    messages.extend(answers.iter().map(|id| answer(id)));
    json!({ "messages": messages })
}

/// The call `a` with one field replaced.
fn altered(pointer: &str, value: Value) -> Value {
    let mut call = call("a");
    *call.pointer_mut(pointer).unwrap() = value;
    call
}

/// Requests that each break one rule once, with the place.
fn broken() -> Vec<(&'static str, &'static str, Value)> {
    let mut cases = broken_messages();
    cases.extend(broken_contents());
    cases.extend(broken_calls());
    cases.extend(broken_pairs());
    cases
}

fn broken_messages() -> Vec<(&'static str, &'static str, Value)> {
    let with_name =
        |name: Value| json!({"messages": [{"role": "user", "name": name, "content": "x"}]});
    vec![
        (MESSAGES_NON_EMPTY, "/messages", json!({})),
        (MESSAGES_NON_EMPTY, "/messages", json!(null)),
        (MESSAGES_NON_EMPTY, "/messages", json!({"messages": []})),
        (MESSAGES_NON_EMPTY, "/messages", json!({"messages": "x"})),
        (ROLE_KNOWN, "/messages/0/role", by("robot", json!("x"))),
        (ROLE_KNOWN, "/messages/0/role", by("function", json!("x"))),
        (ROLE_KNOWN, "/messages/0/role", json!({"messages": ["x"]})),
        (
            PARTICIPANT_NAME,
            "/messages/0/name",
            with_name(json!("Ada L")),
        ),
        (
            PARTICIPANT_NAME,
            "/messages/0/name",
            with_name(json!("a/b")),
        ),
        (
            PARTICIPANT_NAME,
            "/messages/0/name",
            with_name(json!("a\\b")),
        ),
        (PARTICIPANT_NAME, "/messages/0/name", with_name(json!("<a"))),
        (PARTICIPANT_NAME, "/messages/0/name", with_name(json!("a>"))),
        (
            PARTICIPANT_NAME,
            "/messages/0/name",
            with_name(json!("a|b")),
        ),
        (PARTICIPANT_NAME, "/messages/0/name", with_name(json!(""))),
        (PARTICIPANT_NAME, "/messages/0/name", with_name(json!(7))),
        (
            PARTICIPANT_NAME,
            "/messages/0/name",
            with_name(json!("a".repeat(65))),
        ),
    ]
}

fn broken_contents() -> Vec<(&'static str, &'static str, Value)> {
    let at = "/messages/0/content";
    vec![
        (CONTENT_REQUIRED, at, said(json!(null))),
        (
            CONTENT_REQUIRED,
            at,
            json!({"messages": [{"role": "system"}]}),
        ),
        (CONTENT_REQUIRED, at, by("assistant", json!(null))),
        (
            CONTENT_REQUIRED,
            at,
            json!({"messages": [{"role": "assistant"}]}),
        ),
        (
            CONTENT_REQUIRED,
            at,
            json!({"messages": [{"role": "assistant", "content": null,
                "function_call": {"name": "f", "arguments": "{}"}}]}),
        ),
        (CONTENT_KIND, at, said(json!(7))),
        (CONTENT_KIND, at, said(json!({"type": "text", "text": "x"}))),
        (CONTENT_KIND, "/messages/0/content/0", said(json!(["x"]))),
        (
            CONTENT_KIND,
            "/messages/0/content/0",
            said(json!([{"type": "text"}])),
        ),
        (
            CONTENT_KIND,
            "/messages/0/content/1",
            said(json!([{"type": "text", "text": "x"}, {"type": "image", "source": {}}])),
        ),
        (
            CONTENT_KIND,
            "/messages/0/content/0",
            said(json!([{"type": "image_url", "image_url": "https://example.org/a.png"}])),
        ),
        (
            CONTENT_KIND,
            "/messages/0/content/0",
            said(json!([{"type": "file", "file": {"filename": "a.pdf"}}])),
        ),
        (
            CONTENT_KIND,
            "/messages/0/content/0",
            by(
                "system",
                json!([{"type": "image_url", "image_url": {"url": "x"}}]),
            ),
        ),
        (
            CONTENT_KIND,
            "/messages/1/content/0",
            json!({"messages": [
                {"role": "assistant", "tool_calls": [call("a")]},
                {"role": "tool", "tool_call_id": "a",
                 "content": [{"type": "image_url", "image_url": {"url": "x"}}]},
            ]}),
        ),
        (CONTENT_PARTS_NON_EMPTY, at, said(json!([]))),
    ]
}

fn broken_calls() -> Vec<(&'static str, &'static str, Value)> {
    let id = "/messages/0/tool_calls/0/id";
    let name = "/messages/0/tool_calls/0/function/name";
    let arguments = "/messages/0/tool_calls/0/function/arguments";
    let many: Vec<String> = (0..129).map(|index| format!("c{index}")).collect();
    let calls: Vec<Value> = many.iter().map(|id| call(id)).collect();
    let mut too_many = vec![json!({"role": "assistant", "tool_calls": calls})];
    too_many.extend(many.iter().map(|id| answer(id)));
    let long = "i".repeat(41);
    let named = |value: Value| called(altered("/function/name", value), &["a"]);
    vec![
        (
            TOOL_CALLS_BY_ASSISTANT,
            "/messages/0/tool_calls",
            json!({"messages": [{"role": "user", "content": "x", "tool_calls": [call("a")]}]}),
        ),
        (
            TOOL_CALLS_NON_EMPTY,
            "/messages/0/tool_calls",
            json!({"messages": [{"role": "assistant", "content": "x", "tool_calls": []}]}),
        ),
        (
            TOOL_CALLS_NON_EMPTY,
            "/messages/0/tool_calls",
            json!({"messages": [{"role": "assistant", "content": "x", "tool_calls": null}]}),
        ),
        (
            TOOL_CALLS_COUNT,
            "/messages/0/tool_calls",
            json!({ "messages": too_many }),
        ),
        (TOOL_CALL_ID, id, called(altered("/id", json!("")), &[])),
        (TOOL_CALL_ID, id, called(altered("/id", json!(7)), &[])),
        (TOOL_CALL_ID_LENGTH, id, called(call(&long), &[&long])),
        (
            TOOL_CALL_ID_UNIQUE,
            "/messages/2/tool_calls/0/id",
            json!({"messages": [
                {"role": "assistant", "tool_calls": [call("a")]}, answer("a"),
                {"role": "assistant", "tool_calls": [call("a")]}, answer("a"),
            ]}),
        ),
        (
            TOOL_CALL_ID_UNIQUE,
            "/messages/0/tool_calls/1/id",
            json!({"messages": [
                {"role": "assistant", "tool_calls": [call("a"), call("a")]}, answer("a"),
            ]}),
        ),
        (
            TOOL_CALL_TYPE,
            "/messages/0/tool_calls/0/type",
            called(altered("/type", json!("custom")), &["a"]),
        ),
        (FUNCTION_NAME, name, named(json!("files.read"))),
        (FUNCTION_NAME, name, named(json!("files/read"))),
        (FUNCTION_NAME, name, named(json!("lesen_ä"))),
        (FUNCTION_NAME, name, named(json!(""))),
        (FUNCTION_NAME, name, named(json!(null))),
        (FUNCTION_NAME, name, named(json!("n".repeat(65)))),
        (
            FUNCTION_NAME,
            "/tools/0/function/name",
            json!({"tools": [{"type": "function", "function": {"name": "a.b"}}],
                   "messages": [{"role": "user", "content": "x"}]}),
        ),
        (
            ARGUMENTS_STRING,
            arguments,
            called(altered("/function/arguments", json!({})), &["a"]),
        ),
    ]
}

fn broken_pairs() -> Vec<(&'static str, &'static str, Value)> {
    let first = "/messages/0/tool_calls/0";
    vec![
        (TOOL_CALL_ANSWERED, first, called(call("a"), &[])),
        (
            TOOL_CALL_ANSWERED,
            "/messages/0/tool_calls/1",
            json!({"messages": [
                {"role": "assistant", "tool_calls": [call("a"), call("b")]}, answer("a"),
                {"role": "user", "content": "x"},
            ]}),
        ),
        (
            TOOL_ANSWER_ONCE,
            "/messages/2/tool_call_id",
            called(call("a"), &["a", "a"]),
        ),
        (
            TOOL_ANSWER_ID,
            "/messages/2/tool_call_id",
            json!({"messages": [
                {"role": "assistant", "tool_calls": [call("a")]}, answer("a"),
                {"role": "tool", "content": "x"},
            ]}),
        ),
        (
            TOOL_ANSWER_ORPHAN,
            "/messages/0/tool_call_id",
            json!({"messages": [answer("a")]}),
        ),
        (
            TOOL_ANSWER_ORPHAN,
            "/messages/2/tool_call_id",
            called(call("a"), &["a", "b"]),
        ),
        (
            TOOL_ANSWER_ORPHAN,
            "/messages/3/tool_call_id",
            json!({"messages": [
                {"role": "assistant", "tool_calls": [call("a")]}, answer("a"),
                {"role": "user", "content": "x"}, answer("a"),
            ]}),
        ),
    ]
}

#[test]
fn each_broken_request_breaks_its_rule_alone() {
    for (rule, path, request) in broken() {
        let found: Vec<_> = check_openai(&request)
            .into_iter()
            .map(|violation| (violation.rule, violation.path))
            .collect();
        assert_eq!(found, [(rule, path.to_owned())], "{request}");
    }
}

#[test]
fn each_rule_has_a_request_that_breaks_it() {
    let broken: BTreeSet<_> = broken().into_iter().map(|(rule, ..)| rule).collect();
    assert_eq!(broken, OPENAI_RULES.iter().copied().collect());
}

#[test]
fn a_call_cut_off_from_its_answer_is_two_violations() {
    let request = json!({"messages": [
        {"role": "assistant", "tool_calls": [call("a")]},
        {"role": "user", "content": "wait"},
        answer("a"),
    ]});
    let found: Vec<_> = check_openai(&request)
        .into_iter()
        .map(|violation| (violation.rule, violation.path))
        .collect();
    assert_eq!(
        found,
        [
            (TOOL_CALL_ANSWERED, "/messages/0/tool_calls/0".to_owned()),
            (TOOL_ANSWER_ORPHAN, "/messages/2/tool_call_id".to_owned()),
        ]
    );
}

#[test]
fn a_valid_request_breaks_none() {
    let request = json!({
        "tools": [{"type": "function", "function": {"name": "read_file", "parameters": {}}}],
        "messages": [
            {"role": "system", "content": ""},
            {"role": "developer", "content": [{"type": "text", "text": "Be brief."}]},
            {"role": "user", "name": "ada.l@example", "content": [
                {"type": "text", "text": "Look."},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
                {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
                {"type": "file", "file": {"file_id": "file-1"}},
            ]},
            {"role": "assistant", "content": null, "tool_calls": [call("a"), call("b")]},
            answer("b"),
            {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "x"}]},
            {"role": "assistant", "tool_calls": [call(&"c".repeat(40))]},
            answer(&"c".repeat(40)),
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
            {"role": "user", "name": "é".repeat(64), "content": ""},
            {"role": "assistant", "content": "Fine. ", "tool_calls": [{
                "id": "d", "type": "function",
                "function": {"name": "n".repeat(64), "arguments": "not JSON"},
            }]},
            answer("d"),
        ],
    });
    assert_eq!(check_openai(&request), []);
}
