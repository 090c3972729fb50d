//! Bytes that are no text: their kind and size, never their content.

use super::page::size;
use super::{Extraction, Locator, Omission};
use foldback_event::{Freshness, MediaType};

const MAGIC: &[(&[u8], &str, MediaType)] = &[
    (b"\x89PNG", "PNG image", MediaType::Image),
    (b"\xff\xd8\xff", "JPEG image", MediaType::Image),
    (b"GIF8", "GIF image", MediaType::Image),
    (b"%PDF-", "PDF document", MediaType::Document),
    (b"PK\x03\x04", "ZIP archive", MediaType::Bytes),
    (b"\x1f\x8b", "gzip data", MediaType::Bytes),
    (b"iVBORw0KGgo", "PNG image in base64", MediaType::Image),
    (b"/9j/", "JPEG image in base64", MediaType::Image),
    (b"R0lGOD", "GIF image in base64", MediaType::Image),
    (b"JVBERi0", "PDF document in base64", MediaType::Document),
];

/// From how many bytes on a word may be encoded data.
const ENCODED_BYTES_MIN: usize = 200;

/// Tells whether bytes are no text.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    let sample = bytes.get(..bytes.len().min(8_192)).unwrap_or_default();
    // A sample that ends inside a character is still text: only its valid start counts.
    let broken: usize = sample
        .utf8_chunks()
        .map(|chunk| chunk.invalid().len())
        .sum();
    sample.contains(&0)
        || broken * 10 > sample.len() + 30
        || MAGIC.iter().take(4).any(|m| sample.starts_with(m.0))
}

/// Tells whether a text is one long word of base64 or hexadecimal digits.
pub(super) fn is_encoded(text: &str) -> bool {
    if text.len() < ENCODED_BYTES_MIN {
        return false;
    }
    if text.starts_with("data:") && text.get(..80).is_some_and(|head| head.contains(";base64,")) {
        return true;
    }
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"+/=-_\r\n".contains(&b);
    let head = text.bytes().take(ENCODED_BYTES_MIN);
    // A path has many slashes and a run of words has many dashes; encoded data has few of either.
    let marks = head.filter(|b| b"/-_".contains(b)).count();
    marks < 20
        && text.bytes().all(fits)
        && text.bytes().filter(|b| *b == b'\n').count() * 40 < text.len()
}

/// Describes bytes or an encoded text.
pub(super) fn summarize(bytes: &[u8], said: MediaType) -> Extraction {
    let known = MAGIC.iter().find(|magic| bytes.starts_with(magic.0));
    let (name, media) = match (known, said) {
        (Some((_, name, media)), _) => (*name, *media),
        (None, MediaType::Image) => ("image", MediaType::Image),
        (None, MediaType::Document) => ("document", MediaType::Document),
        (None, _) => ("binary data", MediaType::Bytes),
    };
    let mut out = Extraction::new("binary", media, Freshness::Durable);
    out.summary = format!("{name}, {}", size(bytes.len()));
    out.omitted.push(Omission {
        what: "bytes",
        count: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
    });
    out.locators.push(Locator::bytes(0, bytes.len()));
    out
}
