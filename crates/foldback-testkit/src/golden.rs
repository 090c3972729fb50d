//! The golden records: one per kind and version, written once and never edited.
//!
//! A golden record has every option and two items in every list, so that its description shows
//! each field. `examples/make_golden.rs` writes the files and refuses to replace one.

use crate::{Rng, draw};
use foldback_event::{Body, Event, Kind};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Gives the folder of the golden records of record version 1.
pub fn folder() -> PathBuf {
    [
        env!("CARGO_MANIFEST_DIR"),
        "..",
        "..",
        "fixtures",
        "golden",
        "v1",
    ]
    .iter()
    .collect()
}

/// Gives the file name, without ending, of a kind's golden record in a version of its body.
///
/// The first version has the kind's bare name.
pub fn stem(kind: Kind, version: u16) -> String {
    match version {
        1 => kind.name().to_owned(),
        later => format!("{kind}.v{later}"),
    }
}

/// Makes the golden event of a kind.
pub fn event(kind: Kind) -> Event {
    draw::event(kind, &mut Rng::full(u64::from(kind.number())))
}

/// Describes an event for people: ids, digests and addresses as hexadecimal digits, numbered
/// enums as their numbers.
pub fn describe(event: &Event) -> Value {
    let (number, version, must_understand) = match (&event.body, event.body.kind()) {
        (Body::Unknown(b), _) => (b.number, b.version, b.must_understand),
        (_, Some(kind)) => (kind.number(), kind.version(), kind.must_understand()),
        (_, None) => (0, 0, false),
    };
    json!({
        "kind": Kind::from_number(number).map_or("unknown", Kind::name),
        "kind_number": number,
        "kind_version": version,
        "must_understand": must_understand,
        "envelope": value(&event.envelope),
        "body": body(&event.body),
    })
}

/// Describes an event as its kind was in an earlier version of the body, which had fewer fields.
///
/// A golden record has every option, so what is absent is a field of a later version.
pub fn describe_as(event: &Event, version: u16) -> Value {
    let mut out = describe(event);
    if let Some(stated) = out.get_mut("kind_version") {
        *stated = version.into();
    }
    if let Some(Value::Object(fields)) = out.get_mut("body") {
        fields.retain(|_, value| !value.is_null());
    }
    out
}

fn value<T: Serialize>(of: &T) -> Value {
    readable(serde_json::to_value(of).unwrap_or(Value::Null))
}

macro_rules! body_value {
    ($body:expr, $($name:ident)*) => {
        match $body {
            $(Body::$name(b) => value(b),)*
            Body::Unknown(b) => Value::String(hex(b.bytes.iter().copied())),
        }
    };
}

fn body(of: &Body) -> Value {
    body_value!(
        of,
        ConversationOpened BranchForked ParticipantJoined MessageRecorded MessageFinalized
        SkillStateChanged UserFactRemembered ModelRunStarted ModelRunFinished ModelRunFailed
        JobTriggered ToolCallRequested ToolArtifactCaptured ToolCallResolved ToolMemoryDerived
        MemoriesConflicted MemoriesSuperseded MemoryRevalidated ProvenanceRepairTried SubjectChanged
        RecordPromoted ChildRunStarted ChildRunFinished CheckpointTaken CheckpointRestored
        PolicyRegistered PolicyActivated ContextAssembled RetentionChanged PayloadErased
        ConversationErased AccountErased SourceImported SourceRecordKept FindingRecorded
    )
}

/// Writes byte arrays (8, 16 or 32 bytes: nothing else in a golden record has that length) as
/// hexadecimal digits.
fn readable(value: Value) -> Value {
    match value {
        Value::Array(items) => {
            let bytes: Option<Vec<u8>> = items
                .iter()
                .map(|item| item.as_u64().and_then(|n| u8::try_from(n).ok()))
                .collect();
            match bytes {
                Some(bytes) if matches!(bytes.len(), 8 | 16 | 32) => Value::String(hex(bytes)),
                _ => Value::Array(items.into_iter().map(readable).collect()),
            }
        }
        Value::Object(fields) => {
            let fields = fields
                .into_iter()
                .map(|(key, value)| (key, readable(value)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        other => other,
    }
}

/// Writes bytes as hexadecimal digits.
pub fn hex(bytes: impl IntoIterator<Item = u8>) -> String {
    let mut out = String::new();
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(out, "{byte:02x}");
    }
    out
}
