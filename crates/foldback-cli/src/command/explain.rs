//! `explain`: why a request holds what it holds, and why the rest is out.

mod against;

pub(crate) use against::would;

use crate::columns::{self, WIDTH, counted, figure, share};
use crate::command::replay;
use crate::error::CliError;
use crate::exit::Outcome;
use crate::printer::{Printer, Style, styled};
use crate::store::{self, Store};
use foldback::event::kind::LayoutAccount;
use foldback::event::{ArtifactId, AssemblyId, Reason, RecordKind};
use foldback::report::{AgainstReport, ExplainReport};
use foldback::{Error, Explanation, Recorded, Resolved, RuntimeGraph, rfc3339};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Explain why a request holds what it holds, and why the rest is out
///
/// The log is folded to the assembly's position and the decision is made again.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Assembly, by a unique prefix of its id; `last` is the one recorded last
    #[arg(value_name = "ASSEMBLY")]
    assembly: String,
    /// Record to explain: a unique prefix of its id, or #POSITION [default: all]
    #[arg(value_name = "RECORD")]
    record: Option<String>,
    /// Conversation to look in [default: all]
    #[arg(long, value_name = "ID")]
    conversation: Option<String>,
    /// Another policy: tell which decisions it would move, and by which rule
    ///
    /// Both policies decide the request as a first one, which extends no other.
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
}

pub(crate) async fn run(
    args: &Args,
    store: &Store,
    printer: &mut Printer,
) -> Result<Outcome, CliError> {
    let engine = store.read(printer)?;
    let named = args.conversation.as_deref();
    let (conversation, id) = store::assembly(&engine, named, &args.assembly).await?;
    let recorded = engine.recorded(conversation, &id).await?;
    let whole = engine.graph(conversation, None).await?;
    if let Some(path) = &args.against {
        let against = recorded.against(&replay::read_policy(path)?)?;
        let mut moved = against.moved.clone();
        if let Some(name) = &args.record {
            let asked = one(&recorded, &whole, name)?.position;
            moved.retain(|moved| moved.before.position == asked);
        }
        if printer.is_json() {
            printer.json(&AgainstReport::new(conversation, id, &against, &moved))?;
        } else {
            against::print(id, &against, &moved, printer)?;
        }
        return Ok(Outcome::Done);
    }
    let rows = match &args.record {
        Some(name) => vec![one(&recorded, &whole, name)?],
        None => recorded.explain(),
    };
    if printer.is_json() {
        printer.json(&ExplainReport::new(conversation, id, &recorded, &rows))?;
    } else if args.record.is_some() {
        for row in &rows {
            record(row, printer)?;
        }
    } else {
        head(id, &recorded, printer)?;
        included(&recorded, &rows, printer)?;
        left_out(&recorded, &rows, printer)?;
        if let Some(row) = worth_following(&rows) {
            let (id, at) = (id.short(), row.position);
            printer.next(&format!("`foldback explain {id} '#{at}'` follows one"));
        }
    }
    let reproduced = recorded.differences.is_empty();
    Ok(if reproduced {
        Outcome::Done
    } else {
        Outcome::No
    })
}

/// Finds the record that a reader asks about first: the newest result that was left out, else the
/// newest memory that is in.
fn worth_following(rows: &[Explanation]) -> Option<&Explanation> {
    let newest = |kind, is_in| {
        let fits = move |row: &&Explanation| {
            row.record.kind == kind && row.presentation.is_some() == is_in
        };
        rows.iter().rev().find(fits)
    };
    newest(RecordKind::Artifact, false).or_else(|| newest(RecordKind::Memory, true))
}

fn one(recorded: &Recorded, whole: &RuntimeGraph, name: &str) -> Result<Explanation, CliError> {
    let position = if let Some(position) = name.strip_prefix('#') {
        position.parse::<u64>().map_err(|_| CliError::Usage {
            message: format!("`{name}` is no position"),
            hint: "write a number after #, as `foldback log` lists them".to_owned(),
        })?
    } else {
        let resolved = whole.resolve(name).map_err(Error::from)?;
        position_of(whole, &resolved)
            .ok_or_else(|| store::wrong_kind(name, &resolved, "a record of a request"))?
    };
    recorded
        .explain_record(whole, position)
        .ok_or_else(|| CliError::NotFound {
            message: format!("the event at position {position} created no record"),
            hint: "`foldback graph` lists the records with their positions".to_owned(),
        })
}

/// Finds the event that created a record; none for what no request is made of.
fn position_of(graph: &RuntimeGraph, resolved: &Resolved) -> Option<u64> {
    let common = match resolved {
        Resolved::Message(id) => graph.message(id).map(|node| &node.common),
        Resolved::Call(id) => graph.call(id).map(|node| &node.common),
        Resolved::Artifact(id) => graph.artifact(id).map(|node| &node.common),
        Resolved::Memory(id) => graph.memory(id).map(|node| &node.common),
        Resolved::Fact(id) => graph.fact(id).map(|node| &node.common),
        Resolved::Checkpoint(id) => graph.checkpoint(id).map(|node| &node.common),
        Resolved::Run(id) => {
            let end = graph.child(id).and_then(|node| node.end.as_ref());
            end.map(|end| &end.common)
        }
        _ => None,
    };
    common.map(|common| common.origin.position)
}

fn head(id: AssemblyId, recorded: &Recorded, printer: &mut Printer) -> Result<(), CliError> {
    let assembly = &recorded.assembly;
    let request = &assembly.request;
    let policy = recorded.policy.policy();
    let title = format!("{} at position {}", id.short(), request.position);
    printer.line(&styled(Style::Title, &title))?;
    let model = request.route.model.as_ref();
    let model = model.map_or(String::new(), |model| format!(" {model}"));
    let route = &request.route.provider;
    let mut lines = vec![
        (
            "for",
            format!("{} to {route}{model}", request.participant.short()),
        ),
        ("branch", request.branch.short()),
        ("as of", rfc3339(request.as_of)),
        (
            "policy",
            format!("{} {}", policy.name, policy.digest.short()),
        ),
    ];
    if let Some(extends) = request.extends {
        lines.push(("extends", extends.short()));
    }
    if !request.exact.is_empty() {
        let ids: Vec<String> = request.exact.iter().map(ArtifactId::short).collect();
        lines.push(("exact", ids.join(", ")));
    }
    let tokens = assembly.tokens;
    let (sent, all) = (tokens.assembled, tokens.replay);
    lines.push((
        "tokens",
        format!("{} of {}: {}", figure(sent), figure(all), share(sent, all)),
    ));
    lines.push((
        "budget",
        format!(
            "{}, {} protected",
            figure(tokens.budget),
            figure(tokens.protected)
        ),
    ));
    if let Some(layout) = &assembly.layout {
        lines.extend(costs(layout, sent));
    }
    let again = if recorded.differences.is_empty() {
        styled(Style::Good, "the decision comes out the same")
    } else {
        let differs = recorded.differences.join(", ");
        styled(Style::Bad, &format!("the decision differs in {differs}"))
    };
    lines.push(("again", again));
    for (name, text) in lines {
        printer.line(&format!("  {name:<8}{text}"))?;
    }
    Ok(())
}

/// Tells what the request shares with the one before it, what it costs, and what the planner did.
fn costs(layout: &LayoutAccount, sent: u64) -> Vec<(&'static str, String)> {
    let plan = layout.plan;
    let whole = sent.saturating_mul(1_000);
    let mut out = vec![
        (
            "cached",
            format!(
                "{} of {} at the beginning",
                figure(layout.prefix),
                figure(sent)
            ),
        ),
        (
            "cost",
            format!(
                "{} input tokens, {} of uncached",
                figure(layout.cost.div_ceil(1_000)),
                share(layout.cost, whole)
            ),
        ),
    ];
    if plan.pending > 0 {
        let waiting = plan.pending.saturating_sub(plan.applied);
        let (due, applied) = (counted(plan.pending, "result"), figure(plan.applied));
        out.push((
            "smaller",
            format!("{due} due: {applied} changed, {waiting} wait"),
        ));
    }
    if plan.suffix > 0 {
        let pays = match plan.break_even {
            u64::MAX => "never".to_owned(),
            pays => format!("after {}", counted(pays, "request")),
        };
        out.push((
            "",
            format!(
                "D {}, S {}: pays {pays} of {}",
                figure(plan.saving),
                figure(plan.suffix),
                figure(plan.horizon)
            ),
        ));
    }
    out
}

fn included(
    recorded: &Recorded,
    rows: &[Explanation],
    printer: &mut Printer,
) -> Result<(), CliError> {
    let items = &recorded.assembly.items;
    let count = counted(items.len() as u64, "record");
    printer.line(&styled(Style::Title, &format!("in: {count}")))?;
    let mut forms: BTreeMap<_, (u64, u64)> = BTreeMap::new();
    for item in items {
        let sum = forms.entry((item.presentation, item.reason)).or_default();
        sum.0 += 1;
        sum.1 += item.tokens;
    }
    for ((form, reason), (count, tokens)) in &forms {
        let tokens = figure(*tokens);
        printer.line(&format!(
            "  {form:<10}{reason:<16}{count:>4}  {tokens:>7} tokens"
        ))?;
    }
    let verbose = printer.is_verbose();
    for row in rows
        .iter()
        .filter(|row| row.presentation.is_some() && verbose)
    {
        sentence(row, printer)?;
    }
    Ok(())
}

/// How many sentences are told per reason.
const SENTENCES_MAX: usize = 2;

fn left_out(
    recorded: &Recorded,
    rows: &[Explanation],
    printer: &mut Printer,
) -> Result<(), CliError> {
    let omissions = &recorded.assembly.omissions;
    let count = omissions.iter().map(|omission| omission.count).sum();
    let count = counted(count, "record");
    printer.line(&styled(Style::Title, &format!("out: {count}")))?;
    let shown = if printer.is_verbose() {
        usize::MAX
    } else {
        SENTENCES_MAX
    };
    let mut sorted: Vec<_> = omissions.iter().collect();
    // A memory whose result is in itself is no loss: it is told last.
    sorted.sort_by_key(|omission| {
        let no_loss = omission.reason == Reason::Replaced;
        (no_loss, std::cmp::Reverse(omission.count), omission.reason)
    });
    for omission in sorted {
        let of: Vec<&Explanation> = rows
            .iter()
            .filter(|row| row.presentation.is_none() && row.reason == omission.reason.name())
            .collect();
        let tokens: u64 = of.iter().map(|row| row.tokens).sum();
        let (reason, count) = (omission.reason, figure(omission.count));
        let tokens = if tokens > 0 {
            format!(", {} tokens", figure(tokens))
        } else {
            String::new()
        };
        printer.line(&format!(
            "  {}",
            styled(Style::Warning, &format!("{reason}: {count}{tokens}"))
        ))?;
        // The newest are the most likely to be asked about.
        for row in of.iter().rev().take(shown) {
            sentence(row, printer)?;
        }
        if of.len() > shown {
            printer.line(&format!("    and {} more: -v lists them", of.len() - shown))?;
        }
    }
    Ok(())
}

fn sentence(row: &Explanation, printer: &mut Printer) -> Result<(), CliError> {
    let at = format!("#{}", row.position);
    printer.wrapped("    ", &format!("{at} {}", row.sentence))
}

/// Prints one record's explanation whole.
fn record(row: &Explanation, printer: &mut Printer) -> Result<(), CliError> {
    printer.wrapped("", &row.sentence)?;
    let mut facts = vec![("reason", row.reason.to_owned())];
    facts.extend(row.rule.clone().map(|rule| ("rule", rule)));
    facts.push(("tokens", figure(row.tokens)));
    for (name, text) in facts {
        printer.line(&format!("  {name:<8}{text}"))?;
    }
    if !row.provenance.is_empty() {
        printer.line("where it comes from:")?;
        for (depth, step) in row.provenance.iter().enumerate() {
            let arrow = if depth == 0 { "" } else { "<- " };
            let line = format!("  {arrow}{step}");
            if line.chars().count() > WIDTH && !printer.is_verbose() {
                let brief = format!("{arrow}{}", brief(step));
                for (at, line) in columns::wrap(&brief, "  ").iter().enumerate() {
                    let deeper = if at > 0 { "   " } else { "" };
                    printer.line(&format!("{deeper}{line}"))?;
                }
            } else {
                printer.line(&line)?;
            }
        }
    }
    if let Some(hint) = &row.hint {
        let label = styled(Style::Hint, "hint:");
        printer.wrapped("", &format!("{label} {hint}"))?;
    }
    Ok(())
}

/// Shortens the ids in a line of provenance to eight digits.
fn brief(step: &str) -> String {
    let word = |word: &str| {
        let (id, rest) = match word.strip_suffix(',') {
            Some(id) => (id, ","),
            None => (word, ""),
        };
        match id.split_once('_') {
            Some((tag, digits)) if digits.len() == 32 => {
                let start: String = digits.chars().take(8).collect();
                format!("{tag}_{start}{rest}")
            }
            _ => word.to_owned(),
        }
    };
    step.split(' ').map(word).collect::<Vec<_>>().join(" ")
}
