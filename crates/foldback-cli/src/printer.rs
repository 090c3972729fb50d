//! Writing: the answer to stdout, talk to stderr, and what a closed pipe means.

use crate::cli::{Global, OutputFormat};
use crate::columns;
use crate::error::CliError;
use anstream::{AutoStream, ColorChoice};
use serde::Serialize;
use std::io::{Stderr, Stdout, Write as _};

/// How a piece of text is to look where colour is on; words carry the meaning without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Good,
    Bad,
    Warning,
    Hint,
    Title,
}

/// Dresses a text; the streams take the dress off where colour is off.
pub(crate) fn styled(style: Style, text: &str) -> String {
    let code = match style {
        Style::Good => "32",
        Style::Bad => "31",
        Style::Warning => "33",
        Style::Hint => "36",
        Style::Title => "1",
    };
    format!("\u{1b}[{code}m{text}\u{1b}[0m")
}

/// How many bytes of the answer are held back before they are written.
const HELD_MAX: usize = 1 << 16;

/// Where everything is written.
pub(crate) struct Printer {
    out: AutoStream<Stdout>,
    /// Lines of the answer that are not written yet.
    held: String,
    err: AutoStream<Stderr>,
    format: OutputFormat,
    quiet: bool,
    verbose: u8,
    progress: bool,
}

impl Printer {
    pub(crate) fn new(global: &Global) -> Self {
        let choice = match global.color {
            clap::ColorChoice::Auto => ColorChoice::Auto,
            clap::ColorChoice::Always => ColorChoice::Always,
            clap::ColorChoice::Never => ColorChoice::Never,
        };
        let format = global.format();
        Self {
            quiet: global.quiet,
            verbose: global.verbose,
            progress: !(global.quiet
                || global.no_progress
                || global.verbose > 1
                || format == OutputFormat::Json),
            ..Self::of(format, choice)
        }
    }

    /// Makes a printer where the arguments could not be read.
    pub(crate) fn plain(format: OutputFormat) -> Self {
        Self::of(format, ColorChoice::Auto)
    }

    fn of(format: OutputFormat, choice: ColorChoice) -> Self {
        let resolve = |auto| match choice {
            ColorChoice::Auto => auto,
            other => other,
        };
        let out = resolve(AutoStream::choice(&std::io::stdout()));
        let err = resolve(AutoStream::choice(&std::io::stderr()));
        Self {
            out: AutoStream::new(std::io::stdout(), out),
            held: String::new(),
            err: AutoStream::new(std::io::stderr(), err),
            format,
            quiet: false,
            verbose: 0,
            progress: false,
        }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.format == OutputFormat::Json
    }

    pub(crate) fn is_verbose(&self) -> bool {
        self.verbose > 0
    }

    pub(crate) fn shows_progress(&self) -> bool {
        self.progress
    }

    /// Writes a line of the answer.
    pub(crate) fn line(&mut self, text: &str) -> Result<(), CliError> {
        self.held.push_str(text);
        self.held.push('\n');
        if self.held.len() > HELD_MAX {
            return self.finish();
        }
        Ok(())
    }

    /// Writes a part of the answer, broken into lines of a readable length.
    pub(crate) fn wrapped(&mut self, indent: &str, text: &str) -> Result<(), CliError> {
        for line in columns::wrap(text, indent) {
            self.line(&line)?;
        }
        Ok(())
    }

    /// Writes text of the answer as it is.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), CliError> {
        if text.is_empty() {
            return Ok(());
        }
        self.line(text.strip_suffix('\n').unwrap_or(text))
    }

    /// Writes content, which is somebody else's: what would steer a terminal is made visible.
    pub(crate) fn content(&mut self, text: &str) -> Result<(), CliError> {
        self.text(&columns::tame(text))
    }

    /// Writes bytes of the answer as they are, with nothing added.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        self.finish()?;
        let mut out = std::io::stdout().lock();
        out.write_all(bytes)?;
        Ok(out.flush()?)
    }

    /// Writes the answer for programs.
    pub(crate) fn json<T: Serialize>(&mut self, report: &T) -> Result<(), CliError> {
        let text = serde_json::to_string_pretty(report).map_err(CliError::Json)?;
        self.line(&text)
    }

    /// Writes one of many answers for programs, on a line of its own.
    pub(crate) fn json_line<T: Serialize>(&mut self, row: &T) -> Result<(), CliError> {
        let text = serde_json::to_string(row).map_err(CliError::Json)?;
        self.line(&text)
    }

    /// Says something beside the answer; a stderr that is gone is no reason to stop.
    pub(crate) fn note(&mut self, text: &str) {
        if !self.quiet {
            for line in columns::wrap(text, "") {
                let _ = writeln!(self.err, "{line}");
            }
        }
    }

    /// Names a next step beside the answer.
    pub(crate) fn next(&mut self, text: &str) {
        if !self.is_json() {
            let text = format!("{} {text}", styled(Style::Hint, "next:"));
            self.note(&text);
        }
    }

    /// Warns of something that was done in another way than asked, or found on the way.
    pub(crate) fn warn(&mut self, text: &str) {
        let text = format!("{} {text}", styled(Style::Warning, "warning:"));
        self.note(&text);
    }

    /// Tells an error, and the next step where one is known.
    pub(crate) fn error(&mut self, error: &CliError) {
        if matches!(error, CliError::ClosedPipe) {
            return;
        }
        // What was answered before stands above the error.
        let _ = self.finish();
        let report = error.report();
        if self.is_json() {
            if let Ok(text) = serde_json::to_string(&report) {
                let _ = writeln!(self.err, "{text}");
            }
            return;
        }
        let _ = writeln!(
            self.err,
            "{} {}",
            styled(Style::Bad, "error:"),
            columns::tame(&report.message)
        );
        if let Some(hint) = report.hint {
            let _ = writeln!(self.err, "{} {hint}", styled(Style::Hint, "hint:"));
        }
    }

    /// Writes out what is still held back.
    pub(crate) fn finish(&mut self) -> Result<(), CliError> {
        let held = std::mem::take(&mut self.held);
        self.out.write_all(held.as_bytes())?;
        Ok(self.out.flush()?)
    }
}
