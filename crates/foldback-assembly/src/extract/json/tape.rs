//! A flat, borrowed view of one JSON value.
//!
//! The value of `serde_json` drops what an extractor needs: the spelling of numbers (`12.50`), repeated
//! keys, and where each value stands. A tape is one vector of small nodes in the order of the text,
//! so it costs a fixed multiple of the input and is built without recursion.
//! What it accepts is exactly RFC 8259 down to [`DEPTH_MAX`]; a property test holds it against
//! `serde_json`.

use std::borrow::Cow;

/// How deep a value may nest; deeper texts are no JSON here.
pub(crate) const DEPTH_MAX: usize = 120;

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// An object; its children are keys, each followed by its value.
    Object,
    /// An array.
    Array,
    /// A string, with its quotes.
    Text,
    /// A number, as it is spelled.
    Number,
    /// `true` or `false`.
    Bool,
    /// `null`.
    Null,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    shape: Shape,
    start: u32,
    end: u32,
    /// The index after the last node of this subtree.
    after: u32,
}

/// Names one value of a tape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct At(u32);

/// A parsed JSON value.
#[derive(Debug)]
pub(crate) struct Tape<'a> {
    text: &'a str,
    nodes: Vec<Node>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Want {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    CommaOrEnd,
    Done,
}

impl<'a> Tape<'a> {
    /// Parses a whole text; none if it is not exactly one JSON value.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        u32::try_from(text.len())
            .ok()
            .filter(|len| *len < u32::MAX)?;
        let mut tape = Self {
            text,
            nodes: Vec::new(),
        };
        let mut open: Vec<usize> = Vec::new();
        let mut want = Want::Value;
        let mut at = 0;
        loop {
            at += space(text, at);
            let Some(byte) = text.as_bytes().get(at).copied() else {
                break;
            };
            match (byte, want) {
                (b'{' | b'[', Want::Value | Want::ValueOrEnd) => {
                    if open.len() >= DEPTH_MAX {
                        return None;
                    }
                    let shape = if byte == b'{' {
                        Shape::Object
                    } else {
                        Shape::Array
                    };
                    open.push(tape.push(shape, at, at + 1)?);
                    at += 1;
                    want = if byte == b'{' {
                        Want::KeyOrEnd
                    } else {
                        Want::ValueOrEnd
                    };
                }
                (b'}', Want::KeyOrEnd | Want::CommaOrEnd)
                | (b']', Want::ValueOrEnd | Want::CommaOrEnd) => {
                    let index = open.pop()?;
                    at += 1;
                    let after = u32::try_from(tape.nodes.len()).ok()?;
                    let end = u32::try_from(at).ok()?;
                    let node = tape.nodes.get_mut(index)?;
                    if (node.shape == Shape::Object) != (byte == b'}') {
                        return None;
                    }
                    node.after = after;
                    node.end = end;
                    want = if open.is_empty() {
                        Want::Done
                    } else {
                        Want::CommaOrEnd
                    };
                }
                (b',', Want::CommaOrEnd) => {
                    let node = tape.nodes.get(*open.last()?)?;
                    want = if node.shape == Shape::Object {
                        Want::Key
                    } else {
                        Want::Value
                    };
                    at += 1;
                }
                (b'"', Want::Key | Want::KeyOrEnd) => {
                    let len = string(text.get(at..)?)?;
                    tape.push(Shape::Text, at, at + len)?;
                    at += len;
                    at += space(text, at);
                    if text.as_bytes().get(at) != Some(&b':') {
                        return None;
                    }
                    at += 1;
                    want = Want::Value;
                }
                (_, Want::Value | Want::ValueOrEnd) => {
                    let (shape, len) = scalar(text.get(at..)?)?;
                    tape.push(shape, at, at + len)?;
                    at += len;
                    want = if open.is_empty() {
                        Want::Done
                    } else {
                        Want::CommaOrEnd
                    };
                }
                _ => return None,
            }
        }
        (want == Want::Done).then_some(tape)
    }

    fn push(&mut self, shape: Shape, start: usize, end: usize) -> Option<usize> {
        let index = self.nodes.len();
        let after = u32::try_from(index + 1).ok()?;
        let (start, end) = (u32::try_from(start).ok()?, u32::try_from(end).ok()?);
        self.nodes.push(Node {
            shape,
            start,
            end,
            after,
        });
        Some(index)
    }

    /// Names the whole value.
    pub(crate) const fn root() -> At {
        At(0)
    }

    fn node(&self, at: At) -> Node {
        let none = Node {
            shape: Shape::Null,
            start: 0,
            end: 0,
            after: u32::MAX,
        };
        usize::try_from(at.0)
            .ok()
            .and_then(|index| self.nodes.get(index))
            .copied()
            .unwrap_or(none)
    }

    /// Tells what a value is.
    pub(crate) fn shape(&self, at: At) -> Shape {
        self.node(at).shape
    }

    /// Gives the bytes a value occupies, as they stand.
    pub(crate) fn span(&self, at: At) -> (usize, usize) {
        let node = self.node(at);
        let index = |place| usize::try_from(place).unwrap_or_default();
        (index(node.start), index(node.end))
    }

    /// Gives the spelling of a value.
    pub(crate) fn raw(&self, at: At) -> &'a str {
        let (start, end) = self.span(at);
        self.text.get(start..end).unwrap_or_default()
    }

    /// Gives the text of a scalar: a string without quotes and escapes, anything else as spelled.
    pub(crate) fn text(&self, at: At) -> Cow<'a, str> {
        let raw = self.raw(at);
        if self.shape(at) != Shape::Text {
            return Cow::Borrowed(raw);
        }
        let inner = raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default();
        if !inner.contains('\\') {
            return Cow::Borrowed(inner);
        }
        // A lone surrogate is valid JSON and no text: its spelling is kept.
        serde_json::from_str(raw).map_or(Cow::Borrowed(inner), Cow::Owned)
    }

    /// Tells whether a value is neither object nor array.
    pub(crate) fn is_scalar(&self, at: At) -> bool {
        !matches!(self.shape(at), Shape::Object | Shape::Array)
    }

    /// Gives the items of an array, or the values of an object, each with its key.
    pub(crate) fn children(&self, at: At) -> Children<'_, 'a> {
        let node = self.node(at);
        let keyed = node.shape == Shape::Object;
        let end = if self.is_scalar(at) { at.0 } else { node.after };
        Children {
            tape: self,
            next: at.0.saturating_add(1),
            end,
            keyed,
        }
    }

    /// Counts the items of an array or the keys of an object.
    pub(crate) fn len(&self, at: At) -> usize {
        self.children(at).count()
    }

    /// Finds a key's value in an object: the last, if the key is repeated.
    pub(crate) fn get(&self, at: At, key: &str) -> Option<At> {
        self.children(at)
            .filter(|(k, _)| k.is_some_and(|k| self.text(k) == key))
            .last()
            .map(|c| c.1)
    }

    /// Follows a JSON pointer (RFC 6901).
    pub(crate) fn pointer(&self, pointer: &str) -> Option<At> {
        let mut at = Self::root();
        let mut steps = pointer.split('/');
        if steps.next() != Some("") {
            return None;
        }
        for step in steps {
            let step = step.replace("~1", "/").replace("~0", "~");
            at = match self.shape(at) {
                Shape::Object => self.get(at, &step)?,
                Shape::Array => self.children(at).nth(step.parse().ok()?)?.1,
                _ => return None,
            };
        }
        Some(at)
    }
}

/// Walks the children of one value.
#[derive(Debug)]
pub(crate) struct Children<'t, 'a> {
    tape: &'t Tape<'a>,
    next: u32,
    end: u32,
    keyed: bool,
}

impl Iterator for Children<'_, '_> {
    type Item = (Option<At>, At);

    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.end {
            return None;
        }
        let first = At(self.next);
        let (key, value) = if self.keyed {
            (Some(first), At(self.next.saturating_add(1)))
        } else {
            (None, first)
        };
        self.next = self.tape.node(value).after;
        Some((key, value))
    }
}

/// Escapes one step of a JSON pointer.
pub(crate) fn pointer_step(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn space(text: &str, from: usize) -> usize {
    let rest = text.as_bytes().get(from..).unwrap_or_default();
    rest.iter()
        .take_while(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r'))
        .count()
}

/// Measures a string with its quotes.
fn string(text: &str) -> Option<usize> {
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => return Some(at + 1),
            b'\\' => match bytes.next()?.1 {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
                b'u' => {
                    for _ in 0..4 {
                        bytes.next().filter(|(_, b)| b.is_ascii_hexdigit())?;
                    }
                }
                _ => return None,
            },
            0..0x20 => return None,
            _ => {}
        }
    }
    None
}

fn scalar(text: &str) -> Option<(Shape, usize)> {
    for (word, shape) in [
        ("true", Shape::Bool),
        ("false", Shape::Bool),
        ("null", Shape::Null),
    ] {
        if text.starts_with(word) {
            return Some((shape, word.len()));
        }
    }
    if text.starts_with('"') {
        return string(text).map(|len| (Shape::Text, len));
    }
    number(text).map(|len| (Shape::Number, len))
}

fn number(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        bytes
            .get(from..)
            .unwrap_or_default()
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count()
    };
    let mut at = usize::from(bytes.first() == Some(&b'-'));
    let whole = digits(at);
    if whole == 0 || (whole > 1 && bytes.get(at) == Some(&b'0')) {
        return None;
    }
    at += whole;
    if bytes.get(at) == Some(&b'.') {
        let part = digits(at + 1);
        if part == 0 {
            return None;
        }
        at += 1 + part;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let part = digits(at + 1 + sign);
        if part == 0 {
            return None;
        }
        at += 1 + sign + part;
    }
    Some(at)
}
