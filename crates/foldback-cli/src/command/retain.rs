//! `retain`: how long the content of records is kept, and the end of what is prunable.

use crate::command::erase;
use crate::error::CliError;
use crate::exit::Outcome;
use crate::printer::Printer;
use crate::store::{self, Store};
use clap::ValueEnum;
use foldback::event::kind::RetentionClass;
use foldback::event::{AccountId, Label, Micros};
use foldback::report::{EraseReport, RetainReport};
use foldback::{Subject, rfc3339};

/// Say how long the content of records is kept, and destroy what is past that
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Retain {
    /// Give a record another retention class
    Set {
        /// Record, by a unique prefix of its id
        #[arg(value_name = "ID")]
        record: String,
        /// How long its content is kept
        #[arg(value_name = "CLASS")]
        class: Class,
        /// Ground, as a code that names nobody
        #[arg(long, value_name = "CODE", default_value = "decided")]
        because: String,
    },
    /// Destroy the content of prunable records that are old enough, with what was derived from them
    ///
    /// Without --yes it tells what would go, and does nothing.
    /// What other records hold too stays, and so does what is on hold.
    Prune {
        /// Age in days from which on content goes
        #[arg(long, value_name = "DAYS")]
        older_than: u32,
        /// Account whose content it is
        #[arg(long, value_name = "NAME", default_value = "default")]
        account: String,
        /// Ground, as a code that names nobody
        #[arg(long, value_name = "CODE", default_value = "retention")]
        because: String,
        /// Do it: there is no way back
        #[arg(long)]
        yes: bool,
    },
}

/// A retention class, as it is named on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Class {
    /// As long as the conversation
    Conversation,
    /// Until `foldback retain prune`
    Prunable,
    /// Until a person releases it: nothing erases it
    Hold,
}

impl Class {
    const fn class(self) -> RetentionClass {
        match self {
            Self::Conversation => RetentionClass::Conversation,
            Self::Prunable => RetentionClass::Prunable,
            Self::Hold => RetentionClass::Hold,
        }
    }
}

const DAY: i64 = 24 * 60 * 60;

pub(crate) async fn run(
    command: &Retain,
    store: &Store,
    printer: &mut Printer,
) -> Result<Outcome, CliError> {
    match command {
        Retain::Set {
            record,
            class,
            because,
        } => set(record, class.class(), because, store, printer).await,
        Retain::Prune {
            older_than,
            account,
            because,
            yes,
        } => {
            let ground = ground(because)?;
            let engine = if *yes {
                store.write(printer)?
            } else {
                store.read(printer)?
            };
            let account = AccountId::from_source(&[0; 16], account);
            let before = before(engine.now(), *older_than);
            let subject = Subject::Prunable(account, before);
            let erasure = if *yes {
                engine.erase(subject, ground).await?
            } else {
                engine.plan_erasure(subject).await?
            };
            let report = EraseReport::new(&erasure, because);
            if printer.is_json() {
                printer.json(&report)?;
            } else {
                printer.line(&format!("prunable from before {}", rfc3339(before)))?;
                erase::print(&report, printer)?;
            }
            if !yes {
                printer.next("nothing was erased yet; --yes does it, and there is no way back");
            }
            Ok(Outcome::Done)
        }
    }
}

fn before(now: Micros, days: u32) -> Micros {
    now.plus_seconds(-DAY * i64::from(days))
}

async fn set(
    prefix: &str,
    class: RetentionClass,
    because: &str,
    store: &Store,
    printer: &mut Printer,
) -> Result<Outcome, CliError> {
    let ground = ground(because)?;
    let engine = store.write(printer)?;
    let (id, _, resolved) = store::record(&engine, None, prefix).await?;
    let record = erase::record(prefix, &resolved)?;
    engine
        .conversation(id)
        .retain(record, class, ground)
        .await?;
    let report = RetainReport::new(&record, class, because);
    if printer.is_json() {
        printer.json(&report)?;
    } else {
        printer.line(&format!("{} is kept as `{class}` now", report.record))?;
    }
    Ok(Outcome::Done)
}

/// Reads a ground.
pub(crate) fn ground(because: &str) -> Result<Label, CliError> {
    Label::new(because).map_err(|error| CliError::Usage {
        message: format!("--because: {error}"),
        hint: "a ground is a short code, such as data-subject-request".to_owned(),
    })
}
