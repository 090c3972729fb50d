//! A memory that quotes what its source does not hold: its source is looked for, and never made up.

use crate::scene::{Stage, label};
use foldback::event::kind::RepairOutcome;
use foldback::event::{
    ArtifactId, Body, Confidence, ConfidenceSource, Freshness, MediaType, MemoryId, Privacy,
};
use foldback::{MemoryDraft, NewArtifact, NewCall, Provenance, REPAIR_TRIES_MAX};

/// A lookup of one order; nothing is derived from it.
async fn order(stage: &Stage, number: &str, privacy: Privacy) -> ArtifactId {
    let run = stage.run().await;
    let arguments = format!(r#"{{"order":"{number}"}}"#);
    let call = NewCall::json(run, label("get_order"), &arguments);
    let call = stage.talk().request_call(call).await.unwrap();
    let result = format!(r#"{{"order":"{number}","supplier":"Kestrel"}}"#);
    let new = NewArtifact {
        derive: false,
        privacy,
        ..NewArtifact::succeeded(call, result, MediaType::Json)
    };
    stage.talk().capture(new).await.unwrap().artifact
}

async fn quoting(stage: &Stage, artifact: ArtifactId, quote: &str) -> MemoryId {
    let draft = MemoryDraft {
        artifacts: vec![artifact],
        summary: format!("{quote} comes on Friday"),
        confidence: Confidence {
            permille: 700,
            source: ConfidenceSource::Model,
            rationale: label("read"),
        },
        extractor: label("model"),
        extractor_version: 1,
        subject: None,
        freshness: Freshness::Durable,
        stale_after: None,
        revalidation: vec![],
        ambiguities: vec![],
        quotes: vec![quote.to_owned()],
    };
    stage.talk().derive(draft).await.unwrap()
}

async fn tries(stage: &Stage) -> Vec<(ArtifactId, RepairOutcome)> {
    let rows = stage.engine.events(stage.opened.id).await.unwrap();
    let tried = rows.into_iter().filter_map(|row| match row.event.body {
        Body::ProvenanceRepairTried(body) => Some((body.artifact, body.outcome)),
        _ => None,
    });
    tried.collect()
}

#[tokio::test]
async fn a_memory_whose_source_holds_what_it_quotes_is_left_alone() {
    let stage = Stage::new().await;
    let first = order(&stage, "PO-1", Privacy::Internal).await;
    let memory = quoting(&stage, first, "PO-1").await;
    let before = stage.marks().await;
    let provenance = stage.talk().repair(memory).await.unwrap();
    assert_eq!(provenance, Provenance::Intact);
    assert_eq!(stage.marks().await, before);
}

#[tokio::test]
async fn a_wrong_source_is_replaced_by_the_one_that_holds_the_quote() {
    let stage = Stage::new().await;
    let first = order(&stage, "PO-1", Privacy::Internal).await;
    let second = order(&stage, "PO-2", Privacy::Internal).await;
    let third = order(&stage, "PO-3", Privacy::Internal).await;
    let memory = quoting(&stage, first, "PO-2").await;
    assert_eq!(
        tries(&stage).await,
        [
            (first, RepairOutcome::Unresolved),
            (third, RepairOutcome::Unresolved),
            (second, RepairOutcome::Repaired),
        ]
    );
    let graph = stage.graph().await;
    let node = graph.memory(&memory).unwrap();
    assert_eq!(
        (node.artifacts.as_slice(), node.broken),
        (&[second][..], false)
    );
    assert_eq!(graph.artifact(&first).unwrap().memories, []);
    assert_eq!(graph.artifact(&second).unwrap().memories, [memory]);
    let verified = stage.engine.verify(|_| ()).await.unwrap();
    assert!(verified.problems.is_empty(), "{:?}", verified.problems);
}

#[tokio::test]
async fn a_more_sensitive_result_is_no_source() {
    let stage = Stage::new().await;
    let first = order(&stage, "PO-1", Privacy::Internal).await;
    order(&stage, "PO-2", Privacy::Personal).await;
    let memory = quoting(&stage, first, "PO-2").await;
    assert_eq!(tries(&stage).await, [(first, RepairOutcome::Unresolved)]);
    assert!(stage.graph().await.memory(&memory).unwrap().broken);
}

#[tokio::test]
async fn tries_are_bounded_over_the_life_of_a_memory() {
    let stage = Stage::new().await;
    let first = order(&stage, "PO-1", Privacy::Internal).await;
    for number in 2..6 {
        order(&stage, &format!("PO-{number}"), Privacy::Internal).await;
    }
    let memory = quoting(&stage, first, "PO-77").await;
    assert_eq!(tries(&stage).await.len(), 5);
    let provenance = stage.talk().repair(memory).await.unwrap();
    assert_eq!(provenance, Provenance::Broken { tries_left: 0 });
    let max = usize::try_from(REPAIR_TRIES_MAX).unwrap();
    assert_eq!(tries(&stage).await.len(), max);
    // What comes too late is not looked at.
    order(&stage, "PO-77", Privacy::Internal).await;
    let provenance = stage.talk().repair(memory).await.unwrap();
    assert_eq!(provenance, Provenance::Broken { tries_left: 0 });
    assert_eq!(tries(&stage).await.len(), max);
}

#[tokio::test]
async fn what_is_captured_later_may_be_the_source() {
    let stage = Stage::new().await;
    let first = order(&stage, "PO-1", Privacy::Internal).await;
    let memory = quoting(&stage, first, "PO-2").await;
    let second = order(&stage, "PO-2", Privacy::Internal).await;
    let provenance = stage.talk().repair(memory).await.unwrap();
    assert_eq!(provenance, Provenance::Repaired(second));
}
