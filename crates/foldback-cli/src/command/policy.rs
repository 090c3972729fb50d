//! `policy check` and `policy show`: the documents that decide.

use crate::columns::counted;
use crate::error::CliError;
use crate::exit::Outcome;
use crate::printer::{Printer, Style, styled};
use crate::store::{self, Store};
use foldback::PolicyDocument;
use foldback::report::{PolicyCheckReport, PolicyReport};
use std::path::{Path, PathBuf};

/// Check and print policies.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Policy {
    /// Check a policy document, and name what deserves a second look
    Check {
        /// Policy document
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Print the policy built in, or the one in force in a conversation
    Show {
        /// Conversation, by a unique prefix of its id
        #[arg(long, value_name = "ID")]
        conversation: Option<String>,
    },
}

pub(crate) async fn run(
    policy: &Policy,
    store: &Store,
    printer: &mut Printer,
) -> Result<Outcome, CliError> {
    match policy {
        Policy::Check { file } => check(file, printer),
        Policy::Show { conversation } => {
            let document = match conversation {
                None => PolicyDocument::builtin()?,
                Some(prefix) => {
                    let engine = store.read(printer)?;
                    let id = store::conversation(&engine, Some(prefix)).await?;
                    let graph = engine.graph(id, None).await?;
                    engine.policy_of(&graph)?
                }
            };
            if printer.is_json() {
                printer.json(&PolicyReport::new(&document))?;
            } else {
                printer.text(document.text())?;
            }
            Ok(Outcome::Done)
        }
    }
}

fn check(file: &Path, printer: &mut Printer) -> Result<Outcome, CliError> {
    let text = std::fs::read_to_string(file).map_err(|source| CliError::File {
        path: file.to_owned(),
        source,
    })?;
    let parsed = PolicyDocument::parse(&text);
    let report = PolicyCheckReport::new(&parsed);
    let outcome = if report.ok {
        Outcome::Done
    } else {
        Outcome::No
    };
    if printer.is_json() {
        printer.json(&report)?;
        return Ok(outcome);
    }
    for problem in &report.errors {
        let label = styled(Style::Bad, "error:");
        printer.wrapped("", &format!("{label} {}", problem.message))?;
        if let Some(hint) = &problem.hint {
            let label = styled(Style::Hint, "hint:");
            printer.wrapped("  ", &format!("{label} {hint}"))?;
        }
    }
    for warning in &report.warnings {
        let label = styled(Style::Warning, "warning:");
        printer.wrapped("", &format!("{label} {}", warning.message))?;
    }
    let end = if let Ok(document) = &parsed {
        let policy = document.policy();
        format!(
            "{} `{}`, {}, {}, digest {}",
            styled(Style::Good, "valid:"),
            policy.name,
            counted(policy.gates.len() as u64, "gate"),
            counted(report.warnings.len() as u64, "warning"),
            policy.digest.short()
        )
    } else {
        let label = styled(Style::Bad, "not valid:");
        format!("{label} {}", counted(report.errors.len() as u64, "error"))
    };
    printer.line(&end)?;
    Ok(outcome)
}
