//! docs/event-format.md says what the code does.
//!
//! The tables of the page are taken as the only knowledge of the format: a small reader made of
//! them must decode every golden record to its description.

use foldback_event::kind::{
    ChildStatus, ParticipantKind, PromotionRule, RepairOutcome, RetentionClass,
};
use foldback_event::{
    ActorKind, CallStatus, ConfidenceSource, Freshness, GENESIS, Isolation, Kind, MediaType,
    MessageRole, Presentation, Privacy, Reason, RecordKind, RuntimeKind, Visibility, chain_hash,
    limits,
};
use foldback_testkit::golden;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

fn document() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/event-format.md");
    fs::read_to_string(path).unwrap()
}

/// The part of a page from a heading to the next heading.
fn section<'t>(text: &'t str, heading: &str) -> &'t str {
    let (_, rest) = text
        .split_once(&format!("\n{heading}\n"))
        .unwrap_or_else(|| panic!("no heading {heading}"));
    rest.split("\n#").next().unwrap()
}

/// The first two columns of the rows of a section's tables that begin with code.
fn fields(section: &str) -> Vec<(String, String)> {
    let cells = section.lines().filter_map(|line| {
        let (name, rest) = line.strip_prefix("| `")?.split_once("` | `")?;
        Some((name.to_owned(), rest.split_once('`')?.0.to_owned()))
    });
    cells.collect()
}

/// The fields of a body as they were in a version: the page says which came later.
fn fields_of(section: &str, version: u16) -> Vec<(String, String)> {
    let since = |line: &str| {
        let (_, rest) = line.split_once(" Since version ")?;
        rest.split_once('.')?.0.parse::<u16>().ok()
    };
    let rows = section
        .lines()
        .filter(|line| since(line).is_none_or(|since| since <= version));
    fields(&rows.collect::<Vec<_>>().join("\n"))
}

/// The numbers and names of an enum's table.
fn numbers(section: &str) -> Vec<(u16, String)> {
    let rows = section.lines().filter_map(|line| {
        let (number, rest) = line.strip_prefix("| ")?.split_once(" | `")?;
        Some((number.parse().ok()?, rest.split_once('`')?.0.to_owned()))
    });
    rows.collect()
}

/// A reader that knows what the page says and nothing else.
struct Reader<'t> {
    text: &'t str,
    bytes: &'t [u8],
    structures: BTreeMap<String, Vec<(String, String)>>,
}

impl<'t> Reader<'t> {
    fn take(&mut self, count: usize) -> &'t [u8] {
        let (head, rest) = self.bytes.split_at(count);
        self.bytes = rest;
        head
    }

    fn varint(&mut self) -> u64 {
        let width = match self.take(1)[0] {
            251 => 2,
            252 => 4,
            253 => 8,
            small => return u64::from(small),
        };
        let bytes = self.take(width);
        bytes
            .iter()
            .rev()
            .fold(0, |sum, byte| (sum << 8) | u64::from(*byte))
    }

    fn hex(&mut self, count: usize) -> Value {
        Value::String(golden::hex(self.take(count).iter().copied()))
    }

    fn value(&mut self, kind: &str) -> Value {
        let inner = |outer: &str| Some(kind.strip_prefix(outer)?.strip_suffix('>')?.to_owned());
        if let Some(inner) = inner("Option<") {
            return match self.take(1)[0] {
                0 => Value::Null,
                1 => self.value(&inner),
                other => panic!("{other} is no option"),
            };
        }
        if let Some(inner) = inner("Vec<") {
            let count = self.varint();
            return (0..count).map(|_| self.value(&inner)).collect();
        }
        if let Some(pair) = kind.strip_prefix('(').and_then(|k| k.strip_suffix(')')) {
            return pair.split(", ").map(|kind| self.value(kind)).collect();
        }
        if let Some(count) = kind.strip_prefix("[u8; ").and_then(|k| k.strip_suffix(']')) {
            return self.hex(count.parse().unwrap());
        }
        match kind {
            "bool" => Value::Bool(self.take(1)[0] == 1),
            "u16" | "u32" | "u64" => self.varint().into(),
            "i64" | "Micros" => {
                let zigzag = self.varint();
                let half = (zigzag >> 1).cast_signed();
                (if zigzag & 1 == 0 { half } else { !half }).into()
            }
            "Digest" => self.hex(32),
            "ShortDigest" => self.hex(16),
            "Label" => {
                let length = self.varint();
                let bytes = self.take(usize::try_from(length).unwrap());
                std::str::from_utf8(bytes).unwrap().into()
            }
            id if id.ends_with("Id") => self.hex(16),
            name => match self.structures.get(name).cloned() {
                Some(fields) => self.fields(&fields),
                None => self.named(name),
            },
        }
    }

    fn fields(&mut self, fields: &[(String, String)]) -> Value {
        let values = fields
            .iter()
            .map(|(name, kind)| (name.clone(), self.value(kind)));
        Value::Object(values.collect::<Map<_, _>>())
    }

    /// A structure or an enum, by the table that has its name as a heading.
    fn named(&mut self, name: &str) -> Value {
        let section = section(self.text, &format!("#### {name}"));
        let fields = fields(section);
        if !fields.is_empty() {
            self.structures.insert(name.to_owned(), fields.clone());
            return self.fields(&fields);
        }
        let number = self.varint();
        let listed = numbers(section)
            .iter()
            .any(|(listed, _)| u64::from(*listed) == number);
        assert!(listed, "{number} is no {name}");
        number.into()
    }
}

/// The heading of a kind's section.
fn heading(kind: Kind) -> String {
    let must = if kind.must_understand() {
        ", must be understood"
    } else {
        ""
    };
    format!(
        "#### {} `{kind}`, version {}{must}",
        kind.number(),
        kind.version()
    )
}

#[test]
fn every_golden_record_reads_by_the_page_alone() {
    let text = document();
    let (_, record) = text.split_once("| header field | type |").unwrap();
    let header = fields(record.split("\n\n").next().unwrap());
    assert_eq!(header.len(), 11);
    let (envelope, rest) = header.split_at(8);
    let versions = |kind: &Kind| {
        let kind = *kind;
        (1..=kind.version()).map(move |version| (kind, version))
    };
    let versions: Vec<(Kind, u16)> = Kind::ALL.iter().flat_map(versions).collect();
    for (kind, version) in versions {
        let stem = golden::stem(kind, version);
        let record = fs::read(golden::folder().join(format!("{stem}.bin"))).unwrap();
        let described = fs::read(golden::folder().join(format!("{stem}.json"))).unwrap();
        let described: Value = serde_json::from_slice(&described).unwrap();
        let mut reader = Reader {
            text: &text,
            bytes: &record,
            structures: BTreeMap::new(),
        };
        assert_eq!(reader.take(1), [1]);
        assert_eq!(reader.fields(envelope), described["envelope"], "{stem}");
        let rest = reader.fields(rest);
        assert_eq!(rest["kind"], described["kind_number"]);
        assert_eq!(rest["kind_version"], described["kind_version"]);
        assert_eq!(rest["must_understand"], described["must_understand"]);
        let body = fields_of(section(&text, &heading(kind)), version);
        assert!(!body.is_empty(), "{stem} has no table");
        assert_eq!(reader.fields(&body), described["body"], "{stem}");
        assert_eq!(reader.bytes, [0_u8; 0], "{stem} has bytes left over");
    }
}

/// The example is written in groups of bytes with remarks behind `;`.
#[test]
fn the_annotated_record_is_the_golden_one() {
    let text = document();
    let (_, rest) = text.split_once("```golden message-finalized\n").unwrap();
    let (block, after) = rest.split_once("```").unwrap();
    let hex: String = block
        .lines()
        .map(|line| line.split(';').next().unwrap())
        .flat_map(str::chars)
        .filter(|c| !c.is_whitespace())
        .collect();
    let record = fs::read(golden::folder().join("message-finalized.bin")).unwrap();
    let hash = chain_hash(&GENESIS, &record);
    assert_eq!(hex, golden::hex(record));
    assert!(
        after.contains(&hash.to_string()),
        "the chain hash is {hash}"
    );
}

macro_rules! tables_list {
    ($text:expr, $($name:ident)*) => {$(
        let listed = numbers(section($text, concat!("#### ", stringify!($name))));
        let known: Vec<_> = $name::ALL.iter().map(|v| (v.number(), v.name().to_owned())).collect();
        assert_eq!(listed, known, "{}", stringify!($name));
    )*};
}

#[test]
fn every_number_stands_in_its_table_and_no_other() {
    let text = document();
    tables_list!(
        &text,
        ActorKind CallStatus ChildStatus ConfidenceSource Freshness Isolation MediaType MessageRole
        ParticipantKind Presentation Privacy PromotionRule Reason RecordKind RepairOutcome
        RetentionClass RuntimeKind Visibility
    );
}

#[test]
fn every_kind_has_its_heading_and_no_other_kind_has_one() {
    let text = document();
    let wanted: Vec<String> = Kind::ALL.iter().map(|kind| heading(*kind)).collect();
    let is_kind = |line: &&str| {
        let number = line.strip_prefix("#### ").and_then(|l| l.chars().next());
        number.is_some_and(|c| c.is_ascii_digit())
    };
    let found: Vec<&str> = text.lines().filter(is_kind).collect();
    assert_eq!(found, wanted);
}

#[test]
fn the_limits_are_the_ones_in_code() {
    let text = document();
    let limits = section(&text, "## 5. Limits");
    for limit in [
        limits::RECORD_BYTES_MAX.to_string(),
        limits::PAYLOAD_BYTES_MAX.to_string(),
        limits::BATCH_EVENTS_MAX.to_string(),
        foldback_event::Label::MAX.to_string(),
    ] {
        assert!(limits.contains(&format!("| {limit} |")), "no limit {limit}");
    }
}

/// A context in the code that the page does not tell would be a digest that nobody else can make.
#[test]
fn every_context_stands_in_the_file_that_is_named() {
    let text = document();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut count = 0;
    for line in section(&text, "### Contexts").lines() {
        let Some((context, rest)) = line.strip_prefix("| `").and_then(|l| l.split_once("` | "))
        else {
            continue;
        };
        let file = rest.rsplit('`').nth(1).unwrap();
        let code = fs::read_to_string(crates.join(file)).unwrap();
        assert!(
            code.contains(&format!("\"{context}\"")),
            "{file} has no `{context}`"
        );
        count += 1;
    }
    assert_eq!(count, 15);
}
