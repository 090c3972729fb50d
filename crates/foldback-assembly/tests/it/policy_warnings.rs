//! What `foldback policy check` points out in a valid policy.

use foldback_assembly::policy::{Effect, Policy, warnings};
use std::fmt::Write as _;

const HEAD: &str = "schema = 1\nname = \"p\"\n[[route]]\ntrust = \"standard\"\n";

/// Restricts a permit to what no warning is about.
const OWN: &str = "[[gate]]\nid = \"own\"\neffect = \"permit\"\nowner = [\"own\"]\n\
                   visibility = [\"conversation\"]\nprivacy = [\"public\"]\n";

const CASES: &[(&str, &str, &str)] = &[
    ("an empty policy", "schema = 1\nname = \"p\"\n", ""),
    ("a modest policy", HEAD, OWN),
    (
        "one permit for everything",
        HEAD,
        "[[gate]]\nid = \"all\"\neffect = \"permit\"\n",
    ),
    (
        "a forbid that takes it all back",
        HEAD,
        "\
[[gate]]
id = \"all\"
effect = \"permit\"
[[gate]]
id = \"none\"
effect = \"forbid\"
reason = \"not-permitted\"
",
    ),
    (
        "classified, on the lineage, final, own or of the branch",
        HEAD,
        "\
[[gate]]
id = \"branch\"
effect = \"permit\"
owner = [\"own\", \"conversation\", \"other\"]
visibility = [\"branch\", \"conversation\"]
lineage = true
draft = false
privacy = [\"public\", \"internal\", \"personal\"]
unless = { raw = true, trust = [\"untrusted\"] }
",
    ),
    (
        "the same with secrets, compact",
        HEAD,
        "\
[[gate]]
id = \"secrets\"
effect = \"permit\"
owner = [\"own\"]
lineage = true
visibility = [\"branch\"]
privacy = [\"secret-adjacent\"]
raw = false
",
    ),
    (
        "secrets, compact, on trusted routes only",
        HEAD,
        "\
[[gate]]
id = \"secrets\"
effect = \"permit\"
owner = [\"own\"]
lineage = true
visibility = [\"branch\"]
privacy = [\"secret-adjacent\"]
raw = false
trust = [\"trusted\"]
",
    ),
    (
        "gates that others cover",
        HEAD,
        "\
[[gate]]
id = \"own\"
effect = \"permit\"
owner = [\"own\"]
visibility = [\"conversation\"]
privacy = [\"public\"]
[[gate]]
id = \"own-messages\"
effect = \"permit\"
records = [\"message\"]
owner = [\"own\"]
visibility = [\"conversation\"]
privacy = [\"public\"]
[[gate]]
id = \"no-children\"
effect = \"forbid\"
reason = \"not-promoted\"
owner = [\"child\"]
[[gate]]
id = \"promoted-children\"
effect = \"permit\"
owner = [\"child\"]
promoted = true
[[gate]]
id = \"no-drafts-of-children\"
effect = \"forbid\"
reason = \"draft\"
owner = [\"child\"]
draft = true
[[gate]]
id = \"never\"
effect = \"forbid\"
reason = \"not-permitted\"
owner = [\"other\"]
unless = { owner = [\"other\", \"child\"] }
",
    ),
    (
        "gates that others cover together",
        HEAD,
        "\
[[gate]]
id = \"own-drafts\"
effect = \"permit\"
owner = [\"own\"]
visibility = [\"conversation\"]
privacy = [\"public\"]
draft = true
[[gate]]
id = \"own-finals\"
effect = \"permit\"
owner = [\"own\"]
visibility = [\"conversation\"]
privacy = [\"public\"]
draft = false
[[gate]]
id = \"own\"
effect = \"permit\"
owner = [\"own\"]
visibility = [\"conversation\"]
privacy = [\"public\"]
",
    ),
    (
        "routes",
        "\
schema = 1
name = \"p\"
[[route]]
provider = \"acme\"
trust = \"standard\"
[[route]]
provider = \"acme\"
model = \"m-1\"
trust = \"untrusted\"
[[route]]
trust = \"trusted\"
[[route]]
region = \"eu\"
trust = \"standard\"
",
        OWN,
    ),
    (
        "the other parts",
        HEAD,
        "\
[[gate]]
id = \"own\"
effect = \"permit\"
owner = [\"own\"]
visibility = [\"conversation\"]
privacy = [\"public\"]
[freshness]
stale = \"show\"
[conflicts]
superseded = \"show\"
conflicting = \"show\"
[recovery]
open = false
failed = \"none\"
",
    ),
];

#[test]
fn each_warning_names_its_rule() {
    let mut out = String::new();
    for (name, head, body) in CASES {
        let policy = Policy::parse(&format!("{head}{body}")).unwrap();
        writeln!(out, "== {name}").unwrap();
        for warning in warnings(&policy) {
            writeln!(out, "warning: {warning}").unwrap();
        }
        out.push('\n');
    }
    insta::assert_snapshot!(out);
}

#[test]
fn the_default_policy_gives_no_cause_for_a_warning() {
    assert_eq!(warnings(&Policy::default_policy()), []);
}

#[test]
fn a_forbid_taken_out_of_the_default_policy_is_noticed() {
    let whole = Policy::default_policy();
    for gate in &whole.gates {
        let mut without = whole.clone();
        without.gates.retain(|other| other.id != gate.id);
        let found = warnings(&without);
        // Without `private-to-others` nothing permits what it forbids: it only gives the reason.
        // `grant-untrusted` is stricter than what a warning is about.
        let quiet = ["private-to-others", "grant-untrusted"].contains(&gate.id.as_str());
        if gate.effect == Effect::Forbid {
            assert_eq!(found.is_empty(), quiet, "{}: {found:?}", gate.id);
        }
    }
}
