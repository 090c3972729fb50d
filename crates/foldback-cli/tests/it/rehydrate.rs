//! Exact bytes behind handles, and requests that cannot be answered as they stand: the reason is
//! told, and nothing is silently bent.

use crate::sandbox::{HARBOUR, NIGHT_TRAIN, Sandbox, masked};
use insta::assert_snapshot;

/// The artifacts that are out of the newest request for a reason.
fn out_as(sandbox: &Sandbox, reason: &str) -> Vec<String> {
    let told = sandbox.run(&["--json", "explain", "last"]).exits(0).json();
    let rows = told["records"].as_array().expect("records").iter();
    let rows = rows.filter(|row| row["kind"] == "artifact" && row["reason"] == reason);
    rows.map(|row| row["id"].as_str().expect("an id").to_owned())
        .collect()
}

fn first(sandbox: &Sandbox, reason: &str) -> String {
    out_as(sandbox, reason).swap_remove(0)
}

#[test]
fn a_handle_gives_the_exact_bytes() {
    let sandbox = Sandbox::replayed(NIGHT_TRAIN);
    let source = String::from_utf8(sandbox.read(NIGHT_TRAIN)).expect("text");
    let mut given = 0;
    for id in out_as(&sandbox, "compacted") {
        let short: String = id.chars().take(12).collect();
        let ran = sandbox.run(&["rehydrate", &short]).exits(0);
        assert_eq!(ran.stderr, "", "{}", ran.text());
        let report = sandbox.run(&["--json", "rehydrate", &id]).exits(0).json();
        assert_eq!(report["schema"], "foldback.rehydrate/1");
        assert_eq!(report["text"], ran.stdout);
        assert_eq!(report["bytes"], ran.stdout.len());
        let line = ran.stdout.lines().next().unwrap_or_default();
        let quoted = serde_json::to_string(line).expect("JSON");
        assert!(source.contains(quoted.trim_matches('"')), "{line}");
        given += 1;
    }
    assert!(given > 2, "{given}");
    // Nothing was recorded.
    let before = sandbox.run(&["--json", "verify"]).exits(0).json();
    sandbox
        .run(&["rehydrate", &first(&sandbox, "compacted")])
        .exits(0);
    let after = sandbox.run(&["--json", "verify"]).exits(0).json();
    assert_eq!(before["events"], after["events"]);
}

#[test]
fn a_handle_that_policy_keeps_back_says_by_which_rule() {
    let sandbox = Sandbox::new();
    let import = ["import", HARBOUR, "--privacy", "secret-adjacent"];
    sandbox.run(&import).exits(0);
    sandbox.run(&["replay", "--all"]).exits(0);
    let secret = first(&sandbox, "privacy-route");
    let mut text = sandbox.run(&["rehydrate", &secret]).exits(3).text();
    text.push_str(
        &sandbox
            .run(&["assemble", "--exact", &secret])
            .exits(0)
            .stderr,
    );
    let report = sandbox
        .run(&["--json", "assemble", "--exact", &secret])
        .exits(0)
        .json();
    assert_eq!(report["withheld"][0]["reason"], "privacy-route");

    let sandbox = Sandbox::new();
    let policy = sandbox.run(&["policy", "show"]).exits(0).stdout;
    let policy = policy.replace("bytes-max = 131072", "bytes-max = 10");
    assert!(policy.contains("bytes-max = 10"), "{policy}");
    sandbox.write("small.toml", policy);
    let replay = ["replay", NIGHT_TRAIN, "--policy", "small.toml"];
    sandbox.run(&replay).exits(0);
    let large = first(&sandbox, "compacted");
    text.push_str(&sandbox.run(&["rehydrate", &large]).exits(3).text());
    assert_snapshot!("kept-back", masked(&text, &["asm_"]));
}

#[test]
fn requests_that_cannot_be_answered_are_refused() {
    let sandbox = Sandbox::replayed(HARBOUR);
    let summarized = out_as(&sandbox, "summarized").swap_remove(0);
    let mut text = String::new();
    let commands: [(&[&str], i32); 8] = [
        (&["assemble", "--participant", "part_ffffffff"], 1),
        (&["assemble", "--branch", "branch_ffffffff"], 1),
        (&["assemble", "--exact", "art_ffffffff"], 1),
        (&["assemble", "--budget", "1"], 3),
        (&["rehydrate", "art_ffffffff"], 1),
        (&["rehydrate", "br_9fb7e047"], 2),
        (&["rehydrate", &summarized], 3),
        (&["rehydrate", &summarized, "--in", "asm_ffffffff"], 1),
    ];
    for (command, code) in commands {
        text.push_str(&sandbox.run(command).exits(code).text());
        text.push('\n');
    }
    assert_snapshot!("refused-requests", masked(&text, &["asm_"]));
    sandbox.run(&["verify"]).exits(0);
}
