//! The brief form of a JSON value: what later calls can still work from once its turn is over.
//!
//! A value whose short scalars all fit keeps them, row by row and almost without keys: a word, a
//! code or a date says by itself what it is; a figure has its key where that is first met in a list.
//! A larger value keeps what it says of itself and what names its parts; the rest is counted.
//! What says nothing in a brief (nothing, no, zero, prose, figures that change by the minute) is out.

use super::facts::VOLATILE;
use super::shape::{Row, columns, label_column};
use super::tape::{At, Shape, Tape};
use crate::extract::binary::is_encoded;
use crate::extract::brief::{
    BRIEF_BYTES_MAX, NAMES_BYTES_MAX, VALUE_BYTES_MAX, counted, ended, is_prose, says_itself,
};
use crate::extract::key::is_id_key;
use crate::extract::page::Page;
use std::collections::BTreeSet;

/// How deep containers are followed.
const DEPTH_MAX: u32 = 6;

/// Writes the brief form of one value, or of the rows of JSON lines.
pub(in crate::extract) fn write(tape: &Tape<'_>, rows: Option<&[At]>) -> Option<String> {
    let root: Vec<Row> = match rows {
        Some(rows) => rows.iter().map(|row| (None, *row)).collect(),
        None if tape.is_scalar(Tape::root()) => return None,
        None => tape.children(Tape::root()).collect(),
    };
    let keyed = rows.is_none() && tape.shape(Tape::root()) == Shape::Object;
    let mut whole = Writer::new(tape, BRIEF_BYTES_MAX);
    whole.top(&root, keyed);
    if !whole.page.is_full() {
        return Some(whole.page.finish());
    }
    let mut names = Writer::new(tape, NAMES_BYTES_MAX);
    names.names(&root, keyed);
    Some(ended(names.page))
}

/// What names the rows of a list.
enum Label {
    /// The cells of a column.
    Column(String),
    /// The rows' own keys.
    Key,
}

struct Writer<'t, 'a> {
    tape: &'t Tape<'a>,
    page: Page,
}

impl<'t, 'a> Writer<'t, 'a> {
    const fn new(tape: &'t Tape<'a>, limit: usize) -> Self {
        Self {
            tape,
            page: Page::new(limit),
        }
    }

    fn piece(&mut self, gap: &str, piece: &str) -> bool {
        if piece.is_empty() {
            return true;
        }
        let gap = if self.page.as_str().is_empty() {
            ""
        } else {
            gap
        };
        self.page.push(&format!("{gap}{piece}"))
    }

    /// Writes everything: own scalars first as they come, each container with its name.
    fn top(&mut self, root: &[Row], keyed: bool) {
        if !keyed {
            let rows = self.rows(root, DEPTH_MAX);
            self.piece("", &counted(root.len(), "item"));
            self.piece(": ", &rows);
            return;
        }
        for (key, value) in root {
            let key = key.map(|key| self.tape.text(key)).unwrap_or_default();
            let piece = if self.tape.is_scalar(*value) {
                let mut said = BTreeSet::new();
                self.scalar(&key, *value, &mut said).unwrap_or_default()
            } else {
                self.named(&key, *value)
            };
            if !self.piece("; ", &piece) {
                return;
            }
        }
    }

    fn named(&self, key: &str, value: At) -> String {
        let inner = self.container(key, value, DEPTH_MAX);
        if inner.is_empty() {
            return inner;
        }
        format!("{key}: {inner}")
    }

    fn container(&self, key: &str, at: At, depth: u32) -> String {
        if depth == 0 || VOLATILE.contains(&key) {
            return String::new();
        }
        let children: Vec<Row> = self.tape.children(at).collect();
        let objects = |(_, child): &Row| self.tape.shape(*child) == Shape::Object;
        if self.tape.shape(at) == Shape::Array || children.len() > 1 && children.iter().all(objects)
        {
            return self.rows(&children, depth);
        }
        self.row(None, &children, None, depth)
    }

    /// Writes rows one after the other; a figure says its name where that is first met.
    fn rows(&self, rows: &[Row], depth: u32) -> String {
        let mut out = String::new();
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let mut said = BTreeSet::new();
        for (key, row) in rows {
            if out.len() > BRIEF_BYTES_MAX {
                break;
            }
            // A row that stood before says nothing more.
            if key.is_none() && !seen.insert(self.tape.raw(*row)) {
                continue;
            }
            let key = key.map(|key| self.tape.text(key));
            let piece = if self.tape.is_scalar(*row) {
                self.scalar(key.as_deref().unwrap_or_default(), *row, &mut said)
                    .unwrap_or_default()
            } else {
                let fields: Vec<Row> = self.tape.children(*row).collect();
                if self.tape.shape(*row) == Shape::Array {
                    self.rows(&fields, depth.saturating_sub(1))
                } else {
                    self.row(key.as_deref(), &fields, Some(&mut said), depth)
                }
            };
            if piece.is_empty() {
                continue;
            }
            if !out.is_empty() {
                out.push_str(", ");
            }
            out.push_str(&piece);
        }
        out
    }

    /// Writes an object in one piece, in a list with the names of figures that were said there; what
    /// its own key says already is not said again.
    fn row(
        &self,
        key: Option<&str>,
        fields: &[Row],
        list: Option<&mut BTreeSet<String>>,
        depth: u32,
    ) -> String {
        // Of a row in a list that something names already, words that describe it are not needed.
        let listed = list.is_some();
        let mut own = BTreeSet::new();
        let said = list.unwrap_or(&mut own);
        let mut out = key.unwrap_or_default().to_owned();
        for (name, value) in fields {
            let name = name.map(|name| self.tape.text(name)).unwrap_or_default();
            let piece = if self.tape.is_scalar(*value) {
                let text = self.tape.text(*value);
                let told = listed && !out.is_empty() && text.contains(' ') && !is_id_key(&name);
                if told || key.is_some_and(|key| key.contains(&*text)) {
                    continue;
                }
                self.scalar(&name, *value, said).unwrap_or_default()
            } else {
                self.container(&name, *value, depth.saturating_sub(1))
            };
            if !piece.is_empty() {
                if !out.is_empty() {
                    out.push(' ');
                }
                out.push_str(&piece);
            }
        }
        out
    }

    /// Writes a scalar if it says something, with its key where it needs one that was not said.
    fn scalar(&self, key: &str, at: At, said: &mut BTreeSet<String>) -> Option<String> {
        let text = self.tape.text(at);
        let nothing = matches!(&*text, "" | "0" | "0.0" | "0.00" | "no" | "none" | "None");
        let shape = self.tape.shape(at);
        let out = match shape {
            Shape::Null => true,
            Shape::Bool => &*text == "false",
            _ => nothing || VOLATILE.contains(&key),
        };
        let prose = is_prose(&text) && !is_id_key(key);
        if out || prose || text.len() > VALUE_BYTES_MAX || is_encoded(&text) {
            return None;
        }
        let bare = key.is_empty() || shape == Shape::Text && says_itself(&text);
        Some(if bare || !said.insert(key.to_owned()) {
            text.into_owned()
        } else {
            format!("{key} {text}")
        })
    }

    /// Writes what the value says of itself, and then what names its parts.
    fn names(&mut self, root: &[Row], keyed: bool) {
        if !keyed {
            let items = counted(root.len(), "item");
            self.piece("", &items);
            self.labels(": ", root);
            return;
        }
        let (own, parts): (Vec<&Row>, Vec<&Row>) = root
            .iter()
            .partition(|(_, value)| self.tape.is_scalar(*value));
        for (key, value) in own {
            let key = key.map(|key| self.tape.text(key)).unwrap_or_default();
            let mut said = BTreeSet::new();
            let piece = self.scalar(&key, *value, &mut said).unwrap_or_default();
            if !self.piece("; ", &piece) {
                return;
            }
        }
        for (key, value) in parts {
            let key = key.map(|key| self.tape.text(key)).unwrap_or_default();
            let children: Vec<Row> = self.tape.children(*value).collect();
            let piece = match self.tape.shape(*value) {
                Shape::Array => format!("{key}[{}]", children.len()),
                _ if self.label(&children).is_some() => key.into_owned(),
                _ => continue,
            };
            if !self.piece("; ", &piece) {
                return;
            }
            self.labels(": ", &children);
        }
    }

    /// Lists what names rows: their keys, or the column that tells them apart.
    fn labels(&mut self, gap: &str, rows: &[Row]) {
        let mut flat: Vec<Row> = Vec::new();
        for (key, row) in rows {
            if self.tape.shape(*row) == Shape::Array {
                flat.extend(self.tape.children(*row));
            } else {
                flat.push((*key, *row));
            }
        }
        let mut distinct: BTreeSet<&str> = BTreeSet::new();
        flat.retain(|(_, row)| distinct.insert(self.tape.raw(*row)));
        let Some(label) = self.label(&flat) else {
            return;
        };
        let mut gap = gap;
        for (key, row) in &flat {
            let name = match &label {
                Label::Column(column) => self.tape.get(*row, column),
                Label::Key => *key,
            };
            let Some(name) = name else { return };
            let name = self.tape.text(name);
            if name.len() > VALUE_BYTES_MAX || !self.piece(gap, &name) {
                return;
            }
            gap = ", ";
        }
    }

    /// Finds what names rows, if anything does.
    fn label(&self, rows: &[Row]) -> Option<Label> {
        let columns = columns(self.tape, rows)?;
        let column = label_column(&columns, rows.len());
        let keyed = rows.iter().all(|(key, _)| key.is_some());
        let column = column.map(|column| Label::Column(column.key.clone()));
        column.or_else(|| keyed.then_some(Label::Key))
    }
}
