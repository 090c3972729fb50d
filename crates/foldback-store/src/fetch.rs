//! Reads events from where the index says they stand, and checks each against what it says.

use crate::bytes::index as to_index;
use crate::frame::{self, EventFrame, Kind};
use crate::index::{Index, Place};
use crate::storage::{StorageFile, read_range};
use crate::{ReadError, StoredEvent};
use foldback_event::ConversationId;
use std::path::PathBuf;
use std::sync::Arc;

/// How many bytes are read in one go at most, a single larger event apart.
const SPAN_BYTES_MAX: u32 = 1024 * 1024;

/// An event that is to be read.
#[derive(Debug)]
pub(crate) struct Located {
    seq: u64,
    file: Arc<dyn StorageFile>,
    path: PathBuf,
    place: Place,
}

/// Finds events; what is missing at the end of the answer, the index does not have.
pub(crate) fn locate(index: &Index, seqs: &[u64]) -> Vec<Located> {
    let located = seqs.iter().map_while(|seq| {
        let (segment, place) = index.locate(*seq)?;
        Some(Located {
            seq: *seq,
            file: Arc::clone(&segment.file),
            path: segment.path.clone(),
            place,
        })
    });
    located.collect()
}

/// What the index says of an event that is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected {
    pub(crate) conversation: ConversationId,
    pub(crate) version: u64,
}

/// Reads events, those that stand together in one go, and checks each.
pub(crate) fn fetch(
    located: &[Located],
    expected: impl Fn(usize) -> Option<Expected>,
) -> Result<Vec<StoredEvent>, ReadError> {
    let mut out = Vec::with_capacity(located.len());
    let mut rest = located;
    while let Some(first) = rest.first() {
        let start = first.place.offset;
        let together = rest.iter().take_while(|next| {
            let fits = next
                .place
                .offset
                .checked_sub(start)
                .is_some_and(|at| at.saturating_add(next.place.bytes) <= SPAN_BYTES_MAX);
            next.path == first.path && (fits || next.seq == first.seq)
        });
        let (run, later) = rest
            .split_at_checked(together.count())
            .unwrap_or((rest, &[]));
        rest = later;
        let last = run.last().unwrap_or(first);
        let bytes = u64::from(last.place.offset - start) + u64::from(last.place.bytes);
        let span =
            read_range(&*first.file, u64::from(start), bytes).map_err(|source| ReadError::Io {
                path: first.path.clone(),
                source,
            })?;
        for next in run {
            let from = to_index(u64::from(next.place.offset - start));
            let to = from + to_index(u64::from(next.place.bytes));
            let bytes = span.get(from..to).unwrap_or_default();
            let event = decode(bytes, next.seq, expected(out.len())).map_err(|what| {
                ReadError::Corrupt {
                    file: next.path.clone(),
                    offset: u64::from(next.place.offset),
                    seq: next.seq,
                    what,
                }
            })?;
            out.push(event);
        }
    }
    Ok(out)
}

fn decode(bytes: &[u8], seq: u64, expected: Option<Expected>) -> Result<StoredEvent, String> {
    let frame = frame::read(bytes).map_err(|error| error.to_string())?;
    if frame.kind != Kind::Event || frame.seq != seq || frame.size() != bytes.len() {
        return Err("another frame stands there".to_owned());
    }
    let event = EventFrame::read(frame.payload).ok_or("the event frame is too short")?;
    if let Some(expected) = expected
        && (event.conversation != expected.conversation || event.version != expected.version)
    {
        return Err(format!(
            "version {} of {} stands there, not version {} of {}",
            event.version, event.conversation, expected.version, expected.conversation
        ));
    }
    Ok(StoredEvent {
        seq,
        conversation: event.conversation,
        version: event.version,
        event_id: event.event_id,
        hash: event.hash,
        record: event.record.to_vec(),
    })
}
