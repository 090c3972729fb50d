//! Records: round trips, one form per value, and refusal of everything else.

use foldback_event::codec::{DecodeError, EncodeError, encode_value};
use foldback_event::kind::{AssemblyRequest, ContextAssembled, MessageFinalized, Relevance};
use foldback_event::{Body, Digest, Event, Kind, Label, MessageId, PayloadRef, Visibility, limits};
use foldback_testkit::{Rng, draw, golden};
use proptest::prelude::*;
use std::fs;

fn golden_records() -> Vec<(Kind, Vec<u8>)> {
    Kind::ALL
        .iter()
        .map(|kind| {
            let path =
                golden::folder().join(format!("{}.bin", golden::stem(*kind, kind.version())));
            (*kind, fs::read(path).unwrap())
        })
        .collect()
}

/// What is accepted is what this library would have written.
fn accepted_bytes_are_ours(record: &[u8]) -> Result<(), TestCaseError> {
    if let Ok(event) = Event::decode(record) {
        prop_assert_eq!(event.encode().unwrap(), record);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_event_of_any_kind_reads_back(seed: u64) {
        for kind in Kind::ALL {
            let event = draw::event(*kind, &mut Rng::new(seed));
            let record = event.encode().unwrap();
            prop_assert_eq!(&Event::decode(&record).unwrap(), &event);
            prop_assert_eq!(Event::decode(&record).unwrap().encode().unwrap(), record);
        }
    }

    #[test]
    fn any_bytes_are_refused_or_ours(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        accepted_bytes_are_ours(&bytes)?;
    }

    #[test]
    fn any_bytes_behind_a_good_header_are_refused_or_ours(
        seed: u64,
        tail in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut rng = Rng::new(seed);
        let kind = *rng.pick(Kind::ALL).unwrap();
        let event = draw::event(kind, &mut rng);
        let Body::Unknown(_) = event.body else {
            let body = body_bytes(&event).len();
            let mut record = event.encode().unwrap();
            record.truncate(record.len() - body);
            record.extend(tail);
            return accepted_bytes_are_ours(&record);
        };
    }

    #[test]
    fn several_changed_bytes_are_refused_or_ours(
        seed: u64,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut rng = Rng::new(seed);
        let kind = *rng.pick(Kind::ALL).unwrap();
        let mut record = draw::event(kind, &mut rng).encode().unwrap();
        for (at, byte) in changes {
            let at = at.index(record.len());
            record[at] = byte;
        }
        accepted_bytes_are_ours(&record)?;
    }
}

/// The body's part of a record: what is left when the header of an event without one is taken off.
fn body_bytes(event: &Event) -> Vec<u8> {
    let kind = event.body.kind().unwrap();
    let empty = Event {
        envelope: event.envelope,
        body: Body::Unknown(foldback_event::kind::Unknown {
            number: kind.number(),
            version: kind.version(),
            must_understand: kind.must_understand(),
            bytes: Vec::new(),
        }),
    };
    let header = empty.encode().unwrap().len();
    event.encode().unwrap()[header..].to_vec()
}

#[test]
fn a_record_cut_at_any_length_is_refused() {
    for (kind, record) in golden_records() {
        for length in 0..record.len() {
            assert!(
                Event::decode(&record[..length]).is_err(),
                "{kind} cut to {length} bytes"
            );
        }
    }
}

#[test]
fn a_record_with_bytes_left_over_is_refused() {
    for (kind, mut record) in golden_records() {
        record.push(0);
        assert!(Event::decode(&record).is_err(), "{kind}");
    }
}

#[test]
fn a_changed_byte_is_refused_or_means_something_else() {
    let (mut refused, mut accepted) = (0, 0);
    for (kind, record) in golden_records() {
        let original = Event::decode(&record).unwrap();
        for at in 0..record.len() {
            for change in [0x01, 0x80, 0xff] {
                let mut changed = record.clone();
                changed[at] ^= change;
                match Event::decode(&changed) {
                    Err(_) => refused += 1,
                    Ok(event) => {
                        accepted += 1;
                        assert_ne!(event, original, "{kind}: byte {at} says nothing");
                        assert_eq!(event.encode().unwrap(), changed, "{kind}: byte {at}");
                    }
                }
            }
        }
    }
    assert!(
        refused > 1_000 && accepted > 1_000,
        "{refused} refused, {accepted} accepted"
    );
}

/// The bit is the kind's, not the writer's choice: a record that claims otherwise is not ours.
#[test]
fn a_known_kind_with_the_wrong_must_understand_bit_is_refused() {
    for (kind, record) in golden_records() {
        let event = Event::decode(&record).unwrap();
        let at = record.len() - body_bytes(&event).len() - 1;
        let mut changed = record.clone();
        assert_eq!(changed[at], u8::from(kind.must_understand()), "{kind}");
        changed[at] ^= 1;
        assert_eq!(
            Event::decode(&changed),
            Err(DecodeError::NotCanonical { what: "the header" }),
            "{kind}"
        );
    }
}

#[test]
fn a_number_in_a_longer_form_than_needed_is_refused() {
    let record = golden::event(Kind::MessageFinalized).encode().unwrap();
    // The version, 5, stands behind the version byte and the conversation.
    assert_eq!(record[17], 5);
    let mut longer = record[..17].to_vec();
    longer.extend([251, 5, 0]);
    longer.extend(&record[18..]);
    assert_eq!(
        Event::decode(&longer),
        Err(DecodeError::NotCanonical { what: "the header" })
    );
}

#[test]
fn a_record_says_what_is_wrong_with_it() {
    assert_eq!(Event::decode(&[]), Err(DecodeError::Empty));
    assert_eq!(
        Event::decode(&[2, 0, 0]),
        Err(DecodeError::Version { found: 2, max: 1 })
    );
    let long = vec![1; limits::RECORD_BYTES_MAX + 1];
    let too_large = DecodeError::TooLarge {
        bytes: long.len(),
        max: limits::RECORD_BYTES_MAX,
    };
    assert_eq!(Event::decode(&long), Err(too_large));
    let cut = Event::decode(&[1, 7]).unwrap_err().to_string();
    assert!(cut.starts_with("the header is malformed: "), "{cut}");
}

#[test]
fn an_option_byte_that_is_neither_0_nor_1_is_refused() {
    let record = golden::event(Kind::MessageFinalized).encode().unwrap();
    let at = record.len() - body_bytes(&golden::event(Kind::MessageFinalized)).len() + 16;
    assert_eq!(record[at], 1, "content is there");
    let mut changed = record;
    changed[at] = 2;
    assert!(matches!(
        Event::decode(&changed),
        Err(DecodeError::Malformed {
            what: "the body",
            ..
        })
    ));
}

#[test]
fn a_length_that_promises_more_than_there_is_is_refused_at_once() {
    let event = golden::event(Kind::ConversationErased);
    let mut record = event.encode().unwrap();
    record.truncate(record.len() - body_bytes(&event).len());
    record.extend([253, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, b'x']);
    assert!(matches!(
        Event::decode(&record),
        Err(DecodeError::Malformed {
            what: "the body",
            ..
        })
    ));
}

fn with_scores(count: u64) -> Event {
    let mut event = golden::event(Kind::ContextAssembled);
    let Body::ContextAssembled(ContextAssembled { request, .. }) = &mut event.body else {
        panic!("the golden event of the kind is of the kind");
    };
    let AssemblyRequest { relevance, .. } = request;
    *relevance = Some(Relevance {
        scorer: Label::new("lexical").unwrap(),
        version: 1,
        scores: (0..count).map(|n| (n % 200, 1)).collect(),
    });
    event
}

/// What the writer takes the reader takes: a list of small numbers is short on disk, and large
/// only in memory.
#[test]
fn a_large_event_below_the_limit_reads_back() {
    let event = with_scores(1_500_000);
    let record = event.encode().unwrap();
    assert!(record.len() < limits::RECORD_BYTES_MAX);
    assert_eq!(Event::decode(&record).unwrap(), event);
}

#[test]
fn an_event_beyond_the_limit_is_not_written() {
    let error = with_scores(2_500_000).encode().unwrap_err();
    assert!(
        matches!(
            error,
            EncodeError::TooLarge {
                max: limits::RECORD_BYTES_MAX,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn a_body_is_its_fields_in_order_and_nothing_else() {
    let payload = PayloadRef {
        address: Digest::from_bytes([0xaa; 32]),
        sealed_digest: Digest::from_bytes([0xbb; 32]),
        bytes: 300,
        tokens: 70_000,
        media_type: foldback_event::MediaType::Json,
    };
    let body = MessageFinalized {
        message: MessageId::from_bytes([0xcc; 16]),
        content: Some(payload),
        visibility: Visibility::Branch,
    };
    let mut wanted = vec![0xcc; 16];
    wanted.push(1);
    wanted.extend([0xaa; 32]);
    wanted.extend([0xbb; 32]);
    wanted.extend([251, 0x2c, 0x01]);
    wanted.extend([252, 0x70, 0x11, 0x01, 0x00]);
    wanted.extend([2, 2]);
    assert_eq!(encode_value(&body).unwrap(), wanted);
}
