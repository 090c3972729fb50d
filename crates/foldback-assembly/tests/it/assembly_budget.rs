//! What goes first when the budget is tight, and what is refused.

use crate::assembly::{ask, check, compact, flights, fold, out, policy, raw};
use foldback_assembly::{AssembleError, assemble};
use foldback_event::kind::{AssemblyRequest, Relevance};
use foldback_event::{BranchId, Label, ParticipantId, Reason};
use foldback_graph::RuntimeGraph;
use foldback_testkit::Story;
use insta::assert_snapshot;

fn refused(story: &Story, request: &AssemblyRequest) -> AssembleError {
    assemble(&fold(story), &policy(&[]), request, None).unwrap_err()
}

#[test]
fn the_oldest_turn_goes_first_and_relevance_changes_that() {
    let mut s = Story::new("tight budget");
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    let rules = s.system("Be brief.");
    let turns: Vec<_> = (0..4)
        .map(|n| {
            s.says(
                mia,
                &format!("Question {n} and ten words more of it, to be long."),
            )
        })
        .collect();
    let [first, second, third, last] = turns[..] else {
        unreachable!()
    };
    let mut request = ask(&s, agent);
    request.budget_tokens = Some(35);
    let by_age = check(
        &s,
        &request,
        &[
            raw(rules, Reason::Permitted),
            out(first, Reason::Budget),
            out(second, Reason::Budget),
            raw(third, Reason::Permitted),
            raw(last, Reason::Permitted),
        ],
    );
    let position = fold(&s).message(&first).unwrap().common.origin.position;
    request.relevance = Some(Relevance {
        scorer: Label::or_stand_in("identifiers"),
        version: 1,
        scores: vec![(position, 7)],
    });
    let by_score = check(
        &s,
        &request,
        &[
            raw(first, Reason::Permitted),
            out(third, Reason::Budget),
            raw(last, Reason::Permitted),
        ],
    );
    assert_snapshot!(format!("{by_age}\n{by_score}"));
}

#[test]
fn at_the_edge_of_the_budget_a_result_is_condensed_before_it_goes() {
    let mut s = Story::new("edge of the budget");
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    s.says(mia, "Find flights.");
    let run = s.run(agent);
    let call = s.calls(run, "search_flights", r#"{"to":"SEA"}"#);
    s.finishes(run, "tool_calls");
    let artifact = s.result(call, &flights(12));
    let memory = s.derives(artifact, "12 flights JFK to SEA");
    let mut request = ask(&s, agent);
    check(&s, &request, &[raw(artifact, Reason::FreshRaw)]);
    request.budget_tokens = Some(60);
    assert_snapshot!(check(
        &s,
        &request,
        &[
            raw(call, Reason::Permitted),
            out(artifact, Reason::Budget),
            compact(memory, Reason::Permitted),
        ],
    ));
    // A memory that no longer holds does not stand in for the result.
    let again = s.calls(run, "search_flights", r#"{"to":"PDX"}"#);
    let other = s.result(again, "none");
    let newer = s.derives(other, "no flights");
    s.supersedes(newer, &[memory]);
    let mut request = ask(&s, agent);
    request.budget_tokens = Some(60);
    check(&s, &request, &[out(memory, Reason::Budget)]);
}

#[test]
fn a_budget_below_the_floor_is_refused() {
    let mut s = Story::new("below the floor");
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    s.system("Be brief.");
    s.says(mia, "Sign it.");
    let run = s.run(agent);
    let call = s.calls(run, "sign", r#"{"id":"d1"}"#);
    s.pending(call);
    s.says(mia, "And?");
    let mut request = ask(&s, agent);
    request.budget_tokens = Some(20);
    let error = refused(&s, &request);
    let AssembleError::BelowFloor { budget: 20, floor } = error else {
        panic!("{error}");
    };
    assert_snapshot!(error);
    request.budget_tokens = Some(floor - 1);
    assert!(
        matches!(refused(&s, &request), AssembleError::BelowFloor { floor: same, .. } if same == floor)
    );
    request.budget_tokens = Some(floor);
    let assembly = assemble(&fold(&s), &policy(&[]), &request, None).unwrap();
    assert_eq!(assembly.tokens.assembled, floor);
}

#[test]
fn a_request_that_does_not_fit_the_history_is_refused() {
    let mut s = Story::new("refusals");
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    s.says(mia, "Hello.");
    let request = ask(&s, agent);
    let mut said = Vec::new();
    let mut refuse = |error: AssembleError| said.push(error.to_string());
    refuse(refused(
        &s,
        &AssemblyRequest {
            position: 2,
            ..request.clone()
        },
    ));
    let nowhere = BranchId::from_bytes([7; 16]);
    refuse(refused(
        &s,
        &AssemblyRequest {
            branch: nowhere,
            ..request.clone()
        },
    ));
    let nobody = ParticipantId::from_bytes([7; 16]);
    refuse(refused(
        &s,
        &AssemblyRequest {
            participant: nobody,
            ..request.clone()
        },
    ));
    let empty = AssemblyRequest {
        position: 0,
        ..request
    };
    refuse(assemble(&RuntimeGraph::default(), &policy(&[]), &empty, None).unwrap_err());
    s.unknown(900, false);
    assemble(&fold(&s), &policy(&[]), &ask(&s, agent), None).unwrap();
    s.unknown(901, true);
    refuse(refused(&s, &ask(&s, agent)));
    assert_snapshot!(said.join("\n"));
}
