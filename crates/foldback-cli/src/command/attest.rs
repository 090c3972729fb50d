//! `attest`: a signed statement of what the store holds, to be kept elsewhere.

use crate::columns::counted;
use crate::command::keys;
use crate::error::CliError;
use crate::exit::Outcome;
use crate::output;
use crate::printer::Printer;
use crate::store::Store;
use foldback::report::AttestReport;
use std::path::PathBuf;

/// Sign a statement of what the store holds now, for an auditor to keep elsewhere
///
/// Whoever can write the store's files can also compute its chains anew, cut its end, or put an old
/// copy in its place.
/// `foldback verify --against` finds each of these with an attestation that was taken before.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// File with the signing key; `foldback keys new` makes one
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// File to write the attestation to, which must not exist [default: stdout]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(crate) async fn run(
    args: &Args,
    store: &Store,
    printer: &mut Printer,
) -> Result<Outcome, CliError> {
    let key = keys::signing(&args.key)?;
    let engine = store.read(printer)?;
    let attestation = engine.attest(&key).await?;
    let note = attestation.to_string();
    if let Some(path) = &args.out {
        output::create(path, note.as_bytes(), output::Access::Shared)?;
    }
    if printer.is_json() {
        printer.json(&AttestReport::new(&attestation))?;
    } else if args.out.is_none() {
        printer.text(&note)?;
    }
    let events = counted(attestation.events, "event");
    printer.note(&format!("attested: {events} of {}", attestation.store));
    printer.next("keep it where those who run the store cannot change it");
    Ok(Outcome::Done)
}
