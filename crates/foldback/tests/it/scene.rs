//! A stage for one conversation: an engine with a fixed clock, a person and an agent.

use foldback::event::{
    BatchId, CallId, ConversationId, Digest, Event, Label, MediaType, Micros, ParticipantId, RunId,
};
use foldback::{
    AssembleRequest, Captured, Clock, Conversation, Engine, Error, ImportOptions,
    ImportedConversation, NewArtifact, NewCall, NewConversation, NewParticipant, Opened, Options,
    PolicyDocument, Replay, RuntimeGraph, SourceFile, StartRun, graph_text,
};
use std::collections::BTreeMap;
use std::path::Path;

/// 2026-02-02, in microseconds.
pub(crate) const START: i64 = 1_770_000_000_000_000;

pub(crate) fn label(text: &str) -> Label {
    Label::new(text).unwrap()
}

/// Options with a clock that starts `days` after [`START`]: engines on one store must not share
/// times, because ids are made of them.
pub(crate) fn options(days: i64) -> Options {
    Options {
        clock: Clock::fixed(Micros(START + days * 86_400_000_000)),
        create: true,
        ..Options::default()
    }
}

pub(crate) fn open(path: &Path, days: i64) -> Engine {
    Engine::open(path, options(days)).unwrap()
}

/// How many events a conversation has, and the hash of its last one.
pub(crate) async fn marks(engine: &Engine, id: ConversationId) -> (usize, Option<Digest>) {
    let rows = engine.events(id).await.unwrap();
    (rows.len(), rows.last().map(|row| row.hash))
}

pub(crate) async fn hashes(engine: &Engine, id: ConversationId) -> Vec<Digest> {
    let rows = engine.events(id).await.unwrap();
    rows.into_iter().map(|row| row.hash).collect()
}

pub(crate) async fn events(engine: &Engine, id: ConversationId) -> Vec<Event> {
    let rows = engine.events(id).await.unwrap();
    rows.into_iter().map(|row| row.event).collect()
}

/// An engine, one conversation with a person and an agent.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) engine: Engine,
    pub(crate) opened: Opened,
    pub(crate) agent: ParticipantId,
}

impl Stage {
    pub(crate) async fn new() -> Self {
        Self::on(Engine::in_memory(options(0)).unwrap()).await
    }

    /// Opens the conversation, or finds it as it was left.
    pub(crate) async fn on(engine: Engine) -> Self {
        let new = NewConversation {
            id: Some(ConversationId::from_source(&[1; 16], "stage")),
            user_name: Some("Ines".to_owned()),
            ..NewConversation::titled("A sleeper to Vienna")
        };
        let opened = engine.open_conversation(new).await.unwrap();
        let agent = engine
            .conversation(opened.id)
            .command(command("join"))
            .join(NewParticipant::model("agent", label("gpt-4o")))
            .await
            .unwrap();
        Self {
            engine,
            opened,
            agent,
        }
    }

    pub(crate) fn talk(&self) -> Conversation<'_> {
        self.engine.conversation(self.opened.id)
    }

    pub(crate) async fn graph(&self) -> RuntimeGraph {
        self.engine.graph(self.opened.id, None).await.unwrap()
    }

    pub(crate) async fn text(&self) -> String {
        graph_text(&self.graph().await)
    }

    pub(crate) async fn marks(&self) -> (usize, Option<Digest>) {
        marks(&self.engine, self.opened.id).await
    }

    pub(crate) fn chat(&self) -> AssembleRequest {
        AssembleRequest::chat(self.agent, label("openai"))
    }

    pub(crate) async fn run(&self) -> RunId {
        let run = StartRun::chat(self.agent);
        self.talk().start_run(run).await.unwrap()
    }

    pub(crate) async fn call(&self, run: RunId, tool: &str, arguments: &str) -> CallId {
        let call = NewCall::json(run, label(tool), arguments);
        self.talk().request_call(call).await.unwrap()
    }

    /// Asks a tool in a run and captures what it says.
    pub(crate) async fn ask(
        &self,
        run: RunId,
        tool: &str,
        arguments: &str,
        says: &str,
    ) -> Captured {
        let call = self.call(run, tool, arguments).await;
        let result = NewArtifact::succeeded(call, says, MediaType::Json);
        self.talk().capture(result).await.unwrap()
    }
}

/// Names a command of a test.
pub(crate) fn command(name: &str) -> BatchId {
    BatchId::from_source(&[2; 16], name)
}

/// Replaces ids by their tag and their number in the order of appearance, and masks what depends
/// on the policy's and the renderer's words.
pub(crate) fn plain(text: &str) -> String {
    let tags = [
        "acct", "art", "asm", "br", "call", "chk", "conv", "fact", "job", "mem", "msg", "part",
        "run", "evt", "bat",
    ];
    let mut numbers: BTreeMap<String, String> = BTreeMap::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut out = String::new();
    for line in text.lines() {
        let words = line.split(' ').map(|word| {
            let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let Some((tag, hex)) = bare.split_once('_') else {
                return word.to_owned();
            };
            let is_id = hex.len() >= 8 && hex.chars().all(|c| c.is_ascii_hexdigit());
            if !is_id || !(tags.contains(&tag) || tag.len() <= 4) {
                return word.to_owned();
            }
            let short: String = hex.chars().take(8).collect();
            let number = numbers.entry(format!("{tag}_{short}")).or_insert_with(|| {
                let count = counts.entry(tag.to_owned()).or_default();
                *count += 1;
                format!("{tag}#{count}")
            });
            word.replace(bare, number)
        });
        let line: Vec<String> = words.collect();
        let line = line.join(" ");
        let masked = match (line.split_once(" policy "), line.split_once(" in ")) {
            (Some((before, _)), _) => Some(format!("{before} policy …")),
            (None, Some((before, _))) if line.contains(" assembly ") => Some(format!("{before} …")),
            _ => None,
        };
        out.push_str(&masked.unwrap_or(line));
        out.push('\n');
    }
    out
}

/// Imports one file under a name.
pub(crate) async fn import(
    engine: &Engine,
    name: &str,
    text: &str,
) -> Result<Vec<ImportedConversation>, Error> {
    import_with(engine, name, text, &ImportOptions::default()).await
}

pub(crate) async fn import_with(
    engine: &Engine,
    name: &str,
    text: &str,
    options: &ImportOptions,
) -> Result<Vec<ImportedConversation>, Error> {
    let bytes = text.as_bytes();
    let file = SourceFile {
        name,
        bytes,
        companion: false,
    };
    engine.import(&[file], options, |_| ()).await
}

pub(crate) async fn replay(engine: &Engine, id: ConversationId) -> Replay {
    let policy = PolicyDocument::builtin().unwrap();
    let replay = engine.replay(id, &policy, |_, _| Ok(())).await.unwrap();
    assert_eq!(replay.refused, [], "every request can be assembled");
    replay
}

/// Verifies and expects that all holds and every assembly came out the same.
pub(crate) async fn holds(engine: &Engine) -> foldback::Verification {
    let found = engine.verify(|_| ()).await.unwrap();
    assert_eq!(found.problems, []);
    assert_eq!(found.reproduced, found.assemblies);
    found
}

pub(crate) const NIGHT_TRAIN: &str =
    include_str!("../../../../fixtures/transcripts/night-train.json");
