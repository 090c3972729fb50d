//! Requests that the providers accept.

use crate::rules;
use foldback_trace::{
    Content, Part, Prompt, PromptCall, PromptResult, Speaker, Turn, anthropic, openai,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn text(text: &str) -> Content {
    Content::Text(text.into())
}

fn user(said: &str) -> Turn {
    Turn::Message {
        role: Speaker::User,
        name: None,
        content: text(said),
    }
}

fn assistant(content: Content) -> Turn {
    Turn::Message {
        role: Speaker::Assistant,
        name: None,
        content,
    }
}

fn call(id: &str, arguments: &str, result: Content) -> PromptCall {
    PromptCall {
        id: id.into(),
        tool: "find".into(),
        arguments: arguments.into(),
        result: PromptResult {
            content: result,
            is_error: false,
        },
    }
}

fn calls(calls: Vec<PromptCall>) -> Turn {
    Turn::Calls { text: None, calls }
}

fn thinking(said: &str, signature: Option<&str>) -> Part {
    Part::Thinking {
        text: said.into(),
        signature: signature.map(str::to_owned),
    }
}

fn sample() -> Prompt {
    let mut failed = call("c1", "not json", text("Error: gone"));
    failed.result.is_error = true;
    Prompt {
        model: Some("m".into()),
        system: vec!["Be kind.".into(), String::new()],
        turns: vec![
            Turn::Message {
                role: Speaker::User,
                name: Some("Ada L".into()),
                content: text("Find it"),
            },
            Turn::Calls {
                text: Some(Content::Parts(vec![
                    thinking("first", Some("s1")),
                    Part::Text {
                        text: "Looking.".into(),
                    },
                ])),
                calls: vec![call("c1", r#"{"b": 1.50, "a": 2}"#, text("[1]")), failed],
            },
            user("And?"),
            assistant(text("Here. \n")),
        ],
    }
}

#[test]
fn openai_takes_the_sample() {
    let request = openai::render(&sample());
    rules::openai(&request).unwrap();
    insta::assert_snapshot!(lines(&request), @r#"
    {"content":"Be kind.","role":"system"}
    {"content":"Find it","name":"Ada_L","role":"user"}
    {"content":"Looking.","role":"assistant","tool_calls":[{"function":{"arguments":"{\"b\": 1.50, \"a\": 2}","name":"find"},"id":"c1","type":"function"},{"function":{"arguments":"not json","name":"find"},"id":"c1_2","type":"function"}]}
    {"content":"[1]","role":"tool","tool_call_id":"c1"}
    {"content":"Error: gone","role":"tool","tool_call_id":"c1_2"}
    {"content":"And?","role":"user"}
    {"content":"Here. \n","role":"assistant"}
    "#);
}

#[test]
fn anthropic_takes_the_sample() {
    let request = anthropic::render(&sample());
    rules::anthropic(&request).unwrap();
    assert_eq!(
        request["system"],
        json!([{"type": "text", "text": "Be kind."}])
    );
    assert_eq!(request["max_tokens"], anthropic::MAX_TOKENS);
    insta::assert_snapshot!(lines(&request), @r#"
    {"content":[{"text":"Ada L: Find it","type":"text"}],"role":"user"}
    {"content":[{"signature":"s1","thinking":"first","type":"thinking"},{"text":"Looking.","type":"text"},{"id":"c1","input":{"a":2,"b":1.5},"name":"find","type":"tool_use"},{"id":"c1_2","input":{"_raw":"not json"},"name":"find","type":"tool_use"}],"role":"assistant"}
    {"content":[{"content":"[1]","tool_use_id":"c1","type":"tool_result"},{"content":"Error: gone","is_error":true,"tool_use_id":"c1_2","type":"tool_result"},{"text":"And?","type":"text"}],"role":"user"}
    {"content":[{"text":"Here.","type":"text"}],"role":"assistant"}
    "#);
}

/// Writes one message a line, members sorted.
fn lines(request: &Value) -> String {
    let messages = request["messages"].as_array().unwrap();
    let messages: Vec<String> = messages.iter().map(|one| sorted(one).to_string()).collect();
    messages.join("\n")
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut names: Vec<&String> = members.keys().collect();
            names.sort();
            names
                .into_iter()
                .map(|name| (name.clone(), sorted(&members[name])))
                .collect()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

fn both(turns: Vec<Turn>) -> (Value, Value) {
    let prompt = Prompt {
        model: None,
        system: Vec::new(),
        turns,
    };
    let (one, other) = (openai::render(&prompt), anthropic::render(&prompt));
    rules::openai(&one).unwrap();
    rules::anthropic(&other).unwrap();
    (one["messages"].clone(), other["messages"].clone())
}

#[test]
fn nothing_at_all_becomes_a_stated_placeholder() {
    let (one, other) = both(vec![user(""), calls(Vec::new())]);
    assert_eq!(
        one,
        json!([{"role": "user", "content": openai::PLACEHOLDER}])
    );
    let placeholder = json!([{"type": "text", "text": anthropic::PLACEHOLDER}]);
    assert_eq!(other, json!([{"role": "user", "content": placeholder}]));
    let (_, other) = both(vec![assistant(text("Hello."))]);
    assert_eq!(other[0]["content"], placeholder);
    assert_eq!(other[1]["content"][0]["text"], "Hello.");
}

#[test]
fn what_follows_in_one_role_is_one_message_for_anthropic() {
    let (_, other) = both(vec![
        user("a"),
        user("b"),
        assistant(text("c")),
        assistant(text("d ")),
    ]);
    assert_eq!(other.as_array().unwrap().len(), 2);
    assert_eq!(other[0]["content"][1]["text"], "b");
    assert_eq!(other[1]["content"][1]["text"], "d");
}

#[test]
fn calls_after_calls_are_answered_in_turn() {
    let (one, other) = both(vec![
        user("go"),
        calls(vec![call("x", "", text("")), call("x", "[1]", text("  "))]),
        calls(vec![call("x.y", "{}", text("ok"))]),
    ]);
    assert_eq!(one[1]["content"], Value::Null);
    assert_eq!(one[1]["tool_calls"][0]["function"]["arguments"], "");
    assert_eq!(other[1]["content"][0]["input"], json!({}));
    assert_eq!(other[1]["content"][1]["input"], json!({"_raw": "[1]"}));
    assert_eq!(
        other[2]["content"][1]["content"], "",
        "blank text is refused"
    );
    assert_eq!(other[3]["content"][0]["id"], "x_y");
}

#[test]
fn reasoning_is_signed_and_at_the_start_or_absent() {
    let parts = |parts| assistant(Content::Parts(parts));
    let (one, other) = both(vec![
        user("go"),
        parts(vec![thinking("a", Some("s"))]),
        parts(vec![
            Part::RedactedThinking { data: "d".into() },
            thinking("b", None),
        ]),
        assistant(text("said")),
        parts(vec![thinking("late", Some("s"))]),
        assistant(text("more")),
        user("next"),
        parts(vec![thinking("alone", Some("s"))]),
        user("last"),
    ]);
    assert_eq!(
        other[1]["content"],
        json!([
            {"type": "thinking", "thinking": "a", "signature": "s"},
            {"type": "redacted_thinking", "data": "d"},
            {"type": "text", "text": "said"},
            {"type": "text", "text": "more"},
        ])
    );
    assert_eq!(
        other[2]["content"].as_array().unwrap().len(),
        2,
        "nothing was said between"
    );
    assert_eq!(one.as_array().unwrap().len(), 5);
}

#[test]
fn images_and_documents_go_from_one_provider_to_the_other() {
    let image =
        r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}"#;
    let url = r#"{"type":"image_url","image_url":{"url":"https://x.test/a.png"}}"#;
    let pdf = r#"{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AA=="}}"#;
    let parts = vec![
        Part::Image { json: image.into() },
        Part::Image { json: url.into() },
        Part::Document { json: pdf.into() },
        Part::Other {
            json: r#"{"type":"server_tool_use","id":"x"}"#.into(),
        },
        Part::Other {
            json: r#"{"type":"text","text":"cited","citations":[1]}"#.into(),
        },
    ];
    let content = Content::Parts(parts);
    let said = Turn::Message {
        role: Speaker::User,
        name: Some("Ada".into()),
        content: content.clone(),
    };
    let (one, other) = both(vec![said, calls(vec![call("c", "{}", content)])]);
    assert_eq!(
        one[0]["content"],
        json!([
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
            {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}},
            {"type": "file", "file": {"filename": "document", "file_data": "data:application/pdf;base64,AA=="}},
            {"type": "text", "text": "[left out: server_tool_use]"},
            {"type": "text", "text": "cited"},
        ])
    );
    assert_eq!(
        one[2]["content"],
        "[left out: image]\n[left out: image]\n[left out: document]\n[left out: server_tool_use]\ncited"
    );
    let image: Value = serde_json::from_str(image).unwrap();
    assert_eq!(other[0]["content"][0], image);
    assert_eq!(
        other[0]["content"][1],
        json!({"type": "image", "source": {"type": "url", "url": "https://x.test/a.png"}})
    );
    assert_eq!(
        other[0]["content"][2],
        serde_json::from_str::<Value>(pdf).unwrap()
    );
    assert_eq!(
        other[0]["content"][3]["text"],
        "Ada: [left out: server_tool_use]"
    );
    assert_eq!(other[2]["content"][0]["content"][0], image);
}

fn contents() -> impl Strategy<Value = Content> {
    let part = prop_oneof![
        "[ a\n]{0,3}".prop_map(|text| Part::Text { text }),
        ("[a ]{0,2}", proptest::option::of("[s]{0,1}"))
            .prop_map(|(text, signature)| Part::Thinking { text, signature }),
        Just(Part::RedactedThinking { data: "d".into() }),
        Just(Part::Image {
            json: r#"{"source":{"type":"url","url":"u"}}"#.into()
        }),
        "[{}\"a]{0,3}".prop_map(|json| Part::Other { json }),
    ];
    prop_oneof![
        "[ a\n]{0,4}".prop_map(Content::Text),
        proptest::collection::vec(part, 0..4).prop_map(Content::Parts),
    ]
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let one_call = (
        "[a.é]{0,2}|a{60,70}",
        "[a /]{0,3}",
        r#"[{}"1]{0,3}"#,
        contents(),
        any::<bool>(),
    )
        .prop_map(|(id, tool, arguments, content, is_error)| PromptCall {
            id,
            tool,
            arguments,
            result: PromptResult { content, is_error },
        });
    let turn = prop_oneof![
        (
            any::<bool>(),
            proptest::option::of("[a <]{0,3}"),
            contents()
        )
            .prop_map(|(is_user, name, content)| Turn::Message {
                role: if is_user {
                    Speaker::User
                } else {
                    Speaker::Assistant
                },
                name,
                content,
            }),
        (
            proptest::option::of(contents()),
            proptest::collection::vec(one_call, 0..3)
        )
            .prop_map(|(text, calls)| Turn::Calls { text, calls }),
    ];
    proptest::collection::vec(turn, 0..8)
}

proptest! {
    #[test]
    fn any_prompt_keeps_the_rules_and_the_bytes_of_its_beginning(turns in turns(), cut in 0_usize..8) {
        let cut = cut.min(turns.len());
        let prompt = |turns: &[Turn]| Prompt { model: None, system: vec![], turns: turns.to_vec() };
        let (start, whole) = (prompt(&turns[..cut]), prompt(&turns));
        let (before, after) = (openai::render(&start), openai::render(&whole));
        prop_assert_eq!(rules::openai(&after), Ok(()));
        let (before, after) = (messages(&before), messages(&after));
        if before[0]["content"] != openai::PLACEHOLDER {
            prop_assert_eq!(&after[..before.len()], before);
        }
        let (before, after) = (anthropic::render(&start), anthropic::render(&whole));
        prop_assert_eq!(rules::anthropic(&before), Ok(()));
        prop_assert_eq!(rules::anthropic(&after), Ok(()));
        // The end of a request is under rules of its own; all before its last two messages stands.
        let (before, after) = (messages(&before), messages(&after));
        let kept = before.len().saturating_sub(2);
        prop_assert_eq!(&after[..kept], &before[..kept]);
    }
}

fn messages(request: &Value) -> &[Value] {
    request["messages"].as_array().unwrap()
}
