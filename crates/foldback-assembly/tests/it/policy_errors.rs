//! What the loader says of each thing that can be wrong with a policy document.

use foldback_assembly::policy::{DOCUMENT_BYTES_MAX, Policy, PolicyErrors, Problem, RULES_MAX};
use std::fmt::Write as _;

fn errors(document: &str) -> PolicyErrors {
    Policy::parse(document).expect_err("the document is wrong")
}

/// Renders a document with line numbers and all that is wrong with it.
fn render(name: &str, document: &str, out: &mut String) {
    writeln!(out, "== {name}").unwrap();
    for (index, line) in document.lines().enumerate() {
        writeln!(out, "{:>3} | {line}", index + 1).unwrap();
    }
    for error in &errors(document) {
        writeln!(out, "error: {error}").unwrap();
        if let Some(hint) = &error.hint {
            writeln!(out, "hint: {hint}").unwrap();
        }
    }
    out.push('\n');
}

/// Cases that come after a valid head of two lines.
const PARTS: &[(&str, &str)] = &[
    ("unknown part", "[fresness]\nstale = \"omit\""),
    ("unknown part that is like nothing", "[telemetry]\non = true"),
    ("unknown keys in every part", "\
[[route]]
trust = \"standard\"
modell = \"m\"
[freshness]
volatile-minutes = 15
[conflicts]
supersede = \"omit\"
[recovery]
opened = true
[presentation]
raw_lossy = \"turn\"
[rehydration]
max-bytes = 1
[budget]
token = 1"),
    ("unknown key of a gate", "\
[[gate]]
id = \"own\"
effect = \"permit\"
owners = [\"own\"]"),
    ("unknown key of an exception", "\
[[gate]]
id = \"own\"
effect = \"permit\"
unless = { priv = [\"unknown\"] }"),
    ("unknown effect", "[[gate]]\nid = \"own\"\neffect = \"premit\""),
    ("unknown values of every matcher", "\
[[gate]]
id = \"own\"
effect = \"permit\"
records = [\"message\", \"memories\"]
owner = [\"mine\"]
visibility = [\"privat\"]
privacy = [\"google_derived\", \"Public\"]
trust = [\"full\"]
runtime = [\"chats\"]"),
    ("unknown values of every part", "\
[[route]]
trust = \"trust\"
[freshness]
stale = \"hide\"
[conflicts]
superseded = \"omitted\"
conflicting = \"marker\"
[recovery]
failed = \"all\"
[presentation]
raw-lossless = \"twice\"
raw-lossy = \"never\"
thinking = \"once\"
[rehydration]
privacy = [\"secret\"]
trust = [\"trustd\"]"),
    ("unknown reason", "\
[[gate]]
id = \"no\"
effect = \"forbid\"
reason = \"privacy\""),
    ("a reason that is no gate's", "\
[[gate]]
id = \"no\"
effect = \"forbid\"
reason = \"budget\"
[[gate]]
id = \"yes\"
effect = \"permit\"
reason = \"no-saving\""),
    ("missing keys of rules", "\
[[route]]
provider = \"openai\"
[[gate]]
owner = [\"own\"]
[[gate]]
id = \"no\"
effect = \"forbid\""),
    ("duplicate ids", "\
[[gate]]
id = \"own\"
effect = \"permit\"
owner = [\"own\"]

[[gate]]
id = \"own\"
effect = \"permit\"
owner = [\"shared\"]"),
    ("wrong types", "\
[[route]]
provider = 7
trust = true
[[gate]]
id = [\"own\"]
effect = 1
owner = \"own\"
privacy = [1]
lineage = \"yes\"
unless = [\"own\"]
[freshness]
volatile-seconds = 900.5
session-seconds = \"always\"
bounded-seconds = 2026-01-01
[recovery]
open = \"true\"
[budget]
tokens = \"180000\""),
    ("a table where a list of tables stands", "[gate]\nid = \"own\"\neffect = \"permit\""),
    ("a list of tables where a table stands", "[[budget]]\ntokens = 1"),
    ("a value where a table stands", "budget = 180000"),
    ("numbers out of range", "\
[freshness]
volatile-seconds = 0
session-seconds = -1
bounded-seconds = 99999999999
[presentation]
saving-percent-min = 101
[budget]
tokens = 0
candidates = 0xffff_ffff_ffff_ffff_f"),
    ("lists and exceptions that say nothing", "\
[[gate]]
id = \"own\"
effect = \"permit\"
owner = []
unless = {}"),
    ("names that are none", "\
[[route]]
provider = \"\"
trust = \"standard\"
[[gate]]
id = \"my own\"
effect = \"permit\""),
    ("a long and hostile value", "\
[[gate]]
id = \"own\"
effect = \"\\u001b[31mpermit-permit-permit-permit-permit-permit-permit-permit-permit-permit-permit\""),
];

/// Whole documents.
const DOCUMENTS: &[(&str, &str)] = &[
    ("empty", ""),
    ("only comments", "# nothing here\n"),
    ("no schema", "name = \"p\""),
    ("no name", "schema = 1"),
    (
        "a later schema",
        "schema = 3\nname = \"p\"\n[horizon]\nfar = true",
    ),
    ("a far later schema", "schema = 70000\nname = \"p\""),
    ("schema zero", "schema = 0\nname = \"p\""),
    ("a schema in quotes", "schema = \"1\"\nname = \"p\""),
    ("a bad name", "schema = 1\nname = \"my policy\""),
    ("no closing quote", "schema = 1\nname = \"p\n"),
    ("no value", "schema = 1\nname =\n"),
    ("a key twice", "schema = 1\nname = \"p\"\nname = \"q\""),
    (
        "a table twice",
        "schema = 1\nname = \"p\"\n[budget]\ntokens = 1\n[budget]\ntokens = 2",
    ),
    (
        "two syntax errors",
        "schema = 1\nname = \"p\"\n[budget\ntokens = 1\n[recovery]\nopen = yes\n",
    ),
    ("another format", "{\"schema\": 1}"),
];

#[test]
fn every_error_names_its_place_and_the_next_step() {
    let mut out = String::new();
    for (name, document) in DOCUMENTS {
        render(name, document, &mut out);
    }
    for (name, part) in PARTS {
        render(name, &format!("schema = 1\nname = \"p\"\n{part}"), &mut out);
    }
    insta::assert_snapshot!(out);
}

#[test]
fn all_problems_come_in_one_go_and_in_the_order_of_their_lines() {
    let found = errors(
        "schema = 1\nname = \"p\"\n[budget]\ntokens = 0\ntoken = 1\n[recovery]\nopen = 1\n\
         [[gate]]\nid = \"a\"\neffect = \"allow\"\n",
    );
    let lines: Vec<usize> = found.iter().map(|error| error.line).collect();
    assert_eq!(lines, [4, 5, 7, 10]);
    assert_eq!(
        found.to_string(),
        "the policy document has 4 errors, the first: line 4, column 10: `budget.tokens`: `0` is out \
         of range: expected 1 to 1000000000"
    );
}

#[test]
fn columns_count_characters_and_lines_count_in_documents_from_windows() {
    let found = errors("schema = 1\r\nname = \"p\"\r\n\r\n[budget]\r\n\"tökens\" = 1\r\n");
    assert_eq!(
        (found.as_slice()[0].line, found.as_slice()[0].column),
        (5, 1)
    );
    let found = errors("schema = 1\nname = \"p\"\nbudget = { \"ö\" = 1, tokens = -1 }");
    let places: Vec<_> = found
        .iter()
        .map(|error| (error.line, error.column))
        .collect();
    assert_eq!(places, [(3, 12), (3, 30)]);
}

#[test]
fn a_document_longer_than_any_policy_is_refused() {
    let found = errors(&"#".repeat(DOCUMENT_BYTES_MAX + 1));
    assert!(matches!(
        found.as_slice(),
        [error] if matches!(error.problem, Problem::TooLong { .. })
    ));
}

#[test]
fn more_rules_than_a_decision_may_walk_are_refused() {
    let mut document = "schema = 1\nname = \"p\"\n".to_owned();
    for index in 0..RULES_MAX {
        write!(
            document,
            "[[gate]]\nid = \"g{index}\"\neffect = \"permit\"\n"
        )
        .unwrap();
    }
    assert_eq!(Policy::parse(&document).unwrap().gates.len(), RULES_MAX);
    document.push_str("[[gate]]\nid = \"last\"\neffect = \"permit\"\n");
    let found = errors(&document);
    assert!(matches!(
        found.as_slice(),
        [error] if error.problem == Problem::TooMany { count: RULES_MAX + 1, max: RULES_MAX }
    ));
}
