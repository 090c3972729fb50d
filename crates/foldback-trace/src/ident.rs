//! Ids and names that providers accept.
//!
//! Sources reuse ids, leave them empty and write characters that a provider refuses. What is given
//! out here depends on what was given out before alone, so that a request which goes on keeps the
//! ids of its beginning.

use foldback_event::Digest;
use std::collections::{BTreeMap, BTreeSet};

/// The domain of the digest that stands for the rest of a long id.
const CONTEXT: &str = "foldback 2026 trace long id v1";

/// How many characters of a digest and its separator end a shortened id.
const TAIL_CHARS: usize = 13;

/// The ids of calls of one request.
#[derive(Debug)]
pub(crate) struct Ids {
    used: BTreeSet<String>,
    /// The number that the next id of a base tries first.
    next: BTreeMap<String, u32>,
    chars_max: usize,
}

impl Ids {
    /// Begins a request of a provider that takes ids up to a length.
    pub(crate) fn new(chars_max: usize) -> Self {
        Self {
            used: BTreeSet::new(),
            next: BTreeMap::new(),
            chars_max,
        }
    }

    /// Gives an id that is like the wanted one and was not given out in this request.
    pub(crate) fn give(&mut self, wanted: &str) -> String {
        let base = short(&word(wanted, "call"), wanted, self.chars_max);
        if self.used.insert(base.clone()) {
            return base;
        }
        let count = self.next.entry(base.clone()).or_insert(2);
        loop {
            let next = format!("{base}_{count}");
            *count = count.saturating_add(1);
            let id = short(&next, &next, self.chars_max);
            if self.used.insert(id.clone()) {
                return id;
            }
        }
    }
}

/// Gives a tool's name as both providers accept it.
pub(crate) fn tool(name: &str) -> String {
    const CHARS_MAX: usize = 64;
    short(&word(name, "tool"), name, CHARS_MAX)
}

/// Gives a speaker's name as OpenAI accepts it; none if nothing is left of it.
pub(crate) fn speaker(name: &str) -> Option<String> {
    const CHARS_MAX: usize = 64;
    let fits = |c: char| !c.is_whitespace() && !c.is_control() && !"<|\\/>".contains(c);
    let name: String = name
        .trim()
        .chars()
        .map(|c| if fits(c) { c } else { '_' })
        .take(CHARS_MAX)
        .collect();
    (!name.is_empty()).then_some(name)
}

fn word(text: &str, empty: &str) -> String {
    if text.is_empty() {
        return empty.to_owned();
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    text.chars()
        .map(|c| if fits(c) { c } else { '_' })
        .collect()
}

/// Shortens an id that is ASCII; its end tells it from another with the same beginning.
fn short(id: &str, whole: &str, chars_max: usize) -> String {
    if id.len() <= chars_max {
        return id.to_owned();
    }
    let start: String = id
        .chars()
        .take(chars_max.saturating_sub(TAIL_CHARS))
        .collect();
    format!("{start}_{}", Digest::of(CONTEXT, whole.as_bytes()).short())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_plain() {
        let mut ids = Ids::new(40);
        assert_eq!(ids.give("call_1"), "call_1");
        assert_eq!(ids.give("call_1"), "call_1_2");
        assert_eq!(ids.give("call_1_2"), "call_1_2_2");
        assert_eq!(ids.give("a.b:c"), "a_b_c");
        assert_eq!(ids.give("a b/c"), "a_b_c_2");
        assert_eq!(ids.give(""), "call");
        let long = ids.give(&"x".repeat(41));
        assert_eq!(long.len(), 40);
        assert_ne!(long, ids.give(&"x".repeat(42)));
        assert_eq!(ids.give(&"x".repeat(41)).len(), 40);
        assert_eq!(ids.give(&"y".repeat(40)), "y".repeat(40));
        let again = ids.give(&"y".repeat(40));
        assert!(again.len() <= 40 && again != "y".repeat(40), "{again}");
    }

    #[test]
    fn names_are_plain() {
        assert_eq!(tool("mcp__drive.read file"), "mcp__drive_read_file");
        assert_eq!(tool(""), "tool");
        assert_eq!(tool(&"é".repeat(70)).len(), 64);
        assert_eq!(
            speaker(" Ada Lovelace<x> ").as_deref(),
            Some("Ada_Lovelace_x_")
        );
        assert_eq!(speaker("Zoë").as_deref(), Some("Zoë"));
        assert_eq!(speaker("  "), None);
    }
}
