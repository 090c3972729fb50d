//! The work: records of a conversation, and the ways to keep and read them.

use foldback_event::{BatchId, ConversationId, Digest, Event, EventId, GENESIS, chain_hash};
use foldback_store::{EventLog, FileLog, Head, LogOptions, NewEvent};
use foldback_testkit::Story;
use rusqlite::Connection;
use std::path::Path;
use std::time::Duration;

use crate::harness::timed;

/// A long talk: two messages, a call, its result and its memory in turns.
pub fn talk(name: &str, events: u64) -> Story {
    let mut s = Story::new(name);
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    let mut turn = 0;
    while s.position() < events {
        turn += 1;
        s.says(mia, &format!("What of reservation 4WQ{turn}?"));
        let run = s.run(agent);
        let call = s.calls(run, "get_reservation", &format!(r#"{{"id":"4WQ{turn}"}}"#));
        let artifact = s.result(
            call,
            &format!(r#"{{"id":"4WQ{turn}","day":"Thu","seats":[1,2]}}"#),
        );
        s.about(&format!("4WQ{turn}")).derives(
            artifact,
            &format!("4WQ{turn} flies on Thursday, seats 1 and 2"),
        );
        s.answers(run, "It flies on Thursday.");
        s.finishes(run, "stop");
    }
    s
}

/// The encoded records of a story.
pub fn records(story: &Story) -> Vec<(EventId, Vec<u8>)> {
    let encode = |event: &Event| {
        let record = event.encode().expect("a story encodes");
        (event.envelope.event_id, record)
    };
    story.events().iter().map(encode).collect()
}

pub fn log(dir: &Path, cache: bool) -> FileLog {
    let options = LogOptions {
        cache,
        ..LogOptions::default()
    };
    FileLog::open(dir, options).expect("the log opens").0
}

/// Appends records in batches of so many, each durable before the next; the chain is part of the work.
pub async fn append(
    log: &FileLog,
    of: ConversationId,
    records: &[(EventId, Vec<u8>)],
    batch: usize,
) -> Head {
    let mut head = Head::EMPTY;
    for part in records.chunks(batch) {
        let mut hash = head.hash;
        let events: Vec<NewEvent> = part
            .iter()
            .map(|(event_id, record)| {
                hash = chain_hash(&hash, record);
                NewEvent {
                    event_id: *event_id,
                    record: record.clone(),
                    hash,
                }
            })
            .collect();
        let id = BatchId::from_source(of.as_bytes(), &head.version.to_string());
        let appended = log.append(of, head.version, id, events).await;
        head = appended.expect("the append is taken").head;
    }
    head
}

/// Opens a database as an event log is kept in one.
pub fn sqlite(path: &Path, synchronous: &str) -> Connection {
    let db = Connection::open(path).expect("the database opens");
    db.execute_batch(&format!(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = {synchronous};
         CREATE TABLE IF NOT EXISTS events (
             seq INTEGER PRIMARY KEY, conversation BLOB NOT NULL, version INTEGER NOT NULL,
             event_id BLOB NOT NULL, record BLOB NOT NULL, UNIQUE (conversation, version));"
    ))
    .expect("the table is made");
    db
}

/// Inserts records in transactions of so many.
pub fn insert(
    db: &mut Connection,
    of: ConversationId,
    records: &[(EventId, Vec<u8>)],
    batch: usize,
) {
    let mut version = 0_i64;
    for part in records.chunks(batch) {
        let transaction = db.transaction().expect("a transaction begins");
        {
            let sql = "INSERT INTO events (conversation, version, event_id, record) \
                       VALUES (?1, ?2, ?3, ?4)";
            let mut insert = transaction.prepare_cached(sql).expect("it prepares");
            for (event_id, record) in part {
                version += 1;
                let row = (
                    of.as_bytes().as_slice(),
                    version,
                    event_id.as_bytes().as_slice(),
                    record,
                );
                insert.execute(row).expect("it inserts");
            }
        }
        transaction.commit().expect("it commits");
    }
}

/// Reads and decodes all of a log.
pub async fn scan(log: &FileLog) -> u64 {
    let partition = log.partitions()[0];
    let (mut after, mut count) = (None, 0);
    loop {
        let chunk = log
            .read_partition(partition, after, 4_096)
            .await
            .expect("it reads");
        let Some(last) = chunk.last() else {
            return count;
        };
        after = Some(last.position());
        for stored in &chunk {
            std::hint::black_box(Event::decode(&stored.record).expect("it decodes"));
            count += 1;
        }
    }
}

/// Reads and decodes all of a database.
pub fn select(db: &Connection) -> u64 {
    let mut rows = db
        .prepare_cached("SELECT record FROM events ORDER BY seq")
        .expect("it prepares");
    let mut rows = rows.query(()).expect("it reads");
    let mut count = 0;
    while let Some(row) = rows.next().expect("it reads") {
        let record = row.get_ref(0).expect("a column");
        let record = record.as_blob().expect("a blob");
        std::hint::black_box(Event::decode(record).expect("it decodes"));
        count += 1;
    }
    count
}

/// Reads and decodes all of a tree.
pub fn walk(db: &sled::Db) -> u64 {
    let mut count = 0;
    for pair in db.iter() {
        let (_, record) = pair.expect("it reads");
        std::hint::black_box(Event::decode(&record).expect("it decodes"));
        count += 1;
    }
    count
}

/// Checks that a chain is the one of the records, as a reader that trusts nothing does.
pub fn chain(records: &[(EventId, Vec<u8>)]) -> (Duration, Digest) {
    timed(|| {
        records
            .iter()
            .fold(GENESIS, |hash, (_, record)| chain_hash(&hash, record))
    })
}
