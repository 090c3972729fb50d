//! JSON values, JSON lines, message parts.

use crate::extract::{Case, show};
use foldback_event::MediaType;

fn json(arguments: &str, result: &str) -> String {
    show(&Case {
        arguments,
        result: result.as_bytes(),
        media: MediaType::Json,
        ..Case::default()
    })
}

#[test]
fn a_flight_search_keeps_each_price_with_its_flight() {
    let result = r#"[
        {"flight_number": "FB101", "origin": "OSL", "destination": "CDG", "departure": "07:10:00",
         "seats": {"economy": 9, "business": 2}, "prices": {"economy": 129, "business": 412.50}},
        {"flight_number": "FB117", "origin": "OSL", "destination": "CDG", "departure": "16:40:00",
         "seats": {"economy": 0, "business": 4}, "prices": {"economy": 98, "business": 377.00}}
    ]"#;
    let args = r#"{"origin": "OSL", "destination": "CDG", "date": "2025-03-02"}"#;
    insta::assert_snapshot!(json(args, result), @r"
    json 1 | lossless | json | bounded
    subject -
    fact [FB101].flight_number = FB101
    fact [FB101].origin = OSL
    fact [FB101].destination = CDG
    ---
    2 items
    all: origin OSL, destination CDG
    flight_number|departure|seats(economy/business)|prices(economy/business)
    FB101|07:10:00|9/2|129/412.50
    FB117|16:40:00|0/4|98/377.00
    ");
}

#[test]
fn connections_name_their_legs_once() {
    let leg = |number: &str, from: &str, to: &str, price: u32| {
        format!(
            r#"{{"flight_number":"{number}","origin":"{from}","destination":"{to}","price":{price}}}"#
        )
    };
    let (first, second, third) = (
        leg("FB12", "OSL", "AMS", 80),
        leg("FB90", "AMS", "LIS", 120),
        leg("FB94", "AMS", "LIS", 99),
    );
    let result = format!("[[{first},{second}],[{first},{third}]]");
    insta::assert_snapshot!(json("{}", &result), @r"
    json 1 | lossless | json | bounded
    subject -
    fact [0][FB12].flight_number = FB12
    fact [0][FB12].origin = OSL
    fact [0][FB12].destination = AMS
    ---
    2 items
    groups: FB12+FB90, FB12+FB94
    flight_number|origin|destination|price
    FB12|OSL|AMS|80
    FB90|AMS|LIS|120
    FB94|AMS|LIS|99
    ");
}

#[test]
fn a_crm_card_reads_as_key_and_value() {
    let result = r#"{"contact_id": "C-20418", "name": {"first": "Ines", "last": "Okafor"},
        "email": "ines.okafor@example.org", "phone": "+47 555 01 92", "stage": "negotiation",
        "deals": [{"deal_id": "D-771", "amount": 18200, "currency": "EUR", "close": "2025-04-30"},
                  {"deal_id": "D-802", "amount": 950.50, "currency": "EUR", "close": "2025-06-15"}],
        "methods": {"card_88": {"id": "card_88", "brand": "visa", "last_four": "4417"},
                    "card_91": {"id": "card_91", "brand": "amex", "last_four": "0005"}},
        "tags": ["vip", "renewal"], "notes": null, "opted_in": true}"#;
    insta::assert_snapshot!(json(r#"{"contact_id": "C-20418"}"#, result), @r"
    json 1 | lossless | json | bounded
    subject contact_id=C-20418
    refs ines.okafor@example.org
    fact contact_id = C-20418
    fact email = ines.okafor@example.org
    fact phone = +47 555 01 92
    ---
    contact_id: C-20418
    name: {first: Ines, last: Okafor}
    email: ines.okafor@example.org; phone: +47 555 01 92; stage: negotiation
    deals[2]: all: currency EUR; deal_id|amount|close: D-771|18200|2025-04-30; D-802|950.50|2025-06-15
    methods: key|brand|last_four: card_88|visa|4417; card_91|amex|0005
    tags[2]: [vip, renewal]
    notes: null; opted_in: true
    ");
}

#[test]
fn a_result_without_identity_takes_the_one_that_was_asked_for() {
    let out = Case {
        arguments: r#"{"user_id": "ines_okafor_2041"}"#,
        result: br#"{"email": "ines@example.org", "membership": "gold"}"#,
        ..Case::default()
    }
    .run();
    assert_eq!(out.subject.as_deref(), Some("user_id=ines_okafor_2041"));
}

#[test]
fn a_long_list_keeps_every_id_and_says_what_it_left_out() {
    let rows: Vec<String> = (0..40)
        .map(|n| {
            format!(
                r#"{{"ticket_id": "T-{:04}", "status": "{}", "opened": "2025-01-{:02}", "body": "{}"}}"#,
                n * 7,
                if n % 3 == 0 { "open" } else { "closed" },
                n % 28 + 1,
                "The customer writes that the parcel did not arrive and asks for a refund. ".repeat(3),
            )
        })
        .collect();
    insta::assert_snapshot!(json("{}", &format!("[{}]", rows.join(","))), @r"
    json 1 | condensed | json | bounded
    subject -
    omitted 24 items, 1 keys
    fact [T-0000].ticket_id = T-0000
    fact [T-0000].status = open
    fact [T-0000].opened = 2025-01-01
    ---
    40 items
    ticket_id|status|opened
    T-0000|open|2025-01-01
    T-0007|closed|2025-01-02
    T-0014|closed|2025-01-03
    T-0021|open|2025-01-04
    T-0028|closed|2025-01-05
    T-0035|closed|2025-01-06
    T-0042|open|2025-01-07
    T-0049|closed|2025-01-08
    T-0056|closed|2025-01-09
    T-0063|open|2025-01-10
    T-0070|closed|2025-01-11
    T-0077|closed|2025-01-12
    T-0084|open|2025-01-13
    T-0091|closed|2025-01-14
    T-0098|closed|2025-01-15
    T-0105|open|2025-01-16
    … 24 more: T-0112, T-0119, T-0126, T-0133, T-0140, T-0147, T-0154, T-0161, T-0168, T-0175, T-0182, T-0189, T-0196, T-0203, T-0210, T-0217, T-0224, T-0231, T-0238, T-0245, T-0252, T-0259, T-0266, T-0273
    … left out: 24 items; keys body
    ");
}

#[test]
fn a_long_text_inside_a_value_is_digested() {
    let body = "Deploying build 7f3c9d21 to https://eu.example.org/app as release v2.14.0.\n\
        The job wrote /var/lib/app/releases/current.json and restarted worker_pool.\n"
        .repeat(12);
    let result = serde_json::json!({"job_id": "job_5521", "exit_code": 0, "stdout": body});
    insta::assert_snapshot!(json("{}", &result.to_string()), @r"
    json 1 | condensed | json | bounded
    subject job_id=job_5521
    omitted 1 keys
    fact job_id = job_5521
    fact exit_code = 0
    ---
    job_id: job_5521; exit_code: 0
    stdout, 1812 bytes: Deploying build 7f3c9d21 to https://eu.example.org/app as release v2.14.0.
    The job wrote /var/lib/app/releases/current.json and restarted worker_pool.
    … The job wrote /var/lib/app/releases/current.json and restarted worker_pool.
    … left out: keys stdout
    ");
}

#[test]
fn encoded_data_never_enters_a_summary() {
    let data = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo".repeat(40);
    let result = format!(r#"{{"file_id": "file-9x1", "name": "scan.png", "data": "{data}"}}"#);
    insta::assert_snapshot!(json("{}", &result), @r"
    json 1 | condensed | json | durable
    subject file_id=file-9x1
    omitted 1 encoded
    refs file-9x1 scan.png
    fact file_id = file-9x1
    fact name = scan.png
    ---
    file_id: file-9x1; name: scan.png; data: <encoded data, 1400 bytes>
    … left out: 1 encoded values
    ");
}

#[test]
fn json_lines_are_rows_of_one_table() {
    let result = "{\"seq\": 1, \"kind\": \"opened\", \"actor\": \"ada\"}\n\
        {\"seq\": 2, \"kind\": \"closed\", \"actor\": \"lin\"}\n";
    insta::assert_snapshot!(json("{}", result), @r"
    json 1 | lossless | json | bounded
    subject -
    ---
    2 JSON lines
    seq|kind|actor
    1|opened|ada
    2|closed|lin
    ");
}

#[test]
fn message_parts_are_read_as_their_texts() {
    let result = r#"[{"type": "text", "text": "File created successfully at: /srv/app/notes.md"},
        {"type": "image", "source": {"data": "iVBORw0KGgo"}}]"#;
    insta::assert_snapshot!(json("{}", result), @r"
    file-ref 1 | condensed | parts | durable
    subject file=/srv/app/notes.md
    omitted 1 parts
    refs /srv/app/notes.md
    ---
    File created successfully at: /srv/app/notes.md
    … and 1 parts that are no text
    ");
}

#[test]
fn numbers_keep_their_spelling_and_repeated_keys_both_values() {
    let out = Case {
        result: br#"{"price": 12.50, "big": 123456789012345678901234567890, "a": 1, "a": 2e3}"#,
        ..Case::default()
    }
    .run();
    assert!(out.lossless);
    assert_eq!(
        out.summary,
        "price: 12.50; big: 123456789012345678901234567890; a: 1; a: 2e3"
    );
    // Which of the two is the value is not for an extractor to say.
    assert!(out.facts.iter().all(|fact| fact.key != "a"));
}

#[test]
fn search_results_with_availability_are_volatile() {
    let out = Case {
        result: br#"[{"sku": "A1", "available": 3}, {"sku": "B2", "available": 0}]"#,
        ..Case::default()
    }
    .run();
    assert_eq!(out.freshness, foldback_event::Freshness::Volatile);
}

#[test]
fn what_a_value_says_of_itself_outlives_its_history() {
    let events: Vec<String> = (1..60)
        .map(|n| {
            let city = ["Linz", "Wels", "Passau"][n % 3];
            format!(r#"{{"at":"2026-03-{:02}T08:00:00Z","place":"{city}","note":"scanned at gate {n} by the night shift"}}"#, n % 28 + 1)
        })
        .collect();
    let parcel = format!(
        r#"{{"id":"SH-4417","status":"in customs","eta":"2026-03-19","events":[{}]}}"#,
        events.join(",")
    );
    let shown = json(r#"{"id":"SH-4417"}"#, &parcel);
    assert!(
        shown.contains("in customs") && shown.contains("2026-03-19"),
        "{shown}"
    );
}

#[test]
fn ids_inside_a_list_of_objects_are_kept() {
    let files: Vec<String> = (1..40)
        .map(|n| {
            format!(r#"{{"id":"doc-77{n:02}","owner":{{"name":"Ines"}},"snippet":"the minutes of meeting {n}, with a long list of what was said and by whom"}}"#)
        })
        .collect();
    let found = format!(r#"{{"files":[{}],"incomplete":false}}"#, files.join(","));
    let shown = json("{}", &found);
    for n in [1, 20, 32] {
        assert!(shown.contains(&format!("doc-77{n:02}")), "{n}: {shown}");
    }
}
