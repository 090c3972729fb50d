//! Where the payloads stand: read from the packs at open, kept in memory.

use crate::pack::{self, Damage, Header};
use crate::recovery::{Cut, OpenError, io_error};
use crate::storage::{Access, StorageFile, read_range, write_whole};
use crate::vault::Shared;
use crate::{VaultProblem, VaultRecovery};
use foldback_event::{AccountId, Digest};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where a payload stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) pack: u64,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    pub(crate) sealed_digest: Digest,
}

#[derive(Debug, Clone)]
pub(crate) struct Pack {
    pub(crate) path: PathBuf,
    pub(crate) file: Arc<dyn StorageFile>,
    /// Where the next entry goes.
    pub(crate) end: u64,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) packs: BTreeMap<u64, Pack>,
    pub(crate) entries: BTreeMap<(AccountId, Digest), Entry>,
    pub(crate) damaged: BTreeMap<(AccountId, Digest), (PathBuf, u64)>,
}

impl State {
    pub(crate) fn has_account(&self, account: AccountId) -> bool {
        let first = (account, Digest::from_bytes([0; 32]));
        let last = (account, Digest::from_bytes([0xff; 32]));
        self.entries.range(first..=last).next().is_some()
            || self.damaged.range(first..=last).next().is_some()
    }

    pub(crate) fn insert(&mut self, pack: u64, offset: u64, header: &Header) {
        let key = (header.label.account, header.label.address);
        self.damaged.remove(&key);
        self.entries.insert(
            key,
            Entry {
                pack,
                offset,
                bytes: header.entry_bytes(),
                sealed_digest: header.sealed_digest,
            },
        );
    }

    /// Forgets a pack and what stands in it.
    pub(crate) fn remove_pack(&mut self, number: u64, path: &Path) {
        self.packs.remove(&number);
        self.entries.retain(|_, entry| entry.pack != number);
        self.damaged.retain(|_, (file, _)| file != path);
    }

    pub(crate) fn damage(&mut self, path: &Path, damage: &Damage) -> VaultProblem {
        let label = damage.header.map(|header| header.label);
        if let Some(label) = label {
            let place = (path.to_owned(), damage.offset);
            self.damaged.insert((label.account, label.address), place);
        }
        VaultProblem {
            account: label.map(|label| label.account),
            address: label.map(|label| label.address),
            file: Some(path.to_owned()),
            offset: damage.offset,
            what: damage.what,
        }
    }
}

/// Reads the packs on from where they are known, cutting a torn tail where this is the writer.
pub(crate) fn read_packs(shared: &Shared, recovery: &mut VaultRecovery) -> Result<(), OpenError> {
    let storage = &*shared.storage;
    let names = match storage.list(&shared.packs) {
        Ok(names) => names,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(source) => return Err(io_error("list", &shared.packs)(source)),
    };
    let mut numbers: Vec<u64> = names.iter().filter_map(|name| pack::number(name)).collect();
    numbers.sort_unstable();
    forget_gone(shared, &numbers);
    for number in &numbers {
        let path = pack::path(&shared.packs, *number);
        let known = shared.state().packs.get(number).cloned();
        let start = known.as_ref().map_or(0, |pack| pack.end);
        let file = match known {
            Some(pack) => pack.file,
            None => storage
                .open(&path, !shared.read_only)
                .map_err(io_error("open", &path))?,
        };
        let size = file.size().map_err(io_error("read", &path))?;
        let last = numbers.last() == Some(number);
        let mut found = pack::walk(&*file, start, size, last).map_err(io_error("read", &path))?;
        let behind = if last { found.cut_torn() } else { Vec::new() };
        let mut state = shared.state_mut();
        for damage in found
            .damaged
            .iter()
            .chain(found.tail.iter().filter(|_| !last))
        {
            recovery.problems.push(state.damage(&path, damage));
        }
        for (offset, header) in found.entries.iter().chain(&behind) {
            state.insert(*number, *offset, header);
        }
        let end = if last { found.end } else { size };
        let opened = Pack {
            path: path.clone(),
            file: Arc::clone(&file),
            end,
        };
        state.packs.insert(*number, opened);
        drop(state);
        if last && !shared.read_only && end < size {
            let mut whole = Vec::new();
            for (offset, header) in &behind {
                let bytes = read_range(&*file, *offset, header.entry_bytes());
                whole.push((header, bytes.map_err(io_error("read", &path))?));
            }
            recovery.cut = Some(cut(shared, &names, &path, &*file, end, size)?);
            move_up(shared, *number, &path, &*file, &whole)?;
        }
    }
    Ok(())
}

/// Forgets packs that an erasure elsewhere has written anew.
fn forget_gone(shared: &Shared, numbers: &[u64]) {
    let mut state = shared.state_mut();
    let gone = state
        .packs
        .iter()
        .filter(|(number, _)| !numbers.contains(number));
    let gone: Vec<(u64, PathBuf)> = gone.map(|(n, pack)| (*n, pack.path.clone())).collect();
    for (number, path) in gone {
        state.remove_pack(number, &path);
    }
}

/// Writes what reads of a torn write again, where the torn part stood.
fn move_up(
    shared: &Shared,
    number: u64,
    path: &Path,
    file: &dyn StorageFile,
    whole: &[(&Header, Vec<u8>)],
) -> Result<(), OpenError> {
    let mut state = shared.state_mut();
    let Some(pack) = state.packs.get(&number) else {
        return Ok(());
    };
    let mut end = pack.end;
    for (header, bytes) in whole {
        file.write_at(end, bytes).map_err(io_error("write", path))?;
        state.insert(number, end, header);
        end += crate::bytes::wide(bytes.len());
    }
    if !whole.is_empty() {
        file.sync().map_err(io_error("write", path))?;
    }
    if let Some(pack) = state.packs.get_mut(&number) {
        pack.end = end;
    }
    Ok(())
}

fn cut(
    shared: &Shared,
    names: &[String],
    path: &Path,
    file: &dyn StorageFile,
    end: u64,
    size: u64,
) -> Result<Cut, OpenError> {
    let torn = read_range(file, end, size - end).map_err(io_error("read", path))?;
    let mut number = 1_u64;
    let kept = loop {
        let name = format!("cut-{end:020}-{number}.bin");
        if !names.contains(&name) {
            break shared.packs.join(name);
        }
        number += 1;
    };
    write_whole(&*shared.storage, &kept, &torn, Access::Private)
        .map_err(io_error("write", &kept))?;
    file.set_size(end)
        .and_then(|()| file.sync())
        .map_err(io_error("cut", path))?;
    tracing::warn!(bytes = size - end, "torn pack tail cut off and kept aside");
    Ok(Cut {
        file: path.to_owned(),
        offset: end,
        bytes: size - end,
        kept,
    })
}
