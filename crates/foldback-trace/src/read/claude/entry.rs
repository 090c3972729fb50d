//! One line of a session, taken apart.

use crate::Place;
use crate::read::json::Fields;
use crate::read::line::{Broken, TextLine};
use crate::read::time;
use foldback_event::Micros;
use std::borrow::Cow;

/// One line.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub(super) place: Place,
    /// The bytes of the file.
    pub(super) bytes: &'a [u8],
    /// The text, mended; none for a broken line.
    pub(super) raw: Option<&'a str>,
    /// Whether the text differs from the bytes.
    pub(super) mended: bool,
    pub(super) fields: Fields<'a>,
    pub(super) uuid: Option<String>,
    pub(super) parent: Option<String>,
    /// The parent across a compaction, where the line itself has none.
    pub(super) logical_parent: Option<String>,
    pub(super) session: Option<String>,
    pub(super) sidechain: bool,
    pub(super) agent: Option<String>,
    pub(super) at: Option<Micros>,
    pub(super) item: Item<'a>,
}

/// What a line is.
#[derive(Debug)]
pub(super) enum Item<'a> {
    /// Something in the user's place: a prompt, a notice, or results of tools.
    User(Fields<'a>),
    /// A part of a model's answer, or the whole of it.
    Assistant(Fields<'a>),
    /// Understood, and no message.
    Aside(&'static str),
    /// Not understood: the code, and what was seen.
    Odd(&'static str, String),
    /// No JSON.
    Broken(Broken),
}

impl<'a> Entry<'a> {
    /// Takes a line apart.
    pub(super) fn of(place: Place, line: &'a TextLine<'a>) -> Self {
        let mut entry = Self {
            place,
            bytes: line.bytes,
            raw: None,
            mended: false,
            fields: Fields::default(),
            uuid: None,
            parent: None,
            logical_parent: None,
            session: None,
            sidechain: false,
            agent: None,
            at: None,
            item: Item::Odd("not-an-object", String::new()),
        };
        let text = match &line.text {
            Ok(text) => text,
            Err(broken) => {
                entry.item = Item::Broken(broken.clone());
                return entry;
            }
        };
        entry.raw = Some(text);
        entry.mended = matches!(text, Cow::Owned(_)) && !line.bytes.is_empty();
        if line.bytes.is_empty() {
            // What a file of the whole form holds beside its lines was put together here.
            entry.bytes = text.as_bytes();
            entry.item = Item::Aside("session-fields");
            return entry;
        }
        let Some(fields) = serde_json::from_str::<Fields<'a>>(text).ok() else {
            entry.item = Item::Odd("not-an-object", text.chars().take(80).collect());
            return entry;
        };
        entry.uuid = fields.text("uuid");
        entry.parent = fields.text("parentUuid");
        entry.logical_parent = fields.text("logicalParentUuid");
        entry.session = fields.text("sessionId");
        entry.sidechain = fields.is_true("isSidechain");
        entry.agent = fields.text("agentId");
        entry.at = fields.text("timestamp").and_then(|text| time::parse(&text));
        entry.item = item(&fields);
        entry.fields = fields;
        entry
    }

    /// Gives the message of a line that has one.
    pub(super) fn message(&self) -> Option<&Fields<'a>> {
        match &self.item {
            Item::User(message) | Item::Assistant(message) => Some(message),
            _ => None,
        }
    }

    /// Gives the id of the model's answer that the line is a part of; none for an answer that the
    /// client made up.
    pub(super) fn answer_id(&self) -> Option<String> {
        let Item::Assistant(message) = &self.item else {
            return None;
        };
        if self.is_synthetic() {
            return None;
        }
        message
            .text("id")
            .or_else(|| self.uuid.clone())
            .or_else(|| {
                Some(crate::read::builder::line_key(
                    self.raw.unwrap_or_default().as_bytes(),
                ))
            })
    }

    /// Tells whether the client made up an answer, to tell of an error.
    pub(super) fn is_synthetic(&self) -> bool {
        self.message()
            .is_some_and(|m| m.text("model").as_deref() == Some("<synthetic>"))
            || self.fields.is_true("isApiErrorMessage")
    }

    /// Gives the structured result, as the source has it.
    pub(super) fn structured(&self) -> Option<&'a serde_json::value::RawValue> {
        self.fields.get("toolUseResult")
    }
}

fn item<'a>(fields: &Fields<'a>) -> Item<'a> {
    let Some(kind) = fields.text("type") else {
        return Item::Odd("no-type", format!("an object with {}", fields.names()));
    };
    match kind.as_str() {
        "user" | "assistant" => {
            let Some(message) = fields.object("message") else {
                return Item::Odd(
                    "no-message",
                    format!("a line of `{kind}` without a message"),
                );
            };
            if message.get("content").is_none() {
                let what = format!("a message of `{kind}` without content");
                return Item::Odd("no-content", what);
            }
            if kind == "user" {
                Item::User(message)
            } else {
                Item::Assistant(message)
            }
        }
        "system" => Item::Aside(match fields.text("subtype").as_deref() {
            Some("compact_boundary") => COMPACT_BOUNDARY,
            _ => "system",
        }),
        "summary" => Item::Aside("summary"),
        "custom-title" | "ai-title" => Item::Aside("title"),
        "progress" => Item::Aside("progress"),
        "queue-operation" => Item::Aside("queue-operation"),
        "file-history-snapshot" => Item::Aside("file-history-snapshot"),
        "attachment" => Item::Aside("attachment"),
        "last-prompt" | "permission-mode" | "agent-name" | "pr-link" => {
            Item::Aside("session-state")
        }
        other => Item::Odd("unknown-type", format!("a line of type `{other}`")),
    }
}

/// The code of the line that marks a compaction.
pub(super) const COMPACT_BOUNDARY: &str = "compact-boundary";
