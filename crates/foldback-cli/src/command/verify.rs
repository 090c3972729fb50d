//! `verify`: the whole store in one pass.

use crate::columns::{counted, figure};
use crate::command::keys;
use crate::error::CliError;
use crate::exit::Outcome;
use crate::printer::{Printer, Style, styled};
use crate::progress::Progress;
use crate::store::Store;
use foldback::attest::Attestation;
use foldback::report::{AttestationRow, VerifyReport, is_damage_code, standing_text};
use foldback::{Engine, Problem, Verification};
use std::path::PathBuf;

/// Verify the whole store: bytes, chains, assemblies and memories
///
/// Reads every frame and payload, folds every conversation from nothing, decides every recorded
/// assembly again, and derives every memory again from its artifact.
/// That the log was not cut at its end, rewritten as a whole or put back from an old copy shows only
/// against an attestation that was taken before and kept elsewhere.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Attestations of earlier states, which the log must continue
    #[arg(long, value_name = "FILE", num_args = 1..)]
    against: Vec<PathBuf>,
    /// Key, or file with the key, that must have signed each of them
    #[arg(long, value_name = "KEY", requires = "against")]
    signer: Option<String>,
}

pub(crate) async fn run(
    args: &Args,
    store: &Store,
    printer: &mut Printer,
) -> Result<Outcome, CliError> {
    let known = attestations(args)?;
    let engine = store.read(printer)?;
    let mut found = verify(&engine, printer).await?;
    let rows = compare(&engine, &known, args.signer.is_some(), &mut found).await?;
    if printer.is_json() {
        let report = VerifyReport {
            attestations: rows,
            ..VerifyReport::new(&found)
        };
        printer.json(&report)?;
        return Ok(outcome(&found));
    }
    print(&found, printer)?;
    let again = counted(found.memories, "memory");
    printer.line(&format!("{again} derived again from the artifacts"))?;
    if found.memories_skipped > 0 {
        let skipped = counted(found.memories_skipped, "memory");
        printer.line(&format!("{skipped} could not be derived again"))?;
    }
    for row in rows.iter().filter(|row| row.holds) {
        let (events, file) = (counted(row.events, "event"), &row.file);
        printer.wrapped(
            "",
            &format!("the log continues `{file}`, which attests {events}"),
        )?;
    }
    if !known.is_empty() && args.signer.is_none() {
        printer.warn("no signature was checked: --signer names the key that must have signed");
    }
    Ok(outcome(&found))
}

/// Reads the attestations and checks their signatures, if a key is given.
fn attestations(args: &Args) -> Result<Vec<(String, Attestation)>, CliError> {
    let signer = args.signer.as_deref().map(keys::verifying).transpose()?;
    let read = |path: &PathBuf| {
        let note = keys::text(path)?;
        let bad = |source| keys::note_file(path, source);
        let known = Attestation::parse(&note).map_err(bad)?;
        if let Some(signer) = &signer {
            known.check(signer).map_err(bad)?;
        }
        Ok((path.display().to_string(), known))
    };
    args.against.iter().map(read).collect()
}

/// Compares the log with attestations; what does not hold becomes a problem.
async fn compare(
    engine: &Engine,
    known: &[(String, Attestation)],
    checked: bool,
    found: &mut Verification,
) -> Result<Vec<AttestationRow>, CliError> {
    if known.is_empty() {
        return Ok(Vec::new());
    }
    let all: Vec<Attestation> = known.iter().map(|(_, known)| known.clone()).collect();
    let standings = engine.compare(&all).await?;
    let mut rows = Vec::new();
    for ((file, known), standing) in known.iter().zip(standings) {
        if let Some(detail) = standing_text(known, standing) {
            found.problems.push(Problem {
                code: "attestation",
                conversation: None,
                position: None,
                place: Some(format!("`{file}`")),
                detail,
            });
        }
        let file = file.clone();
        rows.push(AttestationRow::new(file, known, checked, standing));
    }
    Ok(rows)
}

/// Verifies, and shows how far it is.
pub(crate) async fn verify(engine: &Engine, printer: &Printer) -> Result<Verification, CliError> {
    let progress = Progress::begin(printer, "verify");
    let found = engine
        .verify(|conversations| progress.tell(counted(conversations, "conversation")))
        .await?;
    Ok(found)
}

/// Damaged bytes weigh more than a decision that does not come out again.
pub(crate) fn outcome(found: &Verification) -> Outcome {
    let damaged = |problem: &Problem| is_damage_code(problem.code);
    if found.problems.iter().any(damaged) {
        Outcome::Damaged
    } else if found.ok() {
        Outcome::Done
    } else {
        Outcome::No
    }
}

/// How many problems are told one by one.
const PROBLEMS_MAX: usize = 20;

/// Tells what does not hold, each with its place.
pub(crate) fn told(problems: &[Problem], printer: &mut Printer) -> Result<(), CliError> {
    let shown = if printer.is_verbose() {
        usize::MAX
    } else {
        PROBLEMS_MAX
    };
    for problem in problems.iter().take(shown) {
        let mut place = Vec::new();
        place.extend(problem.place.clone());
        place.extend(problem.conversation.map(|id| id.short()));
        place.extend(problem.position.map(|at| format!("position {at}")));
        let place = if place.is_empty() {
            String::new()
        } else {
            format!(" in {}", place.join(", "))
        };
        let (label, code) = (styled(Style::Bad, "problem:"), problem.code);
        printer.wrapped("", &format!("{label} {code}{place}"))?;
        printer.wrapped("  ", &problem.detail)?;
    }
    if problems.len() > shown {
        let more = problems.len() - shown;
        printer.line(&format!("and {more} more: -v lists them"))?;
    }
    Ok(())
}

pub(crate) fn print(found: &Verification, printer: &mut Printer) -> Result<(), CliError> {
    told(&found.problems, printer)?;
    let label = if found.ok() {
        styled(Style::Good, "verified:")
    } else {
        let count = counted(found.problems.len() as u64, "problem");
        styled(Style::Bad, &format!("NOT verified, {count}:"))
    };
    let line = format!(
        "{label} {}, {}, {} of {} assemblies reproduced",
        counted(found.events, "event"),
        counted(found.payloads, "payload"),
        figure(found.reproduced),
        figure(found.assemblies)
    );
    printer.line(&line)
}
