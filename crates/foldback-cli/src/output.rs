//! Files that a command writes where it is told to: never over one that is there.

use crate::error::CliError;
use std::fs::OpenOptions;
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
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if access == Access::Private {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = access;
    let written = options
        .open(path)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()));
    written.map_err(|source| CliError::NewFile {
        path: path.to_owned(),
        source,
    })
}
