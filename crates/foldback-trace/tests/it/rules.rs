//! A checker of the providers' rules, written apart from the renderers.

use serde_json::Value;
use std::collections::BTreeSet;

/// Says which rule of Chat Completions a request breaks first.
pub(crate) fn openai(request: &Value) -> Result<(), String> {
    let messages = request["messages"].as_array().ok_or("no messages")?;
    if messages.is_empty() {
        return Err("no message".into());
    }
    let mut seen = BTreeSet::new();
    let mut waiting: Vec<String> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().ok_or("no role")?;
        if role == "tool" {
            if waiting.is_empty() {
                return Err(format!("{at}: a result without a call"));
            }
            let id = waiting.remove(0);
            if message["tool_call_id"] != id.as_str() {
                return Err(format!("{at}: not the result of `{id}`"));
            }
            if !message["content"].is_string() {
                return Err(format!("{at}: a result that is no text"));
            }
            continue;
        }
        if !waiting.is_empty() {
            return Err(format!("{at}: a call without a result"));
        }
        if let Some(name) = message.get("name") {
            let name = name.as_str().unwrap_or_default();
            let fits = |c: char| !c.is_whitespace() && !"<|\\/>".contains(c);
            if name.is_empty() || name.chars().count() > 64 || !name.chars().all(fits) {
                return Err(format!("{at}: the name `{name}`"));
            }
        }
        let calls = message.get("tool_calls").and_then(Value::as_array);
        match &message["content"] {
            Value::Null if calls.is_some_and(|calls| !calls.is_empty()) => {}
            Value::String(text) if !text.is_empty() => {}
            Value::Array(parts) if !parts.is_empty() && role == "user" => {}
            other => return Err(format!("{at}: the content {other}")),
        }
        for call in calls.into_iter().flatten() {
            let id = call["id"].as_str().unwrap_or_default().to_owned();
            if id.is_empty() || id.len() > 40 || !seen.insert(id.clone()) {
                return Err(format!("{at}: the id `{id}`"));
            }
            let name = call["function"]["name"].as_str().unwrap_or_default();
            if !is_word(name, 64) || !call["function"]["arguments"].is_string() {
                return Err(format!("{at}: the call of `{name}`"));
            }
            waiting.push(id);
        }
    }
    if waiting.is_empty() {
        Ok(())
    } else {
        Err("a call without a result at the end".into())
    }
}

fn is_word(text: &str, max: usize) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    !text.is_empty() && text.len() <= max && text.chars().all(fits)
}

/// Says which rule of Messages a request breaks first.
pub(crate) fn anthropic(request: &Value) -> Result<(), String> {
    if request["max_tokens"].as_u64().is_none_or(|max| max == 0) {
        return Err("no limit".into());
    }
    for block in request
        .get("system")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        not_blank(block)?;
    }
    let messages = request["messages"].as_array().ok_or("no messages")?;
    if messages.is_empty() {
        return Err("no message".into());
    }
    let mut seen = BTreeSet::new();
    let mut waiting: BTreeSet<String> = BTreeSet::new();
    for (at, message) in messages.iter().enumerate() {
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        if message["role"] != role {
            return Err(format!("{at}: not {role}"));
        }
        let blocks = message["content"].as_array().ok_or("no blocks")?;
        if blocks.is_empty() {
            return Err(format!("{at}: no block"));
        }
        let mut kinds: Vec<&str> = Vec::new();
        for block in blocks {
            let kind = block["type"].as_str().unwrap_or_default();
            match kind {
                "text" => not_blank(block).map_err(|what| format!("{at}: {what}"))?,
                "tool_use" => {
                    let id = block["id"].as_str().unwrap_or_default().to_owned();
                    let fits = is_word(&id, 64)
                        && seen.insert(id.clone())
                        && is_word(block["name"].as_str().unwrap_or_default(), 128)
                        && block["input"].is_object();
                    if !fits || role == "user" {
                        return Err(format!("{at}: the call `{id}`"));
                    }
                    waiting.insert(id);
                }
                "tool_result" => {
                    let id = block["tool_use_id"].as_str().unwrap_or_default();
                    if kinds.iter().any(|kind| *kind != "tool_result") || !waiting.remove(id) {
                        return Err(format!("{at}: the result `{id}`"));
                    }
                    for part in block["content"].as_array().into_iter().flatten() {
                        not_blank(part)?;
                    }
                }
                "thinking" | "redacted_thinking" => {
                    if role == "user" || kinds.iter().any(|kind| !kind.ends_with("thinking")) {
                        return Err(format!("{at}: reasoning out of place"));
                    }
                    if kind == "thinking" && block["signature"].as_str().is_none_or(str::is_empty) {
                        return Err(format!("{at}: reasoning without a signature"));
                    }
                }
                "image" | "document" if role == "user" => {}
                other => return Err(format!("{at}: a block `{other}`")),
            }
            kinds.push(kind);
        }
        if kinds.last().is_some_and(|kind| kind.ends_with("thinking")) {
            return Err(format!("{at}: reasoning at the end"));
        }
        if role == "user" && !waiting.is_empty() {
            return Err(format!("{at}: calls without results"));
        }
        let last = blocks
            .last()
            .and_then(|block| block["text"].as_str())
            .unwrap_or("x");
        if at + 1 == messages.len() && role == "assistant" && last.ends_with(char::is_whitespace) {
            return Err(format!("{at}: white space at the end"));
        }
    }
    if waiting.is_empty() {
        Ok(())
    } else {
        Err("calls without results at the end".into())
    }
}

fn not_blank(block: &Value) -> Result<(), String> {
    match block.get("text").and_then(Value::as_str) {
        Some(text) if text.trim().is_empty() => Err("blank text".into()),
        _ => Ok(()),
    }
}
