//! The words of a story: payloads by their address.

use super::Story;
use foldback_event::{Digest, MediaType, PayloadRef};
use std::collections::BTreeMap;

/// The bytes that payloads point to.
pub(super) type Texts = BTreeMap<Digest, Vec<u8>>;

/// Counts tokens as a stand-in for a tokenizer: each run of letters and digits is one, and each
/// other character that is no white space is one.
pub fn tokens_of(text: &str) -> u32 {
    let mut count: u32 = 0;
    let mut in_word = false;
    for c in text.chars() {
        let word = c.is_alphanumeric();
        let goes_on = word && in_word;
        if !c.is_whitespace() && !goes_on {
            count = count.saturating_add(1);
        }
        in_word = word;
    }
    count
}

impl Story {
    /// Keeps a text as a payload without writing an event; JSON is told from its first character.
    pub fn payload(&mut self, text: &str) -> PayloadRef {
        let json = text.starts_with(['{', '[']);
        let media_type = if json {
            MediaType::Json
        } else {
            MediaType::Text
        };
        self.payload_as(media_type, text.as_bytes())
    }

    /// Keeps bytes as a payload of a media type without writing an event.
    ///
    /// The address is the plain BLAKE3 of the bytes, where the vault has a keyed one; the sealed
    /// digest stands for bytes that nobody sealed.
    pub fn payload_as(&mut self, media_type: MediaType, bytes: &[u8]) -> PayloadRef {
        let address = Digest::from_bytes(*blake3::hash(bytes).as_bytes());
        self.texts.insert(address, bytes.to_vec());
        PayloadRef {
            address,
            sealed_digest: Digest::of("foldback 2026 testkit sealed v1", bytes),
            bytes: bytes.len() as u64,
            tokens: std::str::from_utf8(bytes).map_or(0, tokens_of),
            media_type,
        }
    }

    /// Gives the text of a payload; none for one that is not of this story or is no text.
    pub fn text(&self, payload: &PayloadRef) -> Option<String> {
        String::from_utf8(self.bytes(payload)?.to_vec()).ok()
    }

    /// Gives the bytes of a payload.
    pub fn bytes(&self, payload: &PayloadRef) -> Option<&[u8]> {
        self.texts.get(&payload.address).map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_signs_are_tokens() {
        assert_eq!(tokens_of(""), 0);
        assert_eq!(tokens_of("two words"), 2);
        assert_eq!(tokens_of(r#"{"id":"4WQ150"}"#), 9);
    }
}
