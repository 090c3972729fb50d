//! Foldback beside its peers: prints the table of docs/benchmarks.md.
//!
//!     cargo run --release --manifest-path crates/foldback-bench/Cargo.toml -- [quick]
//!
//! Each row does the same work both ways in turns and compares medians. No row is a test.

mod harness;
mod work;

use foldback::policy::Policy;
use foldback_assembly::assemble;
use foldback_event::kind::{AssemblyRequest, Route};
use foldback_event::{ConversationId, Label, RuntimeKind};
use foldback_graph::RuntimeGraph;
use foldback_testkit::Story;
use harness::{HEAD, Row, in_turns, timed};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// How much each row does.
#[derive(Debug, Clone, Copy)]
struct Size {
    rounds: usize,
    batches: usize,
    singles: usize,
    scanned: u64,
    folded: u64,
    long: u64,
    assemblies: u64,
}

const FULL: Size = Size {
    rounds: 9,
    batches: 100,
    singles: 10,
    scanned: 100_000,
    folded: 100_000,
    long: 100_000,
    assemblies: 2_000,
};

const QUICK: Size = Size {
    rounds: 3,
    batches: 20,
    singles: 4,
    scanned: 20_000,
    folded: 20_000,
    long: 20_000,
    assemblies: 200,
};

fn main() {
    let quick = std::env::args().any(|argument| argument == "quick");
    let size = if quick { QUICK } else { FULL };
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .expect("a runtime starts");
    println!("{HEAD}");
    for row in [
        batches(&runtime, size, "FULL", Some(130)),
        batches(&runtime, size, "NORMAL", None),
        writers(&runtime, size),
        scan_sqlite(&runtime, size),
        scan_sled(&runtime, size),
        reopen(&runtime, size),
        assembled(size, 1_000),
        assembled(size, 8_000),
        verified(&runtime, size),
    ] {
        println!("{}", row.line());
    }
    alone(size);
}

fn batches(runtime: &Runtime, size: Size, synchronous: &'static str, wanted: Option<u64>) -> Row {
    const BATCH: usize = 64;
    let story = work::talk("batches", (size.batches * BATCH) as u64);
    let records = work::records(&story);
    let of = story.conversation();
    let ours = || {
        let dir = tempfile::tempdir().expect("a folder");
        let log = work::log(dir.path(), false);
        timed(|| runtime.block_on(work::append(&log, of, &records, BATCH))).0
    };
    let theirs = || {
        let dir = tempfile::tempdir().expect("a folder");
        let mut db = work::sqlite(&dir.path().join("db"), synchronous);
        timed(|| work::insert(&mut db, of, &records, BATCH)).0
    };
    let (ours, theirs) = in_turns(size.rounds, ours, theirs);
    Row {
        what: "durable append, batches of 64, events",
        peer: if synchronous == "FULL" {
            "SQLite, WAL, synchronous FULL"
        } else {
            "SQLite, WAL, synchronous NORMAL"
        },
        units: records.len() as u64,
        ours,
        theirs,
        wanted,
        note: if synchronous == "FULL" {
            "ours computes chains and commit digests"
        } else {
            "NORMAL is not durable at each commit; ours is"
        },
    }
}

fn writers(runtime: &Runtime, size: Size) -> Row {
    const WRITERS: usize = 64;
    let stories: Vec<Story> = (0..WRITERS)
        .map(|n| work::talk(&format!("writer {n}"), size.singles as u64))
        .collect();
    let records: Vec<_> = stories
        .iter()
        .map(|story| {
            let mut records = work::records(story);
            records.truncate(size.singles);
            (story.conversation(), records)
        })
        .collect();
    let ours = || {
        let dir = tempfile::tempdir().expect("a folder");
        let log = work::log(dir.path(), false);
        let run = async {
            let tasks: Vec<_> = records
                .iter()
                .cloned()
                .map(|(of, records)| {
                    let log = log.clone();
                    tokio::spawn(async move { work::append(&log, of, &records, 1).await })
                })
                .collect();
            for task in tasks {
                task.await.expect("a writer ends");
            }
        };
        timed(|| runtime.block_on(run)).0
    };
    let theirs = || {
        let dir = tempfile::tempdir().expect("a folder");
        let mut db = work::sqlite(&dir.path().join("db"), "FULL");
        timed(|| {
            for (of, records) in &records {
                work::insert(&mut db, *of, records, 1);
            }
        })
        .0
    };
    let (ours, theirs) = in_turns(size.rounds, ours, theirs);
    Row {
        what: "durable append, 64 writers at once, one event each time",
        peer: "SQLite, one transaction each",
        units: (WRITERS * size.singles) as u64,
        ours,
        theirs,
        wanted: Some(800),
        note: "ours computes chains; SQLite has one writer, so its transactions follow each other",
    }
}

/// A log, a database and a tree with the same records.
fn filled(runtime: &Runtime, events: u64) -> (tempfile::TempDir, Story) {
    let story = work::talk("scan", events);
    let records = work::records(&story);
    let dir = tempfile::tempdir().expect("a folder");
    let log = work::log(&dir.path().join("log"), false);
    runtime.block_on(work::append(&log, story.conversation(), &records, 1_024));
    runtime.block_on(log.close());
    let mut db = work::sqlite(&dir.path().join("db"), "NORMAL");
    work::insert(&mut db, story.conversation(), &records, 1_024);
    let tree = sled::open(dir.path().join("sled")).expect("a tree opens");
    for ((_, record), seq) in records.iter().zip(0_u64..) {
        tree.insert(seq.to_be_bytes(), record.as_slice())
            .expect("it inserts");
    }
    tree.flush().expect("it is written");
    (dir, story)
}

fn scan_sqlite(runtime: &Runtime, size: Size) -> Row {
    let (dir, story) = filled(runtime, size.scanned);
    let log = work::log(&dir.path().join("log"), false);
    let db = work::sqlite(&dir.path().join("db"), "NORMAL");
    let ours = || timed(|| runtime.block_on(work::scan(&log))).0;
    let theirs = || timed(|| work::select(&db)).0;
    let (ours, theirs) = in_turns(size.rounds, ours, theirs);
    Row {
        what: "scan and decode, warm, events",
        peer: "SQLite",
        units: story.position(),
        ours,
        theirs,
        wanted: Some(120),
        note: "ours checks each frame's crc",
    }
}

fn scan_sled(runtime: &Runtime, size: Size) -> Row {
    let (dir, story) = filled(runtime, size.scanned);
    let log = work::log(&dir.path().join("log"), false);
    let tree = sled::open(dir.path().join("sled")).expect("a tree opens");
    let ours = || timed(|| runtime.block_on(work::scan(&log))).0;
    let theirs = || timed(|| work::walk(&tree)).0;
    let (ours, theirs) = in_turns(size.rounds, ours, theirs);
    Row {
        what: "scan and decode, warm, events",
        peer: "sled",
        units: story.position(),
        ours,
        theirs,
        wanted: Some(160),
        note: "ours checks each frame's crc",
    }
}

fn reopen(runtime: &Runtime, size: Size) -> Row {
    let (dir, story) = filled(runtime, size.scanned);
    let ours = || {
        timed(|| {
            let log = work::log(&dir.path().join("log"), false);
            let count = runtime.block_on(work::scan(&log));
            runtime.block_on(log.close());
            count
        })
        .0
    };
    let theirs = || {
        timed(|| {
            let db = work::sqlite(&dir.path().join("db"), "NORMAL");
            work::select(&db)
        })
        .0
    };
    let (ours, theirs) = in_turns(size.rounds, ours, theirs);
    Row {
        what: "open without a cache, check, index, read all and decode, events",
        peer: "SQLite, opened and read",
        units: story.position(),
        ours,
        theirs,
        wanted: None,
        note: "ours checks crc, commits and the whole last segment, and builds its index",
    }
}

fn request(story: &Story, graph: &RuntimeGraph) -> AssemblyRequest {
    let agent = graph
        .participants()
        .find(|participant| participant.model.is_some())
        .expect("an agent");
    AssemblyRequest {
        branch: story.main(),
        participant: agent.id,
        position: graph.position(),
        runtime_kind: RuntimeKind::Chat,
        run: None,
        route: Route {
            provider: Label::new("openai").expect("a label"),
            model: None,
            region: None,
            zero_retention: false,
        },
        as_of: story.now(),
        budget_tokens: None,
        exact: Vec::new(),
        extends: None,
        relevance: None,
    }
}

fn assembled(size: Size, short: u64) -> Row {
    let policy = Policy::parse(Policy::builtin()).expect("the built-in policy");
    let of = |events| {
        let story = work::talk("assemble", events);
        let graph = RuntimeGraph::fold(story.events());
        let request = request(&story, &graph);
        (graph, request)
    };
    let (few, long) = (of(short), of(size.long));
    let run = |(graph, request): &(RuntimeGraph, AssemblyRequest)| {
        timed(|| {
            for _ in 0..20 {
                let assembly = assemble(graph, &policy, request, None).expect("it assembles");
                std::hint::black_box(assembly.items.len());
            }
        })
        .0
    };
    let (ours, theirs) = in_turns(size.rounds, || run(&long), || run(&few));
    Row {
        what: "assemble a request, long history",
        peer: if short == 1_000 {
            "itself at 1,000 events"
        } else {
            "itself at 8,000 events"
        },
        units: 20,
        ours,
        theirs,
        wanted: (short == 1_000).then_some(77),
        note: if short == 1_000 {
            "the wanted 1.3 times the short one's time is 0.77 here; the short one has 750 candidates, \
             the long one 4,096"
        } else {
            "both look at 4,096 candidates"
        },
    }
}

fn verified(runtime: &Runtime, size: Size) -> Row {
    use foldback::{AssembleRequest, Engine, NewConversation, NewMessage, NewParticipant, Options};
    let engine = Engine::in_memory(Options::default()).expect("an engine");
    let of = runtime.block_on(async {
        let new = NewConversation {
            id: Some(ConversationId::from_bytes([7; 16])),
            user_name: Some("Mia".to_owned()),
            ..NewConversation::default()
        };
        let opened = engine.open_conversation(new).await.expect("it opens");
        let talk = || engine.conversation(opened.id);
        let label = |text| Label::new(text).expect("a label");
        let agent = NewParticipant::model("agent", label("gpt-4o"));
        let agent = talk().join(agent).await.expect("it joins");
        for turn in 0..size.assemblies {
            let said = NewMessage::user(opened.user, &format!("message {turn}"));
            talk().record_message(said).await.expect("it is said");
            let request = AssembleRequest::chat(agent, label("openai"));
            talk().assemble(request).await.expect("it assembles");
        }
        opened.id
    });
    let events: Vec<_> = runtime
        .block_on(engine.events(of))
        .expect("it reads")
        .into_iter()
        .map(|row| row.event)
        .collect();
    let ours = || {
        timed(|| {
            let verified = runtime.block_on(engine.verify(|_| ())).expect("it reads");
            assert!(verified.ok());
        })
        .0
    };
    let theirs = || timed(|| std::hint::black_box(RuntimeGraph::fold(&events)).position()).0;
    let (ours, theirs) = in_turns(size.rounds.min(5), ours, theirs);
    Row {
        what: "verify a conversation, recorded assemblies",
        peer: "one fold of the same events",
        units: size.assemblies,
        ours,
        theirs,
        wanted: Some(20),
        note: "the wanted five folds are 0.20 here; verify reads, hashes, decodes and decides again",
    }
}

/// Figures without a peer.
fn alone(size: Size) {
    let story = work::talk("fold", size.folded);
    let mut folds: Vec<Duration> = (0..size.rounds)
        .map(|_| timed(|| std::hint::black_box(RuntimeGraph::fold(story.events()))).0)
        .collect();
    folds.sort_unstable();
    let fold = folds[folds.len() / 2].as_nanos().max(1);
    let records = work::records(&story);
    let bytes: usize = records.iter().map(|(_, record)| record.len()).sum();
    let (chain, _) = work::chain(&records);
    println!();
    println!("| alone | |");
    println!("| --- | ---: |");
    let per_second = u128::from(story.position()) * 1_000_000_000 / fold;
    println!("| fold to a graph, events in memory | {per_second}/s |");
    let chained = u128::from(story.position()) * 1_000_000_000 / chain.as_nanos().max(1);
    println!("| chain hashes | {chained}/s |");
    println!(
        "| bytes of a record, on average | {} |",
        bytes / records.len()
    );
}
