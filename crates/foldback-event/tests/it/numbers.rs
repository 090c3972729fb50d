//! Every number that is written to disk, with its name. A difference here is a changed format:
//! numbers are added, never changed and never used again.

use foldback_event::kind::{
    ChildStatus, ParticipantKind, PromotionRule, RepairOutcome, RetentionClass,
};
use foldback_event::{
    ActorKind, CallStatus, ConfidenceSource, Freshness, Isolation, Kind, MediaType, MessageRole,
    Presentation, Privacy, Reason, RecordKind, RuntimeKind, Visibility,
};
use std::fmt::Write as _;

macro_rules! tables {
    ($($name:ident)*) => {{
        let mut out = String::new();
        $(
            writeln!(out, "{}", stringify!($name)).unwrap();
            for variant in $name::ALL {
                assert_eq!($name::from_number(variant.number()), Ok(*variant));
                assert_eq!($name::from_name(variant.name()), Some(*variant));
                writeln!(out, "{:>6} {}", variant.number(), variant.name()).unwrap();
            }
            let numbers: Vec<u16> = $name::ALL.iter().map(|v| v.number()).collect();
            assert!(numbers.is_sorted_by(|a, b| a < b), "{} is out of order", stringify!($name));
            assert!($name::from_number(0).is_err());
            assert!($name::from_number(u16::MAX).is_err());
        )*
        out
    }};
}

#[test]
fn numbers_and_names_are_these() {
    insta::assert_snapshot!(tables!(
        ActorKind CallStatus ChildStatus ConfidenceSource Freshness Isolation MediaType MessageRole
        ParticipantKind Presentation Privacy PromotionRule Reason RecordKind RepairOutcome
        RetentionClass RuntimeKind Visibility
    ));
}

#[test]
fn kinds_are_these() {
    tables!(Kind);
    let mut out = String::new();
    for kind in Kind::ALL {
        let must = if kind.must_understand() {
            "must be understood"
        } else {
            ""
        };
        let line = format!("{:>3} {kind:<24} v{} {must}", kind.number(), kind.version());
        writeln!(out, "{}", line.trim_end()).unwrap();
    }
    insta::assert_snapshot!(out);
}

#[test]
fn an_unknown_number_says_of_what() {
    let error = Privacy::from_number(99).unwrap_err().to_string();
    assert_eq!(error, "99 is no known privacy class");
}
