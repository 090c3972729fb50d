//! Payloads as text for people: what is no text is named in brackets.

use crate::error::CliError;
use foldback::event::{MediaType, PayloadRef};
use foldback::{Content, Engine, Part, PayloadText, RuntimeGraph};

/// Opens a payload of a conversation as text.
pub(crate) fn text(
    engine: &Engine,
    graph: &RuntimeGraph,
    payload: &PayloadRef,
) -> Result<String, CliError> {
    match engine.text_of(graph, payload)? {
        PayloadText::Text(text) => Ok(readable(payload.media_type, text)),
        other => Ok(other.or_notice()),
    }
}

fn readable(media_type: MediaType, text: String) -> String {
    match media_type {
        MediaType::Parts | MediaType::Thinking => {
            match Content::from_bytes(MediaType::Parts, text.as_bytes()) {
                Ok(Content::Parts(parts)) => parts.iter().map(part).collect::<Vec<_>>().join("\n"),
                Ok(Content::Text(text)) => text,
                Err(_) => text,
            }
        }
        MediaType::Image | MediaType::Document | MediaType::Bytes => format!("[{media_type}]"),
        _ => text,
    }
}

fn part(part: &Part) -> String {
    match part {
        Part::Text { text } => text.clone(),
        Part::Thinking { text, .. } => format!("[thinking] {text}"),
        Part::RedactedThinking { .. } => "[thinking, redacted]".to_owned(),
        Part::Image { .. } => "[image]".to_owned(),
        Part::Document { .. } => "[document]".to_owned(),
        Part::Other { .. } => part.plain_text().map_or_else(
            || "[other content]".to_owned(),
            std::borrow::Cow::into_owned,
        ),
    }
}
