//! Requests of OpenAI Chat Completions.
//!
//! What the provider demands, and this keeps: tool messages directly after the message that called,
//! one for each call and in its order; ids unique in the request and at most 40 characters;
//! arguments a string; `content` null only beside calls; names of a narrow set of characters.
//! What a message of a role cannot hold is said to be left out; reasoning is absent, because this
//! interface takes none.
//!
//! **Invariant:** the same turns give the same messages, whatever follows them.

use crate::ident::{self, Ids};
use crate::media::{Media, left_out};
use crate::{Content, Part, Prompt, PromptCall, Speaker, Turn};
use serde_json::{Map, Value, json};

/// The longest id that the provider takes.
const ID_CHARS_MAX: usize = 40;

/// What the person says where nothing at all is said; the provider wants a message.
pub const PLACEHOLDER: &str = "(nothing was said yet)";

/// Renders a request.
///
/// Tool definitions, limits and sampling are the caller's to add.
pub fn render(prompt: &Prompt) -> Value {
    let mut messages: Vec<Value> = prompt
        .system
        .iter()
        .filter(|text| !text.is_empty())
        .map(|text| json!({"role": "system", "content": text}))
        .collect();
    let mut ids = Ids::new(ID_CHARS_MAX);
    for turn in &prompt.turns {
        match turn {
            Turn::Message {
                role,
                name,
                content,
            } => {
                messages.extend(message(*role, name.as_deref(), content));
            }
            Turn::Calls { text, calls } if calls.is_empty() => {
                let said = text
                    .as_ref()
                    .and_then(|text| message(Speaker::Assistant, None, text));
                messages.extend(said);
            }
            Turn::Calls { text, calls } => {
                called(text.as_ref(), calls, &mut ids, &mut messages);
            }
        }
    }
    if messages.is_empty() {
        messages.push(json!({"role": "user", "content": PLACEHOLDER}));
    }
    let mut request = Map::new();
    if let Some(model) = &prompt.model {
        request.insert("model".into(), json!(model));
    }
    request.insert("messages".into(), Value::Array(messages));
    Value::Object(request)
}

fn message(role: Speaker, name: Option<&str>, content: &Content) -> Option<Value> {
    let (role, content) = match role {
        Speaker::User => ("user", user_content(content)?),
        Speaker::Assistant => ("assistant", assistant_content(content)?),
    };
    let mut message = Map::new();
    message.insert("role".into(), json!(role));
    if let Some(name) = name.and_then(ident::speaker) {
        message.insert("name".into(), json!(name));
    }
    message.insert("content".into(), content);
    Some(Value::Object(message))
}

fn called(text: Option<&Content>, calls: &[PromptCall], ids: &mut Ids, messages: &mut Vec<Value>) {
    let mut requested = Vec::new();
    let mut results = Vec::new();
    for call in calls {
        let id = ids.give(&call.id);
        requested.push(json!({
            "id": id,
            "type": "function",
            "function": {"name": ident::tool(&call.tool), "arguments": call.arguments},
        }));
        let content = shown(&call.result.content);
        results.push(json!({"role": "tool", "tool_call_id": id, "content": content}));
    }
    let said = text.and_then(assistant_content).unwrap_or(Value::Null);
    messages.push(json!({"role": "assistant", "content": said, "tool_calls": requested}));
    messages.append(&mut results);
}

fn user_content(content: &Content) -> Option<Value> {
    let parts = match content {
        Content::Text(text) => return (!text.is_empty()).then(|| json!(text)),
        Content::Parts(parts) => parts,
    };
    let blocks: Vec<Value> = parts.iter().filter_map(user_block).collect();
    (!blocks.is_empty()).then_some(Value::Array(blocks))
}

fn user_block(part: &Part) -> Option<Value> {
    let text = |text: &str| (!text.is_empty()).then(|| json!({"type": "text", "text": text}));
    match part {
        Part::Text { text: said } => text(said),
        Part::Thinking { .. } | Part::RedactedThinking { .. } => None,
        Part::Image { .. } => match Media::of(part).and_then(|media| media.to_url()) {
            Some(url) => Some(json!({"type": "image_url", "image_url": {"url": url}})),
            None => text(&left_out(part)),
        },
        Part::Document { .. } => match Media::of(part) {
            Some(media @ Media::Base64 { .. }) => Some(json!({
                "type": "file",
                "file": {"filename": "document", "file_data": media.to_url()},
            })),
            Some(Media::Text(said)) => text(&said),
            Some(Media::Url(_)) | None => text(&left_out(part)),
        },
        Part::Other { .. } => match part.plain_text() {
            Some(said) => text(&said),
            None => text(&left_out(part)),
        },
    }
}

/// The model's own messages hold text alone.
fn assistant_content(content: &Content) -> Option<Value> {
    let text = shown(content);
    (!text.is_empty()).then_some(Value::String(text))
}

/// Gives the text of content where the provider takes nothing but text.
fn shown(content: &Content) -> String {
    let parts = match content {
        Content::Text(text) => return text.clone(),
        Content::Parts(parts) => parts,
    };
    let mut texts = Vec::new();
    for part in parts {
        match part {
            Part::Thinking { .. } | Part::RedactedThinking { .. } => {}
            Part::Document { .. } => match Media::of(part) {
                Some(Media::Text(text)) => texts.push(text),
                _ => texts.push(left_out(part)),
            },
            Part::Text { .. } | Part::Image { .. } | Part::Other { .. } => {
                let text = part.plain_text().map(std::borrow::Cow::into_owned);
                texts.push(text.unwrap_or_else(|| left_out(part)));
            }
        }
    }
    texts.retain(|text| !text.is_empty());
    texts.join("\n")
}
