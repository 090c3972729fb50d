//! The arguments that every command shares, and the list of commands.

use crate::command;
use clap::{ColorChoice, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Fold agent events into a graph, and see what each model request contains and why
///
/// Foldback keeps what agents did in an append-only store.
/// From it, it assembles what one participant's next model request contains, explains why each
/// record is in or out, and proves later that the same log gives the same answer.
#[derive(Debug, Parser)]
#[command(name = "foldback", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options that every command takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Global {
    /// Folder of the store [default: `FOLDBACK_STORE`, else .foldback]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// Form of the answer
    #[arg(long, global = true, value_name = "FORMAT", default_value = "human")]
    format: OutputFormat,
    /// Print JSON: short for --format json
    #[arg(long, global = true)]
    json: bool,
    /// Keep quiet on stderr, apart from errors
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Show more; twice for the trace of what the engine does
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorChoice,
    /// Show no progress
    #[arg(long, global = true)]
    pub(crate) no_progress: bool,
}

impl Global {
    pub(crate) fn format(&self) -> OutputFormat {
        if self.json {
            OutputFormat::Json
        } else {
            self.format
        }
    }
}

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// Text for people
    Human,
    /// One JSON document with a schema
    Json,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Import transcripts into the store
    Import(command::import::Args),
    /// Assemble at every model request of past conversations, and verify
    Replay(command::replay::Args),
    /// List the conversations of the store
    Conversations(command::conversations::Args),
    /// List the events of a conversation
    Log(command::log::Args),
    /// Print the runtime graph of a conversation
    Graph(command::graph::Args),
    /// Print a conversation as people saw it
    Transcript(command::transcript::Args),
    /// Show one record: its facts, where it comes from, and its text
    Show(command::show::Args),
    /// Assemble a new request for a conversation, and print it as the provider takes it
    Assemble(command::assemble::Args),
    /// Give the exact bytes behind a handle that a request shows, if policy allows it
    Rehydrate(command::rehydrate::Args),
    /// Measure tokens, cost and what was needed, against plain layouts
    Evaluate(command::evaluate::Args),
    /// Explain why a request holds what it holds, and why the rest is out
    Explain(command::explain::Args),
    /// Verify the whole store: bytes, chains, assemblies and memories
    Verify(command::verify::Args),
    /// Sign a statement of what the store holds now, for an auditor to keep elsewhere
    Attest(command::attest::Args),
    /// Write what the store holds for others
    #[command(subcommand)]
    Export(command::export::Export),
    /// Check an audit bundle, without the store that it is from
    Audit(command::audit::Args),
    /// Say how long the content of records is kept, and destroy what is past that
    #[command(subcommand)]
    Retain(command::retain::Retain),
    /// Destroy content everywhere it stands in the store; what happened and was decided stays
    Erase(command::erase::Args),
    /// Make and show the keys that sign attestations, and change the master key
    #[command(subcommand)]
    Keys(command::keys::Keys),
    /// Check and print policies
    #[command(subcommand)]
    Policy(command::policy::Policy),
    /// Print the reference of all commands as Markdown
    #[command(hide = true)]
    Reference,
}
