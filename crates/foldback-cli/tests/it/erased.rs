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

#[test]
fn what_is_kept_for_a_time_is_pruned_after_it_and_a_hold_is_respected() {
    let sandbox = Sandbox::replayed(NIGHT_TRAIN);
    let mut told = String::new();
    for (arguments, code) in [
        (
            &[
                "retain",
                "set",
                "art_9ad13d26",
                "prunable",
                "--because",
                "short-lived",
            ][..],
            0,
        ),
        (&["retain", "prune", "--older-than", "30000"], 0),
        (
            &[
                "retain",
                "set",
                "art_9ad13d26",
                "hold",
                "--because",
                "inquiry",
            ],
            0,
        ),
        (&["erase", "--payload", "art_9ad13d26", "--yes"], 1),
        (&["retain", "prune", "--older-than", "0", "--yes"], 0),
        (&["retain", "set", "art_9ad13d26", "for-ever"], 2),
    ] {
        let ran = sandbox.run(arguments).exits(code).text();
        let lines = ran
            .lines()
            .filter(|line| !line.starts_with("prunable from"));
        told.extend(lines.flat_map(|line| [line, "\n"]));
        told.push('\n');
    }
    assert_snapshot!("retained", told);
    sandbox
        .run(&["retain", "set", "art_9ad13d26", "prunable"])
        .exits(0);
    let prune = ["--json", "retain", "prune", "--older-than", "0", "--yes"];
    let report = sandbox.run(&prune).exits(0).json();
    assert_eq!(
        (&report["destroyed"], &report["kept"]),
        (&2.into(), &1.into())
    );
    sandbox.run(&["verify"]).exits(0);
}
