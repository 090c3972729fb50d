//! The writer: one thread that owns the end of the log.
//!
//! It takes everything that waits, lays it out behind the last batch, writes it in one go, syncs
//! once and then answers: a group commit. Each append keeps its own commit record, so each is
//! visible whole or not at all.
//!
//! After a write or sync that failed nothing is known about the file any more, and a second sync
//! can lie. So the writer never tries again: it answers *unknown* to those whose bytes were under
//! way and *poisoned* to all others until the log is opened again.

use crate::bytes::{index as to_index, wide};
use crate::frame::{COMMIT_FRAME, Commit, EventFrame};
use crate::index::{Batch, Index, Place, Segment};
use crate::log::{Claim, Judgement};
use crate::recovery::LogDir;
use crate::segment::{self, CreateError};
use crate::storage::LockGuard;
use crate::synced::Synced;
use crate::{AppendError, Appended, Cache, Head, NewEvent, Position, Tip, cached_index};
use foldback_event::{BatchId, ConversationId, Digest};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, PoisonError, RwLock};
use tokio::sync::{mpsc, oneshot, watch};

const GROUP_APPENDS_MAX: usize = 4096;
const GROUP_BYTES_MAX: u64 = 4 * 1024 * 1024;
const SEGMENT_ALIGN: u64 = 4096;
const SEGMENT_BYTES_MIN: u64 = 256 * 1024;

type Reply = oneshot::Sender<Result<Appended, AppendError>>;

/// What the log's handles and its writer share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) dir: LogDir,
    pub(crate) index: RwLock<Index>,
    pub(crate) tip: watch::Sender<Tip>,
}

#[derive(Debug)]
pub(crate) struct Append {
    pub(crate) conversation: ConversationId,
    pub(crate) expected_version: u64,
    pub(crate) batch_id: BatchId,
    pub(crate) events: Vec<NewEvent>,
    pub(crate) reply: Reply,
}

#[derive(Debug)]
pub(crate) enum Message {
    Append(Append),
    Close(oneshot::Sender<()>),
}

#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) shared: Arc<Shared>,
    pub(crate) queue: mpsc::Receiver<Message>,
    // Given back when the writer ends.
    pub(crate) _lock: Box<dyn LockGuard>,
    pub(crate) segment_bytes: u32,
    pub(crate) cache: Cache,
    /// How many batches of each segment the cache has.
    pub(crate) cached: Vec<usize>,
    pub(crate) poisoned: bool,
}

/// What is laid out for the next write.
#[derive(Debug, Default)]
struct Group {
    bytes: Vec<u8>,
    staged: Vec<Staged>,
    heads: BTreeMap<ConversationId, Head>,
    batches: BTreeMap<(ConversationId, BatchId), Appended>,
    /// Answers that rest on what is staged, or are it.
    replies: Vec<(Reply, BatchId, Result<Appended, AppendError>)>,
}

#[derive(Debug)]
struct Staged {
    batch: Batch,
    places: Vec<Place>,
}

impl Writer {
    /// Serves the queue until it is closed, then leaves the log marked as whole.
    pub(crate) fn run(mut self) {
        let mut closing = None;
        while closing.is_none() {
            let Some(message) = self.queue.blocking_recv() else {
                break;
            };
            let mut waiting = Vec::new();
            let mut bytes = 0;
            let mut next = Some(message);
            while let Some(message) = next {
                match message {
                    Message::Append(append) => {
                        let sizes = append.events.iter().map(|event| wide(event.record.len()));
                        bytes += sizes.sum::<u64>();
                        waiting.push(append);
                    }
                    Message::Close(done) => {
                        closing = Some(done);
                        break;
                    }
                }
                let full = waiting.len() >= GROUP_APPENDS_MAX || bytes >= GROUP_BYTES_MAX;
                next = if full {
                    None
                } else {
                    self.queue.try_recv().ok()
                };
            }
            self.serve(waiting);
        }
        self.queue.close();
        while let Ok(message) = self.queue.try_recv() {
            if let Message::Append(append) = message {
                let _ = append.reply.send(Err(AppendError::Closed));
            }
        }
        self.finish();
        drop(self);
        if let Some(done) = closing {
            let _ = done.send(());
        }
    }

    fn finish(&mut self) {
        if !self.poisoned {
            self.mark();
            let index = self.shared.index.read();
            let index = index.unwrap_or_else(PoisonError::into_inner);
            cached_index::save(&self.cache, &index, &self.cached);
        }
        self.cache.close();
        tracing::debug!("log closed");
    }

    /// Writes the mark up to which the log is durable. Without it less damage can be told from a
    /// torn tail, and nothing is lost: a failure is only told.
    fn mark(&self) {
        let mark = {
            let index = self.shared.index.read();
            let index = index.unwrap_or_else(PoisonError::into_inner);
            let last = index.segments.iter().rfind(|s| !s.batches.is_empty());
            last.map(|segment| Synced {
                segment: segment.first_seq,
                offset: segment.end(),
                seq: index.tail.seq,
                digest: index.tail.digest,
            })
        };
        let dir = &self.shared.dir;
        if let Some(mark) = mark
            && let Err(error) = mark.write(&*dir.storage, &dir.path)
        {
            tracing::warn!(%error, "the mark of what is durable was not written");
        }
    }

    fn serve(&mut self, waiting: Vec<Append>) {
        let mut group = Group::default();
        for append in waiting {
            if self.poisoned {
                let _ = append.reply.send(Err(AppendError::Poisoned));
                continue;
            }
            if let Err(refused) = self.stage(&mut group, append) {
                let Refused { append, error } = *refused;
                group
                    .replies
                    .push((append.reply, append.batch_id, Err(error)));
            }
        }
        self.commit(&mut group);
    }

    /// Judges an append and lays it out behind what is staged already.
    fn stage(&mut self, group: &mut Group, append: Append) -> Result<(), Box<Refused>> {
        let refuse = |append, error| Err(Box::new(Refused { append, error }));
        let key = (append.conversation, append.batch_id);
        let (stored, head) = {
            let index = self.shared.index.read();
            let index = index.unwrap_or_else(PoisonError::into_inner);
            let staged = group.batches.get(&key).copied();
            let head = group.heads.get(&append.conversation).copied();
            (
                staged.or_else(|| index.batch(append.conversation, append.batch_id)),
                head.or_else(|| index.head(append.conversation))
                    .unwrap_or(Head::EMPTY),
            )
        };
        let claim = Claim {
            conversation: append.conversation,
            expected_version: append.expected_version,
            batch_id: append.batch_id,
            events: &append.events,
        };
        let next = match claim.judge(stored, head) {
            Ok(Judgement::New(next)) => next,
            Ok(Judgement::Stored(appended)) => {
                group
                    .replies
                    .push((append.reply, append.batch_id, Ok(appended)));
                return Ok(());
            }
            Err(error) => return refuse(append, error),
        };
        let frames = append.events.iter().map(|e| EventFrame::size(&e.record));
        let needed = wide(frames.sum::<usize>() + COMMIT_FRAME);
        if let Err(error) = self.make_room(group, append.batch_id, needed) {
            return refuse(append, error);
        }
        let batch = self.lay_out(group, &append, head, next);
        let appended = batch.appended(false);
        group.heads.insert(append.conversation, next);
        group.batches.insert(key, appended);
        group
            .replies
            .push((append.reply, append.batch_id, Ok(appended)));
        Ok(())
    }

    /// Makes sure that the last segment has room behind what is staged, committing the group and
    /// starting a segment where it has not.
    fn make_room(
        &mut self,
        group: &mut Group,
        batch: BatchId,
        needed: u64,
    ) -> Result<(), AppendError> {
        let room = |writer: &Self, staged: usize| {
            let index = writer.shared.index.read();
            let index = index.unwrap_or_else(PoisonError::into_inner);
            let left = |s: &Segment| s.size.saturating_sub(u64::from(s.end()) + wide(staged));
            (index.segments.last().map_or(0, left), index.tail.seq + 1)
        };
        if room(self, group.bytes.len()).0 >= needed {
            return Ok(());
        }
        self.commit(group);
        if self.poisoned {
            return Err(AppendError::Poisoned);
        }
        let (left, first_seq) = room(self, 0);
        if left >= needed {
            return Ok(());
        }
        self.start_segment(batch, first_seq, needed)
    }

    fn start_segment(
        &mut self,
        batch: BatchId,
        first_seq: u64,
        needed: u64,
    ) -> Result<(), AppendError> {
        self.mark();
        let whole = needed.next_multiple_of(SEGMENT_ALIGN);
        let size = u32::try_from(whole.max(self.next_segment_bytes())).unwrap_or(u32::MAX);
        let dir = &self.shared.dir;
        let path = segment::path(&dir.path, first_seq);
        match segment::create(&*dir.storage, &dir.path, &path, size) {
            Ok(file) => {
                tracing::debug!(segment = first_seq, bytes = size, "segment started");
                let index = self.shared.index.write();
                let mut index = index.unwrap_or_else(PoisonError::into_inner);
                // An empty last segment that is too small for this batch gives its name to the
                // new one.
                index.segments.retain(|s| s.first_seq != first_seq);
                index.segments.push(Segment {
                    first_seq,
                    path,
                    file,
                    size: u64::from(size),
                    places: Vec::new(),
                    batches: Vec::new(),
                });
                Ok(())
            }
            Err(CreateError::Draft(source)) => {
                tracing::warn!(segment = first_seq, error = %source, "no segment could be made");
                Err(AppendError::NoSegment {
                    batch,
                    path,
                    source: Arc::new(source),
                })
            }
            Err(CreateError::Name(source)) => {
                self.poisoned = true;
                Err(AppendError::NoSegment {
                    batch,
                    path,
                    source: Arc::new(source),
                })
            }
        }
    }

    /// A segment is as large as the log before it, between two bounds, so that a small store does
    /// not pay for a large segment.
    fn next_segment_bytes(&self) -> u64 {
        let index = self.shared.index.read();
        let index = index.unwrap_or_else(PoisonError::into_inner);
        let log: u64 = index.segments.iter().map(|segment| segment.size).sum();
        let most = u64::from(self.segment_bytes);
        log.clamp(SEGMENT_BYTES_MIN.min(most), most)
    }

    fn lay_out(&self, group: &mut Group, append: &Append, head: Head, next: Head) -> Batch {
        let (base, before) = {
            let index = self.shared.index.read();
            let index = index.unwrap_or_else(PoisonError::into_inner);
            (index.segments.last().map_or(0, Segment::end), index.tail)
        };
        let last = group.staged.last();
        let seq = last.map_or(before.seq, |staged| staged.batch.commit.last_seq);
        let digest = last.map_or(before.digest, |staged| staged.batch.commit.digest);
        let offset = |bytes: &[u8]| {
            let at = u64::from(base) + wide(bytes.len());
            // `make_room` keeps every offset within a segment, whose size is a `u32`.
            u32::try_from(at).unwrap_or(u32::MAX)
        };
        let mut places = Vec::with_capacity(append.events.len());
        for (number, event) in (1_u64..).zip(&append.events) {
            let start = offset(&group.bytes);
            let frame = EventFrame {
                conversation: append.conversation,
                version: head.version + number,
                event_id: event.event_id,
                hash: event.hash,
                record: &event.record,
            };
            frame.write(seq + number, &mut group.bytes);
            places.push(Place {
                offset: start,
                bytes: offset(&group.bytes) - start,
            });
        }
        let mut commit = Commit {
            count: u32::try_from(append.events.len()).unwrap_or(u32::MAX),
            first_seq: seq + 1,
            last_seq: seq + wide(append.events.len()),
            first_version: head.version + 1,
            group: base,
            batch_id: append.batch_id,
            conversation: append.conversation,
            digest: Digest::from_bytes([0; 32]),
        };
        commit.digest = commit.digest(&digest, append.events.iter().map(|event| &event.hash));
        commit.write(&mut group.bytes);
        let batch = Batch {
            commit,
            hash: next.hash,
            end: offset(&group.bytes),
        };
        group.staged.push(Staged { batch, places });
        batch
    }

    /// Writes and syncs what is staged, makes it visible and answers.
    fn commit(&mut self, group: &mut Group) {
        let group = std::mem::take(group);
        if !group.staged.is_empty()
            && let Err(error) = self.write(&group.bytes)
        {
            self.poisoned = true;
            tracing::warn!(error = %error, "a write to the log failed; it takes no more");
            let source = Arc::new(error);
            for (reply, batch, result) in group.replies {
                // Whatever rested on the failed write is as unknown as it.
                let error = match result {
                    Err(error @ (AppendError::NoSegment { .. } | AppendError::Poisoned)) => error,
                    _ => AppendError::Unknown {
                        batch,
                        what: "the write or its sync failed".to_owned(),
                        source: Some(Arc::clone(&source)),
                    },
                };
                let _ = reply.send(Err(error));
            }
            return;
        }
        if !group.staged.is_empty() {
            self.publish(&group);
        }
        for (reply, _, result) in group.replies {
            // A caller that went away does not want the answer.
            let _ = reply.send(result);
        }
    }

    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let span = tracing::debug_span!("sync", bytes = bytes.len());
        let _entered = span.enter();
        let (file, end) = {
            let index = self.shared.index.read();
            let index = index.unwrap_or_else(PoisonError::into_inner);
            let segment = index.segments.last().ok_or(io::ErrorKind::NotFound)?;
            (Arc::clone(&segment.file), segment.end())
        };
        file.write_at(u64::from(end), bytes)?;
        file.sync()
    }

    fn publish(&self, group: &Group) {
        let tip = {
            let index = self.shared.index.write();
            let mut index = index.unwrap_or_else(PoisonError::into_inner);
            for staged in &group.staged {
                let added = index.add(staged.batch, &staged.places);
                // INVARIANT: `stage` judged the batch against this index and what is staged.
                assert!(added.is_ok(), "a durable batch does not fit the index");
            }
            index.tail.seq
        };
        tracing::debug!(
            seq = tip,
            count = group.staged.len(),
            bytes = to_index(wide(group.bytes.len())),
            "group committed"
        );
        self.shared.tip.send_replace(Tip {
            position: Some(Position(tip)),
        });
    }
}

/// An append that was refused, with the reason.
#[derive(Debug)]
struct Refused {
    append: Append,
    error: AppendError,
}
