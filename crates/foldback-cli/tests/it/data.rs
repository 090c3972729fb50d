//! Real transcripts, where they are at hand: they are not part of the repository.

use crate::sandbox::{Sandbox, root};
use std::path::{Path, PathBuf};

fn shared(name: &str) -> Option<PathBuf> {
    let path = root().join("../shared/data").join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("SKIPPED: {} is not here", path.display());
    None
}

fn sessions(folder: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sessions(&path, out);
        } else {
            out.push(path);
        }
    }
}

/// Replays files twice and gives the first report: the second must add nothing.
fn replay(files: &[PathBuf]) -> serde_json::Value {
    let sandbox = Sandbox::new();
    let files: Vec<String> = files
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    let mut arguments = vec!["--json", "replay"];
    arguments.extend(files.iter().map(String::as_str));
    let report = sandbox.run(&arguments).exits(0).json();
    let verified = &report["verified"];
    assert_eq!(verified["ok"], true, "{verified}");
    assert_eq!(verified["reproduced"], verified["assemblies"]);
    assert_eq!(verified["assemblies"], report["totals"]["requests"]);
    let mut arguments = vec!["--json", "import"];
    arguments.extend(files.iter().map(String::as_str));
    let again = sandbox.run(&arguments).exits(0).json();
    for row in again["conversations"].as_array().expect("rows") {
        assert_eq!(row["events"], 0, "{row}");
    }
    report
}

fn permille(report: &serde_json::Value) -> u64 {
    let total = |key: &str| report["totals"][key].as_u64().expect("a count");
    total("assembled_tokens") * 1_000 / total("replay_tokens")
}

#[test]
fn an_airline_episode_replays_and_verifies() {
    let Some(file) = shared("openai-chat-taubench/gpt-4o-airline-one.json") else {
        return;
    };
    let report = replay(&[file]);
    assert!(
        report["totals"]["requests"].as_u64() > Some(5),
        "{}",
        report["totals"]
    );
}

#[test]
fn all_claude_code_sessions_replay_and_verify() {
    let mut files = Vec::new();
    for folder in ["claude-code-jsonl", "copilot-chat-sessions"] {
        let Some(folder) = shared(folder) else { return };
        sessions(&folder, &mut files);
    }
    assert!(files.len() > 15, "{files:?}");
    let report = replay(&files);
    assert!(permille(&report) <= 600, "{}", report["totals"]);
}
