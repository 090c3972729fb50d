//! The readers and writers on real files, where those are at hand.

use crate::rules;
use foldback_event::CallStatus;
use foldback_trace::{
    Content, Prompt, PromptCall, PromptResult, SourceBody, SourceConversation, SourceFile, Speaker,
    Turn, anthropic, detect, openai, read,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Gives the folder of real files, or says aloud that it is not there.
pub(crate) fn folder() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: {} is not there", folder.display());
    None
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .collect();
    paths.sort();
    paths
}

fn read_path(path: &Path) -> Vec<SourceConversation> {
    let mut files = vec![(
        path.to_string_lossy().into_owned(),
        std::fs::read(path).unwrap(),
    )];
    let beside = path.with_extension("").join("subagents");
    if beside.is_dir() {
        for path in files_in(&beside) {
            files.push((
                path.to_string_lossy().into_owned(),
                std::fs::read(&path).unwrap(),
            ));
        }
    }
    let format = detect(&files[0].1, &files[0].0).unwrap();
    let files: Vec<SourceFile<'_>> = files
        .iter()
        .enumerate()
        .map(|(index, (name, bytes))| SourceFile {
            name,
            bytes,
            companion: index > 0,
        })
        .collect();
    read(format, &files).unwrap()
}

/// All sessions at hand, by path.
fn sessions(folder: &Path) -> Vec<(PathBuf, SourceConversation)> {
    [
        "claude-code-jsonl",
        "claude-code-jsonl/copilot-chat",
        "copilot-chat-sessions",
    ]
    .iter()
    .flat_map(|name| files_in(&folder.join(name)))
    .flat_map(|path| {
        read_path(&path)
            .into_iter()
            .map(move |one| (path.clone(), one))
    })
    .collect()
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    runs: usize,
    calls: usize,
    results: usize,
    errors: usize,
    orphans: usize,
}

fn counts<'a>(all: impl Iterator<Item = &'a SourceConversation>) -> Counts {
    let mut counts = Counts::default();
    for record in all.flat_map(|one| &one.records) {
        match &record.body {
            SourceBody::RunStarted { .. } => counts.runs += 1,
            SourceBody::CallRequested { .. } => counts.calls += 1,
            SourceBody::Result { call, is_error, .. } => {
                counts.results += 1;
                counts.errors += usize::from(*is_error);
                counts.orphans += usize::from(call.is_none());
            }
            _ => {}
        }
    }
    counts
}

/// Counts by plain JSON what the sessions hold, apart from the reader.
fn counted_plainly(paths: &BTreeSet<PathBuf>) -> Counts {
    let mut counts = Counts::default();
    for path in paths {
        let text = std::fs::read_to_string(path).unwrap();
        let lines: Vec<serde_json::Value> = match serde_json::from_str::<serde_json::Value>(&text) {
            Ok(whole) if whole.get("loglines").is_some() => {
                whole["loglines"].as_array().unwrap().clone()
            }
            _ => text
                .lines()
                .filter_map(|line| serde_json::from_str(line).ok())
                .collect(),
        };
        let mut answers = BTreeSet::new();
        for (index, line) in lines.iter().enumerate() {
            if line["type"] == "assistant" && line["message"]["model"] != "<synthetic>" {
                let id = line["message"]["id"].as_str();
                answers.insert(id.map_or_else(|| index.to_string(), str::to_owned));
            }
            for block in line["message"]["content"].as_array().into_iter().flatten() {
                counts.calls += usize::from(block["type"] == "tool_use");
                counts.results += usize::from(block["type"] == "tool_result");
                counts.errors += usize::from(block["is_error"] == true);
            }
        }
        counts.runs += answers.len();
    }
    counts
}

#[test]
fn sessions_hold_what_a_plain_count_finds() {
    let Some(folder) = folder() else { return };
    let all = sessions(&folder);
    let mut paths: BTreeSet<PathBuf> = all.iter().map(|(path, _)| path.clone()).collect();
    let beside = folder.join("claude-code-jsonl/copilot-chat");
    for entry in std::fs::read_dir(beside)
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        if entry.is_dir() {
            paths.extend(files_in(&entry.join("subagents")));
        }
    }
    assert_eq!(paths.len(), 17, "files of sessions at hand");
    let read = counts(all.iter().map(|(_, one)| one));
    assert_eq!(read, counted_plainly(&paths));
    assert_eq!(read.orphans, 0);
    println!("{read:?}");
}

#[test]
fn sessions_are_read_without_false_branches_and_with_their_agents() {
    let Some(folder) = folder() else { return };
    for (path, one) in sessions(&folder) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let forks = one
            .branches
            .iter()
            .skip(1)
            .filter(|branch| !branch.sidechain)
            .count();
        assert_eq!(forks, 0, "{name}");
        let agents = one
            .branches
            .iter()
            .filter(|branch| branch.sidechain)
            .count();
        let expected = match name.as_str() {
            "ccv_fe5e1c67-53e7-4862-81ae-d0e013e3270b.jsonl" => 5,
            "50a7220d-7250-46f3-b38e-b716ce25032e.jsonl" => 1,
            _ => 0,
        };
        assert_eq!(agents, expected, "{name}");
        let unlinked = one
            .findings
            .iter()
            .filter(|f| f.code == "unlinked-sidechain")
            .count();
        assert_eq!(unlinked, 0, "{name}");
        check_model(&one);
    }
}

/// Checks what the model of sources promises.
pub(crate) fn check_model(one: &SourceConversation) {
    let mut keys = BTreeSet::new();
    let mut calls = BTreeMap::new();
    let mut runs = BTreeSet::new();
    for (index, record) in one.records.iter().enumerate() {
        assert!(keys.insert(&record.key), "`{}` twice", record.key);
        assert!(record.participant < one.participants.len());
        let branch = &one.branches[record.branch];
        assert!(branch.parent.is_none_or(|(_, after)| after < index));
        let run = match &record.body {
            SourceBody::RunStarted { run, .. } => {
                assert!(runs.insert(run.clone()), "`{run}` started twice");
                None
            }
            SourceBody::Message { run, .. } | SourceBody::CallRequested { run, .. } => run.clone(),
            SourceBody::RunFinished { run, .. } => Some(run.clone()),
            _ => None,
        };
        if let Some(run) = run {
            assert!(runs.contains(&run), "`{run}` did not start");
        }
        match &record.body {
            SourceBody::CallRequested { call, .. } => {
                assert_eq!(*call, record.key);
                calls.insert(call.clone(), false);
            }
            SourceBody::Result {
                call: Some(call), ..
            } => {
                assert_eq!(calls.insert(call.clone(), true), Some(false), "`{call}`");
            }
            _ => {}
        }
    }
}

#[test]
fn every_result_of_the_airline_episodes_is_paired() {
    let Some(folder) = folder() else { return };
    let all = read_path(&folder.join("openai-chat-taubench/gpt-4o-airline-first120.json"));
    assert_eq!(all.len(), 120);
    let keys: BTreeSet<&String> = all.iter().map(|one| &one.key).collect();
    assert_eq!(keys.len(), 120);
    let read = counts(all.iter());
    let expected = Counts {
        runs: 1481,
        calls: 695,
        results: 695,
        errors: 0,
        orphans: 0,
    };
    assert_eq!(read, expected);
    all.iter().for_each(check_model);
    let mut failed = 0;
    for record in all.iter().flat_map(|one| &one.records) {
        if let SourceBody::Result {
            status, content, ..
        } = &record.body
        {
            assert_eq!(
                *status == CallStatus::Failed,
                content.starts_with(b"Error:")
            );
            failed += usize::from(*status == CallStatus::Failed);
        }
    }
    assert!(failed > 0);
    let one = read_path(&folder.join("openai-chat-taubench/gpt-4o-airline-one.json"));
    assert_eq!(
        one[0].key, all[0].key,
        "the same episode has the same key in any file"
    );
    let keys = |one: &SourceConversation| {
        one.records
            .iter()
            .map(|r| r.key.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(&one[0]), keys(&all[0]));
}

/// Makes the request that replays a branch plainly: every message, call and result on it.
fn replay(one: &SourceConversation, branch: usize) -> Prompt {
    let mut prompt = Prompt::default();
    let results: BTreeMap<&str, PromptResult> = one
        .records
        .iter()
        .filter_map(|record| match &record.body {
            SourceBody::Result {
                call: Some(call),
                content,
                media_type,
                is_error,
                ..
            } => {
                let content = Content::from_bytes(*media_type, content).unwrap();
                Some((
                    call.as_str(),
                    PromptResult {
                        content,
                        is_error: *is_error,
                    },
                ))
            }
            _ => None,
        })
        .collect();
    for record in one.records.iter().filter(|record| record.branch == branch) {
        match &record.body {
            SourceBody::Message { role, content, .. } => match role.name() {
                "system" => prompt.system.push(content.plain_text().into_owned()),
                "assistant" => prompt.turns.push(Turn::Message {
                    role: Speaker::Assistant,
                    name: None,
                    content: content.clone(),
                }),
                _ => prompt.turns.push(Turn::Message {
                    role: Speaker::User,
                    name: None,
                    content: content.clone(),
                }),
            },
            SourceBody::CallRequested {
                call,
                source_id,
                tool,
                arguments,
                ..
            } => {
                let missing = PromptResult {
                    content: Content::Text("(no result)".into()),
                    is_error: false,
                };
                let call = PromptCall {
                    id: source_id.clone(),
                    tool: tool.clone(),
                    arguments: String::from_utf8(arguments.clone()).unwrap(),
                    result: results.get(call.as_str()).cloned().unwrap_or(missing),
                };
                prompt.turns.push(Turn::Calls {
                    text: None,
                    calls: vec![call],
                });
            }
            _ => {}
        }
    }
    prompt
}

#[test]
fn replays_of_real_conversations_keep_the_providers_rules() {
    let Some(folder) = folder() else { return };
    let mut all: Vec<SourceConversation> =
        sessions(&folder).into_iter().map(|(_, one)| one).collect();
    all.extend(read_path(
        &folder.join("openai-chat-taubench/gpt-4o-airline-first120.json"),
    ));
    let mut requests = 0;
    for one in &all {
        for branch in 0..one.branches.len() {
            let prompt = replay(one, branch);
            assert_eq!(
                rules::openai(&openai::render(&prompt)),
                Ok(()),
                "{}",
                one.key
            );
            assert_eq!(
                rules::anthropic(&anthropic::render(&prompt)),
                Ok(()),
                "{}",
                one.key
            );
            requests += 1;
        }
    }
    assert!(requests > 140, "{requests}");
}

#[test]
fn formats_that_are_not_supported_are_told_apart() {
    let Some(folder) = folder() else { return };
    let others = [
        "ag-ui",
        "agentsview-fixtures",
        "anthropic-messages-http",
        "cline-session",
        "codex-rollout",
        "google-adk",
        "inspect-ai",
        "langgraph",
        "openai-responses",
        "openhands",
        "otel-genai",
        "pi-session",
        "swe-agent-traj",
    ];
    for name in others {
        for path in files_in(&folder.join(name)) {
            let bytes = std::fs::read(&path).unwrap();
            let told = detect(&bytes, "f").unwrap_err().to_string();
            println!("{}: {}", path.display(), told.split(';').next().unwrap());
        }
    }
}
