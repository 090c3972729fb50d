//! A storage in memory, for stores that need not outlive their process.

use super::{Access, LockGuard, Storage, StorageFile};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// Files in memory; clones share them.
#[derive(Debug, Clone, Default)]
pub struct MemoryStorage {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    dirs: BTreeSet<PathBuf>,
    files: BTreeMap<PathBuf, Arc<MemoryFile>>,
    locked: BTreeSet<PathBuf>,
}

#[derive(Debug, Default)]
struct MemoryFile {
    bytes: RwLock<Vec<u8>>,
}

#[derive(Debug)]
struct MemoryLock {
    state: Arc<Mutex<State>>,
    path: PathBuf,
}

impl LockGuard for MemoryLock {}

impl Drop for MemoryLock {
    fn drop(&mut self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.locked.remove(&self.path);
    }
}

impl MemoryStorage {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Storage for MemoryStorage {
    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        for dir in path.ancestors() {
            state.dirs.insert(dir.to_owned());
        }
        Ok(())
    }

    fn create(&self, path: &Path, _access: Access) -> io::Result<Arc<dyn StorageFile>> {
        let mut state = self.state();
        if !path.parent().is_some_and(|dir| state.dirs.contains(dir)) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let file = Arc::new(MemoryFile::default());
        state.files.insert(path.to_owned(), Arc::clone(&file));
        Ok(file)
    }

    fn open(&self, path: &Path, _writable: bool) -> io::Result<Arc<dyn StorageFile>> {
        match self.state().files.get(path) {
            Some(file) => Ok(Arc::clone(file) as Arc<dyn StorageFile>),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        let file = state.files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        state.files.insert(to.to_owned(), file);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        match self.state().files.remove(path) {
            Some(_) => Ok(()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let state = self.state();
        if !state.dirs.contains(path) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let inside = state.files.keys().chain(state.dirs.iter());
        let names: BTreeSet<String> = inside
            .filter(|name| name.parent() == Some(path))
            .filter_map(|name| Some(name.file_name()?.to_string_lossy().into_owned()))
            .collect();
        Ok(names.into_iter().collect())
    }

    fn sync_dir(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn LockGuard>>> {
        if !self.state().locked.insert(path.to_owned()) {
            return Ok(None);
        }
        Ok(Some(Box::new(MemoryLock {
            state: Arc::clone(&self.state),
            path: path.to_owned(),
        })))
    }
}

fn span(offset: u64, bytes: usize) -> io::Result<(usize, usize)> {
    let start = usize::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput)?;
    let end = start
        .checked_add(bytes)
        .ok_or(io::ErrorKind::InvalidInput)?;
    Ok((start, end))
}

impl StorageFile for MemoryFile {
    fn size(&self) -> io::Result<u64> {
        let bytes = self.bytes.read().unwrap_or_else(PoisonError::into_inner);
        u64::try_from(bytes.len()).map_err(|_| io::ErrorKind::FileTooLarge.into())
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let bytes = self.bytes.read().unwrap_or_else(PoisonError::into_inner);
        let (start, end) = span(offset, into.len())?;
        let from = bytes.get(start..end).ok_or(io::ErrorKind::UnexpectedEof)?;
        into.copy_from_slice(from);
        Ok(())
    }

    fn write_at(&self, offset: u64, from: &[u8]) -> io::Result<()> {
        let mut bytes = self.bytes.write().unwrap_or_else(PoisonError::into_inner);
        let (start, end) = span(offset, from.len())?;
        if bytes.len() < end {
            bytes.resize(end, 0);
        }
        if let Some(to) = bytes.get_mut(start..end) {
            to.copy_from_slice(from);
        }
        Ok(())
    }

    fn set_size(&self, size: u64) -> io::Result<()> {
        let (size, _) = span(size, 0)?;
        let mut bytes = self.bytes.write().unwrap_or_else(PoisonError::into_inner);
        bytes.resize(size, 0);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}
