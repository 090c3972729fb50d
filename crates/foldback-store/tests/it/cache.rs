//! The cache may be missing, another store's, garbage or in use: no answer changes.

use crate::support::{append, conversation, records};
use foldback_event::StoreId;
use foldback_store::{Cache, CacheUse, EventLog, FileLog, LogOptions, RecoveryReport};
use std::path::Path;

fn open(dir: &Path) -> (FileLog, RecoveryReport) {
    let options = LogOptions {
        segment_bytes: 4096,
        ..LogOptions::default()
    };
    FileLog::open(dir, options).unwrap()
}

async fn store(dir: &Path, salts: std::ops::Range<u64>) {
    let (log, _) = open(dir);
    for salt in salts {
        append(&log, conversation(1), 2, salt).await;
    }
    log.close().await;
}

#[tokio::test]
async fn the_index_is_used_and_the_tail_behind_it_is_read() {
    let dir = tempfile::tempdir().unwrap();
    store(dir.path(), 0..30).await;
    let (log, report) = open(dir.path());
    // The last segment is read and checked whatever the cache knows of it.
    assert_eq!(report.cache, CacheUse::Used { events: 54 });
    assert_eq!(log.check().problems, []);
    let before = records(&log).await;
    log.close().await;
    // Written without the cache, so that its index ends before the log does.
    let options = LogOptions {
        cache: false,
        segment_bytes: 4096,
        ..LogOptions::default()
    };
    let (log, _) = FileLog::open(dir.path(), options).unwrap();
    for salt in 30..60 {
        append(&log, conversation(1), 2, salt).await;
    }
    drop(log);
    let (log, report) = open(dir.path());
    assert_eq!(report.cache, CacheUse::Used { events: 60 });
    let after = records(&log).await;
    assert_eq!((after.len(), &after[..60]), (120, &before[..]));
    assert!(
        log.batch(conversation(1), crate::support::batch(45))
            .await
            .unwrap()
            .is_some()
    );
    drop(log);
    assert_eq!(open(dir.path()).1.cache, CacheUse::Used { events: 108 });
}

#[tokio::test]
async fn nothing_is_appended_behind_damage_that_the_cache_would_hide() {
    let dir = tempfile::tempdir().unwrap();
    store(dir.path(), 0..30).await;
    let log = dir.path().join("log");
    let mut segments: Vec<_> = std::fs::read_dir(&log)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "seg"))
        .collect();
    segments.sort();
    let last = segments.last().unwrap();
    let mut bytes = std::fs::read(last).unwrap();
    bytes[100] ^= 1;
    std::fs::write(last, bytes).unwrap();
    let error = FileLog::open(dir.path(), LogOptions::default()).unwrap_err();
    assert!(
        matches!(&error, foldback_store::OpenError::Corrupt { file, .. } if file == last),
        "{error}"
    );
}

#[tokio::test]
async fn a_deleted_or_garbage_cache_changes_no_answer() {
    let dir = tempfile::tempdir().unwrap();
    store(dir.path(), 0..20).await;
    let cache = dir.path().join("cache");
    let (log, _) = open(dir.path());
    let before = records(&log).await;
    drop(log);
    std::fs::remove_dir_all(&cache).unwrap();
    let (log, report) = open(dir.path());
    assert_eq!(report.cache, CacheUse::Used { events: 0 });
    assert_eq!(records(&log).await, before);
    drop(log);
    for name in ["sled/db", "sled/conf"] {
        std::fs::write(cache.join(name), vec![0x5a; 5000]).unwrap();
        let (log, report) = open(dir.path());
        assert_eq!(report.events, 40, "{name}");
        assert_eq!(records(&log).await, before, "{name}");
        append(&log, conversation(2), 1, 7).await;
        let mut again = before.clone();
        again.push(records(&log).await.pop().unwrap());
        drop(log);
        let (log, report) = open(dir.path());
        assert_eq!(report.cache, CacheUse::Used { events: 36 }, "{name}");
        assert_eq!(records(&log).await, again);
        drop(log);
        std::fs::remove_dir_all(dir.path()).unwrap();
        store(dir.path(), 0..20).await;
    }
    std::fs::remove_dir_all(&cache).unwrap();
    std::fs::write(&cache, b"a file where the cache should be").unwrap();
    assert_eq!(records(&open(dir.path()).0).await, before);
}

#[tokio::test]
async fn the_cache_of_another_store_or_another_history_is_dropped() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    store(one.path(), 0..20).await;
    store(two.path(), 100..130).await;
    let swap = |from: &Path, to: &Path| {
        let _ = std::fs::remove_dir_all(to.join("cache"));
        std::fs::rename(from.join("cache"), to.join("cache")).unwrap();
    };
    swap(two.path(), one.path());
    let (log, report) = open(one.path());
    assert!(matches!(&report.cache, CacheUse::Rebuilt { why } if why.contains("another store")));
    assert_eq!(log.count(), 40);
    log.cache().put("graph", b"key", b"value");
    assert_eq!(log.cache().get("graph", b"key").unwrap(), b"value");
    drop(log);
    // The same store, restored from before: the cache knows batches that the log has not.
    let old = tempfile::tempdir().unwrap();
    copy(&one.path().join("log"), &old.path().join("log"));
    store(one.path(), 20..40).await;
    std::fs::remove_dir_all(one.path().join("log")).unwrap();
    copy(&old.path().join("log"), &one.path().join("log"));
    let (log, report) = open(one.path());
    assert!(
        matches!(report.cache, CacheUse::Rebuilt { .. }),
        "{report:?}"
    );
    assert_eq!(log.count(), 40);
    assert_eq!(
        log.cache().get("graph", b"key"),
        None,
        "it belonged to the other history"
    );
    append(&log, conversation(1), 1, 77).await;
    assert_eq!(log.check().problems, []);
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[test]
fn values_are_kept_per_tree_and_can_be_removed() {
    let dir = tempfile::tempdir().unwrap();
    let store = StoreId::from_bytes([1; 16]);
    let (cache, why) = Cache::open(dir.path(), store);
    assert_eq!(why, None);
    cache.put("one", b"key", b"first");
    cache.put("two", b"key", b"second");
    assert_eq!(cache.get("one", b"key").unwrap(), b"first");
    assert_eq!(cache.get("two", b"key").unwrap(), b"second");
    cache.remove("one", b"key");
    assert_eq!(cache.get("one", b"key"), None);
    let (second, why) = Cache::open(dir.path(), store);
    assert!(why.unwrap().contains("lock"), "in use elsewhere");
    second.put("one", b"key", b"lost");
    assert_eq!(second.get("one", b"key"), None);
    assert_eq!(
        cache.get("two", b"key").unwrap(),
        b"second",
        "and left alone"
    );
    assert_eq!(Cache::off().get("one", b"key"), None);
}
