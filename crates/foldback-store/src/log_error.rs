//! What a log answers when it cannot do what was asked.

use crate::Partition;
use foldback_event::{BatchId, ConversationId};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Says why a batch was not appended, or that this is not known.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AppendError {
    /// The conversation is not where the caller thought.
    #[error("{conversation} is at version {actual}, not {expected}")]
    Conflict {
        /// The conversation.
        conversation: ConversationId,
        /// The version the caller named.
        expected: u64,
        /// The version it has.
        actual: u64,
    },
    /// It is not known whether the batch is stored: reopen the log and ask for the batch id.
    #[error("it is not known whether {batch} was stored: {what}")]
    Unknown {
        /// The batch.
        batch: BatchId,
        /// What could not be done.
        what: String,
        /// Why.
        #[source]
        source: Option<Arc<io::Error>>,
    },
    /// An earlier write or sync failed; nothing was written, and nothing will be until reopening.
    #[error("an earlier write failed, so the log takes nothing until it is opened again")]
    Poisoned,
    /// The batch holds no event.
    #[error("{batch} holds no event")]
    Empty {
        /// The batch.
        batch: BatchId,
    },
    /// A limit is passed.
    #[error("{what} of {batch} is {found}, the limit is {max}")]
    TooLarge {
        /// The batch.
        batch: BatchId,
        /// What is too large.
        what: &'static str,
        /// How large it is.
        found: u64,
        /// How large it may be.
        max: u64,
    },
    /// An event's hash does not continue the conversation's chain.
    #[error("the hash of version {version} of {conversation} does not continue its chain")]
    BadChain {
        /// The conversation.
        conversation: ConversationId,
        /// The version the event would have had.
        version: u64,
    },
    /// The batch id is stored with other events.
    #[error("{batch} is already stored in {conversation} with other events")]
    BatchReused {
        /// The conversation.
        conversation: ConversationId,
        /// The batch.
        batch: BatchId,
    },
    /// No new segment could be made, the disk being full perhaps; nothing of the batch was written
    /// and later appends are taken.
    #[error("cannot make the segment `{}` for {batch}, which was not stored", path.display())]
    NoSegment {
        /// The batch.
        batch: BatchId,
        /// The segment.
        path: PathBuf,
        /// Why.
        #[source]
        source: Arc<io::Error>,
    },
    /// The log was opened for reading.
    #[error("the log is open for reading only")]
    ReadOnly,
    /// The log was closed; the batch was not stored.
    #[error("the log is closed")]
    Closed,
}

/// Says why events could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The stored bytes are not what was written.
    #[error("`{}` is damaged at byte {offset}, seq {seq}: {what}", file.display())]
    Corrupt {
        /// The file.
        file: PathBuf,
        /// Where in it.
        offset: u64,
        /// The position in the store.
        seq: u64,
        /// What is wrong.
        what: String,
    },
    /// A version is missing.
    #[error("{conversation} has no version {version}, although it has later ones")]
    Gap {
        /// The conversation.
        conversation: ConversationId,
        /// The version that is missing.
        version: u64,
    },
    /// The log has no such partition.
    #[error("there is no partition {}", partition.0)]
    UnknownPartition {
        /// The partition.
        partition: Partition,
    },
    /// The file could not be read.
    #[error("cannot read `{}`", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}
