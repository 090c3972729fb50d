//! The `foldback` binary: commands over one store, for people and for programs.
//!
//! The answer goes to stdout, talk goes to stderr, and one function turns what came of a command
//! into an exit code. Nothing here decides anything: the engine does, through its public API.

mod cli;
mod columns;
mod command;
mod environment;
mod error;
mod exit;
mod output;
mod payload;
mod printer;
mod progress;
mod reference;
mod source;
mod store;

use clap::Parser as _;
use cli::{Cli, OutputFormat};
use environment::Environment;
use error::CliError;
use printer::Printer;
use std::process::ExitCode;

fn main() -> ExitCode {
    let environment = Environment::read();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let mut printer = Printer::new(&cli.global);
    // A panic is a bug of ours; its message is on stderr by then, and the exit code says so.
    let run = std::panic::AssertUnwindSafe(|| run(&cli, &environment, &mut printer));
    let result = std::panic::catch_unwind(run).unwrap_or(Err(CliError::Panicked));
    let result = result.and_then(|outcome| printer.finish().map(|()| outcome));
    if let Err(error) = &result {
        printer.error(error);
    }
    ExitCode::from(exit::code(&result))
}

fn run(
    cli: &Cli,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<exit::Outcome, CliError> {
    environment.trace(cli.global.verbose)?;
    let store = store::Store::new(&cli.global, environment)?;
    // Everything waits for the disk or computes, one thing after another: one thread will do.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .map_err(CliError::Runtime)?;
    runtime.block_on(command::run(&cli.command, &store, printer))
}

/// Tells what is wrong with the arguments, or prints the help that was asked for.
fn usage(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        // A closed pipe is no failure, and there is nowhere else to say so.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let arguments: Vec<String> = std::env::args().collect();
    let json = arguments
        .iter()
        .take_while(|argument| *argument != "--")
        .any(|argument| argument == "--json" || argument == "--format=json");
    if json {
        let text = error.render().to_string();
        let lines = text.lines().take_while(|line| !line.is_empty());
        let message = lines.map(str::trim).collect::<Vec<_>>().join(" ");
        let message = message.strip_prefix("error: ").unwrap_or(&message);
        let usage = CliError::Usage {
            message: message.to_owned(),
            hint: "`foldback help` shows the commands and their options".to_owned(),
        };
        Printer::plain(OutputFormat::Json).error(&usage);
    } else {
        let _ = error.print();
    }
    ExitCode::from(exit::USAGE)
}
