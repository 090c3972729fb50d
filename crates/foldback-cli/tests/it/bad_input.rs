//! Bad input: one clear message that names the place and the next step, the right exit code, and
//! nothing lost.

use crate::sandbox::{HARBOUR, NIGHT_TRAIN, Sandbox, masked};
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Gathers the outcomes of commands into one text.
fn outcomes(sandbox: &Sandbox, code: i32, commands: &[&[&str]]) -> String {
    let mut out = String::new();
    for arguments in commands {
        let ran = sandbox.run(arguments).exits(code);
        let _ = writeln!(out, "{}", ran.text());
    }
    out
}

#[test]
fn files_that_are_no_transcripts() {
    let sandbox = Sandbox::new();
    sandbox.write("plain.txt", "hello world\n");
    sandbox.write("other.json", "{\"a\": 1}\n");
    sandbox.write("empty.jsonl", "");
    sandbox.write("folder/notes.txt", "");
    sandbox.write("project/session.jsonl", "");
    let whole = sandbox.read(NIGHT_TRAIN);
    sandbox.write("cut.json", &whole[..3_000]);
    sandbox.write("bytes.json", [0xff, 0xfe, 0x00]);
    let commands: &[&[&str]] = &[
        &["import", "plain.txt"],
        &["import", "other.json"],
        &["import", "empty.jsonl"],
        &["import", "folder"],
        &["import", "project"],
        &["import", "missing.json"],
        &["import", "cut.json"],
        &["import", "bytes.json"],
        &["--json", "import", "other.json"],
    ];
    assert_snapshot!("no-transcripts", outcomes(&sandbox, 1, commands));
    // A file that does not read keeps none of the others out.
    let ran = sandbox.run(&["import", NIGHT_TRAIN, "cut.json"]).exits(1);
    assert!(ran.stdout.contains("81 new events"), "{}", ran.text());
    sandbox.run(&["verify"]).exits(0);
}

#[test]
fn lines_that_are_damaged_are_kept_and_told() {
    let sandbox = Sandbox::new();
    let whole = String::from_utf8(sandbox.read(HARBOUR)).expect("text");
    let mut lines: Vec<&str> = whole.lines().collect();
    lines.insert(5, "42");
    lines.insert(6, "\"massive error\"");
    lines.insert(9, "{\"type\": \"user\", \"uu");
    let last = lines.pop().expect("a line");
    let cut: String = last.chars().take(last.chars().count() / 2).collect();
    let text = format!("{}\n{cut}", lines.join("\n"));
    sandbox.write("odd.jsonl", text);
    assert_snapshot!(
        "damaged-lines",
        sandbox.run(&["import", "odd.jsonl"]).exits(0).text()
    );
    let graph = sandbox.run(&["graph"]).exits(0);
    let findings: Vec<&str> = graph
        .stdout
        .lines()
        .filter(|line| line.contains(" ! "))
        .collect();
    assert_snapshot!("damaged-lines-findings", findings.join("\n"));
    sandbox.run(&["verify"]).exits(0);
}

#[test]
fn calls_and_results_that_do_not_pair() {
    let sandbox = Sandbox::new();
    let mut session: Value = serde_json::from_slice(&sandbox.read(NIGHT_TRAIN)).expect("JSON");
    let messages = session["messages"].as_array_mut().expect("messages");
    let mut calls = messages
        .iter_mut()
        .filter(|message| message["tool_calls"].is_array());
    // The second call takes the id of the first, and so does its result.
    calls.nth(1).expect("a call")["tool_calls"][0]["id"] = json!("call_0001");
    let mut results = messages
        .iter_mut()
        .filter(|message| message["role"] == "tool");
    results.nth(1).expect("a result")["tool_call_id"] = json!("call_0001");
    messages.push(json!({"role": "tool", "tool_call_id": "call_9999", "content": "who asked?"}));
    let open = json!({"id": "call_7777", "type": "function",
        "function": {"name": "get_menu", "arguments": "{}"}});
    messages.push(json!({"role": "assistant", "content": null, "tool_calls": [open]}));
    sandbox.write("odd.json", session.to_string());
    let ran = sandbox.run(&["replay", "odd.json"]).exits(0);
    assert!(ran.stdout.contains("verified: "), "{}", ran.text());
    assert_snapshot!(
        "unpaired",
        sandbox.run(&["import", "odd.json"]).exits(0).text()
    );
    // The open call is shown as open, and a provider still takes the request.
    let open = sandbox.run(&["show", "call_7777"]).exits(0);
    assert!(
        open.stdout.contains("status         open"),
        "{}",
        open.text()
    );
    let request = sandbox.run(&["assemble"]).exits(0).json();
    let text = request.to_string();
    assert!(
        text.contains("call_7777") && !text.contains("call_9999"),
        "{text}"
    );
}

#[test]
fn names_that_name_nothing_or_too_much() {
    let sandbox = Sandbox::replayed(NIGHT_TRAIN);
    let one: &[&[&str]] = &[
        &["graph", "--at", "9999"],
        &["graph", "--at", "0"],
        &["log", "--at", "100000"],
        &["transcript", "nothing"],
        &["show", "zz"],
        &["show", "art_"],
        &["explain", "asm_"],
        &["explain", "asm_zzzz"],
        &["--json", "show", "zz"],
    ];
    assert_snapshot!("bad-names", outcomes(&sandbox, 1, one));
    sandbox.run(&["import", HARBOUR]).exits(0);
    assert_snapshot!(
        "ambiguous-conversation",
        outcomes(&sandbox, 1, &[&["log", "conv_"]])
    );
    let two: &[&[&str]] = &[
        &["log"],
        &["transcript", "conv_7e", "--branch", "msg_94280e50"],
        &["replay"],
        &["replay", "--all", "--conversation", "conv_7e"],
        &["import", "--from", "other", NIGHT_TRAIN],
        &["--json", "replay"],
    ];
    assert_snapshot!("usage", outcomes(&sandbox, 2, two));
}

#[test]
fn a_policy_with_a_typo_decides_nothing() {
    let sandbox = Sandbox::new();
    let text = "schema = 1\nname = \"mine\"\n[[gate]]\nid = \"a\"\neffekt = \"permit\"\n";
    sandbox.write("typo.toml", text);
    assert_snapshot!(
        "policy-typo",
        outcomes(&sandbox, 3, &[&["policy", "check", "typo.toml"]])
    );
    let replay: &[&[&str]] = &[&["replay", NIGHT_TRAIN, "--policy", "typo.toml"]];
    assert_snapshot!("policy-typo-replay", outcomes(&sandbox, 1, replay));
    assert!(!sandbox.path(".foldback").exists());
}

#[test]
fn stores_that_do_not_open() {
    let sandbox = Sandbox::new();
    let none: &[&[&str]] = &[
        &["log"],
        &["--json", "verify"],
        &["--store", "fixtures", "log"],
    ];
    assert_snapshot!("no-store", outcomes(&sandbox, 1, none));
    sandbox.write("full/of/files.txt", "x");
    let foreign: &[&[&str]] = &[&["--store", "full", "import", NIGHT_TRAIN]];
    assert_snapshot!("foreign-folder", outcomes(&sandbox, 1, foreign));
    sandbox.run(&["import", NIGHT_TRAIN]).exits(0);
    let store = String::from_utf8(sandbox.read(".foldback/STORE")).expect("text");
    let newer = store.replace("format 1\n", "format 2\n");
    assert_ne!(newer, store);
    sandbox.write(".foldback/STORE", newer);
    let newer: &[&[&str]] = &[&["log"], &["import", NIGHT_TRAIN], &["--json", "verify"]];
    assert_snapshot!("newer-store", outcomes(&sandbox, 4, newer));
    sandbox.write(".foldback/STORE", store);
    sandbox.run(&["verify"]).exits(0);
}

#[test]
fn a_missing_key_hides_content_and_refuses_more() {
    let sandbox = Sandbox::replayed(NIGHT_TRAIN);
    let keys = sandbox.path(".foldback/vault/keys");
    for entry in std::fs::read_dir(&keys).expect("keys") {
        let path = entry.expect("an entry").path();
        if path.file_name().is_some_and(|name| name != "master.key") {
            std::fs::remove_file(path).expect("the key is removed");
        }
    }
    let shown = sandbox.run(&["transcript", "--at", "6"]).exits(0);
    assert_snapshot!("missing-key", shown.text());
    let refused: &[&[&str]] = &[&["import", HARBOUR]];
    assert_snapshot!("missing-key-import", outcomes(&sandbox, 1, refused));
}

#[test]
fn a_full_disk_under_the_answer_is_a_failure() {
    let full = std::path::Path::new("/dev/full");
    if !full.exists() {
        eprintln!("SKIPPED: there is no /dev/full here");
        return;
    }
    let sandbox = Sandbox::replayed(NIGHT_TRAIN);
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(full)
        .expect("it opens");
    let output = sandbox
        .command(&["graph"])
        .stdout(file)
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        text.starts_with("error: cannot write the answer: "),
        "{text}"
    );
}

#[test]
fn a_flipped_byte_is_placed() {
    let sandbox = Sandbox::replayed(NIGHT_TRAIN);
    let segment = sandbox.segment();
    let mut bytes = std::fs::read(&segment).expect("the segment");
    let used = bytes.iter().rposition(|byte| *byte != 0).expect("bytes");
    bytes[used / 2] ^= 1;
    std::fs::write(&segment, &bytes).expect("written");
    let ran = sandbox.run(&["verify"]).exits(4);
    let text = masked(&ran.text(), &["is damaged at byte "]);
    assert_snapshot!("flipped-byte", text);
    let json = sandbox.run(&["--json", "verify"]).exits(4);
    assert!(
        json.stderr.contains("\"code\":\"FB0004\""),
        "{}",
        json.text()
    );
    let pack = sandbox.path(".foldback/vault/packs/00000001.pack");
    bytes[used / 2] ^= 1;
    std::fs::write(&segment, &bytes).expect("written");
    sandbox.run(&["verify"]).exits(0);
    let mut bytes = std::fs::read(&pack).expect("the pack");
    let at = bytes.len() / 2;
    bytes[at] ^= 1;
    std::fs::write(&pack, &bytes).expect("written");
    let ran = sandbox.run(&["verify"]).exits(4);
    assert!(
        ran.stdout
            .contains("problem: vault in .foldback/vault/packs/"),
        "{}",
        ran.text()
    );
    assert!(ran.stdout.contains("NOT verified"), "{}", ran.text());
}

#[test]
fn content_cannot_steer_the_terminal_that_shows_it() {
    let sandbox = Sandbox::new();
    let hostile = r#"[{"role":"user","content":"bell \u0007 title \u001b]0;owned\u0007 back\rover \u202e"},{"role":"assistant","content":"so"}]"#;
    sandbox.write("hostile.json", hostile);
    let mut told = sandbox.run(&["replay", "hostile.json"]).exits(0).text();
    for arguments in [&["transcript"][..], &["conversations"]] {
        told.push_str(&sandbox.run(arguments).exits(0).text());
    }
    let steers = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
    assert!(!told.contains(steers), "{told:?}");
    assert!(told.contains("bell ␇ title ␛]0;owned␇ back␍over"), "{told}");
    // Programs get it as it was said.
    let report = sandbox.run(&["--json", "transcript"]).exits(0).json();
    let text = report.to_string();
    assert!(text.contains(r"\u001b]0;owned"), "{text}");
}
