//! Token counts: made once, when a payload is captured, and recorded with it.

use foldback_event::MediaType;
use foldback_trace::{Content, Part};

/// The name of the encoding that all counts are made with.
pub const TOKENIZER: &str = "o200k_base";

/// What an image or a document counts: providers charge these by their size on a page and not by
/// their bytes, which no text encoding can tell.
pub const NON_TEXT_TOKENS: u32 = 1_500;

/// Counts the tokens of a text.
pub fn count_tokens(text: &str) -> u32 {
    u32::try_from(bpe_openai::o200k_base().count(text)).unwrap_or(u32::MAX)
}

/// Counts the tokens of a payload: of its text, or a flat figure for each image or document.
pub(crate) fn count(bytes: &[u8], media_type: MediaType) -> u32 {
    match media_type {
        MediaType::Image | MediaType::Document => NON_TEXT_TOKENS,
        // What no model reads is not counted.
        MediaType::Source | MediaType::Policy | MediaType::Bytes => 0,
        MediaType::Parts | MediaType::Thinking => {
            match Content::from_bytes(MediaType::Parts, bytes) {
                Ok(content) => content_tokens(&content),
                Err(_) => count_tokens(&String::from_utf8_lossy(bytes)),
            }
        }
        _ => count_tokens(&String::from_utf8_lossy(bytes)),
    }
}

fn content_tokens(content: &Content) -> u32 {
    let parts = match content {
        Content::Text(text) => return count_tokens(text),
        Content::Parts(parts) => parts,
    };
    parts.iter().fold(0_u32, |sum, part| {
        let tokens = match part {
            Part::Text { text } | Part::Thinking { text, .. } => count_tokens(text),
            Part::Image { .. } | Part::Document { .. } => NON_TEXT_TOKENS,
            Part::RedactedThinking { .. } => 0,
            Part::Other { json } => count_tokens(json),
        };
        sum.saturating_add(tokens)
    })
}
