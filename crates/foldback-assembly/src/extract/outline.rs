//! What a result is without any of its values, for a route that may not see them.
//!
//! Field names and counts are all that it says. A name that could be data itself, because it stands
//! for one of many or is no plain word, is counted and not written.
//!
//! **Invariant:** no value of the source stands in its outline.

use super::brief::counted;
use super::json::tape::{At, Shape, Tape};
use super::page::size;
use std::collections::BTreeSet;

/// The most bytes of an outline.
const OUTLINE_BYTES_MAX: usize = 300;

/// How deep containers are followed.
const DEPTH_MAX: u32 = 3;

/// How many fields of one object are named.
const FIELDS_MAX: usize = 24;

/// How many rows are looked at for the fields that they have in common.
const SAMPLE: usize = 64;

/// Outlines a JSON value, or the rows of JSON lines.
pub(super) fn json(tape: &Tape<'_>, rows: Option<&[At]>) -> String {
    let out = match rows {
        Some(rows) => items(tape, rows, DEPTH_MAX),
        None => value(tape, Tape::root(), DEPTH_MAX),
    };
    fit(out)
}

/// Outlines a table by the names of its columns.
pub(super) fn table<'k>(keys: impl Iterator<Item = &'k str>, rows: usize) -> String {
    let keys: Vec<&str> = keys.collect();
    let columns = keys.len();
    let fields = list(keys.into_iter().map(|key| (key, String::new())));
    fit(format!(
        "a table of {} and {}{fields}",
        counted(rows, "row"),
        counted(columns, "column")
    ))
}

/// Outlines a text by its size.
pub(super) fn text(what: &str, bytes: &[u8]) -> String {
    let lines = String::from_utf8_lossy(bytes).lines().count();
    format!(
        "{what} of {}, {}",
        counted(lines, "line"),
        size(bytes.len())
    )
}

/// Outlines bytes that are no text by their number.
pub(super) fn bytes(bytes: usize) -> String {
    format!("data, {}", size(bytes))
}

fn value(tape: &Tape<'_>, at: At, depth: u32) -> String {
    match tape.shape(at) {
        Shape::Object => object(tape, at, depth),
        Shape::Array => {
            let rows: Vec<At> = tape.children(at).map(|(_, row)| row).collect();
            items(tape, &rows, depth)
        }
        Shape::Text => "a text".to_owned(),
        Shape::Number => "a number".to_owned(),
        Shape::Bool => "yes or no".to_owned(),
        Shape::Null => "nothing".to_owned(),
    }
}

fn items(tape: &Tape<'_>, rows: &[At], depth: u32) -> String {
    let count = counted(rows.len(), "item");
    let objects = rows.iter().filter(|row| tape.shape(**row) == Shape::Object);
    let mut seen = BTreeSet::new();
    let mut keys = Vec::new();
    for row in objects.take(SAMPLE) {
        for (key, _) in tape.children(*row) {
            let key = key.map(|key| tape.text(key)).unwrap_or_default();
            if seen.insert(key.clone().into_owned()) {
                keys.push(key);
            }
        }
    }
    if keys.is_empty() || depth == 0 {
        return count;
    }
    let fields = list(keys.iter().map(|key| (&**key, String::new())));
    format!("{count}{fields}")
}

fn object(tape: &Tape<'_>, at: At, depth: u32) -> String {
    let count = tape.len(at);
    let all = || tape.children(at).map(|(_, value)| value);
    let rows = count > 1 && all().all(|value| tape.shape(value) == Shape::Object);
    if rows {
        // Its keys name its entries, and so are data.
        let rows: Vec<At> = all().collect();
        return items(tape, &rows, depth);
    }
    if depth == 0 {
        return counted(count, "field");
    }
    let children: Vec<_> = tape.children(at).collect();
    let named: Vec<(std::borrow::Cow<'_, str>, String)> = children
        .iter()
        .map(|(key, value)| {
            let key = key.map(|key| tape.text(key)).unwrap_or_default();
            let inner = if tape.is_scalar(*value) {
                String::new()
            } else {
                format!(" ({})", self::value(tape, *value, depth - 1))
            };
            (key, inner)
        })
        .collect();
    let fields = list(named.iter().map(|(key, inner)| (&**key, inner.clone())));
    format!("{}{fields}", counted(count, "field"))
}

/// Lists the names that are plain words; the others are counted.
fn list<'k>(fields: impl Iterator<Item = (&'k str, String)>) -> String {
    let mut names = Vec::new();
    let mut others = 0_usize;
    for (key, inner) in fields {
        if is_plain(key) && names.len() < FIELDS_MAX {
            names.push(format!("{key}{inner}"));
        } else {
            others += 1;
        }
    }
    let more = match (names.is_empty(), others) {
        (true, _) => return String::new(),
        (false, 0) => String::new(),
        (false, _) => format!(" and {others} more"),
    };
    format!(": {}{more}", names.join(", "))
}

/// Tells whether a key is a plain field name, such as `due_date` or `unitPrice`.
fn is_plain(key: &str) -> bool {
    key.len() <= 40
        && key.starts_with(|c: char| c.is_ascii_lowercase())
        && key.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_')
}

/// Cuts an outline at a comma.
fn fit(mut out: String) -> String {
    if out.len() > OUTLINE_BYTES_MAX {
        let head = super::page::head(&out, OUTLINE_BYTES_MAX - "…".len());
        let end = head.rfind(", ").unwrap_or(head.len());
        out.truncate(end);
        out.push('…');
    }
    out
}
