//! What outlives a killed import, a lost cache, a busy store and a closed pipe.

use crate::sandbox::{HARBOUR, NIGHT_TRAIN, Sandbox};
use serde_json::json;
use std::io::Read as _;
use std::io::{BufRead as _, BufReader};

/// Writes a long conversation with many calls.
fn long_transcript() -> String {
    let mut messages = vec![json!({"role": "system", "content": "You count."})];
    for turn in 0..1_200 {
        let id = format!("call_{turn}");
        let rows: Vec<_> = (0..12)
            .map(|row| json!({"row": row, "turn": turn, "value": row * turn, "note": "counted"}))
            .collect();
        let arguments = json!({"turn": turn}).to_string();
        messages.push(json!({"role": "user", "content": format!("Count turn {turn}.")}));
        messages.push(
            json!({"role": "assistant", "content": null, "tool_calls": [{
            "id": id, "type": "function",
            "function": {"name": "count", "arguments": arguments}}]}),
        );
        let result = json!(rows).to_string();
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": result}));
        messages.push(json!({"role": "assistant", "content": format!("Turn {turn} is counted.")}));
    }
    json!({"model": "gpt-4o", "messages": messages}).to_string()
}

/// Asks how many events the one conversation has, as long as there is a store to ask.
fn events(sandbox: &Sandbox) -> u64 {
    let ran = sandbox.run(&["--json", "conversations"]);
    if ran.code != Some(0) {
        return 0;
    }
    let json = ran.json();
    let rows = json["conversations"].as_array().expect("rows");
    rows.iter().filter_map(|row| row["events"].as_u64()).sum()
}

#[test]
fn a_killed_import_is_completed_by_the_next() {
    let sandbox = Sandbox::new();
    sandbox.write("long.json", long_transcript());
    let mut child = sandbox.spawn(&["--no-progress", "import", "long.json"]);
    // A reader beside the writer sees whole batches arrive; the kill comes once there is one.
    let seen = loop {
        let seen = events(&sandbox);
        if seen > 0 || child.try_wait().expect("it can be asked").is_some() {
            break seen;
        }
    };
    child.kill().expect("it is killed, or has ended");
    child.wait().expect("it is gone");
    let kept = sandbox.run(&["verify"]);
    assert_eq!(kept.code, Some(0), "{}", kept.text());
    let after = events(&sandbox);
    assert!(
        after >= seen,
        "{after} events after the kill, {seen} were seen before it"
    );
    sandbox.run(&["import", "long.json"]).exits(0);
    let again = sandbox
        .run(&["--json", "import", "long.json"])
        .exits(0)
        .json();
    assert_eq!(again["conversations"][0]["events"], 0);
    assert_eq!(again["conversations"][0]["messages"], 2_401);
    sandbox.run(&["verify"]).exits(0);
    let whole = Sandbox::new();
    whole.write("long.json", long_transcript());
    whole.run(&["import", "long.json"]).exits(0);
    // Only the note that the file was imported may be there twice.
    let difference = events(&sandbox) - events(&whole);
    assert!(difference <= 1, "{difference}");
    let transcript = |sandbox: &Sandbox| {
        let text = sandbox.run(&["transcript"]).exits(0).stdout;
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        lines.collect::<Vec<_>>().join("\n")
    };
    assert_eq!(transcript(&sandbox), transcript(&whole));
}

#[test]
fn the_cache_changes_no_answer() {
    let sandbox = Sandbox::replayed(HARBOUR);
    let commands: &[&[&str]] = &[
        &["conversations"],
        &["log"],
        &["graph"],
        &["transcript"],
        &["verify"],
        &["replay", "--all"],
    ];
    let answers = || -> Vec<_> {
        commands
            .iter()
            .map(|command| sandbox.run(command))
            .collect()
    };
    let before = answers();
    assert!(before.iter().all(|ran| ran.code == Some(0)), "{before:?}");
    let cache = sandbox.path(".foldback/cache");
    assert!(cache.exists());
    std::fs::remove_dir_all(&cache).expect("the cache is removed");
    assert_eq!(answers(), before);
}

#[test]
fn a_store_that_is_written_to_is_locked_for_writers_alone() {
    let sandbox = Sandbox::new();
    sandbox.run(&["import", NIGHT_TRAIN]).exits(0);
    // It holds the store open for as long as its input stays open.
    let mut writer = sandbox.spawn(&["import", "-"]);
    let refused = loop {
        let ran = sandbox.run(&["import", HARBOUR]);
        if ran.code == Some(1) {
            break ran;
        }
        if writer.try_wait().expect("it can be asked").is_some() {
            // Ours was quicker and held the lock: the other one has given up.
            writer = sandbox.spawn(&["import", "-"]);
        }
    };
    insta::assert_snapshot!("locked", refused.text());
    sandbox.run(&["conversations"]).exits(0);
    sandbox.run(&["verify"]).exits(0);
    drop(writer.stdin.take());
    writer.wait().expect("it ends");
    sandbox.run(&["import", HARBOUR]).exits(0);
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let sandbox = Sandbox::replayed(NIGHT_TRAIN);
    for arguments in [&["graph"][..], &["--json", "log"], &["policy", "show"]] {
        let mut child = sandbox.spawn(arguments);
        drop(child.stdout.take());
        let mut stderr = String::new();
        let mut pipe = child.stderr.take().expect("stderr");
        pipe.read_to_string(&mut stderr).expect("it is read");
        let status = child.wait().expect("it ends");
        assert_eq!(status.code(), Some(0), "{arguments:?}: {stderr}");
        assert_eq!(stderr, "", "{arguments:?}");
    }
}

#[test]
fn a_reader_follows_what_another_process_writes() {
    let sandbox = Sandbox::new();
    let said = |count: usize| {
        let said = (0..count).map(|n| format!(r#"{{"role":"user","content":"message {n}"}}"#));
        format!("[{}]", said.collect::<Vec<_>>().join(","))
    };
    sandbox.write("talk.json", said(2));
    sandbox.run(&["import", "talk.json"]).exits(0);
    let mut follower = sandbox.spawn(&["--json", "log", "--follow"]);
    let lines = BufReader::new(follower.stdout.take().expect("a pipe")).lines();
    let mut seen = 0;
    let mut grown = false;
    for line in lines {
        let row: serde_json::Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        seen += u32::from(row["kind"] == "message-recorded");
        if seen == 2 && !grown {
            sandbox.write("talk.json", said(5));
            sandbox.run(&["import", "talk.json"]).exits(0);
            grown = true;
        }
        if seen == 5 {
            break;
        }
    }
    assert_eq!(seen, 5);
    follower.kill().expect("it runs still");
    follower.wait().expect("it is gone");
}

#[test]
fn the_master_key_is_changed_and_content_reads_under_the_new_one_alone() {
    let sandbox = Sandbox::replayed(NIGHT_TRAIN);
    let (one, two) = ("1".repeat(64), "2".repeat(64));
    let (old, new) = ("FOLDBACK_MASTER_KEY", "FOLDBACK_NEW_MASTER_KEY");
    let own = sandbox.run(&["keys", "rotate"]).exits(0);
    assert!(
        own.stdout
            .contains("rotated: 2 keys of accounts sealed anew"),
        "{}",
        own.text()
    );
    sandbox
        .run_with(&["keys", "rotate"], &[(new, &one)])
        .exits(0);
    sandbox.run(&["transcript"]).exits(1);
    sandbox.run_with(&["transcript"], &[(old, &one)]).exits(0);
    let both = [(old, one.as_str()), (new, two.as_str())];
    let report = sandbox
        .run_with(&["--json", "keys", "rotate"], &both)
        .exits(0)
        .json();
    assert_eq!(report["schema"], "foldback.rotate/1");
    assert_eq!(report["keys"], 2);
    let refused = sandbox.run_with(&["transcript"], &[(old, &one)]).exits(1);
    assert!(refused.stderr.contains("FB0005") || refused.stderr.contains("key"));
    let verified = sandbox.run_with(&["verify"], &[(old, &two)]).exits(0);
    assert!(verified.stdout.contains("16 of 16"), "{}", verified.text());
    let bad = sandbox
        .run_with(&["keys", "rotate"], &[(new, "short")])
        .exits(2);
    assert!(
        bad.stderr
            .contains("FOLDBACK_NEW_MASTER_KEY is not 64 hexadecimal digits")
    );
}
