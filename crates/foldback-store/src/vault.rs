//! The vault: payloads, sealed under their account's key, in packs.
//!
//! A payload is found by its address, a keyed hash under the account's key: equal content of one
//! account is stored once, and without the key an address tells nothing. One thread seals and
//! appends; it takes everything that waits, writes it in one go and syncs once.
//! A payload that does not read harms no other: it is found by `get` and `check`.

use crate::bytes::wide;
use crate::file_log::make_dir;
use crate::keys::{AccountKeys, KeyError, KeyStore};
use crate::manifest::LOCK;
use crate::pack::{self, Header};
use crate::recovery::{Cut, OpenError, io_error};
use crate::seal::{self, Label, SealedPayload};
use crate::storage::{FsStorage, MemoryStorage, Storage, StorageFile, read_range};
use crate::vault_erase::{Erase, Erased, sweep};
use crate::vault_index::{Entry, Pack, State, read_packs};
use crate::vault_writer::{Message, Order, Put, VaultWriter};
use crate::{GetError, PutError, VaultProblem, VaultReport};
use foldback_event::limits::PAYLOAD_BYTES_MAX;
use foldback_event::{AccountId, Digest, ShortDigest};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread::JoinHandle;
use tokio::sync::{mpsc, oneshot};

const QUEUE: usize = 256;

/// How a vault is opened.
#[derive(Clone, Default)]
pub struct VaultOptions {
    /// The key that seals the accounts' keys; without it, `vault/keys/master.key` is used, and
    /// made where there are no keys yet.
    pub master_key: Option<[u8; 32]>,
    /// Whether to take no lock and change nothing.
    pub read_only: bool,
    /// At how many bytes a pack is full; 0 for the default of 32 MiB.
    pub pack_bytes: u64,
}

impl fmt::Debug for VaultOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VaultOptions")
            .field("read_only", &self.read_only)
            .field("pack_bytes", &self.pack_bytes)
            .finish_non_exhaustive()
    }
}

/// A payload that is in the vault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sealed {
    /// Keyed BLAKE3 of the plain bytes under the account's key.
    pub address: Digest,
    /// BLAKE3 of the sealed bytes and their label.
    pub sealed_digest: Digest,
    /// Length of the plain bytes.
    pub bytes: u64,
}

/// What opening a vault found and did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VaultRecovery {
    /// How many payloads there are.
    pub payloads: u64,
    /// The torn tail that was cut off the last pack, if any.
    pub cut: Option<Cut>,
    /// What does not read, as far as the headers of all packs and the whole last pack tell.
    pub problems: Vec<VaultProblem>,
}

/// What the vault's handles and its writer share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) storage: Arc<dyn Storage>,
    pub(crate) packs: PathBuf,
    pub(crate) keys: KeyStore,
    pub(crate) read_only: bool,
    state: RwLock<State>,
}

impl Shared {
    pub(crate) fn state(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn state_mut(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gets an account's keys, making them where the account has no payload.
    pub(crate) fn keys_of(&self, account: AccountId) -> Result<Arc<AccountKeys>, KeyError> {
        self.keys
            .get(account, || !self.state().has_account(account))
    }
}

/// The vault of a store; clones share it.
///
/// Dropping the last clone waits until everything that was queued is stored.
#[derive(Debug, Clone)]
pub struct Vault {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    shared: Arc<Shared>,
    // INVARIANT: both are there exactly while the vault takes payloads; `Drop` takes them.
    queue: Option<mpsc::Sender<Message>>,
    writer: Option<JoinHandle<()>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(writer) = self.writer.take() {
            // A writer that panicked has answered no one; its callers were told.
            let _ = writer.join();
        }
    }
}

impl Vault {
    /// Opens the vault of the store in `dir` (the log makes the store, so it is opened first).
    pub fn open(dir: &Path, options: &VaultOptions) -> Result<(Self, VaultRecovery), OpenError> {
        Self::open_on(Arc::new(FsStorage), dir, options)
    }

    /// Makes a vault in memory, with a master key of its own.
    pub fn in_memory() -> Result<Self, OpenError> {
        let storage = Arc::new(MemoryStorage::default());
        let (vault, _) = Self::open_on(storage, Path::new("/memory"), &VaultOptions::default())?;
        Ok(vault)
    }

    /// Opens a vault on a storage of the caller's.
    pub fn open_on(
        storage: Arc<dyn Storage>,
        dir: &Path,
        options: &VaultOptions,
    ) -> Result<(Self, VaultRecovery), OpenError> {
        let span = tracing::debug_span!("open");
        let _entered = span.enter();
        let root = dir.join("vault");
        let (packs, keys) = (root.join("packs"), root.join("keys"));
        let mut lock = None;
        if !options.read_only {
            storage
                .create_dir_all(dir)
                .map_err(io_error("create", dir))?;
            make_dir(&*storage, dir, &root)?;
            let path = root.join(LOCK);
            let taken = storage.lock(&path).map_err(io_error("lock", &path))?;
            lock = Some(taken.ok_or(OpenError::Locked { path })?);
            make_dir(&*storage, &root, &packs)?;
            make_dir(&*storage, &root, &keys)?;
            sweep(&*storage, &packs).map_err(io_error("clear", &packs))?;
        }
        let keys = KeyStore::open(
            Arc::clone(&storage),
            &keys,
            options.master_key,
            options.read_only,
        )?;
        let shared = Shared {
            storage,
            packs,
            keys,
            read_only: options.read_only,
            state: RwLock::default(),
        };
        let mut recovery = VaultRecovery::default();
        read_packs(&shared, &mut recovery)?;
        recovery.payloads = wide(shared.state().entries.len());
        tracing::debug!(count = recovery.payloads, "vault opened");
        let shared = Arc::new(shared);
        let mut inner = Inner {
            shared: Arc::clone(&shared),
            queue: None,
            writer: None,
        };
        if let Some(lock) = lock {
            let (queue, receiver) = mpsc::channel(QUEUE);
            let writer = VaultWriter::new(shared, receiver, lock, options.pack_bytes);
            let thread = std::thread::Builder::new().name("foldback-vault".to_owned());
            let writer = thread
                .spawn(move || writer.run())
                .map_err(io_error("start a thread for", &root))?;
            inner.queue = Some(queue);
            inner.writer = Some(writer);
        }
        let vault = Self {
            inner: Arc::new(inner),
        };
        Ok((vault, recovery))
    }

    /// Stores payloads of an account, in order; they are durable when this returns.
    ///
    /// What the account has already is not stored again: the answer names what is there. A put of
    /// nothing new costs no sync. A put whose future is dropped may still be carried out.
    pub async fn put(
        &self,
        account: AccountId,
        payloads: Vec<Vec<u8>>,
    ) -> Result<Vec<Sealed>, PutError> {
        for payload in &payloads {
            let bytes = wide(payload.len());
            if bytes > PAYLOAD_BYTES_MAX {
                return Err(PutError::TooLarge {
                    bytes,
                    max: PAYLOAD_BYTES_MAX,
                });
            }
        }
        let queue = self.inner.queue.as_ref().ok_or(PutError::ReadOnly)?;
        let (reply, answer) = oneshot::channel();
        let put = Put {
            account,
            payloads,
            reply,
        };
        let queued = queue.send(Message::Put(put)).await;
        queued.map_err(|_| PutError::Closed)?;
        answer.await.unwrap_or(Err(PutError::Closed))
    }

    /// Computes the address that a payload has, or would have, for an account.
    pub fn address(&self, account: AccountId, plain: &[u8]) -> Result<Digest, KeyError> {
        Ok(self.inner.shared.keys_of(account)?.address(plain))
    }

    /// Computes a keyed digest by which events compare content; digests of different domains or
    /// accounts are never equal.
    pub fn digest(
        &self,
        account: AccountId,
        domain: &str,
        bytes: &[u8],
    ) -> Result<ShortDigest, KeyError> {
        Ok(self.inner.shared.keys_of(account)?.compare(domain, bytes))
    }

    /// Reads a payload.
    pub fn get(&self, account: AccountId, address: &Digest) -> Result<Vec<u8>, GetError> {
        match self.read(account, address) {
            // An erasure elsewhere may have written its pack anew since.
            Err(GetError::Corrupt { .. } | GetError::Io { .. })
                if self.inner.shared.read_only && self.refresh() =>
            {
                self.read(account, address)
            }
            // Of an erased account nothing is missing.
            Err(GetError::Missing { .. }) if self.inner.shared.keys.is_erased(account)? => {
                Err(KeyError::Erased { account }.into())
            }
            read => read,
        }
    }

    /// Reads a payload as it is sealed, which takes no key.
    pub fn get_sealed(
        &self,
        account: AccountId,
        address: &Digest,
    ) -> Result<SealedPayload, GetError> {
        let (label, sealed) = self.read_sealed(account, address)?;
        Ok(SealedPayload { label, sealed })
    }

    fn read(&self, account: AccountId, address: &Digest) -> Result<Vec<u8>, GetError> {
        let (path, _, entry) = self.find(account, address)?;
        let keys = self.inner.shared.keys.get(account, || false)?;
        let (label, sealed) = self.read_sealed(account, address)?;
        seal::open(&keys, &label, &sealed).ok_or(GetError::Corrupt {
            account,
            address: *address,
            file: path,
            offset: entry.offset,
        })
    }

    fn read_sealed(
        &self,
        account: AccountId,
        address: &Digest,
    ) -> Result<(Label, Vec<u8>), GetError> {
        let (path, file, entry) = self.find(account, address)?;
        let corrupt = || GetError::Corrupt {
            account,
            address: *address,
            file: path.clone(),
            offset: entry.offset,
        };
        let bytes =
            read_range(&*file, entry.offset, entry.bytes).map_err(|source| GetError::Io {
                path: path.clone(),
                source,
            })?;
        let header = Header::read(&bytes).ok_or_else(corrupt)?;
        let sealed = bytes.get(pack::HEADER..).ok_or_else(corrupt)?;
        let fits = header.label.account == account
            && header.label.address == *address
            && header.sealed_digest == entry.sealed_digest
            && header.label.digest(sealed) == entry.sealed_digest;
        if !fits {
            return Err(corrupt());
        }
        Ok((header.label, sealed.to_vec()))
    }

    /// Says whether a payload is there, readable or not.
    pub fn contains(&self, account: AccountId, address: &Digest) -> bool {
        self.find(account, address).is_ok()
    }

    /// Gives the digest of a payload's sealed bytes; `None` where it is not there.
    pub fn sealed_digest(&self, account: AccountId, address: &Digest) -> Option<Digest> {
        let (_, _, entry) = self.find(account, address).ok()?;
        Some(entry.sealed_digest)
    }

    /// Gives the number of payloads.
    pub fn count(&self) -> u64 {
        wide(self.inner.shared.state().entries.len())
    }

    /// Destroys payloads of an account: packs are written anew without them and the old bytes are
    /// overwritten. It is durable when this returns, and what was queued before is stored first.
    ///
    /// After an error some of it may be done; erasing the same again ends it.
    pub async fn erase(&self, account: AccountId, what: Erase) -> Result<Erased, PutError> {
        let queue = self.inner.queue.as_ref().ok_or(PutError::ReadOnly)?;
        let (reply, answer) = oneshot::channel();
        let order = Order {
            account,
            what,
            reply,
        };
        let queued = queue.send(Message::Erase(order)).await;
        queued.map_err(|_| PutError::Closed)?;
        answer.await.unwrap_or(Err(PutError::Closed))
    }

    /// Seals every account's key anew under another master key: one that is drawn and kept in the store,
    /// or the caller's, which is kept nowhere. Gives the number of keys.
    ///
    /// The old master key opens nothing from then on but copies of the old key files.
    pub fn rotate_master(&self, master: Option<[u8; 32]>) -> Result<u64, PutError> {
        if self.inner.shared.read_only {
            return Err(PutError::ReadOnly);
        }
        Ok(self.inner.shared.keys.rotate(master)?)
    }

    /// Erases the key of an account: its payloads are unreadable from then on, and no key is made
    /// for it again. What can be checked without the key still can.
    pub fn erase_account(&self, account: AccountId) -> Result<(), PutError> {
        if self.inner.shared.read_only {
            return Err(PutError::ReadOnly);
        }
        Ok(self.inner.shared.keys.erase(account)?)
    }

    /// Checks the sealed bytes of every payload, and that every wanted payload is there under the
    /// sealed digest that its event names. It needs no key.
    pub fn check(
        &self,
        wanted: impl IntoIterator<Item = (AccountId, Digest, Digest)>,
    ) -> VaultReport {
        let span = tracing::debug_span!("verify");
        let _entered = span.enter();
        let shared = &self.inner.shared;
        let mut report = VaultReport::default();
        let packs: Vec<Pack> = shared.state().packs.values().cloned().collect();
        for pack in packs {
            match pack::walk(&*pack.file, 0, pack.end, true) {
                Ok(mut found) => {
                    report.payloads += wide(found.entries.len());
                    report.bytes += found
                        .entries
                        .iter()
                        .map(|(_, header)| header.entry_bytes())
                        .sum::<u64>();
                    found.damaged.append(&mut found.tail);
                    let mut state = shared.state_mut();
                    for damage in &found.damaged {
                        report.problems.push(state.damage(&pack.path, damage));
                    }
                }
                Err(_) => report.problems.push(VaultProblem {
                    account: None,
                    address: None,
                    file: Some(pack.path),
                    offset: 0,
                    what: "the pack cannot be read",
                }),
            }
        }
        for (account, address, sealed_digest) in wanted {
            report.wanted += 1;
            let what = match self.find(account, &address) {
                Ok((_, _, entry)) if entry.sealed_digest == sealed_digest => continue,
                Ok(_) => "the payload has another sealed digest than its event names",
                // Told above, with its place.
                Err(GetError::Corrupt { .. }) => continue,
                Err(_) => "the payload is missing",
            };
            report.problems.push(VaultProblem {
                account: Some(account),
                address: Some(address),
                file: None,
                offset: 0,
                what,
            });
        }
        report
    }

    /// Reads what a writer elsewhere has done to the packs; tells whether it could.
    fn refresh(&self) -> bool {
        read_packs(&self.inner.shared, &mut VaultRecovery::default()).is_ok()
    }

    fn find(
        &self,
        account: AccountId,
        address: &Digest,
    ) -> Result<(PathBuf, Arc<dyn StorageFile>, Entry), GetError> {
        let shared = &self.inner.shared;
        let look = || {
            let state = shared.state();
            let key = (account, *address);
            if let Some(entry) = state.entries.get(&key)
                && let Some(pack) = state.packs.get(&entry.pack)
            {
                return Ok((pack.path.clone(), Arc::clone(&pack.file), *entry));
            }
            match state.damaged.get(&key) {
                Some((file, offset)) => Err(GetError::Corrupt {
                    account,
                    address: *address,
                    file: file.clone(),
                    offset: *offset,
                }),
                None => Err(GetError::Missing {
                    account,
                    address: *address,
                }),
            }
        };
        match look() {
            // A writer elsewhere may have added it since.
            Err(GetError::Missing { .. }) if shared.read_only && self.refresh() => look(),
            found => found,
        }
    }
}
