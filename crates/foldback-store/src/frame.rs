//! Frames of a segment: how one event and one commit record stand in the file.
//!
//! A frame is a 24-byte header and a payload. The crc32c covers the header without itself, the seq
//! included, and the payload, so that no single byte of a frame can change unnoticed.
//!
//! | offset | bytes | field |
//! | ---: | ---: | --- |
//! | 0 | 3 | `FBK` |
//! | 3 | 1 | frame version, 1 |
//! | 4 | 1 | kind: 1 event, 2 commit |
//! | 5 | 3 | zero |
//! | 8 | 4 | payload length |
//! | 12 | 4 | crc32c of bytes 0..12, of bytes 16..24, of the payload |
//! | 16 | 8 | seq: of the event, or of the last event that the commit covers |
//! | 24 | | payload |

use crate::bytes::{Take, wide};
use foldback_event::limits::RECORD_BYTES_MAX;
use foldback_event::{BatchId, ConversationId, Digest, EventId};

pub(crate) const MAGIC: &[u8; 3] = b"FBK";
pub(crate) const VERSION: u8 = 1;
pub(crate) const HEADER: usize = 24;
pub(crate) const EVENT_HEADER: usize = 72;
pub(crate) const COMMIT_PAYLOAD: usize = 96;
pub(crate) const COMMIT_FRAME: usize = HEADER + COMMIT_PAYLOAD;
const PAYLOAD_MAX: usize = EVENT_HEADER + RECORD_BYTES_MAX;

const COMMIT_CONTEXT: &str = "foldback 2026 log commit v1";

/// What a frame holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Event,
    Commit,
}

impl Kind {
    fn number(self) -> u8 {
        match self {
            Self::Event => 1,
            Self::Commit => 2,
        }
    }
}

/// A frame whose crc has been checked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame<'a> {
    pub(crate) kind: Kind,
    pub(crate) seq: u64,
    pub(crate) payload: &'a [u8],
}

impl Frame<'_> {
    pub(crate) fn size(&self) -> usize {
        HEADER + self.payload.len()
    }
}

/// Says why bytes are no frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FrameError {
    #[error("there is no frame")]
    Magic,
    #[error("the frame is cut off")]
    Short,
    #[error("the frame's length is over the limit")]
    Length,
    #[error("the frame's crc is wrong")]
    Crc,
    #[error("the frame has the unknown version {0}")]
    Version(u8),
    #[error("the frame has the unknown kind {0}")]
    Kind(u8),
}

fn crc(start: &[u8], seq: &[u8], payload: &[u8]) -> u32 {
    let crc = crc32c::crc32c(start);
    crc32c::crc32c_append(crc32c::crc32c_append(crc, seq), payload)
}

/// Appends a frame to `out`.
///
/// The payload is given in two parts, so that a record need not be copied together first.
pub(crate) fn write(out: &mut Vec<u8>, kind: Kind, seq: u64, head: &[u8], body: &[u8]) {
    let mut start = [0_u8; 12];
    let length = u32::try_from(head.len() + body.len()).unwrap_or(u32::MAX);
    let fields = MAGIC
        .iter()
        .copied()
        .chain([VERSION, kind.number(), 0, 0, 0])
        .chain(length.to_le_bytes());
    for (to, from) in start.iter_mut().zip(fields) {
        *to = from;
    }
    let seq = seq.to_le_bytes();
    let crc = crc32c::crc32c_append(crc(&start, &seq, head), body);
    out.reserve(HEADER + head.len() + body.len());
    out.extend_from_slice(&start);
    out.extend_from_slice(&crc.to_le_bytes());
    out.extend_from_slice(&seq);
    out.extend_from_slice(head);
    out.extend_from_slice(body);
}

/// Reads the frame at the start of `bytes`.
pub(crate) fn read(bytes: &[u8]) -> Result<Frame<'_>, FrameError> {
    let mut take = Take(bytes);
    let start = take.array::<12>().ok_or(FrameError::Short)?;
    let mut fields = Take(&start);
    if fields.array::<3>().as_ref() != Some(MAGIC) {
        return Err(FrameError::Magic);
    }
    let version = fields.u8().ok_or(FrameError::Short)?;
    let kind = fields.u8().ok_or(FrameError::Short)?;
    let zeros = fields.array::<3>().ok_or(FrameError::Short)?;
    let length = fields.u32().ok_or(FrameError::Short)?;
    let stated = take.u32().ok_or(FrameError::Short)?;
    let seq = take.array::<8>().ok_or(FrameError::Short)?;
    let length = usize::try_from(length).map_err(|_| FrameError::Length)?;
    if length > PAYLOAD_MAX {
        return Err(FrameError::Length);
    }
    let payload = take.bytes(length).ok_or(FrameError::Short)?;
    if crc(&start, &seq, payload) != stated {
        return Err(FrameError::Crc);
    }
    if version != VERSION || zeros != [0; 3] {
        return Err(FrameError::Version(version));
    }
    let kind = match kind {
        1 => Kind::Event,
        2 => Kind::Commit,
        other => return Err(FrameError::Kind(other)),
    };
    Ok(Frame {
        kind,
        seq: u64::from_le_bytes(seq),
        payload,
    })
}

/// The payload of an event frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventFrame<'a> {
    pub(crate) conversation: ConversationId,
    pub(crate) version: u64,
    pub(crate) event_id: EventId,
    pub(crate) hash: Digest,
    pub(crate) record: &'a [u8],
}

impl<'a> EventFrame<'a> {
    pub(crate) fn read(payload: &'a [u8]) -> Option<Self> {
        let mut take = Take(payload);
        Some(Self {
            conversation: ConversationId::from_bytes(take.array()?),
            version: take.u64()?,
            event_id: EventId::from_bytes(take.array()?),
            hash: Digest::from_bytes(take.array()?),
            record: take.0,
        })
    }

    pub(crate) fn write(&self, seq: u64, out: &mut Vec<u8>) {
        let mut head = Vec::with_capacity(EVENT_HEADER);
        head.extend_from_slice(self.conversation.as_bytes());
        head.extend_from_slice(&self.version.to_le_bytes());
        head.extend_from_slice(self.event_id.as_bytes());
        head.extend_from_slice(self.hash.as_bytes());
        write(out, Kind::Event, seq, &head, self.record);
    }

    pub(crate) fn size(record: &[u8]) -> usize {
        HEADER + EVENT_HEADER + record.len()
    }
}

/// The payload of a commit frame: the record that ends a batch and makes it visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Commit {
    pub(crate) count: u32,
    pub(crate) first_seq: u64,
    pub(crate) last_seq: u64,
    pub(crate) first_version: u64,
    /// Where in the segment the write began that holds this batch: all before it had been synced
    /// when it was written. It tells a torn tail from damage (see `recovery`).
    pub(crate) group: u32,
    pub(crate) batch_id: BatchId,
    pub(crate) conversation: ConversationId,
    pub(crate) digest: Digest,
}

impl Commit {
    fn facts(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(COMMIT_PAYLOAD);
        out.extend_from_slice(&self.count.to_le_bytes());
        out.extend_from_slice(&self.first_seq.to_le_bytes());
        out.extend_from_slice(&self.last_seq.to_le_bytes());
        out.extend_from_slice(&self.first_version.to_le_bytes());
        out.extend_from_slice(&self.group.to_le_bytes());
        out.extend_from_slice(self.batch_id.as_bytes());
        out.extend_from_slice(self.conversation.as_bytes());
        out
    }

    /// Computes the digest: over the digest of the commit before, this record's own facts and the
    /// hashes of the batch's events.
    pub(crate) fn digest<'a>(
        &self,
        before: &Digest,
        events: impl Iterator<Item = &'a Digest>,
    ) -> Digest {
        let mut hasher = blake3::Hasher::new_derive_key(COMMIT_CONTEXT);
        hasher.update(before.as_bytes());
        hasher.update(&self.facts());
        for hash in events {
            hasher.update(hash.as_bytes());
        }
        Digest::from_bytes(*hasher.finalize().as_bytes())
    }

    pub(crate) fn payload(&self) -> Vec<u8> {
        let mut out = self.facts();
        out.extend_from_slice(self.digest.as_bytes());
        out
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let facts = self.facts();
        write(
            out,
            Kind::Commit,
            self.last_seq,
            &facts,
            self.digest.as_bytes(),
        );
    }

    pub(crate) fn read(payload: &[u8]) -> Option<Self> {
        if payload.len() != COMMIT_PAYLOAD {
            return None;
        }
        let mut take = Take(payload);
        Some(Self {
            count: take.u32()?,
            first_seq: take.u64()?,
            last_seq: take.u64()?,
            first_version: take.u64()?,
            group: take.u32()?,
            batch_id: BatchId::from_bytes(take.array()?),
            conversation: ConversationId::from_bytes(take.array()?),
            digest: Digest::from_bytes(take.array()?),
        })
    }
}

/// Gives the offset of the first byte from `from` on that is not zero.
pub(crate) fn first_set(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    // Words first: the zeros of a fresh segment are most of it.
    let mut at = from;
    for chunk in rest.chunks(64) {
        if chunk.iter().any(|byte| *byte != 0) {
            return chunk.iter().position(|byte| *byte != 0).map(|p| at + p);
        }
        at += chunk.len();
    }
    None
}

/// Gives every whole commit frame from `from` on, wherever it stands, with its offset.
pub(crate) fn commits_after(
    bytes: &[u8],
    from: usize,
) -> impl Iterator<Item = (u64, Commit)> + use<'_> {
    frames_after(bytes, from).filter_map(|(at, frame)| match frame.kind {
        Kind::Commit => Some((at, Commit::read(frame.payload)?)),
        Kind::Event => None,
    })
}

/// Gives every whole frame from `from` on, wherever it stands, with its offset.
pub(crate) fn frames_after(
    bytes: &[u8],
    from: usize,
) -> impl Iterator<Item = (u64, Frame<'_>)> + use<'_> {
    let rest = bytes.get(from..).unwrap_or_default();
    rest.windows(MAGIC.len())
        .enumerate()
        .filter(|(_, window)| window == MAGIC)
        .filter_map(move |(at, _)| {
            let frame = read(bytes.get(from + at..)?).ok()?;
            Some((wide(from + at), frame))
        })
}

/// Gives the offset of the last byte that is not zero.
pub(crate) fn last_set(bytes: &[u8]) -> Option<usize> {
    bytes.iter().rposition(|byte| *byte != 0)
}
