//! Laws that hold for every input.

use crate::extract::Case;
use foldback_assembly::extract::{
    Extraction, FACTS_MAX, FILE_REFS_MAX, LOCATORS_MAX, LOSSLESS_BYTES_MAX, SUMMARY_BYTES_MAX,
    Source,
};
use foldback_event::MediaType;
use proptest::prelude::*;
use serde_json::Value;

/// A note on parts that are no text may follow a summary.
const NOTE_BYTES_MAX: usize = 64;

fn check(result: &[u8], out: &Extraction) {
    let source = Source::new(result);
    for locator in &out.locators {
        assert!(
            source.resolve(locator).is_some(),
            "{locator:?} leads nowhere"
        );
    }
    for fact in &out.facts {
        let place = source.resolve(&fact.locator).expect("a fact has a place");
        let place = String::from_utf8_lossy(&place);
        assert!(
            place.contains(&fact.value),
            "{fact:?} does not stand in {place:?}"
        );
    }
    assert!(!out.locators.is_empty(), "a summary comes from somewhere");
    assert!(out.locators.len() <= LOCATORS_MAX);
    assert!(out.facts.len() <= FACTS_MAX && out.file_refs.len() <= FILE_REFS_MAX);
    let most = if out.lossless {
        LOSSLESS_BYTES_MAX
    } else {
        SUMMARY_BYTES_MAX
    };
    let most = if out.media == MediaType::Parts {
        LOSSLESS_BYTES_MAX + NOTE_BYTES_MAX
    } else {
        most
    };
    assert!(
        out.summary.len() <= most,
        "{} bytes: {}",
        out.summary.len(),
        out.summary
    );
    assert_eq!(
        out.lossless,
        out.omitted.is_empty(),
        "what is left out is named: {out:?}"
    );
    assert!(out.confidence <= 1_000 && !out.rationale.is_empty());
}

fn run(result: &[u8], media: MediaType, failed: bool) -> Extraction {
    let case = Case {
        result,
        media,
        failed,
        ..Case::default()
    };
    let out = case.run();
    assert_eq!(out, case.run(), "the same input gives the same output");
    check(result, &out);
    out
}

/// Lists the scalars of a value as they are spelled in JSON, strings without their quotes.
fn scalars(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::Object(map) => map.values().for_each(|value| scalars(value, out)),
        Value::Array(items) => items.iter().for_each(|value| scalars(value, out)),
        Value::String(text) => out.push(text.clone()),
        other => out.push(other.to_string()),
    }
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-zA-Z0-9_ ./|;,:{}\\[\\]\"\\\\\n\u{e9}-]{0,24}".prop_map(Value::from),
        "[A-Za-z0-9+/]{180,420}".prop_map(Value::from),
        "([a-z]{3,9} ){10,80}".prop_map(Value::from),
    ];
    let row = prop::collection::vec(
        (0..40_i32, "[A-Z]{2}[0-9]{3}")
            .prop_map(|(n, id)| serde_json::json!({"id": id, "n": n, "o": {"x": n, "y": id}})),
        1..30,
    )
    .prop_map(Value::from);
    prop_oneof![4 => leaf, 1 => row].prop_recursive(4, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec(("(id|name|[a-z~/]{1,6})", inner), 0..8)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn lines() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        "[a-z]{2,9}",
        "/?[a-z]{2,6}/[a-z_]{2,8}\\.(rs|ts|md)(:[0-9]{1,3})?",
        "[A-Z]{2}[0-9]{3,6}",
        "error:|warning:|FAILED|12 passed|fn main|created|\u{1b}\\[31mred|Zürich",
        "[a-z]{3,8}[A-Z][a-z]{2,6}",
    ];
    let line = prop::collection::vec(word, 0..9).prop_map(|words| words.join(" "));
    let prefixed = (
        prop_oneof![
            Just(""),
            Just("    7\u{2192}"),
            Just("12\t"),
            Just("a,b,c,"),
            Just("key: ")
        ],
        line,
    )
        .prop_map(|(prefix, line)| format!("{prefix}{line}"));
    prop::collection::vec(prefixed, 0..80).prop_map(|lines| lines.join("\n"))
}

fn media() -> impl Strategy<Value = MediaType> {
    prop::sample::select(MediaType::ALL)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_give_a_sound_extraction(bytes in prop::collection::vec(any::<u8>(), 0..600), media in media(), failed: bool) {
        run(&bytes, media, failed);
    }

    #[test]
    fn any_lines_give_a_sound_extraction(text in lines(), media in media(), failed: bool) {
        run(text.as_bytes(), media, failed);
    }

    #[test]
    fn any_arguments_are_taken(arguments in prop::collection::vec(any::<u8>(), 0..80)) {
        let arguments = String::from_utf8_lossy(&arguments).into_owned();
        Case { arguments: &arguments, result: b"ok", ..Case::default() }.run();
    }

    #[test]
    fn a_lossless_summary_holds_every_scalar(value in json(), pretty: bool) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        let out = run(text.as_bytes(), MediaType::Json, false);
        if out.lossless && out.extractor == "json" {
            let mut all = Vec::new();
            scalars(&value, &mut all);
            for scalar in all {
                prop_assert!(out.summary.contains(&scalar), "`{scalar}` is missing in {}", out.summary);
            }
        }
    }

    #[test]
    fn json_lines_give_a_sound_extraction(rows in prop::collection::vec(json(), 1..6)) {
        let lines: Vec<String> = rows.iter().map(|row| format!("{{\"row\":{row}}}")).collect();
        run(lines.join("\n").as_bytes(), MediaType::Text, false);
    }

    /// The tape is our own parser; what it takes and what it reads is what `serde_json` does.
    #[test]
    fn pointers_lead_where_serde_json_leads(value in json(), at in any::<prop::sample::Index>(), cut in any::<prop::sample::Index>()) {
        let text = value.to_string();
        let broken: String = text.chars().enumerate().filter(|(n, _)| *n != cut.index(text.len())).map(|(_, c)| c).collect();
        for text in [text, broken] {
            let parsed = serde_json::from_str::<Value>(&text).ok();
            let pointers = parsed.as_ref().map(|value| { let mut all = Vec::new(); walk(value, String::new(), &mut all); all });
            let source = Source::new(text.as_bytes());
            let root = foldback_assembly::extract::Locator::pointer(String::new());
            prop_assert_eq!(source.resolve(&root).is_some(), parsed.is_some(), "{}", text);
            let Some((parsed, pointers)) = parsed.zip(pointers) else { continue };
            let pointer = pointers.get(at.index(pointers.len())).unwrap();
            let ours = source.resolve(&foldback_assembly::extract::Locator::pointer(pointer.clone())).unwrap();
            let ours = std::str::from_utf8(&ours).unwrap();
            match parsed.pointer(pointer).unwrap() {
                Value::String(text) => prop_assert_eq!(ours, text),
                other => prop_assert_eq!(&serde_json::from_str::<Value>(ours).unwrap(), other),
            }
        }
    }
}

fn walk(value: &Value, pointer: String, out: &mut Vec<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| {
            walk(
                value,
                format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1")),
                out,
            );
        }),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(n, value)| walk(value, format!("{pointer}/{n}"), out)),
        _ => {}
    }
    out.push(pointer);
}

#[test]
fn shapes_that_once_hurt_parsers_end_in_time() {
    let deep = "[".repeat(50_000) + &"]".repeat(50_000);
    let wide = (0..4_000_u32)
        .map(|n| format!("\"key_{n}\":{{\"v\":{n}}},"))
        .collect::<Vec<_>>()
        .concat();
    let many = "1\n".repeat(200_000);
    let numbers = format!("[{}1]", "0,".repeat(300_000));
    for text in [
        deep,
        format!("{{{wide}\"end\":0}}"),
        format!("[{{{wide}\"end\":0}},{{{wide}\"end\":1}}]"),
        many,
        numbers,
        "\u{1b}[".repeat(10_000),
        "\"".repeat(9_999),
        "a,b,c\n".repeat(50_000),
        "<system-reminder>".repeat(3_000),
        "é".repeat(100_000),
    ] {
        run(text.as_bytes(), MediaType::Text, false);
        run(text.as_bytes(), MediaType::Csv, true);
    }
}
