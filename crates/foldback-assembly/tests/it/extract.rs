//! What the extractors make of tool results, and the laws they keep.

mod brief;
mod code;
mod json;
mod laws;
mod output;
mod table;

use foldback_assembly::extract::{Extraction, Input, extract};
use foldback_event::MediaType;

/// One tool result of a test; what a test does not say is plain.
pub(crate) struct Case<'a> {
    pub(crate) tool: &'a str,
    pub(crate) arguments: &'a str,
    pub(crate) result: &'a [u8],
    pub(crate) media: MediaType,
    pub(crate) failed: bool,
}

impl Default for Case<'_> {
    fn default() -> Self {
        Self {
            tool: "tool",
            arguments: "{}",
            result: b"",
            media: MediaType::Text,
            failed: false,
        }
    }
}

impl Case<'_> {
    pub(crate) fn run(&self) -> Extraction {
        extract(&Input {
            tool: self.tool,
            arguments: self.arguments.as_bytes(),
            result: self.result,
            media: self.media,
            failed: self.failed,
        })
    }
}

/// Renders an extraction as the text that snapshots hold.
pub(crate) fn show(case: &Case<'_>) -> String {
    let out = case.run();
    let whole = if out.lossless {
        "lossless"
    } else {
        "condensed"
    };
    let mut lines = vec![
        format!(
            "{} {} | {whole} | {} | {}",
            out.extractor, out.version, out.media, out.freshness
        ),
        format!("subject {}", out.subject.as_deref().unwrap_or("-")),
    ];
    let omitted: Vec<String> = out
        .omitted
        .iter()
        .map(|omitted| format!("{} {}", omitted.count, omitted.what))
        .collect();
    if !omitted.is_empty() {
        lines.push(format!("omitted {}", omitted.join(", ")));
    }
    if !out.file_refs.is_empty() {
        lines.push(format!("refs {}", out.file_refs.join(" ")));
    }
    for fact in out.facts.iter().take(3) {
        lines.push(format!("fact {} = {}", fact.key, fact.value));
    }
    lines.push("---".to_owned());
    lines.push(out.summary);
    lines.join("\n")
}
