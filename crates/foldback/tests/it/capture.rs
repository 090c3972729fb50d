//! What a tool said is kept to the byte; what is concluded from it is a decision of its own.

use crate::scene::{Stage, holds, label};
use foldback::event::{ArtifactId, Body, MediaType, MemoryId, Reason, Visibility};
use foldback::{Captured, NewArtifact, NewCall, NewMessage, Outcome, StartRun};

async fn bytes_of(stage: &Stage, artifact: ArtifactId) -> Vec<u8> {
    let graph = stage.graph().await;
    let node = graph.artifact(&artifact).unwrap();
    let account = stage.engine.account_of(&graph);
    let result = node.result.as_ref().unwrap();
    let bytes = stage.engine.payload(account, result).unwrap();
    assert_eq!(result.bytes, bytes.len() as u64);
    bytes
}

#[tokio::test]
async fn every_byte_that_goes_in_comes_out() {
    let stage = Stage::new().await;
    let run = stage.run().await;
    let every_byte: Vec<u8> = (0..=255).cycle().take(4_096).collect();
    let large: Vec<u8> = (0..1_048_576_u32)
        .map(|n| u8::try_from(n.wrapping_mul(2_654_435_761) >> 24).unwrap())
        .collect();
    let lines = "a line of a log that repeats itself\n"
        .repeat(29_128)
        .into_bytes();
    let cases: [(&str, Vec<u8>, MediaType); 9] = [
        ("empty", Vec::new(), MediaType::Text),
        ("one zero", vec![0], MediaType::Bytes),
        ("every byte", every_byte, MediaType::Bytes),
        (
            "invalid utf-8",
            b"caf\xe9 \xff\xfe{\"a\":1".to_vec(),
            MediaType::Text,
        ),
        ("invalid json", b"{\"a\":\xff}".to_vec(), MediaType::Json),
        (
            "half a character",
            "żółć".as_bytes()[..5].to_vec(),
            MediaType::Csv,
        ),
        (
            "line ends",
            b"a\r\nb\n\r\n\xef\xbb\xbf".to_vec(),
            MediaType::Text,
        ),
        ("1 MB that does not compress", large, MediaType::Bytes),
        ("1 MB of a log", lines, MediaType::Text),
    ];
    for (name, bytes, media_type) in cases {
        let new = NewCall {
            arguments: bytes[..bytes.len().min(4_096)].to_vec(),
            ..NewCall::json(run, label("read"), "")
        };
        let arguments = new.arguments.clone();
        let call = stage.talk().request_call(new).await.unwrap();
        let result = NewArtifact {
            structured: Some(bytes.clone()),
            ..NewArtifact::succeeded(call, bytes.clone(), media_type)
        };
        let captured = stage.talk().capture(result).await.unwrap();
        assert!(bytes_of(&stage, captured.artifact).await == bytes, "{name}");
        let graph = stage.graph().await;
        let account = stage.engine.account_of(&graph);
        let read = |payload| stage.engine.payload(account, payload).unwrap();
        let node = graph.artifact(&captured.artifact).unwrap();
        assert!(read(node.structured.as_ref().unwrap()) == bytes, "{name}");
        let call = graph.call(&call).unwrap();
        assert!(read(&call.arguments) == arguments, "{name}");
        let memory = graph.memory(&captured.memory.unwrap()).unwrap();
        assert_eq!(memory.artifacts, [captured.artifact], "{name}");
    }
    let found = holds(&stage.engine).await;
    assert_eq!((found.memories, found.memories_skipped), (9, 0));
}

#[tokio::test]
async fn a_request_holds_what_can_be_read_of_bytes_that_are_no_text() {
    let stage = Stage::new().await;
    let run = stage.run().await;
    let call = stage.call(run, "read", "{}").await;
    let result = NewArtifact::succeeded(call, b"caf\xe9 BK7Q2M".to_vec(), MediaType::Text);
    stage.talk().capture(result).await.unwrap();
    let message = NewMessage::user(stage.opened.user, "What does it say?");
    stage.talk().record_message(message).await.unwrap();
    let assembled = stage.talk().assemble(stage.chat()).await.unwrap();
    let request = foldback::openai::render(&assembled.prompt).to_string();
    assert!(request.contains("BK7Q2M"), "{request}");
}

async fn superseded(stage: &Stage) -> Vec<(MemoryId, Vec<MemoryId>)> {
    let rows = stage.engine.events(stage.opened.id).await.unwrap();
    let all = rows.into_iter().filter_map(|row| match row.event.body {
        Body::MemoriesSuperseded(body) => Some((body.memory, body.supersedes)),
        _ => None,
    });
    all.collect()
}

async fn conflicts(stage: &Stage) -> Vec<Vec<MemoryId>> {
    let rows = stage.engine.events(stage.opened.id).await.unwrap();
    let all = rows.into_iter().filter_map(|row| match row.event.body {
        Body::MemoriesConflicted(body) => {
            assert!(!body.keys.is_empty(), "it says on what they disagree");
            Some(body.memories)
        }
        _ => None,
    });
    all.collect()
}

fn memory(captured: &Captured) -> MemoryId {
    captured.memory.unwrap()
}

#[tokio::test]
async fn the_same_question_answered_again_supersedes_the_older_answer() {
    let stage = Stage::new().await;
    let run = stage.run().await;
    let one = stage
        .ask(
            run,
            "find",
            r#"{"to":"Wien","day":15,"opt":{"x":1,"y":[2,3]}}"#,
            "[1]",
        )
        .await;
    let two = stage
        .ask(
            run,
            "find",
            r#"{ "opt":{"y":[2,3],"x":1}, "day":15, "to":"Wien" }"#,
            "[2]",
        )
        .await;
    assert_eq!(
        superseded(&stage).await,
        [(memory(&two), vec![memory(&one)])]
    );
    let graph = stage.graph().await;
    assert_eq!(
        graph.memory(&memory(&one)).unwrap().superseded_by,
        [memory(&two)]
    );
    // Another order of a list, another value and another tool are other questions.
    stage
        .ask(
            run,
            "find",
            r#"{"to":"Wien","day":15,"opt":{"x":1,"y":[3,2]}}"#,
            "[3]",
        )
        .await;
    stage
        .ask(
            run,
            "find",
            r#"{"to":"Wien","day":16,"opt":{"x":1,"y":[2,3]}}"#,
            "[4]",
        )
        .await;
    stage
        .ask(
            run,
            "seek",
            r#"{"to":"Wien","day":15,"opt":{"x":1,"y":[2,3]}}"#,
            "[5]",
        )
        .await;
    assert_eq!(superseded(&stage).await.len(), 1);
    // The third answer replaces the second, which is the one that stands.
    let three = stage
        .ask(
            run,
            "find",
            r#"{"day":15,"opt":{"y":[2,3],"x":1},"to":"Wien"}"#,
            "[6]",
        )
        .await;
    assert_eq!(
        superseded(&stage).await[1],
        (memory(&three), vec![memory(&two)])
    );
    holds(&stage.engine).await;
}

#[tokio::test]
async fn a_failure_supersedes_nothing_and_a_success_supersedes_a_failure() {
    let stage = Stage::new().await;
    let run = stage.run().await;
    let one = stage
        .ask(run, "find", r#"{"q":1}"#, r#"{"price":84}"#)
        .await;
    let call = stage.call(run, "find", r#"{"q":1}"#).await;
    let failure = NewArtifact::failed(call, "Error 503", true);
    let failed = stage.talk().capture(failure).await.unwrap();
    assert_eq!(superseded(&stage).await, []);
    assert_eq!(conflicts(&stage).await, Vec::<Vec<MemoryId>>::new());
    let graph = stage.graph().await;
    assert_eq!(graph.memory(&memory(&one)).unwrap().superseded_by, []);
    // The next success answers the question anew; what stood before the failure is replaced too.
    let two = stage
        .ask(run, "find", r#"{"q":1}"#, r#"{"price":96}"#)
        .await;
    let graph = stage.graph().await;
    let by = |of: &Captured| graph.memory(&memory(of)).unwrap().superseded_by.clone();
    assert_eq!(by(&one), [memory(&two)], "the older success is replaced");
    let _ = failed;
}

#[tokio::test]
async fn an_open_outcome_has_no_memory_and_its_resolution_has_one() {
    let stage = Stage::new().await;
    let run = stage.run().await;
    let call = stage.call(run, "pick", "{}").await;
    let open = NewArtifact::open(call, Outcome::Deferred, "waits");
    let open = stage.talk().capture(open).await.unwrap();
    assert_eq!(open.memory, None);
    let result = NewArtifact::succeeded(call, r#"{"picked":"doc-77812"}"#, MediaType::Json);
    let resolved = stage.talk().resolve(result).await.unwrap();
    let graph = stage.graph().await;
    let node = graph.artifact(&open.artifact).unwrap();
    assert_eq!(node.resolved_by, Some(resolved.artifact));
    assert_eq!(
        graph.memory(&memory(&resolved)).unwrap().artifacts,
        [resolved.artifact]
    );
    assert_eq!(bytes_of(&stage, open.artifact).await, b"waits");
}

/// Two answers on one booking that differ in the price.
const CHEAP: &str = r#"{"booking_id":"BK7Q2M","state":"confirmed","price":"84.50"}"#;
const DEAR: &str = r#"{"booking_id":"BK7Q2M","state":"confirmed","price":"96.00"}"#;

#[tokio::test]
async fn answers_that_disagree_on_one_subject_are_recorded_as_a_conflict() {
    let stage = Stage::new().await;
    let run = stage.run().await;
    let one = stage
        .ask(run, "get_booking", r#"{"booking_id":"BK7Q2M"}"#, CHEAP)
        .await;
    let same = stage
        .ask(
            run,
            "get_booking",
            r#"{"booking_id":"BK7Q2M","fresh":true}"#,
            CHEAP,
        )
        .await;
    assert_eq!(
        conflicts(&stage).await,
        Vec::<Vec<MemoryId>>::new(),
        "they agree"
    );
    let dear = stage
        .ask(
            run,
            "get_booking",
            r#"{"booking_id":"BK7Q2M","by":"phone"}"#,
            DEAR,
        )
        .await;
    let found = conflicts(&stage).await;
    assert_eq!(found.len(), 1, "{}", stage.text().await);
    let last = found[0].last().unwrap();
    assert_eq!(*last, memory(&dear));
    assert!(found[0].contains(&memory(&one)) || found[0].contains(&memory(&same)));
    let graph = stage.graph().await;
    assert!(
        !graph
            .memory(&memory(&dear))
            .unwrap()
            .conflicts_with
            .is_empty()
    );
    assert_eq!(
        graph.memory(&memory(&one)).unwrap().superseded_by,
        [],
        "both stay"
    );
}

#[tokio::test]
async fn participants_and_sibling_branches_neither_supersede_nor_contradict_each_other() {
    let stage = Stage::new().await;
    let question = r#"{"booking_id":"BK7Q2M"}"#;
    let run = stage.run().await;
    let at = stage.graph().await.position();
    let first = stage.ask(run, "get_booking", question, CHEAP).await;
    // Another participant on the same branch.
    let other = foldback::NewParticipant::model("other", label("claude"));
    let other = stage.talk().join(other).await.unwrap();
    let start = StartRun::chat(other);
    let run = stage.talk().start_run(start).await.unwrap();
    stage.ask(run, "get_booking", question, DEAR).await;
    stage
        .ask(
            run,
            "get_booking",
            r#"{"booking_id":"BK7Q2M","by":"phone"}"#,
            DEAR,
        )
        .await;
    // The same participant on a sibling that left before the first answer.
    let branch = stage.talk().fork(stage.opened.branch, at).await.unwrap();
    let start = StartRun {
        branch: Some(branch),
        ..StartRun::chat(stage.agent)
    };
    let run = stage.talk().start_run(start).await.unwrap();
    stage.ask(run, "get_booking", question, DEAR).await;
    stage
        .ask(
            run,
            "get_booking",
            r#"{"booking_id":"BK7Q2M","by":"phone"}"#,
            DEAR,
        )
        .await;
    assert_eq!(superseded(&stage).await, []);
    assert_eq!(conflicts(&stage).await, Vec::<Vec<MemoryId>>::new());
    // One that left after the answer inherits it, and so replaces it, for itself.
    let at = stage.graph().await.position();
    let heir = stage.talk().fork(stage.opened.branch, at).await.unwrap();
    let start = StartRun {
        branch: Some(heir),
        ..StartRun::chat(stage.agent)
    };
    let run = stage.talk().start_run(start).await.unwrap();
    stage.ask(run, "get_booking", question, DEAR).await;
    let found = superseded(&stage).await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].1, [memory(&first)]);
    // What the heir replaced for itself still stands where it was, and is replaced there anew.
    let run = stage.run().await;
    let again = stage.ask(run, "get_booking", question, DEAR).await;
    let found = superseded(&stage).await;
    assert_eq!(found[1..], [(memory(&again), vec![memory(&first)])]);
    holds(&stage.engine).await;
    let outdated = async |branch| {
        let request = foldback::AssembleRequest {
            branch: Some(branch),
            ..stage.chat()
        };
        let assembled = stage.talk().assemble(request).await.unwrap();
        let graph = stage.graph().await;
        let at = graph
            .memory(&memory(&first))
            .unwrap()
            .common
            .origin
            .position;
        assembled.assembly.decision(at).unwrap().reason == Reason::Superseded
    };
    // Each branch has its own replacement.
    assert!(outdated(stage.opened.branch).await);
    assert!(outdated(heir).await);
}

#[tokio::test]
async fn what_a_run_does_is_its_participants_own() {
    let stage = Stage::new().await;
    let run = stage.run().await;
    let captured = stage.ask(run, "t", "{}", r#"{"id":"X-1"}"#).await;
    let graph = stage.graph().await;
    for common in [
        &graph.artifact(&captured.artifact).unwrap().common,
        &graph.memory(&memory(&captured)).unwrap().common,
    ] {
        assert_eq!(common.ownership.visibility, Visibility::ParticipantPrivate);
        assert_eq!(common.ownership.owner_participant, Some(stage.agent));
        assert_eq!(common.ownership.owner_run, Some(run));
    }
}
