//! `verify`: the whole store in one pass.

use crate::columns::{counted, figure};
use crate::error::CliError;
use crate::exit::Outcome;
use crate::printer::{Printer, Style, styled};
use crate::progress::Progress;
use crate::store::Store;
use foldback::report::{VerifyReport, is_damage_code};
use foldback::{Engine, Problem, Verification};

/// Verify the whole store: bytes, chains, assemblies and memories
///
/// Reads every frame and payload, folds every conversation from nothing, decides every recorded
/// assembly again, and derives every memory again from its artifact.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) async fn run(
    _args: &Args,
    store: &Store,
    printer: &mut Printer,
) -> Result<Outcome, CliError> {
    let engine = store.read(printer)?;
    let found = verify(&engine, printer).await?;
    if printer.is_json() {
        printer.json(&VerifyReport::new(&found))?;
    } else {
        print(&found, printer)?;
        let again = counted(found.memories, "memory");
        printer.line(&format!("{again} derived again from the artifacts"))?;
        if found.memories_skipped > 0 {
            let skipped = counted(found.memories_skipped, "memory");
            printer.line(&format!("{skipped} could not be derived again"))?;
        }
    }
    Ok(outcome(&found))
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

pub(crate) fn print(found: &Verification, printer: &mut Printer) -> Result<(), CliError> {
    let shown = if printer.is_verbose() {
        usize::MAX
    } else {
        PROBLEMS_MAX
    };
    for problem in found.problems.iter().take(shown) {
        let mut place = Vec::new();
        place.extend(problem.place.clone());
        place.extend(problem.conversation.map(|id| id.short()));
        place.extend(problem.position.map(|at| format!("position {at}")));
        let (label, code) = (styled(Style::Bad, "problem:"), problem.code);
        printer.wrapped("", &format!("{label} {code} in {}", place.join(", ")))?;
        printer.wrapped("  ", &problem.detail)?;
    }
    if found.problems.len() > shown {
        let more = found.problems.len() - shown;
        printer.line(&format!("and {more} more: -v lists them"))?;
    }
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
