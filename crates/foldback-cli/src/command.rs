//! The commands, one file each: what they take, and how they tell what the engine answers.

pub(crate) mod assemble;
pub(crate) mod attest;
pub(crate) mod audit;
pub(crate) mod conversations;
pub(crate) mod erase;
pub(crate) mod evaluate;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod graph;
pub(crate) mod import;
pub(crate) mod keys;
pub(crate) mod log;
pub(crate) mod policy;
pub(crate) mod rehydrate;
pub(crate) mod replay;
pub(crate) mod retain;
pub(crate) mod show;
pub(crate) mod transcript;
pub(crate) mod verify;

use crate::cli::Command;
use crate::error::CliError;
use crate::exit::Outcome;
use crate::printer::Printer;
use crate::store::Store;

/// Runs a command.
pub(crate) async fn run(
    command: &Command,
    store: &Store,
    printer: &mut Printer,
) -> Result<Outcome, CliError> {
    match command {
        Command::Import(args) => import::run(args, store, printer).await,
        Command::Replay(args) => replay::run(args, store, printer).await,
        Command::Conversations(args) => conversations::run(args, store, printer).await,
        Command::Log(args) => log::run(args, store, printer).await,
        Command::Graph(args) => graph::run(args, store, printer).await,
        Command::Transcript(args) => transcript::run(args, store, printer).await,
        Command::Show(args) => show::run(args, store, printer).await,
        Command::Assemble(args) => assemble::run(args, store, printer).await,
        Command::Rehydrate(args) => rehydrate::run(args, store, printer).await,
        Command::Evaluate(args) => evaluate::run(args, printer).await,
        Command::Explain(args) => explain::run(args, store, printer).await,
        Command::Verify(args) => verify::run(args, store, printer).await,
        Command::Attest(args) => attest::run(args, store, printer).await,
        Command::Export(command) => export::run(command, store, printer).await,
        Command::Audit(args) => audit::run(args, printer),
        Command::Retain(command) => retain::run(command, store, printer).await,
        Command::Erase(args) => erase::run(args, store, printer).await,
        Command::Keys(command) => keys::run(command, store, printer),
        Command::Policy(args) => policy::run(args, store, printer).await,
        Command::Reference => crate::reference::run(printer),
    }
}
