//! Brief forms and outlines: what is left of a result once its turn is over, and where no value may
//! be seen.

use crate::extract::Case;
use foldback_assembly::extract::Extraction;
use foldback_event::MediaType;
use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn run(result: &str, media: MediaType) -> Extraction {
    let result = result.as_bytes();
    Case {
        result,
        media,
        ..Case::default()
    }
    .run()
}

fn brief(value: &Value) -> String {
    let out = run(&value.to_string(), MediaType::Json);
    out.brief.unwrap_or_else(|| "none".to_owned())
}

fn outline(value: &Value) -> String {
    run(&value.to_string(), MediaType::Json).outline
}

fn berth() -> Value {
    json!({
        "booking_id": "NT-40417", "guest_id": "ines_moreau_22", "from": "ZRH", "to": "HAM",
        "class": "couchette", "paid": true, "discount": 0, "voucher": null, "insurance": "no",
        "legs": [
            {"train": "EN470", "date": "2026-03-04", "car": 302, "price": 8900},
            {"train": "EN471", "date": "2026-03-08", "car": 305, "price": 7900},
        ],
        "guests": [{"first": "Ines", "last": "Moreau", "born": "1988-04-17"}],
        "payments": {
            "card_88123": {"kind": "card", "last_four": "4471"},
            "voucher_0092": {"kind": "voucher", "amount": 2500},
        },
        "remarks": "The guest asked for a lower berth next to the door and for tea at seven.",
    })
}

#[test]
fn a_booking_keeps_every_short_value_and_hardly_a_key() {
    assert_snapshot!(brief(&berth()), @"NT-40417; ines_moreau_22; ZRH; HAM; couchette; paid true; legs: EN470 2026-03-04 car 302 price 8900, EN471 2026-03-08 305 7900; guests: Ines Moreau 1988-04-17; payments: card_88123 last_four 4471, voucher_0092 amount 2500");
}

#[test]
fn a_large_answer_keeps_what_it_says_of_itself_and_what_names_its_parts() {
    let boats: Vec<Value> = (0..30)
        .map(|n| json!({"boat_id": format!("B-{:04}", 4400 + n), "berth": n, "owner": {"name": "somebody", "since": 1990 + n}}))
        .collect();
    let value = json!({"harbour": "Larvik", "total": 30, "boats": boats});
    assert_snapshot!(brief(&value), @"Larvik; total 30; boats[30]: B-4400, B-4401, B-4402, B-4403, B-4404, B-4405, B-4406, B-4407, B-4408, B-4409, B-4410, …");
    let listed = value["boats"].clone();
    assert_snapshot!(brief(&listed), @"30 items: B-4400, B-4401, B-4402, B-4403, B-4404, B-4405, B-4406, B-4407, B-4408, B-4409, B-4410, B-4411, B-4412, B-4413, …");
}

#[test]
fn a_table_names_its_rows() {
    let rows: Vec<String> = (0..30)
        .map(|n| format!("B-{:04},Larvik,{n},{}", 4400 + n, n * 7))
        .collect();
    let table = format!("boat_id,harbour,berth,fee\n{}\n", rows.join("\n"));
    let out = run(&table, MediaType::Csv);
    assert_snapshot!(out.brief.unwrap(), @"30 rows; boat_id: B-4400, B-4401, B-4402, B-4403, B-4404, B-4405, B-4406, B-4407, B-4408, B-4409, B-4410, B-4411, B-4412, …");
    assert_snapshot!(out.outline, @"a table of 30 rows and 4 columns: boat_id, harbour, berth, fee");
}

#[test]
fn what_saves_nothing_or_holds_the_words_themselves_has_no_brief_form() {
    for (result, media) in [
        ("{\"id\":\"NT-1\"}", MediaType::Json),
        (
            "fn main() {\n    println!(\"hello\");\n}\n",
            MediaType::Text,
        ),
        ("Error: no berth is free on EN470", MediaType::Text),
        ("", MediaType::Text),
    ] {
        assert_eq!(run(result, media).brief, None, "{result}");
    }
    let failed = Case {
        result: berth().to_string().as_bytes(),
        media: MediaType::Json,
        failed: true,
        ..Case::default()
    }
    .run();
    assert_eq!(failed.brief, None, "an error is read whole");
}

#[test]
fn an_outline_tells_fields_and_counts() {
    assert_snapshot!(outline(&berth()), @"13 fields: booking_id, guest_id, from, to, class, paid, discount, voucher, insurance, legs (2 items: train, date, car, price), guests (1 item: first, last, born), payments (2 items: kind, last_four, amount), remarks");
    assert_snapshot!(outline(&json!([{"unread": 3, "from": "a@b.example"}])), @"1 item: unread, from");
    assert_snapshot!(run("one\ntwo\n", MediaType::Text).outline, @"text of 2 lines, 8 bytes");
    assert_snapshot!(run("Error: no berth", MediaType::Text).outline, @"an error message of 1 line, 15 bytes");
    let image = Case {
        result: b"\x89PNG\r\n\x1a\n\0\0\0\0",
        media: MediaType::Image,
        ..Case::default()
    };
    assert_snapshot!(image.run().outline, @"data, 12 bytes");
}

/// A map from people to things names people by its keys.
#[test]
fn keys_that_are_data_stay_out_of_an_outline() {
    let value = json!({
        "by_guest": {"ines": {"berth": 3}, "yusuf": {"berth": 4}},
        "by_mail": {"ines@moreau.example": 1, "yusuf@silva.example": 2},
        "4471": "door",
    });
    let outline = outline(&value);
    for data in ["ines", "yusuf", "4471", "door", "moreau"] {
        assert!(!outline.contains(data), "{outline}");
    }
    assert_snapshot!(outline, @"3 fields: by_guest (2 items: berth), by_mail (2 fields) and 1 more");
}

/// Any JSON whose scalars are canaries, numbered as they come.
fn canaries() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        (0_u32..1_000).prop_map(|n| json!(format!("canary{n:03}"))),
        (0_u32..1_000).prop_map(|n| json!(777_000 + n)),
        Just(json!(
            "canary with a few words behind it that make a text of it, long enough to be cut"
        )),
    ];
    let key = prop::sample::select(vec![
        "id", "name", "dueDate", "total", "items", "owner_id", "note", "7", "x y",
    ]);
    leaf.prop_recursive(4, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(key.clone(), inner, 0..6).prop_map(|map| {
                Value::from(
                    map.into_iter()
                        .map(|(k, v)| (k.to_owned(), v))
                        .collect::<Map<_, _>>(),
                )
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_value_stands_in_an_outline(value in canaries()) {
        let outline = outline(&value);
        prop_assert!(!outline.contains("canary") && !outline.contains("777"), "{outline}");
        prop_assert!(!outline.is_empty() && outline.len() <= 300, "{outline}");
    }

    /// Nothing is made up: what is no key, count or sign stands in the source.
    #[test]
    fn a_brief_form_saves_and_says_nothing_new(value in canaries()) {
        let text = value.to_string();
        let out = run(&text, MediaType::Json);
        if let Some(brief) = &out.brief {
            prop_assert!(brief.len() < out.summary.len() && brief.len() <= 490);
            for word in brief.split(|c: char| !c.is_alphanumeric()).filter(|w| w.len() > 3) {
                prop_assert!(text.contains(word) || matches!(word, "item" | "items"), "`{word}` is new: {brief}");
            }
        }
    }
}
