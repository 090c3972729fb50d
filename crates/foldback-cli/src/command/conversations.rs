//! `conversations`: what the store holds.

use crate::columns::{self, Table, figure};
use crate::error::CliError;
use crate::exit::Outcome;
use crate::printer::Printer;
use crate::store::Store;
use foldback::report::ConversationsReport;

/// List the conversations of the store
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) async fn run(
    _args: &Args,
    store: &Store,
    printer: &mut Printer,
) -> Result<Outcome, CliError> {
    let engine = store.read(printer)?;
    let rows = engine.conversations().await?;
    if printer.is_json() {
        printer.json(&ConversationsReport::new(&rows))?;
        return Ok(Outcome::Done);
    }
    if rows.is_empty() {
        printer.note("the store holds no conversation");
        return Ok(Outcome::Done);
    }
    let mut table = Table::new(&["conversation", ">events", ">messages", "title"]);
    for row in &rows {
        table.row(vec![
            row.id.short(),
            figure(row.events),
            figure(row.messages),
            columns::tame(row.title.as_deref().unwrap_or("(untitled)")),
        ]);
    }
    let width = if printer.is_verbose() {
        usize::MAX
    } else {
        columns::WIDTH
    };
    for line in table.lines(width) {
        printer.line(&line)?;
    }
    Ok(Outcome::Done)
}
