//! From entries to records, in the order of the file.

use super::child::{Child, Task};
use super::entry::{Entry, Item};
use super::plan::Plan;
use super::tree::{NodeIndex, Tree};
use super::{File, block};
use crate::read::builder::{Builder, MAIN, Scene, line_key};
use crate::read::call::Calls;
use crate::read::json::{object, quoted};
use crate::{Format, SourceBody, SourceConversation};
use foldback_event::Digest;
use std::collections::{BTreeMap, BTreeSet};

/// Members of a line that its records and its place among the others hold.
const HELD: &[&str] = &[
    "type",
    "uuid",
    "parentUuid",
    "logicalParentUuid",
    "timestamp",
    "message",
    "toolUseResult",
    "isSidechain",
    "agentId",
    "isMeta",
    "isCompactSummary",
];

/// The domain of the digest that tells one end of a run from another.
const CONTEXT: &str = "foldback 2026 trace run end v1";

/// Whose lines are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Whose {
    /// The child whose file it is.
    pub(super) child: Option<usize>,
    /// Whether the file is one agent's and is read by itself.
    pub(super) alone: bool,
}

/// Where an entry's records go.
#[derive(Debug, Clone)]
pub(super) struct Spot {
    pub(super) scene: Scene,
    pub(super) node: NodeIndex,
    /// The child whose work it is.
    pub(super) child: Option<usize>,
    /// The line's key.
    pub(super) line: String,
}

/// The walk over a session.
#[derive(Debug)]
pub(super) struct Walk<'w, 'a> {
    pub(super) builder: Builder,
    pub(super) plan: Plan<'a>,
    pub(super) calls: Calls,
    pub(super) tasks: Vec<Task>,
    /// The node of each call.
    pub(super) call_nodes: BTreeMap<String, NodeIndex>,
    /// How many answers began so far, and the latest of each branch.
    pub(super) answers: usize,
    latest: BTreeMap<usize, usize>,
    pub(super) children: Vec<Child>,
    pub(super) tree: Tree,
    pub(super) beside: &'w [&'w File<'a>],
    pub(super) emitted: BTreeSet<usize>,
    runs: BTreeMap<(usize, String), String>,
    seen: BTreeMap<(usize, String), &'a str>,
    context: BTreeMap<String, String>,
    sessions: BTreeSet<String>,
    /// The branch that lines without a parent continue.
    pub(super) current: usize,
}

/// Reads a session.
pub(super) fn conversation<'a>(
    key: String,
    main: &File<'a>,
    beside: &[&File<'a>],
) -> SourceConversation {
    let plan = Plan::of(main, beside);
    let session = key
        .split_once('/')
        .map_or(key.as_str(), |(session, _)| session)
        .to_owned();
    let mut walk = Walk {
        builder: Builder::new(key, Format::ClaudeCode),
        plan,
        calls: Calls::default(),
        tasks: Vec::new(),
        call_nodes: BTreeMap::new(),
        answers: 0,
        latest: BTreeMap::new(),
        children: Vec::new(),
        tree: Tree::default(),
        beside,
        emitted: BTreeSet::new(),
        runs: BTreeMap::new(),
        seen: BTreeMap::new(),
        context: BTreeMap::from([("sessionId".to_owned(), quoted(&session))]),
        sessions: BTreeSet::from([session]),
        current: MAIN,
    };
    let whose = Whose {
        child: None,
        alone: main.agent.is_some(),
    };
    if whose.alone
        && let Some(branch) = walk.builder.conversation.branches.first_mut()
    {
        branch.sidechain = true;
    }
    for entry in &main.entries {
        walk.entry(entry, whose);
    }
    walk.rest();
    walk.finish()
}

impl<'a> Walk<'_, 'a> {
    pub(super) fn entry(&mut self, entry: &Entry<'a>, whose: Whose) {
        let file = entry.place.file;
        let line = entry
            .uuid
            .clone()
            .unwrap_or_else(|| line_key(entry.raw.map_or(entry.bytes, str::as_bytes)));
        let scene = self.aside(entry, whose);
        if let Item::Broken(broken) = &entry.item {
            self.builder
                .find(broken.code, &entry.place, broken.detail.as_str());
            if !broken.is_cut() {
                self.builder.keep(&scene, &line, broken.code, entry.bytes);
            }
            return;
        }
        if self.is_repeated(entry, &line, &scene) {
            return;
        }
        if entry.mended {
            let what = "half of a surrogate pair is no character and was replaced in the text";
            self.builder.find("lone-surrogate", &entry.place, what);
            self.builder.keep(
                &scene,
                &format!("{line}:bytes"),
                "lone-surrogate",
                entry.bytes,
            );
        }
        match &entry.item {
            Item::Broken(_) => {}
            Item::Odd(code, what) => {
                self.builder.find(code, &entry.place, what.as_str());
                self.builder.keep(&scene, &line, code, entry.bytes);
                self.stand_for_parent(entry);
            }
            Item::Aside(code) => {
                if self.plan.foreign.contains(&(file, entry.place.number)) {
                    let what = entry.fields.text("summary").unwrap_or_default();
                    self.builder.find("foreign-summary", &entry.place, what);
                }
                self.builder.keep(&scene, &line, code, entry.bytes);
                self.stand_for_parent(entry);
            }
            Item::User(message) => {
                let spot = self.place(entry, whose, line);
                self.around(entry, &spot);
                block::user(self, entry, message, &spot);
            }
            Item::Assistant(message) => {
                let spot = self.place(entry, whose, line);
                self.around(entry, &spot);
                let run = self.begin(entry, &spot);
                block::assistant(self, entry, message, &spot, run.as_deref());
                self.end(entry, &spot, run.as_deref());
            }
        }
    }

    /// Tells whether a line is one that came before, and says so.
    fn is_repeated(&mut self, entry: &Entry<'a>, line: &str, scene: &Scene) -> bool {
        let (Some(uuid), Some(raw)) = (&entry.uuid, entry.raw) else {
            return false;
        };
        let Some(before) = self.seen.insert((entry.place.file, uuid.clone()), raw) else {
            return false;
        };
        if before == raw {
            self.builder.find(
                "duplicate-line",
                &entry.place,
                format!("`{uuid}` came before"),
            );
            return true;
        }
        let same_message = serde_json::from_str(before).ok().is_some_and(
            |fields: crate::read::json::Fields<'_>| {
                let message = entry
                    .fields
                    .get("message")
                    .map(serde_json::value::RawValue::get);
                message.is_some()
                    && fields.get("message").map(serde_json::value::RawValue::get) == message
            },
        );
        if same_message {
            self.builder.find(
                "duplicate-line",
                &entry.place,
                format!("`{uuid}` came before"),
            );
            self.builder.keep(
                scene,
                &format!("{line}:again"),
                "duplicate-line",
                entry.bytes,
            );
            return true;
        }
        self.builder.find(
            "duplicate-uuid",
            &entry.place,
            format!("`{uuid}` is another line too"),
        );
        false
    }

    /// Keeps what a line says beside its message, where that has changed since the last line.
    fn around(&mut self, entry: &Entry<'a>, spot: &Spot) {
        if let Some(session) = &entry.session
            && self.sessions.insert(session.clone())
        {
            let what = format!("lines of session `{session}`");
            self.builder.find("other-session", &entry.place, what);
        }
        let mut changed = Vec::new();
        for (name, value) in entry.fields.iter().filter(|(name, _)| !HELD.contains(name)) {
            if self
                .context
                .get(name)
                .is_none_or(|before| before != value.get())
            {
                self.context.insert(name.to_owned(), value.get().to_owned());
                changed.push((name, value.get()));
            }
        }
        if !changed.is_empty() {
            let bytes = object(changed.into_iter());
            self.builder.keep(
                &spot.scene,
                &format!("{}:context", spot.line),
                "line-context",
                &bytes,
            );
        }
    }

    /// Begins the run of an answer with its first line.
    fn begin(&mut self, entry: &Entry<'a>, spot: &Spot) -> Option<String> {
        let id = entry.answer_id()?;
        let of_file = (entry.place.file, id);
        let model = self
            .plan
            .answers
            .get(&of_file)
            .and_then(|answer| answer.model.clone());
        if let Some(run) = self.runs.get(&of_file) {
            return Some(run.clone());
        }
        let run = self.builder.unique(&format!("run:{}", of_file.1));
        self.runs.insert(of_file, run.clone());
        self.answers += 1;
        self.latest.insert(spot.scene.branch, self.answers);
        self.builder
            .answers_with(spot.scene.participant, model.as_deref());
        let provider = Some("anthropic".to_owned());
        let body = SourceBody::RunStarted {
            run: run.clone(),
            provider,
            model,
        };
        let record = self.builder.push_as(&spot.scene, run.clone(), body);
        self.tree.recorded(spot.node, record);
        Some(run)
    }

    /// Ends the run of an answer after its last line.
    fn end(&mut self, entry: &Entry<'a>, spot: &Spot, run: Option<&str>) {
        let (Some(id), Some(run)) = (entry.answer_id(), run) else {
            return;
        };
        let Some(answer) = self.plan.answers.get(&(entry.place.file, id)) else {
            return;
        };
        if answer.last_line != entry.place.number {
            return;
        }
        let answer = answer.clone();
        let told = format!("{:?} {:?}", answer.usage, answer.finish_reason);
        let key = format!(
            "{run}:finished:{}",
            Digest::of(CONTEXT, told.as_bytes()).short()
        );
        let body = SourceBody::RunFinished {
            run: run.to_owned(),
            finish_reason: answer.finish_reason,
            usage: answer.usage,
            model: answer.model,
        };
        self.record(spot, &key, body);
    }

    /// Adds a record of a line.
    pub(super) fn record(&mut self, spot: &Spot, key: &str, body: SourceBody) {
        let record = self.builder.push(&spot.scene, key, body);
        self.tree.recorded(spot.node, record);
    }

    /// Adds a call of a line under a key that the builder gave.
    pub(super) fn record_call(&mut self, spot: &Spot, key: String, body: SourceBody) {
        self.call_nodes.insert(key.clone(), spot.node);
        let record = self.builder.push_as(&spot.scene, key, body);
        self.tree.recorded(spot.node, record);
    }

    fn finish(mut self) -> SourceConversation {
        let mut open: Vec<(String, String)> = Vec::new();
        for call in self.calls.open() {
            if self
                .latest
                .get(&call.branch)
                .is_some_and(|latest| call.message < *latest)
            {
                open.push((call.key.clone(), call.tool.clone()));
            }
        }
        let places: BTreeMap<&str, &crate::Place> = self
            .builder
            .conversation
            .records
            .iter()
            .map(|record| (record.key.as_str(), &record.place))
            .collect();
        let open: Vec<_> = open
            .into_iter()
            .filter_map(|(key, tool)| Some((places.get(key.as_str()).copied()?.clone(), tool)))
            .collect();
        for (place, tool) in open {
            let what = format!("`{tool}` was never answered, and the model went on");
            self.builder.find("unanswered-call", &place, what);
        }
        let title = self.plan.title.take();
        self.builder.finish(title)
    }
}
