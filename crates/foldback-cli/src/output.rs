//! Files that a command writes where it is told to: never over one that is there.

use crate::error::CliError;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;

/// Who may read a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Whom the process's mask allows.
    Shared,
    /// The owner alone: the file holds a secret.
    Private,
}

/// Writes a new file; one that is there already is an error and stays as it is.
pub(crate) fn create(path: &Path, bytes: &[u8], access: Access) -> Result<(), CliError> {
    let mut file = open(path, access)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    written.map_err(|source| failed(path, source))
}

/// Makes a new file to be written.
pub(crate) fn open(path: &Path, access: Access) -> Result<File, CliError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if access == Access::Private {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = access;
    options.open(path).map_err(|source| failed(path, source))
}

fn failed(path: &Path, source: std::io::Error) -> CliError {
    CliError::NewFile {
        path: path.to_owned(),
        source,
    }
}
