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
    /// The segment without what it holds, but for its last batch.
    pub(crate) fn outline(&self) -> Self {
        Self {
            first_seq: self.first_seq,
            path: self.path.clone(),
            file: Arc::clone(&self.file),
            size: self.size,
            places: Vec::new(),
            batches: self.batches.last().copied().into_iter().collect(),
        }
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::{Access, MemoryStorage, Storage};
    use std::path::Path;

    fn batch(first_seq: u64, first_version: u64, id: u8) -> Batch {
        Batch {
            commit: Commit {
                count: 2,
                first_seq,
                last_seq: first_seq + 1,
                first_version,
                group: 0,
                batch_id: BatchId::from_bytes([id; 16]),
                conversation: ConversationId::from_bytes([1; 16]),
                digest: Digest::from_bytes([id; 32]),
            },
            hash: Digest::from_bytes([9; 32]),
            end: 100,
        }
    }

    #[test]
    fn only_a_batch_that_continues_log_and_conversation_is_added() {
        let storage = MemoryStorage::default();
        storage.create_dir_all(Path::new("/log")).unwrap();
        let path = PathBuf::from("/log/1.seg");
        let mut index = Index::new(Digest::from_bytes([0; 32]));
        let places = [Place {
            offset: 0,
            bytes: 1,
        }; 2];
        assert!(index.add(batch(1, 1, 1), &places).is_err(), "no segment");
        index.segments.push(Segment {
            first_seq: 1,
            file: storage.create(&path, Access::Shared).unwrap(),
            path,
            size: 4096,
            places: Vec::new(),
            batches: Vec::new(),
        });
        index.add(batch(1, 1, 1), &places).unwrap();
        for (wrong, says) in [
            (batch(4, 3, 2), "starts at seq 4"),
            (batch(2, 3, 2), "starts at seq 2"),
            (batch(3, 4, 2), "starts at version 4"),
            (batch(3, 2, 2), "starts at version 2"),
            (batch(3, 3, 1), "stored twice"),
        ] {
            let what = index.add(wrong, &places).unwrap_err();
            assert!(what.contains(says), "{what}");
        }
        assert!(index.add(batch(3, 3, 2), &places[..1]).is_err());
        index.add(batch(3, 3, 2), &places).unwrap();
        assert_eq!((index.count(), index.tail.seq), (4, 4));
        assert!(index.locate(4).is_some() && index.locate(5).is_none());
    }
}
