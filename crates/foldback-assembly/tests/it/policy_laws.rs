//! Laws of every policy, against a reference that walks lists of names instead of masks.

use foldback_assembly::policy::{Owner, Policy, RecordFacts, RequestFacts, Trust, warnings};
use foldback_event::kind::Route;
use foldback_event::{Label, Privacy, RecordKind, RuntimeKind, Visibility};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use std::fmt::Write as _;

/// What a rule is made of: the written key, and the values of it that match.
type Conditions = Vec<(&'static str, Vec<String>)>;

#[derive(Debug, Clone)]
struct Rule {
    permit: bool,
    when: Conditions,
    unless: Conditions,
}

/// Every matcher with its values, and whether it is written as one boolean.
const MATCHERS: &[(&str, bool)] = &[
    ("records", false),
    ("owner", false),
    ("visibility", false),
    ("lineage", true),
    ("privacy", false),
    ("trust", false),
    ("zero-retention", true),
    ("draft", true),
    ("promoted", true),
    ("raw", true),
    ("runtime", false),
];

fn values(key: &str) -> Vec<String> {
    let names: Vec<&str> = match key {
        "records" => RecordKind::ALL.iter().map(|v| v.name()).collect(),
        "owner" => Owner::ALL.iter().map(|v| v.name()).collect(),
        "visibility" => Visibility::ALL.iter().map(|v| v.name()).collect(),
        "privacy" => Privacy::ALL.iter().map(|v| v.name()).collect(),
        "trust" => Trust::ALL.iter().map(|v| v.name()).collect(),
        "runtime" => RuntimeKind::ALL.iter().map(|v| v.name()).collect(),
        _ => vec!["false", "true"],
    };
    names.into_iter().map(str::to_owned).collect()
}

fn fact(key: &str, request: RequestFacts, record: RecordFacts) -> String {
    match key {
        "records" => record.kind.to_string(),
        "owner" => record.owner.to_string(),
        "visibility" => record.visibility.to_string(),
        "lineage" => record.on_lineage.to_string(),
        "privacy" => record.privacy.to_string(),
        "trust" => request.trust.to_string(),
        "zero-retention" => request.zero_retention.to_string(),
        "draft" => record.draft.to_string(),
        "promoted" => record.promoted.to_string(),
        "raw" => record.raw.to_string(),
        "runtime" => request.runtime_kind.to_string(),
        other => panic!("{other} is no matcher"),
    }
}

fn conditions(least: usize) -> impl Strategy<Value = Conditions> {
    subsequence(MATCHERS.to_vec(), least..=4).prop_flat_map(|matchers| {
        matchers
            .into_iter()
            .map(|(key, boolean)| {
                let values = values(key);
                let most = if boolean { 1 } else { values.len() };
                (Just(key), subsequence(values, 1..=most))
            })
            .collect::<Vec<_>>()
    })
}

fn rule() -> impl Strategy<Value = Rule> {
    let unless = prop_oneof![3 => Just(Vec::new()), 2 => conditions(1)];
    (any::<bool>(), conditions(0), unless).prop_map(|(permit, when, unless)| Rule {
        permit,
        when,
        unless,
    })
}

fn request() -> impl Strategy<Value = RequestFacts> {
    (select(RuntimeKind::ALL), select(Trust::ALL), any::<bool>()).prop_map(
        |(runtime_kind, trust, zero_retention)| RequestFacts {
            runtime_kind,
            trust,
            zero_retention,
        },
    )
}

fn record() -> impl Strategy<Value = RecordFacts> {
    let named = (
        select(RecordKind::ALL),
        select(Owner::ALL),
        select(Visibility::ALL),
        select(Privacy::ALL),
    );
    (named, any::<[bool; 4]>()).prop_map(|((kind, owner, visibility, privacy), flags)| {
        let [on_lineage, draft, promoted, raw] = flags;
        RecordFacts {
            kind,
            owner,
            visibility,
            on_lineage,
            privacy,
            draft,
            promoted,
            raw,
        }
    })
}

fn written(conditions: &Conditions) -> Vec<String> {
    let boolean = |key: &str| MATCHERS.contains(&(key, true));
    conditions
        .iter()
        .map(|(key, values)| {
            if boolean(key) {
                format!("{key} = {}", values[0])
            } else {
                format!("{key} = [\"{}\"]", values.join("\", \""))
            }
        })
        .collect()
}

fn policy(rules: &[Rule]) -> Policy {
    let mut text = "schema = 1\nname = \"generated\"\n".to_owned();
    for (index, rule) in rules.iter().enumerate() {
        let effect = if rule.permit {
            "effect = \"permit\""
        } else {
            "effect = \"forbid\"\nreason = \"not-permitted\""
        };
        writeln!(text, "[[gate]]\nid = \"r{index}\"\n{effect}").unwrap();
        for line in written(&rule.when) {
            writeln!(text, "{line}").unwrap();
        }
        if !rule.unless.is_empty() {
            writeln!(text, "unless = {{ {} }}", written(&rule.unless).join(", ")).unwrap();
        }
    }
    Policy::parse(&text).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

fn holds(conditions: &Conditions, request: RequestFacts, record: RecordFacts) -> bool {
    conditions
        .iter()
        .all(|(key, values)| values.contains(&fact(key, request, record)))
}

fn matches(rule: &Rule, request: RequestFacts, record: RecordFacts) -> bool {
    let excepted = !rule.unless.is_empty() && holds(&rule.unless, request, record);
    holds(&rule.when, request, record) && !excepted
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_evaluator_agrees_with_the_reference(
        rules in prop::collection::vec(rule(), 0..8),
        request in request(),
        records in prop::collection::vec(record(), 1..16),
    ) {
        let policy = policy(&rules);
        for record in &records {
            let matching = || rules.iter().enumerate().filter(|(_, r)| matches(r, request, *record));
            let forbid = matching().find(|(_, rule)| !rule.permit);
            let permit = matching().find(|(_, rule)| rule.permit);
            let deciding = forbid.or(permit).map(|(index, _)| format!("r{index}"));
            let verdict = policy.decide(&request, record);
            // A forbid wins over every permit, wherever it stands; without a permit: no.
            prop_assert_eq!(verdict.permitted, forbid.is_none() && permit.is_some());
            prop_assert_eq!(verdict.rule.map(ToString::to_string), deciding);
        }
    }

    #[test]
    fn the_order_of_rules_changes_no_permission(
        (rules, shuffled) in prop::collection::vec(rule(), 0..8)
            .prop_flat_map(|rules| (Just(rules.clone()), Just(rules).prop_shuffle())),
        request in request(),
        record in record(),
    ) {
        let before = policy(&rules).decide(&request, &record).permitted;
        prop_assert_eq!(policy(&shuffled).decide(&request, &record).permitted, before);
    }

    #[test]
    fn one_more_forbid_never_lets_more_in(
        rules in prop::collection::vec(rule(), 0..8),
        mut forbid in rule(),
        at in any::<prop::sample::Index>(),
        request in request(),
        record in record(),
    ) {
        forbid.permit = false;
        let before = policy(&rules).decide(&request, &record).permitted;
        let mut more = rules.clone();
        more.insert(at.index(rules.len() + 1), forbid);
        let after = policy(&more).decide(&request, &record).permitted;
        prop_assert!(before || !after);
    }

    #[test]
    fn a_gate_said_to_decide_nothing_can_go(
        rules in prop::collection::vec(rule(), 1..6),
        request in request(),
        records in prop::collection::vec(record(), 1..64),
    ) {
        let mut policy = policy(&rules);
        let idle: Vec<_> = warnings(&policy)
            .into_iter()
            .filter(|warning| warning.to_string().contains("decides nothing"))
            .filter_map(|warning| warning.rule)
            .collect();
        let decided = |policy: &Policy| -> Vec<(bool, Option<Label>)> {
            records
                .iter()
                .map(|record| policy.decide(&request, record))
                .map(|verdict| (verdict.permitted, verdict.rule.cloned()))
                .collect()
        };
        let before = decided(&policy);
        policy.gates.retain(|gate| !idle.contains(&gate.id));
        prop_assert_eq!(decided(&policy), before);
    }

    #[test]
    fn a_damaged_document_is_read_or_refused_and_never_panics(
        at in any::<prop::sample::Index>(),
        with in ".{0,3}",
        cut in any::<bool>(),
    ) {
        let text = Policy::builtin();
        let length = text.chars().count();
        let at = at.index(length);
        let kept: String = text.chars().take(at).collect();
        let rest: String = text.chars().skip(if cut { length } else { at + 1 }).collect();
        let damaged = format!("{kept}{with}{rest}");
        if let Err(errors) = Policy::parse(&damaged) {
            let lines = damaged.lines().count().max(1) + 1;
            prop_assert!(!errors.as_slice().is_empty());
            prop_assert!(errors.iter().all(|error| (1..=lines).contains(&error.line)));
        }
    }

    #[test]
    fn any_text_is_read_or_refused_and_never_panics(text in "[\\[\\]{}=\"'#\n a-z0-9.,-]{0,200}") {
        prop_assert!(Policy::parse(&text).is_err());
    }
}

#[test]
fn the_first_matching_route_decides_and_no_match_is_untrusted() {
    let policy = Policy::parse(
        r#"
schema = 1
name = "routes"
[[route]]
provider = "acme"
model = "m-1"
region = "eu"
trust = "trusted"
[[route]]
provider = "acme"
trust = "standard"
[[route]]
model = "m-1"
trust = "trusted"
"#,
    )
    .unwrap();
    let route = |provider: &str, model: Option<&str>, region: Option<&str>| Route {
        provider: Label::new(provider).unwrap(),
        model: model.map(|m| Label::new(m).unwrap()),
        region: region.map(|r| Label::new(r).unwrap()),
        zero_retention: true,
    };
    let trust = |p, m, r| policy.trust(&route(p, m, r)).name();
    assert_eq!(trust("acme", Some("m-1"), Some("eu")), "trusted");
    assert_eq!(trust("acme", Some("m-1"), Some("us")), "standard");
    assert_eq!(trust("acme", Some("m-1"), None), "standard");
    assert_eq!(trust("acme", None, None), "standard");
    assert_eq!(trust("other", Some("m-1"), None), "trusted");
    assert_eq!(trust("other", Some("m-2"), None), "untrusted");
    assert_eq!(trust("other", None, Some("eu")), "untrusted");
    let default = Policy::default_policy();
    for provider in ["openai", "anthropic", "never-heard-of"] {
        assert_eq!(default.trust(&route(provider, None, None)), Trust::Standard);
    }
}
