//! The index of a log in the cache: one entry for each segment, so that a full one is written once.
//!
//! An entry is used only if the commit record that it ends with stands in the segment, byte for
//! byte. What it says of events is checked again whenever one is read, frame by frame.

use crate::Cache;
use crate::bytes::{Take, wide};
use crate::frame::{self, COMMIT_FRAME, Commit, Kind};
use crate::index::{Batch, Index, Place, Segment};
use crate::recovery::LogDir;
use crate::storage::read_range;
use foldback_event::Digest;

const TREE: &str = "log-index";

/// Loads the index as far as the cache has it, but for the last segment, which every opening reads
/// and checks whole: nothing is appended behind damage. The error says why it cannot be used.
pub(crate) fn load(
    cache: &Cache,
    dir: &LogDir,
    genesis: Digest,
    writable: bool,
) -> Result<Index, String> {
    let mut index = Index::new(genesis);
    let segments = dir.segments().map_err(|error| error.to_string())?;
    let last_one = segments.len().saturating_sub(1);
    for (number, (first_seq, path)) in segments.into_iter().enumerate() {
        let Some(entry) = cache.get(TREE, &first_seq.to_be_bytes()) else {
            break;
        };
        if first_seq != index.tail.seq + 1 {
            return Err("its segments do not follow each other".to_owned());
        }
        let segment = dir
            .open_segment(first_seq, &path, writable)
            .map_err(|error| error.to_string())?;
        let batches = decode(&entry).ok_or_else(|| "an entry does not decode".to_owned())?;
        if let Some((last, _)) = batches.last() {
            anchor(&segment, last)?;
        }
        if number == last_one {
            break;
        }
        index.segments.push(segment);
        for (batch, places) in batches {
            index.add(batch, &places)?;
        }
    }
    Ok(index)
}

/// Writes the entries of the segments that have more batches than `known` says the cache has.
pub(crate) fn save(cache: &Cache, index: &Index, known: &[usize]) {
    for (number, segment) in index.segments.iter().enumerate() {
        let there = known.get(number).copied();
        if there != Some(segment.batches.len()) && !segment.batches.is_empty() {
            cache.put(TREE, &segment.first_seq.to_be_bytes(), &encode(segment));
        }
    }
    cache.flush();
}

/// Counts the batches of each segment, for a later [`save`].
pub(crate) fn known(index: &Index) -> Vec<usize> {
    index.segments.iter().map(|s| s.batches.len()).collect()
}

/// Checks that the segment holds the commit record that the entry ends with.
fn anchor(segment: &Segment, last: &Batch) -> Result<(), String> {
    let mismatch = || "it does not fit the log".to_owned();
    let size = wide(COMMIT_FRAME);
    let at = u64::from(last.end).checked_sub(size).ok_or_else(mismatch)?;
    let bytes = read_range(&*segment.file, at, size).map_err(|_| mismatch())?;
    match frame::read(&bytes) {
        Ok(frame)
            if frame.kind == Kind::Commit && Commit::read(frame.payload) == Some(last.commit) =>
        {
            Ok(())
        }
        _ => Err(mismatch()),
    }
}

fn encode(segment: &Segment) -> Vec<u8> {
    let mut out = Vec::new();
    let mut places = segment.places.iter();
    for batch in &segment.batches {
        out.extend_from_slice(&batch.commit.payload());
        out.extend_from_slice(batch.hash.as_bytes());
        out.extend_from_slice(&batch.end.to_le_bytes());
        for _ in 0..batch.commit.count {
            if let Some(place) = places.next() {
                out.extend_from_slice(&place.offset.to_le_bytes());
                out.extend_from_slice(&place.bytes.to_le_bytes());
            }
        }
    }
    out
}

fn decode(entry: &[u8]) -> Option<Vec<(Batch, Vec<Place>)>> {
    let mut take = Take(entry);
    let mut out = Vec::new();
    while !take.0.is_empty() {
        let commit = Commit::read(take.bytes(frame::COMMIT_PAYLOAD)?)?;
        let hash = Digest::from_bytes(take.array()?);
        let end = take.u32()?;
        let mut places = Vec::new();
        for _ in 0..commit.count {
            places.push(Place {
                offset: take.u32()?,
                bytes: take.u32()?,
            });
        }
        out.push((Batch { commit, hash, end }, places));
    }
    Some(out)
}
