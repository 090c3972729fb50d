//! What the vault answers when it cannot do what was asked, and what a check of it finds.

use crate::keys::KeyError;
use foldback_event::{AccountId, Digest};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Says why payloads were not stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PutError {
    /// The account's key cannot be had.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A payload is over the limit.
    #[error("a payload has {bytes} bytes, the limit is {max}")]
    TooLarge {
        /// How long it is.
        bytes: u64,
        /// How long it may be.
        max: u64,
    },
    /// A file operation failed, the disk being full perhaps. The payloads are not stored.
    #[error("cannot {what} `{}`", path.display())]
    Io {
        /// The operation.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: Arc<io::Error>,
    },
    /// An earlier write or sync failed; nothing is stored until the vault is opened again.
    #[error("an earlier write failed, so the vault takes nothing until it is opened again")]
    Poisoned,
    /// The vault was opened for reading.
    #[error("the vault is open for reading only")]
    ReadOnly,
    /// The vault's writer has ended.
    #[error("the vault is closed")]
    Closed,
}

/// Says why a payload could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GetError {
    /// The vault does not have it.
    #[error("the payload {address} of {account} is missing")]
    Missing {
        /// The account.
        account: AccountId,
        /// The address.
        address: Digest,
    },
    /// The account's key cannot be had: it is missing, erased or damaged.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The stored bytes are not what was sealed.
    #[error("the payload {address} of {account} is damaged in `{}` at byte {offset}", file.display())]
    Corrupt {
        /// The account.
        account: AccountId,
        /// The address.
        address: Digest,
        /// The pack.
        file: PathBuf,
        /// Where in it.
        offset: u64,
    },
    /// The file could not be read.
    #[error("cannot read `{}`", path.display())]
    Io {
        /// The pack.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// Something that is wrong in a vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VaultProblem {
    /// The account of the payload, where that is known.
    pub account: Option<AccountId>,
    /// The address of the payload, where that is known.
    pub address: Option<Digest>,
    /// The pack, where there is one.
    pub file: Option<PathBuf>,
    /// Where in it.
    pub offset: u64,
    /// What is wrong.
    pub what: &'static str,
}

/// What a check of a vault found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VaultReport {
    /// How many payloads were read whole.
    pub payloads: u64,
    /// How many bytes they take.
    pub bytes: u64,
    /// How many payloads were asked for.
    pub wanted: u64,
    /// What is wrong.
    pub problems: Vec<VaultProblem>,
}
