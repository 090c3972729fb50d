//! Telling the format of a file from its bytes.
//!
//! What decides is the shape of the JSON, never the file's name. A file that is one JSON value is
//! told by that value; else its lines are, so that a damaged line does not hide what the others
//! are. This module only tells: [`crate::read()`] reports what is wrong inside a known format.

use crate::Format;
use crate::read::json::{Fields, items};
use serde_json::value::RawValue;

/// Says why a file's format cannot be told.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DetectError {
    /// There is nothing in the file.
    #[error("`{name}` is empty")]
    Empty {
        /// The file.
        name: String,
    },
    /// The file is no text.
    #[error("`{name}` is not UTF-8 text at byte {at}")]
    NotText {
        /// The file.
        name: String,
        /// The first byte that does not fit.
        at: usize,
    },
    /// The file is neither one JSON value nor lines of JSON.
    #[error("`{name}` is not JSON: line {line}, column {column}; supported are {supported}",
        supported = SUPPORTED)]
    Json {
        /// The file.
        name: String,
        /// The line of the first error, from 1.
        line: usize,
        /// The column of the first error, from 1.
        column: usize,
        /// What the JSON reader saw.
        source: serde_json::Error,
    },
    /// The JSON is of no supported format.
    #[error("`{name}` is {saw}; supported are {supported}", supported = SUPPORTED)]
    Unknown {
        /// The file.
        name: String,
        /// What it looks like.
        saw: String,
    },
}

/// What [`crate::read()`] can read, for people.
pub const SUPPORTED: &str = "OpenAI Chat Completions (a message array, an object with `messages`, \
     or one such object per line), tau-bench trajectories, and Claude Code sessions (JSON lines, \
     or an object with `loglines`)";

/// How many lines are looked at before a file of lines counts as unknown.
const LINES_TRIED_MAX: usize = 200;

/// The kinds of lines that Claude Code writes.
const CLAUDE_KINDS: &[&str] = &[
    "user",
    "assistant",
    "system",
    "summary",
    "progress",
    "queue-operation",
    "file-history-snapshot",
    "attachment",
    "custom-title",
    "ai-title",
    "last-prompt",
    "permission-mode",
    "agent-name",
    "pr-link",
];

/// Tells the format of a file.
///
/// `name` is the file's name, for messages alone.
///
/// # Errors
///
/// The error says what the file looks like and which formats are supported.
pub fn detect(bytes: &[u8], name: &str) -> Result<Format, DetectError> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        // A last line that was cut inside a character is still a line; its reader says so.
        Err(error) => match bytes.get(..error.valid_up_to()) {
            Some(start) if start.contains(&b'\n') => std::str::from_utf8(start).unwrap_or_default(),
            _ => {
                return Err(DetectError::NotText {
                    name: name.into(),
                    at: error.valid_up_to(),
                });
            }
        },
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err(DetectError::Empty { name: name.into() });
    }
    let whole = match serde_json::from_str::<&RawValue>(text) {
        Ok(value) => return of_value(value).map_err(|saw| unknown(name, saw)),
        Err(error) => error,
    };
    let mut saw = None;
    for line in text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .take(LINES_TRIED_MAX)
    {
        let Ok(value) = serde_json::from_str::<&RawValue>(line) else {
            continue;
        };
        if Fields::of(value).is_none() {
            continue;
        }
        match of_value(value) {
            Ok(format) => return Ok(format),
            Err(what) => saw = saw.or(Some(what)),
        }
    }
    match saw {
        // A cut-off document can have a line that is an object of its own by chance.
        Some(what) if !whole.is_eof() || first_line_is_json(text) => Err(unknown(
            name,
            format!("lines of which the first known is {what}"),
        )),
        _ => Err(DetectError::Json {
            name: name.into(),
            line: whole.line(),
            column: whole.column(),
            source: whole,
        }),
    }
}

fn first_line_is_json(text: &str) -> bool {
    let first = text
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    serde_json::from_str::<&RawValue>(first).is_ok()
}

fn unknown(name: &str, saw: String) -> DetectError {
    DetectError::Unknown {
        name: name.into(),
        saw,
    }
}

fn of_value(value: &RawValue) -> Result<Format, String> {
    if let Some(fields) = Fields::of(value) {
        return of_object(&fields);
    }
    let Some(array) = items(value) else {
        return Err("one JSON value that is neither an object nor an array".into());
    };
    let Some(first) = array.iter().find_map(|item| Fields::of(item)) else {
        return Err(format!(
            "a JSON array of {} items without an object",
            array.len()
        ));
    };
    if first.get("traj").is_some() {
        return Ok(Format::TauBench);
    }
    if first.text("role").is_some() {
        return of_messages(&array);
    }
    Err(format!("a JSON array of objects with {}", first.names()))
}

fn of_object(fields: &Fields<'_>) -> Result<Format, String> {
    if fields.array("loglines").is_some() {
        return Ok(Format::ClaudeCode);
    }
    if fields.text("messages_display").is_some() {
        return Ok(Format::TauBench);
    }
    if fields.array("traj").is_some() {
        return Ok(Format::TauBench);
    }
    if is_claude_line(fields) {
        return Ok(Format::ClaudeCode);
    }
    match fields.array("messages") {
        Some(messages) => of_messages(&messages),
        None => Err(format!("a JSON object with {}", fields.names())),
    }
}

fn is_claude_line(fields: &Fields<'_>) -> bool {
    let Some(kind) = fields.text("type") else {
        return false;
    };
    CLAUDE_KINDS.contains(&kind.as_str())
        && ["uuid", "sessionId", "leafUuid", "snapshot", "message"]
            .iter()
            .any(|name| fields.get(name).is_some())
}

fn of_messages(messages: &[&RawValue]) -> Result<Format, String> {
    const ROLES: &[&str] = &[
        "system",
        "developer",
        "user",
        "assistant",
        "tool",
        "function",
    ];
    let mut known = messages.is_empty();
    for message in messages {
        let Some(fields) = Fields::of(message) else {
            continue;
        };
        let role = fields.text("role");
        known |= role.is_some_and(|role| ROLES.contains(&role.as_str()));
        for block in fields.array("content").unwrap_or_default() {
            let kind = Fields::of(block).and_then(|block| block.text("type"));
            if matches!(kind.as_deref(), Some("tool_use" | "tool_result")) {
                return Err("an array of Anthropic messages".into());
            }
        }
    }
    if known {
        return Ok(Format::OpenAiChat);
    }
    let names = messages
        .iter()
        .find_map(|m| Fields::of(m))
        .map(|f| f.names());
    Err(format!(
        "a list of messages with {}",
        names.unwrap_or_else(|| "no object".into())
    ))
}
