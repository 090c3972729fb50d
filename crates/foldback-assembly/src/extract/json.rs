//! Compact form of JSON values and of JSON lines.
//!
//! Keys are said once: arrays of like objects become a table, what all rows share is said before
//! it, and repeated rows of nested arrays are said once and then named.
//! A ladder of plans is tried from "everything" downwards; the first whose text fits is taken, so
//! what is left out is always what is worth least.

pub(super) mod brief;
pub(super) mod facts;
mod render;
mod shape;
pub(super) mod tape;

use super::key::Worth;
use super::page::{clip, size};
use super::{Extraction, LOSSLESS_BYTES_MAX, Omission, SUMMARY_BYTES_MAX, text};
use render::Render;
use tape::{At, Tape};

/// How much of a value a rendering shows.
#[derive(Debug, Clone, Copy)]
struct Plan {
    /// Longer strings are cut.
    string_bytes: usize,
    /// Fields of less worth are left out.
    worth: Worth,
    /// Rows shown whole.
    rows: usize,
    /// Bytes of the summary.
    limit: usize,
}

/// What a rendering left out leaves room for a note that says so.
const NOTE_BYTES: usize = 150;

/// How that note begins.
const NOTE_LEAD: &str = "\n… left out: ";

const fn plan(string_bytes: usize, worth: Worth, rows: usize) -> Plan {
    Plan {
        string_bytes,
        worth,
        rows,
        limit: SUMMARY_BYTES_MAX - NOTE_BYTES,
    }
}

const PLANS: &[Plan] = &[
    Plan {
        string_bytes: usize::MAX,
        worth: Worth::Noise,
        rows: usize::MAX,
        limit: LOSSLESS_BYTES_MAX,
    },
    plan(100, Worth::Long, usize::MAX),
    plan(64, Worth::Short, usize::MAX),
    plan(48, Worth::Value, usize::MAX),
    plan(48, Worth::Value, 16),
    plan(48, Worth::Value, 8),
    plan(48, Worth::Id, 32),
    plan(48, Worth::Value, 4),
    plan(40, Worth::Value, 2),
];

/// Renders one value.
pub(super) fn summarize(tape: &Tape<'_>, rows: Option<&[At]>, out: &mut Extraction) {
    let mut last = None;
    for (index, plan) in PLANS.iter().enumerate() {
        let mut render = Render::new(tape, *plan);
        match rows {
            Some(rows) => render.rows(rows),
            None => render.root(),
        }
        // What leaves something out, be it encoded data alone, needs the room of the note.
        let whole = render.lost.is_empty();
        let short = render.page.as_str().len() <= SUMMARY_BYTES_MAX - NOTE_BYTES;
        let fits = !render.page.is_full() && (whole || short);
        last = Some((render, index));
        if fits {
            break;
        }
    }
    let Some((render, index)) = last else { return };
    finish(tape, render, index == 0, out);
}

fn finish(tape: &Tape<'_>, render: Render<'_, '_>, whole: bool, out: &mut Extraction) {
    let Render { page, lost, .. } = render;
    out.lossless = whole && !page.is_full() && lost.is_empty();
    let mut summary = page.finish();
    if out.lossless {
        out.summary = summary;
        return;
    }
    let mut notes = Vec::new();
    let mut note = |what: &'static str, count: u64, label: String| {
        if count > 0 {
            out.omitted.push(Omission { what, count });
            notes.push(label);
        }
    };
    note("items", lost.items, format!("{} items", lost.items));
    note(
        "strings",
        lost.strings,
        format!("{} texts cut", lost.strings),
    );
    note(
        "encoded",
        lost.encoded,
        format!("{} encoded values", lost.encoded),
    );
    let keys: Vec<&str> = lost.keys.iter().map(String::as_str).collect();
    let count = u64::try_from(keys.len()).unwrap_or(u64::MAX);
    note(
        "keys",
        count,
        clip(&format!("keys {}", keys.join(", ")), 90),
    );
    if out.omitted.is_empty() {
        out.omitted.push(Omission {
            what: "values",
            count: 1,
        });
        notes.push("the rest".to_owned());
    }
    let room = SUMMARY_BYTES_MAX.saturating_sub(NOTE_BYTES + summary.len());
    for (key, at) in lost.long.iter().take(LONG_MAX) {
        let share = room / lost.long.len().clamp(1, LONG_MAX);
        if share < 80 {
            break;
        }
        let value = tape.text(*at);
        let name = clip(key, 32);
        let digest = text::digest(&value, share.saturating_sub(24 + name.len()));
        summary.extend(["\n", &name, ", ", &size(value.len()), ": ", &digest]);
    }
    let room = SUMMARY_BYTES_MAX.saturating_sub(summary.len() + NOTE_LEAD.len() + 3);
    summary.extend([NOTE_LEAD, &clip(&notes.join("; "), room)]);
    out.summary = summary;
}

/// How many long texts inside a value get a digest of their own.
const LONG_MAX: usize = 4;
