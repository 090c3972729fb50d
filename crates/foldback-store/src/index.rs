//! The index of a log: where each event stands, kept in memory and fed by commits alone.
//!
//! The scan at open, the cache and the writer all add through [`Index::add`], which checks that a
//! batch continues the log and its conversation. What is not added is not visible.

use crate::bytes::{index, wide};
use crate::frame::Commit;
use crate::storage::StorageFile;
use crate::{Appended, Head};
use foldback_event::{BatchId, ConversationId, Digest};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Where an event's frame stands in its segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) offset: u32,
    pub(crate) bytes: u32,
}

/// A batch as the index keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Batch {
    pub(crate) commit: Commit,
    /// The chain hash of the batch's last event.
    pub(crate) hash: Digest,
    /// The offset right after the commit frame.
    pub(crate) end: u32,
}

impl Batch {
    pub(crate) fn appended(&self, replayed: bool) -> Appended {
        Appended {
            first_seq: self.commit.first_seq,
            first_version: self.commit.first_version,
            count: self.commit.count,
            head: Head {
                version: self.commit.first_version + u64::from(self.commit.count) - 1,
                hash: self.hash,
            },
            replayed,
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Segment {
    pub(crate) first_seq: u64,
    pub(crate) path: PathBuf,
    pub(crate) file: Arc<dyn StorageFile>,
    pub(crate) size: u64,
    // INVARIANT: the event of seq `first_seq + n` is at `places[n]`.
    pub(crate) places: Vec<Place>,
    pub(crate) batches: Vec<Batch>,
}

impl Segment {
    /// The offset right after the last batch.
    pub(crate) fn end(&self) -> u32 {
        self.batches.last().map_or(0, |batch| batch.end)
    }
}

#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) head: Head,
    // INVARIANT: the event of version `n` has the seq `seqs[n - 1]`.
    pub(crate) seqs: Vec<u64>,
}

/// Where a log ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tail {
    /// The last seq; 0 where there is none.
    pub(crate) seq: u64,
    /// The digest of the last commit.
    pub(crate) digest: Digest,
}

#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) tail: Tail,
    pub(crate) segments: Vec<Segment>,
    pub(crate) streams: BTreeMap<ConversationId, Stream>,
    batches: BTreeMap<(ConversationId, BatchId), (usize, usize)>,
}

impl Index {
    pub(crate) fn new(genesis: Digest) -> Self {
        Self {
            tail: Tail {
                seq: 0,
                digest: genesis,
            },
            segments: Vec::new(),
            streams: BTreeMap::new(),
            batches: BTreeMap::new(),
        }
    }

    /// Adds a batch to the last segment; what is wrong with it is the error.
    ///
    /// The caller has checked the commit's digest.
    pub(crate) fn add(&mut self, batch: Batch, places: &[Place]) -> Result<(), String> {
        let commit = &batch.commit;
        if commit.first_seq != self.tail.seq + 1 {
            return Err(format!(
                "the batch starts at seq {}, not {}",
                commit.first_seq,
                self.tail.seq + 1
            ));
        }
        let count = u64::from(commit.count);
        if count == 0 || wide(places.len()) != count || commit.last_seq != self.tail.seq + count {
            return Err("the batch's count does not fit its events".to_owned());
        }
        let head = self.head(commit.conversation).unwrap_or(Head::EMPTY);
        if commit.first_version != head.version + 1 {
            return Err(format!(
                "the batch starts at version {} of {}, not {}",
                commit.first_version,
                commit.conversation,
                head.version + 1
            ));
        }
        let place = self.segments.len().checked_sub(1);
        let Some((number, segment)) = place.zip(self.segments.last_mut()) else {
            return Err("there is no segment for the batch".to_owned());
        };
        let key = (commit.conversation, commit.batch_id);
        if self.batches.contains_key(&key) {
            return Err(format!("{} is stored twice", commit.batch_id));
        }
        self.batches.insert(key, (number, segment.batches.len()));
        segment.places.extend_from_slice(places);
        segment.batches.push(batch);
        let stream = self.streams.entry(commit.conversation).or_insert(Stream {
            head: Head::EMPTY,
            seqs: Vec::new(),
        });
        stream.seqs.extend(commit.first_seq..=commit.last_seq);
        stream.head = batch.appended(false).head;
        self.tail = Tail {
            seq: commit.last_seq,
            digest: commit.digest,
        };
        Ok(())
    }

    pub(crate) fn head(&self, conversation: ConversationId) -> Option<Head> {
        self.streams.get(&conversation).map(|stream| stream.head)
    }

    pub(crate) fn batch(&self, conversation: ConversationId, batch: BatchId) -> Option<Appended> {
        let (segment, place) = self.batches.get(&(conversation, batch))?;
        let batch = self.segments.get(*segment)?.batches.get(*place)?;
        Some(batch.appended(true))
    }

    /// Finds the segment and the place of an event.
    pub(crate) fn locate(&self, seq: u64) -> Option<(&Segment, Place)> {
        let after = self.segments.partition_point(|s| s.first_seq <= seq);
        let segment = self.segments.get(after.checked_sub(1)?)?;
        let place = segment.places.get(index(seq - segment.first_seq))?;
        Some((segment, *place))
    }

    pub(crate) fn count(&self) -> u64 {
        self.segments.iter().map(|s| wide(s.places.len())).sum()
    }
}
