//! Finds out what a result is and hands it to its extractor.

use super::json::facts;
use super::json::tape::{At, Shape, Tape};
use super::table::Table;
use super::text::{Decoded, Plain};
use super::{
    Extraction, Input, Locator, binary, brief, error, file_ref, json, log, outline, table, text,
};
use foldback_event::{Freshness, MediaType};

/// Larger texts are read as lines, whatever they are: a parsed value costs a multiple of its text.
const PARSE_BYTES_MAX: usize = 64 << 20;

/// Picks the extractor and runs it.
pub(super) fn dispatch(input: &Input<'_>) -> Extraction {
    let bytes = input.result;
    let said = input.media;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return empty(bytes);
    }
    if binary::is_binary(bytes) {
        return binary::summarize(bytes, said);
    }
    let valid = std::str::from_utf8(bytes).ok();
    if let Some(whole) = valid.filter(|whole| whole.len() <= PARSE_BYTES_MAX) {
        if binary::is_encoded(whole.trim()) {
            return binary::summarize(bytes, said);
        }
        if let Some(out) = structured(input, whole) {
            return out;
        }
    }
    let decoded = Decoded::read(bytes);
    let plain = Plain::read(&decoded);
    if plain.lines.is_empty() {
        return empty(bytes);
    }
    let first = plain.lines.first().map_or("", |line| &*line.text);
    if input.failed || error::is_error(first) {
        return error::summarize(&plain);
    }
    if let Some((path, created)) = file_ref::written(&plain) {
        return file_ref::summarize(&plain, &path, created);
    }
    if said == MediaType::Log || log::is_log(&plain) {
        return log::summarize(&plain);
    }
    if let Some(out) = numbered_table(input, &plain) {
        return out;
    }
    let media = match said {
        MediaType::Markdown | MediaType::Html => said,
        _ => MediaType::Text,
    };
    text::summarize(&plain, media)
}

/// Reads a table that a tool showed with line numbers before its rows, as file readers do.
///
/// A row's place in the shown text is no row of a table, so the locator is the range of lines.
fn numbered_table(input: &Input<'_>, plain: &Plain<'_>) -> Option<Extraction> {
    let arguments = String::from_utf8_lossy(input.arguments);
    let said = if arguments.contains(".csv") {
        MediaType::Csv
    } else if arguments.contains(".tsv") {
        MediaType::Tsv
    } else {
        return None;
    };
    if !plain.numbered {
        return None;
    }
    let rows: Vec<&str> = plain.lines.iter().map(|line| &*line.text).collect();
    let found = Table::detect(&rows.join("\n"), said)?;
    let mut out = table::summarize(&found);
    out.facts.clear();
    out.locators = plain.locator(0, plain.lines.len()).into_iter().collect();
    plain.note(&mut out);
    out.lossless = out.lossless && out.omitted.is_empty();
    Some(out)
}

fn empty(bytes: &[u8]) -> Extraction {
    let mut out = Extraction::new("text", MediaType::Text, Freshness::Session);
    "(empty)".clone_into(&mut out.summary);
    out.lossless = true;
    out.locators.push(Locator::bytes(0, bytes.len()));
    out
}

fn structured(input: &Input<'_>, whole: &str) -> Option<Extraction> {
    let start = whole.trim_start();
    if start.starts_with(['{', '[']) {
        if let Some(tape) = Tape::parse(whole) {
            return Some(match parts(&tape) {
                Some(parts) => message(input, &tape, &parts),
                None => value(input, &tape, None),
            });
        }
        if let Some(out) = json_lines(input, whole) {
            return Some(out);
        }
    }
    if input.failed {
        return None;
    }
    Table::detect(whole, input.media).map(|found| table::summarize(&found))
}

fn value(input: &Input<'_>, tape: &Tape<'_>, rows: Option<&[At]>) -> Extraction {
    let name = if input.failed { "error" } else { "json" };
    let mut out = Extraction::new(name, MediaType::Json, Freshness::Bounded);
    json::summarize(tape, rows, &mut out);
    out.outline = outline::json(tape, rows);
    if !input.failed {
        brief::keep(&mut out, json::brief::write(tape, rows));
    }
    if rows.is_none() {
        facts::gather(tape, &mut out);
    }
    if input.failed {
        out.freshness = Freshness::Session;
    }
    out
}

/// Reads JSON lines as the items of one array.
fn json_lines(input: &Input<'_>, whole: &str) -> Option<Extraction> {
    let lines: Vec<&str> = whole
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    if lines.len() < 2 || !lines.iter().all(|line| line.trim_start().starts_with('{')) {
        return None;
    }
    let joined = format!("[{}]", lines.join(","));
    let tape = Tape::parse(&joined)?;
    let rows: Vec<At> = tape.children(Tape::root()).map(|(_, row)| row).collect();
    // A record that spans lines would shift the rows; then it is no JSON lines.
    (rows.len() == lines.len()).then_some(())?;
    let mut out = value(input, &tape, Some(&rows));
    out.locators = vec![Locator::lines(1, whole.lines().count())];
    Some(out)
}

/// Finds the texts of message parts, each with its pointer, if a value is nothing but such parts.
fn parts(tape: &Tape<'_>) -> Option<Vec<(String, At)>> {
    let root = Tape::root();
    if tape.shape(root) != Shape::Array || tape.len(root) == 0 {
        return None;
    }
    let mut parts = Vec::new();
    for (index, (_, part)) in tape.children(root).enumerate() {
        let kind = tape.get(part, "type")?;
        match (&*tape.text(kind), tape.get(part, "text")) {
            ("text" | "input_text" | "output_text", Some(text)) if tape.len(part) <= 3 => {
                parts.push((format!("/{index}/text"), text));
            }
            ("image" | "document" | "image_url" | "input_image", _) => {}
            _ => return None,
        }
    }
    Some(parts)
}

/// Condenses the texts of message parts, and counts the parts that are no text.
fn message(input: &Input<'_>, tape: &Tape<'_>, parts: &[(String, At)]) -> Extraction {
    let texts: Vec<String> = parts
        .iter()
        .map(|(_, at)| tape.text(*at).into_owned())
        .collect();
    let joined = texts.join("\n");
    let inner = Input {
        result: joined.as_bytes(),
        media: MediaType::Text,
        ..*input
    };
    let mut out = dispatch(&inner);
    let pointers: Vec<Locator> = parts
        .iter()
        .map(|(pointer, _)| Locator::pointer(pointer.clone()))
        .collect();
    // Places in the joined text are no places in the artifact; the parts are.
    for fact in &mut out.facts {
        let found = texts.iter().position(|text| text.contains(&fact.value));
        if let Some(pointer) = found.and_then(|index| pointers.get(index)) {
            fact.locator = pointer.clone();
        }
    }
    out.facts
        .retain(|fact| fact.locator.kind == super::LocatorKind::JsonPointer);
    let others = tape.len(Tape::root()) - parts.len();
    if others > 0 {
        out.summary = if parts.is_empty() {
            format!("{others} parts that are no text")
        } else {
            format!("{}\n… and {others} parts that are no text", out.summary)
        };
        out.lossless = false;
        out.omit("parts", others);
    }
    out.locators = if pointers.is_empty() {
        vec![Locator::pointer(String::new())]
    } else {
        pointers
    };
    out.media = MediaType::Parts;
    out
}
