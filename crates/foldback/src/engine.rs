//! The engine: one open store, and the way in for everything else.

mod payload;
mod read;
mod write;

pub use payload::PayloadText;
pub(crate) use payload::payload_of;
pub use read::{ConversationSummary, EventRow};
pub(crate) use write::{Draft, Write};

use crate::clock::Clock;
use crate::error::Error;
use foldback_event::{AccountId, ConversationId, Digest, Event, GENESIS};
use foldback_graph::RuntimeGraph;
use foldback_store::{
    EventLog, FileLog, FsStorage, Log, LogOptions, MemoryLog, RecoveryReport, Storage, Vault,
    VaultOptions, VaultRecovery,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How a store is opened.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Where time and event ids come from.
    pub clock: Clock,
    /// The key that seals the accounts' keys; the store keeps one of its own if none is given.
    pub master_key: Option<[u8; 32]>,
    /// Whether nothing may be written; then another process may write at the same time.
    pub read_only: bool,
    /// Whether a store is made where there is none.
    pub create: bool,
    /// The account of conversations that name none.
    pub account: Option<AccountId>,
}

/// What opening a store found and mended.
#[derive(Debug, Clone)]
pub struct Recovery {
    /// In the log.
    pub log: RecoveryReport,
    /// In the vault.
    pub vault: VaultRecovery,
}

/// One open store.
///
/// It is cheap to share behind an [`Arc`]; all methods take `&self`.
#[derive(Debug)]
pub struct Engine {
    pub(crate) log: Log,
    pub(crate) vault: Vault,
    pub(crate) clock: Clock,
    pub(crate) account: AccountId,
    pub(crate) recovery: Option<Recovery>,
    pub(crate) path: Option<PathBuf>,
    /// Held by all who write, and by an erasure alone: what it destroys no event in the making names.
    pub(crate) writers: Arc<tokio::sync::RwLock<()>>,
    loaded: std::sync::Mutex<BTreeMap<ConversationId, Arc<tokio::sync::Mutex<Loaded>>>>,
}

/// A conversation in memory: its graph, and where its chain ends.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) graph: RuntimeGraph,
    pub(crate) hash: Digest,
    /// Whether the graph may be ahead of the log, after an append that failed.
    pub(crate) stale: bool,
}

/// The part that a command has in writing; an erasure, which keeps all others out, needs none.
pub(crate) type Pass = Option<tokio::sync::OwnedRwLockReadGuard<()>>;

/// How many conversations are kept in memory; those in use are kept beyond it.
const LOADED_MAX: usize = 256;

/// How many events are read from the log at once.
pub(crate) const READ_CHUNK: usize = 4_096;

impl Engine {
    /// Opens the store in a folder.
    ///
    /// # Errors
    ///
    /// [`Error`] if it is no store, is of a newer format, is locked by another process, is damaged
    /// or lacks its key.
    pub fn open(path: &Path, options: Options) -> Result<Self, Error> {
        Self::open_with(Arc::new(FsStorage), path, options, LogOptions::default(), 0)
    }

    /// Opens the store in a folder of a storage of the caller's, without a cache; its files have as many
    /// bytes as `file_bytes` says.
    ///
    /// # Errors
    ///
    /// Those of [`Engine::open`].
    pub fn open_on(
        storage: Arc<dyn Storage>,
        path: &Path,
        options: Options,
        file_bytes: u32,
    ) -> Result<Self, Error> {
        let log = LogOptions {
            cache: false,
            segment_bytes: file_bytes,
            ..LogOptions::default()
        };
        Self::open_with(storage, path, options, log, u64::from(file_bytes))
    }

    fn open_with(
        storage: Arc<dyn Storage>,
        path: &Path,
        options: Options,
        log: LogOptions,
        pack_bytes: u64,
    ) -> Result<Self, Error> {
        if !options.create && storage.open(&path.join("STORE"), false).is_err() {
            return Err(Error::NoStore {
                path: path.to_owned(),
            });
        }
        let (log, recovery) = if options.read_only {
            FileLog::open_read_only_on(Arc::clone(&storage), path)?
        } else {
            FileLog::open_on(Arc::clone(&storage), path, log)?
        };
        let vault_options = VaultOptions {
            master_key: options.master_key,
            read_only: options.read_only,
            pack_bytes,
        };
        let (vault, vault_recovery) = Vault::open_on(storage, path, &vault_options)?;
        let recovery = Recovery {
            log: recovery,
            vault: vault_recovery,
        };
        Ok(Self::new(
            Log::File(log),
            vault,
            Some(recovery),
            Some(path.to_owned()),
            options,
        ))
    }

    /// Opens a store that lives in memory alone.
    ///
    /// # Errors
    ///
    /// [`Error`] if there is no random source to make keys from.
    pub fn in_memory(options: Options) -> Result<Self, Error> {
        let log = Log::Memory(MemoryLog::new());
        Ok(Self::new(log, Vault::in_memory()?, None, None, options))
    }

    fn new(
        log: Log,
        vault: Vault,
        recovery: Option<Recovery>,
        path: Option<PathBuf>,
        options: Options,
    ) -> Self {
        Self {
            log,
            vault,
            clock: options.clock,
            account: options.account.unwrap_or_else(default_account),
            recovery,
            path,
            writers: Arc::default(),
            loaded: std::sync::Mutex::default(),
        }
    }

    /// Seals the keys of all accounts anew under another master key: the given one, which is kept nowhere,
    /// or one that the store draws and keeps. Gives the number of keys.
    ///
    /// Payloads stay as they are. What was cut short is ended by the next opening for writing or, with a
    /// given key, by the same call again.
    ///
    /// # Errors
    ///
    /// [`Error`] if a key does not open, which changes nothing, or cannot be written.
    pub fn rotate_master(&self, master: Option<[u8; 32]>) -> Result<u64, Error> {
        Ok(self.vault.rotate_master(master)?)
    }

    /// Tells what opening the store found and mended; none if it lives in memory.
    pub fn recovery(&self) -> Option<&Recovery> {
        self.recovery.as_ref()
    }

    /// Gives the folder of the store; none if it lives in memory.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Tells the time of the engine's clock.
    pub fn now(&self) -> foldback_event::Micros {
        self.clock.now()
    }

    /// Gives the account of conversations that name none.
    pub fn account(&self) -> AccountId {
        self.account
    }

    /// Takes part in writing until the pass is dropped. It is taken before the conversation.
    pub(crate) async fn pass(&self) -> Pass {
        Some(Arc::clone(&self.writers).read_owned().await)
    }

    /// Gives the conversation in memory, folding it from the log first if it is not there.
    pub(crate) async fn load(
        &self,
        id: ConversationId,
    ) -> Result<tokio::sync::OwnedMutexGuard<Loaded>, Error> {
        let shared = self.shared(id);
        let mut loaded = shared.lock_owned().await;
        if loaded.stale {
            let mut graph = RuntimeGraph::default();
            let mut hash = GENESIS;
            self.scan(id, 1, |event, stored| {
                graph.apply(&event);
                hash = stored;
                Ok(())
            })
            .await?;
            *loaded = Loaded {
                graph,
                hash,
                stale: false,
            };
        }
        Ok(loaded)
    }

    /// Forgets the conversations in memory that nobody uses.
    pub(crate) fn forget(&self) {
        let mut map = self
            .loaded
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        map.retain(|_, shared| Arc::strong_count(shared) > 1);
    }

    fn shared(&self, id: ConversationId) -> Arc<tokio::sync::Mutex<Loaded>> {
        // A panic while the map is held leaves it whole, so a poisoned lock is still good.
        let mut map = self
            .loaded
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if map.len() >= LOADED_MAX && !map.contains_key(&id) {
            map.retain(|_, shared| Arc::strong_count(shared) > 1);
        }
        let entry = map.entry(id).or_insert_with(|| {
            let empty = Loaded {
                graph: RuntimeGraph::default(),
                hash: GENESIS,
                stale: true,
            };
            Arc::new(tokio::sync::Mutex::new(empty))
        });
        Arc::clone(entry)
    }

    /// Reads a conversation's events from a position on, in order, with their chain hashes.
    pub(crate) async fn scan(
        &self,
        id: ConversationId,
        from: u64,
        mut each: impl FnMut(Event, Digest) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut next = from.max(1);
        loop {
            let chunk = self.log.read(id, next, READ_CHUNK).await?;
            let Some(last) = chunk.last() else {
                return Ok(());
            };
            next = last.version + 1;
            for stored in chunk {
                let event = Event::decode(&stored.record).map_err(|source| Error::Decode {
                    conversation: id,
                    version: stored.version,
                    seq: stored.seq,
                    source,
                })?;
                each(event, stored.hash)?;
            }
        }
    }
}

/// The account of a store that serves one party only.
fn default_account() -> AccountId {
    AccountId::from_source(&[0; 16], "default")
}
