//! Why a record was seen or not, where the answer is not in the trace alone.

use crate::assembly::{ask, flights, fold, policy};
use foldback_assembly::{Explanation, assemble, explain_record};
use foldback_event::ParticipantId;
use foldback_event::kind::RecordRef;
use foldback_graph::RuntimeGraph;
use foldback_testkit::Story;
use foldback_testkit::story::Recorded;
use insta::assert_snapshot;
use std::fmt::Write as _;

fn position(graph: &RuntimeGraph, record: impl Recorded) -> u64 {
    let record = record.record();
    graph.common(&record).unwrap().origin.position
}

fn told(text: &mut String, explanation: &Explanation) {
    let reason = explanation.reason;
    let _ = writeln!(text, "{reason}: {}", explanation.sentence);
    for step in &explanation.provenance {
        let _ = writeln!(text, "    {step}");
    }
    if let Some(hint) = &explanation.hint {
        let _ = writeln!(text, "    hint: {hint}");
    }
}

/// A person asks twice; between, a model looks something up.
fn lookup(s: &mut Story) -> (ParticipantId, ParticipantId, [RecordRef; 3]) {
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    s.says(mia, "Find flights.");
    let run = s.run(agent);
    let call = s.calls(run, "search_flights", r#"{"to":"SEA"}"#);
    let artifact = s.result(call, &flights(12));
    let memory = s.lossless().derives(artifact, "12 flights");
    s.finishes(run, "tool_calls");
    let records = [call.record(), artifact.record(), memory.record()];
    (mia, agent, records)
}

#[test]
fn a_memory_leads_back_to_the_message_that_was_answered() {
    let mut s = Story::new("provenance");
    let (mia, agent, records) = lookup(&mut s);
    s.run(agent);
    s.says(mia, "Go on.");
    let graph = fold(&s);
    let assembly = assemble(&graph, &policy(&[]), &ask(&s, agent), None).unwrap();
    let mut text = String::new();
    for record in records {
        let at = position(&graph, record);
        told(&mut text, &explain_record(&graph, &assembly, at).unwrap());
    }
    assert_snapshot!(text);
}

#[test]
fn what_was_never_a_candidate_is_explained_too() {
    let mut s = Story::new("no candidates");
    let (mia, agent, records) = lookup(&mut s);
    let looked_up = s.position();
    let there = s.says(mia, "On the main branch.");
    let sibling = s.fork(s.main(), 3);
    s.on(sibling);
    let aside = s.says(mia, "On a sibling.");
    let fork = s.fork(s.main(), looked_up);
    s.on(fork);
    for n in 0..6 {
        s.says(mia, &format!("On the fork, {n}."));
    }
    let request = ask(&s, agent);
    let graph = fold(&s);
    let few = policy(&[("candidates = 4096", "candidates = 4")]);
    let assembly = assemble(&graph, &few, &request, None).unwrap();
    let late = s.says(mia, "After the request.");
    let later = fold(&s);
    let why = |record: RecordRef| {
        let at = position(&later, record);
        explain_record(&later, &assembly, at).unwrap()
    };
    let [call, ..] = records;
    let mut text = String::new();
    let mut codes = Vec::new();
    for record in [call, there.record(), aside.record(), late.record()] {
        let explanation = why(record);
        assert!(explanation.presentation.is_none());
        codes.push(explanation.reason);
        told(&mut text, &explanation);
    }
    assert_eq!(
        codes,
        [
            "candidate-bound",
            "branch-excluded",
            "branch-excluded",
            "later"
        ]
    );
    // An event that made no record has nothing to explain.
    assert!(explain_record(&later, &assembly, 1).is_none());
    assert!(explain_record(&later, &assembly, 1_000).is_none());
    assert_snapshot!(text);
}

#[test]
fn a_compact_form_says_why_the_result_itself_is_not_there() {
    let mut s = Story::new("compact because");
    let (_, agent, [_, _, memory]) = lookup(&mut s);
    let graph = fold(&s);
    let request = ask(&s, agent);
    let large = policy(&[("raw-tokens-max = 30000", "raw-tokens-max = 100")]);
    let mut tight = request.clone();
    tight.budget_tokens = Some(40);
    let mut text = String::new();
    for (policy, request) in [(large, request), (policy(&[]), tight)] {
        let assembly = assemble(&graph, &policy, &request, None).unwrap();
        let at = position(&graph, memory);
        let explanation = explain_record(&graph, &assembly, at).unwrap();
        // No earlier request held it: the model has not been asked since.
        assert!(!explanation.sentence.contains("earlier request"));
        let _ = writeln!(text, "{}", explanation.sentence);
    }
    assert_snapshot!(text);
}
