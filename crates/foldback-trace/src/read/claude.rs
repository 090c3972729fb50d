//! Claude Code sessions.
//!
//! A session is a file of lines, or one object with `loglines`; the work of child agents stands in
//! it as side chains, or in files of their own beside it. Four steps:
//!
//! - `entry`: each line becomes an entry, or says why it is none;
//! - `plan`: one look over all entries, for what a line alone cannot tell: where a model's answer
//!   ends, which call started which agent, what is written twice;
//! - `tree` and `place`: parents become branches;
//! - `walk`, `block`, `result` and `child`: entries become records, in the order of the file.
//!
//! **Invariant:** a key depends on the line and on what stands before it, never on what follows.

mod block;
mod child;
mod entry;
mod place;
mod plan;
mod result;
mod tree;
mod walk;

use self::entry::{Entry, Item};
use super::chat::{not_json, whole_text};
use super::json::Fields;
use super::line::{self, TextLine};
use super::{ReadError, SourceFile};
use crate::{Place, SourceConversation};
use foldback_event::Digest;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeSet;

const EXPECTED: &str = "JSON lines of a session, or an object with `loglines`";

/// The domain of the digest that stands for a session without an id.
const CONTEXT: &str = "foldback 2026 trace claude session v1";

/// The lines of one file.
#[derive(Debug)]
struct Text<'a> {
    lines: Vec<TextLine<'a>>,
    /// Whether the file is one JSON object.
    whole: bool,
}

/// The entries of one file.
#[derive(Debug)]
struct File<'a> {
    stem: &'a str,
    companion: bool,
    entries: Vec<Entry<'a>>,
    /// The sessions that its lines name, in the order of their first line.
    sessions: Vec<String>,
    /// The agent, where every message of the file is of one.
    agent: Option<String>,
}

impl File<'_> {
    /// Gives the id of the agent whose file this is.
    fn agent_id(&self) -> Option<&str> {
        self.agent
            .as_deref()
            .or_else(|| self.stem.strip_prefix("agent-"))
    }
}

/// Reads files of this format.
pub(super) fn read(files: &[SourceFile<'_>]) -> Result<Vec<SourceConversation>, ReadError> {
    let texts = files.iter().map(text).collect::<Result<Vec<_>, _>>()?;
    let parsed: Vec<File<'_>> = files
        .iter()
        .zip(&texts)
        .enumerate()
        .map(|(index, (source, text))| file(index, source, text))
        .collect();
    let keys: Vec<String> = parsed.iter().map(key).collect();
    let mut companions: Vec<Vec<usize>> = vec![Vec::new(); parsed.len()];
    let mut owned = BTreeSet::new();
    for (index, one) in parsed.iter().enumerate().filter(|(_, one)| one.companion) {
        let of_session = parsed.iter().zip(&keys).position(|(main, key)| {
            !main.companion
                && (one.sessions.contains(key)
                    || one
                        .sessions
                        .iter()
                        .any(|session| main.sessions.contains(session)))
        });
        if let Some(beside) = of_session.and_then(|main| companions.get_mut(main)) {
            beside.push(index);
            owned.insert(index);
        }
    }
    let mut all = Vec::new();
    for (index, (main, key)) in parsed.iter().zip(keys).enumerate() {
        if owned.contains(&index) {
            continue;
        }
        let beside = companions.get(index).into_iter().flatten();
        let beside: Vec<&File<'_>> = beside.filter_map(|one| parsed.get(*one)).collect();
        all.push(walk::conversation(key, main, &beside));
    }
    Ok(all)
}

fn text<'a>(source: &SourceFile<'a>) -> Result<Text<'a>, ReadError> {
    let bytes = source
        .bytes
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(source.bytes);
    if bytes.trim_ascii().is_empty() {
        return Err(ReadError::Empty {
            file: source.name.into(),
            expected: EXPECTED,
        });
    }
    let whole = std::str::from_utf8(bytes)
        .ok()
        .and_then(|text| serde_json::from_str::<&RawValue>(text).ok())
        .and_then(Fields::of);
    let Some(loglines) = whole.as_ref().and_then(|fields| fields.get("loglines")) else {
        let lines = line::split(source.bytes);
        if lines.iter().any(|line| line.text.is_ok()) {
            return Ok(Text {
                lines,
                whole: false,
            });
        }
        // Not one line is JSON: then it is one damaged document rather than damaged lines.
        let text = whole_text(source, EXPECTED)?;
        return match serde_json::from_str::<&RawValue>(&text) {
            Err(error) => Err(not_json(source, EXPECTED, error)),
            Ok(_) => Ok(Text {
                lines,
                whole: false,
            }),
        };
    };
    let items = super::json::items(loglines).ok_or_else(|| ReadError::Shape {
        file: source.name.into(),
        path: "/loglines".into(),
        expected: "an array of lines",
    })?;
    let mut lines: Vec<TextLine<'a>> = Vec::with_capacity(items.len());
    for (index, item) in items.into_iter().enumerate() {
        lines.push(TextLine {
            number: super::chat::number(index),
            bytes: item.get().as_bytes(),
            text: Ok(super::json::mend(item.get())),
        });
    }
    if let Some(rest) = whole.and_then(|fields| fields.without(&["loglines"])) {
        let text = String::from_utf8_lossy(&rest).into_owned();
        lines.insert(
            0,
            TextLine {
                number: 0,
                bytes: b"",
                text: Ok(Cow::Owned(text)),
            },
        );
    }
    Ok(Text { lines, whole: true })
}

fn file<'a>(index: usize, source: &SourceFile<'a>, text: &'a Text<'a>) -> File<'a> {
    let entries: Vec<Entry<'_>> = text
        .lines
        .iter()
        .map(|line| {
            let pointer = text.whole.then(|| match line.number.checked_sub(1) {
                Some(item) => format!("/loglines/{item}"),
                None => "/".into(),
            });
            Entry::of(
                Place {
                    file: index,
                    number: line.number,
                    pointer,
                },
                line,
            )
        })
        .collect();
    let mut sessions: Vec<String> = Vec::new();
    let mut agents = BTreeSet::new();
    for entry in &entries {
        if let Some(session) = &entry.session
            && !sessions.contains(session)
        {
            sessions.push(session.clone());
        }
        if matches!(entry.item, Item::User(_) | Item::Assistant(_)) {
            agents.insert(if entry.sidechain {
                entry.agent.clone()
            } else {
                None
            });
        }
    }
    let agent = if agents.len() == 1 {
        agents.pop_first().flatten()
    } else {
        None
    };
    let file_name = source.name.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = file_name
        .split_once('.')
        .map_or(file_name, |(stem, _)| stem);
    File {
        stem,
        companion: source.companion,
        entries,
        sessions,
        agent,
    }
}

/// Gives the identity of a file's conversation.
///
/// The file's name tells the session where it can, because a resumed session begins with lines of
/// an older one. Else the first line that names a session does: a file that grows keeps it.
fn key(file: &File<'_>) -> String {
    let named = uuid_at_end(file.stem).or_else(|| {
        file.sessions
            .iter()
            .map(String::as_str)
            .find(|one| file.stem.contains(one))
    });
    let named = named.or_else(|| file.sessions.first().map(String::as_str));
    let session = named.map_or_else(
        || {
            let first = file
                .entries
                .iter()
                .find_map(|entry| entry.raw)
                .unwrap_or_default();
            Digest::of(CONTEXT, first.as_bytes())
                .to_string()
                .chars()
                .take(32)
                .collect()
        },
        str::to_owned,
    );
    match &file.agent {
        Some(agent) => format!("{session}/agent-{agent}"),
        None => session,
    }
}

/// Finds the session in a name such as `0fae0449-64d3-4788-8622-d3a47d82c14b`.
fn uuid_at_end(stem: &str) -> Option<&str> {
    const GROUPS: &[usize] = &[8, 4, 4, 4, 12];
    const CHARS: usize = 36;
    let uuid = stem.get(stem.len().checked_sub(CHARS)?..)?;
    let fits = |(group, chars): (&str, &usize)| {
        group.len() == *chars && group.bytes().all(|b| b.is_ascii_hexdigit())
    };
    uuid.split('-').zip(GROUPS).all(fits).then_some(uuid)
}
