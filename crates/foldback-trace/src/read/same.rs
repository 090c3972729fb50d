//! Long strings that a source holds twice.
//!
//! A client may write the same bytes into the message and into the structured result beside it: a
//! document of a third of a megabyte stands in a file twice. The message keeps the bytes; the
//! structured result names them.

use foldback_event::Digest;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Shorter strings cost less than the talk about them.
const BYTES_MIN: usize = 4096;

/// The domain of the digest that stands for a string.
const CONTEXT: &str = "foldback 2026 trace same string v1";

/// The long strings of messages, as the source writes them, quotes included.
#[derive(Debug, Default)]
pub(super) struct LongStrings<'a>(BTreeSet<&'a str>);

impl<'a> LongStrings<'a> {
    /// Takes note of the long strings of a message.
    pub(super) fn note(&mut self, message: &'a str) {
        if message.len() >= BYTES_MIN {
            self.0.extend(literals(message).map(|(_, literal)| literal));
        }
    }

    /// Writes a structured result with each long string that a message holds replaced by its name.
    pub(super) fn name_in(&self, structured: &str) -> Vec<u8> {
        let mut out = String::new();
        let mut copied = 0;
        for (at, literal) in literals(structured) {
            let after = structured.get(at + literal.len()..).unwrap_or_default();
            if after.trim_start().starts_with(':') || !self.0.contains(literal) {
                continue;
            }
            let Ok(text) = serde_json::from_str::<String>(literal) else {
                continue;
            };
            let digest = Digest::of(CONTEXT, text.as_bytes());
            out.push_str(structured.get(copied..at).unwrap_or_default());
            let _ = write!(out, r#"{{"$same":"{digest}","bytes":{}}}"#, text.len());
            copied = at + literal.len();
        }
        out.push_str(structured.get(copied..).unwrap_or_default());
        out.into_bytes()
    }
}

/// Finds the long strings of a JSON text and where they stand.
fn literals(json: &str) -> impl Iterator<Item = (usize, &str)> {
    let bytes = json.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + json.get(at..)?.find('"')?;
            let mut end = start + 1;
            loop {
                match bytes.get(end)? {
                    b'\\' => end += 2,
                    b'"' => break,
                    _ => end += 1,
                }
            }
            at = end + 1;
            let literal = json.get(start..at)?;
            if literal.len() >= BYTES_MIN {
                return Some((start, literal));
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_string_of_a_message_is_named_and_nothing_else_changes() {
        let long = format!("\"{}\\\"é\"", "x".repeat(BYTES_MIN));
        let other = format!("\"{}\"", "y".repeat(BYTES_MIN));
        let message = format!(r#"{{"a":"\"{{","content":{long}}}"#);
        let mut strings = LongStrings::default();
        strings.note(&message);
        let structured = format!(r#"{{ "file":{long}, {long}:1.0,"o":{other},"s":"x"}}"#);
        let named = String::from_utf8(strings.name_in(&structured)).unwrap();
        let text: String = serde_json::from_str(&long).unwrap();
        let name = format!(
            r#"{{"$same":"{}","bytes":{}}}"#,
            Digest::of(CONTEXT, text.as_bytes()),
            BYTES_MIN + 3
        );
        assert_eq!(
            named,
            format!(r#"{{ "file":{name}, {long}:1.0,"o":{other},"s":"x"}}"#)
        );
    }
}
