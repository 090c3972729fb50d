//! What recovery needs stays in, whatever else goes.

use crate::assembly::{ask, check, check_under, compact, flights, marker, out, policy, raw};
use foldback_event::{ParticipantId, Reason, RunId};
use foldback_testkit::Story;
use insta::assert_snapshot;

fn cast(s: &mut Story) -> (ParticipantId, ParticipantId) {
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    s.says(mia, "Find the contract and sign it.");
    (mia, agent)
}

/// A later turn in which the model tries something else.
fn next_turn(s: &mut Story, mia: ParticipantId, agent: ParticipantId) -> RunId {
    let run = s.run(agent);
    s.answers(run, "I wait for it.");
    s.finishes(run, "stop");
    s.says(mia, "Go on.");
    s.run(agent)
}

/// The floor: no budget that is accepted is smaller.
fn floor(s: &Story, agent: ParticipantId) -> u64 {
    let mut request = ask(s, agent);
    request.budget_tokens = Some(0);
    let graph = crate::assembly::fold(s);
    match foldback_assembly::assemble(&graph, &policy(&[]), &request, None) {
        Err(foldback_assembly::AssembleError::BelowFloor { floor, .. }) => floor,
        other => panic!("a budget of nothing gave {other:?}"),
    }
}

#[test]
fn open_calls_are_protected_until_they_are_resolved() {
    let mut s = Story::new("open calls");
    let (mia, agent) = cast(&mut s);
    let run = s.run(agent);
    let picks = s.calls(run, "pick_document", r#"{"choices":["d1","d2"]}"#);
    let signs = s.calls(run, "sign", r#"{"id":"d1"}"#);
    let asks = s.calls(run, "ask_owner", r#"{"id":"d1"}"#);
    s.finishes(run, "tool_calls");
    let deferred = s.defers(picks, "the user chooses d1 or d2");
    let pending = s.pending(signs);
    next_turn(&mut s, mia, agent);
    let mut request = ask(&s, agent);
    request.budget_tokens = Some(floor(&s, agent));
    let held = || {
        [
            raw(picks, Reason::Recovery),
            raw(deferred, Reason::Recovery),
            raw(signs, Reason::Recovery),
            marker(pending, Reason::Recovery),
            raw(asks, Reason::Recovery),
        ]
    };
    let open = check(&s, &request, &held());
    let resolved = s.resolves(picks, r#"{"chosen":"d2"}"#);
    let settled = check(
        &s,
        &ask(&s, agent),
        &[
            raw(picks, Reason::Permitted),
            out(deferred, Reason::Replaced),
            raw(resolved, Reason::Permitted),
            raw(signs, Reason::Recovery),
        ],
    );
    assert_snapshot!(format!("{open}\n{settled}"));
}

#[test]
fn a_summary_does_not_cut_what_is_open_nor_what_came_of_it_since() {
    let mut s = Story::new("open across a summary");
    let (mia, agent) = cast(&mut s);
    let run = s.run(agent);
    let picks = s.calls(run, "pick_document", r#"{"choices":["d1","d2"]}"#);
    let done = s.calls(run, "list_documents", "{}");
    s.finishes(run, "tool_calls");
    let listed = s.result(done, "d1, d2");
    let deferred = s.defers(picks, "the user chooses");
    let summary = s.summary("Mia wants the contract signed.");
    check(
        &s,
        &ask(&s, agent),
        &[
            raw(picks, Reason::Recovery),
            raw(deferred, Reason::Recovery),
            out(done, Reason::Summarized),
            out(listed, Reason::Summarized),
            raw(summary, Reason::Permitted),
        ],
    );
    // The summary cannot tell what came after it.
    let resolved = s.resolves(picks, r#"{"chosen":"d2"}"#);
    s.says(mia, "Well?");
    assert_snapshot!(check(
        &s,
        &ask(&s, agent),
        &[
            raw(picks, Reason::Permitted),
            raw(resolved, Reason::Permitted),
            out(deferred, Reason::Replaced),
        ],
    ));
}

#[test]
fn a_failure_that_may_be_retried_is_protected_until_a_success() {
    let mut s = Story::new("retry");
    let (mia, agent) = cast(&mut s);
    let run = s.run(agent);
    let call = s.calls(run, "sign", r#"{"id":"d1"}"#);
    s.finishes(run, "tool_calls");
    let error = s.fails(call, "timed out after 30 s", true);
    let run = next_turn(&mut s, mia, agent);
    let mut request = ask(&s, agent);
    request.budget_tokens = Some(floor(&s, agent));
    let failed = check(
        &s,
        &request,
        &[raw(call, Reason::Recovery), raw(error, Reason::Recovery)],
    );
    let again = s.calls(run, "sign", r#"{"id":"d1"}"#);
    s.finishes(run, "tool_calls");
    s.result(again, "signed");
    let settled = check(
        &s,
        &ask(&s, agent),
        &[raw(call, Reason::Permitted), raw(error, Reason::Permitted)],
    );
    assert_snapshot!(format!("{failed}\n{settled}"));
}

#[test]
fn an_earlier_success_makes_nothing_good() {
    let mut s = Story::new("success before failure");
    let (_, agent) = cast(&mut s);
    let run = s.run(agent);
    let first = s.calls(run, "sign", "{}");
    s.result(first, "signed");
    let second = s.calls(run, "sign", "{}");
    s.fails(second, "timed out after 30 s", true);
    let retryable = policy(&[("failed = \"latest\"", "failed = \"retryable\"")]);
    let held = [raw(second, Reason::Recovery)];
    check_under(&retryable, &s, &ask(&s, agent), &held);
}

#[test]
fn only_the_requesters_success_on_its_own_branch_makes_a_failure_good() {
    let mut s = Story::new("retry elsewhere");
    let (mia, agent) = cast(&mut s);
    let other = s.model("other", "claude");
    let run = s.run(agent);
    let calls = [1, 2].map(|n| s.calls(run, "sign", &format!(r#"{{"id":"d{n}"}}"#)));
    for call in calls {
        s.fails(call, "timed out after 30 s", true);
    }
    let held = || calls.map(|call| raw(call, Reason::Recovery));
    let fork = s.fork(s.main(), s.position());
    let run = s.run(other);
    let call = s.calls(run, "sign", "{}");
    s.result(call, "signed");
    check(&s, &ask(&s, agent), &held());
    let run = s.run(agent);
    let again = s.calls(run, "sign", "{}");
    s.result(again, "signed");
    let settled = calls.map(|call| raw(call, Reason::Permitted));
    check(&s, &ask(&s, agent), &settled);
    s.on(fork);
    s.says(mia, "And here?");
    check(&s, &ask(&s, agent), &held());
}

#[test]
fn the_newest_failure_of_each_tool_is_protected_even_if_none_promised_a_retry() {
    let mut s = Story::new("newest failure");
    let (mia, agent) = cast(&mut s);
    let run = s.run(agent);
    let first = s.calls(run, "sign", r#"{"id":"d1"}"#);
    s.fails(first, "no such document", false);
    let second = s.calls(run, "sign", r#"{"id":"d2"}"#);
    let newest = s.fails(second, "the key has expired", false);
    s.finishes(run, "tool_calls");
    next_turn(&mut s, mia, agent);
    let latest = check(
        &s,
        &ask(&s, agent),
        &[
            raw(first, Reason::Permitted),
            raw(second, Reason::Recovery),
            raw(newest, Reason::Recovery),
        ],
    );
    assert_snapshot!(latest);
    let retryable = policy(&[("failed = \"latest\"", "failed = \"retryable\"")]);
    let permitted = [raw(second, Reason::Permitted)];
    check_under(&retryable, &s, &ask(&s, agent), &permitted);
}

#[test]
fn a_long_error_is_protected_in_its_compact_form() {
    let mut s = Story::new("long error");
    let (mia, agent) = cast(&mut s);
    let run = s.run(agent);
    let call = s.calls(run, "build", "{}");
    s.finishes(run, "tool_calls");
    let trace = "at module.function (file.rs:120)\n".repeat(60);
    let error = s.fails(call, &trace, true);
    let memory = s.derives(error, "build failed at file.rs:120");
    next_turn(&mut s, mia, agent);
    let mut request = ask(&s, agent);
    request.budget_tokens = Some(floor(&s, agent));
    assert_snapshot!(check(
        &s,
        &request,
        &[
            raw(call, Reason::Recovery),
            out(error, Reason::Compacted),
            compact(memory, Reason::Permitted),
        ],
    ));
    // No rule on staleness takes the call away from recovery.
    let omits = policy(&[("stale = \"marker\"", "stale = \"omit\"")]);
    request.as_of = request.as_of.plus_seconds(100_000);
    request.budget_tokens = None;
    check_under(
        &omits,
        &s,
        &request,
        &[raw(call, Reason::Recovery), marker(memory, Reason::Stale)],
    );
}

#[test]
fn what_is_open_on_a_branch_is_not_crowded_out_by_its_siblings() {
    let mut s = Story::new("crowded");
    let (mia, agent) = cast(&mut s);
    let run = s.run(agent);
    let call = s.calls(run, "pick_document", "{}");
    let side = s.fork(s.main(), s.position());
    s.on(side);
    let busy = s.run(agent);
    for n in 0..12 {
        s.calls(busy, "pick_document", &format!(r#"{{"n":{n}}}"#));
    }
    s.on(s.main());
    for n in 0..12 {
        s.says(mia, &format!("Still {n}."));
    }
    let few = policy(&[("candidates = 4096", "candidates = 6")]);
    check_under(&few, &s, &ask(&s, agent), &[raw(call, Reason::Recovery)]);
}

#[test]
fn a_long_turn_keeps_its_prompt_and_its_summary() {
    let mut s = Story::new("long turn");
    let (_, agent) = cast(&mut s);
    let summary = s.summary("Mia wants the contract signed.");
    let mia = s.human("Mia");
    let prompt = s.says(mia, "Search everywhere.");
    for n in 0..8 {
        let run = s.run(agent);
        let call = s.calls(run, "search_flights", &format!(r#"{{"page":{n}}}"#));
        s.finishes(run, "tool_calls");
        let artifact = s.result(call, &flights(12));
        s.lossless().derives(artifact, "12 flights");
    }
    let few = policy(&[("candidates = 4096", "candidates = 6")]);
    assert_snapshot!(check_under(
        &few,
        &s,
        &ask(&s, agent),
        &[
            raw(summary, Reason::Permitted),
            raw(prompt, Reason::Permitted)
        ],
    ));
}
