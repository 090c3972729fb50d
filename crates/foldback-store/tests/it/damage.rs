//! Damage: every flipped byte and every cut is found, and never mistaken for a shorter history.

use crate::fault::FaultStorage;
use crate::support::{DIR, append, conversation, open, records, try_open};
use foldback_store::{EventLog, OpenError, ReadError};
use std::path::{Path, PathBuf};

async fn small_log() -> FaultStorage {
    let storage = FaultStorage::default();
    let log = open(&storage);
    for salt in 0..9 {
        let of = conversation(u8::try_from(salt % 2).unwrap());
        append(&log, of, 1 + salt % 4, salt).await;
    }
    drop(log);
    assert_eq!(storage.ending(".seg").len(), 2);
    storage
}

fn mark() -> PathBuf {
    Path::new(DIR).join("log/synced")
}

fn used(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1
}

#[tokio::test]
async fn every_flipped_byte_is_found_at_open() {
    let storage = small_log().await;
    for segment in storage.ending(".seg") {
        for offset in 0..used(&storage.bytes(&segment)) {
            let copy = storage.copy();
            copy.flip(&segment, offset, 1 << (offset % 8));
            let before: Vec<Vec<u8>> = copy.paths().iter().map(|path| copy.bytes(path)).collect();
            match try_open(&copy) {
                Err(OpenError::Corrupt {
                    file, offset: at, ..
                }) => {
                    assert_eq!(file, segment);
                    // No frame of this log has 256 bytes: the very frame is named.
                    let at = usize::try_from(at).unwrap();
                    assert!(at <= offset && offset - at < 256, "{at} for {offset}");
                }
                other => panic!("{segment:?} {offset}: {other:?}"),
            }
            let after: Vec<Vec<u8>> = copy.paths().iter().map(|path| copy.bytes(path)).collect();
            assert_eq!(before, after, "nothing is changed");
        }
    }
}

#[tokio::test]
async fn without_the_mark_a_flipped_byte_of_the_last_write_is_cut_and_told() {
    let storage = small_log().await;
    storage.delete(&mark());
    let total = records(&open(&storage.copy())).await;
    let segments = storage.ending(".seg");
    let (mut cuts, mut stops) = (0, 0);
    for segment in &segments {
        for offset in (0..used(&storage.bytes(segment))).step_by(3) {
            let copy = storage.copy();
            copy.flip(segment, offset, 0x80);
            match try_open(&copy) {
                Err(OpenError::Corrupt { file, .. }) => {
                    assert_eq!(file, *segment);
                    stops += 1;
                }
                Ok((log, report)) => {
                    let cut = report.cut.unwrap();
                    assert_eq!(cut.file, segments[1], "only the very end");
                    let rest = records(&log).await;
                    // The last write held one event; all before it is known to have been synced.
                    assert_eq!(rest.len(), total.len() - 1, "{offset}");
                    assert_eq!(rest[..], total[..rest.len()]);
                    let kept = copy.bytes(&cut.kept);
                    let start = usize::try_from(cut.offset).unwrap();
                    let mut bytes = storage.bytes(segment);
                    bytes[offset] ^= 0x80;
                    assert_eq!(kept, bytes[start..start + kept.len()]);
                    cuts += 1;
                }
                Err(other) => panic!("{offset}: {other}"),
            }
        }
    }
    assert!(cuts > 20 && stops > 100, "{cuts} {stops}");
}

#[tokio::test]
async fn every_flipped_byte_is_found_by_check_and_never_served() {
    let storage = small_log().await;
    let log = open(&storage);
    let whole = records(&log).await;
    assert_eq!(log.check().problems, []);
    for segment in storage.ending(".seg") {
        let good = storage.bytes(&segment);
        for offset in 0..used(&good) {
            storage.flip(&segment, offset, 0x10);
            let report = log.check();
            let first = report.problems.first();
            let first = first.unwrap_or_else(|| panic!("{offset} is not found"));
            assert_eq!(first.file, segment);
            assert!(usize::try_from(first.offset).unwrap() <= offset);
            for partition in log.partitions() {
                match log.read_partition(partition, None, usize::MAX).await {
                    Ok(events) => {
                        let served: Vec<_> = events.into_iter().map(|e| e.record).collect();
                        assert_eq!(served, whole, "{offset}");
                    }
                    Err(ReadError::Corrupt { file, .. }) => assert_eq!(file, segment),
                    Err(other) => panic!("{other}"),
                }
            }
            storage.set(&segment, good.clone());
        }
    }
}

#[tokio::test]
async fn check_goes_on_behind_damage() {
    let storage = small_log().await;
    let log = open(&storage);
    let segment = &storage.ending(".seg")[0];
    storage.flip(segment, 30, 1);
    storage.flip(&storage.ending(".seg")[1], 30, 1);
    let report = log.check();
    assert_eq!(report.problems.len(), 2, "{report:?}");
    assert!(report.events > 10 && report.events < log.count());
    assert_eq!(report.problems[0].seq, 1);
}

#[tokio::test]
async fn a_cut_at_every_length_is_a_prefix_or_an_error() {
    let storage = small_log().await;
    let total = records(&open(&storage.copy())).await;
    let segment = &storage.ending(".seg")[1];
    let bytes = storage.bytes(segment);
    for length in 0..used(&bytes) {
        let mut zeroed = bytes[..length].to_vec();
        zeroed.resize(bytes.len(), 0);
        for tail in [bytes[..length].to_vec(), zeroed] {
            let marked = storage.copy();
            marked.set(segment, tail.clone());
            let error = try_open(&marked).unwrap_err();
            assert!(
                matches!(error, OpenError::Corrupt { .. }),
                "{length}: {error}"
            );
            let copy = storage.copy();
            copy.delete(&mark());
            copy.set(segment, tail);
            let (log, _) = try_open(&copy).unwrap_or_else(|error| panic!("{length}: {error}"));
            let rest = records(&log).await;
            assert!(rest.len() < total.len());
            assert_eq!(rest[..], total[..rest.len()], "{length}");
            append(&log, conversation(9), 1, 500).await;
            drop(log);
            assert_eq!(records(&open(&copy)).await.len(), rest.len() + 1);
        }
    }
}

#[tokio::test]
async fn a_missing_or_foreign_segment_stops_the_open() {
    let storage = small_log().await;
    let segments = storage.ending(".seg");
    for (number, missing) in segments.iter().enumerate() {
        let copy = storage.copy();
        copy.delete(missing);
        let error = try_open(&copy).unwrap_err();
        assert!(
            matches!(error, OpenError::Corrupt { .. }),
            "{number}: {error}"
        );
    }
    let foreign = FaultStorage::default();
    let mut options = crate::support::options();
    options.store = Some(foldback_event::StoreId::from_bytes([8; 16]));
    let (log, _) = foldback_store::FileLog::open_on(
        std::sync::Arc::new(foreign.clone()),
        Path::new(DIR),
        options,
    )
    .unwrap();
    append(&log, conversation(0), 1, 0).await;
    drop(log);
    let copy = storage.copy();
    copy.set(&segments[0], foreign.bytes(&foreign.ending(".seg")[0]));
    let error = try_open(&copy).unwrap_err();
    assert!(matches!(error, OpenError::Corrupt { .. }), "{error}");
    assert!(error.to_string().contains("digest"), "{error}");
}

#[tokio::test]
async fn an_unreadable_mark_is_told_and_written_again() {
    let storage = small_log().await;
    storage.flip(&mark(), 9, 1);
    let (log, report) = try_open(&storage).unwrap();
    assert!(report.bad_mark);
    append(&log, conversation(1), 1, 70).await;
    drop(log);
    let (_, report) = try_open(&storage).unwrap();
    assert!(!report.bad_mark);
}
