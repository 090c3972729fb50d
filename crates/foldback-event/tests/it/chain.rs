//! The chain of a conversation: a changed hash is a changed format.

use foldback_event::{Digest, Event, GENESIS, Kind, chain_hash};
use foldback_testkit::{Story, golden, history};

fn head(records: &[Vec<u8>]) -> Digest {
    records
        .iter()
        .fold(GENESIS, |head, record| chain_hash(&head, record))
}

fn records(events: &[Event]) -> Vec<Vec<u8>> {
    events.iter().map(|event| event.encode().unwrap()).collect()
}

#[test]
fn the_hash_of_a_golden_record_is_this() {
    let record = golden::event(Kind::MessageFinalized).encode().unwrap();
    assert_eq!(
        chain_hash(&GENESIS, &record).to_string(),
        "50d0cba6c00f351694d2121d010b4d7c1814f1e7b447434b6ebd4eb80eb4164d"
    );
}

#[test]
fn the_head_of_a_short_conversation_is_this() {
    let mut s = Story::new("chain");
    let mia = s.human("Mia");
    s.says(mia, "Hello.");
    assert_eq!(
        head(&records(s.events())).to_string(),
        "3c9af9c211771dcc9f9eb97eccb9e45f6221afea68dc555a9dfbc5a7cf531629"
    );
}

#[test]
fn a_dropped_swapped_repeated_or_changed_event_changes_the_head() {
    let whole = records(history(11, 40).events());
    let right = head(&whole);
    for at in 0..whole.len() {
        let mut dropped = whole.clone();
        dropped.remove(at);
        assert_ne!(head(&dropped), right, "without event {at}");
        let mut repeated = whole.clone();
        repeated.insert(at, whole[at].clone());
        assert_ne!(head(&repeated), right, "event {at} twice");
        let mut changed = whole.clone();
        *changed[at].last_mut().unwrap() ^= 1;
        assert_ne!(head(&changed), right, "event {at} changed");
        if at > 0 {
            let mut swapped = whole.clone();
            swapped.swap(at, at - 1);
            assert_ne!(head(&swapped), right, "event {at} before its predecessor");
        }
    }
}

#[test]
fn a_digest_of_one_domain_is_none_of_another() {
    assert_ne!(Digest::of("a", b"x"), Digest::of("b", b"x"));
    assert_ne!(Digest::of("a", b""), GENESIS);
}
