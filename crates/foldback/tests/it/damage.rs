//! Damage anywhere is told with its place, and never served as if whole.

use crate::refusals::append;
use crate::replays::copy;
use crate::scene::{Stage, import, open, options, replay};
use crate::script::Script;
use crate::sources::{chat, short};
use foldback::event::{Body, ConversationId};
use foldback::{Engine, Options, Verification};
use std::path::{Path, PathBuf};

async fn small(path: &Path) -> ConversationId {
    let engine = open(path, 0);
    let row = import(&engine, "s.json", &chat(&short()))
        .await
        .unwrap()
        .remove(0);
    replay(&engine, row.id).await;
    row.id
}

async fn verify(path: &Path) -> Result<(Engine, Verification), foldback::Error> {
    let options = Options {
        create: false,
        ..options(9)
    };
    let engine = Engine::open(path, options)?;
    let found = engine.verify(|_| ()).await?;
    Ok((engine, found))
}

fn files_under(path: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            out.extend(files_under(&path));
        } else {
            out.push(path);
        }
    }
    out.sort();
    out
}

/// Says what became of a damaged store: none if nobody noticed.
///
/// `at` is the offset from which the file is damaged.
async fn noticed(path: &Path, file: &Path, at: usize) -> Option<String> {
    let name = file.file_name().unwrap().to_str().unwrap().to_owned();
    match verify(path).await {
        Err(error) => {
            let mut text = error.to_string();
            let mut source = std::error::Error::source(&error);
            while let Some(next) = source {
                text = format!("{text}: {next}");
                source = next.source();
            }
            assert!(
                text.contains(&name) || text.contains("key"),
                "it names no file: {text}"
            );
            Some(text)
        }
        Ok((_, found)) if !found.ok() => {
            let all: Vec<String> = found.problems.iter().map(|p| format!("{p:?}")).collect();
            assert!(
                found
                    .problems
                    .iter()
                    .any(|p| p.place.is_some() || p.position.is_some()),
                "no place: {all:?}"
            );
            Some(all.join("; "))
        }
        Ok((engine, _)) => {
            let recovery = engine.recovery().unwrap();
            let cut = recovery.log.cut.as_ref().or(recovery.vault.cut.as_ref());
            match cut {
                // The end of the log may be torn; then it is cut, kept aside and told.
                Some(cut) => {
                    assert_eq!(cut.file.file_name(), file.file_name(), "{cut:?}");
                    assert!(cut.offset <= at as u64, "{cut:?} is before {at}");
                    assert!(cut.kept.exists(), "{cut:?}");
                    Some(format!("cut {cut:?}"))
                }
                None if recovery.log.bad_mark => Some("bad mark".to_owned()),
                None => None,
            }
        }
    }
}

#[tokio::test]
async fn a_flipped_byte_anywhere_is_noticed() {
    let whole = tempfile::tempdir().unwrap();
    small(whole.path()).await;
    let scratch = tempfile::tempdir().unwrap();
    let mut tried = 0;
    for file in files_under(whole.path()) {
        let inside = file.strip_prefix(whole.path()).unwrap().to_owned();
        let bytes = std::fs::read(&file).unwrap();
        // The cache is never trusted; a lock file is empty.
        if inside.starts_with("cache") || bytes.is_empty() {
            continue;
        }
        let used = bytes
            .iter()
            .rposition(|byte| *byte != 0)
            .map_or(0, |last| last + 1);
        let step = (used / 24).max(1);
        for at in (0..used).step_by(step).chain([used.saturating_sub(1)]) {
            let path = scratch.path().join(format!("{tried}"));
            copy(whole.path(), &path);
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            std::fs::write(path.join(&inside), &damaged).unwrap();
            let told = noticed(&path, &file, at).await;
            assert!(told.is_some(), "{} at {at} of {used}", inside.display());
            std::fs::remove_dir_all(&path).unwrap();
            tried += 1;
        }
    }
    assert!(tried > 60, "{tried}");
}

#[tokio::test]
async fn a_cut_file_is_noticed() {
    let whole = tempfile::tempdir().unwrap();
    small(whole.path()).await;
    let scratch = tempfile::tempdir().unwrap();
    let mut tried = 0;
    for file in files_under(&whole.path().join("log"))
        .into_iter()
        .chain(files_under(&whole.path().join("vault/packs")))
    {
        let inside = file.strip_prefix(whole.path()).unwrap().to_owned();
        let bytes = std::fs::read(&file).unwrap();
        let used = bytes
            .iter()
            .rposition(|byte| *byte != 0)
            .map_or(0, |last| last + 1);
        for part in 1..8 {
            let path = scratch.path().join(format!("{tried}"));
            copy(whole.path(), &path);
            std::fs::write(path.join(&inside), &bytes[..used * part / 8]).unwrap();
            let told = noticed(&path, &file, used * part / 8).await;
            assert!(told.is_some(), "{} cut to {part}/8", inside.display());
            tried += 1;
        }
    }
    assert!(tried >= 14, "{tried}");
}

#[tokio::test]
async fn a_cache_of_any_content_changes_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let id = small(folder.path()).await;
    let (engine, before) = verify(folder.path()).await.unwrap();
    let text = foldback::graph_text(&engine.graph(id, None).await.unwrap());
    drop(engine);
    for file in files_under(&folder.path().join("cache")) {
        let mut bytes = std::fs::read(&file).unwrap();
        for at in (0..bytes.len()).step_by(97) {
            bytes[at] ^= 0x55;
        }
        std::fs::write(&file, bytes).unwrap();
    }
    let (engine, after) = verify(folder.path()).await.unwrap();
    assert_eq!(before, after);
    assert!(after.ok());
    assert_eq!(
        foldback::graph_text(&engine.graph(id, None).await.unwrap()),
        text
    );
}

#[tokio::test]
async fn a_forged_assembly_with_a_whole_chain_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let id = small(folder.path()).await;
    let engine = open(folder.path(), 1);
    let rows = engine.events(id).await.unwrap();
    let recorded = rows.iter().rev().find_map(|row| match &row.event.body {
        Body::ContextAssembled(body) => Some(body.clone()),
        _ => None,
    });
    let recorded = recorded.unwrap();
    drop(engine);
    let forged = |n: u8| foldback::event::AssemblyId::from_bytes([n; 16]);
    let mut counts = recorded.clone();
    counts.assembly = forged(1);
    counts.tokens.assembled += 1;
    let mut selection = recorded.clone();
    selection.assembly = forged(2);
    selection.selection.pop();
    let mut digest = recorded.clone();
    digest.assembly = forged(3);
    digest.digest = foldback::event::GENESIS;
    let mut future = recorded.clone();
    future.assembly = forged(4);
    future.request.position = 100_000;
    let mut policy = recorded.clone();
    policy.assembly = forged(5);
    policy.policy = foldback::event::GENESIS;
    let mut position = recorded;
    position.assembly = forged(6);
    position.request.position -= 1;
    for body in [counts, selection, digest, future, policy, position] {
        append(folder.path(), id, body.into()).await;
    }
    let (_, found) = verify(folder.path()).await.unwrap();
    let told: Vec<(&str, &str)> = found
        .problems
        .iter()
        .map(|problem| (problem.code, problem.detail.as_str()))
        .collect();
    assert_eq!(told.len(), 6, "{told:?}");
    for (code, _) in &told {
        assert_eq!(*code, "assembly");
    }
    let all = told
        .iter()
        .map(|(_, detail)| *detail)
        .collect::<Vec<_>>()
        .join("\n");
    for part in [
        "token account",
        "selection",
        "digest",
        "100000",
        "not registered",
    ] {
        assert!(all.contains(part), "`{part}` in {all}");
    }
    assert!(
        found
            .problems
            .iter()
            .all(|p| p.conversation == Some(id) && p.position.is_some())
    );
    assert_eq!(found.assemblies - found.reproduced, 6);
}

#[tokio::test]
async fn a_missing_pack_is_found_payload_by_payload_and_selections_stand() {
    let folder = tempfile::tempdir().unwrap();
    let stage = Stage::on(open(folder.path(), 0)).await;
    Script::new(&stage, false).play().await;
    drop(stage);
    let packs = files_under(&folder.path().join("vault/packs"));
    assert_eq!(packs.len(), 1);
    std::fs::remove_file(&packs[0]).unwrap();
    let (_, found) = verify(folder.path()).await.unwrap();
    assert!(
        found.problems.iter().any(|problem| problem.code == "vault"),
        "{found:?}"
    );
    assert!(found.events > 40);
    // The policy's document was in the pack as well, so no selection can be decided again.
    assert_eq!(found.reproduced, 0, "{found:?}");
    assert_eq!(found.memories, 0);
    assert!(found.memories_skipped > 0);
}

#[tokio::test]
async fn without_an_accounts_key_the_selections_are_proved_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let account = foldback::event::AccountId::from_source(&[5; 16], "ines");
    let options = Options {
        account: Some(account),
        ..options(0)
    };
    let stage = Stage::on(Engine::open(folder.path(), options).unwrap()).await;
    Script::new(&stage, false).play().await;
    replay(&stage.engine, stage.opened.id).await;
    let whole = crate::scene::holds(&stage.engine).await;
    drop(stage);
    let keys = files_under(&folder.path().join("vault/keys"));
    let key = keys
        .iter()
        .find(|path| path.to_string_lossy().contains(&account.hex()))
        .unwrap_or_else(|| panic!("{keys:?}"));
    std::fs::remove_file(key).unwrap();
    let (_, found) = verify(folder.path()).await.unwrap();
    assert_eq!(found.reproduced, whole.assemblies, "{found:?}");
    assert_eq!(found.events, whole.events);
    assert_eq!(found.memories, 0);
    assert_eq!(
        found.memories_skipped,
        whole.memories + whole.memories_skipped,
        "it says what it could not derive again"
    );
    println!("without a key: {:?}", found.problems);
}
