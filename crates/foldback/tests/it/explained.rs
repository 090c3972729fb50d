//! Why a request holds what it holds, in sentences that can be forwarded.

use crate::scene::{NIGHT_TRAIN, Stage, import, options, replay};
use foldback::event::{Presentation, RecordKind};
use foldback::{Engine, Explanation, NewMessage};
use std::fmt::Write as _;

fn print(explanation: &Explanation) -> String {
    let mut out = format!("#{} {}\n", explanation.position, explanation.sentence);
    for step in &explanation.provenance {
        let _ = writeln!(out, "  {step}");
    }
    if let Some(hint) = &explanation.hint {
        let _ = writeln!(out, "  hint: {hint}");
    }
    out
}

#[tokio::test]
async fn an_omitted_result_has_a_reason_and_an_included_memory_leads_back_to_its_message() {
    let engine = Engine::in_memory(options(0)).unwrap();
    let row = import(&engine, "night-train.json", NIGHT_TRAIN)
        .await
        .unwrap()
        .remove(0);
    let replayed = replay(&engine, row.id).await;
    let last = replayed.requests.last().unwrap();
    let recorded = engine.recorded(row.id, &last.assembly).await.unwrap();
    let all = recorded.explain();
    let omitted = all
        .iter()
        .find(|e| e.record.kind == RecordKind::Artifact && e.presentation.is_none())
        .expect("an old result is out");
    let included = all
        .iter()
        .find(|e| {
            e.record.kind == RecordKind::Memory && e.presentation == Some(Presentation::Compact)
        })
        .expect("a memory is in");
    let steps = included.provenance.join("\n");
    for step in ["artifact art_", "call call_", "run run_", "message msg_"] {
        assert!(steps.contains(step), "`{step}` in {steps}");
    }
    // Ids are made of the source, so they are the same wherever the fixture is imported.
    insta::assert_snapshot!(format!("{}\n{}", print(omitted), print(included)));
}

#[tokio::test]
async fn every_candidate_is_explained_without_a_word_of_its_content() {
    let stage = Stage::new().await;
    let run = stage.run().await;
    let secret = "BK7Q2M-canary";
    stage
        .ask(
            run,
            "find",
            &format!(r#"{{"q":"{secret}"}}"#),
            &format!(r#"{{"id":"{secret}"}}"#),
        )
        .await;
    let said = NewMessage::user(stage.opened.user, secret);
    stage.talk().record_message(said).await.unwrap();
    let assembled = stage.talk().assemble(stage.chat()).await.unwrap();
    let later = NewMessage::user(stage.opened.user, "later");
    stage.talk().record_message(later).await.unwrap();
    let whole = stage.graph().await;
    let recorded = stage
        .engine
        .recorded(stage.opened.id, &assembled.id)
        .await
        .unwrap();
    let all = recorded.explain();
    assert_eq!(all.len(), recorded.assembly.decisions.len());
    for explanation in &all {
        assert!(
            !print(explanation).contains("canary"),
            "{}",
            print(explanation)
        );
        let one = recorded
            .explain_record(&whole, explanation.position)
            .unwrap();
        assert_eq!(&one, explanation);
    }
    let later = recorded.explain_record(&whole, whole.position()).unwrap();
    assert_eq!((later.reason, later.presentation), ("later", None));
    assert_eq!(
        recorded.explain_record(&whole, 1),
        None,
        "no record was created there"
    );
    assert_eq!(recorded.explain_record(&whole, whole.position() + 1), None);
}
