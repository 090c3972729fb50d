//! Ids and labels: their text, their derivation, and what they refuse.

use foldback_event::{
    CallId, ConversationId, Digest, EventId, Label, LabelError, MessageId, ShortDigest,
};
use proptest::prelude::*;

/// Literal: importers of other languages derive the same ids (docs/event-format.md, "Ids").
#[test]
fn derived_ids_are_these() {
    let conversation = ConversationId::from_source(&[0; 16], "flight change");
    assert_eq!(
        conversation.to_string(),
        "conv_4e54f0cd070d50cca411361d229c5838"
    );
    let event = EventId::from_source(conversation.as_bytes(), "1");
    assert_eq!(event.to_string(), "evt_ae021add91845bbdaab1c3fd46a9250b");
    assert_eq!(
        CallId::derive(event, 0).to_string(),
        "call_35a697776dd058d3bccd00a0df2555fb"
    );
    assert_eq!(
        CallId::derive(event, 0),
        CallId::from_source(event.as_bytes(), "0")
    );
}

#[test]
fn a_derived_id_is_a_uuid_of_version_5() {
    let id = MessageId::from_source(&[9; 16], "x");
    assert_eq!(id.as_bytes()[6] >> 4, 5);
    assert_eq!(id.as_bytes()[8] >> 6, 0b10);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn ids_and_digests_read_back_from_their_text(bytes: [u8; 32]) {
        let digest = Digest::from_bytes(bytes);
        prop_assert_eq!(digest.to_string().parse::<Digest>().unwrap(), digest);
        let mut half = [0; 16];
        half.copy_from_slice(&bytes[..16]);
        let short = ShortDigest::from_bytes(half);
        prop_assert_eq!(short.to_string().parse::<ShortDigest>().unwrap(), short);
        let id = MessageId::from_bytes(half);
        prop_assert_eq!(id.to_string().parse::<MessageId>().unwrap(), id);
        prop_assert!(id.to_string().starts_with(&id.short()));
        prop_assert!(id.to_string().parse::<CallId>().is_err());
    }

    #[test]
    fn any_text_is_an_id_or_refused(text in ".{0,60}") {
        if let Ok(id) = text.parse::<MessageId>() {
            prop_assert_eq!(id.to_string(), text.to_lowercase());
        }
    }

    #[test]
    fn a_label_takes_its_narrow_set_alone(text in "\\PC{0,140}") {
        let fits = !text.is_empty()
            && text.len() <= Label::MAX
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.:/@+".contains(&b));
        prop_assert_eq!(Label::new(&text).is_ok(), fits);
        let stand_in = Label::or_stand_in(&text);
        prop_assert_eq!(&stand_in, &Label::or_stand_in(&text));
        prop_assert_eq!(stand_in.as_str() == text, fits);
    }
}

#[test]
fn a_label_says_what_is_wrong() {
    assert_eq!(Label::new(""), Err(LabelError::Length { bytes: 0 }));
    assert_eq!(
        Label::new(&"x".repeat(129)),
        Err(LabelError::Length { bytes: 129 })
    );
    assert_eq!(
        Label::new("two words"),
        Err(LabelError::Character { at: 3 })
    );
    assert_eq!(
        Label::or_stand_in("two words").as_str(),
        "unnamed-2f84e6a34bfc"
    );
}
