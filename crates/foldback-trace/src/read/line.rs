//! Files of JSON lines.
//!
//! Each line is whole or it is told as broken; a broken line costs no other line. The last line of
//! a file that is still being written may be cut off: it is told, and left for the next reading.

use super::json::mend;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A line that is not blank.
#[derive(Debug)]
pub(super) struct TextLine<'a> {
    /// Its number, from 1.
    pub(super) number: u64,
    /// Its bytes in the file, without the line break.
    pub(super) bytes: &'a [u8],
    /// Its text, mended where needed, or why it has none.
    pub(super) text: Result<Cow<'a, str>, Broken>,
}

/// Why a line is no JSON value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Broken {
    /// A stable code.
    pub(super) code: &'static str,
    /// What was seen, for people.
    pub(super) detail: String,
}

impl Broken {
    /// Whether the line is the file's last and was cut off.
    pub(super) fn is_cut(&self) -> bool {
        self.code == TRUNCATED
    }
}

const TRUNCATED: &str = "truncated-line";

/// Splits a file into its lines.
pub(super) fn split(bytes: &[u8]) -> Vec<TextLine<'_>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut lines = Vec::new();
    for (number, piece) in (1..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
        let ended = piece.ends_with(b"\n");
        let line = piece.trim_ascii();
        if !line.is_empty() {
            lines.push(TextLine {
                number,
                bytes: line,
                text: check(line, ended),
            });
        }
    }
    lines
}

fn check(line: &[u8], ended: bool) -> Result<Cow<'_, str>, Broken> {
    let text = std::str::from_utf8(line).map_err(|error| {
        let cut = !ended && error.error_len().is_none();
        Broken {
            code: if cut { TRUNCATED } else { "invalid-utf8" },
            detail: format!("no UTF-8 at byte {}", error.valid_up_to()),
        }
    })?;
    let text = mend(text);
    match serde_json::from_str::<&RawValue>(&text) {
        Ok(_) => Ok(text),
        Err(error) => Err(Broken {
            code: if !ended && error.is_eof() {
                TRUNCATED
            } else {
                "invalid-json"
            },
            detail: error.to_string(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_line_costs_no_other_line() {
        let file = b"\xef\xbb\xbf{\"a\":1}\r\n\n{\"a\":\n42\n\xff\n{\"b\":\"\xc3";
        let seen: Vec<(u64, Option<&str>)> = split(file)
            .iter()
            .map(|line| {
                (
                    line.number,
                    line.text.as_ref().err().map(|broken| broken.code),
                )
            })
            .collect();
        assert_eq!(
            seen,
            [
                (1, None),
                (3, Some("invalid-json")),
                (4, None),
                (5, Some("invalid-utf8")),
                (6, Some("truncated-line")),
            ]
        );
    }

    #[test]
    fn a_last_line_without_a_line_break_is_a_line_if_it_is_whole() {
        assert!(split(b"{}\n{\"a\":1}").iter().all(|line| line.text.is_ok()));
        assert_eq!(
            split(b"{}\n{\"a\"]").pop().unwrap().text.unwrap_err().code,
            "invalid-json"
        );
    }
}
