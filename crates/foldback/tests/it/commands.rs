//! Every command does what it says, and doing it again does nothing.

use crate::scene::{Stage, holds, marks, open, plain};
use crate::script::Script;
use foldback::event::ConversationId;
use foldback::{NewConversation, PolicyDocument, graph_text};

#[tokio::test]
async fn every_command_leaves_its_nodes_and_edges_in_the_graph() {
    let stage = Stage::new().await;
    Script::new(&stage, false).play().await;
    insta::assert_snapshot!(plain(&stage.text().await));
    assert!(holds(&stage.engine).await.assemblies == 2);
}

#[tokio::test]
async fn a_command_tried_again_gives_its_first_result_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let stage = Stage::on(open(folder.path(), 0)).await;
    let mut first = Script::new(&stage, true);
    first.play().await;
    let results = first.results;
    let (before, text) = (stage.marks().await, stage.text().await);
    drop(stage);

    // Another process, another day: the whole session is tried again from its beginning.
    let stage = Stage::on(open(folder.path(), 1)).await;
    let mut again = Script::new(&stage, false);
    again.play().await;
    for (first, again) in results.iter().zip(&again.results) {
        assert_eq!(first, again);
    }
    assert_eq!(results.len(), again.results.len());
    assert_eq!(stage.marks().await, before);
    assert_eq!(stage.text().await, text);
    assert!(results.len() > 35, "only {} commands", results.len());
}

#[tokio::test]
async fn a_conversation_opened_again_is_the_first_one() {
    let stage = Stage::new().await;
    let before = stage.marks().await;
    let new = NewConversation {
        id: Some(stage.opened.id),
        ..NewConversation::titled("another title")
    };
    let again = stage.engine.open_conversation(new).await.unwrap();
    assert_eq!(again, stage.opened);
    assert_eq!(stage.marks().await, before);
    // Without an id of its own, a conversation is always a new one.
    let ids: Vec<ConversationId> = [
        stage
            .engine
            .open_conversation(NewConversation::default())
            .await,
        stage
            .engine
            .open_conversation(NewConversation::default())
            .await,
    ]
    .into_iter()
    .map(|opened| opened.unwrap().id)
    .collect();
    assert_ne!(ids[0], ids[1]);
    assert_eq!(stage.engine.conversations().await.unwrap().len(), 3);
}

#[tokio::test]
async fn a_policy_is_registered_once_and_activated_when_it_changes() {
    let stage = Stage::new().await;
    let other = PolicyDocument::builtin().unwrap().text().to_owned() + "\n# as amended\n";
    let other = PolicyDocument::parse(&other).unwrap();
    let kinds = async || {
        let rows = stage.engine.events(stage.opened.id).await.unwrap();
        let policies = rows.iter().filter_map(|row| row.event.body.kind());
        policies
            .filter(|kind| kind.name().starts_with("policy"))
            .count()
    };
    stage.talk().assemble(stage.chat()).await.unwrap();
    assert_eq!(kinds().await, 2, "registered and activated");
    stage.talk().assemble(stage.chat()).await.unwrap();
    assert_eq!(kinds().await, 2);
    let mut request = stage.chat();
    request.policy = Some(other);
    stage.talk().assemble(request).await.unwrap();
    assert_eq!(kinds().await, 4, "another document is another policy");
    // The one activated last is in force.
    let last = stage.talk().assemble(stage.chat()).await.unwrap();
    assert_eq!(kinds().await, 4);
    let graph = stage.graph().await;
    assert_eq!(graph.active_policy(), Some(&last.assembly.policy));
    assert!(holds(&stage.engine).await.assemblies == 4);
}

#[tokio::test]
async fn reading_a_position_that_is_not_there_says_where_the_end_is() {
    let stage = Stage::new().await;
    let end = marks(&stage.engine, stage.opened.id).await.0 as u64;
    for position in [0, end + 1, u64::MAX] {
        let error = stage
            .engine
            .graph(stage.opened.id, Some(position))
            .await
            .unwrap_err();
        assert_eq!(error.code(), "FB0012");
        assert!(error.to_string().contains(&format!("ends at {end}")));
    }
    let whole = stage
        .engine
        .graph(stage.opened.id, Some(end))
        .await
        .unwrap();
    assert_eq!(graph_text(&whole), stage.text().await);
    let nobody = ConversationId::from_source(&[9; 16], "nobody");
    assert_eq!(
        stage.engine.graph(nobody, None).await.unwrap_err().code(),
        "FB0012"
    );
    assert_eq!(
        stage.engine.events(nobody).await.unwrap_err().code(),
        "FB0012"
    );
}
