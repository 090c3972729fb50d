//! Deterministic extractors: a tool result's exact bytes become the compact text that stands for it
//! in later requests.
//!
//! [`extract`] is pure and total: the same input gives the same output, any bytes give some
//! output, and nothing is read but the input.
//! What a summary keeps, in this order: values that a later call needs, verbatim; which value belongs
//! to which row; counts and shape; brevity. What it leaves out it names.
//!
//! **Invariant:** an [`Extraction`] that calls itself lossless holds every scalar value of its source.
//!
//! **Invariant:** every locator resolves against the bytes it was made from.
//!
//! A change that alters any summary raises the version of the extractor concerned, because recorded
//! memories are derived again when a store is verified.

mod argument;
mod binary;
mod brief;
mod detect;
mod error;
mod file_ref;
mod json;
mod key;
mod locator;
mod log;
mod outline;
mod page;
mod scan;
mod table;
mod text;

pub use locator::{Locator, LocatorKind, Source, resolve};

use foldback_event::{Freshness, MediaType};

/// The most bytes of a summary that leaves something out.
pub const SUMMARY_BYTES_MAX: usize = 900;

/// The most bytes of a summary that leaves nothing out.
pub const LOSSLESS_BYTES_MAX: usize = 1_200;

/// The most facts of one extraction.
pub const FACTS_MAX: usize = 64;

/// The most locators of one extraction, those of its facts apart.
pub const LOCATORS_MAX: usize = 16;

/// The most file references of one extraction.
pub const FILE_REFS_MAX: usize = 32;

/// One tool result.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// The call's arguments: JSON as a rule, but any bytes are taken.
    pub arguments: &'a [u8],
    /// The result as it was captured.
    pub result: &'a [u8],
    /// What the result is said to be.
    pub media: MediaType,
    /// Whether the call failed.
    pub failed: bool,
}

/// A key value of the source with its row: comparable with the same key of another memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// What it is: `cabin`, `flights[HAT083].price`.
    pub key: String,
    /// Its value, as it stands in the source.
    pub value: String,
    /// Where it stands.
    pub locator: Locator,
}

/// Something that a summary leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Omission {
    /// What: `items`, `rows`, `lines`, `strings`, `keys`…
    pub what: &'static str,
    /// How many.
    pub count: u64,
}

/// What an extractor makes of a tool result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extraction {
    /// Which extractor made it.
    pub extractor: &'static str,
    /// The extractor's version.
    pub version: u16,
    /// The text that stands for the result.
    pub summary: String,
    /// Whether every scalar value of the source stands in the summary.
    pub lossless: bool,
    /// The shortest text that later calls can still work from; none where it saves nothing.
    pub brief: Option<String>,
    /// What the result is without any of its values: shape, field names, counts.
    pub outline: String,
    /// What the observation is about, such as `reservation_id=4WQ150`, where that is plain.
    pub subject: Option<String>,
    /// Key values with their rows, at most [`FACTS_MAX`].
    pub facts: Vec<Fact>,
    /// Where in the artifact the summary comes from, at most [`LOCATORS_MAX`].
    pub locators: Vec<Locator>,
    /// Paths, addresses and generated file ids, at most [`FILE_REFS_MAX`].
    pub file_refs: Vec<String>,
    /// What the summary leaves out.
    pub omitted: Vec<Omission>,
    /// How long such an observation holds, unless the tool or a policy says otherwise.
    pub freshness: Freshness,
    /// How sure the summary is, in thousandths.
    pub confidence: u16,
    /// A short code for the ground of the confidence.
    pub rationale: &'static str,
    /// What the result was found to be.
    pub media: MediaType,
}

impl Extraction {
    const fn new(extractor: &'static str, media: MediaType, freshness: Freshness) -> Self {
        Self {
            extractor,
            version: 1,
            summary: String::new(),
            lossless: false,
            brief: None,
            outline: String::new(),
            subject: None,
            facts: Vec::new(),
            locators: Vec::new(),
            file_refs: Vec::new(),
            omitted: Vec::new(),
            freshness,
            confidence: 0,
            rationale: "",
            media,
        }
    }

    fn omit(&mut self, what: &'static str, count: usize) {
        if count > 0 {
            self.omitted.push(Omission {
                what,
                count: u64::try_from(count).unwrap_or(u64::MAX),
            });
        }
    }
}

/// Condenses a tool result.
pub fn extract(input: &Input<'_>) -> Extraction {
    let mut out = detect::dispatch(input);
    if out.subject.is_none() {
        out.subject = argument::subject(input);
    }
    if !out.lossless && out.omitted.is_empty() {
        out.omit(
            "bytes",
            input.result.len().saturating_sub(out.summary.len()).max(1),
        );
    }
    if out.outline.is_empty() {
        out.outline = match out.extractor {
            "binary" => outline::bytes(input.result.len()),
            "error" => outline::text("an error message", input.result),
            _ => outline::text("text", input.result),
        };
    }
    locator::drop_unfounded(&mut out.facts, input.result);
    if out.locators.is_empty() {
        out.locators.push(Locator::bytes(0, input.result.len()));
    }
    out.facts.truncate(FACTS_MAX);
    out.locators.truncate(LOCATORS_MAX);
    out.file_refs.truncate(FILE_REFS_MAX);
    (out.confidence, out.rationale) = match (out.extractor, out.lossless) {
        (_, true) => (1_000, "exact-copy"),
        ("json" | "table", false) => (950, "selected-fields"),
        ("error" | "file-ref", false) => (900, "selected-lines"),
        ("binary", false) => (1_000, "type-and-size"),
        _ => (800, "head-names-tail"),
    };
    out
}

/// Names what a call to a tool that is known to write a file changes, as the subject of a reading of the
/// same file is named: `file=/srv/a.rs`.
pub fn changed(tool: &str, arguments: &[u8]) -> Option<String> {
    argument::changed(tool, arguments)
}
