//! What the tests share: ids, batches that continue a chain, and opening on a storage.

use crate::fault::FaultStorage;
use foldback_event::{BatchId, ConversationId, EventId, chain_hash};
use foldback_store::{EventLog, FileLog, Head, LogOptions, NewEvent, OpenError, RecoveryReport};
use std::path::Path;
use std::sync::Arc;

pub(crate) const DIR: &str = "/store";
pub(crate) const SEGMENT: u32 = 4096;

pub(crate) fn conversation(n: u8) -> ConversationId {
    ConversationId::from_bytes([n; 16])
}

pub(crate) fn batch(n: u64) -> BatchId {
    let mut bytes = [0xb0; 16];
    bytes[8..].copy_from_slice(&n.to_be_bytes());
    BatchId::from_bytes(bytes)
}

/// Makes `count` events that continue a chain; their records tell the version and `salt`.
pub(crate) fn events(head: Head, count: u64, salt: u64) -> Vec<NewEvent> {
    let mut hash = head.hash;
    (1..=count)
        .map(|n| {
            let version = head.version + n;
            let size = usize::try_from((version * 37 + salt * 11) % 90).unwrap();
            let mut record = format!("record {version} salt {salt} ").into_bytes();
            record.extend(std::iter::repeat_n(0xa5, size));
            hash = chain_hash(&hash, &record);
            let mut id = [0xe0; 16];
            id[8..].copy_from_slice(&(version * 1000 + salt).to_be_bytes());
            NewEvent {
                event_id: EventId::from_bytes(id),
                record,
                hash,
            }
        })
        .collect()
}

/// Appends a batch behind the conversation's head.
pub(crate) async fn append<L: EventLog>(log: &L, of: ConversationId, count: u64, salt: u64) {
    let head = log.head(of).await.unwrap().unwrap_or(Head::EMPTY);
    let new = events(head, count, salt);
    let done = log
        .append(of, head.version, batch(salt), new.clone())
        .await
        .unwrap();
    assert_eq!(done.head.version, head.version + count);
    assert_eq!(done.head.hash, new.last().unwrap().hash);
    assert!(!done.replayed);
}

/// Gives all records of the log, in order.
pub(crate) async fn records<L: EventLog>(log: &L) -> Vec<Vec<u8>> {
    let partition = log.partitions()[0];
    let all = log.read_partition(partition, None, usize::MAX).await;
    all.unwrap().into_iter().map(|event| event.record).collect()
}

pub(crate) fn options() -> LogOptions {
    LogOptions {
        segment_bytes: SEGMENT,
        cache: false,
        store: Some(foldback_event::StoreId::from_bytes([9; 16])),
        ..LogOptions::default()
    }
}

pub(crate) fn try_open(storage: &FaultStorage) -> Result<(FileLog, RecoveryReport), OpenError> {
    FileLog::open_on(Arc::new(storage.clone()), Path::new(DIR), options())
}

pub(crate) fn open(storage: &FaultStorage) -> FileLog {
    try_open(storage).unwrap().0
}
