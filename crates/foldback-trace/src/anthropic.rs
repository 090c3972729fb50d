//! Requests of Anthropic Messages.
//!
//! What the provider demands, and this keeps: the first message is the user's; roles alternate, so
//! what follows in one role is one message; the results of an answer's calls come first in the next
//! user message, all of them; ids are unique and of a narrow set of characters; a call's input is
//! an object; no text is blank; the last text does not end in white space where it is the model's;
//! reasoning is exact and signed, at the start of an answer and never its end, or absent.
//!
//! **Invariant:** the same turns give the same blocks, whatever follows them. Only the end of a
//! request is under rules of its own: white space at the end of a last answer, and reasoning that
//! nothing follows, are gone there and back when the request goes on.

use crate::ident::{self, Ids};
use crate::media::{Media, left_out};
use crate::{Content, Part, Prompt, PromptCall, Speaker, Turn};
use serde_json::{Map, Value, json};

/// The longest id that is given out.
const ID_CHARS_MAX: usize = 64;

/// What the user says where a conversation begins with the model; the provider wants the user
/// first.
pub const PLACEHOLDER: &str = "(the conversation begins with what follows)";

/// The limit on output tokens that a request names, which the provider demands; a caller that
/// wants another replaces it.
pub const MAX_TOKENS: u32 = 4096;

/// Renders a request.
///
/// Tool definitions, cache marks and sampling are the caller's to add.
pub fn render(prompt: &Prompt) -> Value {
    let mut layout = Layout::default();
    let mut ids = Ids::new(ID_CHARS_MAX);
    for turn in &prompt.turns {
        match turn {
            Turn::Message {
                role: Speaker::User,
                name,
                content,
            } => {
                layout.add(Speaker::User, user_blocks(name.as_deref(), content));
            }
            Turn::Message {
                role: Speaker::Assistant,
                content,
                ..
            } => layout.answer(content),
            Turn::Calls { text, calls } => {
                if let Some(text) = text {
                    layout.answer(text);
                }
                called(calls, &mut ids, &mut layout);
            }
        }
    }
    let mut request = Map::new();
    if let Some(model) = &prompt.model {
        request.insert("model".into(), json!(model));
    }
    request.insert("max_tokens".into(), json!(MAX_TOKENS));
    let system: Vec<Value> = prompt.system.iter().filter_map(|said| text(said)).collect();
    if !system.is_empty() {
        request.insert("system".into(), Value::Array(system));
    }
    request.insert("messages".into(), Value::Array(layout.finish()));
    Value::Object(request)
}

/// Messages in the making.
#[derive(Debug, Default)]
struct Layout(Vec<(Speaker, Vec<Value>)>);

impl Layout {
    fn add(&mut self, role: Speaker, mut blocks: Vec<Value>) {
        match self.0.last_mut() {
            _ if blocks.is_empty() => {}
            Some((last, so_far)) if *last == role => so_far.append(&mut blocks),
            _ => self.0.push((role, blocks)),
        }
    }

    /// Adds what the model said; reasoning goes in where an answer begins.
    fn answer(&mut self, content: &Content) {
        let mut at_start = match self.0.last() {
            Some((Speaker::Assistant, blocks)) => blocks.iter().all(is_reasoning),
            _ => true,
        };
        let mut blocks = Vec::new();
        for part in parts_of(content).iter() {
            let block = answer_block(part);
            if block.as_ref().is_some_and(is_reasoning) && !at_start {
                continue;
            }
            at_start &= block.as_ref().is_none_or(is_reasoning);
            blocks.extend(block);
        }
        self.add(Speaker::Assistant, blocks);
    }

    fn finish(self) -> Vec<Value> {
        let mut whole = Self::default();
        for (role, mut blocks) in self.0 {
            if role == Speaker::Assistant {
                while blocks.last().is_some_and(is_reasoning) {
                    blocks.pop();
                }
            }
            whole.add(role, blocks);
        }
        if whole
            .0
            .first()
            .is_none_or(|(role, _)| *role == Speaker::Assistant)
        {
            whole.0.insert(
                0,
                (
                    Speaker::User,
                    vec![json!({"type": "text", "text": PLACEHOLDER})],
                ),
            );
        }
        if let Some((Speaker::Assistant, blocks)) = whole.0.last_mut()
            && let Some(Value::String(text)) = blocks.last_mut().and_then(|b| b.get_mut("text"))
        {
            text.truncate(text.trim_end().len());
        }
        let named = whole.0.into_iter().map(|(role, blocks)| {
            let role = if role == Speaker::User {
                "user"
            } else {
                "assistant"
            };
            json!({"role": role, "content": blocks})
        });
        named.collect()
    }
}

fn called(calls: &[PromptCall], ids: &mut Ids, layout: &mut Layout) {
    let mut requested = Vec::new();
    let mut results = Vec::new();
    for call in calls {
        let id = ids.give(&call.id);
        requested.push(json!({
            "type": "tool_use",
            "id": id,
            "name": ident::tool(&call.tool),
            "input": input(&call.arguments),
        }));
        let mut result = Map::new();
        result.insert("type".into(), json!("tool_result"));
        result.insert("tool_use_id".into(), json!(id));
        result.insert("content".into(), result_content(&call.result.content));
        if call.result.is_error {
            result.insert("is_error".into(), json!(true));
        }
        results.push(Value::Object(result));
    }
    layout.add(Speaker::Assistant, requested);
    layout.add(Speaker::User, results);
}

/// Gives the arguments as an object; what is none goes into one, so that it is not lost.
fn input(arguments: &str) -> Value {
    match serde_json::from_str(arguments) {
        Ok(input @ Value::Object(_)) => input,
        _ if arguments.trim().is_empty() => json!({}),
        _ => json!({"_raw": arguments}),
    }
}

fn text(said: &str) -> Option<Value> {
    (!said.trim().is_empty()).then(|| json!({"type": "text", "text": said}))
}

fn is_reasoning(block: &Value) -> bool {
    let kind = block.get("type").and_then(Value::as_str);
    matches!(kind, Some("thinking" | "redacted_thinking"))
}

fn parts_of(content: &Content) -> std::borrow::Cow<'_, [Part]> {
    match content {
        Content::Text(text) => vec![Part::Text { text: text.clone() }].into(),
        Content::Parts(parts) => parts.as_slice().into(),
    }
}

fn user_blocks(name: Option<&str>, content: &Content) -> Vec<Value> {
    let mut blocks: Vec<Value> = parts_of(content).iter().filter_map(user_block).collect();
    // The provider has no field for who speaks, so the text says it.
    let name = name
        .map(str::trim)
        .filter(|name| !name.is_empty() && !blocks.is_empty());
    if let Some(name) = name {
        let first = blocks.iter_mut().find_map(|block| block.get_mut("text"));
        if let Some(Value::String(said)) = first {
            said.insert_str(0, &format!("{name}: "));
        } else {
            blocks.insert(0, json!({"type": "text", "text": format!("{name}:")}));
        }
    }
    blocks
}

fn user_block(part: &Part) -> Option<Value> {
    match part {
        Part::Text { text: said } => text(said),
        Part::Thinking { .. } | Part::RedactedThinking { .. } => None,
        Part::Image { .. } => match Media::of(part) {
            Some(media @ (Media::Base64 { .. } | Media::Url(_))) => {
                Some(json!({"type": "image", "source": media.to_source()}))
            }
            Some(Media::Text(_)) | None => text(&left_out(part)),
        },
        Part::Document { .. } => match Media::of(part) {
            Some(media) => Some(json!({"type": "document", "source": media.to_source()})),
            None => text(&left_out(part)),
        },
        Part::Other { .. } => match part.plain_text() {
            Some(said) => text(&said),
            None => text(&left_out(part)),
        },
    }
}

fn answer_block(part: &Part) -> Option<Value> {
    match part {
        Part::Thinking {
            text: thought,
            signature: Some(signature),
        } if !signature.is_empty() => {
            Some(json!({"type": "thinking", "thinking": thought, "signature": signature}))
        }
        // Without its signature the provider refuses it.
        Part::Thinking { .. } => None,
        Part::RedactedThinking { data } => Some(json!({"type": "redacted_thinking", "data": data})),
        Part::Image { .. } | Part::Document { .. } => text(&left_out(part)),
        Part::Text { .. } | Part::Other { .. } => user_block(part),
    }
}

fn result_content(content: &Content) -> Value {
    match content {
        // Blank text is refused, and no content at all is not.
        Content::Text(text) if text.trim().is_empty() => Value::String(String::new()),
        Content::Text(text) => Value::String(text.clone()),
        Content::Parts(parts) => parts.iter().filter_map(user_block).collect(),
    }
}
