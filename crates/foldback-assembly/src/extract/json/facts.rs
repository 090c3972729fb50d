//! Key values of a JSON value with their rows, its subject, and the files it names.

use super::shape::{Row, columns, label_column};
use super::tape::{At, Shape, Tape, pointer_step};
use crate::extract::key::is_identity;
use crate::extract::scan::{Class, classify};
use crate::extract::{Extraction, FACTS_MAX, FILE_REFS_MAX, Fact, Locator};
use foldback_event::Freshness;
use std::collections::BTreeMap;

/// Longer values are no facts.
const VALUE_BYTES_MAX: usize = 200;

/// Keys whose values change from minute to minute.
pub(super) const VOLATILE: &[&str] = &[
    "available",
    "available_seats",
    "unread",
    "unread_count",
    "rank",
    "score",
];

/// Collects facts, subject and references.
pub(in crate::extract) fn gather(tape: &Tape<'_>, out: &mut Extraction) {
    let root = Tape::root();
    out.locators.push(Locator::pointer(String::new()));
    for (key, value) in tape.children(root).take(crate::extract::LOCATORS_MAX) {
        if let Some(key) = key.filter(|_| !tape.is_scalar(value)) {
            out.locators.push(Locator::pointer(format!(
                "/{}",
                pointer_step(&tape.text(key))
            )));
        }
    }
    out.subject = subject(tape);
    references(tape, out);
    let mut walk = Walk {
        tape,
        facts: Vec::new(),
        later: Vec::new(),
    };
    walk.container("", "", root);
    while !walk.later.is_empty() && walk.facts.len() < FACTS_MAX {
        let next = std::mem::take(&mut walk.later);
        for (name, pointer, at) in next {
            walk.container(&name, &pointer, at);
        }
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for fact in &walk.facts {
        *counts.entry(&fact.key).or_default() += 1;
    }
    // A key that names two values tells nothing when it is compared.
    let twice: Vec<String> = counts
        .iter()
        .filter(|(_, count)| **count > 1)
        .map(|(key, _)| (*key).to_owned())
        .collect();
    out.facts = walk.facts;
    out.facts.retain(|fact| !twice.contains(&fact.key));
}

/// The identity that an object states first.
fn subject(tape: &Tape<'_>) -> Option<String> {
    let root = Tape::root();
    if tape.shape(root) != Shape::Object {
        return None;
    }
    let named = |narrow: bool| {
        tape.children(root).find_map(|(key, value)| {
            let key = tape.text(key?);
            let fits = if narrow {
                key == "id"
            } else {
                is_identity(&key)
            };
            let short = tape.is_scalar(value) && (1..=120).contains(&tape.text(value).len());
            (fits && short && tape.shape(value) != Shape::Null)
                .then(|| format!("{key}={}", tape.text(value)))
        })
    };
    named(true).or_else(|| named(false))
}

fn references(tape: &Tape<'_>, out: &mut Extraction) {
    let mut todo = vec![Tape::root()];
    while let Some(at) = todo.pop() {
        let children: Vec<Row> = tape.children(at).collect();
        for (key, value) in &children {
            let key = key.map(|key| tape.text(key)).unwrap_or_default();
            if VOLATILE.contains(&&*key) {
                out.freshness = Freshness::Volatile;
            }
            if tape.shape(*value) != Shape::Text || out.file_refs.len() >= FILE_REFS_MAX {
                continue;
            }
            let text = tape.text(*value);
            let file_id = key.contains("file") && is_identity(&key);
            let place = text.len() <= 400 && classify(&text) == Some(Class::Place);
            let spaced = text.contains(char::is_whitespace);
            if (file_id || place && !spaced) && !out.file_refs.iter().any(|known| *known == text) {
                if file_id {
                    out.freshness = Freshness::Durable;
                }
                out.file_refs.push(text.into_owned());
            }
        }
        todo.extend(
            children
                .iter()
                .rev()
                .map(|child| child.1)
                .filter(|at| !tape.is_scalar(*at)),
        );
    }
}

struct Walk<'t, 'a> {
    tape: &'t Tape<'a>,
    facts: Vec<Fact>,
    /// Containers that wait until all of the level above are done: name, pointer, place.
    later: Vec<(String, String, At)>,
}

impl Walk<'_, '_> {
    fn container(&mut self, name: &str, pointer: &str, at: At) {
        let children: Vec<Row> = self.tape.children(at).take(512).collect();
        let keyed = self.tape.shape(at) == Shape::Object;
        let labels = if keyed {
            Vec::new()
        } else {
            self.labels(&children)
        };
        for (index, (key, value)) in children.iter().enumerate() {
            let (inner_name, step) = if let Some(key) = key {
                let key = self.tape.text(*key);
                let dot = if name.is_empty() { "" } else { "." };
                (format!("{name}{dot}{key}"), pointer_step(&key))
            } else {
                let label = labels
                    .get(index)
                    .cloned()
                    .unwrap_or_else(|| index.to_string());
                (format!("{name}[{label}]"), index.to_string())
            };
            let inner_pointer = format!("{pointer}/{step}");
            if !self.tape.is_scalar(*value) {
                if self.later.len() < 4 * FACTS_MAX {
                    self.later.push((inner_name, inner_pointer, *value));
                }
                continue;
            }
            let text = self.tape.text(*value);
            let says = !text.is_empty() && text.len() <= VALUE_BYTES_MAX && inner_name.len() <= 200;
            if says && self.tape.shape(*value) != Shape::Null && self.facts.len() < FACTS_MAX {
                self.facts.push(Fact {
                    key: inner_name,
                    value: text.into_owned(),
                    locator: Locator::pointer(inner_pointer),
                });
            }
        }
    }

    /// Names the rows of an array by the column that tells them apart, else by place.
    fn labels(&self, rows: &[Row]) -> Vec<String> {
        let Some(columns) = columns(self.tape, rows) else {
            return Vec::new();
        };
        let Some(column) = label_column(&columns, rows.len()) else {
            return Vec::new();
        };
        let names = rows
            .iter()
            .filter_map(|(_, row)| self.tape.get(*row, &column.key));
        let names: Vec<String> = names
            .map(|name| self.tape.text(name).into_owned())
            .collect();
        let mut distinct = names.clone();
        distinct.sort();
        distinct.dedup();
        if distinct.len() == rows.len() {
            names
        } else {
            Vec::new()
        }
    }
}
