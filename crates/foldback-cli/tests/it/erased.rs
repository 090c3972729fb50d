//! Erasure on the command line: told first, done on demand, and nothing that was decided is lost.

use crate::sandbox::{HARBOUR, NIGHT_TRAIN, Sandbox};
use insta::assert_snapshot;

#[test]
fn an_erasure_is_told_before_it_is_done_and_leaves_all_decisions() {
    let sandbox = Sandbox::replayed(NIGHT_TRAIN);
    sandbox
        .run(&["import", HARBOUR, "--account", "mia"])
        .exits(0);
    sandbox.run(&["replay", "--all"]).exits(0);
    let mut told = String::new();
    for (arguments, code) in [
        (&["erase", "--payload", "art_9ad13d26"][..], 0),
        (
            &[
                "erase",
                "--payload",
                "art_9ad13d26",
                "--because",
                "gdpr-17",
                "--yes",
            ],
            0,
        ),
        (&["erase", "--account", "mia"], 0),
        (
            &["erase", "--account", "mia", "--because", "gdpr-17", "--yes"],
            0,
        ),
        (&["verify"], 0),
        (&["conversations"], 0),
        (&["import", HARBOUR, "--account", "mia"], 1),
        (&["erase", "--account", "nobody", "--yes"], 1),
        (
            &[
                "erase",
                "--payload",
                "art_9ad13d26",
                "--because",
                "two words",
            ],
            2,
        ),
        (&["erase", "--yes"], 2),
    ] {
        told.push_str(&sandbox.run(arguments).exits(code).text());
        told.push('\n');
    }
    assert_snapshot!("told-and-done", told);
    let shown = sandbox.run(&["show", "art_9ad13d26"]).exits(0).stdout;
    assert!(shown.contains("[erased]"), "{shown}");
    // Why the record was out is still told: the reason is no content.
    let why = ["explain", "asm_9a60f530", "art_9ad13d26"];
    let why = sandbox.run(&why).exits(0).stdout;
    assert!(why.contains("supersedes it"), "{why}");
    let again = ["--json", "erase", "--account", "mia", "--yes"];
    let report = sandbox.run(&again).exits(0).json();
    assert_eq!(report["schema"], "foldback.erase/1");
    assert_eq!(report["done"], true);
    assert_eq!(report["events"], 0);
    assert_eq!(report["destroyed"], 0);
}
