//! Compact form of results that say a file was written: which, what happened, what stands there.

use super::page::{Page, clip};
use super::scan::{is_path, words};
use super::text::{Plain, body, refs};
use super::{Extraction, Locator, SUMMARY_BYTES_MAX};
use foldback_event::{Freshness, MediaType};

const CREATED: &[&str] = &[
    "created",
    "generated",
    "saved",
    "uploaded",
    "downloaded",
    "exported",
];
const CHANGED: &[&str] = &[
    "updated",
    "written",
    "wrote",
    "modified",
    "edited",
    "deleted",
    "removed",
    "renamed",
    "moved",
    "applied",
    "edits",
    "overwritten",
];

/// Finds the file that a text says was written, and whether it is new.
pub(super) fn written(plain: &Plain<'_>) -> Option<(String, bool)> {
    let first = plain.lines.first().filter(|line| line.label.is_none())?;
    let text = &*first.text;
    if text.len() > 400 {
        return None;
    }
    let lower = text.to_lowercase();
    let has = |verbs: &[&str]| {
        lower
            .split(|c: char| !c.is_ascii_alphabetic())
            .any(|word| verbs.contains(&word))
    };
    let (created, changed) = (has(CREATED), has(CHANGED));
    if !created && !changed {
        return None;
    }
    let path = words(text).find(|word| is_path(word))?;
    Some((path.to_owned(), created))
}

/// Condenses a report of a written file.
pub(super) fn summarize(plain: &Plain<'_>, path: &str, created: bool) -> Extraction {
    let freshness = if created {
        Freshness::Durable
    } else {
        Freshness::Session
    };
    let mut out = Extraction::new("file-ref", MediaType::Text, freshness);
    out.subject = Some(format!("file={path}"));
    refs(plain, &mut out);
    if plain.take_whole(&mut out) {
        return out;
    }
    let mut page = Page::new(SUMMARY_BYTES_MAX);
    let first = plain.lines.first().map_or("", |line| &*line.text);
    page.push(&clip(first, 400));
    let used = body(plain, 1, &mut page);
    out.locators.extend(plain.locator(0, plain.lines.len()));
    out.locators.push(Locator::lines(1, 1));
    out.omit("lines", plain.lines.len().saturating_sub(used + 1));
    plain.note(&mut out);
    out.summary = page.finish();
    out
}
