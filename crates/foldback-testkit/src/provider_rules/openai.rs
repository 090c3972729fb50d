//! The rules of OpenAI's Chat Completions for the messages of a request.
//!
//! The deprecated `function` role and `function_call` are refused, and so are custom tool calls:
//! nothing here writes them.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Found, Violation, is_identifier, items, string};

#[cfg(test)]
mod tests;

const MESSAGES_NON_EMPTY: &str = "messages-non-empty";
const ROLE_KNOWN: &str = "role-known";
const PARTICIPANT_NAME: &str = "participant-name";
const CONTENT_REQUIRED: &str = "content-required";
const CONTENT_KIND: &str = "content-kind";
const CONTENT_PARTS_NON_EMPTY: &str = "content-parts-non-empty";
const TOOL_CALLS_BY_ASSISTANT: &str = "tool-calls-by-assistant";
const TOOL_CALLS_NON_EMPTY: &str = "tool-calls-non-empty";
const TOOL_CALLS_COUNT: &str = "tool-calls-count";
const TOOL_CALL_ID: &str = "tool-call-id";
const TOOL_CALL_ID_LENGTH: &str = "tool-call-id-length";
const TOOL_CALL_ID_UNIQUE: &str = "tool-call-id-unique";
const TOOL_CALL_TYPE: &str = "tool-call-type";
const FUNCTION_NAME: &str = "function-name";
const ARGUMENTS_STRING: &str = "arguments-string";
const TOOL_CALL_ANSWERED: &str = "tool-call-answered";
const TOOL_ANSWER_ONCE: &str = "tool-answer-once";
const TOOL_ANSWER_ID: &str = "tool-answer-id";
const TOOL_ANSWER_ORPHAN: &str = "tool-answer-orphan";

/// The names of the rules that [`check_openai`] knows.
pub const OPENAI_RULES: &[&str] = &[
    MESSAGES_NON_EMPTY,
    ROLE_KNOWN,
    PARTICIPANT_NAME,
    CONTENT_REQUIRED,
    CONTENT_KIND,
    CONTENT_PARTS_NON_EMPTY,
    TOOL_CALLS_BY_ASSISTANT,
    TOOL_CALLS_NON_EMPTY,
    TOOL_CALLS_COUNT,
    TOOL_CALL_ID,
    TOOL_CALL_ID_LENGTH,
    TOOL_CALL_ID_UNIQUE,
    TOOL_CALL_TYPE,
    FUNCTION_NAME,
    ARGUMENTS_STRING,
    TOOL_CALL_ANSWERED,
    TOOL_ANSWER_ONCE,
    TOOL_ANSWER_ID,
    TOOL_ANSWER_ORPHAN,
];

/// The most calls that one assistant message may hold.
const TOOL_CALLS_MAX: usize = 128;
/// The longest id of a call, in characters.
const TOOL_CALL_ID_CHARS_MAX: usize = 40;
/// The longest name of a function or a participant, in characters.
const NAME_CHARS_MAX: usize = 64;

/// Lists what OpenAI's Chat Completions would refuse in a request.
///
/// Checked are the messages and the names of the tools on offer; an empty text is allowed.
pub fn check_openai(request: &Value) -> Vec<Violation> {
    let mut found = Found::default();
    tool_definitions(request, &mut found);
    let messages = request.get("messages").and_then(Value::as_array);
    let Some(messages) = messages.filter(|list| !list.is_empty()) else {
        found.add(
            "/messages",
            MESSAGES_NON_EMPTY,
            "a request needs a list of at least one message",
        );
        return found.0;
    };
    let mut ids = BTreeSet::new();
    let mut open = Open::default();
    for (path, message) in items(messages, "/messages") {
        let role = string(message, "role").unwrap_or_default();
        if role == "tool" {
            open.answer(message, &path, &mut found);
        } else {
            open.close(&mut found);
        }
        check_message(message, role, &path, &mut found);
        if let Some(calls) = message.get("tool_calls") {
            if role == "assistant" {
                check_calls(calls, &path, &mut ids, &mut open, &mut found);
            } else {
                found.add(
                    format!("{path}/tool_calls"),
                    TOOL_CALLS_BY_ASSISTANT,
                    format!("only the assistant calls tools, not `{role}`"),
                );
            }
        }
    }
    open.close(&mut found);
    found.0
}

fn tool_definitions(request: &Value, found: &mut Found) {
    let tools = request.get("tools").and_then(Value::as_array);
    for (path, tool) in items(tools.map_or(&[], Vec::as_slice), "/tools") {
        check_function_name(tool, &path, found);
    }
}

fn check_function_name(holder: &Value, path: &str, found: &mut Found) {
    let name = holder.pointer("/function/name").and_then(Value::as_str);
    if !name.is_some_and(|name| is_identifier(name, NAME_CHARS_MAX)) {
        found.add(
            format!("{path}/function/name"),
            FUNCTION_NAME,
            format!(
                "`{}` does not match `^[a-zA-Z0-9_-]{{1,64}}$`",
                name.unwrap_or_default()
            ),
        );
    }
}

fn check_message(message: &Value, role: &str, path: &str, found: &mut Found) {
    let parts: &[&str] = match role {
        "system" | "developer" | "tool" => &["text"],
        "user" => &["text", "image_url", "input_audio", "file"],
        "assistant" => &["text", "refusal"],
        _ => {
            found.add(
                format!("{path}/role"),
                ROLE_KNOWN,
                format!("`{role}` is no role of a message"),
            );
            return;
        }
    };
    if let Some(name) = message.get("name") {
        let name = name.as_str().unwrap_or_default();
        if !is_participant_name(name) {
            found.add(
                format!("{path}/name"),
                PARTICIPANT_NAME,
                format!("`{name}` does not match `^[^\\s<|\\\\/>]{{1,64}}$`"),
            );
        }
    }
    check_content(message, role, parts, path, found);
}

fn is_participant_name(name: &str) -> bool {
    !name.is_empty()
        && name.chars().count() <= NAME_CHARS_MAX
        && !name
            .chars()
            .any(|c| c.is_whitespace() || matches!(c, '<' | '|' | '\\' | '/' | '>'))
}

fn check_content(message: &Value, role: &str, allowed: &[&str], path: &str, found: &mut Found) {
    let at = format!("{path}/content");
    match message.get("content") {
        None | Some(Value::Null) => {
            // A call may stand alone; whether the calls themselves are well formed is another rule.
            if role != "assistant" || message.get("tool_calls").is_none_or(Value::is_null) {
                found.add(at, CONTENT_REQUIRED, format!("`{role}` says nothing"));
            }
        }
        Some(Value::String(_)) => {}
        Some(Value::Array(parts)) if parts.is_empty() => {
            found.add(at, CONTENT_PARTS_NON_EMPTY, "the list of parts is empty");
        }
        Some(Value::Array(parts)) => {
            for (at, part) in items(parts, &at) {
                check_part(part, role, allowed, at, found);
            }
        }
        Some(_) => found.add(at, CONTENT_KIND, "content is a string or a list of parts"),
    }
}

fn check_part(part: &Value, role: &str, allowed: &[&str], at: String, found: &mut Found) {
    let kind = string(part, "type").unwrap_or_default();
    if !allowed.contains(&kind) {
        let detail = format!("`{kind}` is no part of a message of `{role}`");
        found.add(at, CONTENT_KIND, detail);
        return;
    }
    // A file comes by its id or with its bytes.
    let holds: &[&str] = match kind {
        "image_url" => &["/image_url/url"],
        "input_audio" => &["/input_audio/data"],
        "file" => &["/file/file_id", "/file/file_data"],
        "refusal" => &["/refusal"],
        _ => &["/text"],
    };
    if !holds
        .iter()
        .any(|pointer| part.pointer(pointer).is_some_and(Value::is_string))
    {
        found.add(
            at,
            CONTENT_KIND,
            format!("`{kind}` needs a string at `{}`", holds.join("` or `")),
        );
    }
}

fn check_calls(
    calls: &Value,
    path: &str,
    ids: &mut BTreeSet<String>,
    open: &mut Open,
    found: &mut Found,
) {
    let list = format!("{path}/tool_calls");
    let Some(calls) = calls.as_array().filter(|calls| !calls.is_empty()) else {
        found.add(list, TOOL_CALLS_NON_EMPTY, "leave the list out or fill it");
        return;
    };
    if calls.len() > TOOL_CALLS_MAX {
        let detail = format!("{} calls, of {TOOL_CALLS_MAX} at most", calls.len());
        found.add(list.as_str(), TOOL_CALLS_COUNT, detail);
    }
    for (at, call) in items(calls, &list) {
        check_call_id(call, &at, ids, open, found);
        let kind = string(call, "type").unwrap_or_default();
        if kind == "function" {
            check_function_name(call, &at, found);
            if !call
                .pointer("/function/arguments")
                .is_some_and(Value::is_string)
            {
                found.add(
                    format!("{at}/function/arguments"),
                    ARGUMENTS_STRING,
                    "arguments are JSON in a string",
                );
            }
        } else {
            let detail = format!("`{kind}` is not `function`");
            found.add(format!("{at}/type"), TOOL_CALL_TYPE, detail);
        }
    }
}

fn check_call_id(
    call: &Value,
    at: &str,
    ids: &mut BTreeSet<String>,
    open: &mut Open,
    found: &mut Found,
) {
    let path = format!("{at}/id");
    let Some(id) = string(call, "id").filter(|id| !id.is_empty()) else {
        found.add(path, TOOL_CALL_ID, "a call needs an id that is not empty");
        return;
    };
    if id.chars().count() > TOOL_CALL_ID_CHARS_MAX {
        let detail = format!("`{id}` is longer than {TOOL_CALL_ID_CHARS_MAX} characters");
        found.add(path.as_str(), TOOL_CALL_ID_LENGTH, detail);
    }
    if !ids.insert(id.to_owned()) {
        let detail = format!("`{id}` names an earlier call");
        found.add(path, TOOL_CALL_ID_UNIQUE, detail);
    }
    open.ask(id, at);
}

/// The calls of the assistant message right before, up to the next message of another role.
#[derive(Debug, Default)]
struct Open {
    calls: Vec<Call>,
}

#[derive(Debug)]
struct Call {
    id: String,
    path: String,
    answered: bool,
}

impl Open {
    fn ask(&mut self, id: &str, path: &str) {
        // A repeated id is reported as such; asked once, it is answered once.
        if !self.calls.iter().any(|call| call.id == id) {
            self.calls.push(Call {
                id: id.to_owned(),
                path: path.to_owned(),
                answered: false,
            });
        }
    }

    fn answer(&mut self, message: &Value, path: &str, found: &mut Found) {
        let at = format!("{path}/tool_call_id");
        let Some(id) = string(message, "tool_call_id").filter(|id| !id.is_empty()) else {
            found.add(at, TOOL_ANSWER_ID, "a result names the call it answers");
            return;
        };
        match self.calls.iter_mut().find(|call| call.id == id) {
            None => found.add(
                at,
                TOOL_ANSWER_ORPHAN,
                format!("`{id}` is no call of the assistant message right before"),
            ),
            Some(call) if call.answered => {
                found.add(at, TOOL_ANSWER_ONCE, format!("`{id}` is answered already"));
            }
            Some(call) => call.answered = true,
        }
    }

    fn close(&mut self, found: &mut Found) {
        for call in self.calls.drain(..).filter(|call| !call.answered) {
            found.add(
                call.path,
                TOOL_CALL_ANSWERED,
                format!("no result of `{}` directly follows", call.id),
            );
        }
    }
}
