//! Frames that are valid one by one and do not fit together: never the work of a crash.

use super::*;
use crate::index::{Index, Segment};
use crate::storage::{Access, MemoryStorage, Storage};
use foldback_event::{BatchId, EventId};
use std::path::{Path, PathBuf};

const GENESIS: Digest = Digest::from_bytes([7; 32]);

fn event(seq: u64, conversation: u8, version: u64) -> (u64, EventFrame<'static>) {
    let frame = EventFrame {
        conversation: ConversationId::from_bytes([conversation; 16]),
        version,
        event_id: EventId::from_bytes([3; 16]),
        hash: Digest::from_bytes([u8::try_from(seq).unwrap(); 32]),
        record: b"record",
    };
    (seq, frame)
}

fn segment(events: &[(u64, EventFrame<'_>)], change: impl FnOnce(&mut Commit)) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (seq, event) in events {
        event.write(*seq, &mut bytes);
    }
    let mut commit = Commit {
        count: u32::try_from(events.len()).unwrap(),
        first_seq: events[0].0,
        last_seq: events.last().unwrap().0,
        first_version: events[0].1.version,
        group: 0,
        batch_id: BatchId::from_bytes([5; 16]),
        conversation: events[0].1.conversation,
        digest: GENESIS,
    };
    commit.digest = commit.digest(&GENESIS, events.iter().map(|(_, event)| &event.hash));
    change(&mut commit);
    commit.write(&mut bytes);
    bytes.resize(4096, 0);
    bytes
}

fn stop(bytes: &[u8]) -> Option<Stop> {
    let mut tail = Tail {
        seq: 0,
        digest: GENESIS,
    };
    scan(bytes, 0, &mut tail, |_| Ok(()))
}

fn inconsistent(bytes: &[u8], says: &str) {
    let stop = stop(bytes).unwrap();
    assert!(stop.what.contains(says), "{stop:?}");
    assert!(!stop.can_be_torn, "{stop:?}");
}

#[test]
fn what_does_not_follow_is_damage() {
    let two = [event(1, 1, 1), event(2, 1, 2)];
    assert_eq!(stop(&segment(&two, |_| {})), None);
    inconsistent(
        &segment(&[event(1, 1, 1), event(3, 1, 2)], |_| {}),
        "seq 3, not 2",
    );
    inconsistent(
        &segment(&[event(1, 1, 1), event(2, 1, 3)], |_| {}),
        "version 3",
    );
    inconsistent(
        &segment(&[event(1, 1, 1), event(2, 2, 2)], |_| {}),
        "does not follow",
    );
    inconsistent(&segment(&[event(2, 1, 1)], |_| {}), "seq 2, not 1");
    inconsistent(&segment(&two, |commit| commit.count = 1), "does not cover");
    inconsistent(
        &segment(&two, |commit| commit.first_version = 2),
        "does not cover",
    );
    inconsistent(&segment(&two, |commit| commit.group = 9), "digest");
    inconsistent(
        &segment(&two, |commit| {
            commit.batch_id = BatchId::from_bytes([6; 16]);
        }),
        "digest",
    );
    inconsistent(&segment(&two, |commit| commit.digest = GENESIS), "digest");
}

#[test]
fn check_finds_a_chain_that_does_not_hold_under_valid_frames() {
    let bytes = segment(&[event(1, 1, 1), event(2, 1, 2)], |_| {});
    let storage = MemoryStorage::default();
    storage.create_dir_all(Path::new("/log")).unwrap();
    let path = PathBuf::from("/log/1.seg");
    let file = storage.create(&path, Access::Shared).unwrap();
    file.write_at(0, &bytes).unwrap();
    let mut index = Index::new(GENESIS);
    index.segments.push(Segment {
        first_seq: 1,
        path,
        file,
        size: 4096,
        places: Vec::new(),
        batches: Vec::new(),
    });
    let mut tail = index.tail;
    let read = scan(&bytes, 0, &mut tail, |read| {
        index.add(read.batch, read.places)
    });
    assert_eq!(read, None);
    let report = crate::check::check(&index.segments, GENESIS, index.tail);
    let found: Vec<u64> = report.problems.iter().map(|problem| problem.seq).collect();
    assert_eq!(found, [1, 2], "{report:?}");
    assert!(report.problems[0].what.contains("chain"));
}

#[test]
fn what_a_reader_refuses_stops_the_scan() {
    let mut bytes = segment(&[event(1, 1, 1)], |_| {});
    let mut tail = Tail {
        seq: 0,
        digest: GENESIS,
    };
    let refused = scan(&bytes, 0, &mut tail, |_| Err("no".to_owned())).unwrap();
    assert_eq!((refused.what.as_str(), refused.can_be_torn), ("no", false));
    assert_eq!(tail.seq, 0);
    bytes[200] ^= 1;
    assert!(stop(&bytes).unwrap().can_be_torn);
}

#[test]
fn a_changed_frame_is_a_changed_format() {
    let mut bytes = Vec::new();
    let (seq, frame) = event(1, 1, 1);
    frame.write(seq, &mut bytes);
    let header = u64::from_be_bytes(bytes[..8].try_into().unwrap());
    assert_eq!(header, 0x46424b0101000000);
    let (length, crc) = (&bytes[8..12], &bytes[12..16]);
    assert_eq!(
        (length, crc),
        (&[0x4e, 0, 0, 0][..], &[0xeb, 0x3b, 0x04, 0x4b][..])
    );
    assert_eq!(bytes[16..24], [1, 0, 0, 0, 0, 0, 0, 0]);
    let bytes = segment(&[event(1, 1, 1)], |_| {});
    let commit = Commit::read(frame::read(&bytes[102..]).unwrap().payload).unwrap();
    assert_eq!(
        commit.digest.to_string(),
        "16ded9e43a4eed98ca77d005d9c568e4f722c3f9beb889f67a655c2ef7f277a3"
    );
}
