//! What the brief forms of structured results have in common.
//!
//! Prose, logs and source code have none: what a later call needs of them is the words themselves.

use super::Extraction;

/// The most bytes of a brief form that holds every short value.
pub(super) const BRIEF_BYTES_MAX: usize = 480;

/// The most bytes of one that holds what names things alone.
pub(super) const NAMES_BYTES_MAX: usize = 120;

/// Longer values are prose, and stay with the compact form.
pub(super) const VALUE_BYTES_MAX: usize = 64;

/// The most words of a value that is a name and no prose.
const WORDS_MAX: usize = 3;

/// A brief form takes at most so many percent of the compact one.
const SHARE_MAX: usize = 85;

/// Tells whether a text says what it is without its key: a word, a name, a code, a date, an address.
pub(super) fn says_itself(text: &str) -> bool {
    let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
    let other = !text.is_ascii();
    (letters >= 2 && !matches!(text, "yes" | "true")) || other || text.len() >= 8
}

/// Tells whether a text is told rather than named: it has more words than a name.
pub(super) fn is_prose(text: &str) -> bool {
    text.split_whitespace().nth(WORDS_MAX).is_some()
}

/// Keeps a brief form where it saves against the compact one.
pub(super) fn keep(out: &mut Extraction, brief: Option<String>) {
    let allowed = out.summary.len().saturating_mul(SHARE_MAX) / 100;
    out.brief = brief.filter(|brief| !brief.is_empty() && brief.len() <= allowed);
}
