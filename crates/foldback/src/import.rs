//! Importing: source conversations become events under ids that their source determines.
//!
//! Every event's id is a UUIDv5 of the conversation and the record's stable key, so the same file
//! twice adds nothing and a grown file adds only what is new.
//! Nothing in a source is lost: what is not understood is kept byte for byte, and what is odd is
//! recorded as a finding.

mod body;
mod conversation;
mod importer;

use crate::Engine;
use crate::error::Error;
use foldback_event::{AccountId, ConversationId, Privacy, Visibility};
use foldback_trace::{Format, SourceConversation, SourceFile, detect, read};
use importer::Importer;
use std::collections::BTreeMap;

/// How imported records are classified, and where they go.
///
/// A transcript does not say how private it is. The defaults are [`Privacy::Internal`] and
/// [`Visibility::Branch`]; what a child agent did is private to the child in any case.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// The account whose key seals the payloads; the engine's own if none is given.
    pub account: Option<AccountId>,
    /// How sensitive imported records are.
    pub privacy: Privacy,
    /// Who may see them.
    pub visibility: Visibility,
    /// The format, where it is not to be detected.
    pub format: Option<Format>,
    /// Whether results keep the stated class, whatever they hold; else [`crate::classify`] raises it.
    pub as_stated: bool,
    /// How many conversations of one source are joined into a long one, to measure what becomes of
    /// long ones; 0 and 1 leave each as it is.
    pub join: usize,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self {
            account: None,
            privacy: Privacy::Internal,
            visibility: Visibility::Branch,
            format: None,
            as_stated: false,
            join: 0,
        }
    }
}

/// What importing one conversation did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedConversation {
    /// The conversation.
    pub id: ConversationId,
    /// Its title.
    pub title: Option<String>,
    /// How many events were added.
    pub events: u64,
    /// How many messages the source holds.
    pub messages: u64,
    /// How many tool calls the source holds.
    pub tool_calls: u64,
    /// How many artifacts were captured from it, now or before.
    pub artifacts: u64,
    /// How many memories were derived from it, now or before.
    pub memories: u64,
    /// What was odd, by code.
    pub findings: BTreeMap<String, u64>,
    /// How many source records were in the store already.
    pub already_present: u64,
}

impl Engine {
    /// Imports one source with the files that belong to it, and gives a line per conversation.
    ///
    /// # Errors
    ///
    /// [`Error`] if the format is not known, the source cannot be read, or it cannot be written;
    /// what was written before an error is whole, and importing again completes it.
    pub async fn import(
        &self,
        files: &[SourceFile<'_>],
        options: &ImportOptions,
        mut progress: impl FnMut(&ImportedConversation),
    ) -> Result<Vec<ImportedConversation>, Error> {
        let format = match (options.format, files.first()) {
            (Some(format), _) => format,
            (None, Some(file)) => detect(file.bytes, file.name)?,
            (None, None) => return Ok(Vec::new()),
        };
        let digest = foldback_event::Digest::of(
            "foldback 2026 source file v1",
            files.first().map_or(&[][..], |file| file.bytes),
        );
        let bytes = files.first().map_or(0, |file| file.bytes.len() as u64);
        let mut out = Vec::new();
        let sources = SourceConversation::join(read(format, files)?, options.join);
        for source in sources {
            let importer = Importer::new(self, options, &source);
            let row = importer.write((digest, bytes)).await?;
            progress(&row);
            out.push(row);
        }
        Ok(out)
    }
}
