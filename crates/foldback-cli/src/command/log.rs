//! `log`: the events of a conversation, one line each.

use crate::columns;
use crate::error::CliError;
use crate::exit::Outcome;
use crate::printer::Printer;
use crate::store::{self, Store};
use foldback::report::LogReport;
use foldback::{Error, rfc3339};

/// List the events of a conversation
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Conversation, by a unique prefix of its id [default: the only one]
    #[arg(value_name = "ID")]
    conversation: Option<String>,
    /// Last position to list
    #[arg(long, value_name = "POSITION")]
    at: Option<u64>,
}

pub(crate) async fn run(
    args: &Args,
    store: &Store,
    printer: &mut Printer,
) -> Result<Outcome, CliError> {
    let engine = store.read(printer)?;
    let id = store::conversation(&engine, args.conversation.as_deref()).await?;
    let mut events = engine.events(id).await?;
    if let Some(position) = args.at {
        let end = events.len() as u64;
        if position == 0 || position > end {
            return Err(CliError::Engine(Error::UnknownPosition {
                conversation: id,
                position,
                end,
            }));
        }
        events.retain(|row| row.event.envelope.version <= position);
    }
    let report = LogReport::new(id, &events);
    if printer.is_json() {
        printer.json(&report)?;
        return Ok(Outcome::Done);
    }
    for (row, event) in report.events.iter().zip(&events) {
        let line = format!("{:>5} {:<22} {}", row.position, row.kind, row.detail);
        if printer.is_verbose() {
            let at = rfc3339(event.event.envelope.time());
            printer.line(&format!("{line}  {at} {}", row.event))?;
        } else {
            printer.line(columns::cut(&line).trim_end())?;
        }
    }
    Ok(Outcome::Done)
}
