//! The file operations that the log and the vault are built on.
//!
//! Everything that touches a disk goes through [`Storage`], so that tests can put a storage below
//! the log that fails, fills up or loses what was not synced.
//! Two storages live here: [`FsStorage`], the only module that uses `std::fs`, and
//! [`MemoryStorage`], which keeps everything in memory.

mod fs;
mod memory;

pub use fs::FsStorage;
pub(crate) use fs::remove_tree;
pub use memory::MemoryStorage;

use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Says who may read a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Whom the process's mask allows.
    Shared,
    /// The owner alone: the file holds a key.
    Private,
}

/// Holds a lock until it is dropped.
pub trait LockGuard: Debug + Send {}

/// The directory operations of a storage.
///
/// An implementer promises:
/// - a file's bytes are durable once [`StorageFile::sync`] has returned, and a created, renamed or
///   removed name once [`Storage::sync_dir`] of its directory has;
/// - a rename replaces an existing name in one step;
/// - after an error of a sync, nothing is known about what was written since the last good one.
pub trait Storage: Debug + Send + Sync {
    /// Creates a directory and those above it, where they do not exist.
    fn create_dir_all(&self, path: &Path) -> io::Result<()>;

    /// Creates an empty file for reading and writing, or empties the one that is there.
    fn create(&self, path: &Path, access: Access) -> io::Result<Arc<dyn StorageFile>>;

    /// Opens a file that exists, for writing too where `writable` is set.
    fn open(&self, path: &Path, writable: bool) -> io::Result<Arc<dyn StorageFile>>;

    /// Gives a file another name in one step.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Gives the names in a directory, in order.
    fn list(&self, path: &Path) -> io::Result<Vec<String>>;

    /// Makes the names of a directory durable.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;

    /// Takes the exclusive lock of a file, which is created where needed; `None` where another
    /// holder has it.
    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn LockGuard>>>;
}

/// An open file of a storage.
pub trait StorageFile: Debug + Send + Sync {
    /// Gives the length.
    fn size(&self) -> io::Result<u64>;

    /// Fills `into` from `offset`; a file that ends before is an `UnexpectedEof` error.
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<()>;

    /// Writes all of `bytes` at `offset`, making the file longer where needed.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Cuts the file, or fills it up with zeros, to `size` bytes.
    fn set_size(&self, size: u64) -> io::Result<()>;

    /// Makes what was written durable.
    fn sync(&self) -> io::Result<()>;
}

/// Reads a range of a file.
pub(crate) fn read_range(file: &dyn StorageFile, offset: u64, bytes: u64) -> io::Result<Vec<u8>> {
    let size = usize::try_from(bytes).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let mut out = vec![0; size];
    file.read_at(offset, &mut out)?;
    Ok(out)
}

/// Reads a whole file; `None` where there is none.
pub(crate) fn read_file(storage: &dyn Storage, path: &Path) -> io::Result<Option<Vec<u8>>> {
    let file = match storage.open(path, false) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let size = file.size()?;
    read_range(&*file, 0, size).map(Some)
}

/// Gives the name under which a file is written before it is renamed to its own.
pub(crate) fn temporary(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".tmp");
    PathBuf::from(name)
}

/// Writes a file so that after a crash either the old content is there or the new.
pub(crate) fn write_whole(
    storage: &dyn Storage,
    path: &Path,
    bytes: &[u8],
    access: Access,
) -> io::Result<()> {
    let draft = temporary(path);
    let file = storage.create(&draft, access)?;
    file.write_at(0, bytes)?;
    file.sync()?;
    drop(file);
    storage.rename(&draft, path)?;
    match path.parent() {
        Some(dir) => storage.sync_dir(dir),
        None => Ok(()),
    }
}
