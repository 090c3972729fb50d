//! The readers on real files, where those are at hand.

use foldback_trace::*;
use std::collections::BTreeMap;
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

pub(crate) fn read_file(path: &Path) -> Vec<SourceConversation> {
    let bytes = std::fs::read(path).unwrap();
    let name = path.to_string_lossy().into_owned();
    let format = detect(&bytes, &name).unwrap();
    let beside = path.with_extension("").join("subagents");
    let mut others = Vec::new();
    if beside.is_dir() {
        for entry in std::fs::read_dir(beside).unwrap() {
            let path = entry.unwrap().path();
            others.push((
                path.to_string_lossy().into_owned(),
                std::fs::read(&path).unwrap(),
            ));
        }
    }
    others.sort();
    let mut files = vec![SourceFile {
        name: &name,
        bytes: &bytes,
        companion: false,
    }];
    files.extend(others.iter().map(|(name, bytes)| SourceFile {
        name,
        bytes,
        companion: true,
    }));
    read(format, &files).unwrap()
}

#[test]
fn dump() {
    let Some(folder) = folder() else { return };
    let mut paths: Vec<PathBuf> = Vec::new();
    for dir in [
        "claude-code-jsonl",
        "claude-code-jsonl/copilot-chat",
        "copilot-chat-sessions",
        "openai-chat-taubench",
    ] {
        for entry in std::fs::read_dir(folder.join(dir)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                paths.push(path);
            }
        }
    }
    paths.sort();
    for path in paths {
        let all = read_file(&path);
        println!(
            "== {} {}",
            path.file_name().unwrap().to_string_lossy(),
            all.len()
        );
        for c in all.iter().take(3) {
            let mut n: BTreeMap<&str, usize> = BTreeMap::new();
            for r in &c.records {
                let k = match &r.body {
                    SourceBody::Message { role, .. } => role.name(),
                    SourceBody::RunStarted { .. } => "z-started",
                    SourceBody::RunFinished { .. } => "z-finished",
                    SourceBody::CallRequested { .. } => "zcall",
                    SourceBody::Result { call, .. } => {
                        if call.is_some() {
                            "zresult"
                        } else {
                            "zorphan"
                        }
                    }
                    SourceBody::ChildStarted { .. } => "zchild",
                    SourceBody::ChildFinished { .. } => "zchild-end",
                    SourceBody::Kept { code, .. } => code,
                };
                *n.entry(k).or_default() += 1;
            }
            println!(
                "  {} {:?}\n    {:?}\n    branches {:?}\n    parts {:?}",
                c.key,
                c.title,
                n,
                c.branches
                    .iter()
                    .map(|b| (&b.key, &b.parent, b.sidechain))
                    .collect::<Vec<_>>(),
                c.participants
                    .iter()
                    .map(|p| (&p.key, &p.model))
                    .collect::<Vec<_>>()
            );
            for f in c.findings.iter().take(12) {
                println!(
                    "    {} {} {}",
                    f.code,
                    f.place,
                    f.detail.chars().take(90).collect::<String>()
                );
            }
        }
        let sum: usize = all.iter().flat_map(|c| &c.findings).count();
        println!("  findings {sum}");
    }
}
