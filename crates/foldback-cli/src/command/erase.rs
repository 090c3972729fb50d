//! `erase`: content is destroyed, and what happened stays.

use crate::columns::counted;
use crate::command::retain;
use crate::error::CliError;
use crate::exit::Outcome;
use crate::printer::{Printer, Style, styled};
use crate::store::{self, Store};
use foldback::event::kind::RecordRef;
use foldback::event::{AccountId, RecordKind};
use foldback::report::EraseReport;
use foldback::{Resolved, Subject};

/// Destroy content everywhere it stands in the store; what happened and was decided stays
///
/// Without --yes it tells what would go, and does nothing.
/// Events of the erasure name no person; every recorded assembly still verifies and explains itself.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("subject").required(true))]
pub(crate) struct Args {
    /// Record whose content goes, with all that was derived from it, by a unique prefix of its id
    #[arg(long, value_name = "ID", group = "subject")]
    payload: Option<String>,
    /// Conversation whose content goes, by a unique prefix of its id
    #[arg(long, value_name = "ID", group = "subject")]
    conversation: Option<String>,
    /// Account all of whose content goes, with its key
    #[arg(long, value_name = "NAME", group = "subject")]
    account: Option<String>,
    /// Ground, as a code that names nobody
    #[arg(long, value_name = "CODE", default_value = "requested")]
    because: String,
    /// Do it: there is no way back
    #[arg(long)]
    yes: bool,
}

pub(crate) async fn run(
    args: &Args,
    store: &Store,
    printer: &mut Printer,
) -> Result<Outcome, CliError> {
    let ground = retain::ground(&args.because)?;
    let engine = if args.yes {
        store.write(printer)?
    } else {
        store.read(printer)?
    };
    let subject = match (&args.payload, &args.conversation, &args.account) {
        (Some(prefix), _, _) => {
            let (id, _, resolved) = store::record(&engine, None, prefix).await?;
            Subject::Record(id, record(prefix, &resolved)?)
        }
        (_, Some(prefix), _) => Subject::Conversation(engine.find_conversation(prefix).await?),
        (_, _, Some(name)) => Subject::Account(AccountId::from_source(&[0; 16], name)),
        (None, None, None) => {
            return Err(CliError::Usage {
                message: "nothing is named to erase".to_owned(),
                hint: "name a record, a conversation or an account".to_owned(),
            });
        }
    };
    let erasure = if args.yes {
        engine.erase(subject, ground).await?
    } else {
        engine.plan_erasure(subject).await?
    };
    let report = EraseReport::new(&erasure, &args.because);
    if printer.is_json() {
        printer.json(&report)?;
    } else {
        print(&report, printer)?;
    }
    if !args.yes {
        printer.next("nothing was erased yet; --yes does it, and there is no way back");
    }
    Ok(Outcome::Done)
}

/// Tells what goes, or went.
pub(crate) fn print(report: &EraseReport, printer: &mut Printer) -> Result<(), CliError> {
    let conversations = counted(report.conversations.len() as u64, "conversation");
    let head = match report.destroyed {
        Some(payloads) => format!(
            "{} {} destroyed, {} written anew, {} in {conversations}",
            styled(Style::Good, "erased:"),
            counted(payloads, "payload"),
            counted(report.packs.unwrap_or(0), "pack"),
            counted(report.events, "event"),
        ),
        None => format!(
            "{} {}, told to {conversations}",
            styled(Style::Good, "would erase:"),
            counted(report.payloads, "payload"),
        ),
    };
    printer.line(&head)?;
    if report.key {
        let gone = if report.done { "is" } else { "would be" };
        printer.line(&format!("  the account's key {gone} destroyed with them"))?;
    }
    for record in &report.records {
        printer.line(&format!("  {record}"))?;
    }
    if report.kept > 0 {
        let kept = counted(report.kept, "payload");
        printer.line(&format!("  kept: {kept} that other conversations hold too"))?;
    }
    printer.line("out of our reach:")?;
    for what in &report.out_of_reach {
        printer.line(&format!("  {what}"))?;
    }
    Ok(())
}

/// Gives the record that a prefix names.
pub(crate) fn record(prefix: &str, resolved: &Resolved) -> Result<RecordRef, CliError> {
    let of = |kind, id: &[u8; 16]| RecordRef { kind, id: *id };
    Ok(match resolved {
        Resolved::Message(id) => of(RecordKind::Message, id.as_bytes()),
        Resolved::Call(id) => of(RecordKind::Call, id.as_bytes()),
        Resolved::Artifact(id) => of(RecordKind::Artifact, id.as_bytes()),
        Resolved::Memory(id) => of(RecordKind::Memory, id.as_bytes()),
        Resolved::Fact(id) => of(RecordKind::Fact, id.as_bytes()),
        Resolved::Checkpoint(id) => of(RecordKind::Checkpoint, id.as_bytes()),
        other => return Err(store::wrong_kind(prefix, other, "a record with content")),
    })
}
