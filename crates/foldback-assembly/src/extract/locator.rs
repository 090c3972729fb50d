//! Provenance: where in an artifact's bytes a value stands, and going back there.

use super::Fact;
use super::json::tape::{At, Tape};
use std::borrow::Cow;

/// How a locator finds its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LocatorKind {
    /// `text` is a JSON pointer (RFC 6901) into the whole artifact.
    JsonPointer,
    /// `start..end` counts bytes.
    Bytes,
    /// `start..=end` counts lines from 1.
    Lines,
    /// `start` is a record of a table, 0 being the header; `end` is a column from 0, or
    /// [`u64::MAX`] for the whole record; `text` is the delimiter.
    Row,
}

impl LocatorKind {
    /// Gives the name used in stored memory details.
    pub const fn name(self) -> &'static str {
        match self {
            Self::JsonPointer => "json-pointer",
            Self::Bytes => "bytes",
            Self::Lines => "lines",
            Self::Row => "row",
        }
    }

    /// Finds the kind of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::JsonPointer, Self::Bytes, Self::Lines, Self::Row]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

/// Points into an artifact's bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Locator {
    /// How it finds its place.
    pub kind: LocatorKind,
    /// A pointer or a delimiter; empty for bytes and lines.
    pub text: String,
    /// The first place.
    pub start: u64,
    /// The last place, or the end.
    pub end: u64,
}

impl Locator {
    /// Points at a JSON value.
    pub const fn pointer(pointer: String) -> Self {
        Self {
            kind: LocatorKind::JsonPointer,
            text: pointer,
            start: 0,
            end: 0,
        }
    }

    /// Points at a range of bytes.
    pub fn bytes(start: usize, end: usize) -> Self {
        Self::range(LocatorKind::Bytes, String::new(), start, end)
    }

    /// Points at lines, counted from 1, both included.
    pub fn lines(first: usize, last: usize) -> Self {
        Self::range(LocatorKind::Lines, String::new(), first, last)
    }

    /// Points at a record of a table, or at one cell of it.
    pub fn row(delimiter: char, record: usize, column: Option<usize>) -> Self {
        let column = column.unwrap_or(usize::MAX);
        Self::range(LocatorKind::Row, delimiter.to_string(), record, column)
    }

    fn range(kind: LocatorKind, text: String, start: usize, end: usize) -> Self {
        let wide = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        Self {
            kind,
            text,
            start: wide(start),
            end: wide(end),
        }
    }
}

/// An artifact's bytes, read for resolving many locators.
#[derive(Debug)]
pub struct Source<'a> {
    bytes: &'a [u8],
    tape: Option<Tape<'a>>,
    lines: Vec<(usize, usize)>,
}

impl<'a> Source<'a> {
    /// Reads the bytes once.
    pub fn new(bytes: &'a [u8]) -> Self {
        let tape = std::str::from_utf8(bytes).ok().and_then(Tape::parse);
        Self {
            bytes,
            tape,
            lines: lines(bytes),
        }
    }

    /// Gives what a locator points at: a JSON string without its quotes, anything else as it
    /// stands; none if there is no such place.
    pub fn resolve(&self, locator: &Locator) -> Option<Cow<'a, [u8]>> {
        let start = usize::try_from(locator.start).ok()?;
        let end = usize::try_from(locator.end).unwrap_or(usize::MAX);
        match locator.kind {
            LocatorKind::Bytes => self.bytes.get(start..end).map(Cow::Borrowed),
            LocatorKind::Lines => {
                let from = self.lines.get(start.checked_sub(1)?)?.0;
                let to = self.lines.get(end.checked_sub(1)?)?.1;
                self.bytes.get(from..to).map(Cow::Borrowed)
            }
            LocatorKind::JsonPointer => {
                let tape = self.tape.as_ref()?;
                let at: At = tape.pointer(&locator.text)?;
                Some(match tape.text(at) {
                    Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                    Cow::Owned(text) => Cow::Owned(text.into_bytes()),
                })
            }
            LocatorKind::Row => {
                let delimiter = u8::try_from(locator.text.chars().next()?).ok()?;
                let whole = locator.end == u64::MAX;
                row(self.bytes, delimiter, start, (!whole).then_some(end)).map(Cow::Owned)
            }
        }
    }
}

/// Resolves one locator; [`Source`] is cheaper for many.
pub fn resolve<'a>(locator: &Locator, bytes: &'a [u8]) -> Option<Cow<'a, [u8]>> {
    Source::new(bytes).resolve(locator)
}

/// Drops facts whose value does not stand in their line as it was captured: terminal codes or notices
/// within a value were taken out of the text, so that nothing could be checked against the bytes.
pub(crate) fn drop_unfounded(facts: &mut Vec<Fact>, bytes: &[u8]) {
    if facts
        .iter()
        .all(|fact| fact.locator.kind != LocatorKind::Lines)
    {
        return;
    }
    let source = Source {
        bytes,
        tape: None,
        lines: lines(bytes),
    };
    facts.retain(|fact| {
        fact.locator.kind != LocatorKind::Lines
            || source
                .resolve(&fact.locator)
                .is_some_and(|place| String::from_utf8_lossy(&place).contains(&fact.value))
    });
}

/// Lists where each line starts and ends, its ending left out.
pub(crate) fn lines(bytes: &[u8]) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    let mut start = 0;
    for line in bytes.split_inclusive(|b| *b == b'\n') {
        let body = line.strip_suffix(b"\n").unwrap_or(line);
        let body = body.strip_suffix(b"\r").unwrap_or(body);
        out.push((start, start + body.len()));
        start += line.len();
    }
    out
}

fn row(bytes: &[u8], delimiter: u8, record: usize, column: Option<usize>) -> Option<Vec<u8>> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .from_reader(bytes);
    let row = reader.byte_records().nth(record)?.ok()?;
    match column {
        Some(column) => row.get(column).map(<[u8]>::to_vec),
        None => Some(row.iter().collect::<Vec<_>>().join(&delimiter)),
    }
}
