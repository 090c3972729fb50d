//! A storage that fails on demand.
//!
//! The fault model: every file has a live image, which reads see, and a durable one, which a loss
//! of power leaves. A sync copies live to durable for one file; names become durable when their
//! directory is synced. At the loss of power each 512-byte sector that was written and not synced
//! is kept or lost on its own, and so is each name. From the operation on at which the power goes,
//! every operation fails; a write at that point reaches the live image in part.
//! Apart from that a single sync can fail, and the disk can be full for bytes that make a file
//! longer.

use foldback_store::{Access, LockGuard, Storage, StorageFile};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

const SECTOR: usize = 512;

/// What a loss of power leaves of what was not synced.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Loss {
    /// Everything: only the process died.
    Nothing,
    /// Nothing.
    All,
    /// Each sector and each name by a coin that this seeds.
    Some(u64),
}

#[derive(Debug, Clone, Default)]
struct Image {
    live: Vec<u8>,
    durable: Vec<u8>,
}

#[derive(Debug, Default)]
struct State {
    dirs: BTreeSet<PathBuf>,
    files: BTreeMap<u64, Image>,
    live_names: BTreeMap<PathBuf, u64>,
    durable_names: BTreeMap<PathBuf, u64>,
    next: u64,
    locked: BTreeSet<PathBuf>,
    operations: u64,
    syncs: u64,
    crash_at: Option<u64>,
    fail_syncs: bool,
    free: Option<usize>,
    held: bool,
    waiting: u64,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct FaultStorage {
    shared: Arc<(Mutex<State>, Condvar)>,
}

/// A small generator of coins, so that a seed tells the whole run.
struct Coins(u64);

impl Coins {
    fn toss(&mut self) -> bool {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 & 0x10 != 0
    }
}

fn gone() -> io::Error {
    io::Error::other("the power is gone")
}

impl State {
    /// Counts an operation; `Ok(true)` says that the power goes during it.
    fn operate(&mut self) -> io::Result<bool> {
        let now = self.operations;
        self.operations += 1;
        match self.crash_at {
            Some(at) if now > at => Err(gone()),
            Some(at) => Ok(now == at),
            None => Ok(false),
        }
    }

    fn whole(&mut self) -> io::Result<()> {
        if self.operate()? { Err(gone()) } else { Ok(()) }
    }
}

impl FaultStorage {
    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.0.lock().unwrap()
    }

    /// Counts an operation that is done whole or not at all.
    fn whole(&self) -> io::Result<MutexGuard<'_, State>> {
        let mut state = self.state();
        let alive = state.whole();
        self.shared.1.notify_all();
        alive.map(|()| state)
    }

    /// Lets the power go at the operation of this number.
    pub(crate) fn crash_at(&self, operation: u64) {
        self.state().crash_at = Some(operation);
    }

    pub(crate) fn fail_syncs(&self, fail: bool) {
        self.state().fail_syncs = fail;
    }

    /// Leaves room for this many more bytes.
    pub(crate) fn free(&self, bytes: Option<usize>) {
        self.state().free = bytes;
    }

    pub(crate) fn operations(&self) -> u64 {
        self.state().operations
    }

    pub(crate) fn syncs(&self) -> u64 {
        self.state().syncs
    }

    /// Makes file syncs wait until [`release`](Self::release).
    pub(crate) fn hold(&self) {
        self.state().held = true;
    }

    pub(crate) fn release(&self) {
        self.state().held = false;
        self.shared.1.notify_all();
    }

    /// Waits until a sync waits, or the power is gone.
    pub(crate) fn wait_for_sync(&self) {
        let mut state = self.state();
        let gone = |state: &State| state.crash_at.is_some_and(|at| state.operations > at);
        while state.waiting == 0 && !gone(&state) {
            state = self.shared.1.wait(state).unwrap();
        }
    }

    /// Gives the storage that is found when the machine is up again.
    pub(crate) fn after(&self, loss: Loss) -> Self {
        let state = self.state();
        let mut coins = Coins(match loss {
            Loss::Some(seed) => seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            _ => 1,
        });
        let mut keep = |loss| match loss {
            Loss::Nothing => true,
            Loss::All => false,
            Loss::Some(_) => coins.toss(),
        };
        let mut names = BTreeMap::new();
        let all: BTreeSet<&PathBuf> = state
            .live_names
            .keys()
            .chain(state.durable_names.keys())
            .collect();
        for path in all {
            let (live, durable) = (state.live_names.get(path), state.durable_names.get(path));
            let kept = if live == durable || keep(loss) {
                live
            } else {
                durable
            };
            if let Some(file) = kept {
                names.insert(path.clone(), *file);
            }
        }
        let mut next = State {
            dirs: state.dirs.clone(),
            next: state.next,
            ..State::default()
        };
        for (path, file) in names {
            let image = &state.files[&file];
            let size = if image.live.len() == image.durable.len() || keep(loss) {
                image.live.len()
            } else {
                image.durable.len()
            };
            let mut bytes = vec![0; size];
            for start in (0..size).step_by(SECTOR) {
                let end = (start + SECTOR).min(size);
                let sector = |from: &Vec<u8>| {
                    let mut out = vec![0; end - start];
                    let have = from.get(start..end.min(from.len())).unwrap_or_default();
                    out[..have.len()].copy_from_slice(have);
                    out
                };
                let (live, durable) = (sector(&image.live), sector(&image.durable));
                let kept = if live == durable || keep(loss) {
                    live
                } else {
                    durable
                };
                bytes[start..end].copy_from_slice(&kept);
            }
            next.put(path, bytes);
        }
        drop(state);
        Self::of(next)
    }

    /// Gives a storage with the same files and no faults.
    pub(crate) fn copy(&self) -> Self {
        self.after(Loss::Nothing)
    }

    fn of(state: State) -> Self {
        Self {
            shared: Arc::new((Mutex::new(state), Condvar::new())),
        }
    }

    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.state().live_names.keys().cloned().collect()
    }

    /// Gives the files whose names end so, in order.
    pub(crate) fn ending(&self, suffix: &str) -> Vec<PathBuf> {
        let fits = |path: &PathBuf| path.to_string_lossy().ends_with(suffix);
        self.paths().into_iter().filter(fits).collect()
    }

    pub(crate) fn bytes(&self, path: &Path) -> Vec<u8> {
        let state = self.state();
        state.files[&state.live_names[path]].live.clone()
    }

    pub(crate) fn set(&self, path: &Path, bytes: Vec<u8>) {
        let mut state = self.state();
        let file = state.live_names[path];
        state.files.insert(
            file,
            Image {
                durable: bytes.clone(),
                live: bytes,
            },
        );
    }

    pub(crate) fn flip(&self, path: &Path, offset: usize, mask: u8) {
        let mut bytes = self.bytes(path);
        bytes[offset] ^= mask;
        self.set(path, bytes);
    }

    pub(crate) fn delete(&self, path: &Path) {
        let mut state = self.state();
        state.live_names.remove(path);
        state.durable_names.remove(path);
    }
}

impl State {
    fn put(&mut self, path: PathBuf, bytes: Vec<u8>) {
        self.next += 1;
        let image = Image {
            durable: bytes.clone(),
            live: bytes,
        };
        self.files.insert(self.next, image);
        self.live_names.insert(path.clone(), self.next);
        self.durable_names.insert(path, self.next);
    }
}

#[derive(Debug)]
struct FaultFile {
    storage: FaultStorage,
    file: u64,
}

#[derive(Debug)]
struct FaultLock {
    storage: FaultStorage,
    path: PathBuf,
}

impl LockGuard for FaultLock {}

impl Drop for FaultLock {
    fn drop(&mut self) {
        self.storage.state().locked.remove(&self.path);
    }
}

impl Storage for FaultStorage {
    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.dirs.extend(path.ancestors().map(Path::to_owned));
        Ok(())
    }

    fn create(&self, path: &Path, _access: Access) -> io::Result<Arc<dyn StorageFile>> {
        let mut state = self.whole()?;
        assert!(
            state.dirs.contains(path.parent().unwrap()),
            "{}",
            path.display()
        );
        state.next += 1;
        let file = state.next;
        state.files.insert(file, Image::default());
        state.live_names.insert(path.to_owned(), file);
        drop(state);
        Ok(Arc::new(FaultFile {
            storage: self.clone(),
            file,
        }))
    }

    fn open(&self, path: &Path, _writable: bool) -> io::Result<Arc<dyn StorageFile>> {
        match self.state().live_names.get(path) {
            Some(file) => Ok(Arc::new(FaultFile {
                storage: self.clone(),
                file: *file,
            })),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.whole()?;
        let file = state
            .live_names
            .remove(from)
            .ok_or(io::ErrorKind::NotFound)?;
        state.live_names.insert(to.to_owned(), file);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.whole()?;
        let gone = state.live_names.remove(path);
        gone.map(drop).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let state = self.state();
        if !state.dirs.contains(path) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let inside = state.live_names.keys().chain(&state.dirs);
        let names: BTreeSet<String> = inside
            .filter(|name| name.parent() == Some(path))
            .map(|name| name.file_name().unwrap().to_str().unwrap().to_owned())
            .collect();
        Ok(names.into_iter().collect())
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let mut state = self.whole()?;
        let inside = |name: &Path| name.parent() == Some(path);
        state.durable_names.retain(|name, _| !inside(name));
        let live = state.live_names.clone();
        let live = live.into_iter().filter(|(name, _)| inside(name));
        state.durable_names.extend(live);
        Ok(())
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn LockGuard>>> {
        if !self.state().locked.insert(path.to_owned()) {
            return Ok(None);
        }
        Ok(Some(Box::new(FaultLock {
            storage: self.clone(),
            path: path.to_owned(),
        })))
    }
}

impl StorageFile for FaultFile {
    fn size(&self) -> io::Result<u64> {
        let state = self.storage.state();
        Ok(u64::try_from(state.files[&self.file].live.len()).unwrap())
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let state = self.storage.state();
        let start = usize::try_from(offset).unwrap();
        let live = &state.files[&self.file].live;
        let from = live.get(start..start + into.len());
        into.copy_from_slice(from.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.storage.state();
        let crashed = state.operate()?;
        self.storage.shared.1.notify_all();
        let start = usize::try_from(offset).unwrap();
        let have = state.files[&self.file].live.len();
        let mut count = if crashed {
            bytes.len() / 2
        } else {
            bytes.len()
        };
        let mut full = false;
        let more = (start + count).saturating_sub(have);
        if let Some(free) = state.free {
            full = more > free;
            count -= more.saturating_sub(free).min(count);
            state.free = Some(free.saturating_sub(more));
        }
        let live = &mut state.files.get_mut(&self.file).unwrap().live;
        if live.len() < start + count {
            live.resize(start + count, 0);
        }
        live[start..start + count].copy_from_slice(&bytes[..count]);
        if full {
            return Err(io::ErrorKind::StorageFull.into());
        }
        if crashed { Err(gone()) } else { Ok(()) }
    }

    fn set_size(&self, size: u64) -> io::Result<()> {
        let mut state = self.storage.whole()?;
        let size = usize::try_from(size).unwrap();
        let file = state.files.get_mut(&self.file).unwrap();
        file.live.resize(size, 0);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.storage.state();
        state.waiting += 1;
        self.storage.shared.1.notify_all();
        while state.held {
            state = self.storage.shared.1.wait(state).unwrap();
        }
        state.waiting -= 1;
        drop(state);
        let mut state = self.storage.whole()?;
        if state.fail_syncs {
            return Err(io::Error::other("the disk failed"));
        }
        state.syncs += 1;
        let image = state.files.get_mut(&self.file).unwrap();
        image.durable = image.live.clone();
        Ok(())
    }
}
