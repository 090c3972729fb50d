//! `explain --against`: what another policy would have decided of the same request.

use crate::columns::{counted, figure};
use crate::error::CliError;
use crate::printer::{Printer, Style, styled};
use foldback::event::AssemblyId;
use foldback::{Against, Explanation, Moved};
use std::collections::BTreeMap;

/// Prints the decisions that move, and how many each rule moves.
pub(super) fn print(
    id: AssemblyId,
    against: &Against,
    moved: &[Moved],
    printer: &mut Printer,
) -> Result<(), CliError> {
    let (from, to) = (&against.from, &against.to);
    let title = format!("{} under another policy", id.short());
    printer.line(&styled(Style::Title, &title))?;
    for (label, side) in [("from", from), ("to", to)] {
        let tokens = figure(side.assembly.tokens.assembled);
        printer.line(&format!(
            "  {label:<6}{} {}: {} in, {tokens} tokens",
            side.name,
            side.assembly.policy.short(),
            counted(side.assembly.items.len() as u64, "record"),
        ))?;
    }
    let all = from.assembly.decisions.len() as u64;
    let count = format!("moved: {} of {}", moved.len(), counted(all, "record"));
    printer.line(&styled(Style::Title, &count))?;
    let shown = |row: &&Moved| row.is_seen() || moved.len() == 1 || printer.is_verbose();
    let rows: Vec<&Moved> = moved.iter().filter(shown).collect();
    let rest = moved.len() - rows.len();
    for row in rows {
        let (was, now) = (&row.before, &row.after);
        let at = was.position;
        let (kind, cause) = (was.record.kind, row.cause());
        printer.line(&format!("  #{at} {kind}, by {cause}"))?;
        printer.line(&format!("    was  {}", decided(was)))?;
        printer.line(&format!("    now  {}", decided(now)))?;
        printer.wrapped("    ", &would(&now.sentence))?;
    }
    if rest > 0 {
        let rest = counted(rest as u64, "record");
        printer.wrapped(
            "  ",
            &format!("and {rest} in the same form for another reason: -v lists them"),
        )?;
    }
    let mut causes: BTreeMap<String, u64> = BTreeMap::new();
    for row in moved {
        *causes.entry(row.cause()).or_default() += 1;
    }
    if causes.len() > 1 {
        printer.line(&styled(Style::Title, "by cause"))?;
        for (cause, count) in &causes {
            printer.line(&format!("  {count:>4}  {cause}"))?;
        }
    }
    Ok(())
}

/// Writes a decision in a line: form or `out`, reason, rule, tokens.
fn decided(row: &Explanation) -> String {
    let form = row
        .presentation
        .map_or("out".to_owned(), |form| form.to_string());
    let rule = row
        .rule
        .as_ref()
        .map_or(String::new(), |rule| format!(" by {rule}"));
    format!("{form} {}{rule}, {} tok", row.reason, figure(row.tokens))
}

/// Tells what was not done: what the model would see, or would not.
pub(crate) fn would(sentence: &str) -> String {
    sentence
        .replacen("The model saw", "The model would see", 1)
        .replacen("The model did not see", "The model would not see", 1)
}
