//! A seeded run of an engine with several clients on a disk that loses power: what was acknowledged
//! survives, what was not is there whole or not at all, and the same seed is the same run.
//!
//! The fault model is told in `fault.rs` beside the store's own tests.

use crate::fault::{FaultStorage, Loss};
use crate::scene::{START, command, label};
use foldback::event::kind::RecordRef;
use foldback::event::{
    ConversationId, Digest, MediaType, Micros, ParticipantId, RecordKind, RunId,
};
use foldback::{
    AssembleRequest, Clock, Engine, Error, NewArtifact, NewCall, NewConversation, NewMessage,
    NewParticipant, Options, StartRun, Subject,
};
use foldback_testkit::Rng;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

/// How large segments and packs are: small, so that a run fills several.
const FILE_BYTES: u32 = 16 * 1024;
const CLIENTS: u64 = 3;
const LIVES: u64 = 8;

/// One client: its conversation, and what it was told of it.
struct Client {
    id: ConversationId,
    user: Option<ParticipantId>,
    agent: Option<ParticipantId>,
    run: Option<RunId>,
    /// The position and the chain hash that were acknowledged last.
    known: (u64, Option<Digest>),
    texts: Vec<String>,
    commands: u64,
}

/// What a client was about when the power went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Open,
    Say,
    Call,
    Assemble,
    Erase,
    Rotate,
}

struct Sim {
    rng: Rng,
    storage: FaultStorage,
    clients: Vec<Client>,
    trace: String,
    crashes: u64,
    /// The step that was cut short, by its client.
    cut: Option<(usize, Step)>,
}

fn open(storage: &FaultStorage, life: u64) -> Result<Engine, Error> {
    let options = Options {
        clock: Clock::fixed(Micros(
            START + i64::try_from(life).unwrap() * 86_400_000_000,
        )),
        create: true,
        ..Options::default()
    };
    Engine::open_on(
        Arc::new(storage.clone()),
        Path::new("/store"),
        options,
        FILE_BYTES,
    )
}

impl Sim {
    fn new(seed: u64) -> Self {
        let client = |n: u64| Client {
            id: ConversationId::from_source(&[2; 16], &format!("client {n}")),
            user: None,
            agent: None,
            run: None,
            known: (0, None),
            texts: Vec::new(),
            commands: 0,
        };
        Self {
            rng: Rng::new(seed),
            storage: FaultStorage::default(),
            clients: (0..CLIENTS).map(client).collect(),
            trace: format!("sim {seed}\n"),
            crashes: 0,
            cut: None,
        }
    }

    /// Lives until the disk has lost power as often as it should.
    async fn run(mut self) -> (String, u64) {
        for life in 0..LIVES {
            let crash = self.storage.operations() + 4 + self.rng.below(90);
            self.storage.crash_at(crash);
            let _ = writeln!(
                self.trace,
                "life {life}, the power goes at operation {crash}"
            );
            if let Ok(engine) = open(&self.storage, 2 * life) {
                self.live(&engine).await;
            }
            self.crashes += 1;
            let loss = match self.rng.below(4) {
                0 => Loss::Nothing,
                1 => Loss::All,
                _ => Loss::Some(self.rng.number()),
            };
            let kind = match loss {
                Loss::Nothing => "nothing",
                Loss::All => "all",
                Loss::Some(_) => "some",
            };
            let _ = writeln!(self.trace, "  {kind} of what was not synced is lost");
            self.storage = self.storage.after(loss);
            let engine = open(&self.storage, 2 * life + 1);
            let engine = engine.unwrap_or_else(|error| panic!("{}{error}", self.trace));
            self.look(&engine).await;
        }
        (self.trace, self.crashes)
    }

    /// Lets clients act, one after another, until the power is gone.
    async fn live(&mut self, engine: &Engine) {
        loop {
            let at = usize::try_from(self.rng.below(CLIENTS)).unwrap();
            let step = match self.rng.below(20) {
                _ if self.clients[at].run.is_none() => Step::Open,
                0..9 => Step::Say,
                9..15 => Step::Call,
                15..18 => Step::Assemble,
                18 => Step::Erase,
                _ => Step::Rotate,
            };
            let done = self.act(engine, at, step).await;
            let _ = writeln!(self.trace, "  client {at} {step:?}: {}", done.is_ok());
            if done.is_err() {
                self.cut = Some((at, step));
                return;
            }
        }
    }

    async fn act(&mut self, engine: &Engine, at: usize, step: Step) -> Result<(), Error> {
        let client = &mut self.clients[at];
        let id = client.id;
        client.commands += 1;
        let number = client.commands;
        let name = format!("{at} {number}");
        let talk = || engine.conversation(id).command(command(&name));
        let text = format!("text {number} of client {at} {}", "and so on ".repeat(8));
        match step {
            Step::Open => {
                let new = NewConversation {
                    id: Some(id),
                    user_name: Some(format!("person {at}")),
                    ..NewConversation::default()
                };
                let opened = engine.open_conversation(new).await?;
                client.user = Some(opened.user);
                let agent = NewParticipant::model("agent", label("gpt-4o"));
                let join = engine
                    .conversation(id)
                    .command(command(&format!("{at} join")));
                let agent = join.join(agent).await?;
                client.agent = Some(agent);
                let start = engine
                    .conversation(id)
                    .command(command(&format!("{at} run")));
                client.run = Some(start.start_run(StartRun::chat(agent)).await?);
            }
            Step::Say => {
                let said = NewMessage::user(client.user.unwrap(), &text);
                talk().record_message(said).await?;
                client.texts.push(text);
            }
            Step::Call => {
                let call = NewCall::json(client.run.unwrap(), label("look"), r#"{"id":"A1"}"#);
                let call = talk().request_call(call).await?;
                let new = NewArtifact::succeeded(call, text.clone(), MediaType::Text);
                let capture = engine
                    .conversation(id)
                    .command(command(&format!("{name} result")));
                capture.capture(new).await?;
                client.texts.push(text);
            }
            Step::Assemble => {
                let request = AssembleRequest::chat(client.agent.unwrap(), label("openai"));
                talk().assemble(request).await?;
            }
            Step::Erase => {
                let graph = engine.graph(id, None).await?;
                let first = graph.messages().next().map(|message| message.id);
                if let Some(message) = first {
                    let record = RecordRef {
                        kind: RecordKind::Message,
                        id: *message.as_bytes(),
                    };
                    engine
                        .erase(Subject::Record(id, record), label("asked"))
                        .await?;
                }
            }
            Step::Rotate => {
                engine.rotate_master(None)?;
            }
        }
        let rows = engine.events(id).await?;
        let client = &mut self.clients[at];
        client.known = (rows.len() as u64, rows.last().map(|row| row.hash));
        Ok(())
    }

    /// Holds what is found after the loss of power to what was acknowledged.
    async fn look(&mut self, engine: &Engine) {
        for (at, client) in self.clients.iter().enumerate() {
            let (position, hash) = client.known;
            let rows = engine.events_after(client.id, 0).await.unwrap();
            let found = usize::try_from(position)
                .ok()
                .and_then(|end| end.checked_sub(1));
            let found = found.and_then(|at| rows.get(at)).map(|row| row.hash);
            assert_eq!(
                found, hash,
                "{}client {at} lost what was acknowledged",
                self.trace
            );
            let _ = writeln!(
                self.trace,
                "  client {at} finds {} of {position}",
                rows.len()
            );
        }
        // What was cut short is done again: a command is answered with what it wrote, or writes now.
        if let Some((at, step)) = self.cut.take() {
            self.clients[at].commands -= 1;
            let done = self.act(engine, at, step).await;
            done.unwrap_or_else(|error| panic!("{}{step:?} again: {error}", self.trace));
        }
        let verified = engine.verify(|_| ()).await.unwrap();
        assert!(verified.ok(), "{}{:?}", self.trace, verified.problems);
        let _ = writeln!(
            self.trace,
            "  verified: {} events, {} payloads, {} assemblies",
            verified.events, verified.payloads, verified.reproduced
        );
        for client in &self.clients {
            let Ok(graph) = engine.graph(client.id, None).await else {
                continue;
            };
            let mut readable = 0;
            for row in engine.events(client.id).await.unwrap() {
                for payload in row.event.body.payloads() {
                    let text = engine.text_of(&graph, &payload).unwrap().or_notice();
                    let whole = !text.starts_with("[missing") && !text.starts_with("[not");
                    assert!(whole, "{}{text}", self.trace);
                    readable += usize::from(client.texts.contains(&text));
                }
            }
            let _ = writeln!(
                self.trace,
                "  {readable} texts of {} read",
                client.texts.len()
            );
        }
    }
}

async fn simulate(seeds: std::ops::Range<u64>) -> u64 {
    let mut crashes = 0;
    for seed in seeds {
        crashes += Sim::new(seed).run().await.1;
    }
    crashes
}

#[tokio::test]
async fn what_was_acknowledged_survives_every_crash() {
    assert_eq!(simulate(0..12).await, 12 * LIVES);
}

#[tokio::test]
async fn the_same_seed_is_the_same_run() {
    for seed in [7, 8] {
        let (first, _) = Sim::new(seed).run().await;
        let (second, _) = Sim::new(seed).run().await;
        assert_eq!(first, second);
        assert!(first.lines().count() > 40, "{first}");
    }
}

/// `just sim SEED`
#[tokio::test]
#[ignore = "prints the run of one seed; `just sim SEED` starts it"]
async fn the_run_of_a_seed() {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one who runs it names the seed"
    )]
    let seed = std::env::var("SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let (trace, _) = Sim::new(seed.unwrap_or(0)).run().await;
    for line in trace.lines() {
        println!("| {line}");
    }
}

#[test]
#[ignore = "the long run; docs/recovery.md says how to start it and what it showed"]
fn a_hundred_thousand_crashes() {
    let run = |from: u64| {
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .build()
                .unwrap();
            runtime.block_on(simulate(from..from + 100_000 / LIVES / 2))
        })
    };
    let halves = [run(1_000_000), run(2_000_000)];
    let crashes: u64 = halves.into_iter().map(|half| half.join().unwrap()).sum();
    println!("{crashes} crashes");
    assert_eq!(crashes, 100_000);
}
