//! Audit bundles on the command line, and the second verifier, which knows the page of the format alone.

use crate::sandbox::{HARBOUR, NIGHT_TRAIN, Ran, Sandbox, root};
use insta::assert_snapshot;
use std::process::Command;

/// Flips bytes of a bundle and counts those changes that the other verifier accepts.
const FLIPPING: &str = r"
import sys
sys.path.insert(0, sys.argv[1])
import verify_bundle as verifier
data = open(sys.argv[2], 'rb').read()
last = data.rfind(b'\n', 0, -1)
tried = accepted = 0
for at in list(range(0, last, 11)) + list(range(last, len(data))):
    changed = bytearray(data)
    changed[at] ^= 1 << (at % 7)
    tried += 1
    try:
        verifier.check(bytes(changed), None)
        accepted += 1
    except (verifier.Wrong, KeyError, TypeError, ValueError):
        pass
print(tried > 200, accepted)
";

/// Runs Python; none, and a loud word, where there is none.
fn python(sandbox: &Sandbox, arguments: &[&str]) -> Option<(Option<i32>, String)> {
    let ran = Command::new("python3")
        .args(arguments)
        .current_dir(sandbox.path(""))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output();
    match ran {
        Ok(output) => {
            let text = [output.stdout, output.stderr].concat();
            Some((
                output.status.code(),
                String::from_utf8_lossy(&text).into_owned(),
            ))
        }
        Err(error) => {
            eprintln!("SKIPPED: the verifier in Python, because python3 does not run: {error}");
            None
        }
    }
}

fn masked(ran: &Ran) -> String {
    let text = ran.text();
    let lines = text.lines().map(|line| {
        let line = if line.trim_start().starts_with("of store_") {
            "  of <store>"
        } else if line.trim_start().starts_with("head ") {
            "  head <hash>"
        } else {
            line
        };
        format!("{line}\n")
    });
    lines.collect()
}

#[test]
fn a_bundle_is_checked_without_the_store_and_by_another_program() {
    let sandbox = Sandbox::replayed(NIGHT_TRAIN);
    let key = sandbox.run(&["keys", "new", "audit.example.org", "key"]);
    sandbox.write("key.pub", &key.exits(0).stdout);
    sandbox
        .run(&["attest", "--key", "key", "--out", "note"])
        .exits(0);
    sandbox.run(&["import", HARBOUR]).exits(0);
    let mut told = String::new();
    let export = |name: &'static str, more: &[&'static str]| {
        let first = ["export", "audit", name, "--conversation", "conv_7e03a454"];
        [&first[..], more].concat()
    };
    for (arguments, code) in [
        (
            export("whole", &["--payloads", "sealed", "--attestation", "note"]),
            0,
        ),
        (vec!["audit", "whole", "--signer", "key.pub"], 0),
        (export("bare", &[]), 0),
        (vec!["audit", "bare"], 0),
        (export("bare", &[]), 1),
        (vec!["export", "audit", "other"], 2),
        (vec!["audit", "note"], 4),
        (vec!["audit", "bare", "--signer", "key.pub"], 4),
        (vec!["audit", "absent"], 1),
    ] {
        told.push_str(&masked(&sandbox.run(&arguments).exits(code)));
        told.push('\n');
    }
    assert_snapshot!("bundles", told);
    let report = sandbox.run(&["--json", "audit", "whole"]).exits(0).json();
    assert_eq!(report["schema"], "foldback.audit-check/1");
    assert_eq!(report["reproduced"], report["assemblies"]);
    // Nothing that was said stands in what is sealed.
    let whole = String::from_utf8(sandbox.read("whole")).expect("text");
    assert!(!whole.contains("Okafor"));

    let folder = root().join("docs/verifier");
    let script = folder.join("verify_bundle.py");
    let (script, folder) = (script.display().to_string(), folder.display().to_string());
    let head = report["head"].as_str().expect("a head");
    for (arguments, code, says) in [
        (&["whole", "key.pub"][..], 0, "signature checked"),
        (&["whole"], 0, head),
        (&["bare"], 0, "no attestation"),
        (&["bare", "key.pub"], 1, "it holds no attestation"),
        (&["note"], 1, "does NOT hold"),
    ] {
        let arguments: Vec<&str> = [script.as_str()].iter().chain(arguments).copied().collect();
        let Some((exit, text)) = python(&sandbox, &arguments) else {
            return;
        };
        assert_eq!(exit, Some(code), "{text}");
        assert!(text.contains(says), "{says}: {text}");
    }
    sandbox
        .run(&["erase", "--payload", "art_9ad13d26", "--yes"])
        .exits(0);
    sandbox
        .run(&export("erased", &["--payloads", "sealed"]))
        .exits(0);
    let (exit, text) = python(&sandbox, &[&script, "erased"]).expect("it ran before");
    assert_eq!(exit, Some(0), "{text}");
    assert!(text.contains("3 erased"), "{text}");
    let flips = ["-c", FLIPPING, &folder, "small"];
    sandbox.write("short.json", SHORT);
    let short = ["--store", "short", "import", "short.json"];
    sandbox.run(&short).exits(0);
    let small = ["--store", "short", "export", "audit", "small"];
    sandbox.run(&small).exits(0);
    let (exit, text) = python(&sandbox, &flips).expect("it ran before");
    assert_eq!((exit, text.trim()), (Some(0), "True 0"), "{text}");
}

const SHORT: &str = r#"[{"role":"user","content":"Hello"},{"role":"assistant","content":"Hi"}]"#;
