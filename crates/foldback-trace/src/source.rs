//! The neutral model of what a source file holds, in the order of the file.
//!
//! **Invariants:**
//! - [`SourceConversation::key`] and [`SourceRecord::key`] stay the same when the same file is read
//!   again and when it has grown: the records of a shorter file are found in the longer one under
//!   the same keys.
//! - Indexes (`branch`, `participant`, a child's branch) always point into the conversation's own
//!   lists, and a branch stands before the first record that is on it.
//! - A [`SourceBody::Result`] that names a call comes after the [`SourceBody::CallRequested`] with
//!   that key, and a call has at most one result.
//! - [`SourceBody::RunStarted`] stands directly before the first record of its run: the point just
//!   before that model request.
//!
//! Ids here are texts of the source. Making them ids of the store is the importer's business.

use crate::Content;
use foldback_event::kind::{ParticipantKind, Usage};
use foldback_event::{CallStatus, Label, MediaType, MessageRole, Micros};
use std::fmt;

/// The formats that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// OpenAI Chat Completions: a message array, an object with `messages`, or one such object per
    /// line.
    OpenAiChat,
    /// tau-bench: an array of trajectories, or its few-shot rows.
    TauBench,
    /// A Claude Code session: JSON lines, or one object with `loglines`.
    ClaudeCode,
}

impl Format {
    /// All formats.
    pub const ALL: &'static [Self] = &[Self::OpenAiChat, Self::TauBench, Self::ClaudeCode];

    /// Gives the name used on screen, in JSON and in events.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::TauBench => "tau-bench",
            Self::ClaudeCode => "claude-code",
        }
    }

    /// Finds the format of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|format| format.name() == name)
    }

    /// Gives the name as a label of events.
    pub fn label(self) -> Label {
        Label::or_stand_in(self.name())
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One conversation of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceConversation {
    /// Its stable identity in the source.
    pub key: String,
    /// Its title in the source; else the first line that a person wrote.
    pub title: Option<String>,
    /// The format it was read from.
    pub format: Format,
    /// Who takes part; 0 is the person, 1 the model that answers.
    pub participants: Vec<SourceParticipant>,
    /// Its branches; 0 is the main one.
    pub branches: Vec<SourceBranch>,
    /// What happened, in the order of the file.
    pub records: Vec<SourceRecord>,
    /// What is odd.
    pub findings: Vec<SourceFinding>,
}

/// Somebody who takes part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceParticipant {
    /// Its stable identity in the conversation.
    pub key: String,
    /// What it is: a person, a model, or a child agent.
    pub kind: ParticipantKind,
    /// Its name, where the source has one.
    pub name: Option<String>,
    /// The first model it answered with, where the source says so.
    pub model: Option<String>,
}

/// One branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceBranch {
    /// Its stable identity in the conversation.
    pub key: String,
    /// The branch it leaves and the index of the last record that it inherits; none for the main
    /// branch and for a branch that inherits nothing.
    pub parent: Option<(usize, usize)>,
    /// Whether it is the work of a child agent.
    pub sidechain: bool,
    /// A title for people.
    pub title: Option<String>,
}

/// Where something stands in the files that were read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The index of the file among those given.
    pub file: usize,
    /// The line, or the item of the array, from 1.
    pub number: u64,
    /// The JSON pointer, for a file that is one JSON value.
    pub pointer: Option<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.pointer {
            Some(pointer) => f.pad(pointer),
            None => write!(f, "line {}", self.number),
        }
    }
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceRecord {
    /// Its stable identity, unique within the conversation.
    pub key: String,
    /// Where it stands.
    pub place: Place,
    /// The branch it is on.
    pub branch: usize,
    /// Who did it.
    pub participant: usize,
    /// When, where the source says so.
    pub at: Option<Micros>,
    /// What it is.
    pub body: SourceBody,
}

/// What a record is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceBody {
    /// Somebody said something.
    Message {
        /// In which role.
        role: MessageRole,
        /// What.
        content: Content,
        /// The run that generated it.
        run: Option<String>,
        /// Whether the client wrote it, and not the person or model in whose place it stands.
        client_generated: bool,
    },
    /// A model request was made just before this record.
    RunStarted {
        /// The run's key, unique within the conversation.
        run: String,
        /// The provider, where the source says so.
        provider: Option<String>,
        /// The model that answered, where the source says so.
        model: Option<String>,
    },
    /// The model's answer is complete, as far as this source goes.
    ///
    /// A file that was read while the answer was still being written gives another one later, under
    /// another record key, with what was used by then.
    RunFinished {
        /// The run's key.
        run: String,
        /// Why the model stopped, in the provider's word.
        finish_reason: Option<String>,
        /// What was used.
        usage: Option<Usage>,
        /// The model that answered.
        model: Option<String>,
    },
    /// A model asked for a tool.
    CallRequested {
        /// The run that asked.
        run: Option<String>,
        /// The call's key, unique within the conversation.
        call: String,
        /// The provider's id of the call, which may repeat.
        source_id: String,
        /// The tool's name, as the source has it.
        tool: String,
        /// The arguments, to the byte.
        arguments: Vec<u8>,
        /// What the arguments are: JSON, or text where they are malformed.
        media_type: MediaType,
    },
    /// A tool answered.
    Result {
        /// The key of the call; none for an orphan.
        call: Option<String>,
        /// The provider's id of the call.
        source_id: String,
        /// The tool's name, where known.
        tool: Option<String>,
        /// How the call went.
        status: CallStatus,
        /// Whether the source itself marks it as an error.
        is_error: bool,
        /// What the model was shown, to the byte.
        content: Vec<u8>,
        /// What the content is; [`MediaType::Parts`] is the byte form of [`Content`].
        media_type: MediaType,
        /// The structured result beside it, one JSON value, where it holds more than the content.
        ///
        /// It is exact but for long strings that stand in a message of the file as well: each is
        /// replaced by `{"$same":"<digest>","bytes":n}`, where the digest is BLAKE3 of the string in the domain of `structured`.
        structured: Option<Vec<u8>>,
        /// How long the tool ran, where the source says so.
        duration_ms: Option<u64>,
    },
    /// A child agent began.
    ChildStarted {
        /// The child's branch.
        child: usize,
        /// The child.
        participant: usize,
        /// The key of the call that started it, where it can be told.
        parent_call: Option<String>,
    },
    /// A child agent's report reached its parent; it stands directly before that result.
    ChildFinished {
        /// The child's branch.
        child: usize,
        /// The child.
        participant: usize,
        /// The key of the call that started it.
        parent_call: Option<String>,
        /// How it went.
        status: CallStatus,
    },
    /// Something that is no message, call or result, byte for byte.
    Kept {
        /// What it is, as a stable code.
        code: &'static str,
        /// Its bytes.
        bytes: Vec<u8>,
    },
}

/// Something odd in a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFinding {
    /// What, as a stable code.
    pub code: &'static str,
    /// Where.
    pub place: Place,
    /// What was seen, for people.
    pub detail: String,
}
