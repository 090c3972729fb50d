//! What the model reads of a rendered request: contents, names and arguments of calls, results.

use serde_json::Value;
use std::fmt::Write as _;

/// Lists the texts of a request in order; the JSON around them is not counted.
pub(super) fn texts(request: &Value) -> Vec<String> {
    let mut out = Vec::new();
    content(&request["system"], &mut out);
    for message in request["messages"].as_array().into_iter().flatten() {
        if let Some(name) = message["name"].as_str() {
            out.push(name.to_owned());
        }
        content(&message["content"], &mut out);
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            for key in ["name", "arguments"] {
                out.push(call["function"][key].as_str().unwrap().to_owned());
            }
        }
    }
    out
}

fn content(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::String(text) => out.push(text.clone()),
        Value::Array(blocks) => {
            for block in blocks {
                match block["type"].as_str() {
                    Some("text") => out.push(block["text"].as_str().unwrap().to_owned()),
                    Some("tool_use") => {
                        out.push(block["name"].as_str().unwrap().to_owned());
                        out.push(block["input"].to_string());
                    }
                    Some("tool_result") => content(&block["content"], out),
                    other => panic!("a block of type {other:?} is not counted yet"),
                }
            }
        }
        _ => {}
    }
}

pub(super) fn tokens(texts: &[String]) -> u64 {
    texts
        .iter()
        .map(|text| u64::from(foldback::count_tokens(text)))
        .sum()
}

/// Lays a request out for people: one line with the role, then what is said.
pub(super) fn lay_out(request: &Value) -> String {
    let mut out = String::new();
    let mut say = |who: &str, texts: Vec<String>| {
        for text in texts {
            let _ = writeln!(out, "  {who}: {}", text.replace('\n', "\n    "));
        }
    };
    let one = |value: &Value| {
        let mut texts = Vec::new();
        content(value, &mut texts);
        texts
    };
    say("system", one(&request["system"]));
    for message in request["messages"].as_array().into_iter().flatten() {
        let role = message["role"].as_str().unwrap();
        let name = message["name"]
            .as_str()
            .map_or(String::new(), |name| format!(" ({name})"));
        say(&format!("{role}{name}"), one(&message["content"]));
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let function = &call["function"];
            let text = format!(
                "{} {}",
                function["name"].as_str().unwrap(),
                function["arguments"].as_str().unwrap()
            );
            say("call", vec![text]);
        }
    }
    out
}
