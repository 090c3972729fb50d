//! The log in memory: the promises of [`EventLog`] without a disk, for tests and for runtimes
//! that keep nothing.

use crate::bytes::{index, wide};
use crate::log::{Claim, Judgement, check_limits};
use crate::{
    AppendError, Appended, Capabilities, EventLog, Head, LogProblem, LogReport, NewEvent,
    Partition, Position, ReadError, StoredEvent, Tip,
};
use foldback_event::{BatchId, ConversationId, GENESIS, chain_hash};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// A log in memory; clones share it.
#[derive(Debug, Clone)]
pub struct MemoryLog {
    state: Arc<Mutex<State>>,
    tip: watch::Sender<Tip>,
}

#[derive(Debug, Default)]
struct State {
    events: Vec<StoredEvent>,
    streams: BTreeMap<ConversationId, Stream>,
    batches: BTreeMap<(ConversationId, BatchId), Appended>,
}

#[derive(Debug)]
struct Stream {
    head: Head,
    // INVARIANT: the event of version `n` is `events[places[n - 1]]`.
    places: Vec<usize>,
}

impl Default for MemoryLog {
    fn default() -> Self {
        Self {
            state: Arc::default(),
            tip: watch::Sender::new(Tip::default()),
        }
    }
}

impl MemoryLog {
    /// Makes an empty log.
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks the hash chain of every conversation.
    pub fn check(&self) -> LogReport {
        let state = self.state();
        let mut report = LogReport {
            events: wide(state.events.len()),
            batches: wide(state.batches.len()),
            conversations: wide(state.streams.len()),
            ..LogReport::default()
        };
        let mut heads = BTreeMap::new();
        for event in &state.events {
            let before = heads.get(&event.conversation).copied().unwrap_or(GENESIS);
            if chain_hash(&before, &event.record) != event.hash {
                report.problems.push(LogProblem {
                    file: PathBuf::new(),
                    offset: 0,
                    seq: event.seq,
                    what: "the hash does not continue its chain".to_owned(),
                });
            }
            heads.insert(event.conversation, event.hash);
        }
        report
    }

    /// Gives the number of events.
    pub fn count(&self) -> u64 {
        wide(self.state().events.len())
    }
}

impl EventLog for MemoryLog {
    async fn append(
        &self,
        conversation: ConversationId,
        expected_version: u64,
        batch_id: BatchId,
        events: Vec<NewEvent>,
    ) -> Result<Appended, AppendError> {
        check_limits(batch_id, &events)?;
        let mut guard = self.state();
        let state = &mut *guard;
        let stored = state.batches.get(&(conversation, batch_id)).copied();
        let head = state
            .streams
            .get(&conversation)
            .map_or(Head::EMPTY, |stream| stream.head);
        let claim = Claim {
            conversation,
            expected_version,
            batch_id,
            events: &events,
        };
        let next = match claim.judge(stored, head)? {
            Judgement::Stored(appended) => return Ok(appended),
            Judgement::New(next) => next,
        };
        let appended = Appended {
            first_seq: wide(state.events.len()) + 1,
            first_version: head.version + 1,
            count: u32::try_from(events.len()).unwrap_or(u32::MAX),
            head: next,
            replayed: false,
        };
        let stream = state.streams.entry(conversation).or_insert(Stream {
            head,
            places: Vec::new(),
        });
        for event in events {
            stream.places.push(state.events.len());
            state.events.push(StoredEvent {
                seq: wide(state.events.len()) + 1,
                conversation,
                version: wide(stream.places.len()),
                event_id: event.event_id,
                hash: event.hash,
                record: event.record,
            });
        }
        stream.head = next;
        state.batches.insert((conversation, batch_id), appended);
        let position = state.events.last().map(StoredEvent::position);
        drop(guard);
        self.tip.send_replace(Tip { position });
        Ok(appended)
    }

    async fn head(&self, conversation: ConversationId) -> Result<Option<Head>, ReadError> {
        let state = self.state();
        Ok(state.streams.get(&conversation).map(|stream| stream.head))
    }

    async fn read(
        &self,
        conversation: ConversationId,
        from_version: u64,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, ReadError> {
        let state = self.state();
        let Some(stream) = state.streams.get(&conversation) else {
            return Ok(Vec::new());
        };
        let from = index(from_version.max(1) - 1);
        let places = stream.places.iter().skip(from).take(limit);
        Ok(places
            .filter_map(|place| state.events.get(*place).cloned())
            .collect())
    }

    async fn batch(
        &self,
        conversation: ConversationId,
        batch_id: BatchId,
    ) -> Result<Option<Appended>, ReadError> {
        let stored = self.state().batches.get(&(conversation, batch_id)).copied();
        Ok(stored.map(|appended| Appended {
            replayed: true,
            ..appended
        }))
    }

    async fn conversations(&self) -> Result<Vec<ConversationId>, ReadError> {
        Ok(self.state().streams.keys().copied().collect())
    }

    fn partitions(&self) -> Vec<Partition> {
        vec![Partition(0)]
    }

    async fn read_partition(
        &self,
        partition: Partition,
        after: Option<Position>,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, ReadError> {
        if partition != Partition(0) {
            return Err(ReadError::UnknownPartition { partition });
        }
        let from = index(after.map_or(0, |position| position.0));
        let state = self.state();
        Ok(state
            .events
            .iter()
            .skip(from)
            .take(limit)
            .cloned()
            .collect())
    }

    fn subscribe(&self) -> watch::Receiver<Tip> {
        self.tip.subscribe()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            durable: false,
            writable: true,
            shared_readers: false,
        }
    }
}
