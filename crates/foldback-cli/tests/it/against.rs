//! The same request under a policy with one rule changed, and conversations joined to be measured.

use crate::answers::assembly;
use crate::sandbox::{HARBOUR, Sandbox};
use insta::assert_snapshot;
use serde_json::json;

/// The default policy with a gate before all others.
fn with_gate(sandbox: &Sandbox, gate: &str) {
    let policy = sandbox.run(&["policy", "show"]).exits(0).stdout;
    let gate = format!("[[gate]]\n{gate}\n\n[[gate]]\nid = \"audit-only\"");
    let policy = policy
        .replace("name = \"default\"", "name = \"strict\"")
        .replacen("[[gate]]\nid = \"audit-only\"", &gate, 1);
    sandbox.write("strict.toml", &policy);
}

const NO_BYTES: &str = "id = \"no-bytes\"\neffect = \"forbid\"\nreason = \"not-permitted\"\nrecords = [\"artifact\"]\nraw = true";

#[test]
fn a_changed_rule_is_named_with_every_decision_that_it_moves() {
    let sandbox = Sandbox::replayed(HARBOUR);
    let id = assembly(&sandbox, 1);
    let short: String = id.chars().take("asm_".len() + 8).collect();
    with_gate(&sandbox, NO_BYTES);
    let ask = ["explain", &short, "--against", "strict.toml"];
    assert_snapshot!("against", sandbox.run(&ask).exits(0).text());
    let json = sandbox
        .run(&[&["--json"], &ask[..]].concat())
        .exits(0)
        .json();
    assert_eq!(json["schema"], "foldback.against/1");
    let moved = json["moved"].as_array().expect("decisions");
    assert!(moved.iter().any(|row| row["cause"] == "rule no-bytes"));
    assert!(moved.iter().all(|row| row["before"] != row["after"]));
    // Nothing was written: the request is what it was.
    sandbox.run(&["explain", &short]).exits(0);
    sandbox.run(&["verify"]).exits(0);
}

#[test]
fn the_same_policy_moves_nothing_and_a_broken_one_is_told() {
    let sandbox = Sandbox::replayed(HARBOUR);
    let policy = sandbox.run(&["policy", "show"]).exits(0).stdout;
    sandbox.write("same.toml", &policy);
    let same = sandbox.run(&["--json", "explain", "last", "--against", "same.toml"]);
    assert_eq!(same.exits(0).json()["moved"], json!([]));
    sandbox.write("broken.toml", "schema = 2\nname = \"x\"\n[fresness]\n");
    let broken = sandbox.run(&["explain", "last", "--against", "broken.toml"]);
    assert!(broken.exits(1).stderr.contains("`fresness`: unknown key"));
}

#[test]
fn conversations_of_a_file_are_joined_to_be_measured() {
    let sandbox = Sandbox::new();
    let chat = |boat: &str| {
        json!([
            {"role": "system", "content": "You keep the registry of a small harbour."},
            {"role": "user", "content": format!("Where is {boat}?")},
            {"role": "assistant", "content": "At berth 4."},
        ])
    };
    let episodes: Vec<_> = ["Astrid", "Berit", "Carla"]
        .iter()
        .map(|boat| json!({"task_id": boat, "trial": 0, "traj": chat(boat)}))
        .collect();
    sandbox.write("episodes.json", json!(episodes).to_string());
    let single = sandbox
        .run(&["--json", "evaluate", "episodes.json"])
        .exits(0);
    assert_eq!(single.json()["conversations"], 3);
    let joined = ["--json", "evaluate", "--join", "2", "episodes.json"];
    let joined = sandbox.run(&joined).exits(0).json();
    assert_eq!(joined["conversations"], 2);
    assert_eq!(joined["requests"].as_array().map(Vec::len), Some(3));
}
