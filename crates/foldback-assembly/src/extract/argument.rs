//! What a call's arguments say about its result's subject.

use super::Input;
use super::json::tape::{Shape, Tape};
use super::key::is_identity;

const PLACE_KEYS: &[&str] = &[
    "file_path",
    "path",
    "filename",
    "file",
    "notebook_path",
    "filepath",
    "url",
    "uri",
];

/// Names the subject of a result after its call's arguments: the file or address it is about, or the
/// one identity that was asked for.
pub(super) fn subject(input: &Input<'_>) -> Option<String> {
    let text = std::str::from_utf8(input.arguments).ok()?;
    let tape = Tape::parse(text)?;
    let mut identities = Vec::new();
    for (key, value) in tape.children(Tape::root()) {
        let Some(key) = key.map(|key| tape.text(key)) else {
            continue;
        };
        if !matches!(tape.shape(value), Shape::Text | Shape::Number) {
            continue;
        }
        let value = tape.text(value);
        if value.is_empty() || value.len() > 300 {
            continue;
        }
        if PLACE_KEYS.contains(&&*key) {
            let kind = if value.contains("://") { "url" } else { "file" };
            return Some(format!("{kind}={value}"));
        }
        if is_identity(&key) {
            identities.push(format!("{key}={value}"));
        }
    }
    match (identities.pop(), identities.is_empty()) {
        (Some(one), true) => Some(one),
        _ => None,
    }
}
