//! The mark `log/synced`: a place up to which the log is known to be durable.
//!
//! It is written when a segment is full and when the log is closed, always after the sync of what
//! it names. It tells damage from a torn tail: what stands before the mark was whole once, and a
//! log that ends before it has lost something. A missing or unreadable mark says nothing.

use crate::bytes::Take;
use crate::storage::{Access, Storage, read_file, write_whole};
use foldback_event::Digest;
use std::io;
use std::path::Path;

const MAGIC: &[u8; 4] = b"FBS\x01";

/// A place up to which the log is durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Synced {
    /// The first seq of the segment.
    pub(crate) segment: u64,
    /// The end of the last commit in it.
    pub(crate) offset: u32,
    /// The last seq.
    pub(crate) seq: u64,
    /// The digest of the last commit.
    pub(crate) digest: Digest,
}

/// What the file of the mark says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Missing,
    Unreadable,
    At(Synced),
}

impl Mark {
    pub(crate) fn known(self) -> Option<Synced> {
        match self {
            Self::At(synced) => Some(synced),
            Self::Missing | Self::Unreadable => None,
        }
    }
}

impl Synced {
    pub(crate) const NAME: &'static str = "synced";

    pub(crate) fn write(&self, storage: &dyn Storage, log: &Path) -> io::Result<()> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&self.segment.to_le_bytes());
        bytes.extend_from_slice(&self.offset.to_le_bytes());
        bytes.extend_from_slice(&self.seq.to_le_bytes());
        bytes.extend_from_slice(self.digest.as_bytes());
        let crc = crc32c::crc32c(&bytes);
        bytes.extend_from_slice(&crc.to_le_bytes());
        write_whole(storage, &log.join(Self::NAME), &bytes, Access::Shared)
    }

    pub(crate) fn read(storage: &dyn Storage, log: &Path) -> io::Result<Mark> {
        let bytes = read_file(storage, &log.join(Self::NAME))?;
        Ok(match bytes {
            None => Mark::Missing,
            Some(bytes) => Self::parse(&bytes).map_or(Mark::Unreadable, Mark::At),
        })
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let (body, crc) = bytes.split_last_chunk::<4>()?;
        let mut take = Take(body);
        if take.array::<4>()? != *MAGIC || crc32c::crc32c(body) != u32::from_le_bytes(*crc) {
            return None;
        }
        let mark = Self {
            segment: take.u64()?,
            offset: take.u32()?,
            seq: take.u64()?,
            digest: Digest::from_bytes(take.array()?),
        };
        take.0.is_empty().then_some(mark)
    }
}
