//! Kinds and versions from the future are kept byte for byte.

use foldback_event::kind::Unknown;
use foldback_event::{Body, Envelope, Event, Kind};
use foldback_testkit::Rng;
use foldback_testkit::draw::{self, Draw};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_unknown_kind_is_kept_byte_for_byte(
        seed: u64,
        number in 900_u16..,
        version: u16,
        must_understand: bool,
        bytes in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let unknown = Unknown { number, version, must_understand, bytes };
        let event = Event {
            envelope: Envelope::draw(&mut Rng::new(seed)),
            body: Body::Unknown(unknown),
        };
        let record = event.encode().unwrap();
        let again = Event::decode(&record).unwrap();
        prop_assert_eq!(&again, &event);
        prop_assert_eq!(again.body.kind(), None);
        prop_assert_eq!(again.encode().unwrap(), record);
    }

    #[test]
    fn a_newer_version_of_a_known_kind_is_kept_byte_for_byte(
        seed: u64,
        later in 1_u16..9,
        must_understand: bool,
        bytes in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let mut rng = Rng::new(seed);
        let kind = *rng.pick(Kind::ALL).unwrap();
        let unknown = Unknown {
            number: kind.number(),
            version: kind.version() + later,
            must_understand,
            bytes,
        };
        let body = Body::Unknown(unknown.clone());
        let event = Event { envelope: Envelope::draw(&mut rng), body };
        let again = Event::decode(&event.encode().unwrap()).unwrap();
        prop_assert_eq!(again.body, Body::Unknown(unknown));
    }
}

/// A reader of today meets an event of tomorrow: it must know whether it may pass over it.
#[test]
fn the_bit_is_read_without_knowing_the_kind() {
    for must_understand in [false, true] {
        let mut event = draw::event(Kind::ConversationErased, &mut Rng::new(3));
        event.body = Body::Unknown(Unknown {
            number: 999,
            version: 4,
            must_understand,
            bytes: vec![7; 9],
        });
        let Body::Unknown(read) = Event::decode(&event.encode().unwrap()).unwrap().body else {
            panic!("999 is no known kind");
        };
        assert_eq!(read.must_understand, must_understand);
        assert_eq!((read.number, read.version), (999, 4));
    }
}
