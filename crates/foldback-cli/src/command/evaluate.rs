//! `evaluate`: what Foldback's requests take and hold, against plain ways to lay them out.

use crate::columns::{self, counted, figure, share};
use crate::command::{import, replay};
use crate::error::CliError;
use crate::exit::Outcome;
use crate::printer::{Printer, Style, styled};
use crate::progress::Progress;
use foldback::report::{EvaluateReport, KeptRow, MissingRow};
use foldback::{Engine, Evaluation, ImportOptions, Options, PolicyDocument};
use std::path::PathBuf;

/// Measure tokens, cost and what was needed, against plain layouts
///
/// Each request of each conversation is laid out in several ways, side by side.
/// Needed is what a call names that stands in earlier results alone.
/// Nothing is written to the store.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Transcripts; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Policy to decide by [default: the one built in]
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Join so many conversations of a file into a long one
    ///
    /// They follow each other in the order of the file, between the same person and the same model;
    /// an instruction that was given before is not given again.
    #[arg(long, value_name = "N", default_value_t = 1)]
    join: usize,
    #[command(flatten)]
    how: import::How,
}

pub(crate) async fn run(args: &Args, printer: &mut Printer) -> Result<Outcome, CliError> {
    let policy = match &args.policy {
        Some(path) => replay::read_policy(path)?,
        None => PolicyDocument::builtin()?,
    };
    let engine = Engine::in_memory(Options::default())?;
    let mut rows = Vec::new();
    let options = ImportOptions {
        join: args.join,
        ..args.how.options()
    };
    import::files(&engine, &args.files, &options, &mut rows, printer).await?;
    let mut ids = Vec::new();
    for row in rows {
        if !ids.contains(&row.id) {
            ids.push(row.id);
        }
    }
    let evaluations = measure(&engine, &ids, &policy, printer).await?;
    let report = EvaluateReport::new(&evaluations);
    print(&report, printer)?;
    Ok(if report.refused.is_empty() {
        Outcome::Done
    } else {
        Outcome::No
    })
}

async fn measure(
    engine: &Engine,
    ids: &[foldback::event::ConversationId],
    policy: &PolicyDocument,
    printer: &Printer,
) -> Result<Vec<Evaluation>, CliError> {
    let progress = Progress::begin(printer, "evaluate");
    let mut out = Vec::with_capacity(ids.len());
    for (at, id) in ids.iter().enumerate() {
        progress.tell(format!("{} of {}", at + 1, ids.len()));
        out.push(engine.evaluate(*id, policy).await?);
    }
    Ok(out)
}

fn print(report: &EvaluateReport, printer: &mut Printer) -> Result<(), CliError> {
    if printer.is_json() {
        return printer.json(report);
    }
    let title = format!(
        "{}, {}",
        counted(report.conversations, "conversation"),
        counted(report.requests.len() as u64, "request")
    );
    printer.line(&styled(Style::Title, &title))?;
    for line in costs(report) {
        printer.line(&line)?;
    }
    printer.line("")?;
    for line in kept(report) {
        printer.line(&line)?;
    }
    for row in &report.refused {
        let label = styled(Style::Bad, "refused:");
        let (id, at) = (columns::shorten(&row.conversation, 13), row.position);
        let text = format!("{label} the request at position {at} of {id}");
        printer.wrapped("", &format!("{text} {}", row.message))?;
    }
    missing(report, printer)
}

/// Writes a row per layout: all figures have the same width in every report, so that two compare.
fn costs(report: &EvaluateReport) -> Vec<String> {
    let line = |cells: [&str; 6]| {
        let [layout, tokens, share, dear, dear_share, cheap_share] = cells;
        format!("{layout:<12}{tokens:>12}{share:>7}{dear:>12}{dear_share:>7}{cheap_share:>7}")
    };
    let mut out = vec![line([
        "layout", "tokens", "share", "at 0.1", "share", "0.05",
    ])];
    let Some(base) = report.totals.first() else {
        return out;
    };
    for row in &report.totals {
        out.push(line([
            row.layout,
            &figure(row.tokens),
            &share(row.tokens, base.tokens),
            &figure(row.cost_read_100),
            &share(row.cost_read_100, base.cost_read_100),
            &share(row.cost_read_50, base.cost_read_50),
        ]));
    }
    out
}

fn kept(report: &EvaluateReport) -> Vec<String> {
    let line = |layout: &str, [values, lines]: [[String; 3]; 2]| {
        let [needed, kept, reachable] = values;
        let [lines, lines_kept, lines_reachable] = lines;
        format!(
            "{layout:<12}{needed:>8}{kept:>7}{reachable:>7}{lines:>10}{lines_kept:>7}{lines_reachable:>7}"
        )
    };
    let names = |what: &str| [what, "kept", "reach"].map(str::to_owned);
    let mut out = vec![line("layout", [names("values"), names("lines")])];
    for row in &report.totals {
        let cells = |kept: KeptRow| {
            [
                figure(kept.needed),
                share(kept.kept, kept.needed),
                share(kept.reachable, kept.needed),
            ]
        };
        out.push(line(row.layout, [cells(row.values), cells(row.lines)]));
    }
    out
}

/// Tells what is not there: the part that cannot be asked for always, all of it where more is asked.
fn missing(report: &EvaluateReport, printer: &mut Printer) -> Result<(), CliError> {
    let all = printer.is_verbose();
    for request in &report.requests {
        let told = |row: &&MissingRow| all || !row.reachable;
        for row in request.missing.iter().filter(told) {
            let label = if row.reachable {
                styled(Style::Warning, "asked for:")
            } else {
                styled(Style::Bad, "lost:")
            };
            let (need, tool, source) = (row.need, &row.tool, &row.source);
            let text = columns::shorten(&row.text, 40);
            let form = row.presentation.unwrap_or("out");
            let reason = row.reason.unwrap_or("not a candidate");
            let at = request.position;
            printer.wrapped(
                "",
                &format!(
                    "{label} {need} `{text}` of {tool} at {at}, from {source}: {form}, {reason}"
                ),
            )?;
        }
    }
    Ok(())
}
