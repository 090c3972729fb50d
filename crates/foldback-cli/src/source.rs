//! Source files on disk: which files belong together, and what a folder in their place means.

use crate::error::CliError;
use foldback::SourceFile;
use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// A file to import, with the files beside it that belong to it.
#[derive(Debug)]
pub(crate) struct Source {
    main: Loaded,
    companions: Vec<Loaded>,
}

#[derive(Debug)]
struct Loaded {
    name: String,
    bytes: Vec<u8>,
}

impl Source {
    /// Reads a file and its companions into memory.
    pub(crate) fn load(paths: &Paths) -> Result<Self, CliError> {
        Ok(Self {
            main: load(&paths.main)?,
            companions: paths
                .companions
                .iter()
                .map(|path| load(path))
                .collect::<Result<_, _>>()?,
        })
    }

    /// Lists the files as the engine takes them, the main one first.
    pub(crate) fn files(&self) -> Vec<SourceFile<'_>> {
        let main = SourceFile {
            name: &self.main.name,
            bytes: &self.main.bytes,
            companion: false,
        };
        let companions = self.companions.iter().map(|loaded| SourceFile {
            name: &loaded.name,
            bytes: &loaded.bytes,
            companion: true,
        });
        std::iter::once(main).chain(companions).collect()
    }
}

/// The place of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Paths {
    main: PathBuf,
    companions: Vec<PathBuf>,
}

/// Finds what the named files stand for. A file that belongs to another one which is named too is
/// read with that one, and not again by itself.
pub(crate) fn find(named: &[PathBuf]) -> Result<Vec<Paths>, CliError> {
    let mut out = Vec::new();
    for path in named {
        let main = session_of(path)?;
        let companions = companions(&main)?;
        out.push(Paths { main, companions });
    }
    let whole = |path: &PathBuf| std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
    let taken: BTreeSet<PathBuf> = out
        .iter()
        .flat_map(|paths| paths.companions.iter().map(whole))
        .collect();
    out.retain(|paths| !taken.contains(&whole(&paths.main)));
    Ok(out)
}

/// Gives the file that a path names: itself, or the session that a folder of subagents belongs to.
fn session_of(path: &Path) -> Result<PathBuf, CliError> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let session = path.with_extension("jsonl");
    if path.join("subagents").is_dir() && session.is_file() {
        return Ok(session);
    }
    let hint = if has_sessions(path) {
        format!("name the files in it, such as `{}/*.jsonl`", path.display())
    } else {
        "name a transcript file".to_owned()
    };
    Err(CliError::Directory {
        path: path.to_owned(),
        hint,
    })
}

fn has_sessions(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder);
    entries.is_ok_and(|mut entries| {
        entries.any(|entry| entry.is_ok_and(|entry| is_jsonl(&entry.path())))
    })
}

fn is_jsonl(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "jsonl")
}

/// Lists the files of subagents that stand beside a session, in the order of their names.
fn companions(session: &Path) -> Result<Vec<PathBuf>, CliError> {
    let folder = session.with_extension("").join("subagents");
    if !is_jsonl(session) || !folder.is_dir() {
        return Ok(Vec::new());
    }
    let error = |source| CliError::File {
        path: folder.clone(),
        source,
    };
    let mut out = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(error)? {
        let path = entry.map_err(error)?.path();
        let is_agent = path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("agent-"));
        if is_agent && is_jsonl(&path) {
            out.push(path);
        }
    }
    out.sort();
    Ok(out)
}

fn load(path: &Path) -> Result<Loaded, CliError> {
    let mut bytes = Vec::new();
    let (name, read) = if path == Path::new("-") {
        let read = std::io::stdin().lock().read_to_end(&mut bytes).map(drop);
        ("stdin".to_owned(), read)
    } else {
        let read = std::fs::read(path).map(|read| bytes = read);
        (path.display().to_string(), read)
    };
    read.map_err(|source| CliError::File {
        path: path.to_owned(),
        source,
    })?;
    Ok(Loaded { name, bytes })
}
