//! What one block of a message must be, and where in its message it may stand.

use serde_json::Value;

use super::super::{Found, is_identifier, items, string};
use super::{check_tool_name, is_blank};

pub(super) const BLOCK_KIND: &str = "block-kind";
pub(super) const BLOCK_ROLE: &str = "block-role";
pub(super) const TEXT_NON_EMPTY: &str = "text-non-empty";
pub(super) const MEDIA_SOURCE: &str = "media-source";
pub(super) const TOOL_USE_ID: &str = "tool-use-id";
pub(super) const TOOL_USE_INPUT: &str = "tool-use-input";
pub(super) const SERVER_TOOL_USE_ID: &str = "server-tool-use-id";
pub(super) const TOOL_RESULT_ID: &str = "tool-result-id";
pub(super) const TOOL_RESULT_CONTENT: &str = "tool-result-content";
pub(super) const TOOL_RESULT_ERROR_CONTENT: &str = "tool-result-error-content";
pub(super) const THINKING_SIGNATURE: &str = "thinking-signature";
pub(super) const THINKING_FIRST: &str = "thinking-first";
pub(super) const THINKING_CACHE_MARK: &str = "thinking-cache-mark";
pub(super) const REDACTED_DATA: &str = "redacted-data";
pub(super) const TOOL_USE_LAST: &str = "tool-use-last";

/// The results of tools that the provider runs itself.
const SERVER_RESULTS: &[&str] = &[
    "advisor_tool_result",
    "bash_code_execution_tool_result",
    "code_execution_tool_result",
    "mcp_tool_result",
    "text_editor_code_execution_tool_result",
    "tool_search_tool_result",
    "web_fetch_tool_result",
    "web_search_tool_result",
];

/// Tells whether a kind of block calls a tool that the provider runs itself.
pub(super) fn is_server_call(kind: &str) -> bool {
    matches!(kind, "server_tool_use" | "mcp_tool_use")
}

/// Tells whether a kind of block is the result of a tool that the provider runs itself.
pub(super) fn is_server_result(kind: &str) -> bool {
    SERVER_RESULTS.contains(&kind)
}

/// What stands before a block in its message.
#[derive(Debug, Default)]
pub(super) struct Before {
    /// Something other than thinking, with no server tool's result after it.
    spoke: bool,
    called: bool,
}

/// Checks one block of a message.
pub(super) fn check_block(
    block: &Value,
    role: &str,
    path: &str,
    before: &mut Before,
    found: &mut Found,
) {
    let kind = string(block, "type").unwrap_or_default();
    check_role(kind, role, path, found);
    match kind {
        "text" => {
            check_text(block, path, found);
            if before.called {
                found.add(path, TOOL_USE_LAST, "text stands after a call of a tool");
            }
        }
        "image" | "document" => check_source(block, kind, path, found),
        "tool_use" => check_tool_use(block, path, found),
        "tool_result" => check_tool_result(block, path, found),
        "thinking" | "redacted_thinking" => check_thinking(block, kind, path, before, found),
        _ if is_server_call(kind) => check_tool_use(block, path, found),
        // What the provider wrote comes back as it was; only its call is looked at.
        "search_result" | "container_upload" => {}
        _ if is_server_result(kind) => {}
        _ => found.add(path, BLOCK_KIND, format!("`{kind}` is no known block")),
    }
    before.called |= kind == "tool_use";
    // After a server tool's result the model thinks anew in the same message.
    before.spoke = match kind {
        "thinking" | "redacted_thinking" => before.spoke,
        _ => !is_server_result(kind),
    };
}

fn check_role(kind: &str, role: &str, path: &str, found: &mut Found) {
    let by = match kind {
        "image" | "document" | "search_result" | "container_upload" | "tool_result" => "user",
        "tool_use" | "thinking" | "redacted_thinking" => "assistant",
        _ if is_server_call(kind) || is_server_result(kind) => "assistant",
        _ => return,
    };
    // A role that is not known is reported where it stands.
    if role != by && matches!(role, "user" | "assistant") {
        let detail = format!("`{kind}` stands in a message of `{by}`, not `{role}`");
        found.add(path, BLOCK_ROLE, detail);
    }
}

fn check_text(block: &Value, path: &str, found: &mut Found) {
    match string(block, "text") {
        None => found.add(path, BLOCK_KIND, "a text block needs a `text`"),
        Some(text) if is_blank(text) => {
            found.add(path, TEXT_NON_EMPTY, "the text is empty or whitespace");
        }
        Some(_) => {}
    }
}

fn check_source(block: &Value, kind: &str, path: &str, found: &mut Found) {
    let source = block.get("source").unwrap_or(&Value::Null);
    let media = string(source, "media_type").unwrap_or_default();
    let filled = |key: &str| string(source, key).is_some_and(|text| !text.is_empty());
    let good = match (string(source, "type").unwrap_or_default(), kind) {
        ("base64", "image") => {
            matches!(
                media,
                "image/jpeg" | "image/png" | "image/gif" | "image/webp"
            ) && is_base64(source)
        }
        ("base64", _) => media == "application/pdf" && is_base64(source),
        ("text", "document") => media == "text/plain" && filled("data"),
        ("content", "document") => source
            .get("content")
            .is_some_and(|content| content.is_string() || content.is_array()),
        ("url", _) => filled("url"),
        ("file", _) => filled("file_id"),
        _ => false,
    };
    if !good {
        found.add(
            format!("{path}/source"),
            MEDIA_SOURCE,
            format!("no source of `{kind}` that the provider reads"),
        );
    }
}

fn is_base64(source: &Value) -> bool {
    let data = string(source, "data").unwrap_or_default();
    let bare = data.trim_end_matches('=');
    !bare.is_empty()
        && data.len().is_multiple_of(4)
        && data.len() - bare.len() <= 2
        && bare
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/')
}

/// Checks a call of a tool, whoever runs it.
fn check_tool_use(block: &Value, path: &str, found: &mut Found) {
    let id = string(block, "id").unwrap_or_default();
    let by_server = string(block, "type") == Some("server_tool_use");
    // The provider mints the ids of its own tools, with a prefix and without hyphens.
    let is_good = if by_server {
        id.strip_prefix("srvtoolu_")
            .is_some_and(|rest| is_identifier(rest, usize::MAX) && !rest.contains('-'))
    } else {
        is_identifier(id, usize::MAX)
    };
    if !is_good {
        let (rule, pattern) = if by_server {
            (SERVER_TOOL_USE_ID, "^srvtoolu_[a-zA-Z0-9_]+$")
        } else {
            (TOOL_USE_ID, "^[a-zA-Z0-9_-]+$")
        };
        let detail = format!("`{id}` does not match `{pattern}`");
        found.add(format!("{path}/id"), rule, detail);
    }
    check_tool_name(block, path, found);
    if !block.get("input").is_some_and(Value::is_object) {
        let detail = "the input of a tool is an object";
        found.add(format!("{path}/input"), TOOL_USE_INPUT, detail);
    }
}

fn check_tool_result(block: &Value, path: &str, found: &mut Found) {
    if string(block, "tool_use_id").is_none_or(str::is_empty) {
        found.add(
            format!("{path}/tool_use_id"),
            TOOL_RESULT_ID,
            "a result names the call it answers",
        );
    }
    let is_error = block.get("is_error") == Some(&Value::Bool(true));
    let at = format!("{path}/content");
    let empty = match block.get("content") {
        None => true,
        Some(Value::String(text)) => text.is_empty(),
        Some(Value::Array(parts)) => {
            for (at, part) in items(parts, &at) {
                check_result_part(part, is_error, &at, found);
            }
            parts.is_empty()
        }
        Some(_) => {
            let detail = "the content of a result is a string or a list of blocks";
            found.add(at, TOOL_RESULT_CONTENT, detail);
            return;
        }
    };
    if is_error && empty {
        found.add(at, TOOL_RESULT_ERROR_CONTENT, "an error says what failed");
    }
}

fn check_result_part(part: &Value, is_error: bool, path: &str, found: &mut Found) {
    let kind = string(part, "type").unwrap_or_default();
    match kind {
        "text" => check_text(part, path, found),
        "image" | "document" if is_error => {
            let detail = format!("an error is told in text, not in `{kind}`");
            found.add(path, TOOL_RESULT_ERROR_CONTENT, detail);
        }
        "image" | "document" => check_source(part, kind, path, found),
        _ => {
            let detail = format!("`{kind}` is neither text nor image nor document");
            found.add(path, TOOL_RESULT_CONTENT, detail);
        }
    }
}

fn check_thinking(block: &Value, kind: &str, path: &str, before: &Before, found: &mut Found) {
    if before.spoke {
        found.add(path, THINKING_FIRST, "thinking opens its message");
    }
    let filled = |key: &str| string(block, key).is_some_and(|text| !text.is_empty());
    if kind == "redacted_thinking" {
        if !filled("data") {
            found.add(path, REDACTED_DATA, "redacted thinking needs its `data`");
        }
    } else {
        // Thinking may be withheld and its text empty; the signature stands for it.
        if string(block, "thinking").is_none() {
            found.add(path, BLOCK_KIND, "a thinking block needs a `thinking`");
        }
        if !filled("signature") {
            found.add(path, THINKING_SIGNATURE, "thinking needs its `signature`");
        }
    }
    if block
        .get("cache_control")
        .is_some_and(|mark| !mark.is_null())
    {
        found.add(
            path,
            THINKING_CACHE_MARK,
            "thinking takes no mark for the cache",
        );
    }
}
