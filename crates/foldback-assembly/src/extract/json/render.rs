//! Writes a JSON value without quotes and repeated keys, within one plan.

use super::Plan;
use super::shape::{Column, Row, columns, holds_id, label_column, worth_of};
use super::tape::{At, Shape, Tape};
use crate::extract::binary::is_encoded;
use crate::extract::key::Worth;
use crate::extract::page::{Page, clip, size};
use std::collections::{BTreeMap, BTreeSet};

/// What a rendering left out.
#[derive(Debug, Default)]
pub(super) struct Lost {
    pub(super) items: u64,
    pub(super) strings: u64,
    pub(super) encoded: u64,
    pub(super) keys: BTreeSet<String>,
    /// Texts so long that they are worth a digest.
    pub(super) long: Vec<(String, At)>,
}

impl Lost {
    /// Tells whether all was shown.
    pub(super) fn is_empty(&self) -> bool {
        self.items == 0 && self.strings == 0 && self.encoded == 0 && self.keys.is_empty()
    }
}

/// One rendering of one tape.
#[derive(Debug)]
pub(super) struct Render<'t, 'a> {
    tape: &'t Tape<'a>,
    plan: Plan,
    pub(super) page: Page,
    pub(super) lost: Lost,
}

/// How many keys that were left out are named at most.
const KEYS_MAX: usize = 256;

/// From how many bytes on a cut text is worth a digest.
const LONG_BYTES: usize = 300;

impl<'t, 'a> Render<'t, 'a> {
    pub(super) fn new(tape: &'t Tape<'a>, plan: Plan) -> Self {
        Self {
            tape,
            plan,
            page: Page::new(plan.limit),
            lost: Lost::default(),
        }
    }

    /// Renders the whole value.
    pub(super) fn root(&mut self) {
        let root = Tape::root();
        match self.tape.shape(root) {
            Shape::Object => self.object(root, true),
            Shape::Array => self.array(root, true),
            _ => self.scalar("", root),
        }
    }

    /// Renders the values of JSON lines.
    pub(super) fn rows(&mut self, rows: &[At]) {
        let rows: Vec<Row> = rows.iter().map(|row| (None, *row)).collect();
        self.page.push(&format!("{} JSON lines\n", rows.len()));
        self.items(&rows, true);
    }

    fn value(&mut self, key: &str, at: At) {
        match self.tape.shape(at) {
            Shape::Object => self.object(at, false),
            Shape::Array => self.array(at, false),
            _ => self.scalar(key, at),
        }
    }

    fn scalar(&mut self, key: &str, at: At) {
        let text = self.tape.text(at);
        if text.is_empty() {
            self.page.push("\"\"");
        } else if is_encoded(&text) {
            self.lost.encoded += 1;
            self.page
                .push(&format!("<encoded data, {}>", size(text.len())));
        } else if text.len() > self.plan.string_bytes {
            self.lost.strings += 1;
            if text.len() >= LONG_BYTES {
                self.lost.long.push((key.to_owned(), at));
            }
            self.page.push(&clip(&text, self.plan.string_bytes));
        } else {
            self.page.push(&text);
        }
    }

    /// Tells whether a field is shown, and notes it if not.
    ///
    /// What the value itself says of its subject, such as a state or a date, is shown in every plan,
    /// and a container is shown for the identities in it.
    fn shows(&mut self, key: &str, at: At, top: bool) -> bool {
        let rated = worth_of(self.tape, key, at);
        let own = if self.tape.is_scalar(at) {
            top && rated <= Worth::Value
        } else {
            holds_id(self.tape, key, at)
        };
        if self.plan.worth == Worth::Noise || rated <= self.plan.worth || own {
            return true;
        }
        self.leave_out(key);
        if self.tape.shape(at) == Shape::Text && self.tape.raw(at).len() >= LONG_BYTES {
            self.lost.long.push((key.to_owned(), at));
        }
        false
    }

    fn leave_out(&mut self, key: &str) {
        if self.lost.keys.len() < KEYS_MAX {
            self.lost.keys.insert(key.to_owned());
        }
    }

    fn object(&mut self, at: At, top: bool) {
        let fields: Vec<Row> = self.tape.children(at).collect();
        if fields.is_empty() {
            self.page.push("{}");
            return;
        }
        if let Some(columns) = columns(self.tape, &fields) {
            self.table(&fields, &columns, top);
            return;
        }
        if !top {
            self.page.push("{");
        }
        let mut first = true;
        let mut broke = false;
        for (index, (key, value)) in fields.iter().enumerate() {
            if self.page.is_full() {
                self.lose_items(fields.len() - index);
                break;
            }
            let key = key.map(|key| self.tape.text(key)).unwrap_or_default();
            if !self.shows(&key, *value, top) {
                continue;
            }
            let wide = top && self.tape.len(*value) > 1;
            let gap = if wide || broke {
                "\n"
            } else if top {
                "; "
            } else {
                ", "
            };
            let mark = self.page.as_str().len();
            if !first {
                self.page.push(gap);
            }
            self.field(&key, *value);
            self.roll_back(mark, *value);
            first = false;
            broke = wide;
        }
        if !top {
            self.page.push("}");
        }
    }

    fn field(&mut self, key: &str, value: At) {
        self.page.push(key);
        if self.tape.shape(value) == Shape::Array && self.tape.len(value) > 1 {
            self.page.push(&format!("[{}]", self.tape.len(value)));
        }
        self.page.push(": ");
        self.value(key, value);
    }

    /// Takes back a scalar that did not fit whole; containers take back their own last piece.
    fn roll_back(&mut self, mark: usize, value: At) {
        if self.page.is_full() && self.tape.is_scalar(value) {
            self.page.cut_to(mark);
            self.lost.items += 1;
        }
    }

    fn lose_items(&mut self, count: usize) {
        self.lost.items += u64::try_from(count).unwrap_or(u64::MAX);
    }

    fn array(&mut self, at: At, top: bool) {
        let items: Vec<Row> = self.tape.children(at).collect();
        if items.is_empty() {
            self.page.push("[]");
            return;
        }
        if top {
            self.page.push(&format!("{} items\n", items.len()));
        }
        self.items(&items, top);
    }

    fn items(&mut self, items: &[Row], top: bool) {
        if let Some(columns) = columns(self.tape, items) {
            self.table(items, &columns, top);
        } else if let Some(distinct) = self.distinct_rows(items) {
            self.groups(items, &distinct, top);
        } else {
            self.list(items, top);
        }
    }

    fn list(&mut self, items: &[Row], top: bool) {
        let scalars = items.iter().all(|(_, item)| self.tape.is_scalar(*item));
        let shown = if scalars {
            self.plan.rows.saturating_mul(4)
        } else {
            self.plan.rows
        };
        let gap = if top {
            "\n"
        } else if scalars {
            ", "
        } else {
            "; "
        };
        self.page.push(if top { "" } else { "[" });
        for (index, (_, item)) in items.iter().enumerate() {
            if index >= shown || self.page.is_full() {
                self.lose_items(items.len() - index);
                self.page
                    .push(&format!("{gap}… {} more", items.len() - index));
                break;
            }
            let mark = self.page.as_str().len();
            if index > 0 {
                self.page.push(gap);
            }
            self.value("", *item);
            self.roll_back(mark, *item);
        }
        self.page.push(if top { "" } else { "]" });
    }

    fn table(&mut self, rows: &[Row], columns: &[Column], top: bool) {
        let gap = if top { "\n" } else { "; " };
        let mut kept: Vec<&Column> = Vec::new();
        let mut shared = Vec::new();
        for column in columns {
            let shown = self.plan.worth == Worth::Noise || column.worth <= self.plan.worth;
            if column.repeats_key {
            } else if !shown {
                self.leave_out(&column.key);
            } else if let Some(value) = column.constant {
                shared.push((column, value));
            } else {
                kept.push(column);
            }
        }
        for (index, (column, value)) in shared.iter().enumerate() {
            self.page.push(if index == 0 { "all: " } else { ", " });
            self.page.push(&column.key);
            self.page.push(" ");
            self.value(&column.key, *value);
        }
        if !shared.is_empty() {
            self.page.push(gap);
        }
        let keyed = rows.first().is_some_and(|row| row.0.is_some());
        let mut header: Vec<String> = kept.iter().map(|column| header(column)).collect();
        if keyed {
            header.insert(0, "key".to_owned());
        }
        self.page.push(&header.join("|"));
        if !top {
            self.page.push(":");
        }
        for (index, row) in rows.iter().enumerate() {
            if index >= self.plan.rows || self.page.is_full() {
                self.rest(rows, columns, index, gap);
                return;
            }
            let mark = self.page.as_str().len();
            self.page.push(if index == 0 && !top { " " } else { gap });
            self.row(*row, &kept);
            if self.page.is_full() {
                self.page.cut_to(mark);
                self.lose_items(rows.len() - index);
                return;
            }
        }
    }

    fn row(&mut self, (key, row): Row, kept: &[&Column]) {
        if let Some(key) = key {
            let key = self.tape.text(key);
            self.page.push(&key);
        }
        for (index, column) in kept.iter().enumerate() {
            if index > 0 || key.is_some() {
                self.page.push("|");
            }
            let Some(value) = self.tape.get(row, &column.key) else {
                continue;
            };
            if column.parts.is_none() {
                self.value(&column.key, value);
                continue;
            }
            for (part, (key, value)) in self.tape.children(value).enumerate() {
                self.page.push(if part > 0 { "/" } else { "" });
                let key = key.map(|key| self.tape.text(key)).unwrap_or_default();
                self.scalar(&key, value);
            }
        }
    }

    /// Names the rows that are not shown, as far as there is room, and counts them.
    fn rest(&mut self, rows: &[Row], columns: &[Column], from: usize, gap: &str) {
        self.lose_items(rows.len() - from);
        let label = label_column(columns, rows.len());
        self.page
            .push(&format!("{gap}… {} more", rows.len() - from));
        for (index, (key, row)) in rows.iter().enumerate().skip(from) {
            let name = match (key, label) {
                (Some(key), _) => *key,
                (None, Some(column)) => match self.tape.get(*row, &column.key) {
                    Some(value) => value,
                    None => break,
                },
                (None, None) => break,
            };
            let name = self.tape.text(name);
            if name.len() + 2 > self.page.room() || name.len() > 80 {
                break;
            }
            self.page.push(if index == from { ": " } else { ", " });
            self.page.push(&name);
        }
    }

    /// Lists the distinct objects of nested arrays, if the items are nothing but such arrays.
    fn distinct_rows(&self, items: &[Row]) -> Option<Vec<Row>> {
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let mut distinct = Vec::new();
        for (_, item) in items {
            if self.tape.shape(*item) != Shape::Array {
                return None;
            }
            for (_, row) in self.tape.children(*item) {
                if self.tape.shape(row) != Shape::Object {
                    return None;
                }
                if seen.insert(self.tape.raw(row)) {
                    distinct.push((None, row));
                }
            }
        }
        (items.len() > 1 && distinct.len() > 1).then_some(distinct)
    }

    /// Renders nested arrays as one table of their distinct rows and the groups by row name.
    fn groups(&mut self, items: &[Row], distinct: &[Row], top: bool) {
        let Some(columns) = columns(self.tape, distinct) else {
            self.list(items, top);
            return;
        };
        let mut names: BTreeMap<&str, String> = BTreeMap::new();
        let mut taken: BTreeSet<String> = BTreeSet::new();
        let label = label_column(&columns, distinct.len());
        for (_, row) in distinct {
            let name = label
                .and_then(|column| self.tape.get(*row, &column.key))
                .map(|value| self.tape.text(value).into_owned());
            let unique = name.filter(|name| taken.insert(name.clone()));
            let Some(name) = unique else { break };
            names.insert(self.tape.raw(*row), name);
        }
        if names.len() < distinct.len() {
            names = distinct
                .iter()
                .enumerate()
                .map(|(index, (_, row))| (self.tape.raw(*row), format!("#{}", index + 1)))
                .collect();
        }
        let gap = if top { "\n" } else { "; " };
        self.page.push("groups: ");
        for (index, (_, item)) in items.iter().enumerate() {
            self.page.push(if index > 0 { ", " } else { "" });
            for (part, (_, row)) in self.tape.children(*item).enumerate() {
                self.page.push(if part > 0 { "+" } else { "" });
                if let Some(name) = names.get(self.tape.raw(row)) {
                    self.page.push(name);
                }
            }
        }
        self.page.push(gap);
        self.table(distinct, &columns, top);
    }
}

fn header(column: &Column) -> String {
    match &column.parts {
        Some(parts) => format!("{}({})", column.key, parts.join("/")),
        None => column.key.clone(),
    }
}
