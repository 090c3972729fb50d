//! What a call's arguments say about its result's subject.

use super::Input;
use super::json::tape::{Shape, Tape};
use super::key::is_identity;

/// The tools that write the file which their arguments name.
const WRITERS: &[&str] = &[
    "create_file",
    "delete_file",
    "edit",
    "edit_file",
    "multiedit",
    "notebookedit",
    "str_replace_based_edit_tool",
    "str_replace_editor",
    "write",
    "write_file",
];

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

/// Names the file that a call writes, in the words of [`subject`]; none for a tool that is not known to
/// write one.
pub(super) fn changed(tool: &str, arguments: &[u8]) -> Option<String> {
    let known = WRITERS
        .iter()
        .any(|writer| writer.eq_ignore_ascii_case(tool));
    let tape = Tape::parse(std::str::from_utf8(arguments).ok()?)?;
    let mut file = None;
    for (key, value) in tape.children(Tape::root()) {
        let key = key.map(|key| tape.text(key))?;
        if !known || tape.shape(value) != Shape::Text {
            continue;
        }
        let value = tape.text(value);
        // One tool for several acts says which, and looking changes nothing.
        if &*key == "command" && &*value == "view" {
            return None;
        }
        if file.is_none() && PLACE_KEYS.contains(&&*key) && !value.contains("://") {
            file = Some(format!("file={value}"));
        }
    }
    file
}

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
