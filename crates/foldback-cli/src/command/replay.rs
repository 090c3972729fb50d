//! `replay`: what Foldback would have sent at every model request of a past conversation.

use crate::columns::{self, Table, counted, figure, share};
use crate::command::{import, verify};
use crate::error::CliError;
use crate::exit::Outcome;
use crate::printer::{Printer, Style, styled};
use crate::progress::Progress;
use crate::store::{self, Store};
use foldback::event::{ConversationId, Reason};
use foldback::report::{ReplayReport, VerifyReport};
use foldback::{Engine, PolicyDocument, Replay, ReplayedRequest, Verification};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Assemble at every model request of past conversations, and verify
///
/// Imports the files if the store does not hold them yet.
/// Each request is assembled from the graph as it stood just before, and recorded.
#[derive(Debug, clap::Args)]
#[group(id = "what", required = true, multiple = false, args = ["files", "conversation", "all"])]
pub(crate) struct Args {
    /// Transcripts; `-` is standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Conversation of the store, by a unique prefix of its id
    #[arg(long, value_name = "ID")]
    conversation: Option<String>,
    /// All conversations of the store
    #[arg(long)]
    all: bool,
    /// Policy to decide by [default: the one built in]
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Do not verify the store afterwards
    #[arg(long)]
    no_verify: bool,
    #[command(flatten)]
    how: import::How,
}

pub(crate) async fn run(
    args: &Args,
    store: &Store,
    printer: &mut Printer,
) -> Result<Outcome, CliError> {
    let policy = match &args.policy {
        Some(path) => read_policy(path)?,
        None => PolicyDocument::builtin()?,
    };
    let (engine, ids) = conversations(args, store, printer).await?;
    let replays = replay(&engine, &ids, &policy, printer).await?;
    let verified = if args.no_verify {
        None
    } else {
        Some(verify::verify(&engine, printer).await?)
    };
    print(&engine, &replays, verified.as_ref(), printer).await?;
    let found = verified.as_ref().map_or(Outcome::Done, verify::outcome);
    let refused = replays.iter().any(|replay| !replay.refused.is_empty());
    Ok(match found {
        Outcome::Done if refused => Outcome::No,
        found => found,
    })
}

/// Reads a policy; its errors name its file.
pub(crate) fn read_policy(path: &Path) -> Result<PolicyDocument, CliError> {
    let text = std::fs::read_to_string(path).map_err(|source| CliError::File {
        path: path.to_owned(),
        source,
    })?;
    PolicyDocument::parse(&text).map_err(|source| CliError::PolicyFile {
        path: path.to_owned(),
        source: Box::new(source),
    })
}

async fn conversations(
    args: &Args,
    store: &Store,
    printer: &mut Printer,
) -> Result<(Engine, Vec<ConversationId>), CliError> {
    if args.files.is_empty() {
        let engine = store.write(printer)?;
        let ids = if args.all {
            let rows = engine.conversations().await?;
            rows.into_iter().map(|row| row.id).collect()
        } else {
            vec![store::conversation(&engine, args.conversation.as_deref()).await?]
        };
        return Ok((engine, ids));
    }
    let engine = store.write_or_create(printer)?;
    let mut rows = Vec::new();
    import::files(
        &engine,
        &args.files,
        &args.how.options(),
        &mut rows,
        printer,
    )
    .await?;
    printer.note(&import::total(&rows));
    let mut ids = Vec::new();
    for row in rows {
        if !ids.contains(&row.id) {
            ids.push(row.id);
        }
    }
    Ok((engine, ids))
}

async fn replay(
    engine: &Engine,
    ids: &[ConversationId],
    policy: &PolicyDocument,
    printer: &Printer,
) -> Result<Vec<Replay>, CliError> {
    let progress = Progress::begin(printer, "replay");
    let mut requests = 0;
    let mut out = Vec::with_capacity(ids.len());
    for (at, id) in ids.iter().enumerate() {
        let replay = engine
            .replay(*id, policy, |_, _| {
                requests += 1;
                let request = counted(requests, "request");
                progress.tell(format!("{} of {}, {request}", at + 1, ids.len()));
                Ok(())
            })
            .await?;
        out.push(replay);
    }
    Ok(out)
}

async fn print(
    engine: &Engine,
    replays: &[Replay],
    verified: Option<&Verification>,
    printer: &mut Printer,
) -> Result<(), CliError> {
    let mut report = ReplayReport::new(replays);
    if printer.is_json() {
        report.verified = verified.map(VerifyReport::new);
        return printer.json(&report);
    }
    if replays.len() == 1 || printer.is_verbose() {
        for replay in replays {
            requests(engine, replay, printer).await?;
        }
    } else {
        overview(replays, printer)?;
    }
    for row in &report.refused {
        let label = styled(Style::Bad, "refused:");
        let (id, at) = (columns::shorten(&row.conversation, 13), row.position);
        let text = format!("{label} the request at position {at} of {id}");
        printer.wrapped("", &format!("{text} {}", row.message))?;
    }
    let totals = report.totals;
    let (replay, sent) = (totals.replay_tokens, totals.assembled_tokens);
    printer.wrapped(
        "",
        &format!(
            "{} {}, {} of {} tokens: {}",
            styled(Style::Title, "total:"),
            counted(totals.requests, "request"),
            figure(sent),
            figure(replay),
            share(sent, replay)
        ),
    )?;
    if let Some(found) = verified {
        verify::print(found, printer)?;
    }
    if let Some(most) = most_omitting(replays) {
        let id = most.assembly.short();
        printer.next(&format!("`foldback explain {id}` tells why"));
    }
    Ok(())
}

/// Finds the request that leaves out most: the one worth explaining.
fn most_omitting(replays: &[Replay]) -> Option<&ReplayedRequest> {
    replays
        .iter()
        .flat_map(|replay| &replay.requests)
        .max_by_key(|request| request.omitted.values().sum::<u64>())
}

/// Prints a row per request of one conversation.
async fn requests(engine: &Engine, replay: &Replay, printer: &mut Printer) -> Result<(), CliError> {
    let id = replay.conversation.short();
    let graph = engine.graph(replay.conversation, None).await?;
    let title = match graph.conversation().and_then(|node| node.title.as_ref()) {
        Some(title) => crate::payload::text(engine, &graph, title)?,
        None => String::new(),
    };
    let room = columns::WIDTH - 2 - id.chars().count();
    let title = columns::shorten(&columns::tame(&title), room);
    printer.line(&format!("{id}  {}", styled(Style::Title, &title)))?;
    let mut table = Table::new(&[
        "request", ">at", ">replay", ">sent", ">share", ">in", ">out", "why out",
    ]);
    for request in &replay.requests {
        let cells = vec![
            request.assembly.short(),
            request.position.to_string(),
            figure(request.replay_tokens),
            figure(request.assembled_tokens),
            share(request.assembled_tokens, request.replay_tokens),
            figure(request.included),
            figure(request.omitted.values().sum()),
        ];
        table.row_with_list(cells, reasons(&request.omitted));
    }
    let width = if printer.is_verbose() {
        usize::MAX
    } else {
        columns::WIDTH
    };
    for line in table.lines(width) {
        printer.line(&line)?;
    }
    Ok(())
}

/// Lists reasons with their counts, the most frequent first; a memory whose result is in itself is
/// no loss and stands last.
fn reasons(omitted: &BTreeMap<Reason, u64>) -> Vec<String> {
    let mut sorted: Vec<(&Reason, &u64)> = omitted.iter().collect();
    sorted.sort_by_key(|(reason, count)| {
        (
            **reason == Reason::Replaced,
            std::cmp::Reverse(**count),
            **reason,
        )
    });
    match sorted.as_slice() {
        [(reason, _)] => vec![reason.to_string()],
        many => many
            .iter()
            .map(|(reason, count)| format!("{reason} {}", figure(**count)))
            .collect(),
    }
}

/// Prints a row per conversation.
fn overview(replays: &[Replay], printer: &mut Printer) -> Result<(), CliError> {
    let mut table = Table::new(&[
        "conversation",
        ">reqs",
        ">replay",
        ">sent",
        ">share",
        "why out",
    ]);
    for replay in replays {
        let (mut all, mut sent) = (0, 0);
        let mut omitted: BTreeMap<Reason, u64> = BTreeMap::new();
        for request in &replay.requests {
            all += request.replay_tokens;
            sent += request.assembled_tokens;
            for (reason, count) in &request.omitted {
                *omitted.entry(*reason).or_default() += count;
            }
        }
        let cells = vec![
            replay.conversation.short(),
            figure(replay.requests.len() as u64),
            figure(all),
            figure(sent),
            share(sent, all),
        ];
        table.row_with_list(cells, reasons(&omitted));
    }
    for line in table.lines(columns::WIDTH) {
        printer.line(&line)?;
    }
    Ok(())
}
