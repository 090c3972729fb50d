//! Segment files: their names and how a new one comes to be.
//!
//! A segment is made under a draft name, filled with zeros and synced before it gets its own name.
//! So a file that ends in `.seg` always has its whole size, and appending to it changes no
//! metadata that a sync would have to write.

use crate::storage::{Access, Storage, StorageFile, temporary};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const SUFFIX: &str = ".seg";
const DRAFT_SUFFIX: &str = ".seg.tmp";
static ZEROS: [u8; 64 * 1024] = [0; 64 * 1024];

pub(crate) fn path(log: &Path, first_seq: u64) -> PathBuf {
    log.join(format!("{first_seq:020}{SUFFIX}"))
}

/// Reads the first seq off a segment's name.
pub(crate) fn first_seq(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(SUFFIX)?;
    let plain = digits.len() == 20 && digits.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

pub(crate) fn is_draft(name: &str) -> bool {
    name.ends_with(DRAFT_SUFFIX)
}

/// Says whether a failed creation may have left a segment under its own name.
#[derive(Debug)]
pub(crate) enum CreateError {
    /// The draft could not be made; the log has not changed.
    Draft(io::Error),
    /// The draft was made; whether its name is durable is not known.
    Name(io::Error),
}

pub(crate) fn create(
    storage: &dyn Storage,
    log: &Path,
    path: &Path,
    size: u32,
) -> Result<Arc<dyn StorageFile>, CreateError> {
    let draft = temporary(path);
    let file = fill(storage, &draft, size).map_err(|error| {
        // A draft is no part of the log: what cannot be removed now goes at the next open.
        let _ = storage.remove(&draft);
        CreateError::Draft(error)
    })?;
    storage.rename(&draft, path).map_err(CreateError::Name)?;
    storage.sync_dir(log).map_err(CreateError::Name)?;
    Ok(file)
}

fn fill(storage: &dyn Storage, draft: &Path, size: u32) -> io::Result<Arc<dyn StorageFile>> {
    let file = storage.create(draft, Access::Shared)?;
    let mut at = 0;
    let size = u64::from(size);
    for chunk in std::iter::repeat(ZEROS.as_slice()) {
        let left = size - at;
        if left == 0 {
            break;
        }
        let count = crate::bytes::index(left).min(chunk.len());
        file.write_at(at, chunk.get(..count).unwrap_or_default())?;
        at += crate::bytes::wide(count);
    }
    file.sync()?;
    Ok(file)
}
