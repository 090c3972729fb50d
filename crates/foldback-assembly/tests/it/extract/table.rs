//! Delimited tables.

use crate::extract::{Case, show};
use foldback_assembly::extract::resolve;
use foldback_event::MediaType;

fn csv(result: &str) -> String {
    show(&Case {
        result: result.as_bytes(),
        media: MediaType::Csv,
        ..Case::default()
    })
}

/// Makes a table that is too large to stand whole.
fn large(rows: usize, note: &str) -> String {
    let mut text = "invoice_id,customer,amount,due,note\n".to_owned();
    for n in 0..rows {
        text.extend([format!(
            "INV-{:04},Customer {},{}.{:02},2025-0{}-15,{note}\n",
            1000 + n,
            n % 9,
            n * 13,
            n % 100,
            n % 9 + 1
        )]);
    }
    text
}

#[test]
fn a_small_table_stands_whole() {
    let result = "sku,stock,price\nA-100,14,9.90\nB-220,0,24.00\n\"C,330\",3,1.25\n";
    insta::assert_snapshot!(csv(result), @r"
    table 1 | lossless | csv | session
    subject -
    fact [A-100].stock = 14
    fact [A-100].price = 9.90
    fact [B-220].stock = 0
    ---
    3 rows, 3 columns
    sku|stock|price
    A-100|14|9.90
    B-220|0|24.00
    C,330|3|1.25
    ");
}

#[test]
fn a_wide_table_loses_its_prose_first() {
    insta::assert_snapshot!(csv(&large(12, &"please remind the customer kindly ".repeat(4))), @r"
    table 1 | condensed | csv | session
    subject -
    omitted 1 columns
    fact [INV-1000].customer = Customer 0
    fact [INV-1000].amount = 0.00
    fact [INV-1000].due = 2025-01-15
    ---
    12 rows, 5 columns, 2127 bytes, left out: note
    invoice_id|customer|amount|due
    INV-1000|Customer 0|0.00|2025-01-15
    INV-1001|Customer 1|13.01|2025-02-15
    INV-1002|Customer 2|26.02|2025-03-15
    INV-1003|Customer 3|39.03|2025-04-15
    INV-1004|Customer 4|52.04|2025-05-15
    INV-1005|Customer 5|65.05|2025-06-15
    INV-1006|Customer 6|78.06|2025-07-15
    INV-1007|Customer 7|91.07|2025-08-15
    INV-1008|Customer 8|104.08|2025-09-15
    INV-1009|Customer 0|117.09|2025-01-15
    INV-1010|Customer 1|130.10|2025-02-15
    INV-1011|Customer 2|143.11|2025-03-15
    ");
}

#[test]
fn a_long_table_keeps_its_ends_and_names() {
    insta::assert_snapshot!(csv(&large(200, "ok")), @r"
    table 1 | condensed | csv | session
    subject -
    omitted 195 rows, 1 columns
    fact [INV-1000].customer = Customer 0
    fact [INV-1000].amount = 0.00
    fact [INV-1000].due = 2025-01-15
    ---
    200 rows, 5 columns, 8350 bytes
    invoice_id text, customer text, amount number, due date, note text
    invoice_id|customer|amount|due
    INV-1000|Customer 0|0.00|2025-01-15
    INV-1001|Customer 1|13.01|2025-02-15
    INV-1002|Customer 2|26.02|2025-03-15
    INV-1003|Customer 3|39.03|2025-04-15
    … INV-1199|Customer 1|2587.99|2025-02-15
    between, invoice_id: INV-1004 INV-1005 INV-1006 INV-1007 INV-1008 INV-1009 INV-1010 INV-1011 INV-1012 INV-1013 INV-1014 INV-1015 INV-1016 INV-1017 INV-1018 INV-1019 INV-1020 INV-1021 INV-1022 INV-1023 INV-1024 INV-1025 INV-1026 INV-1027 INV-1028 INV-1029 INV-1030 INV-1031 INV-1032 INV-1033 INV-1034 INV-1035 INV-1036 INV-1037 INV-1038 INV-1039 INV-1040 INV-1041 INV-1042 INV-1043 INV-1044 INV-1045 INV-1046 INV-1047 INV-1048 INV-1049 INV-1050 INV-1051 INV-1052 INV-1053 INV-1054 INV-1055 INV-1056 INV-1057 INV-1058 INV-1059 INV-1060 INV-1061 INV-1062 … 136 more
    ");
}

#[test]
fn tabs_are_found_without_being_told() {
    let out = Case {
        result: b"host\tport\tstate\ndb1\t5432\tup\ndb2\t5433\tdown\n",
        ..Case::default()
    }
    .run();
    assert_eq!((out.extractor, out.media), ("table", MediaType::Tsv));
    assert!(out.lossless);
}

#[test]
fn prose_with_commas_is_no_table() {
    let result =
        b"First, open the door, then wait.\nSecond, close it, and go.\nThird, rest, well.\n";
    assert_eq!(
        Case {
            result,
            ..Case::default()
        }
        .run()
        .extractor,
        "text"
    );
}

#[test]
fn a_fact_leads_back_to_its_cell() {
    let text = large(3, "ok");
    let out = Case {
        result: text.as_bytes(),
        media: MediaType::Csv,
        ..Case::default()
    }
    .run();
    let fact = out
        .facts
        .iter()
        .find(|fact| fact.key == "[INV-1002].amount")
        .unwrap();
    assert_eq!(fact.value, "26.02");
    assert_eq!(&*resolve(&fact.locator, text.as_bytes()).unwrap(), b"26.02");
}
