//! Keys: one master key, and one key for each account that it seals.
//!
//! An account's key is 32 random bytes in `vault/keys/<account>.key`, sealed by the master key.
//! What seals payloads, makes addresses and compares content are keys derived from it. Erasing the
//! file makes every payload of the account unreadable, wherever copies of them are.
//!
//! A key is made only for an account that has no payload: for one that has, a missing key is an
//! error, or its old payloads would be lost without a word.

use crate::OpenError;
use crate::bytes::Take;
use crate::recovery::io_error;
use crate::seal::random;
use crate::storage::{Access, Storage, read_file, write_whole};
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use foldback_event::{AccountId, Digest, ShortDigest};
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use zeroize::Zeroizing;

const MASTER: &str = "master.key";
/// The master key that is to follow, while keys are sealed anew.
const NEXT: &str = "master.next";
const MASTER_MAGIC: &[u8; 4] = b"FBM\x01";
const KEY_MAGIC: &[u8; 4] = b"FBA\x01";
const WRAP_CONTEXT: &str = "foldback 2026 account key wrapping v1";
const SEAL_CONTEXT: &str = "foldback 2026 payload sealing v1";
const ADDRESS_CONTEXT: &str = "foldback 2026 payload address v1";
const COMPARE_CONTEXT: &str = "foldback 2026 comparison digest v1";

type Secret = Zeroizing<[u8; 32]>;

/// Says why an account's key cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The key file is not there, although the account has payloads.
    #[error("the key of {account} is missing: `{}`", path.display())]
    NoKey {
        /// The account.
        account: AccountId,
        /// Where the key should be.
        path: PathBuf,
    },
    /// The account was erased.
    #[error("{account} was erased")]
    Erased {
        /// The account.
        account: AccountId,
    },
    /// The key file does not read, or the master key does not open it.
    #[error("the key `{}` does not open: {what}", path.display())]
    BadKey {
        /// The key file.
        path: PathBuf,
        /// What is wrong.
        what: &'static str,
    },
    /// A file operation failed.
    #[error("cannot read or write the key `{}`", path.display())]
    Io {
        /// The key file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// The keys of one account. They are wiped from memory when dropped.
pub(crate) struct AccountKeys {
    sealing: Secret,
    address: Secret,
    compare: Secret,
}

impl fmt::Debug for AccountKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccountKeys")
    }
}

impl AccountKeys {
    fn derive(secret: &Secret) -> Self {
        let derive = |context| Secret::new(blake3::derive_key(context, &**secret));
        Self {
            sealing: derive(SEAL_CONTEXT),
            address: derive(ADDRESS_CONTEXT),
            compare: derive(COMPARE_CONTEXT),
        }
    }

    pub(crate) fn sealing(&self) -> &[u8; 32] {
        &self.sealing
    }

    pub(crate) fn address(&self, plain: &[u8]) -> Digest {
        Digest::from_bytes(*blake3::keyed_hash(&self.address, plain).as_bytes())
    }

    pub(crate) fn compare(&self, domain: &str, bytes: &[u8]) -> ShortDigest {
        let mut hasher = blake3::Hasher::new_keyed(&self.compare);
        hasher.update(&crate::bytes::wide(domain.len()).to_le_bytes());
        hasher.update(domain.as_bytes());
        hasher.update(bytes);
        let mut out = [0; 16];
        hasher.finalize_xof().fill(&mut out);
        ShortDigest::from_bytes(out)
    }
}

/// The keys of a vault.
pub(crate) struct KeyStore {
    storage: Arc<dyn Storage>,
    dir: PathBuf,
    /// The keys that may have sealed an account's key: the one in force first.
    wrapping: RwLock<Vec<Secret>>,
    read_only: bool,
    known: Mutex<BTreeMap<AccountId, Arc<AccountKeys>>>,
}

impl fmt::Debug for KeyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyStore")
            .field("dir", &self.dir)
            .field("read_only", &self.read_only)
            .finish_non_exhaustive()
    }
}

impl KeyStore {
    /// Opens the keys in `dir` with the given master key, or with the one that stands there, which
    /// is made where there is neither it nor any key that it would have to open.
    pub(crate) fn open(
        storage: Arc<dyn Storage>,
        dir: &Path,
        master: Option<[u8; 32]>,
        read_only: bool,
    ) -> Result<Self, OpenError> {
        let mut masters = match master {
            Some(master) => vec![Secret::new(master)],
            None => vec![load_master(&*storage, dir, read_only)?],
        };
        let next = dir.join(NEXT);
        let found = read_file(&*storage, &next).map_err(io_error("read", &next))?;
        if let Some(bytes) = found {
            masters.push(read_master(&next, bytes)?);
        }
        let wrapping = masters.iter().map(wrapping_key).collect();
        let keys = Self {
            storage,
            dir: dir.to_owned(),
            wrapping: RwLock::new(wrapping),
            read_only,
            known: Mutex::default(),
        };
        if let [_, next] = masters.as_slice()
            && !read_only
        {
            // A rotation was cut short: it is ended before anything else. Only one whose new key is
            // kept in the store leaves it there.
            let path = dir.join(NEXT);
            keys.rotate_to(next, false).map_err(|error| match error {
                KeyError::BadKey { path, what } => OpenError::BadKey { path, what },
                KeyError::Io { path, source } => io_error("write", &path)(source),
                _ => OpenError::BadKey {
                    path,
                    what: "it does not fit the keys",
                },
            })?;
        }
        Ok(keys)
    }

    /// Seals every account's key anew under another master key, which is drawn and kept in the store if
    /// none is given. Payloads stay as they are.
    ///
    /// After a crash the next opening for writing ends it; with a given key the same call again does.
    pub(crate) fn rotate(&self, master: Option<[u8; 32]>) -> Result<u64, KeyError> {
        let path = self.dir.join(NEXT);
        let failed = |source| KeyError::Io {
            path: path.clone(),
            source,
        };
        let given = master.is_some();
        let master = Secret::new(match master {
            Some(master) => master,
            None => random().map_err(failed)?,
        });
        if !given {
            write_master(&*self.storage, &path, &master).map_err(failed)?;
        }
        self.rotate_to(&master, given)
    }

    fn rotate_to(&self, master: &Secret, given: bool) -> Result<u64, KeyError> {
        // Held throughout, so that nobody makes a key under the old one.
        let _known = self.known();
        let next = wrapping_key(master);
        let mut wrapping = self
            .wrapping
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        wrapping.retain(|key| **key != *next);
        wrapping.push(next);
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| KeyError::Io { path, source }
        };
        let names = self.storage.list(&self.dir).map_err(failed(&self.dir))?;
        let mut secrets = Vec::new();
        // All are opened before the first is sealed, so that one that does not open changes nothing.
        for name in names.iter().filter(|name| *name != MASTER && is_key(name)) {
            let path = self.dir.join(name);
            let account = name.strip_suffix(".key").unwrap_or_default();
            let account: AccountId =
                format!("{}_{account}", AccountId::TAG)
                    .parse()
                    .map_err(|_| KeyError::BadKey {
                        path: path.clone(),
                        what: "its name is no account",
                    })?;
            let bytes = read_file(&*self.storage, &path).map_err(failed(&path))?;
            let bytes = bytes.unwrap_or_default();
            let secret = unwrap(&wrapping, account, &path, &bytes)?;
            secrets.push((account, path, secret));
        }
        let Some(next) = wrapping.pop() else {
            return Ok(0);
        };
        for (account, path, secret) in &secrets {
            let bytes = wrap(&next, *account, secret).map_err(failed(path))?;
            write_whole(&*self.storage, path, &bytes, Access::Private).map_err(failed(path))?;
        }
        *wrapping = vec![next];
        let (path, draft) = (self.dir.join(MASTER), self.dir.join(NEXT));
        let old = self.storage.open(&path, true);
        if given {
            remove(&*self.storage, &path).map_err(failed(&path))?;
        } else {
            // Written a second time and not renamed: until it is durable here, the draft has it.
            write_master(&*self.storage, &path, master).map_err(failed(&path))?;
        }
        self.storage
            .sync_dir(&self.dir)
            .map_err(failed(&self.dir))?;
        remove(&*self.storage, &draft).map_err(failed(&draft))?;
        self.storage
            .sync_dir(&self.dir)
            .map_err(failed(&self.dir))?;
        if let Ok(old) = old {
            // What sealed the keys before is of no use any more, and should not be found.
            let size = old.size().map_err(failed(&path))?;
            let zeros = vec![0; crate::bytes::index(size)];
            old.write_at(0, &zeros)
                .and_then(|()| old.sync())
                .map_err(failed(&path))?;
        }
        tracing::info!(count = secrets.len(), "account keys sealed anew");
        Ok(crate::bytes::wide(secrets.len()))
    }

    pub(crate) fn path(&self, account: AccountId) -> PathBuf {
        self.dir.join(format!("{}.key", account.hex()))
    }

    fn tombstone(&self, account: AccountId) -> PathBuf {
        self.dir.join(format!("{}.erased", account.hex()))
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<AccountId, Arc<AccountKeys>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gets an account's keys, making them where `may_make` says that it has no payload.
    pub(crate) fn get(
        &self,
        account: AccountId,
        may_make: impl FnOnce() -> bool,
    ) -> Result<Arc<AccountKeys>, KeyError> {
        // Held throughout, so that two callers never make two keys for one account.
        let mut known = self.known();
        if let Some(keys) = known.get(&account) {
            return Ok(Arc::clone(keys));
        }
        let path = self.path(account);
        let failed = |source| KeyError::Io {
            path: path.clone(),
            source,
        };
        let secret = match read_file(&*self.storage, &path).map_err(failed)? {
            Some(bytes) => {
                let wrapping = self.wrapping.read().unwrap_or_else(PoisonError::into_inner);
                unwrap(&wrapping, account, &path, &bytes)?
            }
            None if self.is_erased(account)? => return Err(KeyError::Erased { account }),
            None if self.read_only || !may_make() => {
                return Err(KeyError::NoKey { account, path });
            }
            None => self.make(account, &path).map_err(failed)?,
        };
        let keys = Arc::new(AccountKeys::derive(&secret));
        known.insert(account, Arc::clone(&keys));
        Ok(keys)
    }

    pub(crate) fn is_erased(&self, account: AccountId) -> Result<bool, KeyError> {
        let path = self.tombstone(account);
        match read_file(&*self.storage, &path) {
            Ok(found) => Ok(found.is_some()),
            Err(source) => Err(KeyError::Io { path, source }),
        }
    }

    /// Erases an account's key. A tombstone comes first, so that after a crash between the two no
    /// new key is made.
    pub(crate) fn erase(&self, account: AccountId) -> Result<(), KeyError> {
        let mut known = self.known();
        let path = self.path(account);
        let tombstone = self.tombstone(account);
        let done =
            write_whole(&*self.storage, &tombstone, b"erased\n", Access::Private).and_then(|()| {
                match self.storage.open(&path, true) {
                    Ok(file) => {
                        // The old bytes first, as far as the file system lets one overwrite them.
                        let size = file.size()?;
                        file.write_at(0, &vec![0; crate::bytes::index(size)])?;
                        file.sync()?;
                        self.storage.remove(&path)?;
                        self.storage.sync_dir(&self.dir)
                    }
                    Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                    Err(error) => Err(error),
                }
            });
        known.remove(&account);
        done.map_err(|source| KeyError::Io { path, source })
    }

    fn make(&self, account: AccountId, path: &Path) -> io::Result<Secret> {
        let secret = Secret::new(random()?);
        let wrapping = self.wrapping.read().unwrap_or_else(PoisonError::into_inner);
        let Some(key) = wrapping.first() else {
            return Err(io::Error::other("there is no key to seal it with"));
        };
        let bytes = wrap(key, account, &secret)?;
        write_whole(&*self.storage, path, &bytes, Access::Private)?;
        tracing::info!(%account, "account key made");
        Ok(secret)
    }
}

fn wrapping_key(master: &Secret) -> Secret {
    Secret::new(blake3::derive_key(WRAP_CONTEXT, &**master))
}

/// Seals an account's key.
fn wrap(key: &Secret, account: AccountId, secret: &Secret) -> io::Result<Vec<u8>> {
    let nonce: [u8; 24] = random()?;
    let payload = Payload {
        msg: secret.as_slice(),
        aad: account.as_bytes(),
    };
    let sealed = XChaCha20Poly1305::new((&**key).into())
        .encrypt(&XNonce::from(nonce), payload)
        .map_err(|_| io::Error::other("the key could not be sealed"))?;
    let mut bytes = KEY_MAGIC.to_vec();
    bytes.extend_from_slice(&nonce);
    bytes.extend_from_slice(&sealed);
    Ok(bytes)
}

/// Opens an account's key with the first key that does.
fn unwrap(
    keys: &[Secret],
    account: AccountId,
    path: &Path,
    bytes: &[u8],
) -> Result<Secret, KeyError> {
    let bad = |what| KeyError::BadKey {
        path: path.to_owned(),
        what,
    };
    let mut take = Take(bytes);
    let header = take.array::<4>().zip(take.array::<24>());
    let Some((magic, nonce)) = header else {
        return Err(bad("it is too short"));
    };
    if magic != *KEY_MAGIC {
        return Err(bad("it is no account key of this version"));
    }
    let open = |key: &Secret| {
        let payload = Payload {
            msg: take.0,
            aad: account.as_bytes(),
        };
        XChaCha20Poly1305::new((&**key).into())
            .decrypt(&XNonce::from(nonce), payload)
            .ok()
    };
    let secret = keys.iter().find_map(open);
    let secret = secret.ok_or_else(|| bad("it is damaged, or sealed by another master key"))?;
    let secret = Zeroizing::new(secret);
    let secret: [u8; 32] = secret
        .as_slice()
        .try_into()
        .map_err(|_| bad("it has another length"))?;
    Ok(Secret::new(secret))
}

fn remove(storage: &dyn Storage, path: &Path) -> io::Result<()> {
    match storage.remove(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn is_key(name: &str) -> bool {
    name.strip_suffix(".key").is_some()
}

fn load_master(storage: &dyn Storage, dir: &Path, read_only: bool) -> Result<Secret, OpenError> {
    let path = dir.join(MASTER);
    let found = read_file(storage, &path).map_err(io_error("read", &path))?;
    if let Some(bytes) = found {
        return read_master(&path, bytes);
    }
    let names = match storage.list(dir) {
        Ok(names) => names,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(source) => return Err(io_error("list", dir)(source)),
    };
    if read_only || names.iter().any(|name| is_key(name)) {
        return Err(OpenError::NoMasterKey { path });
    }
    let secret = Secret::new(random().map_err(io_error("draw a random key for", &path))?);
    write_master(storage, &path, &secret).map_err(io_error("write", &path))?;
    tracing::info!("master key made");
    Ok(secret)
}

fn write_master(storage: &dyn Storage, path: &Path, secret: &Secret) -> io::Result<()> {
    let mut bytes = Zeroizing::new(MASTER_MAGIC.to_vec());
    bytes.extend_from_slice(&**secret);
    let crc = crc32c::crc32c(&bytes);
    bytes.extend_from_slice(&crc.to_le_bytes());
    write_whole(storage, path, &bytes, Access::Private)
}

fn read_master(path: &Path, bytes: Vec<u8>) -> Result<Secret, OpenError> {
    let bytes = Zeroizing::new(bytes);
    let bad = |what| OpenError::BadKey {
        path: path.to_owned(),
        what,
    };
    let (body, crc) = bytes
        .split_last_chunk::<4>()
        .ok_or_else(|| bad("it is too short"))?;
    if crc32c::crc32c(body) != u32::from_le_bytes(*crc) {
        return Err(bad("its crc is wrong"));
    }
    let mut take = Take(body);
    if take.array::<4>() != Some(*MASTER_MAGIC) {
        return Err(bad("it is no master key of this version"));
    }
    let secret = take.array::<32>().filter(|_| take.0.is_empty());
    secret
        .map(Secret::new)
        .ok_or_else(|| bad("it has another length"))
}
