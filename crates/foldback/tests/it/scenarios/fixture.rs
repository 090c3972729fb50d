//! The form of a scenario: one JSON value a line; a header, the steps in order, and what is expected.

use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// One fixture.
#[derive(Debug)]
pub(super) struct Scenario {
    pub(super) name: String,
    pub(super) header: Header,
    /// Each step with its line.
    pub(super) steps: Vec<(usize, Step)>,
    pub(super) expectations: Vec<Expectation>,
}

/// The first line.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub(super) title: String,
    pub(super) shows: String,
    #[serde(default)]
    pub(super) published: Option<Published>,
    /// What the assembled request takes at most today, where the published figure is missed.
    #[serde(default)]
    pub(super) at_most: Option<u64>,
    /// Why the published figure is missed.
    #[serde(default)]
    pub(super) missed: Option<String>,
    /// When it begins.
    pub(super) starts: String,
    pub(super) request: Request,
}

/// What the article measured.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Published {
    /// The place in the article's list.
    pub(super) place: u64,
    pub(super) replay: u64,
    pub(super) assembled: u64,
}

/// What is asked for at the end.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Request {
    #[serde(rename = "for")]
    pub(super) participant: String,
    #[serde(default)]
    pub(super) mode: Option<String>,
    #[serde(default)]
    pub(super) branch: Option<String>,
    pub(super) provider: String,
    #[serde(default)]
    pub(super) model: Option<String>,
    #[serde(default)]
    pub(super) run: Option<String>,
    /// When it is asked; when the last step is done if nothing is said.
    #[serde(default)]
    pub(super) as_of: Option<String>,
    #[serde(default)]
    pub(super) budget: Option<u64>,
    /// The names of results that are needed exactly.
    #[serde(default)]
    pub(super) exact: Vec<String>,
    /// What takes the place of the default policy's text: each of it is replaced by its value.
    #[serde(default)]
    pub(super) policy: BTreeMap<String, String>,
}

/// Texts that must, or must not, stand in what the model reads.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expectation {
    #[serde(default, rename = "in")]
    pub(super) present: Vec<String>,
    #[serde(default, rename = "out")]
    pub(super) absent: Vec<String>,
    /// Counts of omissions by reason that must hold.
    #[serde(default)]
    pub(super) omitted: BTreeMap<String, u64>,
    pub(super) why: String,
    /// Why it does not hold today, where it does not; a test says when it does.
    #[serde(default)]
    pub(super) missed: Option<String>,
}

/// A text, or the lines of one.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum Text {
    Whole(String),
    Lines(Vec<String>),
}

impl Text {
    pub(super) fn get(&self) -> String {
        match self {
            Self::Whole(text) => text.clone(),
            Self::Lines(lines) => lines.join("\n") + "\n",
        }
    }
}

/// What a tool came to.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Result {
    pub(super) of: String,
    #[serde(default)]
    pub(super) json: Option<Value>,
    #[serde(default)]
    pub(super) text: Option<Text>,
    /// `csv`, `markdown`, `log`, … where it is neither JSON nor plain text.
    #[serde(default)]
    pub(super) media: Option<String>,
    #[serde(default)]
    pub(super) privacy: Option<String>,
    #[serde(default)]
    pub(super) freshness: Option<String>,
    #[serde(default)]
    pub(super) check_with: Vec<String>,
    /// What the tool changed.
    #[serde(default)]
    pub(super) changes: Vec<String>,
    #[serde(default)]
    pub(super) at: Option<String>,
    #[serde(default)]
    pub(super) retry: bool,
    #[serde(default, rename = "as")]
    pub(super) name: Option<String>,
}

/// One step.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Step {
    Join {
        #[serde(rename = "as")]
        name: String,
        #[serde(default)]
        kind: Option<String>,
        #[serde(default)]
        model: Option<String>,
    },
    System {
        text: Text,
    },
    User {
        text: Text,
        #[serde(default)]
        by: Option<String>,
        #[serde(default)]
        on: Option<String>,
        #[serde(default)]
        at: Option<String>,
    },
    Moderator {
        by: String,
        text: Text,
    },
    Run {
        #[serde(rename = "as")]
        name: String,
        by: String,
        #[serde(default)]
        on: Option<String>,
        #[serde(default)]
        mode: Option<String>,
    },
    End {
        run: String,
    },
    Say {
        run: String,
        text: Text,
        #[serde(default, rename = "as")]
        name: Option<String>,
        #[serde(default)]
        on: Option<String>,
        #[serde(default)]
        visibility: Option<String>,
    },
    Draft {
        #[serde(rename = "as")]
        name: String,
        run: String,
        text: Text,
    },
    Finalize {
        draft: String,
        text: Text,
    },
    Call {
        #[serde(rename = "as")]
        name: String,
        run: String,
        tool: String,
        args: Value,
        #[serde(default)]
        privacy: Option<String>,
    },
    Result(Result),
    Fail(Result),
    Pending(Result),
    Deferred(Result),
    Resolve(Result),
    /// A compact memory that the runtime brings, where it is played with these.
    Remember {
        of: String,
        text: String,
    },
    /// A memory that a model made of one result, with texts that it says it read there.
    Quote {
        of: String,
        text: String,
        quotes: Vec<String>,
    },
    Fork {
        #[serde(rename = "as")]
        name: String,
        #[serde(default)]
        from: Option<String>,
    },
    Child {
        #[serde(rename = "as")]
        name: String,
        parent: String,
        #[serde(default)]
        call: Option<String>,
        #[serde(default)]
        model: Option<String>,
    },
    Report {
        child: String,
        status: String,
        #[serde(default)]
        text: Option<Text>,
    },
    /// Widens who may see the memory of a result.
    Promote {
        memory: String,
        to: String,
        #[serde(default)]
        on: Option<String>,
        because: String,
    },
    Supersede {
        memory: String,
        over: Vec<String>,
        because: String,
    },
    Conflict {
        memories: Vec<String>,
    },
    Revalidate {
        memory: String,
        by: String,
        at: String,
    },
    Checkpoint {
        #[serde(rename = "as")]
        name: String,
        by: String,
        run: String,
        #[serde(default)]
        open: Vec<String>,
        #[serde(default)]
        state: Option<String>,
    },
    Restore {
        checkpoint: String,
        run: String,
    },
    Skills {
        of: String,
        #[serde(default)]
        profile: Option<String>,
        /// Loaded skills with their text, and others without.
        skills: serde_json::Map<String, Value>,
        #[serde(default)]
        tools: Vec<String>,
        #[serde(default)]
        integrations: Vec<String>,
    },
    Fact {
        of: String,
        text: String,
    },
    Job {
        of: String,
        name: String,
        text: String,
    },
}

impl Scenario {
    pub(super) fn read(path: &Path) -> Self {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let whole = std::fs::read_to_string(path).unwrap();
        let mut lines = whole.lines().enumerate().map(|(at, line)| (at + 1, line));
        let (_, first) = lines.next().unwrap();
        let header = parse(&name, 1, first);
        let (mut steps, mut expectations) = (Vec::new(), Vec::new());
        for (at, line) in lines {
            if line.starts_with("{\"do\"") {
                assert!(
                    expectations.is_empty(),
                    "{name}:{at}: a step after what is expected"
                );
                steps.push((at, parse(&name, at, line)));
            } else {
                expectations.push(parse(&name, at, line));
            }
        }
        assert!(!expectations.is_empty(), "{name}: nothing is expected");
        Self {
            name,
            header,
            steps,
            expectations,
        }
    }
}

fn parse<'d, T: Deserialize<'d>>(name: &str, line: usize, text: &'d str) -> T {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{name}:{line}: {error}"))
}
