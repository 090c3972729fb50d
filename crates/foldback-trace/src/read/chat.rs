//! OpenAI Chat Completions transcripts.
//!
//! Three shapes are read: an array of messages, an object with `messages` (a request body), and
//! lines of such objects. The messages have no ids and no times, so a record's key is the place of
//! its message and a digest of all messages up to it: a transcript that goes on another way has
//! other keys from there on.

mod message;

use super::builder::{Builder, MAIN, Scene, USER};
use super::json::{self, Fields, items, mend};
use super::line;
use super::{ReadError, SourceFile};
use crate::{Format, Place, SourceConversation};
use foldback_event::Digest;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

const BOM: &[u8] = b"\xef\xbb\xbf";

const EXPECTED: &str = "an array of messages, an object with `messages`, or lines of such objects";

/// The domain of the digests of messages.
const CONTEXT: &str = "foldback 2026 trace chat message v1";

/// Where the messages of one conversation stand.
#[derive(Debug)]
pub(super) struct Origin<'a> {
    pub(super) file: usize,
    /// The JSON pointer before a message's index.
    pub(super) pointer: String,
    /// The line, for a file of lines.
    pub(super) line: Option<u64>,
    /// What the container holds beside the messages, as one JSON object.
    pub(super) beside: Option<Vec<u8>>,
    /// The code under which that is kept.
    pub(super) beside_code: &'static str,
    /// The model that the container names.
    pub(super) model: Option<String>,
    pub(super) messages: Vec<&'a RawValue>,
    /// The text and the bytes of the file it was mended from, where it was.
    pub(super) mended: Option<Mended<'a>>,
}

/// A text, and the bytes of the file that it was mended from; mending changes no length.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mended<'a> {
    pub(super) text: &'a str,
    pub(super) bytes: &'a [u8],
}

impl<'a> Mended<'a> {
    /// Pairs a file's text with its bytes; none if they are the same.
    pub(super) fn of(text: &'a str, bytes: &'a [u8]) -> Option<Self> {
        let bytes = bytes.strip_prefix(BOM).unwrap_or(bytes);
        (bytes != text.as_bytes()).then_some(Self { text, bytes })
    }

    /// Gives the bytes that a value was mended from; none if it was not.
    fn bytes_of(&self, raw: &RawValue) -> Option<&'a [u8]> {
        let value = raw.get();
        let start = value
            .as_ptr()
            .addr()
            .checked_sub(self.text.as_ptr().addr())?;
        let bytes = self.bytes.get(start..start.checked_add(value.len())?)?;
        (bytes != value.as_bytes()).then_some(bytes)
    }
}

/// Reads files of this format.
pub(super) fn read(files: &[SourceFile<'_>]) -> Result<Vec<SourceConversation>, ReadError> {
    let mut all = Vec::new();
    let mut keys = Keys::default();
    for (file, source) in files.iter().enumerate() {
        let text = whole_text(source, EXPECTED)?;
        match serde_json::from_str::<&RawValue>(&text) {
            Ok(value) => {
                let mut origin = origin(source, file, value)?;
                origin.mended = Mended::of(&text, source.bytes);
                let key = keys.of(&format!("chat:{}", start_digest(&origin.messages)));
                all.push(conversation(key, Format::OpenAiChat, &origin));
            }
            Err(error) if rows_in(&text) == 0 => return Err(not_json(source, EXPECTED, error)),
            Err(_) => rows(source, file, &mut keys, &mut all),
        }
    }
    Ok(all)
}

/// Gives the text of a file that is one JSON value or lines of them, mended.
pub(super) fn whole_text<'a>(
    source: &SourceFile<'a>,
    expected: &'static str,
) -> Result<Cow<'a, str>, ReadError> {
    let bytes = source
        .bytes
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(source.bytes);
    if bytes.trim_ascii().is_empty() {
        return Err(ReadError::Empty {
            file: source.name.into(),
            expected,
        });
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(mend(text)),
        Err(error) => Err(ReadError::NotText {
            file: source.name.into(),
            at: error.valid_up_to(),
        }),
    }
}

/// Says that a file which must be one JSON value is not.
pub(super) fn not_json(
    source: &SourceFile<'_>,
    expected: &'static str,
    error: serde_json::Error,
) -> ReadError {
    ReadError::Json {
        file: source.name.into(),
        line: error.line(),
        column: error.column(),
        cut: error.is_eof(),
        expected,
        source: error,
    }
}

/// Counts the lines that are objects with messages.
fn rows_in(text: &str) -> usize {
    text.lines()
        .filter_map(|line| serde_json::from_str::<&RawValue>(line).ok())
        .filter(|value| Fields::of(value).is_some_and(|f| f.array("messages").is_some()))
        .count()
}

fn rows(source: &SourceFile<'_>, file: usize, keys: &mut Keys, all: &mut Vec<SourceConversation>) {
    let mut odd: Vec<(Place, &'static str, String, &[u8])> = Vec::new();
    let first = all.len();
    for line in line::split(source.bytes) {
        let place = Place {
            file,
            number: line.number,
            pointer: None,
        };
        let text = match &line.text {
            Ok(text) => text,
            Err(broken) => {
                let kept = if broken.is_cut() { &[][..] } else { line.bytes };
                odd.push((place, broken.code, broken.detail.clone(), kept));
                continue;
            }
        };
        let fields = serde_json::from_str::<&RawValue>(text)
            .ok()
            .and_then(Fields::of);
        let Some(messages) = fields.as_ref().and_then(|fields| fields.array("messages")) else {
            odd.push((
                place,
                "no-messages",
                "a line without messages".into(),
                line.bytes,
            ));
            continue;
        };
        let fields = fields.unwrap_or_default();
        let key = keys.of(&format!("chat:{}", start_digest(&messages)));
        let origin = Origin {
            file,
            pointer: "/messages".into(),
            line: Some(line.number),
            beside: fields.without(&["messages"]),
            beside_code: "request-fields",
            model: fields.text("model"),
            messages,
            mended: Mended::of(text, line.bytes),
        };
        all.push(conversation(key, Format::OpenAiChat, &origin));
    }
    // What is odd between two rows is told with the first conversation of the file: it is there
    // whenever the file is read as rows.
    if let Some(conversation) = all.get_mut(first) {
        for (place, code, detail, bytes) in odd {
            super::builder::annotate(conversation, &place, code, &detail, bytes);
        }
    }
}

fn origin<'a>(
    source: &SourceFile<'_>,
    file: usize,
    value: &'a RawValue,
) -> Result<Origin<'a>, ReadError> {
    let shape = |path: &str, expected| ReadError::Shape {
        file: source.name.into(),
        path: path.into(),
        expected,
    };
    let mut origin = Origin {
        file,
        pointer: String::new(),
        line: None,
        beside: None,
        beside_code: "request-fields",
        model: None,
        messages: Vec::new(),
        mended: None,
    };
    if let Some(messages) = items(value) {
        origin.messages = messages;
    } else {
        let fields = Fields::of(value).ok_or_else(|| shape("/", EXPECTED))?;
        origin.messages = fields
            .array("messages")
            .ok_or_else(|| shape("/messages", "an array of messages"))?;
        origin.pointer = "/messages".into();
        origin.beside = fields.without(&["messages"]);
        origin.model = fields.text("model");
    }
    if origin.messages.is_empty() {
        let path = if origin.pointer.is_empty() {
            "/"
        } else {
            "/messages"
        };
        return Err(shape(path, "at least one message"));
    }
    Ok(origin)
}

/// Reads the messages of one conversation.
pub(super) fn conversation(key: String, format: Format, origin: &Origin<'_>) -> SourceConversation {
    let mut reader = message::Reader::new(Builder::new(key, format), origin.model.clone());
    let place = |index: usize| Place {
        file: origin.file,
        number: origin.line.unwrap_or_else(|| number(index)),
        pointer: Some(format!("{}/{index}", origin.pointer)),
    };
    if let Some(beside) = &origin.beside {
        let at = Place {
            pointer: Some(root_of(&origin.pointer)),
            ..place(0)
        };
        let scene = Scene {
            place: at,
            branch: MAIN,
            participant: USER,
            at: None,
        };
        let digest = Digest::of(CONTEXT, beside).short();
        let code = origin.beside_code;
        reader
            .builder
            .keep(&scene, &format!("{code}:{digest}"), code, beside);
    }
    let mut chain = Digest::of(CONTEXT, b"");
    for (index, raw) in origin.messages.iter().enumerate() {
        chain = Digest::of(CONTEXT, &[&chain.as_bytes()[..], &compact(raw)].concat());
        let key = format!("m{index}-{}", chain.short());
        if let Some(bytes) = origin.mended.and_then(|mended| mended.bytes_of(raw)) {
            let scene = Scene {
                place: place(index),
                branch: MAIN,
                participant: USER,
                at: None,
            };
            let what = "half of a surrogate pair is no character and was replaced in the text";
            reader.builder.find("lone-surrogate", &scene.place, what);
            reader
                .builder
                .keep(&scene, &format!("{key}:bytes"), "lone-surrogate", bytes);
        }
        reader.message(&key, place(index), raw);
    }
    reader.finish()
}

fn root_of(pointer: &str) -> String {
    let parent = pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
    if parent.is_empty() {
        "/".into()
    } else {
        parent.into()
    }
}

/// Counts from 1.
pub(super) fn number(index: usize) -> u64 {
    u64::try_from(index).map_or(u64::MAX, |index| index.saturating_add(1))
}

/// Writes a value without the white space between its parts, which is no part of what it says.
fn compact(raw: &RawValue) -> Vec<u8> {
    serde_json::from_str::<serde_json::Value>(raw.get())
        .and_then(|value| serde_json::to_vec(&value))
        .unwrap_or_else(|_| raw.get().as_bytes().to_vec())
}

/// Digests the messages up to the first of a user: a transcript that grows keeps them.
pub(super) fn start_digest(messages: &[&RawValue]) -> String {
    let mut bytes = Vec::new();
    for raw in messages {
        bytes.extend(compact(raw));
        bytes.push(b'\n');
        let role = Fields::of(raw).and_then(|fields| fields.text("role"));
        if role.as_deref() == Some("user") {
            break;
        }
    }
    Digest::of(CONTEXT, &bytes)
        .to_string()
        .chars()
        .take(32)
        .collect()
}

/// Keeps keys of conversations apart that begin alike.
#[derive(Debug, Default)]
pub(super) struct Keys(BTreeMap<String, u32>);

impl Keys {
    /// Gives a key of its own to each conversation; the order of the file decides, so that a file
    /// that has grown gives the same.
    pub(super) fn of(&mut self, key: &str) -> String {
        let seen = self.0.entry(key.to_owned()).or_default();
        *seen += 1;
        if *seen == 1 {
            key.to_owned()
        } else {
            format!("{key}#{seen}")
        }
    }
}

/// Tells what a text result is.
pub(super) fn text_media(text: &str) -> foldback_event::MediaType {
    if json::is_json_tree(text) {
        foldback_event::MediaType::Json
    } else {
        foldback_event::MediaType::Text
    }
}
