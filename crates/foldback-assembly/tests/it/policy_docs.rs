//! docs/policy.md and the loader say the same.

use foldback_assembly::policy::{
    BriefAfter, Conflicting, Edits, Effect, FailedCalls, Gate, Outdated, Owner, Policy, RawSpan,
    ThinkingSpan, Trust, warnings,
};
use foldback_event::{Privacy, RecordKind, RuntimeKind, Visibility};

const GUIDE: &str = include_str!("../../../../docs/policy.md");

/// The fenced TOML blocks of the guide.
fn blocks() -> Vec<&'static str> {
    GUIDE
        .split("```toml\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap())
        .collect()
}

/// The keys that the loader knows in a part, from the hint of its error.
fn keys(part: &str) -> Vec<String> {
    let document = format!("schema = 2\nname = \"p\"\n{part}\nno-such-key = 1\n");
    let errors = Policy::parse(&document).unwrap_err();
    let hint = errors
        .iter()
        .find(|error| error.key.ends_with("no-such-key"))
        .and_then(|error| error.hint.clone())
        .unwrap();
    let (_, list) = hint.split_once("known keys: ").unwrap();
    list.split(", ").map(str::to_owned).collect()
}

#[test]
fn the_reference_names_every_key() {
    let parts = [
        "",
        "[[route]]",
        "[[gate]]",
        "[freshness]",
        "[conflicts]",
        "[recovery]",
        "[presentation]",
        "[rehydration]",
        "[budget]",
        "[layout]",
        "[[price]]",
    ];
    let mut count = 0;
    for part in parts {
        let heading = format!("### `{}`", if part.is_empty() { "document" } else { part });
        let (_, section) = GUIDE
            .split_once(&heading)
            .unwrap_or_else(|| panic!("no {heading}"));
        let section = section.split("\n### ").next().unwrap();
        for key in keys(part) {
            assert!(
                section.contains(&format!("| `{key}` |")),
                "{heading} lacks `{key}`"
            );
            count += 1;
        }
    }
    assert_eq!(count, 12 + 4 + 15 + 4 + 3 + 3 + 9 + 4 + 2 + 3 + 5);
}

#[test]
fn the_reference_names_every_value() {
    let (_, reference) = GUIDE.split_once("\n## Reference").unwrap();
    let mut names: Vec<&str> = Vec::new();
    names.extend(Effect::ALL.iter().map(|v| v.name()));
    names.extend(Gate::FORBID_REASONS.iter().map(|v| v.name()));
    names.extend(RecordKind::ALL.iter().map(|v| v.name()));
    names.extend(Owner::ALL.iter().map(|v| v.name()));
    names.extend(Visibility::ALL.iter().map(|v| v.name()));
    names.extend(Privacy::ALL.iter().map(|v| v.name()));
    names.extend(Trust::ALL.iter().map(|v| v.name()));
    names.extend(RuntimeKind::ALL.iter().map(|v| v.name()));
    names.extend(Outdated::ALL.iter().map(|v| v.name()));
    names.extend(Conflicting::ALL.iter().map(|v| v.name()));
    names.extend(FailedCalls::ALL.iter().map(|v| v.name()));
    names.extend(RawSpan::ALL.iter().map(|v| v.name()));
    names.extend(BriefAfter::ALL.iter().map(|v| v.name()));
    names.extend(Edits::ALL.iter().map(|v| v.name()));
    names.extend(ThinkingSpan::ALL.iter().map(|v| v.name()));
    for name in names {
        assert!(
            reference.contains(&format!("`{name}`")),
            "`{name}` is not in the reference"
        );
    }
}

#[test]
fn the_guide_goes_from_an_empty_policy_to_one_without_warnings() {
    let documents: Vec<Policy> = blocks()
        .into_iter()
        .filter(|block| block.starts_with("schema = "))
        .map(|block| Policy::parse(block).unwrap_or_else(|errors| panic!("{errors}\n{block}")))
        .collect();
    assert!(documents.len() >= 2, "the guide shows whole documents");
    assert!(documents.first().unwrap().gates.is_empty());
    assert_eq!(warnings(documents.last().unwrap()), []);
}

#[test]
fn every_fragment_of_the_guide_can_be_pasted_into_a_policy() {
    let fragments: Vec<&str> = blocks()
        .into_iter()
        .filter(|block| !block.starts_with("schema = "))
        .collect();
    assert!(fragments.len() >= 4);
    for fragment in fragments {
        let document = format!("schema = 2\nname = \"p\"\n{fragment}");
        assert!(
            Policy::parse(&document).is_ok(),
            "{:?}",
            Policy::parse(&document).err()
        );
    }
}

#[test]
fn the_error_that_the_guide_shows_is_the_loader_s_own() {
    let errors = Policy::parse("schema = 2\nname = \"desk\"\n[fresness]\n").unwrap_err();
    let error = &errors.as_slice()[0];
    let hint = error.hint.as_deref().unwrap();
    let shown = format!("```text\nerror: {error}\nhint: {hint}\n```");
    assert!(GUIDE.contains(&shown), "the guide lacks\n{shown}");
}
