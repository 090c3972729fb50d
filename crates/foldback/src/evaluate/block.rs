//! Blocks: the smallest parts of a request that a provider's cache tells apart.

use crate::tokenizer;
use foldback_event::{Digest, MediaType};
use foldback_trace::{Content, Part, Prompt, Turn};
use std::borrow::Cow;
use std::collections::BTreeMap;

const CONTEXT: &str = "foldback 2026 evaluated block v1";

/// A message, a call or a result as the model reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) digest: Digest,
    pub(super) tokens: u64,
}

/// Counts each text once, however many requests hold it.
#[derive(Debug, Default)]
pub(super) struct Counter {
    known: BTreeMap<Digest, u64>,
}

impl Counter {
    fn block(&mut self, bytes: &[u8], count: impl FnOnce() -> u64) -> Block {
        let digest = Digest::of(CONTEXT, bytes);
        let tokens = *self.known.entry(digest).or_insert_with(count);
        Block { digest, tokens }
    }

    pub(super) fn text(&mut self, text: &str) -> Block {
        self.block(text.as_bytes(), || u64::from(tokenizer::count_tokens(text)))
    }

    pub(super) fn content(&mut self, content: &Content) -> Block {
        let content = without_thinking(content);
        let (bytes, media_type) = (content.to_bytes(), content.media_type());
        self.block(&bytes, || u64::from(tokenizer::count(&bytes, media_type)))
    }

    /// A call takes its arguments and a token for four bytes of its tool's name.
    pub(super) fn call(&mut self, tool: &str, arguments: &str) -> Block {
        let text = format!("{tool}\n{arguments}");
        self.block(text.as_bytes(), || {
            let name = (tool.len() as u64).div_ceil(4);
            name + u64::from(tokenizer::count(arguments.as_bytes(), MediaType::Json))
        })
    }

    /// Cuts a request into its blocks, in the order in which providers take them: of calls that
    /// were made at once, first all calls and then all results.
    pub(super) fn prompt(&mut self, prompt: &Prompt) -> Vec<Block> {
        let mut out: Vec<Block> = prompt.system.iter().map(|text| self.text(text)).collect();
        for turn in &prompt.turns {
            match turn {
                Turn::Message { content, .. } => out.push(self.content(content)),
                Turn::Calls { text, calls } => {
                    out.extend(text.iter().map(|text| self.content(text)));
                    for call in calls {
                        out.push(self.call(&call.tool, &call.arguments));
                    }
                    for call in calls {
                        out.push(self.content(&call.result.content));
                    }
                }
            }
        }
        out.retain(|block| block.tokens > 0);
        out
    }
}

fn without_thinking(content: &Content) -> Cow<'_, Content> {
    let thinks =
        |part: &Part| matches!(part, Part::Thinking { .. } | Part::RedactedThinking { .. });
    match content {
        Content::Parts(parts) if parts.iter().any(thinks) => {
            let rest = parts.iter().filter(|part| !thinks(part)).cloned().collect();
            Cow::Owned(Content::of_parts(rest))
        }
        other => Cow::Borrowed(other),
    }
}

/// Gives what can be read of a content; of a block of a kind that is not known, its JSON.
pub(super) fn readable(content: &Content) -> Cow<'_, str> {
    match content {
        Content::Text(text) => Cow::Borrowed(text),
        Content::Parts(parts) => {
            let texts: Vec<&str> = parts
                .iter()
                .filter_map(|part| match part {
                    Part::Text { text } => Some(text.as_str()),
                    Part::Other { json } => Some(json.as_str()),
                    _ => None,
                })
                .collect();
            Cow::Owned(texts.join("\n"))
        }
    }
}

/// Lists everything that can be read in a request.
pub(super) fn texts(prompt: &Prompt) -> Vec<Cow<'_, str>> {
    let mut out: Vec<Cow<'_, str>> = prompt
        .system
        .iter()
        .map(|text| Cow::Borrowed(text.as_str()))
        .collect();
    for turn in &prompt.turns {
        match turn {
            Turn::Message { content, .. } => out.push(readable(content)),
            Turn::Calls { text, calls } => {
                out.extend(text.iter().map(readable));
                for call in calls {
                    out.push(super::need::spoken(&call.arguments));
                    out.push(readable(&call.result.content));
                }
            }
        }
    }
    out
}
