//! `audit`: a bundle is checked, without any store.

use crate::columns::{counted, figure};
use crate::command::keys;
use crate::command::verify::told;
use crate::error::CliError;
use crate::exit::Outcome;
use crate::printer::{Printer, Style, styled};
use foldback::audit::{Audit, audit};
use foldback::report::{AuditReport, is_damage_code};
use std::path::PathBuf;

/// Check an audit bundle, without the store that it is from
///
/// Computes the chain of the events, decides every recorded assembly again, and holds payloads to the
/// digests that events name and the events to the attestation.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Bundle, as `foldback export audit` wrote it
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Key, or file with the key, that must have signed the attestation in it
    #[arg(long, value_name = "KEY")]
    signer: Option<String>,
}

pub(crate) fn run(args: &Args, printer: &mut Printer) -> Result<Outcome, CliError> {
    let signer = args.signer.as_deref().map(keys::verifying).transpose()?;
    let path = args.file.clone();
    let bundle = std::fs::read(&path).map_err(|source| CliError::File { path, source })?;
    let found = audit(&bundle, signer.as_ref());
    if printer.is_json() {
        printer.json(&AuditReport::new(&found))?;
    } else {
        print(&found, printer)?;
    }
    let damaged = found
        .problems
        .iter()
        .any(|problem| is_damage_code(problem.code));
    Ok(if damaged {
        Outcome::Damaged
    } else if found.ok() {
        Outcome::Done
    } else {
        Outcome::No
    })
}

fn print(found: &Audit, printer: &mut Printer) -> Result<(), CliError> {
    told(&found.problems, printer)?;
    let label = if found.ok() {
        styled(Style::Good, "holds:")
    } else {
        let count = counted(found.problems.len() as u64, "problem");
        styled(Style::Bad, &format!("does NOT hold, {count}:"))
    };
    printer.line(&format!(
        "{label} {}, {} of {} assemblies reproduced",
        counted(found.events, "event"),
        figure(found.reproduced),
        figure(found.assemblies)
    ))?;
    if let (Some(store), Some(conversation)) = (found.store, found.conversation) {
        printer.line(&format!("  {conversation}"))?;
        printer.line(&format!("  of {store}"))?;
    }
    if let Some(head) = found.head {
        printer.line(&format!("  head {head}"))?;
    }
    let (held, out) = (counted(found.payloads, "payload"), figure(found.left_out));
    let erased = figure(found.erased);
    printer.line(&format!(
        "  {held} as sealed, {out} left out, {erased} erased"
    ))?;
    match &found.attested {
        Some(attested) => {
            let checked = if attested.signature_checked {
                "signature checked"
            } else {
                "signature not checked: --signer names the key"
            };
            let by = attested.signers.join(", ");
            let version = attested.version;
            let line = format!("attested by {by} up to position {version}; {checked}");
            printer.wrapped("  ", &line)?;
            let after = found.events.saturating_sub(version);
            if after > 0 {
                let after = counted(after, "event");
                printer.line(&format!("  {after} after that rest on the exporter's word"))?;
            }
        }
        None => printer.line("  no attestation: that none is missing is the exporter's word")?,
    }
    Ok(())
}
