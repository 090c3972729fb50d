//! `transcript`: a conversation as people saw it.

use crate::error::CliError;
use crate::exit::Outcome;
use crate::payload;
use crate::printer::Printer;
use crate::store::{self, Store};
use foldback::report::TranscriptReport;
use foldback::{Engine, Resolved, transcript_text};
use std::cell::RefCell;

/// Print a conversation as people saw it
///
/// It never holds memories, policies or assemblies: those are how the runtime thinks.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Conversation, by a unique prefix of its id [default: the only one]
    #[arg(value_name = "ID")]
    conversation: Option<String>,
    /// Position to fold to [default: the end]
    #[arg(long, value_name = "POSITION")]
    at: Option<u64>,
    /// Branch, by a unique prefix of its id [default: the main one]
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,
}

pub(crate) async fn run(
    args: &Args,
    store: &Store,
    printer: &mut Printer,
) -> Result<Outcome, CliError> {
    let engine = store.read(printer)?;
    let id = store::conversation(&engine, args.conversation.as_deref()).await?;
    let graph = engine.graph(id, args.at).await?;
    let branch = match &args.branch {
        None => None,
        Some(prefix) => match graph.resolve(prefix).map_err(foldback::Error::from)? {
            Resolved::Branch(branch) => Some(branch),
            other => return Err(store::wrong_kind(prefix, &other, "a branch")),
        },
    };
    let transcript = Engine::transcript(&graph, branch)?;
    // The projection takes a plain function; what goes wrong in it is kept and told after.
    let failed = RefCell::new(None);
    let text = |payload: &foldback::event::PayloadRef| match payload::text(&engine, &graph, payload)
    {
        Ok(text) => Some(text),
        Err(error) => {
            failed.borrow_mut().get_or_insert(error);
            None
        }
    };
    if printer.is_json() {
        let report = TranscriptReport::new(id, &graph, &transcript, &text);
        printer.json(&report)?;
    } else {
        printer.content(&transcript_text(&graph, &transcript, &text))?;
        let others: Vec<String> = graph
            .branches()
            .filter(|node| node.id != transcript.branch)
            .map(|node| node.id.short())
            .collect();
        if !others.is_empty() {
            printer.note(&format!("other branches: {}", others.join(", ")));
        }
    }
    match failed.into_inner() {
        Some(error) => Err(error),
        None => Ok(Outcome::Done),
    }
}
