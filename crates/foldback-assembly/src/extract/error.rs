//! Compact form of errors: the message whole, where it happened, what a retry needs.

use super::page::{Page, clip};
use super::scan::{is_path, words};
use super::text::{Plain, names, refs};
use super::{Extraction, Fact, Locator, SUMMARY_BYTES_MAX, log};
use foldback_event::{Freshness, MediaType};
use std::collections::BTreeSet;

/// Up to how many bytes an error stands whole.
const HEAD_BYTES_MAX: usize = 420;

/// From how many lines on the output of a failed program is read as a log.
const LOG_LINES_MIN: usize = 8;

const STARTS: &[&str] = &[
    "error",
    "<tool_use_error>",
    "traceback (most recent",
    "fatal:",
    "exception",
    "panic:",
    "thread 'main' panicked",
    "uncaught ",
];

/// Tells whether a text begins as error messages do.
pub(super) fn is_error(text: &str) -> bool {
    let head: String = text
        .trim_start()
        .chars()
        .take(32)
        .collect::<String>()
        .to_lowercase();
    STARTS.iter().any(|start| {
        head.strip_prefix(start).is_some_and(|rest| {
            start.len() > 9 || rest.starts_with([':', ' ', '[', '(']) || rest.is_empty()
        })
    })
}

/// Condenses an error.
pub(super) fn summarize(plain: &Plain<'_>) -> Extraction {
    let mut out = Extraction::new("error", MediaType::Text, Freshness::Session);
    refs(plain, &mut out);
    facts(plain, &mut out);
    if plain.take_whole(&mut out) {
        return out;
    }
    let first = plain
        .lines
        .iter()
        .find(|line| line.tells())
        .map_or("", |line| &*line.text);
    if !is_error(first) && plain.lines.len() > LOG_LINES_MIN {
        // A program's whole output, in which the failure stands somewhere.
        log::condense(plain, &mut out);
        return out;
    }
    let mut page = Page::new(SUMMARY_BYTES_MAX);
    let mut head = 0;
    for line in &plain.lines {
        let cut = clip(&line.text, 300);
        if head > 0 && page.as_str().len() + cut.len() > HEAD_BYTES_MAX || !page.line(&cut) {
            break;
        }
        head += 1;
    }
    let rest = plain.lines.get(head..).unwrap_or_default();
    let tail: Vec<String> = rest
        .iter()
        .skip(rest.len().saturating_sub(3))
        .map(|line| clip(line.text.trim(), 120))
        .collect();
    let mut places = BTreeSet::new();
    let mut inner = Page::new(
        page.room()
            .saturating_sub(tail.iter().map(|t| t.len() + 1).sum())
            / 2,
    );
    for word in rest.iter().flat_map(|line| words(&line.text)) {
        if is_path(word) && !page.as_str().contains(word) && places.insert(word) {
            if inner.room() <= word.len() + 4 {
                break;
            }
            inner.push(if places.len() == 1 { "at " } else { " " });
            inner.push(word);
        }
    }
    if rest.len() > tail.len() {
        page.line(&format!("… {} lines more", rest.len() - tail.len()));
    }
    if !inner.as_str().is_empty() {
        page.line(inner.as_str());
    }
    for line in &tail {
        page.line(line);
    }
    let known = page.as_str().to_owned();
    names(rest, &known, &mut page);
    out.locators.extend(plain.locator(0, head));
    out.locators
        .extend(plain.locator(plain.lines.len() - tail.len(), plain.lines.len()));
    out.omit("lines", rest.len().saturating_sub(tail.len()));
    plain.note(&mut out);
    out.summary = page.finish();
    out
}

/// Keeps the failing line as the one fact of an error, so that the same error is seen as the same.
fn facts(plain: &Plain<'_>, out: &mut Extraction) {
    let telling = || {
        plain
            .lines
            .iter()
            .filter(|line| line.tells() && line.text.len() <= 300)
    };
    // The head of a trace says that there is one, not which.
    let failing = telling().find(|line| {
        (is_error(&line.text) || log::is_failure(&line.text)) && !line.text.starts_with("Traceback")
    });
    if let Some(line) = failing.or_else(|| telling().next()) {
        out.facts.push(Fact {
            key: "error".to_owned(),
            value: line.text.trim().to_owned(),
            locator: Locator::lines(line.number, line.number),
        });
    }
}
