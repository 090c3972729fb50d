//! The rules of Anthropic's Messages for the system text and the messages of a request.
//!
//! This file holds the frame: which messages follow each other and what a message holds. The
//! [`block`] rules look at one block, the [`pairing`] rules at a call and its result.
//!
//! Stricter than the provider on purpose: roles alternate, although the API would merge neighbours,
//! and a server tool's call and result are in one message, although a paused turn may end between
//! them. A kind of block that is not listed in [`block`] is refused.

mod block;
mod pairing;
#[cfg(test)]
mod tests;

use serde_json::Value;

use self::block::check_block;
use self::pairing::Pairs;
use super::{Found, Violation, is_identifier, items, string};

const MESSAGES_NON_EMPTY: &str = "messages-non-empty";
const ROLE_KNOWN: &str = "role-known";
const FIRST_ROLE_USER: &str = "first-role-user";
const ROLES_ALTERNATE: &str = "roles-alternate";
const CONTENT_KIND: &str = "content-kind";
const CONTENT_NON_EMPTY: &str = "content-non-empty";
const SYSTEM_KIND: &str = "system-kind";
const SYSTEM_NON_EMPTY: &str = "system-non-empty";
const FINAL_WHITESPACE: &str = "final-whitespace";
const CACHE_MARKS_COUNT: &str = "cache-marks-count";
const TOOL_NAME: &str = "tool-name";

/// The names of the rules that [`check_anthropic`] knows.
pub const ANTHROPIC_RULES: &[&str] = &[
    MESSAGES_NON_EMPTY,
    ROLE_KNOWN,
    FIRST_ROLE_USER,
    ROLES_ALTERNATE,
    CONTENT_KIND,
    CONTENT_NON_EMPTY,
    SYSTEM_KIND,
    SYSTEM_NON_EMPTY,
    FINAL_WHITESPACE,
    CACHE_MARKS_COUNT,
    TOOL_NAME,
    block::BLOCK_KIND,
    block::BLOCK_ROLE,
    block::TEXT_NON_EMPTY,
    block::MEDIA_SOURCE,
    block::TOOL_USE_ID,
    block::TOOL_USE_INPUT,
    block::SERVER_TOOL_USE_ID,
    block::TOOL_RESULT_ID,
    block::TOOL_RESULT_CONTENT,
    block::TOOL_RESULT_ERROR_CONTENT,
    block::THINKING_SIGNATURE,
    block::THINKING_FIRST,
    block::THINKING_CACHE_MARK,
    block::REDACTED_DATA,
    block::TOOL_USE_LAST,
    pairing::TOOL_USE_ID_UNIQUE,
    pairing::TOOL_USE_ANSWERED,
    pairing::TOOL_RESULT_ONCE,
    pairing::TOOL_RESULT_FIRST,
    pairing::TOOL_RESULT_ORPHAN,
    pairing::SERVER_CALL_ANSWERED,
    pairing::SERVER_RESULT_ONCE,
    pairing::SERVER_RESULT_ORPHAN,
];

/// The most places of a request that may be marked for the cache.
const CACHE_MARKS_MAX: usize = 4;
/// The longest name of a tool, in characters.
const TOOL_NAME_CHARS_MAX: usize = 128;

/// Lists what Anthropic's Messages would refuse in a request.
///
/// Checked are the system text, the messages, the names of the tools on offer and the marks for the
/// cache.
pub fn check_anthropic(request: &Value) -> Vec<Violation> {
    let mut found = Found::default();
    check_cache_marks(request, &mut found);
    let tools = request.get("tools").and_then(Value::as_array);
    for (path, tool) in items(tools.map_or(&[], Vec::as_slice), "/tools") {
        check_tool_name(tool, &path, &mut found);
    }
    if let Some(system) = request.get("system") {
        check_system(system, &mut found);
    }
    let messages = request.get("messages").and_then(Value::as_array);
    let Some(messages) = messages.filter(|list| !list.is_empty()) else {
        found.add(
            "/messages",
            MESSAGES_NON_EMPTY,
            "a request needs a list of at least one message",
        );
        return found.0;
    };
    check_roles(messages, &mut found);
    let mut pairs = Pairs::default();
    for (path, message) in items(messages, "/messages") {
        let role = string(message, "role").unwrap_or_default();
        let content = format!("{path}/content");
        let blocks = check_content(message, role, &content, &mut found);
        pairs.message(role, blocks, &content, &mut found);
    }
    pairs.end(&mut found);
    check_final_whitespace(messages, &mut found);
    found.0
}

fn check_tool_name(tool: &Value, path: &str, found: &mut Found) {
    let name = string(tool, "name").unwrap_or_default();
    if !is_identifier(name, TOOL_NAME_CHARS_MAX) {
        found.add(
            format!("{path}/name"),
            TOOL_NAME,
            format!("`{name}` does not match `^[a-zA-Z0-9_-]{{1,128}}$`"),
        );
    }
}

fn check_system(system: &Value, found: &mut Found) {
    match system {
        Value::String(text) if is_blank(text) => {
            found.add("/system", SYSTEM_NON_EMPTY, "leave an empty text out");
        }
        Value::String(_) => {}
        Value::Array(blocks) => {
            for (path, block) in items(blocks, "/system") {
                match string(block, "text").filter(|_| string(block, "type") == Some("text")) {
                    None => found.add(path, SYSTEM_KIND, "a system block is a text block"),
                    Some(text) if is_blank(text) => {
                        found.add(path, SYSTEM_NON_EMPTY, "leave an empty block out");
                    }
                    Some(_) => {}
                }
            }
        }
        _ => found.add(
            "/system",
            SYSTEM_KIND,
            "a string or a list of text blocks, or left out",
        ),
    }
}

fn check_roles(messages: &[Value], found: &mut Found) {
    let mut before = None;
    for (path, message) in items(messages, "/messages") {
        let role = string(message, "role").unwrap_or_default();
        let at = format!("{path}/role");
        if !matches!(role, "user" | "assistant") {
            let detail = format!("`{role}` is neither `user` nor `assistant`");
            found.add(at, ROLE_KNOWN, detail);
        } else if before == Some(role) {
            found.add(
                at,
                ROLES_ALTERNATE,
                format!("`{role}` speaks twice in a row"),
            );
        } else if before.is_none() && role != "user" {
            found.add(at, FIRST_ROLE_USER, "the first message is the user's");
        }
        before = Some(role);
    }
}

/// Checks what a message holds, and gives its blocks; a text in a string is none.
fn check_content<'a>(message: &'a Value, role: &str, path: &str, found: &mut Found) -> &'a [Value] {
    match message.get("content") {
        Some(Value::String(text)) => {
            if is_blank(text) {
                found.add(path, CONTENT_NON_EMPTY, "the text is empty or whitespace");
            }
            &[]
        }
        Some(Value::Array(blocks)) => {
            if blocks.is_empty() {
                found.add(path, CONTENT_NON_EMPTY, "the list of blocks is empty");
            }
            let mut before = block::Before::default();
            for (at, block) in items(blocks, path) {
                check_block(block, role, &at, &mut before, found);
            }
            blocks
        }
        _ => {
            found.add(
                path,
                CONTENT_KIND,
                "content is a string or a list of blocks",
            );
            &[]
        }
    }
}

fn check_final_whitespace(messages: &[Value], found: &mut Found) {
    let Some((index, last)) = messages.iter().enumerate().next_back() else {
        return;
    };
    let content = last.get("content");
    let text = match content {
        Some(Value::Array(blocks)) => blocks.last().and_then(|block| string(block, "text")),
        _ => content.and_then(Value::as_str),
    };
    // A text of whitespace alone is reported as an empty one.
    let ends_badly = text.is_some_and(|text| !is_blank(text) && text.trim_end() != text);
    if string(last, "role") == Some("assistant") && ends_badly {
        found.add(
            format!("/messages/{index}/content"),
            FINAL_WHITESPACE,
            "the assistant's last text would be continued after whitespace",
        );
    }
}

/// Counts the marks where a request may carry them: tools, system, messages and their results.
fn check_cache_marks(request: &Value, found: &mut Found) {
    let mut marks = 0_usize;
    let mut lists = vec![request.get("tools"), request.get("system")];
    let messages = request.get("messages").and_then(Value::as_array);
    for message in messages.into_iter().flatten() {
        let content = message.get("content");
        lists.push(content);
        let blocks = content.and_then(Value::as_array);
        lists.extend(
            blocks
                .into_iter()
                .flatten()
                .map(|block| block.get("content")),
        );
    }
    for item in lists
        .into_iter()
        .flatten()
        .filter_map(Value::as_array)
        .flatten()
    {
        if item
            .get("cache_control")
            .is_some_and(|mark| !mark.is_null())
        {
            marks += 1;
        }
    }
    if marks > CACHE_MARKS_MAX {
        let detail = format!("{marks} marks for the cache, of {CACHE_MARKS_MAX} at most");
        found.add("", CACHE_MARKS_COUNT, detail);
    }
}

/// Tells whether a text says nothing: the provider refuses whitespace as it refuses no text.
fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}
