//! Reads typed values out of a TOML table and collects what is wrong with them.
//!
//! A value that is absent or wrong reads as `None`: the caller goes on with the default, so that one
//! pass finds every problem. Once there is a problem the result is never a policy.

use super::closed::Closed;
use super::error::{PolicyError, Problem};
use super::nearest::nearest;
use foldback_event::Label;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A table of the document with its place.
#[derive(Clone, Copy)]
pub(super) struct Node<'d> {
    /// Its path, empty for the document.
    pub(super) path: &'d str,
    pub(super) table: &'d DeTable<'d>,
    /// Where it begins, in bytes.
    pub(super) at: usize,
}

impl<'d> Node<'d> {
    fn get(&self, key: &str) -> Option<&'d Spanned<DeValue<'d>>> {
        self.table.get(key)
    }

    fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        }
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }
}

/// Collects problems while values are read.
pub(super) struct Reader<'t> {
    text: &'t str,
    pub(super) errors: Vec<PolicyError>,
}

impl<'t> Reader<'t> {
    pub(super) const fn new(text: &'t str) -> Self {
        Self {
            text,
            errors: Vec::new(),
        }
    }

    /// Gives line and column of a byte offset, both from 1.
    pub(super) fn place(&self, at: usize) -> (usize, usize) {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        (line, column)
    }

    pub(super) fn report(
        &mut self,
        at: usize,
        key: String,
        problem: Problem,
        hint: Option<String>,
    ) {
        let (line, column) = self.place(at);
        self.errors.push(PolicyError {
            line,
            column,
            key,
            problem,
            hint,
        });
    }

    fn report_in(&mut self, node: Node<'_>, key: &str, span: &Range<usize>, problem: Problem) {
        self.report(span.start, node.path_of(key), problem, None);
    }

    /// Reports every key of a table that is not one of `known`.
    pub(super) fn only(&mut self, node: Node<'_>, known: &[&str]) {
        for key in node.table.keys() {
            let written: &str = key.get_ref();
            if !known.contains(&written) {
                let hint = suggestion(written, known, "known keys");
                let path = node.path_of(&shown(written));
                self.report(key.span().start, path, Problem::UnknownKey, Some(hint));
            }
        }
    }

    /// Reports keys that only a later schema has.
    pub(super) fn later(&mut self, node: Node<'_>, keys: &[&str], schema: u16) {
        for key in node.table.keys() {
            let written: &str = key.get_ref();
            if keys.contains(&written) {
                let hint = format!("it belongs to schema {schema}: write schema = {schema}");
                let path = node.path_of(written);
                self.report(key.span().start, path, Problem::UnknownKey, Some(hint));
            }
        }
    }

    /// Reports a key that must be there and is not.
    pub(super) fn require(&mut self, node: Node<'_>, key: &str, hint: &str) {
        if !node.has(key) {
            let hint = Some(hint.to_owned());
            self.report(node.at, node.path_of(key), Problem::MissingKey, hint);
        }
    }

    pub(super) fn integer(
        &mut self,
        node: Node<'_>,
        key: &str,
        (min, max): (u64, u64),
    ) -> Option<u64> {
        let value = node.get(key)?;
        let Some(integer) = value.get_ref().as_integer() else {
            self.wrong_type(node, key, value, "an integer", None);
            return None;
        };
        let number = u64::from_str_radix(integer.as_str(), integer.radix()).ok();
        match number {
            Some(number) if (min..=max).contains(&number) => Some(number),
            _ => {
                let value_text = shown(&integer.to_string());
                let problem = Problem::OutOfRange {
                    value: value_text,
                    min,
                    max,
                };
                self.report_in(node, key, &value.span(), problem);
                None
            }
        }
    }

    /// Reads an integer, or the word `never` as none, in place of what `to` holds.
    pub(super) fn integer_or_never(
        &mut self,
        node: Node<'_>,
        key: &str,
        range: (u64, u64),
        to: &mut Option<u64>,
    ) {
        let Some(value) = node.get(key) else { return };
        match value.get_ref() {
            DeValue::String(text) if text == "never" => *to = None,
            DeValue::Integer(_) => {
                if let Some(number) = self.integer(node, key, range) {
                    *to = Some(number);
                }
            }
            _ => self.wrong_type(node, key, value, "an integer or \"never\"", None),
        }
    }

    pub(super) fn boolean(&mut self, node: Node<'_>, key: &str) -> Option<bool> {
        let value = node.get(key)?;
        let read = value.get_ref().as_bool();
        if read.is_none() {
            let hint = "write true or false, without quotes".to_owned();
            self.wrong_type(node, key, value, "true or false", Some(hint));
        }
        read
    }

    /// Reads one name of a closed vocabulary.
    pub(super) fn choice<T: Closed>(&mut self, node: Node<'_>, key: &str) -> Option<T> {
        self.choice_of(node, key, T::VALUES)
    }

    /// Reads one name of a part of a closed vocabulary.
    pub(super) fn choice_of<T: Closed>(
        &mut self,
        node: Node<'_>,
        key: &str,
        values: &[T],
    ) -> Option<T> {
        let value = node.get(key)?;
        let Some(text) = value.get_ref().as_str() else {
            self.wrong_type(node, key, value, "a string", None);
            return None;
        };
        self.named(node, key, text, &value.span(), values)
    }

    /// Reads a list of names of a closed vocabulary, at least one.
    pub(super) fn choices<T: Closed>(&mut self, node: Node<'_>, key: &str) -> Option<Vec<T>> {
        let list = self.choices_or_none(node, key)?;
        let value = node.get(key)?;
        if value
            .get_ref()
            .as_array()
            .is_some_and(|array| array.is_empty())
        {
            self.report_in(node, key, &value.span(), Problem::EmptyList);
            return None;
        }
        Some(list)
    }

    /// Reads a list of names of a closed vocabulary, which may be empty.
    pub(super) fn choices_or_none<T: Closed>(
        &mut self,
        node: Node<'_>,
        key: &str,
    ) -> Option<Vec<T>> {
        let value = node.get(key)?;
        let Some(array) = value.get_ref().as_array() else {
            let hint = value
                .get_ref()
                .as_str()
                .map(|text| format!("write [\"{}\"]", shown(text)));
            self.wrong_type(node, key, value, "a list of strings", hint);
            return None;
        };
        let mut out = Vec::new();
        for item in array {
            match item.get_ref().as_str() {
                Some(text) => out.extend(self.named(node, key, text, &item.span(), T::VALUES)),
                None => self.wrong_type(node, key, item, "a string", None),
            }
        }
        Some(out)
    }

    fn named<T: Closed>(
        &mut self,
        node: Node<'_>,
        key: &str,
        text: &str,
        span: &Range<usize>,
        values: &[T],
    ) -> Option<T> {
        let found = values.iter().copied().find(|value| value.text() == text);
        if found.is_none() {
            let names: Vec<&str> = values.iter().map(|value| value.text()).collect();
            let value = shown(text);
            let what = T::WHAT;
            let (problem, hint) = if T::find(text).is_some() {
                let hint = format!("this key takes {}", names.join(", "));
                (Problem::MisplacedValue { value, what }, hint)
            } else {
                let hint = suggestion(text, &names, "known");
                (Problem::UnknownValue { value, what }, hint)
            };
            self.report(span.start, node.path_of(key), problem, Some(hint));
        }
        found
    }

    pub(super) fn label(&mut self, node: Node<'_>, key: &str) -> Option<Label> {
        let value = node.get(key)?;
        let Some(text) = value.get_ref().as_str() else {
            self.wrong_type(node, key, value, "a string", None);
            return None;
        };
        match Label::new(text) {
            Ok(label) => Some(label),
            Err(source) => {
                let problem = Problem::BadName {
                    value: shown(text),
                    source,
                };
                let hint = Some(source.to_string());
                self.report(value.span().start, node.path_of(key), problem, hint);
                None
            }
        }
    }

    /// Reads a table. `path` is the name under which its keys are reported.
    pub(super) fn table<'d>(
        &mut self,
        node: Node<'d>,
        key: &str,
        path: &'d str,
    ) -> Option<Node<'d>> {
        let value = node.get(key)?;
        let Some(table) = value.get_ref().as_table() else {
            let hint = if node.path.is_empty() {
                format!("write `[{path}]` on a line of its own, its keys below")
            } else {
                format!("write {key} = {{ ... }} with the keys in braces")
            };
            self.wrong_type(node, key, value, "a table", Some(hint));
            return None;
        };
        Some(Node {
            path,
            table,
            at: value.span().start,
        })
    }

    /// Reads a list of tables, of which there may be none.
    pub(super) fn tables<'d>(
        &mut self,
        node: Node<'d>,
        path: &'d str,
        count_max: usize,
    ) -> Vec<Node<'d>> {
        let Some(value) = node.get(path) else {
            return Vec::new();
        };
        let Some(array) = value.get_ref().as_array() else {
            let hint = format!("begin each rule with `[[{path}]]`");
            self.wrong_type(node, path, value, "a list of tables", Some(hint));
            return Vec::new();
        };
        if array.len() > count_max {
            let problem = Problem::TooMany {
                count: array.len(),
                max: count_max,
            };
            self.report_in(node, path, &value.span(), problem);
            return Vec::new();
        }
        let mut out = Vec::new();
        for item in array {
            match item.get_ref().as_table() {
                Some(table) => out.push(Node {
                    path,
                    table,
                    at: item.span().start,
                }),
                None => self.wrong_type(node, path, item, "a table", None),
            }
        }
        out
    }

    fn wrong_type(
        &mut self,
        node: Node<'_>,
        key: &str,
        value: &Spanned<DeValue<'_>>,
        expected: &'static str,
        hint: Option<String>,
    ) {
        let found = match value.get_ref() {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "an integer",
            DeValue::Float(_) => "a number with a fraction",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        let problem = Problem::WrongType { expected, found };
        self.report(value.span().start, node.path_of(key), problem, hint);
    }
}

/// Shortens what a person wrote to what fits into one line of a message.
fn shown(text: &str) -> String {
    const CHARACTERS_MAX: usize = 60;
    let mut out: String = text
        .chars()
        .take(CHARACTERS_MAX)
        .flat_map(char::escape_debug)
        .collect();
    if text.chars().nth(CHARACTERS_MAX).is_some() {
        out.push('…');
    }
    out
}

fn suggestion(written: &str, known: &[&str], heading: &str) -> String {
    let list = known.join(", ");
    match nearest(written, known) {
        Some(near) => format!("did you mean `{near}`? {heading}: {list}"),
        None => format!("{heading}: {list}"),
    }
}
