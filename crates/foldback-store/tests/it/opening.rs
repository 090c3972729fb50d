//! Opening: what is a store, who may write, what a reader sees, and faults of the disk.

use crate::fault::FaultStorage;
use crate::support::{DIR, append, batch, conversation, events, open, options, records, try_open};
use foldback_store::{
    AppendError, EventLog, FORMAT, FileLog, Head, LogOptions, OpenError, Storage,
};
use std::path::Path;
use std::sync::Arc;

#[tokio::test]
async fn a_log_is_the_same_after_reopening() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store");
    let (log, report) = FileLog::open(&path, LogOptions::default()).unwrap();
    assert_eq!((report.events, report.segments), (0, 0));
    let store = log.store();
    for salt in 0..20 {
        append(&log, conversation(1), 3, salt).await;
    }
    let before = records(&log).await;
    log.close().await;
    let (log, report) = FileLog::open(&path, LogOptions::default()).unwrap();
    assert_eq!((report.events, report.segments, report.cut), (60, 1, None));
    assert_eq!((log.store(), log.count()), (store, 60));
    assert_eq!(records(&log).await, before);
    assert!(
        log.batch(conversation(1), batch(7))
            .await
            .unwrap()
            .is_some()
    );
    assert_eq!(log.check().problems, []);
    append(&log, conversation(1), 1, 99).await;
}

#[tokio::test]
async fn a_batch_larger_than_a_segment_gets_its_own() {
    let storage = FaultStorage::default();
    let log = open(&storage);
    append(&log, conversation(1), 1, 1).await;
    append(&log, conversation(1), 100, 2).await;
    append(&log, conversation(1), 1, 3).await;
    assert_eq!(log.check().problems, []);
    let before = records(&log).await;
    drop(log);
    let sizes: Vec<usize> = storage
        .ending(".seg")
        .iter()
        .map(|path| storage.bytes(path).len())
        .collect();
    assert!(sizes.len() > 1, "{sizes:?}");
    assert!(sizes[0] == 4096 && sizes[1] > 8192 && sizes[1].is_multiple_of(4096));
    assert_eq!(records(&open(&storage)).await, before);
}

#[test]
fn a_second_writer_is_told_at_once_and_names_the_lock() {
    let dir = tempfile::tempdir().unwrap();
    let (log, _) = FileLog::open(dir.path(), LogOptions::default()).unwrap();
    let error = FileLog::open(dir.path(), LogOptions::default()).unwrap_err();
    let lock = dir.path().join("LOCK");
    assert!(matches!(&error, OpenError::Locked { path } if *path == lock));
    assert!(error.to_string().contains(lock.to_str().unwrap()));
    drop(log);
    FileLog::open(dir.path(), LogOptions::default()).unwrap();
}

#[test]
fn a_directory_with_other_files_is_no_store_and_stays_as_it_is() {
    let storage = FaultStorage::default();
    storage.create_dir_all(Path::new(DIR)).unwrap();
    let other = Path::new(DIR).join("thesis.txt");
    storage
        .create(&other, foldback_store::Access::Shared)
        .unwrap();
    let error = try_open(&storage).unwrap_err();
    assert!(matches!(error, OpenError::NotAStore { .. }), "{error}");
    assert_eq!(storage.paths(), [other]);
    let empty = FaultStorage::default();
    let error = FileLog::open_read_only_on(Arc::new(empty), Path::new(DIR)).unwrap_err();
    assert!(matches!(error, OpenError::NotAStore { .. }), "{error}");
}

#[test]
fn a_store_of_a_later_format_is_refused() {
    let storage = FaultStorage::default();
    drop(open(&storage));
    let file = Path::new(DIR).join("STORE");
    let text = String::from_utf8(storage.bytes(&file)).unwrap();
    assert!(
        text.starts_with("foldback store\nformat 1\nid store_0909"),
        "{text}"
    );
    let later = text.replace("format 1", "format 7").into_bytes();
    storage.set(&file, later);
    let error = try_open(&storage).unwrap_err();
    assert!(
        matches!(
            error,
            OpenError::TooNew {
                found: 7,
                supported: FORMAT,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn every_flipped_byte_of_the_store_file_is_noticed() {
    let storage = FaultStorage::default();
    drop(open(&storage));
    let file = Path::new(DIR).join("STORE");
    for offset in 0..storage.bytes(&file).len() {
        let copy = storage.copy();
        copy.flip(&file, offset, 1);
        let error = try_open(&copy).unwrap_err();
        assert!(
            matches!(
                error,
                OpenError::BadStoreFile { .. } | OpenError::TooNew { .. }
            ),
            "{offset}: {error}"
        );
    }
}

#[tokio::test]
async fn a_reader_works_beside_the_writer() {
    let storage = FaultStorage::default();
    let log = open(&storage);
    append(&log, conversation(1), 2, 1).await;
    let (reader, report) =
        FileLog::open_read_only_on(Arc::new(storage.clone()), Path::new(DIR)).unwrap();
    assert_eq!(report.events, 2);
    let mut seen = reader.subscribe();
    for salt in 2..40 {
        append(&log, conversation(1), 2, salt).await;
    }
    assert_eq!(reader.count(), 2);
    reader.refresh().unwrap();
    assert!(seen.has_changed().unwrap());
    assert!(seen.borrow_and_update().position.is_some());
    assert_eq!(records(&reader).await, records(&log).await);
    let error = reader
        .append(conversation(1), 0, batch(1), events(Head::EMPTY, 1, 1))
        .await;
    assert!(matches!(error, Err(AppendError::ReadOnly)));
    assert!(!reader.capabilities().writable && log.capabilities().writable);
}

#[tokio::test]
async fn a_reader_takes_a_write_in_flight_for_nothing_and_leaves_it() {
    let storage = FaultStorage::default();
    let log = open(&storage);
    append(&log, conversation(1), 2, 1).await;
    drop(log);
    let segment = &storage.ending(".seg")[0];
    let mut bytes = storage.bytes(segment);
    let end = bytes.iter().rposition(|b| *b != 0).unwrap() + 1;
    bytes.copy_within(..40, end);
    storage.set(segment, bytes.clone());
    let (reader, report) =
        FileLog::open_read_only_on(Arc::new(storage.clone()), Path::new(DIR)).unwrap();
    assert_eq!((reader.count(), report.cut), (2, None));
    assert_eq!(storage.bytes(segment), bytes);
}

#[tokio::test]
async fn a_failed_sync_poisons_the_log_until_it_is_reopened() {
    let storage = FaultStorage::default();
    let log = open(&storage);
    append(&log, conversation(1), 2, 1).await;
    storage.fail_syncs(true);
    let head = log.head(conversation(1)).await.unwrap().unwrap();
    let new = events(head, 1, 2);
    let error = log.append(conversation(1), 2, batch(2), new.clone()).await;
    assert!(matches!(error, Err(AppendError::Unknown { batch: b, .. }) if b == batch(2)));
    storage.fail_syncs(false);
    let error = log.append(conversation(1), 2, batch(2), new.clone()).await;
    assert!(matches!(error, Err(AppendError::Poisoned)), "no second try");
    assert_eq!(records(&log).await.len(), 2, "reading goes on");
    drop(log);
    let log = open(&storage);
    // The bytes had reached the file, so the batch id settles it.
    assert!(
        log.batch(conversation(1), batch(2))
            .await
            .unwrap()
            .is_some()
    );
    let again = log.append(conversation(1), 2, batch(2), new).await.unwrap();
    assert!(again.replayed);
}

#[tokio::test]
async fn a_full_disk_is_one_clear_error_and_loses_nothing() {
    let storage = FaultStorage::default();
    let log = open(&storage);
    append(&log, conversation(1), 2, 1).await;
    storage.free(Some(3000));
    let mut stored = 2;
    let error = loop {
        let head = log.head(conversation(1)).await.unwrap().unwrap();
        let new = events(head, 2, head.version + 50);
        let id = batch(head.version + 50);
        match log.append(conversation(1), head.version, id, new).await {
            Ok(_) => stored += 2,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, AppendError::NoSegment { .. }), "{error}");
    assert!(stored > 10);
    assert_eq!(records(&log).await.len(), stored);
    storage.free(None);
    append(&log, conversation(1), 2, 5000).await;
    drop(log);
    let log = open(&storage);
    assert_eq!(records(&log).await.len(), stored + 2);
    assert_eq!(log.check().problems, []);
    assert!(storage.ending(".tmp").is_empty());
}

#[tokio::test]
async fn a_closed_log_refuses_appends_and_gives_the_lock_back() {
    let storage = FaultStorage::default();
    let log = open(&storage);
    append(&log, conversation(1), 1, 1).await;
    let other = log.clone();
    log.close().await;
    let head = other.head(conversation(1)).await.unwrap().unwrap();
    let error = other
        .append(conversation(1), 1, batch(2), events(head, 1, 2))
        .await;
    assert!(matches!(error, Err(AppendError::Closed)));
    let (again, _) =
        FileLog::open_on(Arc::new(storage.clone()), Path::new(DIR), options()).unwrap();
    append(&again, conversation(1), 1, 2).await;
}
