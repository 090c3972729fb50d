//! `show`: one record, whatever it is.

use crate::columns::{WIDTH, figure, shorten};
use crate::error::CliError;
use crate::exit::Outcome;
use crate::payload;
use crate::printer::{Printer, Style, styled};
use crate::store::{self, Store};
use foldback::event::PayloadRef;
use foldback::report::ShowReport;
use serde_json::Value;
use std::cell::RefCell;

/// Show one record: its facts, where it comes from, and its text
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Record, by a unique prefix of its id; a provider's own call id is found too
    #[arg(value_name = "ID")]
    record: String,
    /// Conversation to look in [default: all]
    #[arg(long, value_name = "ID")]
    conversation: Option<String>,
}

pub(crate) async fn run(
    args: &Args,
    store: &Store,
    printer: &mut Printer,
) -> Result<Outcome, CliError> {
    let engine = store.read(printer)?;
    let named = args.conversation.as_deref();
    let (id, graph, record) = store::record(&engine, named, &args.record).await?;
    let failed = RefCell::new(None);
    let text = |payload: &PayloadRef| match payload::text(&engine, &graph, payload) {
        Ok(text) => Some(text),
        Err(error) => {
            failed.borrow_mut().get_or_insert(error);
            None
        }
    };
    let report = ShowReport::new(id, &graph, &record, &text).ok_or_else(|| {
        let what = "a record that resolves and is not there";
        CliError::Engine(foldback::Error::Bug { what })
    })?;
    if printer.is_json() {
        printer.json(&report)?;
    } else {
        print(&report, printer)?;
    }
    match failed.into_inner() {
        Some(error) => Err(error),
        None => Ok(Outcome::Done),
    }
}

fn print(report: &ShowReport, printer: &mut Printer) -> Result<(), CliError> {
    let title = format!("{} {}", report.kind, report.id);
    printer.line(&styled(Style::Title, &title))?;
    let place = format!("position {} of {}", report.position, report.conversation);
    printer.line(&format!("  {place}"))?;
    for (name, value) in &report.facts {
        let texts = match value {
            Value::Array(values) => values.iter().map(plain).collect(),
            one => vec![plain(one)],
        };
        for text in texts {
            printer.line(&format!("  {name:<14} {text}"))?;
        }
    }
    let mut edges = Vec::new();
    for edge in &report.relations {
        // Each edge is told from this record's side.
        if edge.from == report.id {
            edges.push(format!("  {} -> {}", edge.kind, edge.to));
        } else {
            edges.push(format!("  {} <- {}", edge.kind, edge.from));
        }
    }
    let shown = if printer.is_verbose() {
        usize::MAX
    } else {
        EDGES_MAX
    };
    for edge in edges.iter().take(shown) {
        printer.line(edge)?;
    }
    if edges.len() > shown {
        let more = edges.len() - shown;
        printer.line(&format!("  and {more} more: -v lists them"))?;
    }
    for payload in &report.payloads {
        let (name, kind) = (payload.name, payload.media_type);
        let size = format!(
            "{} bytes, {} tokens",
            figure(payload.bytes),
            figure(payload.tokens)
        );
        let title = shorten(&format!("{name} ({kind}, {size})"), WIDTH);
        printer.line(&styled(Style::Title, &title))?;
        match &payload.text {
            Some(text) => printer.content(text)?,
            None => printer.line("[not readable]")?,
        }
    }
    Ok(())
}

/// How many edges are listed one by one.
const EDGES_MAX: usize = 12;

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
