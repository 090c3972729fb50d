//! Packs: append-only files of sealed payloads.
//!
//! An entry is a 128-byte header and the sealed bytes. The header has a crc of its own, so that
//! opening reads headers alone; the sealed digest in it covers the rest of the label and the
//! sealed bytes.
//!
//! | offset | bytes | field |
//! | ---: | ---: | --- |
//! | 0 | 3 | `FBP` |
//! | 3 | 1 | entry version, 2 |
//! | 4 | 1 | flags: bit 0 compressed, bit 1 written together with the entry before |
//! | 5 | 3 | zero |
//! | 8 | 4 | length of the sealed bytes |
//! | 12 | 4 | crc32c of bytes 0..12 and of the header from 16 on |
//! | 16 | 16 | account |
//! | 32 | 32 | address |
//! | 64 | 32 | sealed digest |
//! | 96 | 24 | nonce |
//! | 120 | 8 | plain length |
//! | 128 | | sealed bytes |

use crate::bytes::{Take, wide};
use crate::seal::{Label, TAG};
use crate::storage::{StorageFile, read_range};
use foldback_event::limits::PAYLOAD_BYTES_MAX;
use foldback_event::{AccountId, Digest};
use std::io;
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 3] = b"FBP";
/// What is written. Version 1 has no [`CONTINUES`].
const VERSION: u8 = 2;
const COMPRESSED: u8 = 1;
/// The entry was written together with the one before it.
const CONTINUES: u8 = 2;
pub(crate) const HEADER: usize = 128;
const SUFFIX: &str = ".pack";

pub(crate) fn path(packs: &Path, number: u64) -> PathBuf {
    packs.join(format!("{number:08}{SUFFIX}"))
}

pub(crate) fn number(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(SUFFIX)?;
    let plain = digits.len() >= 8 && digits.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

/// The header of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) label: Label,
    pub(crate) sealed_digest: Digest,
    pub(crate) sealed_bytes: u32,
    /// Whether it was written together with the entry before it: a loss of power may leave it whole
    /// behind one that is not.
    pub(crate) continues: bool,
}

impl Header {
    /// The length of the whole entry.
    pub(crate) fn entry_bytes(&self) -> u64 {
        wide(HEADER) + u64::from(self.sealed_bytes)
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let mut start = MAGIC.to_vec();
        let mut flags = 0;
        if self.label.compressed {
            flags |= COMPRESSED;
        }
        if self.continues {
            flags |= CONTINUES;
        }
        start.extend_from_slice(&[VERSION, flags, 0, 0, 0]);
        start.extend_from_slice(&self.sealed_bytes.to_le_bytes());
        let mut rest = self.label.account.as_bytes().to_vec();
        rest.extend_from_slice(self.label.address.as_bytes());
        rest.extend_from_slice(self.sealed_digest.as_bytes());
        rest.extend_from_slice(&self.label.nonce);
        rest.extend_from_slice(&self.label.plain_bytes.to_le_bytes());
        let crc = crc32c::crc32c_append(crc32c::crc32c(&start), &rest);
        out.extend_from_slice(&start);
        out.extend_from_slice(&crc.to_le_bytes());
        out.extend_from_slice(&rest);
    }

    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let mut take = Take(bytes.get(..HEADER)?);
        let start = take.array::<12>()?;
        let crc = take.u32()?;
        if crc32c::crc32c_append(crc32c::crc32c(&start), take.0) != crc {
            return None;
        }
        let mut fields = Take(&start);
        if fields.array::<3>()? != *MAGIC {
            return None;
        }
        let known = match fields.u8()? {
            1 => COMPRESSED,
            VERSION => COMPRESSED | CONTINUES,
            _ => return None,
        };
        let flags = fields.u8()?;
        if flags & !known != 0 || fields.array::<3>()? != [0; 3] {
            return None;
        }
        let sealed_bytes = fields.u32()?;
        let account = AccountId::from_bytes(take.array()?);
        let address = Digest::from_bytes(take.array()?);
        let sealed_digest = Digest::from_bytes(take.array()?);
        let label = Label {
            account,
            address,
            nonce: take.array()?,
            plain_bytes: take.u64()?,
            compressed: flags & COMPRESSED != 0,
        };
        let fits = u64::from(sealed_bytes) <= PAYLOAD_BYTES_MAX + wide(TAG)
            && label.plain_bytes <= PAYLOAD_BYTES_MAX;
        fits.then_some(Self {
            label,
            sealed_digest,
            sealed_bytes,
            continues: flags & CONTINUES != 0,
        })
    }
}

/// A place in a pack that does not read.
#[derive(Debug, Clone)]
pub(crate) struct Damage {
    pub(crate) offset: u64,
    pub(crate) what: &'static str,
    /// The entry's header, where that at least reads.
    pub(crate) header: Option<Header>,
}

/// What a walk through a pack found.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    /// The entries that read, with their offsets.
    pub(crate) entries: Vec<(u64, Header)>,
    /// The places that do not read although entries follow.
    pub(crate) damaged: Vec<Damage>,
    /// The places that do not read after the last entry that does.
    pub(crate) tail: Vec<Damage>,
    /// Where the last entry that reads ends.
    pub(crate) end: u64,
}

impl Walk {
    /// Parts off what a loss of power left of the last write: from the first place that does not read
    /// and behind which no other write begins. What was acknowledged was synced before the next write
    /// began, so all that stands behind such a place is of one write that nobody was told of.
    ///
    /// Gives the entries behind that place which read all the same.
    pub(crate) fn cut_torn(&mut self) -> Vec<(u64, Header)> {
        let begins = self
            .entries
            .iter()
            .rev()
            .find(|(_, header)| !header.continues);
        let last_begin = begins.map(|(at, _)| *at);
        let behind = |damage: &&Damage| last_begin.is_none_or(|begin| damage.offset > begin);
        let Some(torn) = self.damaged.iter().find(behind).map(|damage| damage.offset) else {
            return Vec::new();
        };
        let whole = self.entries.partition_point(|(at, _)| *at < torn);
        self.damaged.retain(|damage| damage.offset < torn);
        self.end = torn;
        self.entries.split_off(whole)
    }
}

/// Walks through a pack from `start` on; with `whole` set, sealed bytes are checked too.
pub(crate) fn walk(file: &dyn StorageFile, start: u64, size: u64, whole: bool) -> io::Result<Walk> {
    let mut found = Walk {
        end: start,
        ..Walk::default()
    };
    let mut at = start;
    while at < size {
        let damage = match entry_at(file, at, size, whole)? {
            Ok(header) => {
                found.damaged.append(&mut found.tail);
                found.entries.push((at, header));
                at += header.entry_bytes();
                found.end = at;
                continue;
            }
            Err(damage) => damage,
        };
        found.tail.push(damage);
        match next_entry(file, at + 1, size)? {
            Some(next) => at = next,
            None => break,
        }
    }
    Ok(found)
}

/// Reads and checks one entry.
pub(crate) fn entry_at(
    file: &dyn StorageFile,
    at: u64,
    size: u64,
    whole: bool,
) -> io::Result<Result<Header, Damage>> {
    let damage = |what, header| {
        Ok(Err(Damage {
            offset: at,
            what,
            header,
        }))
    };
    if size.saturating_sub(at) < wide(HEADER) {
        return damage("the entry is cut off", None);
    }
    let bytes = read_range(file, at, wide(HEADER))?;
    let Some(header) = Header::read(&bytes) else {
        return damage("there is no entry", None);
    };
    if at + header.entry_bytes() > size {
        return damage("the entry is cut off", Some(header));
    }
    if whole {
        let sealed = read_range(file, at + wide(HEADER), u64::from(header.sealed_bytes))?;
        if header.label.digest(&sealed) != header.sealed_digest {
            return damage("the sealed bytes do not have their digest", Some(header));
        }
    }
    Ok(Ok(header))
}

/// Finds the next place from `from` on where an entry's header reads.
fn next_entry(file: &dyn StorageFile, from: u64, size: u64) -> io::Result<Option<u64>> {
    if from >= size {
        return Ok(None);
    }
    let bytes = read_range(file, from, size - from)?;
    let place = bytes
        .windows(MAGIC.len())
        .enumerate()
        .filter(|(_, window)| window == MAGIC)
        .find(|(at, _)| bytes.get(*at..).and_then(Header::read).is_some());
    Ok(place.map(|(at, _)| from + wide(at)))
}
