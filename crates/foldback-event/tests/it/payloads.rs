//! The list of payloads that an event names misses none: verification and erasure go by it.

use foldback_event::{Kind, PayloadRef};
use foldback_testkit::golden;
use serde_json::Value;

/// Every address that stands in a description as part of a payload reference.
fn addresses(of: &Value, out: &mut Vec<String>) {
    match of {
        Value::Object(fields) => {
            if fields.contains_key("sealed_digest") {
                out.push(fields["address"].as_str().unwrap().to_owned());
            }
            fields.values().for_each(|value| addresses(value, out));
        }
        Value::Array(items) => items.iter().for_each(|value| addresses(value, out)),
        _ => {}
    }
}

#[test]
fn every_payload_of_every_kind_is_listed_in_the_order_of_fields() {
    let mut total = 0;
    for kind in Kind::ALL {
        let event = golden::event(*kind);
        let mut written = Vec::new();
        addresses(&golden::describe(&event), &mut written);
        let listed = event
            .body
            .payloads()
            .into_iter()
            .chain(event.body.policy_document());
        let listed: Vec<String> = listed.map(|p: PayloadRef| p.address.to_string()).collect();
        assert_eq!(listed, written, "{kind}");
        total += listed.len();
    }
    assert_eq!(total, 22);
}
