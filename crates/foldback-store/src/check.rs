//! Checks a whole log, byte by byte, and goes on behind what is damaged.
//!
//! Opening trusts the cache for old segments; this trusts nothing. It proves that every frame is
//! as it was written, that no batch is missing between the first and the last, and that every
//! conversation's chain holds. It cannot prove that nothing was cut off the end together with the
//! mark `log/synced`.

use crate::bytes::{index as to_index, wide};
use crate::frame::{self, EventFrame};
use crate::index::{Segment, Tail};
use crate::scan::{Scanned, scan};
use crate::storage::read_range;
use foldback_event::{ConversationId, Digest, GENESIS, chain_hash};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Something that is wrong in a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogProblem {
    /// The file.
    pub file: PathBuf,
    /// Where in it.
    pub offset: u64,
    /// The seq there, or the one that was expected.
    pub seq: u64,
    /// What is wrong.
    pub what: String,
}

/// What a check of a log found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogReport {
    /// How many events were read whole.
    pub events: u64,
    /// In how many batches.
    pub batches: u64,
    /// In how many conversations.
    pub conversations: u64,
    /// How many bytes of segments were in use.
    pub bytes: u64,
    /// What is wrong, in the order of the log.
    pub problems: Vec<LogProblem>,
}

#[derive(Debug)]
struct Chain {
    version: u64,
    /// `None` behind damage: the next event is taken as it is.
    hash: Option<Digest>,
}

pub(crate) fn check(segments: &[Segment], genesis: Digest, end: Tail) -> LogReport {
    let span = tracing::debug_span!("verify");
    let _entered = span.enter();
    let mut report = LogReport::default();
    let mut chains = BTreeMap::new();
    let mut tail = Tail {
        seq: 0,
        digest: genesis,
    };
    for (number, segment) in segments.iter().enumerate() {
        let last = number + 1 == segments.len();
        if segment.first_seq != tail.seq + 1 {
            report.problem(
                segment,
                0,
                tail.seq + 1,
                "the segment starts at another seq",
            );
            tail.seq = segment.first_seq.saturating_sub(1);
        }
        // What stands behind the last visible batch of the last segment is not part of the log.
        let size = if last {
            u64::from(segment.end())
        } else {
            segment.size
        };
        report.bytes += u64::from(segment.end());
        match read_range(&*segment.file, 0, size) {
            Ok(bytes) => check_segment(segment, &bytes, &mut tail, &mut chains, &mut report),
            Err(error) => report.problem(segment, 0, tail.seq + 1, &error.to_string()),
        }
    }
    if tail != end
        && let Some(segment) = segments.last()
    {
        let offset = u64::from(segment.end());
        report.problem(
            segment,
            offset,
            end.seq,
            "the log does not end in its last batch",
        );
    }
    report.conversations = wide(chains.len());
    tracing::debug!(
        count = report.events,
        problems = report.problems.len(),
        "log checked"
    );
    report
}

fn check_segment(
    segment: &Segment,
    bytes: &[u8],
    tail: &mut Tail,
    chains: &mut BTreeMap<ConversationId, Chain>,
    report: &mut LogReport,
) {
    let mut start = 0;
    loop {
        let stop = scan(bytes, start, tail, |scanned| {
            check_batch(segment, bytes, &scanned, chains, report);
            Ok(())
        });
        let Some(stop) = stop else {
            return;
        };
        report.problem(segment, stop.offset, stop.seq, &stop.what);
        // The next whole commit record that is further on is where trust begins again.
        let next = frame::commits_after(bytes, to_index(stop.offset))
            .find(|(_, commit)| commit.last_seq > tail.seq);
        let Some((at, commit)) = next else {
            return;
        };
        *tail = Tail {
            seq: commit.last_seq,
            digest: commit.digest,
        };
        chains.insert(
            commit.conversation,
            Chain {
                version: commit.first_version + u64::from(commit.count).saturating_sub(1),
                hash: None,
            },
        );
        let Ok(behind) = u32::try_from(at + wide(frame::COMMIT_FRAME)) else {
            return;
        };
        start = behind;
    }
}

fn check_batch(
    segment: &Segment,
    bytes: &[u8],
    scanned: &Scanned<'_>,
    chains: &mut BTreeMap<ConversationId, Chain>,
    report: &mut LogReport,
) {
    let commit = &scanned.batch.commit;
    let chain = chains.entry(commit.conversation).or_insert(Chain {
        version: 0,
        hash: Some(GENESIS),
    });
    if commit.first_version != chain.version + 1 {
        let place = scanned.places.first().map_or(0, |place| place.offset);
        let what = format!(
            "version {} of {} follows version {}",
            commit.first_version, commit.conversation, chain.version
        );
        report.problem(segment, u64::from(place), commit.first_seq, &what);
        chain.version = commit.first_version.saturating_sub(1);
        chain.hash = None;
    }
    for (seq, place) in (commit.first_seq..).zip(scanned.places) {
        let frame = bytes
            .get(to_index(u64::from(place.offset))..)
            .and_then(|rest| frame::read(rest).ok());
        let Some(event) = frame.and_then(|frame| EventFrame::read(frame.payload)) else {
            // The scan has just read it.
            continue;
        };
        let holds = chain
            .hash
            .is_none_or(|before| chain_hash(&before, event.record) == event.hash);
        if !holds {
            let what = format!(
                "the hash of version {} of {} does not continue its chain",
                event.version, event.conversation
            );
            report.problem(segment, u64::from(place.offset), seq, &what);
        }
        chain.version += 1;
        chain.hash = Some(event.hash);
        report.events += 1;
    }
    report.batches += 1;
}

impl LogReport {
    fn problem(&mut self, segment: &Segment, offset: u64, seq: u64, what: &str) {
        self.problems.push(LogProblem {
            file: segment.path.clone(),
            offset,
            seq,
            what: what.to_owned(),
        });
    }
}
