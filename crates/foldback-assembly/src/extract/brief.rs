//! What the brief forms of structured results have in common.
//!
//! Prose, logs and source code have none: what a later call needs of them is the words themselves.

use super::Extraction;
use super::page::Page;

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

/// A brief form saves at least so many bytes.
const SAVING_BYTES_MIN: usize = 40;

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

/// Counts things, in the plural where there is not one.
pub(super) fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// Ends a list of names that says where it was cut.
pub(super) fn ended(page: Page) -> String {
    let cut = page.is_full();
    let mut out = page.finish();
    if cut {
        out.push_str(", …");
    }
    out
}

/// Keeps a brief form where it saves against the compact one.
pub(super) fn keep(out: &mut Extraction, brief: Option<String>) {
    let compact = out.summary.len();
    let share = compact.saturating_mul(SHARE_MAX) / 100;
    let allowed = share.min(compact.saturating_sub(SAVING_BYTES_MIN));
    out.brief = brief.filter(|brief| !brief.is_empty() && brief.len() <= allowed);
}
