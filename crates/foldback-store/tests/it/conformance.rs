//! One suite for every log: what `EventLog` promises, held against each implementation.

use crate::fault::FaultStorage;
use crate::support::{append, batch, conversation, events, open, records};
use foldback_event::GENESIS;
use foldback_store::{AppendError, EventLog, Head, Log, MemoryLog, Partition, ReadError};
use std::sync::Arc;

fn logs() -> [(&'static str, Log); 2] {
    [
        ("memory", Log::Memory(MemoryLog::new())),
        ("file", Log::File(open(&FaultStorage::default()))),
    ]
}

macro_rules! suite {
    ($($name:ident)*) => {$(
        mod $name {
            #[tokio::test]
            async fn holds_for_every_log() {
                for (kind, log) in super::logs() {
                    super::$name(kind, log).await;
                }
            }
        }
    )*};
}

suite! {
    versions_are_dense_from_one
    a_wrong_version_is_a_conflict_that_tells_the_actual_one
    a_batch_again_is_answered_with_the_first_result
    a_batch_id_with_other_events_is_refused
    a_hash_that_does_not_continue_the_chain_is_refused
    limits_are_checked
    reading_is_bounded_and_ends_at_the_head
    a_partition_is_read_in_order_and_in_pages
    a_subscriber_sees_the_new_end
    the_same_batch_id_names_another_batch_elsewhere
}

async fn versions_are_dense_from_one(kind: &str, log: Log) {
    let of = conversation(1);
    assert_eq!(log.head(of).await.unwrap(), None, "{kind}");
    assert!(log.read(of, 1, 10).await.unwrap().is_empty());
    for (salt, count) in [(1, 3), (2, 1), (3, 5)] {
        append(&log, of, count, salt).await;
    }
    let read = log.read(of, 1, 100).await.unwrap();
    let versions: Vec<u64> = read.iter().map(|event| event.version).collect();
    assert_eq!(versions, (1..=9).collect::<Vec<u64>>(), "{kind}");
    let mut hash = GENESIS;
    for event in &read {
        hash = foldback_event::chain_hash(&hash, &event.record);
        assert_eq!((event.conversation, event.hash), (of, hash));
    }
    assert_eq!(log.head(of).await.unwrap(), Some(Head { version: 9, hash }));
    assert_eq!(log.conversations().await.unwrap(), vec![of]);
}

async fn a_wrong_version_is_a_conflict_that_tells_the_actual_one(kind: &str, log: Log) {
    let of = conversation(1);
    append(&log, of, 3, 1).await;
    for expected in [0, 2, 4] {
        let new = events(Head::EMPTY, 1, 7);
        let error = log.append(of, expected, batch(2), new).await.unwrap_err();
        assert!(
            matches!(error, AppendError::Conflict { actual: 3, expected: e, .. } if e == expected),
            "{kind}: {error:?}"
        );
    }
    assert_eq!(records(&log).await.len(), 3);
}

async fn a_batch_again_is_answered_with_the_first_result(kind: &str, log: Log) {
    let of = conversation(1);
    append(&log, of, 2, 1).await;
    let head = log.head(of).await.unwrap().unwrap();
    let new = events(head, 2, 2);
    let first = log.append(of, 2, batch(2), new.clone()).await.unwrap();
    append(&log, of, 1, 3).await;
    let again = log.append(of, 2, batch(2), new).await.unwrap();
    assert!(again.replayed && !first.replayed, "{kind}");
    assert_eq!(
        (
            again.first_seq,
            again.first_version,
            again.count,
            again.head
        ),
        (
            first.first_seq,
            first.first_version,
            first.count,
            first.head
        )
    );
    assert_eq!(log.batch(of, batch(2)).await.unwrap(), Some(again));
    assert_eq!(log.batch(of, batch(9)).await.unwrap(), None);
    assert_eq!(records(&log).await.len(), 5, "{kind}");
}

async fn a_batch_id_with_other_events_is_refused(kind: &str, log: Log) {
    let of = conversation(1);
    append(&log, of, 2, 1).await;
    for other in [events(Head::EMPTY, 2, 8), events(Head::EMPTY, 1, 1)] {
        let error = log.append(of, 0, batch(1), other).await.unwrap_err();
        assert!(matches!(error, AppendError::BatchReused { .. }), "{kind}");
    }
}

async fn a_hash_that_does_not_continue_the_chain_is_refused(kind: &str, log: Log) {
    let of = conversation(1);
    let mut new = events(Head::EMPTY, 3, 1);
    new[1].record.push(0);
    let error = log.append(of, 0, batch(1), new).await.unwrap_err();
    assert!(
        matches!(error, AppendError::BadChain { version: 2, .. }),
        "{kind}"
    );
    assert_eq!(log.head(of).await.unwrap(), None);
}

async fn limits_are_checked(kind: &str, log: Log) {
    let of = conversation(1);
    let error = log.append(of, 0, batch(1), Vec::new()).await.unwrap_err();
    assert!(matches!(error, AppendError::Empty { .. }), "{kind}");
    let mut new = events(Head::EMPTY, 1, 1);
    new[0].record = vec![0; foldback_event::limits::RECORD_BYTES_MAX + 1];
    let error = log.append(of, 0, batch(1), new).await.unwrap_err();
    assert!(matches!(error, AppendError::TooLarge { .. }), "{kind}");
}

async fn reading_is_bounded_and_ends_at_the_head(kind: &str, log: Log) {
    let of = conversation(1);
    append(&log, of, 10, 1).await;
    let versions = |from, limit| {
        let log = log.clone();
        async move {
            let read = log.read(of, from, limit).await.unwrap();
            read.iter().map(|event| event.version).collect::<Vec<_>>()
        }
    };
    assert_eq!(versions(4, 3).await, [4, 5, 6], "{kind}");
    assert_eq!(versions(0, 2).await, [1, 2]);
    assert_eq!(versions(9, 100).await, [9, 10]);
    assert!(versions(11, 100).await.is_empty());
    assert!(versions(u64::MAX, 1).await.is_empty());
    assert!(versions(1, 0).await.is_empty());
}

async fn a_partition_is_read_in_order_and_in_pages(kind: &str, log: Log) {
    for salt in 0..12 {
        let of = conversation(u8::try_from(salt % 3).unwrap());
        append(&log, of, 1 + salt % 4, salt).await;
    }
    let [partition] = log.partitions()[..] else {
        panic!("{kind} has one partition");
    };
    let mut seqs = Vec::new();
    let mut after = None;
    loop {
        let page = log.read_partition(partition, after, 7).await.unwrap();
        let Some(last) = page.last() else {
            break;
        };
        after = Some(last.position());
        seqs.extend(page.iter().map(|event| event.seq));
    }
    assert_eq!(seqs, (1..=30).collect::<Vec<u64>>(), "{kind}");
    let error = log.read_partition(Partition(7), None, 1).await.unwrap_err();
    assert!(matches!(error, ReadError::UnknownPartition { .. }));
    let all = log.conversations().await.unwrap();
    assert_eq!(all, [conversation(0), conversation(1), conversation(2)]);
}

async fn a_subscriber_sees_the_new_end(kind: &str, log: Log) {
    let mut seen = log.subscribe();
    assert_eq!(seen.borrow_and_update().position, None, "{kind}");
    append(&log, conversation(1), 2, 1).await;
    seen.changed().await.unwrap();
    let tip = *seen.borrow_and_update();
    let last = log.read(conversation(1), 2, 1).await.unwrap();
    assert_eq!(tip.position, Some(last[0].position()));
    assert!(!seen.has_changed().unwrap());
}

async fn the_same_batch_id_names_another_batch_elsewhere(kind: &str, log: Log) {
    append(&log, conversation(1), 2, 1).await;
    append(&log, conversation(2), 3, 1).await;
    let found = log.batch(conversation(2), batch(1)).await.unwrap().unwrap();
    assert_eq!((found.count, found.first_version), (3, 1), "{kind}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_tasks_on_many_conversations_and_on_one() {
    for (kind, log) in logs() {
        let shared = conversation(200);
        let tasks: Vec<_> = (0..8_u8)
            .map(|task| {
                let log = log.clone();
                tokio::spawn(async move {
                    for round in 0..15 {
                        let salt = u64::from(task) * 100 + round;
                        append(&log, conversation(task), 2, salt).await;
                        contend(&log, shared, 10_000 + salt).await;
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        let head = log.head(shared).await.unwrap().unwrap();
        assert_eq!(head.version, 120, "{kind}");
        assert_eq!(records(&log).await.len(), 8 * 15 * 3, "{kind}");
        let report = log.check();
        assert_eq!((report.events, report.conversations), (360, 9), "{kind}");
        assert_eq!(report.problems, [], "{kind}");
    }
}

/// Appends one event to a conversation that others append to as well.
async fn contend(log: &Log, of: foldback_event::ConversationId, salt: u64) {
    loop {
        let head = log.head(of).await.unwrap().unwrap_or(Head::EMPTY);
        let new = events(head, 1, salt);
        match log.append(of, head.version, batch(salt), new).await {
            Ok(_) => return,
            Err(AppendError::Conflict { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

#[tokio::test]
async fn what_waits_shares_one_sync() {
    let storage = FaultStorage::default();
    let log = Arc::new(open(&storage));
    append(&*log, conversation(1), 1, 1).await;
    let before = storage.syncs();
    storage.hold();
    let mut tasks = Vec::new();
    for n in 0..6_u8 {
        let log = Arc::clone(&log);
        tasks.push(tokio::spawn(async move {
            append(&*log, conversation(10 + n), 1, u64::from(n)).await;
        }));
        tokio::task::yield_now().await;
        if n == 0 {
            storage.wait_for_sync();
        }
    }
    storage.release();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(
        storage.syncs() - before,
        2,
        "the first, then the five that waited"
    );
    assert_eq!(records(&*log).await.len(), 7);
}

#[tokio::test]
async fn successive_appends_of_one_conversation_share_a_group() {
    let storage = FaultStorage::default();
    let log = open(&storage);
    append(&log, conversation(1), 1, 1).await;
    let of = conversation(2);
    let first = events(Head::EMPTY, 2, 2);
    let middle = Head {
        version: 2,
        hash: first[1].hash,
    };
    let second = events(middle, 1, 3);
    storage.hold();
    let held = log.clone();
    let opener = tokio::spawn(async move { append(&held, conversation(1), 1, 4).await });
    tokio::task::yield_now().await;
    storage.wait_for_sync();
    let (one, two, again, late) = tokio::join!(
        log.append(of, 0, batch(2), first.clone()),
        log.append(of, 2, batch(3), second),
        log.append(of, 0, batch(2), first),
        async {
            storage.release();
            log.append(of, 0, batch(4), events(Head::EMPTY, 1, 9)).await
        },
    );
    opener.await.unwrap();
    assert_eq!((one.unwrap().count, two.unwrap().first_version), (2, 3));
    assert!(again.unwrap().replayed);
    assert!(matches!(late, Err(AppendError::Conflict { actual: 3, .. })));
    drop(log);
    let log = open(&storage);
    assert_eq!(log.check().problems, []);
    assert_eq!(log.head(of).await.unwrap().unwrap().version, 3);
}
