//! The `STORE` file: which format a directory has and which store it is.

use crate::OpenError;
use crate::storage::{Access, Storage, read_file, write_whole};
use foldback_event::{Digest, StoreId};
use std::io;
use std::path::{Path, PathBuf};

/// The newest format that this build reads and the one it writes.
pub const FORMAT: u32 = 1;

const NAME: &str = "STORE";
const FIRST_LINE: &str = "foldback store";
const CHECK_CONTEXT: &str = "foldback 2026 store file v1";
const GENESIS_CONTEXT: &str = "foldback 2026 log genesis v1";

/// The name of the lock file, beside `STORE`.
pub(crate) const LOCK: &str = "LOCK";

/// What the `STORE` file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) store: StoreId,
}

fn text(format: u32, store: StoreId) -> String {
    let body = format!("{FIRST_LINE}\nformat {format}\nid {store}\n");
    let check = Digest::of(CHECK_CONTEXT, body.as_bytes()).short();
    format!("{body}check {check}\n")
}

impl Manifest {
    /// The commit digest before the first commit: it differs from store to store, so that no
    /// segment of another store passes for one of this.
    pub(crate) fn genesis(&self) -> Digest {
        Digest::of(GENESIS_CONTEXT, self.store.as_bytes())
    }

    /// Reads the file; `None` where the directory is empty or missing, so that a store can be
    /// made there.
    pub(crate) fn read(storage: &dyn Storage, dir: &Path) -> Result<Option<Self>, OpenError> {
        let path = dir.join(NAME);
        let bytes = read_file(storage, &path).map_err(|source| OpenError::Io {
            what: "read",
            path: path.clone(),
            source,
        })?;
        match bytes {
            Some(bytes) => parse(&path, &bytes).map(Some),
            None => ensure_empty(storage, dir).map(|()| None),
        }
    }

    /// Makes the store's directory and its `STORE` file.
    pub(crate) fn create(
        storage: &dyn Storage,
        dir: &Path,
        store: StoreId,
    ) -> Result<Self, OpenError> {
        let path = dir.join(NAME);
        write_whole(
            storage,
            &path,
            text(FORMAT, store).as_bytes(),
            Access::Shared,
        )
        .map_err(|source| OpenError::Io {
            what: "write",
            path,
            source,
        })?;
        tracing::info!(store = %store, "store created");
        Ok(Self { store })
    }
}

fn ensure_empty(storage: &dyn Storage, dir: &Path) -> Result<(), OpenError> {
    // What a creation that was cut short leaves behind is no content.
    let draft = format!("{NAME}.tmp");
    match storage.list(dir) {
        Ok(names) if names.iter().all(|name| *name == draft || name == LOCK) => Ok(()),
        Ok(_) => Err(OpenError::NotAStore {
            path: dir.to_owned(),
            what: "it is not empty and has no STORE file",
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Err(OpenError::NotAStore {
            path: dir.to_owned(),
            what: "it is no directory",
        }),
        Err(source) => Err(OpenError::Io {
            what: "list",
            path: dir.to_owned(),
            source,
        }),
    }
}

fn parse(path: &Path, bytes: &[u8]) -> Result<Manifest, OpenError> {
    let bad = |what| OpenError::BadStoreFile {
        path: PathBuf::from(path),
        what,
    };
    let found = std::str::from_utf8(bytes).map_err(|_| bad("it is not UTF-8"))?;
    let mut lines = found.lines();
    if lines.next() != Some(FIRST_LINE) {
        return Err(bad("its first line is not `foldback store`"));
    }
    let format = lines
        .next()
        .and_then(|line| line.strip_prefix("format "))
        .and_then(|number| number.parse::<u32>().ok())
        .ok_or_else(|| bad("it has no format number"))?;
    // Only the two lines above are promised for later formats.
    if format > FORMAT {
        return Err(OpenError::TooNew {
            path: path.to_owned(),
            found: format,
            supported: FORMAT,
        });
    }
    let store = lines
        .next()
        .and_then(|line| line.strip_prefix("id "))
        .and_then(|id| id.parse::<StoreId>().ok())
        .ok_or_else(|| bad("it has no store id"))?;
    if found != text(format, store) {
        return Err(bad("its check does not fit its content"));
    }
    Ok(Manifest { store })
}
