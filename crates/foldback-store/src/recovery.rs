//! Opening a log: what each state of its files means and what is done about it.
//!
//! The log is read from its first segment (or from where the cache's index ends) to the last
//! commit that holds. What follows in the last segment is then judged. The question is always the
//! same: can a write that was never acknowledged have left this? Only then it is cut off.
//!
//! What is known to have been synced, and so must be whole:
//! - every segment but the last: a segment is synced before the next one is made;
//! - everything before the mark `log/synced`;
//! - everything before the *group start* of any whole commit record: the record states where the
//!   write began that carried it, and all before that place had been synced by then.
//!
//! Within the last write itself, a crash can have kept any part and lost any other, so a whole
//! batch may stand behind a broken one of the same write. None of them was acknowledged then.
//!
//! | state | outcome |
//! | --- | --- |
//! | no directory, or an empty one | a store is made |
//! | a directory with other files and no `STORE` | [`OpenError::NotAStore`] |
//! | `STORE` of a later format | [`OpenError::TooNew`] |
//! | `STORE` that does not read or check | [`OpenError::BadStoreFile`] |
//! | another process holds `LOCK` | [`OpenError::Locked`] |
//! | a `.seg.tmp` or `synced.tmp` draft | a creation was cut short: removed |
//! | last segment: only zeros after the last commit (or from the start) | whole |
//! | last segment: events without commit record, then zeros | torn: cut |
//! | last segment: an incomplete or invalid frame after the last commit, no later batch of a later write | torn: cut |
//! | the same, but a whole commit of a later write stands behind it | [`OpenError::Corrupt`] |
//! | the same, but the place lies before the mark `log/synced` | [`OpenError::Corrupt`] |
//! | a valid frame that does not fit (seq, version, batch, commit digest, unknown kind or version) | [`OpenError::Corrupt`], wherever it is |
//! | another segment than the last: anything but whole batches and zeros | [`OpenError::Corrupt`] |
//! | a segment's name does not continue the seqs (one is missing or foreign) | [`OpenError::Corrupt`] |
//! | the log ends before the mark `log/synced` | [`OpenError::Corrupt`] |
//! | the mark is unreadable or missing | ignored, reported if unreadable |
//! | the cache does not fit, does not open or panics | dropped and rebuilt, reported |
//!
//! A cut keeps the bytes in `log/cut-<seq>-<n>.bin`, durable before the segment is touched, then
//! overwrites them with zeros. A crash between leaves a tail that is torn in the same sense.
//! A reader without the lock changes nothing: to it a torn tail is a write in flight.

use crate::bytes::wide;
use crate::frame;
use crate::index::{Index, Segment};
use crate::scan::{Stop, scan};
use crate::segment;
use crate::storage::{Access, Storage, read_range, write_whole};
use crate::synced::{Mark, Synced};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Says why a store could not be opened. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The directory is no store.
    #[error("`{}` is not a store: {what}", path.display())]
    NotAStore {
        /// The directory.
        path: PathBuf,
        /// What tells.
        what: &'static str,
    },
    /// The store was written by a later version.
    #[error("`{}` says format {found}; this version reads up to format {supported}", path.display())]
    TooNew {
        /// The file that says so.
        path: PathBuf,
        /// The store's format.
        found: u32,
        /// The newest format this version reads.
        supported: u32,
    },
    /// The `STORE` file does not read.
    #[error("`{}` is damaged: {what}", path.display())]
    BadStoreFile {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: &'static str,
    },
    /// Another writer has the store open.
    #[error("the store is open for writing elsewhere: `{}` is locked", path.display())]
    Locked {
        /// The lock file.
        path: PathBuf,
    },
    /// The log is damaged where a crash cannot have left it so.
    #[error("`{}` is damaged at byte {offset}, seq {seq}: {what}", file.display())]
    Corrupt {
        /// The file.
        file: PathBuf,
        /// Where in it.
        offset: u64,
        /// The seq that was expected there.
        seq: u64,
        /// What is wrong.
        what: String,
    },
    /// A key file does not read, or the master key does not open it.
    #[error("the key `{}` does not open: {what}", path.display())]
    BadKey {
        /// The key file.
        path: PathBuf,
        /// What is wrong.
        what: &'static str,
    },
    /// The master key is missing although keys sealed by it are there.
    #[error("the master key `{}` is missing, and keys that it seals are there", path.display())]
    NoMasterKey {
        /// Where it should be.
        path: PathBuf,
    },
    /// A file operation failed.
    #[error("cannot {what} `{}`", path.display())]
    Io {
        /// The operation.
        what: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// A torn tail that was cut off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// The file that it was cut from.
    pub file: PathBuf,
    /// Where it began.
    pub offset: u64,
    /// How many bytes it had.
    pub bytes: u64,
    /// Where the bytes are kept.
    pub kept: PathBuf,
}

/// What the cache was good for at open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CacheUse {
    /// No cache was wanted.
    Off,
    /// Its index was used for this many events.
    Used {
        /// How many events needed no scan.
        events: u64,
    },
    /// It did not fit and was dropped; it is written again at close.
    Rebuilt {
        /// Why.
        why: String,
    },
}

/// What opening a log found and did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecoveryReport {
    /// How many events the log has.
    pub events: u64,
    /// How many segments it has.
    pub segments: u64,
    /// The torn tail that was cut, if any.
    pub cut: Option<Cut>,
    /// How the cache served.
    pub cache: CacheUse,
    /// Whether the mark `log/synced` was there and did not read.
    pub bad_mark: bool,
}

/// A torn tail, not cut yet.
#[derive(Debug)]
pub(crate) struct Torn {
    /// The end of the last whole commit.
    from: u32,
    bytes: Vec<u8>,
}

/// The directory `log/`.
#[derive(Debug, Clone)]
pub(crate) struct LogDir {
    pub(crate) storage: Arc<dyn Storage>,
    pub(crate) path: PathBuf,
}

impl LogDir {
    pub(crate) fn list(&self) -> Result<Vec<String>, OpenError> {
        match self.storage.list(&self.path) {
            Ok(names) => Ok(names),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(source) => Err(io_error("list", &self.path)(source)),
        }
    }

    /// Gives the segments in order of their first seq.
    pub(crate) fn segments(&self) -> Result<Vec<(u64, PathBuf)>, OpenError> {
        let names = self.list()?;
        let firsts = names.iter().filter_map(|name| segment::first_seq(name));
        Ok(firsts
            .map(|first| (first, segment::path(&self.path, first)))
            .collect())
    }

    pub(crate) fn open_segment(
        &self,
        first_seq: u64,
        path: &Path,
        writable: bool,
    ) -> Result<Segment, OpenError> {
        let file = self.storage.open(path, writable);
        let file = file.map_err(io_error("open", path))?;
        let size = file.size().map_err(io_error("read", path))?;
        Ok(Segment {
            first_seq,
            path: path.to_owned(),
            file,
            size,
            places: Vec::new(),
            batches: Vec::new(),
        })
    }

    /// Removes what a cut-short creation left.
    pub(crate) fn remove_drafts(&self) -> Result<(), OpenError> {
        let mark = format!("{}.tmp", Synced::NAME);
        for name in self.list()? {
            if segment::is_draft(&name) || name == mark {
                let path = self.path.join(name);
                let removed = self.storage.remove(&path);
                removed.map_err(io_error("remove", &path))?;
            }
        }
        Ok(())
    }

    /// Reads the log on from where the index ends, and judges its end.
    pub(crate) fn read_on(
        &self,
        index: &mut Index,
        writable: bool,
    ) -> Result<(Option<Torn>, bool), OpenError> {
        // The mark first: what a writer adds while a reader goes on can only lie behind it.
        let mark = Synced::read(&*self.storage, &self.path)
            .map_err(io_error("read", &self.path.join(Synced::NAME)))?;
        let bad_mark = mark == Mark::Unreadable;
        let mark = mark.known();
        let listing = self.segments()?;
        let mut torn = None;
        let indexed = index.segments.len();
        for (number, (first_seq, path)) in listing.iter().enumerate() {
            if number + 1 < indexed {
                continue;
            }
            if number >= indexed {
                if *first_seq != index.tail.seq + 1 {
                    return Err(OpenError::Corrupt {
                        file: path.clone(),
                        offset: 0,
                        seq: index.tail.seq + 1,
                        what: format!("the segment starts at seq {first_seq}: one is missing"),
                    });
                }
                let segment = self.open_segment(*first_seq, path, writable)?;
                index.segments.push(segment);
            }
            let last = number + 1 == listing.len();
            torn = read_segment(index, path, last, mark.as_ref())?;
        }
        if let Some(mark) = mark
            && mark.seq > index.tail.seq
        {
            let file = segment::path(&self.path, mark.segment);
            return Err(OpenError::Corrupt {
                file,
                offset: 0,
                seq: index.tail.seq + 1,
                what: format!(
                    "the log ends here, and it was durable up to seq {}",
                    mark.seq
                ),
            });
        }
        Ok((torn, bad_mark))
    }

    /// Cuts a torn tail off the last segment, keeping its bytes aside.
    pub(crate) fn cut(&self, index: &Index, torn: &Torn) -> Result<Option<Cut>, OpenError> {
        let Some(segment) = index.segments.last() else {
            return Ok(None);
        };
        let offset = u64::from(torn.from);
        let seq = index.tail.seq + 1;
        let names = self.list()?;
        let mut number = 1_u64;
        let name = loop {
            let name = format!("cut-{seq:020}-{number}.bin");
            if !names.contains(&name) {
                break name;
            }
            number += 1;
        };
        let kept = self.path.join(name);
        write_whole(&*self.storage, &kept, &torn.bytes, Access::Shared)
            .map_err(io_error("write", &kept))?;
        let zeros = vec![0; torn.bytes.len()];
        segment
            .file
            .write_at(offset, &zeros)
            .and_then(|()| segment.file.sync())
            .map_err(io_error("write", &segment.path))?;
        let bytes = wide(torn.bytes.len());
        tracing::warn!(
            segment = segment.first_seq,
            seq,
            bytes,
            "torn tail cut off and kept aside"
        );
        Ok(Some(Cut {
            file: segment.path.clone(),
            offset,
            bytes,
            kept,
        }))
    }
}

pub(crate) fn io_error(what: &'static str, path: &Path) -> impl Fn(io::Error) -> OpenError {
    let path = path.to_owned();
    move |source| OpenError::Io {
        what,
        path: path.clone(),
        source,
    }
}

/// Reads the last indexed segment on from its last batch.
fn read_segment(
    index: &mut Index,
    path: &Path,
    last: bool,
    mark: Option<&Synced>,
) -> Result<Option<Torn>, OpenError> {
    let Some(segment) = index.segments.last() else {
        return Ok(None);
    };
    let (first_seq, start) = (segment.first_seq, segment.end());
    let bytes = read_range(&*segment.file, 0, segment.size).map_err(io_error("read", path))?;
    let mut tail = index.tail;
    let stop = scan(&bytes, start, &mut tail, |scanned| {
        index.add(scanned.batch, scanned.places)
    });
    let Some(stop) = stop else {
        return Ok(None);
    };
    let from = index.segments.last().map_or(0, Segment::end);
    let marked = mark.filter(|mark| mark.segment == first_seq);
    let synced = marked.map_or(0, |mark| mark.offset);
    match judge(&bytes, from, &stop, last, synced) {
        None => {
            let end = frame::last_set(&bytes).map_or(0, |at| at + 1);
            let begin = crate::bytes::index(u64::from(from));
            Ok(Some(Torn {
                from,
                bytes: bytes.get(begin..end).unwrap_or_default().to_vec(),
            }))
        }
        Some(what) => Err(OpenError::Corrupt {
            file: path.to_owned(),
            offset: stop.offset,
            seq: stop.seq,
            what,
        }),
    }
}

/// Judges what follows the last whole commit; `None` means torn.
fn judge(bytes: &[u8], from: u32, stop: &Stop, last: bool, synced: u32) -> Option<String> {
    let what = &stop.what;
    if !stop.can_be_torn {
        return Some(what.clone());
    }
    if !last {
        return Some(format!("{what}, and a later segment exists"));
    }
    if synced > from {
        return Some(format!("{what}, and it was durable once"));
    }
    let begin = crate::bytes::index(u64::from(from));
    let later = frame::commits_after(bytes, begin)
        .find(|(_, commit)| commit.group > from && commit.last_seq >= stop.seq);
    later.map(|(at, _)| format!("{what}, and a batch written later is whole at byte {at}"))
}
