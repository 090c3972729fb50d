//! Compact form of logs and of the output of builds and tests: results, errors, warnings, the end.

use super::page::{Page, clip, size};
use super::text::{Line, Plain, gather, names};
use super::{Extraction, SUMMARY_BYTES_MAX};
use foldback_event::{Freshness, MediaType};
use std::collections::BTreeSet;

/// What a line of a log says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mark {
    /// How it ended: `test result: ok`, `12 passed`.
    Result,
    /// Something failed.
    Error,
    /// Something may be wrong.
    Warning,
}

/// How many marked lines of each kind stand in a summary.
const RESULTS_MAX: usize = 4;
const ERRORS_MAX: usize = 8;
const WARNINGS_MAX: usize = 2;
const LINE_BYTES_MAX: usize = 150;

/// Words that say that something failed.
const ERRORS: &[&str] = &[
    "error",
    "fail",
    "panicked",
    "exception",
    "fatal",
    "traceback",
    "✗",
    "✘",
    "×",
    "cannot ",
    "not found",
    "denied",
    "undefined reference",
    "assert",
];

/// Tells whether a text is the output of a program that reports success and failure.
pub(super) fn is_log(plain: &Plain<'_>) -> bool {
    if plain.numbered || plain.lines.len() < 3 {
        return false;
    }
    let sample = plain.lines.len().min(400);
    let lines = || plain.lines.iter().take(sample);
    let stamped = lines().filter(|line| is_stamped(&line.text)).count();
    let marks: Vec<Mark> = lines().filter_map(|line| mark(&line.text)).collect();
    let result = marks.contains(&Mark::Result);
    // Prose that speaks of errors is no log.
    let prose = lines().any(|line| line.text.starts_with('#') || line.text.contains("**"));
    stamped * 2 > sample || !prose && (result || marks.len() * 8 > sample && marks.len() >= 2)
}

/// Condenses a log.
pub(super) fn summarize(plain: &Plain<'_>) -> Extraction {
    let mut out = Extraction::new("log", MediaType::Log, Freshness::Session);
    gather(plain, &mut out);
    if !plain.take_whole(&mut out) {
        condense(plain, &mut out);
    }
    out
}

/// Writes the marked lines, the end, and the words that a later call may need.
pub(super) fn condense(plain: &Plain<'_>, out: &mut Extraction) {
    let marked: Vec<(Mark, &Line<'_>)> = plain
        .lines
        .iter()
        .filter_map(|line| Some((mark(&line.text)?, line)))
        .collect();
    let count = |mark| marked.iter().filter(|(m, _)| *m == mark).count();
    let mut page = Page::new(SUMMARY_BYTES_MAX);
    page.push(&format!(
        "{} lines, {}",
        plain.line_count,
        size(plain.len())
    ));
    for (mark, name) in [(Mark::Error, "errors"), (Mark::Warning, "warnings")] {
        if count(mark) > 0 {
            page.push(&format!(", {} {name}", count(mark)));
        }
    }
    let mut shown: BTreeSet<usize> = BTreeSet::new();
    let mut texts: BTreeSet<&str> = BTreeSet::new();
    let half = page.room() * 3 / 5;
    for (mark, most) in [
        (Mark::Result, RESULTS_MAX),
        (Mark::Error, ERRORS_MAX),
        (Mark::Warning, WARNINGS_MAX),
    ] {
        let mut of_mark: Vec<&Line<'_>> = marked
            .iter()
            .filter(|(m, _)| *m == mark)
            .map(|(_, line)| *line)
            .collect();
        if mark == Mark::Result && of_mark.len() > most {
            // The last results are those of the whole.
            of_mark.drain(..of_mark.len() - most);
        }
        for line in of_mark
            .into_iter()
            .filter(|line| texts.insert(line.text.trim()))
            .take(most)
        {
            if page.room() > half {
                shown.insert(line.number);
            }
        }
    }
    let telling = || plain.lines.iter().filter(|line| line.tells());
    shown.extend(
        telling()
            .take(1)
            .chain(telling().rev().take(2))
            .map(|line| line.number),
    );
    let mut before = 0;
    let mut inner = Page::new(page.room() * 7 / 10);
    let mut used = 0;
    for line in plain
        .lines
        .iter()
        .filter(|line| shown.contains(&line.number))
    {
        let gap = if line.number > before + 1 && before > 0 {
            "… "
        } else {
            ""
        };
        if !inner.line(&format!("{gap}{}", clip(line.text.trim(), LINE_BYTES_MAX))) {
            break;
        }
        out.locators.extend(std::iter::once(super::Locator::lines(
            line.number,
            line.number,
        )));
        before = line.number;
        used += 1;
    }
    page.line(inner.as_str());
    let known = page.as_str().to_owned();
    names(&plain.lines, &known, &mut page);
    out.omit("lines", plain.lines.len().saturating_sub(used));
    plain.note(out);
    out.summary = page.finish();
}

fn is_stamped(line: &str) -> bool {
    let line = line.trim_start_matches(['[', '(', ' ']);
    let head: Vec<u8> = line.bytes().take(8).collect();
    let digits = head.iter().filter(|b| b.is_ascii_digit()).count();
    let marks = head.iter().filter(|b| b"-:/".contains(b)).count();
    digits >= 4 && marks >= 1 && line.len() > 20
}

/// Tells whether a line says that something failed.
pub(super) fn is_failure(line: &str) -> bool {
    mark(line) == Some(Mark::Error)
}

fn mark(line: &str) -> Option<Mark> {
    let text = line.trim_start();
    if text.len() > 600 {
        return None;
    }
    let lower = text.to_ascii_lowercase();
    let result = lower.starts_with("test result")
        || lower.starts_with("tests:")
        || lower.starts_with("test suites:")
        || lower.starts_with("test files")
        || (lower.contains(" passed") || lower.contains(" failed") || lower.contains(" passing"))
            && lower.bytes().any(|b| b.is_ascii_digit())
            && lower.len() < 120
        || lower.starts_with("finished ")
        || lower.starts_with("build succeeded")
        || lower.starts_with("exit code");
    if result {
        return Some(Mark::Result);
    }
    let first = lower.split(' ').next().unwrap_or_default();
    let raised = first.ends_with("error:") || first.ends_with("exception:");
    if raised || ERRORS.iter().any(|word| has_word(&lower, word)) {
        return Some(Mark::Error);
    }
    (has_word(&lower, "warn") || lower.contains('⚠')).then_some(Mark::Warning)
}

/// Tells whether a word starts somewhere in a line, not inside another word and not in a path.
fn has_word(lower: &str, word: &str) -> bool {
    lower.match_indices(word).any(|(at, _)| {
        let before = lower
            .get(..at)
            .and_then(|before| before.chars().next_back());
        let after = lower
            .get(at + word.len()..)
            .and_then(|after| after.chars().next());
        before.is_none_or(|c| !c.is_alphanumeric() && !"/-_.".contains(c))
            && after.is_none_or(|c| !"/-_".contains(c))
    })
}
