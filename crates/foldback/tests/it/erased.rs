//! Erasure: what goes is nowhere any more, and what happened still stands, verifies and explains itself.

use crate::replays::copy;
use crate::scene::{Stage, label, open, options};
use foldback::event::kind::{RecordRef, RetentionClass};
use foldback::event::{AccountId, Body, CallId, ConversationId, MediaType, MessageId, RecordKind};
use foldback::{
    AssembleRequest, Captured, Engine, Error, NewArtifact, NewCall, NewConversation, NewFact,
    NewMessage, NewParticipant, Opened, PolicyDocument, StartRun, Subject,
};
use foldback_store::{GetError, Vault, VaultOptions};
use std::path::{Path, PathBuf};

const CANARIES: [&str; 10] = [
    "cnry-title",
    "cnry-person",
    "cnry-agent",
    "cnry-asked",
    "cnry-argument",
    "cnry-result",
    "cnry-said",
    "cnry-fact",
    "cnry-error",
    "cnry-instruction",
];

/// What stands in the store of one subject.
struct Told {
    opened: Opened,
    asked: MessageId,
    call: CallId,
    captured: Captured,
}

/// A conversation of an account with a canary in every kind of text, and a recorded assembly.
async fn told(engine: &Engine, account: Option<AccountId>, name: &str) -> Told {
    let new = NewConversation {
        id: Some(ConversationId::from_source(&[1; 16], name)),
        account,
        title: Some("cnry-title of a trip".to_owned()),
        user_name: Some("cnry-person".to_owned()),
    };
    let opened = engine.open_conversation(new).await.unwrap();
    let talk = || engine.conversation(opened.id);
    let agent = NewParticipant::model("cnry-agent", label("gpt-4o"));
    let agent = talk().join(agent).await.unwrap();
    let job = Some("cnry-instruction".to_owned());
    talk()
        .trigger_job(agent, opened.branch, label("nightly"), job)
        .await
        .unwrap();
    let asked = NewMessage::user(opened.user, &format!("cnry-asked in {name}"));
    let asked = talk().record_message(asked).await.unwrap();
    let run = talk().start_run(StartRun::chat(agent)).await.unwrap();
    let arguments = r#"{"id":"cnry-argument"}"#;
    let call = NewCall::json(run, label("get_trip"), arguments);
    let call = talk().request_call(call).await.unwrap();
    let result = format!(r#"{{"id":"cnry-argument","of":"cnry-result","in":"{name}"}}"#);
    let new = NewArtifact::succeeded(call, result, MediaType::Json);
    let captured = talk().capture(new).await.unwrap();
    let other = NewCall::json(run, label("get_seat"), arguments);
    let other = talk().request_call(other).await.unwrap();
    let failed = NewArtifact::failed(other, "cnry-error for both", true);
    talk().capture(failed).await.unwrap();
    let said = NewMessage::assistant(agent, run, &format!("cnry-said in {name}"));
    talk().record_message(said).await.unwrap();
    let fact = NewFact {
        participant: Some(opened.user),
        text: format!("cnry-fact of {name}"),
        source: Some(asked),
        supersedes: Vec::new(),
        privacy: foldback::event::Privacy::Personal,
    };
    talk().remember_fact(fact).await.unwrap();
    let request = AssembleRequest::chat(agent, label("openai"));
    talk().assemble(request).await.unwrap();
    Told {
        opened,
        asked,
        call,
        captured,
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            out.extend(files(&path));
        } else {
            out.push(path);
        }
    }
    out
}

fn holds(folder: &Path, needle: &[u8]) -> bool {
    let holds = |path: &PathBuf| {
        let bytes = std::fs::read(path).unwrap();
        bytes.windows(needle.len()).any(|part| part == needle)
    };
    files(folder).iter().any(holds)
}

fn record(kind: RecordKind, id: &[u8; 16]) -> RecordRef {
    RecordRef { kind, id: *id }
}

/// The sealed digests and addresses of all payloads of a conversation.
async fn payloads(engine: &Engine, id: ConversationId) -> Vec<foldback::event::PayloadRef> {
    let rows = engine.events(id).await.unwrap();
    rows.iter()
        .flat_map(|row| row.event.body.payloads())
        .collect()
}

fn requested() -> foldback::event::Label {
    label("data-subject-request")
}

#[tokio::test]
async fn after_an_account_is_erased_nothing_of_it_is_left_and_all_decisions_stand() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path(), 0);
    let account = AccountId::from_source(&[0; 16], "mia");
    let gone = told(&engine, Some(account), "gone").await;
    let stays = told(&engine, None, "stays").await;
    let before = engine.verify(|_| ()).await.unwrap();
    assert_eq!(
        (before.assemblies, before.reproduced, before.ok()),
        (2, 2, true)
    );
    let cited = payloads(&engine, gone.opened.id).await;
    // Whoever kept a copy of the key must find nothing to open with it.
    let keys = tempfile::tempdir().unwrap();
    copy(&folder.path().join("vault/keys"), keys.path());
    let erasure = engine.erase(Subject::Account(account), requested()).await;
    let erasure = erasure.unwrap();
    assert_eq!(erasure.conversations, [gone.opened.id]);
    assert!(erasure.key);
    assert_eq!(erasure.events, 1);
    let verified = engine.verify(|_| ()).await.unwrap();
    assert!(verified.ok(), "{:?}", verified.problems);
    assert_eq!((verified.assemblies, verified.reproduced), (2, 2));
    for (id, word) in [
        (gone.opened.id, "[erased]"),
        (stays.opened.id, "cnry-title"),
    ] {
        let graph = engine.graph(id, None).await.unwrap();
        let assembly = graph.assemblies().next().unwrap().id;
        let recorded = engine.recorded(id, &assembly).await.unwrap();
        assert!(recorded.differences.is_empty());
        let title = graph.conversation().unwrap().title.unwrap();
        let title = engine.text_of(&graph, &title).unwrap().or_notice();
        assert!(title.starts_with(word), "{title}");
    }
    // A late client, an import and a new conversation of the account are refused.
    let late = NewMessage::user(gone.opened.user, "late");
    let late = engine
        .conversation(gone.opened.id)
        .record_message(late)
        .await;
    assert!(matches!(late, Err(Error::ConversationErased { .. })));
    let new = NewConversation {
        account: Some(account),
        ..NewConversation::titled("again")
    };
    assert!(engine.open_conversation(new).await.is_err());
    drop(engine);
    for canary in CANARIES {
        assert!(!holds(folder.path(), canary.as_bytes()), "{canary}");
    }
    for payload in &cited {
        let packs = folder.path().join("vault/packs");
        assert!(!holds(&packs, payload.address.as_bytes()));
    }
    let own = folder.path().join("vault/keys");
    std::fs::remove_dir_all(&own).unwrap();
    copy(keys.path(), &own);
    let (vault, _) = Vault::open(folder.path(), &VaultOptions::default()).unwrap();
    for payload in &cited {
        let found = vault.get(account, &payload.address);
        assert!(matches!(found, Err(GetError::Missing { .. })), "{found:?}");
    }
}

#[tokio::test]
async fn a_conversation_goes_but_for_what_another_holds_too() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path(), 0);
    let gone = told(&engine, None, "gone").await;
    let stays = told(&engine, None, "stays").await;
    let subject = Subject::Conversation(gone.opened.id);
    let plan = engine.plan_erasure(subject).await.unwrap();
    assert_eq!((plan.events, plan.destroyed), (0, None));
    assert!(engine.verify(|_| ()).await.unwrap().ok());
    let erasure = engine.erase(subject, requested()).await.unwrap();
    // Title, names, arguments, error and instruction are the same in both.
    assert!(erasure.kept >= 5, "{erasure:?}");
    assert_eq!(erasure.payloads, plan.payloads);
    assert!(erasure.destroyed.unwrap().payloads >= 5);
    let verified = engine.verify(|_| ()).await.unwrap();
    assert!(verified.ok(), "{:?}", verified.problems);
    let graph = engine.graph(stays.opened.id, None).await.unwrap();
    for payload in payloads(&engine, stays.opened.id).await {
        let text = engine.text_of(&graph, &payload).unwrap().or_notice();
        assert!(!text.starts_with('['), "{text}");
    }
    // Erased twice, it is told once.
    let again = engine.erase(subject, requested()).await.unwrap();
    assert_eq!(again.events, 0);
    let policy = PolicyDocument::parse(
        &foldback::policy::Policy::builtin().replace("name = \"default\"", "name = \"other\""),
    )
    .unwrap();
    let replayed = engine.replay(gone.opened.id, &policy, |_, _| Ok(()));
    let refused = replayed.await.unwrap_err();
    assert!(
        matches!(refused, Error::ConversationErased { .. }),
        "{refused}"
    );
}

#[tokio::test]
async fn a_record_takes_along_what_was_derived_from_it() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path(), 0);
    let one = told(&engine, None, "one").await;
    let two = told(&engine, None, "two").await;
    let asked = record(RecordKind::Message, one.asked.as_bytes());
    let erasure = engine
        .erase(Subject::Record(one.opened.id, asked), requested())
        .await
        .unwrap();
    let kinds: Vec<RecordKind> = erasure.records.iter().map(|record| record.kind).collect();
    assert_eq!(kinds, [RecordKind::Message, RecordKind::Fact]);
    let artifact = record(RecordKind::Artifact, one.captured.artifact.as_bytes());
    let subject = Subject::Record(one.opened.id, artifact);
    let erasure = engine.erase(subject, requested()).await.unwrap();
    let kinds: Vec<RecordKind> = erasure.records.iter().map(|record| record.kind).collect();
    assert_eq!(kinds, [RecordKind::Artifact, RecordKind::Memory]);
    // The arguments are the same bytes in both conversations, and go in both.
    let call = record(RecordKind::Call, one.call.as_bytes());
    let subject = Subject::Record(one.opened.id, call);
    let erasure = engine.erase(subject, requested()).await.unwrap();
    assert_eq!(erasure.conversations.len(), 2);
    for told in [&one, &two] {
        let rows = engine.events(told.opened.id).await.unwrap();
        let last = &rows.last().unwrap().event.body;
        assert!(matches!(last, Body::PayloadErased(_)), "{last:?}");
    }
    let verified = engine.verify(|_| ()).await.unwrap();
    assert!(verified.ok(), "{:?}", verified.problems);
    assert_eq!(verified.reproduced, 2);
    // What was not named is there, and the conversation goes on.
    let graph = engine.graph(one.opened.id, None).await.unwrap();
    let title = graph.conversation().unwrap().title.unwrap();
    assert!(
        engine
            .text_of(&graph, &title)
            .unwrap()
            .or_notice()
            .contains("trip")
    );
    let said = NewMessage::user(one.opened.user, "And now?");
    engine
        .conversation(one.opened.id)
        .record_message(said)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_title_goes_with_the_message_that_it_repeats() {
    let stage = Stage::new().await;
    let said = NewMessage::user(stage.opened.user, "I need A sleeper to Vienna, please.");
    let message = stage.talk().record_message(said).await.unwrap();
    let asked = record(RecordKind::Message, message.as_bytes());
    let subject = Subject::Record(stage.opened.id, asked);
    stage.engine.erase(subject, requested()).await.unwrap();
    let graph = stage.graph().await;
    let title = graph.conversation().unwrap().title.unwrap();
    assert!(graph.is_erased(&title.address));
    assert!(stage.engine.verify(|_| ()).await.unwrap().ok());
}

#[tokio::test]
async fn bytes_that_an_erasure_left_behind_are_told_and_go_the_next_time() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path(), 0);
    let gone = told(&engine, None, "gone").await;
    drop(engine);
    let kept = tempfile::tempdir().unwrap();
    let packs = folder.path().join("vault/packs");
    copy(&packs, kept.path());
    let engine = open(folder.path(), 1);
    let subject = Subject::Conversation(gone.opened.id);
    engine.erase(subject, requested()).await.unwrap();
    drop(engine);
    // As if the process had died before it came to the bytes.
    std::fs::remove_dir_all(&packs).unwrap();
    copy(kept.path(), &packs);
    let engine = open(folder.path(), 2);
    let verified = engine.verify(|_| ()).await.unwrap();
    assert!(
        verified
            .problems
            .iter()
            .all(|problem| problem.code == "erasure")
    );
    assert!(verified.problems.len() > 5);
    let again = engine.erase(subject, requested()).await.unwrap();
    assert_eq!(again.events, 0);
    assert!(again.destroyed.unwrap().payloads > 5);
    assert!(engine.verify(|_| ()).await.unwrap().ok());
}

#[tokio::test]
async fn what_is_on_hold_stays_until_it_is_released() {
    let engine = Engine::in_memory(options(0)).unwrap();
    let told = told(&engine, None, "held").await;
    let artifact = record(RecordKind::Artifact, told.captured.artifact.as_bytes());
    let talk = || engine.conversation(told.opened.id);
    talk()
        .retain(artifact, RetentionClass::Hold, label("inquiry"))
        .await
        .unwrap();
    let account = engine.account();
    for subject in [
        Subject::Record(told.opened.id, artifact),
        Subject::Conversation(told.opened.id),
        Subject::Account(account),
    ] {
        let refused = engine.erase(subject, requested()).await.unwrap_err();
        assert!(matches!(refused, Error::OnHold { .. }), "{refused}");
        assert_eq!(refused.code(), "FB0023");
    }
    talk()
        .retain(artifact, RetentionClass::Conversation, label("closed"))
        .await
        .unwrap();
    let subject = Subject::Record(told.opened.id, artifact);
    engine.erase(subject, requested()).await.unwrap();
    for unknown in [
        Subject::Account(AccountId::from_source(&[0; 16], "nobody")),
        Subject::Conversation(ConversationId::from_bytes([9; 16])),
        Subject::Record(told.opened.id, record(RecordKind::Memory, &[9; 16])),
    ] {
        assert!(engine.erase(unknown, requested()).await.is_err());
    }
}

#[tokio::test]
async fn prunable_content_goes_when_it_is_old_and_held_by_nothing_else() {
    let engine = Engine::in_memory(options(0)).unwrap();
    let (one, two) = (
        told(&engine, None, "one").await,
        told(&engine, None, "two").await,
    );
    let account = engine.account();
    let artifact = record(RecordKind::Artifact, one.captured.artifact.as_bytes());
    let call = record(RecordKind::Call, two.call.as_bytes());
    for (told, record) in [(&one, artifact), (&two, call)] {
        let talk = engine.conversation(told.opened.id);
        let class = RetentionClass::Prunable;
        talk.retain(record, class, label("short")).await.unwrap();
    }
    let now = engine.now();
    let none = engine.plan_erasure(Subject::Prunable(account, now.plus_seconds(-86_400)));
    assert!(none.await.unwrap().payloads.is_empty());
    let subject = Subject::Prunable(account, now.plus_seconds(86_400));
    let plan = engine.plan_erasure(subject).await.unwrap();
    // The call's arguments are the first conversation's too, and stay; its memory goes with it.
    assert!(plan.kept >= 1, "{plan:?}");
    assert!(plan.records.contains(&artifact) && plan.records.contains(&call));
    let erasure = engine.erase(subject, requested()).await.unwrap();
    assert_eq!(erasure.payloads, plan.payloads);
    assert!(erasure.destroyed.unwrap().payloads >= 3);
    let verified = engine.verify(|_| ()).await.unwrap();
    assert!(verified.ok(), "{:?}", verified.problems);
    assert_eq!(verified.reproduced, 2);
    // What is on hold stays, though it is prunable by what it was derived from.
    let memory = record(RecordKind::Memory, two.captured.memory.unwrap().as_bytes());
    let artifact = record(RecordKind::Artifact, two.captured.artifact.as_bytes());
    for (record, class) in [
        (memory, RetentionClass::Hold),
        (artifact, RetentionClass::Prunable),
    ] {
        let talk = engine.conversation(two.opened.id);
        talk.retain(record, class, label("inquiry")).await.unwrap();
    }
    let later = Subject::Prunable(account, engine.now().plus_seconds(86_400));
    let plan = engine.plan_erasure(later).await.unwrap();
    assert!(!plan.records.contains(&artifact), "{plan:?}");
}
