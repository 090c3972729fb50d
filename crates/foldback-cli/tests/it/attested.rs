//! Attestations on the command line: taken, kept elsewhere, and held against the store.

use crate::sandbox::{HARBOUR, NIGHT_TRAIN, Sandbox};
use insta::assert_snapshot;
use std::path::Path;

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry").path();
        let target = to.join(entry.file_name().expect("a name"));
        if entry.is_dir() {
            copy(&entry, &target);
        } else {
            std::fs::copy(&entry, &target).expect("a copy");
        }
    }
}

/// What differs from run to run: the store's id, keys and roots.
fn masked(text: &str) -> String {
    let words = text.split_inclusive(char::is_whitespace).map(|word| {
        let plain = word.trim_end();
        let id = plain.contains("store_");
        let secret = plain.len() >= 44 && !plain.contains('`') && !plain.contains('/');
        let base64 = plain.len() >= 40 && (plain.ends_with('=') || plain.contains('+'));
        let end = word.get(plain.len()..).unwrap_or_default();
        match (id, secret || base64) {
            (true, _) => format!("<store>{end}"),
            (_, true) => format!("<base64>{end}"),
            _ => word.to_owned(),
        }
    });
    words.collect()
}

#[test]
fn a_rolled_back_store_verifies_by_itself_and_not_against_what_was_attested() {
    let sandbox = Sandbox::replayed(HARBOUR);
    let mut told = String::new();
    let mut run = |arguments: &[&str], code| {
        let ran = sandbox.run(arguments).exits(code);
        told.push_str(&ran.text());
        told.push('\n');
        ran
    };
    let made = run(&["keys", "new", "audit.example.org", "audit.key"], 0);
    let signer = made.stdout.trim().to_owned();
    run(&["attest", "--key", "audit.key", "--out", "early.note"], 0);
    copy(&sandbox.path(".foldback"), &sandbox.path("copy"));
    sandbox.run(&["replay", NIGHT_TRAIN]).exits(0);
    run(&["attest", "--key", "audit.key", "--out", "late.note"], 0);
    let against = ["early.note", "late.note", "--signer"];
    let with = |first: &[&'static str]| -> Vec<String> {
        let all = first.iter().chain(&["verify", "--against"]).chain(&against);
        all.map(ToString::to_string)
            .chain([signer.clone()])
            .collect()
    };
    let whole = with(&[]);
    let whole: Vec<&str> = whole.iter().map(String::as_str).collect();
    run(&whole, 0);
    run(&["--store", "copy", "verify"], 0);
    let back = with(&["--store", "copy"]);
    let back: Vec<&str> = back.iter().map(String::as_str).collect();
    run(&back, 4);
    assert_snapshot!("rolled-back", masked(&told));
    let json: Vec<&str> = ["--json"].into_iter().chain(back).collect();
    let report = sandbox.run(&json).exits(4).json();
    assert_eq!(report["ok"], false);
    assert_eq!(report["attestations"][0]["holds"], true);
    assert_eq!(report["attestations"][1]["holds"], false);
    assert_eq!(report["attestations"][1]["signature_checked"], true);
}

#[test]
fn what_is_no_attestation_or_signed_by_another_is_refused() {
    let sandbox = Sandbox::replayed(NIGHT_TRAIN);
    for name in ["one", "two"] {
        sandbox.run(&["keys", "new", name, name]).exits(0);
    }
    let note = sandbox.run(&["attest", "--key", "one"]).exits(0).stdout;
    sandbox.write("note", &note);
    let events = note.lines().nth(1).expect("a count").to_owned();
    let (line, other) = (format!("\n{events}\n"), "\n7\n");
    sandbox.write("changed", note.replacen(&line, other, 1));
    sandbox.write("story", "Once upon a time\n");
    let signer = sandbox.run(&["keys", "show", "one"]).exits(0).stdout;
    sandbox.write("one.pub", &signer);
    let checked = ["verify", "--against", "note", "--signer", "one.pub"];
    sandbox.run(&checked).exits(0);
    // Without a key the statement alone is compared, and that is said.
    let unchecked = sandbox.run(&["verify", "--against", "note"]).exits(0);
    assert!(unchecked.stderr.contains("no signature was checked"));
    let mut told = String::new();
    for (arguments, code) in [
        (&["verify", "--against", "story"][..], 1),
        (&["verify", "--against", "absent"], 1),
        (
            &["verify", "--against", "changed", "--signer", "one.pub"],
            1,
        ),
        (&["verify", "--against", "note", "--signer", "nobody"], 1),
        (&["verify", "--signer", "one.pub"], 2),
        (&["attest", "--key", "story"], 1),
        (&["keys", "new", "two words", "three"], 1),
        (&["keys", "new", "one", "one"], 1),
    ] {
        told.push_str(&sandbox.run(arguments).exits(code).text());
        told.push('\n');
    }
    assert_snapshot!("refused-notes", told);
    let mode = std::fs::metadata(sandbox.path("one")).expect("the key");
    #[cfg(unix)]
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&mode.permissions()) & 0o777,
        0o600
    );
}
