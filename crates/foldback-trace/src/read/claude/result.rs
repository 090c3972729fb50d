//! The results of tools, which a session has in the user's place.

use super::block::{INTERRUPTED, begins, part};
use super::walk::{Spot, Walk};
use crate::read::call::Answer;
use crate::read::chat::text_media;
use crate::read::json::{Fields, items, text};
use crate::{Content, SourceBody};
use foldback_event::{CallStatus, MediaType};
use serde_json::value::RawValue;

/// How a result begins of a call that the person did not let run to its end.
const CANCELLED: &[&str] = &[
    INTERRUPTED,
    "The user doesn't want to proceed with this tool use",
];

const ERROR_TAG: &str = "<tool_use_error>";

/// Gives the ids of the calls that a message answers.
pub(super) fn results_in(message: &Fields<'_>) -> Vec<String> {
    let blocks = message.array("content").unwrap_or_default();
    blocks
        .into_iter()
        .filter_map(Fields::of)
        .filter(|block| block.text("type").as_deref() == Some("tool_result"))
        .filter_map(|block| block.text("tool_use_id"))
        .collect()
}

/// Reads a result block, with the structured result that stands beside it.
pub(super) fn of_block<'a>(
    walk: &mut Walk<'_, 'a>,
    spot: &Spot,
    index: usize,
    block: &Fields<'a>,
    structured: Option<&'a RawValue>,
) {
    let source_id = block.text("tool_use_id").unwrap_or_default();
    let call = match walk.calls.answer(&source_id) {
        Answer::Call(call) => Some(call),
        Answer::Again => {
            let what = format!("`{source_id}` was answered before");
            walk.builder
                .find("duplicate-result", &spot.scene.place, what);
            None
        }
        Answer::Orphan => {
            let what = format!("`{source_id}` is the id of no call before it");
            walk.builder.find("orphan-result", &spot.scene.place, what);
            None
        }
    };
    let raw = block.get("content");
    let (content, media_type) = raw.map_or((Vec::new(), MediaType::Text), result_content);
    let shown = if media_type == MediaType::Parts {
        ""
    } else {
        text_of(&content)
    };
    let is_error = block.is_true("is_error");
    let told = structured.and_then(text);
    let failed = is_error
        || shown.starts_with(ERROR_TAG)
        || told
            .as_deref()
            .is_some_and(|told| told.starts_with("Error:"));
    let status = match failed {
        true if begins(shown, CANCELLED) => CallStatus::Cancelled,
        true => CallStatus::Failed,
        false => CallStatus::Succeeded,
    };
    let members = structured.and_then(Fields::of).unwrap_or_default();
    if let Some(call) = &call {
        // An agent that goes on in the background has not ended with this result.
        let goes_on = members.text("status").as_deref() == Some("async_launched");
        walk.children_of(spot, &call.key, &source_id, (!goes_on).then_some(status));
    }
    let duration_ms = members
        .number("totalDurationMs")
        .or_else(|| members.number("durationMs"))
        .or_else(|| members.number("duration_ms"));
    let more = structured.filter(|structured| !is_repeated(structured, raw, shown));
    let key = format!("{}:{index}", spot.line);
    if let Some(rest) = block.without(&["type", "tool_use_id", "content", "is_error"]) {
        walk.builder
            .keep(&spot.scene, &format!("{key}:item"), "result-item", &rest);
    }
    let body = SourceBody::Result {
        tool: call.as_ref().map(|call| call.tool.clone()),
        call: call.map(|call| call.key),
        source_id,
        status,
        is_error,
        content,
        media_type,
        structured: more.map(|more| walk.plan.long.name_in(more.get())),
        duration_ms,
    };
    walk.record(spot, &key, body);
}

fn text_of(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

/// Reads what a model was shown of a result.
fn result_content(raw: &RawValue) -> (Vec<u8>, MediaType) {
    let content = match (text(raw), items(raw)) {
        (Some(text), _) => Content::Text(text),
        (None, Some(blocks)) => Content::of_parts(
            blocks
                .into_iter()
                .map(|raw| part(raw, &Fields::of(raw).unwrap_or_default()))
                .collect(),
        ),
        (None, None) => return (raw.get().as_bytes().to_vec(), MediaType::Json),
    };
    match content {
        Content::Text(text) => {
            let media_type = text_media(&text);
            (text.into_bytes(), media_type)
        }
        parts @ Content::Parts(_) => (parts.to_bytes(), MediaType::Parts),
    }
}

/// Tells whether a structured result says what the content says and no more.
fn is_repeated(structured: &RawValue, content: Option<&RawValue>, shown: &str) -> bool {
    if Some(structured.get()) == content.map(RawValue::get) {
        return true;
    }
    match text(structured) {
        Some(told) => told == shown || told.strip_prefix("Error: ") == Some(shown),
        None => false,
    }
}
