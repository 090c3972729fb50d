//! The bytes of Foldback: the event log in segments, the vault of sealed payloads, the cache.
//!
//! This crate knows no event's meaning: a record is a run of bytes with a chain hash.
//! It promises that what was acknowledged stays, that a batch is visible whole or not at all, that
//! nothing damaged is served, and that damage is never mistaken for the work of a crash where the
//! two can be told apart (see the table in `recovery`).
//!
//! The layout of every file is told in `docs/event-format.md` and, for the state at open, in
//! `docs/recovery.md`.

mod log;
mod log_error;

mod cache;
mod cached_index;
mod check;
mod fetch;
mod file_log;
mod frame;
mod index;
mod manifest;
mod memory_log;
mod recovery;
mod scan;
mod seal;
mod segment;
mod synced;
mod writer;

mod keys;
mod pack;
mod vault;
mod vault_erase;
mod vault_error;
mod vault_index;
mod vault_writer;

mod bytes;
mod storage;

pub use cache::Cache;
pub use check::{LogProblem, LogReport};
pub use file_log::{FileLog, LogOptions};
pub use keys::KeyError;
pub use log::{
    Appended, BATCH_BYTES_MAX, Capabilities, EventLog, Head, Log, NewEvent, Partition, Position,
    StoredEvent, Tip,
};
pub use log_error::{AppendError, ReadError};
pub use manifest::FORMAT;
pub use memory_log::MemoryLog;
pub use recovery::{CacheUse, Cut, OpenError, RecoveryReport};
pub use seal::SealedPayload;
pub use storage::{Access, FsStorage, LockGuard, MemoryStorage, Storage, StorageFile};
pub use vault::{Sealed, Vault, VaultOptions, VaultRecovery};
pub use vault_erase::{Erase, Erased};
pub use vault_error::{GetError, PutError, VaultProblem, VaultReport};
