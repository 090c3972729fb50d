use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::block::*;
use super::pairing::*;
use super::*;

type Case = (&'static str, &'static str, Value);

const FIRST: &str = "/messages/0/content/0";
const REPLY: &str = "/messages/1/content/0";

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "read_file", "input": {}})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "done"})
}

fn search(id: &str) -> Value {
    json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": "x"}})
}

fn hits(id: &str) -> Value {
    json!({"type": "web_search_tool_result", "tool_use_id": id, "content": []})
}

fn thinking() -> Value {
    json!({"type": "thinking", "thinking": "Hm.", "signature": "c2ln"})
}

/// A block with one field replaced.
fn with(mut block: Value, key: &str, value: Value) -> Value {
    block[key] = value;
    block
}

/// Messages of alternating roles, the user's first.
fn talk(contents: Vec<Value>) -> Value {
    let messages: Vec<Value> = contents
        .into_iter()
        .zip(["user", "assistant"].into_iter().cycle())
        .map(|(content, role)| json!({"role": role, "content": content}))
        .collect();
    json!({ "messages": messages })
}

/// The assistant answers with the blocks, and the request ends.
fn replied(blocks: Vec<Value>) -> Value {
    talk(vec![json!("x"), Value::Array(blocks)])
}

fn answered(call: Value, result: Value) -> Value {
    talk(vec![
        json!("x"),
        Value::Array(vec![call]),
        Value::Array(vec![result]),
    ])
}

/// Requests that each break one rule once, with the place.
fn broken() -> Vec<Case> {
    let mut cases = broken_frames();
    cases.extend(broken_texts());
    cases.extend(broken_media());
    cases.extend(broken_calls());
    cases.extend(broken_results());
    cases.extend(broken_thinking());
    cases.extend(broken_pairs());
    cases.extend(broken_server_pairs());
    cases
}

fn broken_frames() -> Vec<Case> {
    let by = |roles: &[&str]| {
        let messages: Vec<_> = roles
            .iter()
            .map(|role| json!({"role": role, "content": "x"}))
            .collect();
        json!({ "messages": messages })
    };
    let marked = with(text("x"), "cache_control", json!({"type": "ephemeral"}));
    let nested = with(result("a"), "content", json!([marked]));
    let mut marks = talk(vec![
        json!([marked, marked]),
        json!([call("a")]),
        json!([nested]),
    ]);
    marks["system"] = json!([marked]);
    marks["tools"] = json!([{"name": "t", "cache_control": {"type": "ephemeral"}}]);
    vec![
        (MESSAGES_NON_EMPTY, "/messages", json!({})),
        (MESSAGES_NON_EMPTY, "/messages", json!("x")),
        (MESSAGES_NON_EMPTY, "/messages", json!({"messages": []})),
        (ROLE_KNOWN, "/messages/0/role", by(&["system", "user"])),
        (
            ROLE_KNOWN,
            "/messages/1/role",
            by(&["user", "tool", "user"]),
        ),
        (
            FIRST_ROLE_USER,
            "/messages/0/role",
            by(&["assistant", "user"]),
        ),
        (ROLES_ALTERNATE, "/messages/1/role", by(&["user", "user"])),
        (
            ROLES_ALTERNATE,
            "/messages/2/role",
            by(&["user", "assistant", "assistant"]),
        ),
        (CONTENT_KIND, "/messages/0/content", talk(vec![json!(null)])),
        (CONTENT_KIND, "/messages/0/content", talk(vec![text("x")])),
        (CACHE_MARKS_COUNT, "", marks),
        (
            TOOL_NAME,
            "/tools/1/name",
            json!({"tools": [{"name": "a"}, {"name": "a.b"}],
                   "messages": [{"role": "user", "content": "x"}]}),
        ),
    ]
}

fn broken_texts() -> Vec<Case> {
    let guided = |system: Value| with(talk(vec![json!("x")]), "system", system);
    vec![
        (
            CONTENT_NON_EMPTY,
            "/messages/0/content",
            talk(vec![json!("")]),
        ),
        (
            CONTENT_NON_EMPTY,
            "/messages/0/content",
            talk(vec![json!(" \n\t")]),
        ),
        (
            CONTENT_NON_EMPTY,
            "/messages/0/content",
            talk(vec![json!([])]),
        ),
        (CONTENT_NON_EMPTY, "/messages/1/content", replied(vec![])),
        (SYSTEM_KIND, "/system", guided(json!(null))),
        (SYSTEM_KIND, "/system", guided(text("x"))),
        (SYSTEM_KIND, "/system/0", guided(json!(["x"]))),
        (
            SYSTEM_KIND,
            "/system/0",
            guided(json!([{"type": "image", "text": "x"}])),
        ),
        (SYSTEM_NON_EMPTY, "/system", guided(json!(""))),
        (
            SYSTEM_NON_EMPTY,
            "/system/1",
            guided(json!([text("x"), text("")])),
        ),
        (SYSTEM_NON_EMPTY, "/system/0", guided(json!([text("\n")]))),
        (
            FINAL_WHITESPACE,
            "/messages/1/content",
            talk(vec![json!("x"), json!("So, ")]),
        ),
        (
            FINAL_WHITESPACE,
            "/messages/1/content",
            replied(vec![text("a"), text("b\n")]),
        ),
        (TEXT_NON_EMPTY, FIRST, talk(vec![json!([text("")])])),
        (TEXT_NON_EMPTY, REPLY, replied(vec![text(" \u{a0}\n")])),
        (
            TEXT_NON_EMPTY,
            "/messages/2/content/0/content/0",
            answered(call("a"), with(result("a"), "content", json!([text("")]))),
        ),
        (BLOCK_KIND, FIRST, talk(vec![json!([{"type": "text"}])])),
        (BLOCK_KIND, FIRST, talk(vec![json!(["x"])])),
        (BLOCK_KIND, FIRST, talk(vec![json!([{"type": "video"}])])),
        (
            TOOL_USE_LAST,
            "/messages/1/content/1",
            talk(vec![
                json!("x"),
                json!([call("a"), text("b")]),
                json!([result("a")]),
            ]),
        ),
    ]
}

fn broken_media() -> Vec<Case> {
    let source = "/messages/0/content/0/source";
    let shown = |kind: &str, source: Value| {
        talk(vec![json!([{"type": kind, "source": source}, text("x")])])
    };
    let bytes =
        |media: &str, data: &str| json!({"type": "base64", "media_type": media, "data": data});
    vec![
        (MEDIA_SOURCE, source, shown("image", json!(null))),
        (
            MEDIA_SOURCE,
            source,
            shown("image", bytes("image/tiff", "AAAA")),
        ),
        (MEDIA_SOURCE, source, shown("image", bytes("image/png", ""))),
        (
            MEDIA_SOURCE,
            source,
            shown("image", bytes("image/png", "AAA")),
        ),
        (
            MEDIA_SOURCE,
            source,
            shown("image", bytes("image/png", "A===")),
        ),
        (
            MEDIA_SOURCE,
            source,
            shown("image", bytes("image/png", "A-_A")),
        ),
        (
            MEDIA_SOURCE,
            source,
            shown("document", bytes("image/png", "AAAA")),
        ),
        (
            MEDIA_SOURCE,
            source,
            shown("image", json!({"type": "url", "url": ""})),
        ),
        (
            MEDIA_SOURCE,
            source,
            shown("image", json!({"type": "text", "data": "x"})),
        ),
        (
            MEDIA_SOURCE,
            "/messages/2/content/0/content/0/source",
            answered(
                call("a"),
                with(result("a"), "content", json!([{"type": "image"}])),
            ),
        ),
        (
            BLOCK_ROLE,
            REPLY,
            replied(vec![
                json!({"type": "image", "source": {"type": "url", "url": "x"}}),
            ]),
        ),
        (BLOCK_ROLE, FIRST, talk(vec![json!([thinking()])])),
        (BLOCK_ROLE, FIRST, talk(vec![json!([call("a")])])),
        (BLOCK_ROLE, FIRST, talk(vec![json!([hits("srvtoolu_1")])])),
        (BLOCK_ROLE, REPLY, replied(vec![result("a")])),
    ]
}

fn broken_calls() -> Vec<Case> {
    let altered = |key: &str, value: Value| answered(with(call("a"), key, value), result("a"));
    let served = |id: &str| replied(vec![search(id), hits(id), text("x")]);
    vec![
        (
            TOOL_USE_ID,
            "/messages/1/content/0/id",
            answered(call("a.b"), result("a.b")),
        ),
        (
            TOOL_USE_ID,
            "/messages/1/content/0/id",
            answered(call("a|b"), result("a|b")),
        ),
        (
            TOOL_USE_ID,
            "/messages/1/content/0/id",
            replied(vec![call("")]),
        ),
        (
            TOOL_NAME,
            "/messages/1/content/0/name",
            altered("name", json!("files.read")),
        ),
        (
            TOOL_NAME,
            "/messages/1/content/0/name",
            altered("name", json!("")),
        ),
        (
            TOOL_NAME,
            "/messages/1/content/0/name",
            altered("name", json!("n".repeat(129))),
        ),
        (
            TOOL_USE_INPUT,
            "/messages/1/content/0/input",
            altered("input", json!("{}")),
        ),
        (
            TOOL_USE_INPUT,
            "/messages/1/content/0/input",
            altered("input", json!(null)),
        ),
        (
            SERVER_TOOL_USE_ID,
            "/messages/1/content/0/id",
            served("toolu_1"),
        ),
        (
            SERVER_TOOL_USE_ID,
            "/messages/1/content/0/id",
            served("srvtoolu_a-b"),
        ),
        (
            SERVER_TOOL_USE_ID,
            "/messages/1/content/0/id",
            served("srvtoolu_"),
        ),
    ]
}

fn broken_results() -> Vec<Case> {
    let content = "/messages/2/content/0/content";
    let part = "/messages/2/content/0/content/0";
    let told = |content: Value| answered(call("a"), with(result("a"), "content", content));
    let failed = |content: Value| {
        let result = with(result("a"), "is_error", json!(true));
        answered(call("a"), with(result, "content", content))
    };
    let silent = json!({"type": "tool_result", "tool_use_id": "a", "is_error": true});
    vec![
        (
            TOOL_RESULT_ID,
            "/messages/0/content/0/tool_use_id",
            talk(vec![json!([{"type": "tool_result", "content": "x"}])]),
        ),
        (TOOL_RESULT_CONTENT, content, told(json!({"a": 1}))),
        (TOOL_RESULT_CONTENT, content, told(json!(null))),
        (TOOL_RESULT_CONTENT, part, told(json!(["x"]))),
        (TOOL_RESULT_CONTENT, part, told(json!([call("b")]))),
        (TOOL_RESULT_ERROR_CONTENT, content, failed(json!(""))),
        (TOOL_RESULT_ERROR_CONTENT, content, failed(json!([]))),
        (
            TOOL_RESULT_ERROR_CONTENT,
            content,
            answered(call("a"), silent),
        ),
        (
            TOOL_RESULT_ERROR_CONTENT,
            part,
            failed(json!([{"type": "image", "source": {"type": "url", "url": "x"}}])),
        ),
    ]
}

fn broken_thinking() -> Vec<Case> {
    let second = "/messages/1/content/1";
    let redacted = json!({"type": "redacted_thinking", "data": "AAAA"});
    vec![
        (
            THINKING_SIGNATURE,
            REPLY,
            replied(vec![with(thinking(), "signature", json!("")), text("x")]),
        ),
        (
            THINKING_SIGNATURE,
            REPLY,
            replied(vec![
                json!({"type": "thinking", "thinking": "Hm."}),
                text("x"),
            ]),
        ),
        (
            BLOCK_KIND,
            REPLY,
            replied(vec![with(thinking(), "thinking", json!(null))]),
        ),
        (THINKING_FIRST, second, replied(vec![text("x"), thinking()])),
        (
            THINKING_FIRST,
            second,
            replied(vec![text("x"), redacted.clone()]),
        ),
        (
            THINKING_FIRST,
            second,
            replied(vec![search("srvtoolu_1"), thinking(), hits("srvtoolu_1")]),
        ),
        (
            THINKING_FIRST,
            second,
            talk(vec![
                json!("x"),
                json!([call("a"), thinking()]),
                json!([result("a")]),
            ]),
        ),
        (
            THINKING_CACHE_MARK,
            REPLY,
            replied(vec![with(
                thinking(),
                "cache_control",
                json!({"type": "ephemeral"}),
            )]),
        ),
        (
            REDACTED_DATA,
            REPLY,
            replied(vec![with(redacted, "data", json!(""))]),
        ),
        (
            REDACTED_DATA,
            REPLY,
            replied(vec![json!({"type": "redacted_thinking"})]),
        ),
    ]
}

fn broken_pairs() -> Vec<Case> {
    let x = json!("x");
    let both = json!([call("a"), call("b")]);
    let results = |ids: &[&str]| json!(ids.iter().map(|id| result(id)).collect::<Vec<_>>());
    vec![
        (
            TOOL_USE_ID_UNIQUE,
            "/messages/3/content/0/id",
            talk(vec![
                x.clone(),
                json!([call("a")]),
                results(&["a"]),
                json!([call("a")]),
                results(&["a"]),
            ]),
        ),
        (
            TOOL_USE_ID_UNIQUE,
            "/messages/1/content/1/id",
            talk(vec![
                x.clone(),
                json!([call("a"), call("a")]),
                results(&["a"]),
            ]),
        ),
        (TOOL_USE_ANSWERED, REPLY, replied(vec![call("a")])),
        (
            TOOL_USE_ANSWERED,
            REPLY,
            talk(vec![x.clone(), json!([call("a")]), x.clone()]),
        ),
        (
            TOOL_USE_ANSWERED,
            "/messages/1/content/1",
            talk(vec![x.clone(), both.clone(), results(&["a"])]),
        ),
        (
            TOOL_RESULT_ONCE,
            "/messages/2/content/2",
            talk(vec![x.clone(), both.clone(), results(&["a", "b", "a"])]),
        ),
        (
            TOOL_RESULT_FIRST,
            "/messages/2/content/1",
            talk(vec![
                x.clone(),
                json!([call("a")]),
                json!([text("x"), result("a")]),
            ]),
        ),
        (
            TOOL_RESULT_FIRST,
            "/messages/2/content/2",
            talk(vec![
                x.clone(),
                both,
                json!([result("a"), text("x"), result("b")]),
            ]),
        ),
        (TOOL_RESULT_ORPHAN, FIRST, talk(vec![results(&["a"])])),
        (
            TOOL_RESULT_ORPHAN,
            "/messages/2/content/1",
            talk(vec![x.clone(), json!([call("a")]), results(&["a", "b"])]),
        ),
        (
            TOOL_RESULT_ORPHAN,
            "/messages/4/content/0",
            talk(vec![
                x.clone(),
                json!([call("a")]),
                results(&["a"]),
                x,
                results(&["a"]),
            ]),
        ),
    ]
}

fn broken_server_pairs() -> Vec<Case> {
    let id = "srvtoolu_1";
    vec![
        (SERVER_CALL_ANSWERED, REPLY, replied(vec![search(id)])),
        (SERVER_RESULT_ORPHAN, REPLY, replied(vec![hits(id)])),
        (
            SERVER_RESULT_ORPHAN,
            "/messages/3/content/0",
            talk(vec![
                json!("x"),
                json!([search(id), hits(id)]),
                json!("x"),
                json!([hits(id)]),
            ]),
        ),
        (
            SERVER_RESULT_ONCE,
            "/messages/1/content/2",
            replied(vec![search(id), hits(id), hits(id)]),
        ),
    ]
}

#[test]
fn each_broken_request_breaks_its_rule_alone() {
    for (rule, path, request) in broken() {
        let found: Vec<_> = check_anthropic(&request)
            .into_iter()
            .map(|violation| (violation.rule, violation.path))
            .collect();
        assert_eq!(found, [(rule, path.to_owned())], "{request}");
    }
}

#[test]
fn each_rule_has_a_request_that_breaks_it() {
    let broken: BTreeSet<_> = broken().into_iter().map(|(rule, ..)| rule).collect();
    assert_eq!(broken, ANTHROPIC_RULES.iter().copied().collect());
}

#[test]
fn a_result_before_its_server_call_is_two_violations() {
    let found: Vec<_> = check_anthropic(&replied(vec![hits("srvtoolu_1"), search("srvtoolu_1")]))
        .into_iter()
        .map(|violation| violation.rule)
        .collect();
    assert_eq!(found, [SERVER_RESULT_ORPHAN, SERVER_CALL_ANSWERED]);
}

#[test]
fn a_valid_request_breaks_none() {
    let image = json!({"type": "image", "source":
        {"type": "base64", "media_type": "image/png", "data": "AAA="}});
    let pdf = json!({"type": "document", "source":
        {"type": "base64", "media_type": "application/pdf", "data": "AAAA"}});
    let note = json!({"type": "document", "source":
        {"type": "text", "media_type": "text/plain", "data": "x"}});
    let withheld = with(thinking(), "thinking", json!(""));
    let redacted = json!({"type": "redacted_thinking", "data": "AAAA"});
    let marked = with(text("x"), "cache_control", json!({"type": "ephemeral"}));
    let mcp = json!({"type": "mcp_tool_use", "id": "mcptoolu-1", "name": "echo",
        "server_name": "s", "input": {}});
    let echoed = json!({"type": "mcp_tool_result", "tool_use_id": "mcptoolu-1", "content": []});
    let mut request = talk(vec![
        json!([text("Look. "), image, pdf, note, marked]),
        json!([
            withheld,
            redacted,
            text("I look. "),
            call("a"),
            with(call("b"), "name", json!("n".repeat(128)))
        ]),
        json!([
            with(result("b"), "content", json!([text("x"), image, note])),
            with(
                with(result("a"), "is_error", json!(true)),
                "content",
                json!("failed")
            ),
            text("And?"),
        ]),
        json!([
            thinking(),
            search("srvtoolu_1"),
            hits("srvtoolu_1"),
            thinking(),
            text("So "),
            mcp,
            echoed,
            call("toolu_01-x"),
        ]),
        json!([{"type": "tool_result", "tool_use_id": "toolu_01-x", "is_error": false}]),
        json!("Done. "),
        json!([text("Go on.")]),
        json!([text("I"), text(" will")]),
    ]);
    request["system"] = json!([text("Be brief.\n"), marked]);
    request["tools"] = json!([{"name": "read_file", "input_schema": {"type": "object"}}]);
    assert_eq!(check_anthropic(&request), []);

    request["system"] = json!("Be brief.");
    assert_eq!(check_anthropic(&request), []);
}
