//! Reads batches off the bytes of a segment and says where and why they end.

use crate::bytes::{index, wide};
use crate::frame::{self, Commit, EventFrame, FrameError, Kind};
use crate::index::{Batch, Place, Tail};
use foldback_event::{ConversationId, Digest};

/// Why a scan stopped before the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stop {
    /// Where the bytes stand that did not fit.
    pub(crate) offset: u64,
    /// The seq that was expected there.
    pub(crate) seq: u64,
    /// What is wrong.
    pub(crate) what: String,
    /// Whether a write that was cut short can leave this: a frame is incomplete or invalid. A
    /// valid frame that does not fit in is never the work of a crash.
    pub(crate) can_be_torn: bool,
}

/// A whole batch that was read.
#[derive(Debug)]
pub(crate) struct Scanned<'a> {
    pub(crate) batch: Batch,
    pub(crate) places: &'a [Place],
}

#[derive(Debug, Default)]
struct Open {
    places: Vec<Place>,
    hashes: Vec<Digest>,
    first: Option<(ConversationId, u64)>,
}

/// Reads the batches that stand from `start` on and hands each to `take`, which may refuse it.
///
/// `tail` is moved past every batch that was taken. `None` means that everything up to the zeros
/// at the end was read.
pub(crate) fn scan(
    bytes: &[u8],
    start: u32,
    tail: &mut Tail,
    mut take: impl FnMut(Scanned<'_>) -> Result<(), String>,
) -> Option<Stop> {
    let mut at = index(u64::from(start));
    let mut open = Open::default();
    loop {
        let seq = tail.seq + 1 + wide(open.places.len());
        let stop = |what: String, can_be_torn| {
            Some(Stop {
                offset: wide(at),
                seq,
                what,
                can_be_torn,
            })
        };
        let rest = bytes.get(at..).unwrap_or_default();
        let frame = match frame::read(rest) {
            Ok(frame) => frame,
            Err(error) => {
                // A valid crc over an unknown version or kind was written so.
                let torn = !matches!(error, FrameError::Version(_) | FrameError::Kind(_));
                return match frame::first_set(bytes, at) {
                    None if open.places.is_empty() => None,
                    None => stop("the batch has no commit record".to_owned(), true),
                    Some(_) => stop(error.to_string(), torn),
                };
            }
        };
        let (Ok(offset), Ok(size), Ok(end)) = (
            u32::try_from(at),
            u32::try_from(frame.size()),
            u32::try_from(at + frame.size()),
        ) else {
            return stop("the segment is too long".to_owned(), false);
        };
        let fits = match frame.kind {
            Kind::Event => open.event(&frame, seq).map(|()| {
                open.places.push(Place {
                    offset,
                    bytes: size,
                });
            }),
            Kind::Commit => open.commit(&frame, tail).and_then(|commit| {
                let hash = open.hashes.last().copied();
                let hash = hash.ok_or_else(|| "the commit record covers no event".to_owned())?;
                take(Scanned {
                    batch: Batch { commit, hash, end },
                    places: &open.places,
                })?;
                *tail = Tail {
                    seq: commit.last_seq,
                    digest: commit.digest,
                };
                open = Open::default();
                Ok(())
            }),
        };
        if let Err(what) = fits {
            return stop(what, false);
        }
        at += frame.size();
    }
}

impl Open {
    fn event(&mut self, frame: &frame::Frame<'_>, seq: u64) -> Result<(), String> {
        let event = EventFrame::read(frame.payload)
            .ok_or_else(|| "the event frame is too short".to_owned())?;
        if frame.seq != seq {
            return Err(format!("the event has seq {}, not {seq}", frame.seq));
        }
        let (conversation, first) = *self
            .first
            .get_or_insert((event.conversation, event.version));
        let version = first.checked_add(wide(self.places.len()));
        if event.conversation != conversation || Some(event.version) != version {
            return Err(format!(
                "version {} of {} does not follow in its batch",
                event.version, event.conversation
            ));
        }
        self.hashes.push(event.hash);
        Ok(())
    }

    fn commit(&self, frame: &frame::Frame<'_>, tail: &Tail) -> Result<Commit, String> {
        let commit = Commit::read(frame.payload)
            .ok_or_else(|| "the commit record has another size".to_owned())?;
        let count = wide(self.places.len());
        let facts_fit = u64::from(commit.count) == count
            && commit.first_seq == tail.seq + 1
            && commit.last_seq == tail.seq + count
            && frame.seq == commit.last_seq
            && self.first == Some((commit.conversation, commit.first_version));
        if !facts_fit {
            return Err("the commit record does not cover the events before it".to_owned());
        }
        if commit.digest(&tail.digest, self.hashes.iter()) != commit.digest {
            return Err("the commit record's digest is wrong".to_owned());
        }
        Ok(commit)
    }
}

#[cfg(test)]
mod tests;
