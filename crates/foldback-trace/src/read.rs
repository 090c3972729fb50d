//! Reading source files of a known format.
//!
//! A file of lines loses nothing to a damaged line: the line is kept and told as a finding, and the
//! others are read. A file that is one JSON value must be whole.

mod builder;
mod call;
mod chat;
mod claude;
pub(crate) mod json;
mod line;
mod same;
mod taubench;
mod time;

use crate::{Format, SourceConversation};

/// A file to read.
#[derive(Debug, Clone, Copy)]
pub struct SourceFile<'a> {
    /// Its name, for messages; for Claude Code its stem also tells the session.
    pub name: &'a str,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Whether it stands beside another file and belongs to it, such as a subagent's file.
    pub companion: bool,
}

/// Says why files cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// There is nothing in the file.
    #[error("`{file}` is empty: expected {expected}")]
    Empty {
        /// The file.
        file: String,
        /// What its format has.
        expected: &'static str,
    },
    /// The file is no text.
    #[error("`{file}` is not UTF-8 text at byte {at}")]
    NotText {
        /// The file.
        file: String,
        /// The first byte that does not fit.
        at: usize,
    },
    /// The file is one JSON value that is damaged or cut off.
    #[error("`{file}` is {} at line {line}, column {column}: expected {expected}",
        if *.cut { "cut off" } else { "not JSON" })]
    Json {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// Whether the file ends too early.
        cut: bool,
        /// What its format has.
        expected: &'static str,
        /// What the JSON reader saw.
        source: serde_json::Error,
    },
    /// A value is of another shape than its format has.
    #[error("`{file}` at `{path}`: expected {expected}")]
    Shape {
        /// The file.
        file: String,
        /// The JSON pointer of the value, or its line.
        path: String,
        /// What its format has there.
        expected: &'static str,
    },
}

/// Reads the conversations of files of one format.
///
/// Companions are read with the file they belong to; one that belongs to none of the others is a
/// conversation of its own.
///
/// # Errors
///
/// The error names the file, the place in it, and what was expected there. No file is half read:
/// one error, no conversation.
pub fn read(
    format: Format,
    files: &[SourceFile<'_>],
) -> Result<Vec<SourceConversation>, ReadError> {
    match format {
        Format::OpenAiChat => chat::read(files),
        Format::TauBench => taubench::read(files),
        Format::ClaudeCode => claude::read(files),
    }
}
