//! docs/event-format.md says what the code does.

use foldback_event::kind::{
    ChildStatus, ParticipantKind, PromotionRule, RepairOutcome, RetentionClass,
};
use foldback_event::{
    ActorKind, CallStatus, ConfidenceSource, Freshness, Isolation, Kind, MediaType, MessageRole,
    Presentation, Privacy, Reason, RecordKind, RuntimeKind, Visibility, limits,
};
use foldback_testkit::golden;
use std::fs;
use std::path::Path;

fn document() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/event-format.md");
    fs::read_to_string(path).unwrap()
}

/// The example is written in groups of bytes with remarks behind `;`.
#[test]
fn the_annotated_record_is_the_golden_one() {
    let text = document();
    let (_, rest) = text.split_once("```golden message-finalized\n").unwrap();
    let (block, _) = rest.split_once("```").unwrap();
    let hex: String = block
        .lines()
        .map(|line| line.split(';').next().unwrap())
        .flat_map(str::chars)
        .filter(|c| !c.is_whitespace())
        .collect();
    let record = fs::read(golden::folder().join("message-finalized.bin")).unwrap();
    assert_eq!(hex, golden::hex(record));
}

macro_rules! rows_stand_in {
    ($text:expr, $($name:ident)*) => {$(
        for variant in $name::ALL {
            let row = format!("| {} | `{}` |", variant.number(), variant.name());
            let section = format!("#### {}\n", stringify!($name));
            let (_, rest) = $text.split_once(&section).unwrap_or_else(|| panic!("no {section}"));
            let table = rest.split("\n#").next().unwrap();
            assert!(table.contains(&row), "{} lacks {row}", stringify!($name));
        }
        let (_, rest) = $text.split_once(&format!("#### {}\n", stringify!($name))).unwrap();
        let rows = rest.split("\n#").next().unwrap().lines().filter(|l| l.starts_with("| ")).count();
        assert_eq!(rows, $name::ALL.len() + 1, "{} has a row too many", stringify!($name));
    )*};
}

#[test]
fn every_number_stands_in_its_table() {
    let text = document();
    rows_stand_in!(
        text,
        ActorKind CallStatus ChildStatus ConfidenceSource Freshness Isolation MediaType MessageRole
        ParticipantKind Presentation Privacy PromotionRule Reason RecordKind RepairOutcome
        RetentionClass RuntimeKind Visibility
    );
}

/// Each kind has a heading with its number and a table with each field of its golden record, in
/// the order of the record.
#[test]
fn every_kind_stands_with_its_fields_in_order() {
    let text = document();
    for kind in Kind::ALL {
        let must = if kind.must_understand() { ", must be understood" } else { "" };
        let heading = format!("#### {} `{kind}`, version {}{must}\n", kind.number(), kind.version());
        let (_, rest) = text.split_once(&heading).unwrap_or_else(|| panic!("no {heading}"));
        let section = rest.split("\n#").next().unwrap();
        let written: Vec<String> = section
            .lines()
            .filter_map(|line| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned()))
            .collect();
        let path = golden::folder().join(format!("{}.json", golden::stem(*kind, 1)));
        let described: serde_json::Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        let fields: Vec<String> = described["body"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(written, fields, "{kind}");
    }
}

#[test]
fn the_limits_are_the_ones_in_code() {
    let text = document();
    for limit in [
        limits::RECORD_BYTES_MAX.to_string(),
        limits::PAYLOAD_BYTES_MAX.to_string(),
        limits::BATCH_EVENTS_MAX.to_string(),
        foldback_event::Label::MAX.to_string(),
    ] {
        assert!(text.contains(&format!("| {limit} |")), "no limit {limit}");
    }
}
