//! `log`: the events of a conversation, one line each.

use crate::columns;
use crate::error::CliError;
use crate::exit::Outcome;
use crate::printer::Printer;
use crate::store::{self, Store};
use foldback::report::{LogReport, LogRow};
use foldback::{Error, EventRow, rfc3339};
use std::time::Duration;

/// How often the store is looked at for more.
const PAUSE: Duration = Duration::from_millis(150);

/// List the events of a conversation
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Conversation, by a unique prefix of its id [default: the only one]
    #[arg(value_name = "ID")]
    conversation: Option<String>,
    /// Last position to list
    #[arg(long, value_name = "POSITION")]
    at: Option<u64>,
    /// Go on listing what another process writes; with --json, one object a line
    #[arg(long, conflicts_with = "at")]
    follow: bool,
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
    if !args.follow {
        let report = LogReport::new(id, &events);
        if printer.is_json() {
            printer.json(&report)?;
        } else {
            print(&report.events, &events, printer)?;
        }
        return Ok(Outcome::Done);
    }
    let mut position = 0;
    loop {
        if let Some(last) = events.last() {
            position = last.event.envelope.version;
            let report = LogReport::new(id, &events);
            if printer.is_json() {
                for row in &report.events {
                    printer.json_line(row)?;
                }
            } else {
                print(&report.events, &events, printer)?;
            }
            printer.finish()?;
        }
        std::thread::sleep(PAUSE);
        engine.refresh()?;
        events = engine.events_after(id, position).await?;
    }
}

fn print(rows: &[LogRow], events: &[EventRow], printer: &mut Printer) -> Result<(), CliError> {
    for (row, event) in rows.iter().zip(events) {
        let line = format!("{:>5} {:<22} {}", row.position, row.kind, row.detail);
        if printer.is_verbose() {
            let at = rfc3339(event.event.envelope.time());
            printer.line(&format!("{line}  {at} {}", row.event))?;
        } else {
            printer.line(columns::cut(&line).trim_end())?;
        }
    }
    Ok(())
}
