//! `rehydrate`: the exact bytes behind a handle that a request shows.

use crate::command::explain::would;
use crate::error::CliError;
use crate::exit::Outcome;
use crate::printer::Printer;
use crate::store::{self, Store};
use foldback::event::ArtifactId;
use foldback::report::RehydrateReport;
use foldback::{Error, Resolved, RuntimeGraph};

/// Give the exact bytes behind a handle that a request shows, if policy allows it
///
/// The request that showed the handle says for whom, on which branch and by which route.
/// The bytes go to stdout as they were captured; nothing is recorded.
/// `foldback assemble --exact ID` makes a request that holds them.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Handle, as the request shows it in brackets; a call or a memory leads to its result
    #[arg(value_name = "HANDLE")]
    handle: String,
    /// Assembly that showed it, by a unique prefix of its id [default: the one recorded last]
    #[arg(long = "in", value_name = "ASSEMBLY", default_value = "last")]
    shown_in: String,
    /// Conversation to look in [default: all]
    #[arg(long, value_name = "ID")]
    conversation: Option<String>,
}

pub(crate) async fn run(
    args: &Args,
    store: &Store,
    printer: &mut Printer,
) -> Result<Outcome, CliError> {
    let engine = store.read(printer)?;
    // The handle says in which conversation the newest request is looked for.
    let named = args.conversation.as_deref();
    let (conversation, graph, resolved) = store::record(&engine, named, &args.handle).await?;
    let handle = artifact(&graph, &args.handle, &resolved)?;
    let within = conversation.to_string();
    let (_, shown_in) = store::assembly(&engine, Some(&within), &args.shown_in).await?;
    let rehydrated = engine.rehydrate(conversation, &shown_in, &handle).await?;
    if printer.is_json() {
        let report = RehydrateReport::new(conversation, shown_in, handle, &rehydrated);
        printer.json(&report)?;
    } else if let Some(exact) = &rehydrated.exact {
        printer.bytes(&exact.bytes)?;
    } else {
        let told = &rehydrated.explanation;
        printer.warn(&format!(
            "{} is kept back from the request {}: {}",
            handle.short(),
            shown_in.short(),
            would(&told.sentence)
        ));
        let (id, at) = (shown_in.short(), told.position);
        match &told.hint {
            Some(hint) => printer.next(hint),
            None => printer.next(&format!("`foldback explain {id} '#{at}'` tells more")),
        }
    }
    Ok(if rehydrated.exact.is_some() {
        Outcome::Done
    } else {
        Outcome::No
    })
}

/// Finds the result that a handle leads to.
fn artifact(
    graph: &RuntimeGraph,
    prefix: &str,
    resolved: &Resolved,
) -> Result<ArtifactId, CliError> {
    let found = match resolved {
        Resolved::Artifact(id) => Some(*id),
        Resolved::Memory(id) => graph
            .memory(id)
            .and_then(|node| node.artifacts.first())
            .copied(),
        Resolved::Call(id) => graph
            .call(id)
            .and_then(|node| node.artifacts.last())
            .copied(),
        other => return Err(store::wrong_kind(prefix, other, "the handle of a result")),
    };
    found.ok_or_else(|| {
        CliError::Engine(Error::UnknownRecord {
            what: "result",
            id: store::name(resolved),
        })
    })
}
