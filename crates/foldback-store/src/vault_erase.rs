//! Erasing payloads: packs are written anew without them, and the old bytes are overwritten.
//!
//! The new pack is whole and durable before the old one goes, so a crash at any point loses nothing
//! that was to stay; what was to go may then still be there, and erasing it again ends the work.
//! An old pack is renamed to a draft first, so that no reader takes a half overwritten one for damage;
//! drafts that a crash left behind are overwritten and removed when the vault is opened for writing.

use crate::bytes::wide;
use crate::pack::{self, HEADER, Header};
use crate::storage::{Access, Storage, StorageFile, read_range, temporary};
use crate::vault::Shared;
use crate::vault_index::Pack;
use foldback_event::{AccountId, Digest};
use std::collections::BTreeSet;
use std::io;
use std::path::Path;

/// What is to be erased of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Erase {
    /// These payloads.
    Payloads(BTreeSet<Digest>),
    /// All payloads.
    All,
}

/// What erasing did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Erased {
    /// How many payloads were destroyed.
    pub payloads: u64,
    /// How many sealed bytes they had.
    pub bytes: u64,
    /// How many packs were written anew.
    pub packs: u64,
    /// How many files with bytes that were cut off at an open were destroyed.
    pub cuts: u64,
}

const CHUNK: usize = 1024 * 1024;

impl Erase {
    fn covers(&self, address: &Digest) -> bool {
        match self {
            Self::Payloads(addresses) => addresses.contains(address),
            Self::All => true,
        }
    }
}

/// Destroys payloads of an account in every pack, whether or not the index leads to them.
pub(crate) fn erase(shared: &Shared, account: AccountId, what: &Erase) -> io::Result<Erased> {
    let mut done = Erased::default();
    let packs: Vec<(u64, Pack)> = {
        let state = shared.state();
        let packs = state.packs.iter();
        packs
            .map(|(number, pack)| (*number, pack.clone()))
            .collect()
    };
    let mut gone = BTreeSet::new();
    for (number, pack) in packs {
        let found = pack::walk(&*pack.file, 0, pack.end, false)?;
        let (dead, live): (Vec<_>, Vec<_>) = found.entries.into_iter().partition(|(_, header)| {
            header.label.account == account && what.covers(&header.label.address)
        });
        if dead.is_empty() {
            continue;
        }
        rewrite(shared, number, &pack, &live)?;
        done.packs += 1;
        for (_, header) in dead {
            done.bytes += u64::from(header.sealed_bytes);
            gone.insert(header.label.address);
        }
    }
    done.payloads = wide(gone.len());
    for name in shared.storage.list(&shared.packs)? {
        if name.starts_with("cut-") {
            destroy(&*shared.storage, &shared.packs.join(name))?;
            done.cuts += 1;
        }
    }
    shared.storage.sync_dir(&shared.packs)?;
    Ok(done)
}

/// Writes a pack anew with what stays of it, under the next number, and destroys the old one.
///
/// The new pack is made even if nothing stays, so that a number is never used twice.
fn rewrite(shared: &Shared, number: u64, old: &Pack, live: &[(u64, Header)]) -> io::Result<()> {
    let storage = &*shared.storage;
    let last = shared.state().packs.keys().next_back().copied();
    let next = last.unwrap_or(number) + 1;
    let path = pack::path(&shared.packs, next);
    let draft = temporary(&path);
    let file = storage.create(&draft, Access::Shared)?;
    let mut end = 0;
    let mut moved = Vec::with_capacity(live.len());
    for (at, header) in live {
        // Each stands for itself from here on: what it was written with may be gone.
        let header = Header {
            continues: false,
            ..*header
        };
        let sealed = u64::from(header.sealed_bytes);
        let mut bytes = Vec::new();
        header.write(&mut bytes);
        bytes.extend(read_range(&*old.file, *at + wide(HEADER), sealed)?);
        file.write_at(end, &bytes)?;
        moved.push((end, header));
        end += wide(bytes.len());
    }
    file.sync()?;
    drop(file);
    storage.rename(&draft, &path)?;
    storage.sync_dir(&shared.packs)?;
    let file = storage.open(&path, true)?;
    let mut state = shared.state_mut();
    state.remove_pack(number, &old.path);
    for (at, header) in moved {
        state.insert(next, at, &header);
    }
    state.packs.insert(next, Pack { path, file, end });
    drop(state);
    destroy(storage, &old.path)?;
    storage.sync_dir(&shared.packs)
}

/// Overwrites a file as far as the file system lets one, and removes it.
fn destroy(storage: &dyn Storage, path: &Path) -> io::Result<()> {
    let draft = if path.extension().is_some_and(|ending| ending == "tmp") {
        path.to_owned()
    } else {
        let draft = temporary(path);
        storage.rename(path, &draft)?;
        if let Some(dir) = path.parent() {
            storage.sync_dir(dir)?;
        }
        draft
    };
    overwrite(&*storage.open(&draft, true)?)?;
    storage.remove(&draft)
}

fn overwrite(file: &dyn StorageFile) -> io::Result<()> {
    let size = file.size()?;
    let zeros = vec![0; CHUNK];
    let mut at = 0;
    while at < size {
        let part = usize::try_from(size - at).unwrap_or(CHUNK).min(CHUNK);
        file.write_at(at, zeros.get(..part).unwrap_or_default())?;
        at += wide(part);
    }
    file.sync()
}

/// Destroys what an erasure that was cut short left behind.
pub(crate) fn sweep(storage: &dyn Storage, packs: &Path) -> io::Result<()> {
    let names = storage.list(packs)?;
    let drafts: Vec<&String> = names
        .iter()
        .filter(|name| name.strip_suffix(".tmp").is_some())
        .collect();
    for name in &drafts {
        destroy(storage, &packs.join(name))?;
    }
    if drafts.is_empty() {
        Ok(())
    } else {
        storage.sync_dir(packs)
    }
}
