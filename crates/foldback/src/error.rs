//! Errors of the engine: each has a stable code, a page in docs/errors/ and, where we know one, a
//! next step.

use crate::attest::NoteError;
use foldback_assembly::AssembleError;
use foldback_assembly::policy::PolicyErrors;
use foldback_event::codec::{DecodeError, EncodeError};
use foldback_event::{BatchId, BranchId, CallId, ConversationId, Label, ParticipantId};
use foldback_graph::ResolveError;
use foldback_store::{AppendError, GetError, KeyError, OpenError, PutError, ReadError};
use foldback_trace::{DetectError, ReadError as SourceError};

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// There is no store in the folder.
    #[error("there is no store at `{}`", path.display())]
    NoStore {
        /// The folder.
        path: std::path::PathBuf,
    },
    /// An account's key cannot be had.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// Events cannot be appended.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// Events cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A payload cannot be sealed.
    #[error(transparent)]
    Put(#[from] PutError),
    /// A payload cannot be opened.
    #[error(transparent)]
    Get(#[from] GetError),
    /// An event's bytes are no event.
    #[error("event {version} of {conversation} (seq {seq}) cannot be decoded")]
    Decode {
        /// The conversation.
        conversation: ConversationId,
        /// The position in the conversation.
        version: u64,
        /// The position in the store.
        seq: u64,
        /// What is wrong with it.
        source: DecodeError,
    },
    /// An event cannot be written.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// A payload is larger than the limit.
    #[error("a payload of {bytes} bytes is over the limit of {max}")]
    PayloadTooLarge {
        /// Its size.
        bytes: u64,
        /// The limit.
        max: u64,
    },
    /// The conversation moved on since the caller looked.
    #[error("{conversation} stands at position {actual}, the command expected {expected}")]
    Conflict {
        /// The conversation.
        conversation: ConversationId,
        /// What the command expected.
        expected: u64,
        /// Where it stands.
        actual: u64,
    },
    /// The conversation does not exist.
    #[error("no conversation `{id}` is in this store")]
    UnknownConversation {
        /// What was asked for.
        id: String,
    },
    /// Several conversations start with the prefix.
    #[error("`{prefix}` is ambiguous: {}", candidates.join(", "))]
    AmbiguousConversation {
        /// What was given.
        prefix: String,
        /// Some that start with it.
        candidates: Vec<String>,
    },
    /// A conversation with this id exists already.
    #[error("{conversation} exists already")]
    ConversationExists {
        /// The conversation.
        conversation: ConversationId,
    },
    /// The conversation was erased; nothing more is written to it.
    #[error("{conversation} was erased, so nothing more is written to it")]
    ConversationErased {
        /// The conversation.
        conversation: ConversationId,
    },
    /// The position lies beyond the conversation's end.
    #[error("position {position} does not exist: {conversation} ends at {end}")]
    UnknownPosition {
        /// The conversation.
        conversation: ConversationId,
        /// What was asked for.
        position: u64,
        /// The last position.
        end: u64,
    },
    /// The branch does not exist.
    #[error("branch `{branch}` does not exist in this conversation")]
    UnknownBranch {
        /// The branch.
        branch: BranchId,
    },
    /// The participant does not take part.
    #[error("participant `{participant}` is not in this conversation")]
    UnknownParticipant {
        /// The participant.
        participant: ParticipantId,
    },
    /// A record that a command names does not exist.
    #[error("{what} `{id}` does not exist in this conversation")]
    UnknownRecord {
        /// What kind of record.
        what: &'static str,
        /// Its id.
        id: String,
    },
    /// The run has ended already.
    #[error("run `{run}` has ended already")]
    RunEnded {
        /// The run.
        run: String,
    },
    /// The call has a final outcome already.
    #[error("call `{call}` has its outcome already")]
    CallSettled {
        /// The call.
        call: CallId,
    },
    /// The call has no open outcome that could be resolved.
    #[error("call `{call}` is not pending or deferred")]
    CallNotOpen {
        /// The call.
        call: CallId,
    },
    /// The message is final already.
    #[error("message `{message}` is final already")]
    MessageFinal {
        /// The message.
        message: String,
    },
    /// The command's id was another command's.
    #[error("`{command}` was the id of another command")]
    CommandReused {
        /// The id.
        command: BatchId,
    },
    /// The command says nothing that could be recorded.
    #[error("{what}")]
    Meaningless {
        /// What it would have to say.
        what: &'static str,
    },
    /// A promotion would narrow what it should widen, or not change it.
    #[error("`{record}` is {from} already, so promoting it to {to} widens nothing")]
    NothingToPromote {
        /// The record.
        record: String,
        /// Its visibility.
        from: &'static str,
        /// What was asked for.
        to: &'static str,
    },
    /// An id prefix names nothing or too much.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// The context cannot be assembled.
    #[error(transparent)]
    Assemble(#[from] AssembleError),
    /// The policy document is not valid.
    #[error("the policy is not valid:\n{errors}")]
    Policy {
        /// Everything that is wrong with it.
        errors: PolicyErrors,
    },
    /// A recorded policy is not the document that its digest names.
    #[error("the document of policy `{name}` is not the one that was recorded")]
    PolicyChanged {
        /// The policy.
        name: Label,
    },
    /// The source's format is not known.
    #[error(transparent)]
    Detect(#[from] DetectError),
    /// The source cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A content cannot be read back from its bytes.
    #[error("the content of message at position {position} cannot be read")]
    Content {
        /// The position of the message.
        position: u64,
        /// What is wrong with it.
        source: foldback_trace::ContentError,
    },
    /// An attestation does not cover what it is to prove.
    #[error("the attestation cannot prove it: {text}")]
    NotAttested {
        /// Why.
        text: String,
    },
    /// An export could not be written.
    #[error("cannot write the export")]
    Export(#[source] std::io::Error),
    /// The store holds no conversation of the account.
    #[error("the store holds nothing of the account {account}")]
    UnknownAccount {
        /// The account.
        account: foldback_event::AccountId,
    },
    /// A record is on hold, so its content may not be erased.
    #[error("{record} is on hold, so nothing was erased")]
    OnHold {
        /// The record.
        record: String,
    },
    /// An attestation, or a key of attestations, does not read or does not hold.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// Something that cannot happen has happened.
    #[error("a bug in foldback: {what}")]
    Bug {
        /// What.
        what: &'static str,
    },
}

impl Error {
    /// Gives the stable code; docs/errors/ has a page for each.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Open(error) => open_code(error),
            Self::Key(_) => "FB0005",
            Self::NoStore { .. } => "FB0001",
            Self::Append(_) => "FB0006",
            Self::Read(_) | Self::Decode { .. } => "FB0007",
            Self::Put(_) => "FB0008",
            Self::Get(_) => "FB0009",
            Self::Encode(_) | Self::PayloadTooLarge { .. } => "FB0010",
            Self::Conflict { .. } => "FB0011",
            Self::UnknownConversation { .. }
            | Self::UnknownPosition { .. }
            | Self::UnknownBranch { .. }
            | Self::UnknownParticipant { .. }
            | Self::UnknownRecord { .. }
            | Self::UnknownAccount { .. } => "FB0012",
            Self::AmbiguousConversation { .. } | Self::Resolve(_) => "FB0013",
            Self::ConversationExists { .. } => "FB0014",
            Self::ConversationErased { .. } => "FB0015",
            Self::RunEnded { .. }
            | Self::CallSettled { .. }
            | Self::CallNotOpen { .. }
            | Self::MessageFinal { .. }
            | Self::CommandReused { .. }
            | Self::Meaningless { .. }
            | Self::NothingToPromote { .. } => "FB0016",
            Self::Assemble(_) => "FB0017",
            Self::Policy { .. } | Self::PolicyChanged { .. } => "FB0018",
            Self::Detect(_) => "FB0019",
            Self::Source(_) => "FB0020",
            Self::Content { .. } => "FB0021",
            Self::Note(_) | Self::NotAttested { .. } => "FB0022",
            Self::Export(_) => "FB0024",
            Self::OnHold { .. } => "FB0023",
            Self::Bug { .. } => "FB0099",
        }
    }

    /// Every code there is.
    pub const CODES: &'static [&'static str] = &[
        "FB0001", "FB0002", "FB0003", "FB0004", "FB0005", "FB0006", "FB0007", "FB0008", "FB0009",
        "FB0010", "FB0011", "FB0012", "FB0013", "FB0014", "FB0015", "FB0016", "FB0017", "FB0018",
        "FB0019", "FB0020", "FB0021", "FB0022", "FB0023", "FB0024", "FB0099",
    ];

    /// Gives a next step, where one is known.
    pub fn hint(&self) -> Option<String> {
        let hint =
            match self {
                Self::Open(OpenError::Locked { .. }) => {
                    "wait for the other process, or open the store read-only"
                }
                Self::Open(OpenError::TooNew { .. })
                | Self::Assemble(AssembleError::NotUnderstood) => "use a newer foldback",
                Self::NoStore { .. } => {
                    "`foldback import FILE` makes one; --store names another folder"
                }
                Self::Open(OpenError::Corrupt { .. }) => {
                    "nothing was changed; keep the folder, and restore the file from a copy"
                }
                Self::Append(AppendError::Unknown { .. } | AppendError::Poisoned) => {
                    "open the store again; what was acknowledged is there"
                }
                Self::Conflict { .. } => "look at the conversation again, and decide anew",
                Self::CommandReused { .. } => "give each command an id of its own",
                Self::AmbiguousConversation { .. }
                | Self::Resolve(ResolveError::Ambiguous { .. }) => "give more digits",
                Self::UnknownConversation { .. } => "`foldback conversations` lists them",
                Self::UnknownPosition { .. } => "`foldback log` lists the positions",
                Self::Assemble(AssembleError::BelowFloor { .. }) => {
                    "raise the budget; what recovery needs is never dropped"
                }
                _ => return None,
            };
        Some(hint.to_owned())
    }
}

const fn open_code(error: &OpenError) -> &'static str {
    match error {
        OpenError::Locked { .. } => "FB0002",
        OpenError::TooNew { .. } => "FB0003",
        OpenError::Corrupt { .. } => "FB0004",
        OpenError::BadKey { .. } | OpenError::NoMasterKey { .. } => "FB0005",
        _ => "FB0001",
    }
}
