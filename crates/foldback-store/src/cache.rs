//! The cache: a sled database of things that can be made again from the log.
//!
//! sled is not durable on flush, so nothing here is ever the reason for an answer: a value is
//! handed out only if its own check fits, the owner checks it against the log, and any failure or
//! panic of sled turns the cache off for this process and empties it. Deleting `cache/` costs time
//! and changes no answer.

use crate::storage::{FsStorage, Storage, remove_tree};
use foldback_event::{Digest, StoreId};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const CHECK_CONTEXT: &str = "foldback 2026 cache value v1";
const META: &str = "meta";
const OWNER: &[u8] = b"store";
const FORMAT: u8 = 1;
const MEMORY_BYTES: u64 = 16 * 1024 * 1024;

/// A key-value area that may forget everything at any time; clones share it.
#[derive(Debug, Clone, Default)]
pub struct Cache {
    inner: Option<Arc<Inner>>,
}

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    db: Mutex<Option<sled::Db>>,
}

fn check(tree: &str, key: &[u8], value: &[u8]) -> Digest {
    let mut bytes = Vec::with_capacity(tree.len() + key.len() + value.len() + 16);
    for part in [tree.as_bytes(), key] {
        bytes.extend_from_slice(&crate::bytes::wide(part.len()).to_le_bytes());
        bytes.extend_from_slice(part);
    }
    bytes.extend_from_slice(value);
    Digest::of(CHECK_CONTEXT, &bytes)
}

/// Runs a sled operation; an error or a panic is a text.
fn guarded<T>(f: impl FnOnce() -> sled::Result<T>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("it panicked".to_owned()),
    }
}

impl Cache {
    /// A cache that keeps nothing.
    pub fn off() -> Self {
        Self::default()
    }

    /// Opens the cache of a store, emptying it where it is another store's or does not open.
    ///
    /// It never fails: a cache that cannot be had is one that keeps nothing. The text says why it
    /// was emptied or is off.
    pub fn open(path: &Path, store: StoreId) -> (Self, Option<String>) {
        let (db, why) = match open_owned(path, store) {
            Ok(db) => (Some(db), None),
            // Whoever holds the lock uses what is there.
            Err(why) if why.contains("could not acquire lock") => (None, Some(why)),
            Err(why) => {
                let again = remove_tree(path)
                    .map_err(|error| error.to_string())
                    .and_then(|()| open_owned(path, store));
                (again.ok(), Some(why))
            }
        };
        let inner = db.map(|db| {
            Arc::new(Inner {
                path: path.to_owned(),
                db: Mutex::new(Some(db)),
            })
        });
        (Self { inner }, why)
    }

    /// Gets a value; `None` where there is none, it does not check, or the cache is off.
    pub fn get(&self, tree: &str, key: &[u8]) -> Option<Vec<u8>> {
        let stored = self.with(|db| db.open_tree(tree)?.get(key))??;
        let (stated, value) = stored.split_first_chunk::<32>()?;
        (check(tree, key, value).as_bytes() == stated).then(|| value.to_vec())
    }

    /// Puts a value; what cannot be kept is dropped.
    pub fn put(&self, tree: &str, key: &[u8], value: &[u8]) {
        let mut stored = check(tree, key, value).as_bytes().to_vec();
        stored.extend_from_slice(value);
        self.with(|db| db.open_tree(tree)?.insert(key, stored));
    }

    /// Removes a value.
    pub fn remove(&self, tree: &str, key: &[u8]) {
        self.with(|db| db.open_tree(tree)?.remove(key));
    }

    /// Forgets everything and goes on.
    pub(crate) fn clear(&self, store: StoreId) {
        self.with(|db| {
            for name in db.tree_names() {
                db.open_tree(name)?.clear()?;
            }
            own(db, store)
        });
    }

    /// Writes to disk what was put, without a promise.
    pub(crate) fn flush(&self) {
        self.with(|db| db.flush());
    }

    /// Closes the database, so that another process can open it.
    pub(crate) fn close(&self) {
        if let Some(inner) = &self.inner {
            let db = inner.db().take();
            let _ = guarded(|| {
                drop(db);
                Ok(())
            });
        }
    }

    fn with<T>(&self, f: impl FnOnce(&sled::Db) -> sled::Result<T>) -> Option<T> {
        let inner = self.inner.as_ref()?;
        let mut guard = inner.db();
        let db = guard.as_ref()?;
        match guarded(|| f(db)) {
            Ok(value) => Some(value),
            Err(why) => {
                tracing::warn!(why, "cache dropped");
                let db = guard.take();
                let _ = guarded(|| {
                    drop(db);
                    Ok(())
                });
                let _ = remove_tree(&inner.path);
                None
            }
        }
    }
}

impl Inner {
    fn db(&self) -> MutexGuard<'_, Option<sled::Db>> {
        self.db.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn own(db: &sled::Db, store: StoreId) -> sled::Result<()> {
    let mut owner = vec![FORMAT];
    owner.extend_from_slice(store.as_bytes());
    db.open_tree(META)?.insert(OWNER, owner)?;
    Ok(())
}

fn open_owned(path: &Path, store: StoreId) -> Result<sled::Db, String> {
    FsStorage
        .create_dir_all(path)
        .map_err(|error| error.to_string())?;
    let db = guarded(|| {
        sled::Config::new()
            .path(path.join("sled"))
            .cache_capacity(MEMORY_BYTES)
            .flush_every_ms(None)
            .open()
    })?;
    let owner = guarded(|| db.open_tree(META)?.get(OWNER))?;
    match owner {
        None if guarded(|| Ok(db.tree_names().len()))? <= 2 => guarded(|| own(&db, store))?,
        Some(owner) if owner.split_first() == Some((&FORMAT, store.as_bytes().as_slice())) => {}
        _ => return Err("it is another store's".to_owned()),
    }
    Ok(db)
}
