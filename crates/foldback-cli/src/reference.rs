//! docs/cli.md: the reference of all commands, written from what clap knows of them.

use crate::cli::Cli;
use crate::error::CliError;
use crate::exit::Outcome;
use crate::printer::Printer;
use clap::{Arg, Command, CommandFactory as _};
use std::fmt::Write as _;

pub(crate) fn run(printer: &mut Printer) -> Result<Outcome, CliError> {
    printer.text(&markdown())?;
    Ok(Outcome::Done)
}

const HEAD: &str = "\
# Command line reference

This page is generated from the definitions of the commands; a test holds it to them.

The answer goes to stdout, talk goes to stderr.
With `--json`, the answer is one JSON document with a `schema`, and an error is one JSON object on \
stderr with `schema`, `code`, `message` and `hint`.
Ids are accepted as unique prefixes, with or without their tag: `asm_3f9c`, `3f9c`.

| exit code | meaning |
| --- | --- |
| 0 | done; also when the reader of a pipe has closed it |
| 1 | failed |
| 2 | wrong arguments |
| 3 | done, and the answer is no: an assembly or a memory does not come out again, a request was \
refused, a policy is not valid |
| 4 | the store is damaged, or of a newer format |
| 70 | a bug in foldback |

| variable | meaning |
| --- | --- |
| `FOLDBACK_STORE` | folder of the store, where `--store` is not given |
| `FOLDBACK_MASTER_KEY` | 64 hexadecimal digits: the key that seals the accounts' keys; without \
it, the store keeps one of its own |
| `FOLDBACK_NEW_MASTER_KEY` | the same of the key that `foldback keys rotate` goes over to |
| `FOLDBACK_LOG` | what of the engine's trace goes to stderr, such as `foldback=debug` |
| `NO_COLOR` | any value: no colour |
";

fn markdown() -> String {
    let mut root = Cli::command();
    root.build();
    let mut out = HEAD.to_owned();
    let _ = writeln!(out, "\n## Options of every command\n");
    for arg in root.get_arguments().filter(|arg| arg.is_global_set()) {
        option(arg, &mut out);
    }
    for command in root.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        if command.get_name() != "help" {
            section("foldback", command, &mut out);
        }
    }
    out
}

fn section(parent: &str, command: &Command, out: &mut String) {
    let name = format!("{parent} {}", command.get_name());
    let nested: Vec<&Command> = command
        .get_subcommands()
        .filter(|sub| sub.get_name() != "help")
        .collect();
    if !nested.is_empty() {
        for sub in nested {
            section(&name, sub, out);
        }
        return;
    }
    let _ = writeln!(out, "\n## `{name}`\n");
    let about = command.get_long_about().or(command.get_about());
    let _ = writeln!(
        out,
        "{}",
        lines(&about.map(ToString::to_string).unwrap_or_default())
    );
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").trim();
    let _ = writeln!(out, "\n```text\n{usage}\n```");
    let own: Vec<&Arg> = command
        .get_arguments()
        .filter(|arg| !arg.is_global_set() && arg.get_id() != "help" && !arg.is_hide_set())
        .collect();
    if !own.is_empty() {
        out.push('\n');
    }
    for arg in own {
        option(arg, out);
    }
}

fn option(arg: &Arg, out: &mut String) {
    let mut names = Vec::new();
    names.extend(arg.get_short().map(|short| format!("-{short}")));
    names.extend(arg.get_long().map(|long| format!("--{long}")));
    let values: Vec<String> = arg
        .get_value_names()
        .unwrap_or_default()
        .iter()
        .map(|name| format!("<{name}>"))
        .collect();
    let takes = arg.get_action().takes_values();
    let title = match (names.is_empty(), takes) {
        (true, _) => values.concat(),
        (false, true) => format!("{} {}", names.join(", "), values.concat()),
        (false, false) => names.join(", "),
    };
    let help = arg.get_long_help().or(arg.get_help());
    let help = lines(&help.map(ToString::to_string).unwrap_or_default());
    let _ = write!(out, "- `{title}`: {}", help.replace('\n', "\n  "));
    if takes {
        let possible: Vec<String> = arg
            .get_possible_values()
            .iter()
            .map(|value| format!("`{}`", value.get_name()))
            .collect();
        if !possible.is_empty() {
            let _ = write!(out, "; one of {}", possible.join(", "));
        }
        let default: Vec<String> = arg
            .get_default_values()
            .iter()
            .map(|value| format!("`{}`", value.to_string_lossy()))
            .collect();
        if !default.is_empty() {
            let _ = write!(out, "; default {}", default.join(", "));
        }
    }
    out.push('\n');
}

/// Puts each sentence of a help text on a line of its own, without empty ones between.
fn lines(text: &str) -> String {
    text.lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}
