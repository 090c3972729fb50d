//! Source files, listings, search results, reports of written files.

use crate::extract::{Case, show};

fn text(arguments: &str, result: &str) -> String {
    show(&Case {
        arguments,
        result: result.as_bytes(),
        ..Case::default()
    })
}

/// Numbers lines as `cat -n` does.
fn numbered(source: &str) -> String {
    source
        .lines()
        .enumerate()
        .map(|(n, line)| format!("{:>6}→{line}\n", n + 1))
        .collect::<Vec<_>>()
        .concat()
}

#[test]
fn a_numbered_source_file_keeps_its_definitions_and_names() {
    let mut source = "use std::collections::BTreeMap;\nuse crate::ledger::EntryId;\n\n\
        /// Sums what accounts hold.\npub struct Balance {\n    totals: BTreeMap<EntryId, i64>,\n}\n\n\
        impl Balance {\n    pub fn credit(&mut self, entry: EntryId, cents: i64) {\n\
        \x20       *self.totals.entry(entry).or_insert(0) += cents;\n    }\n}\n"
        .to_owned();
    for n in 0..30_u32 {
        source.extend([format!(
            "\nfn check_rule_{n}(balance: &Balance) -> bool {{\n    balance.is_sound({n})\n}}\n"
        )]);
    }
    let arguments = r#"{"file_path": "/srv/ledger/src/balance.rs"}"#;
    insta::assert_snapshot!(text(arguments, &numbered(&source)), @r"
    text 1 | condensed | text | session
    subject file=/srv/ledger/src/balance.rs
    omitted 91 lines
    ---
    lines 1-133, 2981 bytes
    5 pub struct Balance
    9 impl Balance
    10 pub fn credit(&mut self, entry: EntryId, cents: i64)
    15 fn check_rule_0(balance: &Balance) -> bool
    19 fn check_rule_1(balance: &Balance) -> bool
    23 fn check_rule_2(balance: &Balance) -> bool
    27 fn check_rule_3(balance: &Balance) -> bool
    31 fn check_rule_4(balance: &Balance) -> bool
    35 fn check_rule_5(balance: &Balance) -> bool
    39 fn check_rule_6(balance: &Balance) -> bool
    check_rule_7 check_rule_8 check_rule_9 check_rule_10 check_rule_11 check_rule_12 check_rule_13 check_rule_14 check_rule_15 check_rule_16 check_rule_17 check_rule_18 check_rule_19 check_rule_20 check_rule_21 check_rule_22 check_rule_23 check_rule_24 check_rule_25 check_rule_26 check_rule_27 check_rule_28 check_rule_29 std::collections::BTreeMap crate::ledger::EntryId BTreeMap self.totals.entry .or_insert balance.is_sound
    ");
}

#[test]
fn a_short_source_file_stands_whole() {
    let source = "import { api } from './api';\n\nexport const load = () => api.get('/users');\n";
    let result = numbered(source)
        + "\n<system-reminder>\nThink before you edit this file.\n</system-reminder>\n";
    insta::assert_snapshot!(text(r#"{"file_path": "/srv/web/load.ts"}"#, &result), @r"
    text 1 | condensed | text | session
    subject file=/srv/web/load.ts
    omitted 1 notices
    refs ./api
    ---
    1→import { api } from './api';
    3→export const load = () => api.get('/users');
    ");
}

#[test]
fn a_directory_listing_keeps_its_names() {
    let mut result = "total 208\n".to_owned();
    for (n, name) in [
        "Cargo.toml",
        "README.md",
        "build.rs",
        "deny.toml",
        "src",
        "tests",
        "notes.txt",
    ]
    .iter()
    .enumerate()
    {
        result.extend([format!(
            "-rw-r--r--  1 dev dev  {:>6} Mar  4 09:1{n} {name}\n",
            n * 811 + 90
        )]);
    }
    for n in 0..20_u32 {
        result.extend([format!(
            "-rw-r--r--  1 dev dev    4096 Mar  4 09:20 migration_{n:03}.sql\n"
        )]);
    }
    insta::assert_snapshot!(text("{}", &result), @r"
    text 1 | condensed | text | session
    subject -
    omitted 24 lines
    refs Cargo.toml README.md build.rs deny.toml notes.txt
    ---
    28 lines, 1591 bytes
    total 208
    -rw-r--r--  1 dev dev      90 Mar  4 09:10 Cargo.toml
    -rw-r--r--  1 dev dev     901 Mar  4 09:11 README.md
    build.rs deny.toml notes.txt migration_000.sql migration_001.sql migration_002.sql migration_003.sql migration_004.sql migration_005.sql migration_006.sql migration_007.sql migration_008.sql migration_009.sql migration_010.sql migration_011.sql migration_012.sql migration_013.sql migration_014.sql migration_015.sql migration_016.sql migration_017.sql migration_018.sql migration_019.sql
    … -rw-r--r--  1 dev dev    4096 Mar  4 09:20 migration_019.sql
    ");
}

#[test]
fn search_results_keep_paths_with_lines() {
    let result = (1..40)
        .map(|n| {
            format!(
                "crates/ledger/src/rule_{n}.rs:{}:    let total = sum_entries(&book);\n",
                n * 3
            )
        })
        .collect::<Vec<_>>()
        .concat();
    insta::assert_snapshot!(text(r#"{"pattern": "sum_entries"}"#, &result), @r"
    text 1 | condensed | text | session
    subject -
    omitted 35 lines
    refs crates/ledger/src/rule_1.rs:3 crates/ledger/src/rule_2.rs:6 crates/ledger/src/rule_3.rs:9 crates/ledger/src/rule_4.rs:12 crates/ledger/src/rule_5.rs:15 crates/ledger/src/rule_6.rs:18 crates/ledger/src/rule_7.rs:21 crates/ledger/src/rule_8.rs:24 crates/ledger/src/rule_9.rs:27 crates/ledger/src/rule_10.rs:30 crates/ledger/src/rule_11.rs:33 crates/ledger/src/rule_12.rs:36 crates/ledger/src/rule_13.rs:39 crates/ledger/src/rule_14.rs:42 crates/ledger/src/rule_15.rs:45 crates/ledger/src/rule_16.rs:48 crates/ledger/src/rule_17.rs:51 crates/ledger/src/rule_18.rs:54 crates/ledger/src/rule_19.rs:57 crates/ledger/src/rule_20.rs:60 crates/ledger/src/rule_21.rs:63 crates/ledger/src/rule_22.rs:66 crates/ledger/src/rule_23.rs:69 crates/ledger/src/rule_24.rs:72 crates/ledger/src/rule_25.rs:75 crates/ledger/src/rule_26.rs:78 crates/ledger/src/rule_27.rs:81 crates/ledger/src/rule_28.rs:84 crates/ledger/src/rule_29.rs:87 crates/ledger/src/rule_30.rs:90 crates/ledger/src/rule_31.rs:93 crates/ledger/src/rule_32.rs:96
    ---
    39 lines, 2646 bytes
    crates/ledger/src/rule_1.rs:3:    let total = sum_entries(&book);
    crates/ledger/src/rule_2.rs:6:    let total = sum_entries(&book);
    crates/ledger/src/rule_3.rs:9:    let total = sum_entries(&book);
    crates/ledger/src/rule_4.rs:12 crates/ledger/src/rule_5.rs:15 crates/ledger/src/rule_6.rs:18 crates/ledger/src/rule_7.rs:21 crates/ledger/src/rule_8.rs:24 crates/ledger/src/rule_9.rs:27 crates/ledger/src/rule_10.rs:30 crates/ledger/src/rule_11.rs:33 crates/ledger/src/rule_12.rs:36 crates/ledger/src/rule_13.rs:39 crates/ledger/src/rule_14.rs:42 crates/ledger/src/rule_15.rs:45 crates/ledger/src/rule_16.rs:48 crates/ledger/src/rule_17.rs:51 crates/ledger/src/rule_18.rs:54 crates/ledger/src/rule_19.rs:57 crates/ledger/src/rule_20.rs:60 crates/ledger/src/rule_21.rs:63
    … crates/ledger/src/rule_39.rs:117:    let total = sum_entries(&book);
    ");
}

#[test]
fn paths_that_a_tool_derived_come_after_sources() {
    let mut result = "Scanning the workspace for uses of the old client\n".to_owned();
    for n in 0..60_u32 {
        result.extend([format!(
            "node_modules/lib-{n}/dist/index-{n}aef{n}.js is skipped as generated\n"
        )]);
    }
    result += "/srv/web/app/routes/plan.tsx imports it\n";
    let out = Case {
        result: result.as_bytes(),
        ..Case::default()
    }
    .run();
    assert!(
        out.summary.contains("/srv/web/app/routes/plan.tsx"),
        "{}",
        out.summary
    );
}

#[test]
fn a_created_file_is_a_reference() {
    let result = "File created successfully at: /srv/reports/q1-summary.pdf (48213 bytes)";
    insta::assert_snapshot!(text(r#"{"file_path": "/srv/reports/q1-summary.pdf"}"#, result), @r"
    file-ref 1 | lossless | text | durable
    subject file=/srv/reports/q1-summary.pdf
    refs /srv/reports/q1-summary.pdf
    ---
    File created successfully at: /srv/reports/q1-summary.pdf (48213 bytes)
    ");
}

#[test]
fn an_edited_file_keeps_path_and_snippet() {
    let body = (0..40)
        .map(|n| format!("  const total_{n} = readTotal(book, {n});\n"))
        .collect::<Vec<_>>()
        .concat();
    let result = format!(
        "The file /srv/web/src/totals.ts has been updated. Here's the result of running `cat -n`:\n{}",
        numbered(&body)
    );
    insta::assert_snapshot!(text(r#"{"file_path": "/srv/web/src/totals.ts"}"#, &result), @r"
    file-ref 1 | condensed | text | session
    subject file=/srv/web/src/totals.ts
    omitted 17 lines
    refs /srv/web/src/totals.ts
    ---
    The file /srv/web/src/totals.ts has been updated. Here's the result of running `cat -n`:
    1 const total_0
    2 const total_1
    3 const total_2
    4 const total_3
    5 const total_4
    6 const total_5
    7 const total_6
    8 const total_7
    9 const total_8
    10 const total_9
    11 const total_10
    12 const total_11
    13 const total_12
    14 const total_13
    15 const total_14
    16 const total_15
    17 const total_16
    18 const total_17
    19 const total_18
    20 const total_19
    21 const total_20
    22 const total_21
    23 const total_22
    total_23 total_24 total_25 total_26 total_27 total_28 total_29 total_30 total_31 total_32 total_33 total_34 total_35 total_36 total_37 total_38 total_39 readTotal
    ");
}

#[test]
fn a_numbered_table_keeps_its_rows() {
    let rows: Vec<String> = (1..=30)
        .map(|n| format!("B{n:02},{},{}", ["free", "taken"][n % 2], 80 + n))
        .collect();
    let table = format!("berth,state,price\n{}", rows.join("\n"));
    let numbered: Vec<String> = table
        .lines()
        .enumerate()
        .map(|(at, line)| format!("{:>6}\t{line}", at + 1))
        .collect();
    let shown = text(
        r#"{"file_path":"/survey/berths.csv"}"#,
        &numbered.join("\n"),
    );
    for row in ["B08", "B30", "110"] {
        assert!(shown.contains(row), "{row}: {shown}");
    }
}
