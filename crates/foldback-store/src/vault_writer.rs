//! The vault's writer: one thread that seals payloads and appends them to the last pack.
//!
//! Like the log's writer it serves everything that waits with one write and one sync, and after a
//! failure of either it takes nothing more.

use crate::bytes::wide;
use crate::keys::AccountKeys;
use crate::pack::{self, Header};
use crate::storage::{Access, LockGuard};
use crate::vault::{Sealed, Shared};
use crate::vault_erase::{self, Erase, Erased};
use crate::vault_index::{Entry, Pack};
use crate::{PutError, seal};
use foldback_event::{AccountId, Digest};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

const PACK_BYTES: u64 = 32 * 1024 * 1024;
const GROUP_PUTS_MAX: usize = 1024;
const GROUP_BYTES_MAX: usize = 8 * 1024 * 1024;

type Reply = oneshot::Sender<Result<Vec<Sealed>, PutError>>;

#[derive(Debug)]
pub(crate) struct Put {
    pub(crate) account: AccountId,
    pub(crate) payloads: Vec<Vec<u8>>,
    pub(crate) reply: Reply,
}

/// An erasure to be carried out.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) account: AccountId,
    pub(crate) what: Erase,
    pub(crate) reply: oneshot::Sender<Result<Erased, PutError>>,
}

#[derive(Debug)]
pub(crate) enum Message {
    Put(Put),
    Erase(Order),
}

#[derive(Debug)]
pub(crate) struct VaultWriter {
    shared: Arc<Shared>,
    queue: mpsc::Receiver<Message>,
    // Given back when the writer ends.
    _lock: Box<dyn LockGuard>,
    pack_bytes: u64,
    poisoned: bool,
}

/// What is sealed and waits for the write.
#[derive(Debug, Default)]
struct Group {
    bytes: Vec<u8>,
    /// The headers with their places in `bytes`.
    headers: Vec<(u64, Header)>,
    fresh: BTreeMap<(AccountId, Digest), Digest>,
}

/// A failed file operation, told to everyone whose payloads it may have had.
#[derive(Debug, Clone)]
struct Failed {
    what: &'static str,
    path: PathBuf,
    source: Arc<io::Error>,
}

impl From<Failed> for PutError {
    fn from(failed: Failed) -> Self {
        Self::Io {
            what: failed.what,
            path: failed.path,
            source: failed.source,
        }
    }
}

impl VaultWriter {
    pub(crate) fn new(
        shared: Arc<Shared>,
        queue: mpsc::Receiver<Message>,
        lock: Box<dyn LockGuard>,
        pack_bytes: u64,
    ) -> Self {
        Self {
            shared,
            queue,
            _lock: lock,
            pack_bytes: if pack_bytes == 0 {
                PACK_BYTES
            } else {
                pack_bytes
            },
            poisoned: false,
        }
    }

    /// Serves the queue until the last handle is gone.
    pub(crate) fn run(mut self) {
        let mut waiting = Vec::new();
        while let Some(first) = self.queue.blocking_recv() {
            let mut next = Some(first);
            while let Some(message) = next {
                match message {
                    Message::Put(put) => waiting.push(put),
                    Message::Erase(order) => {
                        self.serve(std::mem::take(&mut waiting));
                        self.erase(order);
                    }
                }
                let more = waiting.len() < GROUP_PUTS_MAX;
                next = more.then(|| self.queue.try_recv().ok()).flatten();
            }
            self.serve(std::mem::take(&mut waiting));
        }
    }

    fn erase(&mut self, order: Order) {
        let erased = if self.poisoned {
            Err(PutError::Poisoned)
        } else {
            let done = vault_erase::erase(&self.shared, order.account, &order.what);
            done.map_err(|source| PutError::Io {
                what: "erase in",
                path: self.shared.packs.clone(),
                source: Arc::new(source),
            })
        };
        if let Ok(done) = &erased {
            tracing::info!(count = done.payloads, packs = done.packs, "payloads erased");
        }
        // A caller that went away does not want the answer.
        let _ = order.reply.send(erased);
    }

    fn serve(&mut self, waiting: Vec<Put>) {
        let mut group = Group::default();
        let mut answers = Vec::with_capacity(waiting.len());
        let mut failure = None;
        for put in waiting {
            let answer = self.stage(&mut group, &put, &mut failure);
            answers.push((put.reply, answer));
        }
        if failure.is_none() {
            failure = self.flush(&mut group).err();
        }
        for (reply, answer) in answers {
            let answer = match (answer, &failure) {
                // Some of it may rest on the failed write.
                (Ok(_), Some(failed)) => Err(failed.clone().into()),
                (answer, _) => answer,
            };
            // A caller that went away does not want the answer.
            let _ = reply.send(answer);
        }
    }

    /// Seals what is new of a put behind what is staged.
    fn stage(
        &mut self,
        group: &mut Group,
        put: &Put,
        failure: &mut Option<Failed>,
    ) -> Result<Vec<Sealed>, PutError> {
        if let Some(failed) = failure {
            return Err(failed.clone().into());
        }
        if self.poisoned {
            return Err(PutError::Poisoned);
        }
        let keys = self.shared.keys_of(put.account)?;
        let mut out = Vec::with_capacity(put.payloads.len());
        for plain in &put.payloads {
            out.push(self.seal(group, put.account, &keys, plain)?);
            if group.bytes.len() >= GROUP_BYTES_MAX
                && let Err(failed) = self.flush(group)
            {
                *failure = Some(failed.clone());
                return Err(failed.into());
            }
        }
        Ok(out)
    }

    fn seal(
        &self,
        group: &mut Group,
        account: AccountId,
        keys: &AccountKeys,
        plain: &[u8],
    ) -> Result<Sealed, PutError> {
        let address = keys.address(plain);
        let key = (account, address);
        let stored = |entry: &Entry| entry.sealed_digest;
        let found = match group.fresh.get(&key).copied() {
            Some(digest) => Some(digest),
            None => self.shared.state().entries.get(&key).map(stored),
        };
        let bytes = wide(plain.len());
        if let Some(sealed_digest) = found {
            return Ok(Sealed {
                address,
                sealed_digest,
                bytes,
            });
        }
        let failed = |source| Failed {
            what: "seal a payload for",
            path: self.shared.packs.clone(),
            source: Arc::new(source),
        };
        let (label, sealed) = seal::seal(keys, account, address, plain).map_err(failed)?;
        let sealed_digest = label.digest(&sealed);
        let header = Header {
            label,
            sealed_digest,
            // A payload has at most 256 MiB, and sealing adds sixteen bytes.
            sealed_bytes: u32::try_from(sealed.len()).unwrap_or(u32::MAX),
            continues: !group.headers.is_empty(),
        };
        group.headers.push((wide(group.bytes.len()), header));
        header.write(&mut group.bytes);
        group.bytes.extend_from_slice(&sealed);
        group.fresh.insert(key, sealed_digest);
        Ok(Sealed {
            address,
            sealed_digest,
            bytes,
        })
    }

    /// Writes and syncs what is staged and makes it findable.
    fn flush(&mut self, group: &mut Group) -> Result<(), Failed> {
        let group = std::mem::take(group);
        if group.headers.is_empty() {
            return Ok(());
        }
        let (number, pack) = self.pack()?;
        let written = pack
            .file
            .write_at(pack.end, &group.bytes)
            .and_then(|()| pack.file.sync());
        if let Err(source) = written {
            self.poisoned = true;
            tracing::warn!(error = %source, "a write to the vault failed; it takes no more");
            return Err(Failed {
                what: "write",
                path: pack.path,
                source: Arc::new(source),
            });
        }
        let mut state = self.shared.state_mut();
        for (at, header) in &group.headers {
            state.insert(number, pack.end + at, header);
        }
        if let Some(open) = state.packs.get_mut(&number) {
            open.end = pack.end + wide(group.bytes.len());
        }
        drop(state);
        tracing::debug!(
            count = group.headers.len(),
            bytes = group.bytes.len(),
            "payloads stored"
        );
        Ok(())
    }

    /// Gives the pack that takes the next entries, starting one where the last is full.
    fn pack(&mut self) -> Result<(u64, Pack), Failed> {
        let last = {
            let state = self.shared.state();
            let last = state.packs.last_key_value();
            last.map(|(number, pack)| (*number, pack.clone()))
        };
        let number = match last {
            Some((number, pack)) if pack.end < self.pack_bytes => return Ok((number, pack)),
            Some((number, _)) => number + 1,
            None => 1,
        };
        let path = pack::path(&self.shared.packs, number);
        let storage = &self.shared.storage;
        let failed = |source| Failed {
            what: "make",
            path: path.clone(),
            source: Arc::new(source),
        };
        let file = storage.create(&path, Access::Shared).map_err(failed)?;
        storage.sync_dir(&self.shared.packs).map_err(|source| {
            self.poisoned = true;
            failed(source)
        })?;
        let pack = Pack {
            path: path.clone(),
            file,
            end: 0,
        };
        self.shared.state_mut().packs.insert(number, pack.clone());
        Ok((number, pack))
    }
}
