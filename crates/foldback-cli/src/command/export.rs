//! `export audit`: one conversation in one file, for someone without the store.

use crate::columns::counted;
use crate::command::keys;
use crate::error::CliError;
use crate::exit::Outcome;
use crate::output;
use crate::printer::Printer;
use crate::store::{self, Store};
use foldback::attest::Attestation;
use foldback::audit::{AuditOptions, Content};
use foldback::report::ExportReport;
use std::io::BufWriter;
use std::path::PathBuf;

/// Write what the store holds for others
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Export {
    /// Write a conversation as one file that can be checked without the store
    ///
    /// It holds every event, the policies that decided and, if asked for, payloads and the proof that an
    /// attestation covers the events.
    /// `foldback audit` checks it, and so does a program of a page of Python in docs/verifier.
    Audit(Args),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// File to write, which must not exist
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Conversation, by a unique prefix of its id [default: the only one]
    #[arg(long, value_name = "ID")]
    conversation: Option<String>,
    /// What of content goes into it
    #[arg(long, value_name = "WHAT", default_value = "none")]
    payloads: Payloads,
    /// Attestation that must cover the events
    #[arg(long, value_name = "FILE")]
    attestation: Option<PathBuf>,
}

/// What of content goes into a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Payloads {
    /// Nothing: events, policies and proofs alone
    None,
    /// Sealed bytes, which nobody reads without the account's key
    Sealed,
    /// Sealed bytes, and the plain ones beside them
    Plain,
}

pub(crate) async fn run(
    command: &Export,
    store: &Store,
    printer: &mut Printer,
) -> Result<Outcome, CliError> {
    let Export::Audit(args) = command;
    let engine = store.read(printer)?;
    let id = store::conversation(&engine, args.conversation.as_deref()).await?;
    let attestation = match &args.attestation {
        Some(path) => {
            let known = Attestation::parse(&keys::text(path)?);
            Some(known.map_err(|source| keys::note_file(path, source))?)
        }
        None => None,
    };
    let options = AuditOptions {
        content: match args.payloads {
            Payloads::None => Content::None,
            Payloads::Sealed => Content::Sealed,
            Payloads::Plain => Content::Plain,
        },
        attestation,
    };
    let mut file = BufWriter::new(output::open(&args.file, output::Access::Private)?);
    let exported = engine.export_audit(id, &options, &mut file).await;
    let exported = match exported {
        Ok(exported) => exported,
        Err(error) => {
            // What stands in it is no bundle.
            drop(file);
            let _ = std::fs::remove_file(&args.file);
            return Err(error.into());
        }
    };
    let name = args.file.display().to_string();
    if printer.is_json() {
        let report = ExportReport::new(name, id.to_string(), &exported);
        printer.json(&report)?;
        return Ok(Outcome::Done);
    }
    printer.line(&format!(
        "exported: {}, {}, {} of {} in `{name}`",
        counted(exported.events, "event"),
        counted(exported.policies, "policy"),
        counted(exported.payloads, "payload"),
        id.short(),
    ))?;
    if exported.absent > 0 {
        let absent = counted(exported.absent, "payload");
        printer.line(&format!("{absent} were erased or are missing"))?;
    }
    if let Some(version) = exported.attested {
        printer.line(&format!("attested up to position {version}"))?;
    }
    printer.next(&format!(
        "`foldback audit {name}` checks it, without the store"
    ));
    Ok(Outcome::Done)
}
