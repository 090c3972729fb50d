//! Finds out whether objects are alike enough to stand as rows of one table.

use super::tape::{At, Shape, Tape};
use crate::extract::key::{Worth, is_identity, worth};
use std::collections::{BTreeMap, BTreeSet};

/// One column of a table.
#[derive(Debug)]
pub(super) struct Column {
    /// The key.
    pub(super) key: String,
    /// In how many rows it stands.
    pub(super) present: usize,
    /// The best worth among its cells.
    pub(super) worth: Worth,
    /// The one value that all rows have.
    pub(super) constant: Option<At>,
    /// The keys that all its cells have in common, if they are flat objects.
    pub(super) parts: Option<Vec<String>>,
    /// Whether every cell says what the row's key says.
    pub(super) repeats_key: bool,
    scalar: bool,
}

impl Column {
    /// Tells whether it names its row.
    pub(super) fn names_row(&self, rows: usize) -> bool {
        self.scalar && self.present == rows && self.constant.is_none() && self.worth == Worth::Id
    }
}

/// A row: its key, if it comes from an object, and the object.
pub(super) type Row = (Option<At>, At);

/// Wider objects stand as lists.
const COLUMNS_MAX: usize = 64;

/// How many rows are looked at to rate a column.
const SAMPLE: usize = 64;

/// Lists the columns of rows that are objects; none if a list says the same with fewer bytes.
pub(super) fn columns(tape: &Tape<'_>, rows: &[Row]) -> Option<Vec<Column>> {
    if rows.len() < 2
        || !rows
            .iter()
            .all(|(_, row)| tape.shape(*row) == Shape::Object)
    {
        return None;
    }
    let mut columns: Vec<Column> = Vec::new();
    let mut index: BTreeMap<String, usize> = BTreeMap::new();
    let mut listed = 0;
    for (number, (row_key, row)) in rows.iter().enumerate() {
        let mut seen = BTreeSet::new();
        for (key, value) in tape.children(*row) {
            let key = key.map(|key| tape.text(key)).unwrap_or_default();
            if !seen.insert(key.clone()) || columns.len() > COLUMNS_MAX {
                return None;
            }
            listed += key.len() + 3;
            let at = *index.entry(key.clone().into_owned()).or_insert_with(|| {
                columns.push(Column {
                    key: key.clone().into_owned(),
                    present: 0,
                    worth: Worth::Noise,
                    constant: Some(value),
                    parts: parts(tape, value),
                    repeats_key: true,
                    scalar: true,
                });
                columns.len() - 1
            });
            let Some(column) = columns.get_mut(at) else {
                continue;
            };
            note(tape, column, *row_key, value, number);
        }
    }
    for column in &mut columns {
        if column.present < rows.len() || is_identity(&column.key) {
            column.constant = None;
        }
    }
    let header: usize = columns.iter().map(|column| column.key.len() + 1).sum();
    let varying = columns
        .iter()
        .filter(|column| column.constant.is_none())
        .count();
    (header + rows.len() * varying <= listed).then_some(columns)
}

fn note(tape: &Tape<'_>, column: &mut Column, row_key: Option<At>, value: At, number: usize) {
    column.present += 1;
    let scalar = tape.is_scalar(value);
    column.scalar &= scalar;
    if number < SAMPLE {
        column.worth = column.worth.min(worth_of(tape, &column.key, value));
    }
    if column
        .constant
        .is_some_and(|one| !scalar || tape.raw(one) != tape.raw(value))
    {
        column.constant = None;
    }
    if column.parts.is_some() && parts(tape, value) != column.parts {
        column.parts = None;
    }
    column.repeats_key &=
        scalar && row_key.is_some_and(|row_key| tape.text(row_key) == tape.text(value));
}

/// Rates a value under its key; a container is worth what its best scalar is, but no identity.
pub(super) fn worth_of(tape: &Tape<'_>, key: &str, at: At) -> Worth {
    match tape.shape(at) {
        Shape::Null => Worth::Noise,
        Shape::Number => {
            let rated = worth(key, tape.raw(at));
            if rated == Worth::Id && !crate::extract::key::is_id_key(key) {
                Worth::Value
            } else {
                rated
            }
        }
        Shape::Text | Shape::Bool => worth(key, &tape.text(at)),
        Shape::Object | Shape::Array => tape
            .children(at)
            .take(16)
            .map(|(inner, value)| {
                let inner = inner.map_or_else(|| key.into(), |inner| tape.text(inner));
                if tape.is_scalar(value) {
                    worth_of(tape, &inner, value)
                } else {
                    Worth::Value
                }
            })
            .min()
            .unwrap_or(Worth::Noise)
            .max(Worth::Value),
    }
}

/// How deep an identity is looked for inside a container.
const DEPTH_MAX: u32 = 4;

/// Tells whether a container holds something that names a thing, however deep within reason.
pub(super) fn holds_id(tape: &Tape<'_>, key: &str, at: At) -> bool {
    holds_id_within(tape, key, at, DEPTH_MAX)
}

fn holds_id_within(tape: &Tape<'_>, key: &str, at: At, depth: u32) -> bool {
    tape.children(at).take(16).any(|(inner, value)| {
        let inner = inner.map_or_else(|| key.into(), |inner| tape.text(inner));
        if tape.is_scalar(value) {
            worth_of(tape, &inner, value) == Worth::Id
        } else {
            depth > 0 && holds_id_within(tape, &inner, value, depth - 1)
        }
    })
}

/// Lists the keys of an object whose values are scalars that join with slashes.
fn parts(tape: &Tape<'_>, at: At) -> Option<Vec<String>> {
    if tape.shape(at) != Shape::Object {
        return None;
    }
    let mut keys = Vec::new();
    for (key, value) in tape.children(at) {
        let plain = tape.is_scalar(value)
            && tape.raw(value).len() <= 40
            && !tape.raw(value).contains(['/', '\\', '|']);
        if !plain || keys.len() >= 12 {
            return None;
        }
        keys.push(tape.text(key?).into_owned());
    }
    (!keys.is_empty()).then_some(keys)
}

/// Finds the column by which rows are told apart.
pub(super) fn label_column(columns: &[Column], rows: usize) -> Option<&Column> {
    let naming = || columns.iter().filter(|column| column.names_row(rows));
    naming()
        .find(|column| is_identity(&column.key))
        .or_else(|| naming().next())
}
