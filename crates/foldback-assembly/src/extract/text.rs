//! Compact form of plain text: source code with line numbers, listings, search results, prose.

use super::page::{Page, clip, head, size};
use super::scan::{Class, Found, definition, scan};
use super::{Extraction, Fact, Locator, SUMMARY_BYTES_MAX};
use foldback_event::{Freshness, MediaType};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Up to how many bytes a text stands whole.
pub(super) const WHOLE_BYTES_MAX: usize = 900;

/// Among how many lines the first distinct ones are looked for.
const HEAD_LINES_MAX: usize = 40;

/// How many words that differ in their digits alone are shown of each class.
const fn family_max(class: Class) -> usize {
    match class {
        Class::Place => usize::MAX,
        Class::Code => 24,
        Class::Name | Class::Detail | Class::Derived => 6,
    }
}

/// Bytes read as text, without the notices of a client's harness.
#[derive(Debug)]
pub(super) struct Decoded<'a> {
    text: Cow<'a, str>,
    /// How many bytes were no text.
    broken: usize,
    /// How many notices were dropped.
    notices: usize,
}

impl<'a> Decoded<'a> {
    /// Reads bytes; what is no UTF-8 becomes the replacement character and is counted.
    pub(super) fn read(bytes: &'a [u8]) -> Self {
        let broken = bytes.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
        let text = String::from_utf8_lossy(bytes);
        match without_notices(&text) {
            Some((text, notices)) => Self {
                text: Cow::Owned(text),
                broken,
                notices,
            },
            None => Self {
                text,
                broken,
                notices: 0,
            },
        }
    }
}

/// A text made ready: no terminal codes, no line numbers of its own, no blank lines.
#[derive(Debug)]
pub(super) struct Plain<'a> {
    /// Its lines.
    pub(super) lines: Vec<Line<'a>>,
    /// How many lines the source has.
    pub(super) line_count: usize,
    /// Whether it had line numbers of its own.
    pub(super) numbered: bool,
    broken: usize,
    notices: usize,
}

/// One line that says something.
#[derive(Debug)]
pub(super) struct Line<'a> {
    /// Its place in the source, from 1.
    pub(super) number: usize,
    /// The number that stood before it.
    pub(super) label: Option<&'a str>,
    /// The text.
    pub(super) text: Cow<'a, str>,
}

impl Line<'_> {
    /// Tells whether it holds more than a border.
    pub(super) fn tells(&self) -> bool {
        self.text.chars().any(char::is_alphanumeric)
    }
}

impl<'a> Plain<'a> {
    /// Splits a text into lines.
    pub(super) fn read(decoded: &'a Decoded<'_>) -> Self {
        let says = |line: &&str| !line.trim().is_empty();
        let labels = decoded
            .text
            .lines()
            .filter(|line| split_label(line).0.is_some())
            .count();
        let numbered = labels >= 2 && labels + 2 >= decoded.text.lines().filter(says).count() / 2;
        let mut lines = Vec::new();
        let mut line_count = 0;
        for (index, line) in decoded.text.lines().enumerate() {
            line_count = index + 1;
            let (label, text) = if numbered {
                split_label(line)
            } else {
                (None, line)
            };
            let text = without_codes(text);
            if !text.trim().is_empty() {
                lines.push(Line {
                    number: index + 1,
                    label,
                    text,
                });
            }
        }
        Self {
            lines,
            line_count,
            numbered,
            broken: decoded.broken,
            notices: decoded.notices,
        }
    }

    /// Gives the whole text, tidied.
    pub(super) fn whole(&self) -> String {
        let mut out = String::new();
        for line in &self.lines {
            if !out.is_empty() {
                out.push('\n');
            }
            if let Some(label) = line.label {
                out.push_str(label);
                out.push('→');
            }
            out.push_str(&line.text);
        }
        out
    }

    /// Counts the bytes of the whole text without building it.
    pub(super) fn len(&self) -> usize {
        let label = |line: &Line<'_>| line.label.map_or(0, |label| label.len() + 3);
        self.lines
            .iter()
            .map(|line| line.text.len() + 1 + label(line))
            .sum()
    }

    /// Takes the text whole if it is small; says whether it did.
    pub(super) fn take_whole(&self, out: &mut Extraction) -> bool {
        if self.len() > WHOLE_BYTES_MAX {
            return false;
        }
        out.summary = self.whole();
        out.lossless = self.broken == 0 && self.notices == 0;
        self.note(out);
        out.locators.extend(self.locator(0, self.lines.len()));
        true
    }

    /// Notes what reading alone left out.
    pub(super) fn note(&self, out: &mut Extraction) {
        out.omit("broken-bytes", self.broken);
        out.omit("notices", self.notices);
    }

    /// Points at a range of lines.
    pub(super) fn locator(&self, from: usize, to: usize) -> Option<Locator> {
        let first = self.lines.get(from)?.number;
        let last = self.lines.get(to.checked_sub(1)?)?.number;
        Some(Locator::lines(first, last))
    }
}

/// Condenses a text.
pub(super) fn summarize(plain: &Plain<'_>, media: MediaType) -> Extraction {
    let mut out = Extraction::new("text", media, Freshness::Session);
    gather(plain, &mut out);
    if plain.take_whole(&mut out) {
        return out;
    }
    let mut page = Page::new(SUMMARY_BYTES_MAX);
    page.push(&headline(plain));
    let used = body(plain, 0, &mut page);
    out.locators.extend(plain.locator(0, plain.lines.len()));
    out.omit("lines", plain.lines.len().saturating_sub(used));
    plain.note(&mut out);
    out.summary = page.finish();
    out
}

/// Condenses a text that stands inside another value.
pub(super) fn digest(text: &str, room: usize) -> String {
    let decoded = Decoded::read(text.as_bytes());
    let plain = Plain::read(&decoded);
    if plain.len() <= room {
        return plain.whole();
    }
    let mut page = Page::new(room);
    body(&plain, 0, &mut page);
    page.finish()
}

fn headline(plain: &Plain<'_>) -> String {
    let size = size(plain.len());
    let labels = || plain.lines.iter().filter_map(|line| line.label);
    match (plain.numbered, labels().next(), labels().next_back()) {
        (true, Some(first), Some(last)) => format!("lines {first}-{last}, {size}"),
        _ => format!("{} lines, {size}", plain.line_count),
    }
}

/// Writes the lines and words from a line on that are worth most; says how many lines stand whole.
pub(super) fn body(plain: &Plain<'_>, from: usize, page: &mut Page) -> usize {
    let lines = plain.lines.get(from..).unwrap_or_default();
    let room = page.room();
    let mut used = 0;
    let defined: Vec<String> = lines
        .iter()
        .filter_map(|line| {
            let text = definition(&line.text)?;
            Some(match &line.label {
                Some(label) => format!("{label} {}", clip(text, 72)),
                None => clip(text, 72),
            })
        })
        .collect();
    let code = defined.len() >= 3 || plain.numbered;
    if !code {
        let mut seen = BTreeSet::new();
        let distinct = |line: &&Line<'_>| line.tells() && seen.insert(line.text.to_string());
        for line in lines.iter().take(HEAD_LINES_MAX).filter(distinct).take(3) {
            let cut = clip(line.text.trim_start(), 160);
            if page.room() + room / 3 < room || !page.line(&cut) {
                break;
            }
            used += 1;
        }
    }
    let last = lines
        .iter()
        .rfind(|line| line.tells())
        .filter(|_| !code && lines.len() > 3)
        .map(|line| clip(line.text.trim(), 120));
    let tail = last.as_ref().map_or(0, |last| last.len() + 4);
    let mut inner = Page::new(page.room().saturating_sub(tail + 1));
    if code {
        let share = inner.room() / 2;
        let mut defs = Page::new(share);
        for line in &defined {
            if !defs.line(line) {
                break;
            }
            used += 1;
        }
        inner.push(defs.as_str());
    }
    let known = page.as_str().to_owned() + inner.as_str();
    names(lines, &known, &mut inner);
    if !inner.as_str().is_empty() {
        page.line(inner.as_str());
    }
    if let Some(last) = last {
        page.line("… ");
        page.push(&last);
        used += 1;
    }
    used
}

/// Fills the room with the words that a later call may need, the most specific first.
pub(super) fn names(lines: &[Line<'_>], known: &str, page: &mut Page) {
    let mut found = scan(lines.iter().map(|line| &*line.text));
    found.retain(|found| !known.contains(found.word));
    found.sort_by_key(|found| (found.class, !found.word.starts_with('/'), found.line));
    let mut families: BTreeMap<(Class, String), usize> = BTreeMap::new();
    found.retain(|found| {
        let shape = found.word.replace(|c: char| c.is_ascii_digit(), "");
        let count = families.entry((found.class, shape)).or_default();
        *count += 1;
        *count <= family_max(found.class)
    });
    let room = page.room();
    // Each class leaves something to those after it, and the last round takes what is left.
    let mut taken = vec![false; found.len()];
    let mut picked: Vec<&Found<'_>> = Vec::new();
    let mut spent = 8;
    for (class, share) in [
        (Some(Class::Place), 50),
        (Some(Class::Code), 65),
        (Some(Class::Name), 88),
        (None, 100),
    ] {
        for (found, taken) in found.iter().zip(taken.iter_mut()) {
            let cost = found.word.len() + 1;
            if *taken
                || class.is_some_and(|class| class != found.class)
                || spent + cost > room * share / 100
            {
                continue;
            }
            spent += cost;
            *taken = true;
            picked.push(found);
        }
    }
    picked.sort_by_key(|found| (found.class, found.line));
    let words: Vec<&str> = picked.iter().map(|found| found.word).collect();
    if !words.is_empty() {
        page.line(&words.join(" "));
    }
}

/// Collects facts from `key: value` lines and references to files.
pub(super) fn gather(plain: &Plain<'_>, out: &mut Extraction) {
    for line in &plain.lines {
        if out.facts.len() >= super::FACTS_MAX || plain.numbered {
            break;
        }
        let Some((key, value)) = line.text.split_once(": ") else {
            continue;
        };
        let (key, value) = (key.trim(), value.trim());
        let named = key.len() <= 32
            && key
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"_-. ".contains(&b));
        if named
            && !key.is_empty()
            && !value.is_empty()
            && value.len() <= 80
            && key.split(' ').count() <= 3
        {
            out.facts.push(Fact {
                key: key.to_owned(),
                value: value.to_owned(),
                locator: Locator::lines(line.number, line.number),
            });
        }
    }
    // A key that names two values tells nothing when it is compared.
    let keys: Vec<String> = out.facts.iter().map(|fact| fact.key.clone()).collect();
    out.facts
        .retain(|fact| keys.iter().filter(|key| **key == fact.key).count() == 1);
    refs(plain, out);
}

/// Collects references to files and addresses.
pub(super) fn refs(plain: &Plain<'_>, out: &mut Extraction) {
    let lines = plain
        .lines
        .iter()
        .take(2_000)
        .map(|line| head(&line.text, 4_000));
    for found in scan(lines) {
        if found.class == Class::Place && out.file_refs.len() < super::FILE_REFS_MAX {
            out.file_refs.push(found.word.to_owned());
        }
    }
}

/// Drops notices that a client's harness put into a result; none if there are none.
fn without_notices(text: &str) -> Option<(String, usize)> {
    const OPEN: &str = "<system-reminder>";
    const CLOSE: &str = "</system-reminder>";
    let mut out = String::new();
    let mut rest = text;
    let mut notices = 0;
    while let Some((before, after)) = rest.split_once(OPEN) {
        let Some((inside, behind)) = after.split_once(CLOSE) else {
            break;
        };
        out.push_str(before);
        // The line numbers of what follows stay what they were.
        out.extend(inside.chars().filter(|c| *c == '\n'));
        rest = behind;
        notices += 1;
    }
    out.push_str(rest);
    (notices > 0).then_some((out, notices))
}

/// Drops terminal codes, what a carriage return overwrote, and the blanks at the end.
fn without_codes(line: &str) -> Cow<'_, str> {
    let line = line.trim_end();
    let line = line.rsplit('\r').next().unwrap_or(line);
    if !line.chars().any(|c| c.is_control() && c != '\t') {
        return Cow::Borrowed(line);
    }
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            if chars.next_if_eq(&'[').is_some() {
                while chars.next_if(|c| !c.is_ascii_alphabetic()).is_some() {}
            }
            chars.next();
        } else if c == '\t' || !c.is_control() {
            out.push(c);
        }
    }
    out.truncate(out.trim_end().len());
    Cow::Owned(out)
}

/// Splits a line number from a line as `cat -n` and its like write it.
fn split_label(line: &str) -> (Option<&str>, &str) {
    let text = line.trim_start_matches(' ');
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (label, rest) = text.split_at_checked(digits).unwrap_or_default();
    match rest.strip_prefix('→').or_else(|| rest.strip_prefix('\t')) {
        Some(rest) if (1..=7).contains(&digits) => (Some(label), rest),
        _ => (None, line),
    }
}
