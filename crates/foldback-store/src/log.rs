//! The event log as the engine sees it: what it promises, whatever holds the bytes.
//!
//! A log knows no event's meaning. It keeps records in conversations, each with dense versions
//! from 1 and a hash chain, and takes them in batches that are visible whole or not at all.
//! [`FileLog`] and [`MemoryLog`] keep the same promises; one conformance suite holds both to them.

use crate::{AppendError, Cache, FileLog, LogReport, MemoryLog, ReadError};
use foldback_event::limits::{BATCH_EVENTS_MAX, RECORD_BYTES_MAX};
use foldback_event::{BatchId, ConversationId, Digest, EventId, GENESIS, chain_hash};
use std::fmt;
use std::future::Future;
use tokio::sync::watch;

/// The most bytes of records that one batch may hold.
pub const BATCH_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// An event to append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// The event's own id.
    pub event_id: EventId,
    /// The encoded record.
    pub record: Vec<u8>,
    /// `chain_hash` of the hash before and the record. The log checks it against its own head.
    pub hash: Digest,
}

/// An event that the log holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    /// The position in the store.
    pub seq: u64,
    /// The conversation.
    pub conversation: ConversationId,
    /// The position in the conversation, from 1.
    pub version: u64,
    /// The event's own id.
    pub event_id: EventId,
    /// The chain hash up to and with this event.
    pub hash: Digest,
    /// The encoded record.
    pub record: Vec<u8>,
}

impl StoredEvent {
    /// Gives the position in its partition, for [`EventLog::read_partition`].
    pub fn position(&self) -> Position {
        Position(self.seq)
    }
}

/// Where a conversation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The version of the last event; 0 where there is none.
    pub version: u64,
    /// Its chain hash.
    pub hash: Digest,
}

impl Head {
    /// The head of a conversation that has no event yet.
    pub const EMPTY: Self = Self {
        version: 0,
        hash: GENESIS,
    };
}

/// A part of the log that has an order of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Partition(pub u32);

/// A place in one partition: opaque, and ordered within that partition only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position(pub(crate) u64);

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What became of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// The position in the store of the batch's first event.
    pub first_seq: u64,
    /// The version of the batch's first event.
    pub first_version: u64,
    /// How many events the batch has.
    pub count: u32,
    /// The conversation's head right after the batch.
    pub head: Head,
    /// Whether the batch was there already, so that this is the earlier result.
    pub replayed: bool,
}

/// What a subscriber is told: where the log ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tip {
    /// The position of the last visible event; `None` where there is none.
    pub position: Option<Position>,
}

/// What a log can do beyond the trait's promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// An acknowledged batch outlives the process and a loss of power.
    pub durable: bool,
    /// Appends are taken.
    pub writable: bool,
    /// Other processes can read while this one writes.
    pub shared_readers: bool,
}

/// An append-only log of events in conversations.
///
/// An implementer promises:
/// - a batch is visible whole or not at all, and once acknowledged it stays (as far as
///   [`Capabilities::durable`] says);
/// - versions are dense from 1 in each conversation, and each event's hash continues the chain;
/// - a batch id names one batch of its conversation forever: the same events again are answered
///   with the first result, other events are refused;
/// - what is read is what was appended, or an error;
/// - an append whose future is dropped may still be stored.
pub trait EventLog: Send + Sync {
    /// Appends a batch to a conversation that is at `expected_version` (0: it has no event yet).
    ///
    /// The batch id is looked up first, so a retry after success is no conflict.
    fn append(
        &self,
        conversation: ConversationId,
        expected_version: u64,
        batch_id: BatchId,
        events: Vec<NewEvent>,
    ) -> impl Future<Output = Result<Appended, AppendError>> + Send;

    /// Gives the head of a conversation; `None` where the log has no event of it.
    fn head(
        &self,
        conversation: ConversationId,
    ) -> impl Future<Output = Result<Option<Head>, ReadError>> + Send;

    /// Reads up to `limit` events of a conversation from `from_version` on, in order.
    ///
    /// Past the head, and in an unknown conversation, there is nothing. A gap is an error.
    fn read(
        &self,
        conversation: ConversationId,
        from_version: u64,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<StoredEvent>, ReadError>> + Send;

    /// Gives the result of a stored batch; `None` where the conversation has no such batch.
    fn batch(
        &self,
        conversation: ConversationId,
        batch_id: BatchId,
    ) -> impl Future<Output = Result<Option<Appended>, ReadError>> + Send;

    /// Gives all conversations, in the order of their ids.
    fn conversations(&self) -> impl Future<Output = Result<Vec<ConversationId>, ReadError>> + Send;

    /// Gives the partitions, in order.
    fn partitions(&self) -> Vec<Partition>;

    /// Reads up to `limit` events of a partition that stand after `after`, in the order of the
    /// partition.
    fn read_partition(
        &self,
        partition: Partition,
        after: Option<Position>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<StoredEvent>, ReadError>> + Send;

    /// Tells of every later end of the log; a slow subscriber sees the newest only.
    fn subscribe(&self) -> watch::Receiver<Tip>;

    /// Says what this log can do.
    fn capabilities(&self) -> Capabilities;
}

/// Checks the limits of a batch, which need no state.
pub(crate) fn check_limits(batch: BatchId, events: &[NewEvent]) -> Result<(), AppendError> {
    let over = |what, found, max| AppendError::TooLarge {
        batch,
        what,
        found,
        max,
    };
    if events.is_empty() {
        return Err(AppendError::Empty { batch });
    }
    let (count, count_max) = (
        crate::bytes::wide(events.len()),
        crate::bytes::wide(BATCH_EVENTS_MAX),
    );
    if count > count_max {
        return Err(over("the number of events", count, count_max));
    }
    let record_max = crate::bytes::wide(RECORD_BYTES_MAX);
    let mut total = 0;
    for event in events {
        let bytes = crate::bytes::wide(event.record.len());
        if bytes > record_max {
            return Err(over("the size of a record", bytes, record_max));
        }
        total += bytes;
    }
    if total > BATCH_BYTES_MAX {
        return Err(over("the size", total, BATCH_BYTES_MAX));
    }
    Ok(())
}

/// An append as a log judges it.
#[derive(Debug)]
pub(crate) struct Claim<'a> {
    pub(crate) conversation: ConversationId,
    pub(crate) expected_version: u64,
    pub(crate) batch_id: BatchId,
    pub(crate) events: &'a [NewEvent],
}

impl Claim<'_> {
    /// Judges an append against the stored batch of the same id, if any, and the head.
    ///
    /// The answer is the new head, or the earlier result.
    pub(crate) fn judge(
        &self,
        stored: Option<Appended>,
        head: Head,
    ) -> Result<Judgement, AppendError> {
        if let Some(stored) = stored {
            // The chain hash covers every record, so equal ends are equal batches.
            let last = self.events.last().map(|event| event.hash);
            let count = u32::try_from(self.events.len()).ok();
            return if last == Some(stored.head.hash) && count == Some(stored.count) {
                Ok(Judgement::Stored(Appended {
                    replayed: true,
                    ..stored
                }))
            } else {
                Err(AppendError::BatchReused {
                    conversation: self.conversation,
                    batch: self.batch_id,
                })
            };
        }
        if head.version != self.expected_version {
            return Err(AppendError::Conflict {
                conversation: self.conversation,
                expected: self.expected_version,
                actual: head.version,
            });
        }
        let mut next = head;
        for event in self.events {
            next.version += 1;
            if chain_hash(&next.hash, &event.record) != event.hash {
                return Err(AppendError::BadChain {
                    conversation: self.conversation,
                    version: next.version,
                });
            }
            next.hash = event.hash;
        }
        Ok(Judgement::New(next))
    }
}

/// What a log does with an append.
#[derive(Debug)]
pub(crate) enum Judgement {
    Stored(Appended),
    New(Head),
}

/// A log of either kind, so that the engine needs no type parameter.
#[derive(Debug, Clone)]
pub enum Log {
    /// Segments in files.
    File(FileLog),
    /// In memory.
    Memory(MemoryLog),
}

macro_rules! either {
    ($self:expr, $log:ident => $call:expr) => {
        match $self {
            Log::File($log) => $call,
            Log::Memory($log) => $call,
        }
    };
}

impl Log {
    /// Gives the number of events.
    pub fn count(&self) -> u64 {
        either!(self, log => log.count())
    }

    /// Checks the whole log; in memory that is the chain of every conversation.
    pub fn check(&self) -> LogReport {
        either!(self, log => log.check())
    }

    /// Gives the store's cache; a log in memory has one that keeps nothing.
    pub fn cache(&self) -> Cache {
        match self {
            Self::File(log) => log.cache(),
            Self::Memory(_) => Cache::off(),
        }
    }

    /// Closes the log, as [`FileLog::close`] says.
    pub async fn close(self) {
        if let Self::File(log) = self {
            log.close().await;
        }
    }
}

impl EventLog for Log {
    async fn append(
        &self,
        conversation: ConversationId,
        expected_version: u64,
        batch_id: BatchId,
        events: Vec<NewEvent>,
    ) -> Result<Appended, AppendError> {
        either!(self, log => log.append(conversation, expected_version, batch_id, events).await)
    }

    async fn head(&self, conversation: ConversationId) -> Result<Option<Head>, ReadError> {
        either!(self, log => log.head(conversation).await)
    }

    async fn read(
        &self,
        conversation: ConversationId,
        from_version: u64,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, ReadError> {
        either!(self, log => log.read(conversation, from_version, limit).await)
    }

    async fn batch(
        &self,
        conversation: ConversationId,
        batch_id: BatchId,
    ) -> Result<Option<Appended>, ReadError> {
        either!(self, log => log.batch(conversation, batch_id).await)
    }

    async fn conversations(&self) -> Result<Vec<ConversationId>, ReadError> {
        either!(self, log => log.conversations().await)
    }

    fn partitions(&self) -> Vec<Partition> {
        either!(self, log => log.partitions())
    }

    async fn read_partition(
        &self,
        partition: Partition,
        after: Option<Position>,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, ReadError> {
        either!(self, log => log.read_partition(partition, after, limit).await)
    }

    fn subscribe(&self) -> watch::Receiver<Tip> {
        either!(self, log => log.subscribe())
    }

    fn capabilities(&self) -> Capabilities {
        either!(self, log => log.capabilities())
    }
}
