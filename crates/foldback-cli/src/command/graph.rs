//! `graph`: the runtime graph at any position.

use crate::error::CliError;
use crate::exit::Outcome;
use crate::printer::Printer;
use crate::store::{self, Store};
use foldback::graph_text;
use foldback::report::GraphReport;

/// Print the runtime graph of a conversation
///
/// One line per node, in the order of their events.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Conversation, by a unique prefix of its id [default: the only one]
    #[arg(value_name = "ID")]
    conversation: Option<String>,
    /// Position to fold to [default: the end]
    #[arg(long, value_name = "POSITION")]
    at: Option<u64>,
}

pub(crate) async fn run(
    args: &Args,
    store: &Store,
    printer: &mut Printer,
) -> Result<Outcome, CliError> {
    let engine = store.read(printer)?;
    let id = store::conversation(&engine, args.conversation.as_deref()).await?;
    let graph = engine.graph(id, args.at).await?;
    if printer.is_json() {
        printer.json(&GraphReport::new(id, &graph))?;
    } else {
        printer.text(&graph_text(&graph))?;
    }
    Ok(Outcome::Done)
}
