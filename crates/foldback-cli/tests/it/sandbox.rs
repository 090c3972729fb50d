//! A folder of its own with copies of the fixtures, and the binary with an empty environment.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the workspace is there")
}

/// What a run of the binary gave.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    arguments: String,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// Writes everything that a person or a program sees, for a snapshot.
    pub(crate) fn text(&self) -> String {
        let mut out = format!("$ foldback {}\n", self.arguments);
        let code = self.code.map_or("none".to_owned(), |code| code.to_string());
        let _ = writeln!(out, "exit {code}");
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                let _ = writeln!(out, "--- {name}");
                out.push_str(text);
            }
        }
        out
    }

    /// Holds the exit code to what it should be.
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}", self.text());
        self
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

/// A folder with copies of the fixtures, in which the binary runs.
#[derive(Debug)]
pub(crate) struct Sandbox(TempDir);

impl Sandbox {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let fixtures = root().join("fixtures/transcripts");
        copy(&fixtures, &folder.path().join("fixtures/transcripts"));
        Self(folder)
    }

    /// Makes a sandbox whose store holds a replayed fixture.
    pub(crate) fn replayed(fixture: &str) -> Self {
        let sandbox = Self::new();
        sandbox.run(&["replay", fixture]).exits(0);
        sandbox
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).expect("the file is there")
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder is made");
        std::fs::write(path, bytes).expect("the file is written");
    }

    /// Gives the binary with nothing of our environment.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_foldback"));
        command
            .args(arguments)
            .env_clear()
            .current_dir(self.0.path())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, &[])
    }

    pub(crate) fn run_with(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Ran {
        let output = self
            .command(arguments)
            .envs(environment.iter().copied())
            .output()
            .expect("the binary runs");
        Ran {
            arguments: arguments.join(" "),
            code: output.status.code(),
            stdout: self.sealed(&output.stdout),
            stderr: self.sealed(&output.stderr),
        }
    }

    /// Reads output, with the sandbox's own path taken out.
    fn sealed(&self, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes);
        text.replace(&self.0.path().display().to_string(), "SANDBOX")
    }

    pub(crate) fn spawn(&self, arguments: &[&str]) -> Child {
        self.command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts")
    }

    /// Gives the one segment of the store's log.
    pub(crate) fn segment(&self) -> PathBuf {
        let entries = std::fs::read_dir(self.path(".foldback/log")).expect("the log is there");
        let mut segments: Vec<PathBuf> = entries
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "seg"))
            .collect();
        assert_eq!(segments.len(), 1, "{segments:?}");
        segments.remove(0)
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("the folder is made");
    for entry in std::fs::read_dir(from).expect("the folder is there") {
        let entry = entry.expect("an entry").path();
        let target = to.join(entry.file_name().expect("a name"));
        if entry.is_dir() {
            copy(&entry, &target);
        } else {
            std::fs::copy(&entry, &target).expect("the file is copied");
        }
    }
}

/// Puts a stand-in in the place of what follows a label on each line: what the clock or the random
/// source decides.
pub(crate) fn masked(text: &str, labels: &[&str]) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let found = labels
            .iter()
            .find_map(|label| Some((label, line.split_once(label)?)));
        match found {
            Some((label, (before, _))) => out.extend([before, label, "<masked>"]),
            None => out.push_str(line),
        }
        out.push('\n');
    }
    out
}

/// The airline fixture: an `OpenAI` transcript without times.
pub(crate) const NIGHT_TRAIN: &str = "fixtures/transcripts/night-train.json";

/// The harbour fixture: a Claude Code session with a subagent, a branch and a compaction.
pub(crate) const HARBOUR: &str = "fixtures/transcripts/harbour-survey.jsonl";
