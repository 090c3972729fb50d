//! Runs, calls and artifacts.

use crate::{fold, graph_of, seen};
use foldback_event::CallStatus;
use foldback_testkit::Story;

#[test]
fn a_chat_with_a_tool() {
    let mut s = Story::new("flight change");
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    s.says(mia, "Move my flight to Friday.");
    let run = s.run(agent);
    let call = s
        .source_id("call_1")
        .calls(run, "get_reservation", r#"{"id":"4WQ150"}"#);
    s.finishes(run, "tool_calls");
    let artifact = s.result(call, r#"{"id":"4WQ150","day":"Thu"}"#);
    s.derives(artifact, "4WQ150 flies on Thursday");
    let run = s.run(agent);
    s.answers(run, "Done.");
    s.finishes(run, "stop");
    insta::assert_snapshot!(graph_of(&s), @r"
     1 conversation account acct_6447447c
     1 branch br_ee7cfe14
     2 participant part_775a32f1 human
     3 participant part_50d79589 model model gpt-4o
     4 message msg_9eed8de7 user 6 tok
     5 run run_f7ec196b chat by part_50d79589 on br_ee7cfe14 finished tool_calls
     6 call call_6b197d01 get_reservation 9 tok requested-by run_f7ec196b
     8 artifact art_c870163d get_reservation succeeded 17 tok of call_6b197d01
     9 memory mem_db054947 story v1 bounded 4 tok derived-from art_c870163d
    10 run run_c93bfb23 chat by part_50d79589 on br_ee7cfe14 finished stop
    11 message msg_f492152a assistant 2 tok generated-by run_c93bfb23
    ");
    insta::assert_snapshot!(seen(&s), @r#"
    #4 user Mia
        Move my flight to Friday.
    #6 tool get_reservation succeeded
        > {"id":"4WQ150"}
        < {"id":"4WQ150","day":"Thu"}
    #11 assistant agent
        Done.
    "#);
}

#[test]
fn parallel_calls_keep_their_order_and_their_own_results() {
    let mut s = Story::new("parallel");
    let agent = s.model("agent", "gpt-4o");
    let run = s.run(agent);
    let first = s.calls(run, "search_flights", r#"{"day":"Thu"}"#);
    let second = s.calls(run, "search_flights", r#"{"day":"Fri"}"#);
    let third = s.calls(run, "list_mail", "{}");
    s.finishes(run, "tool_calls");
    s.result(second, "two flights");
    s.result(first, "no flight");
    insta::assert_snapshot!(graph_of(&s), @r"
    1 conversation account acct_6447447c
    1 branch br_11ea2391
    2 participant part_70075866 model model gpt-4o
    3 run run_4c2726ab chat by part_70075866 on br_11ea2391 finished tool_calls
    4 call call_1f7a375f search_flights 9 tok requested-by run_4c2726ab
    5 call call_0f8da29b search_flights 9 tok requested-by run_4c2726ab
    6 call call_1607cb0f list_mail 2 tok requested-by run_4c2726ab
    8 artifact art_42fce436 search_flights succeeded 2 tok of call_0f8da29b
    9 artifact art_f76d34dd search_flights succeeded 2 tok of call_1f7a375f
    ");
    insta::assert_snapshot!(seen(&s), @r#"
    #4 tool search_flights succeeded
        > {"day":"Thu"}
        < no flight
    #5 tool search_flights succeeded
        > {"day":"Fri"}
        < two flights
    #6 tool list_mail pending
        > {}
    "#);
    let graph = fold(&s);
    assert_eq!(graph.run(&run).unwrap().calls, [first, second, third]);
    // The third call has no outcome yet: recovery needs it.
    assert_eq!(graph.unresolved_newest_first().collect::<Vec<_>>(), [6]);
}

#[test]
fn a_pending_call_is_resolved_later() {
    let mut s = Story::new("pending");
    let agent = s.model("agent", "gpt-4o");
    let run = s.run(agent);
    let call = s.calls(run, "approve_refund", r#"{"usd":120}"#);
    let open = s.pending(call);
    s.finishes(run, "tool_calls");
    assert_eq!(fold(&s).unresolved_newest_first().collect::<Vec<_>>(), [4]);
    let late = s.resolves(call, "approved");
    let graph = fold(&s);
    assert_eq!(graph.artifact(&open).unwrap().resolved_by, Some(late));
    assert_eq!(graph.unresolved_newest_first().count(), 0);
    assert!(graph.findings().is_empty());
    insta::assert_snapshot!(graph_of(&s), @r"
    1 conversation account acct_6447447c
    1 branch br_99f0bfb4
    2 participant part_d016a29e model model gpt-4o
    3 run run_bab1adb7 chat by part_d016a29e on br_99f0bfb4 finished tool_calls
    4 call call_0f27531a approve_refund 7 tok requested-by run_bab1adb7
    5 artifact art_7366ec47 approve_refund pending no result of call_0f27531a resolved-by art_26e17293
    7 artifact art_26e17293 approve_refund succeeded 1 tok of call_0f27531a
    ");
    insta::assert_snapshot!(seen(&s), @r#"
    #4 tool approve_refund succeeded
        > {"usd":120}
        < approved
    "#);
}

#[test]
fn a_deferred_call_that_is_cancelled_is_settled() {
    let mut s = Story::new("deferred");
    let agent = s.model("agent", "gpt-4o");
    let run = s.run(agent);
    let call = s.calls(run, "ask_manager", "{}");
    s.defers(call, "asked Ann");
    assert!(fold(&s).is_unresolved(4));
    s.cancels(call);
    assert!(!fold(&s).is_unresolved(4));
    assert!(fold(&s).findings().is_empty());
}

#[test]
fn a_failure_that_may_be_tried_again_is_needed_until_it_is_made_good() {
    let mut s = Story::new("retry");
    let agent = s.model("agent", "gpt-4o");
    let run = s.run(agent);
    let failed = s.calls(run, "search_flights", "{}");
    s.fails(failed, "timed out", true);
    let other = s.calls(run, "list_mail", "{}");
    s.result(other, "no mail");
    assert!(fold(&s).is_unresolved(4), "another tool makes nothing good");
    let again = s.calls(run, "search_flights", "{}");
    s.result(again, "two flights");
    s.finishes(run, "stop");
    assert_eq!(fold(&s).unresolved_newest_first().count(), 0);
    insta::assert_snapshot!(graph_of(&s), @r"
    1 conversation account acct_6447447c
    1 branch br_29d589b2
    2 participant part_2ea847af model model gpt-4o
    3 run run_a1ab2e14 chat by part_2ea847af on br_29d589b2 finished stop
    4 call call_c6c03341 search_flights 2 tok requested-by run_a1ab2e14
    5 artifact art_859315ab search_flights failed 2 tok of call_c6c03341
    6 call call_ce8662c7 list_mail 2 tok requested-by run_a1ab2e14
    7 artifact art_f171f12e list_mail succeeded 2 tok of call_ce8662c7
    8 call call_4bdbf732 search_flights 2 tok requested-by run_a1ab2e14
    9 artifact art_824d5d33 search_flights succeeded 2 tok of call_4bdbf732
    ");
    insta::assert_snapshot!(seen(&s), @r"
    #4 tool search_flights failed
        > {}
        < timed out
    #6 tool list_mail succeeded
        > {}
        < no mail
    #8 tool search_flights succeeded
        > {}
        < two flights
    ");
}

#[test]
fn a_success_makes_good_what_failed_and_not_what_is_open_or_elsewhere() {
    let mut s = Story::new("made good");
    let agent = s.model("agent", "gpt-4o");
    let run = s.run(agent);
    let [first, second, reopened] = [4, 5, 6].map(|_| s.calls(run, "search_flights", "{}"));
    for call in [first, second, reopened] {
        s.fails(call, "timed out", true);
    }
    s.pending(reopened);
    let branch = s.fork(s.main(), 3);
    s.on(branch);
    let other = s.run(agent);
    let elsewhere = s.calls(other, "search_flights", "{}");
    s.result(elsewhere, "found");
    let unresolved = |s: &Story| fold(s).unresolved_newest_first().collect::<Vec<_>>();
    assert_eq!(
        unresolved(&s),
        [6, 5, 4],
        "a sibling's success makes nothing good"
    );
    let again = s.calls(run, "search_flights", "{}");
    s.result(again, "found");
    assert_eq!(
        unresolved(&s),
        [6],
        "what is pending again is still waited for"
    );
    s.fails(reopened, "timed out", true);
    assert_eq!(unresolved(&s), [6], "it failed after the success");
}

#[test]
fn a_failure_that_may_not_be_tried_again_is_settled_at_once() {
    let mut s = Story::new("final failure");
    let agent = s.model("agent", "gpt-4o");
    let run = s.run(agent);
    let call = s.calls(run, "delete_all", "{}");
    s.fails(call, "not allowed", false);
    assert_eq!(fold(&s).unresolved_newest_first().count(), 0);
}

#[test]
fn a_broken_run_is_tried_again() {
    let mut s = Story::new("broken run");
    let agent = s.model("agent", "gpt-4o");
    let broken = s.run(agent);
    s.breaks_off(broken, "overloaded", true);
    let again = s.retries(broken, agent);
    s.answers(again, "Here I am.");
    s.finishes(again, "stop");
    let graph = fold(&s);
    assert_eq!(graph.run(&again).unwrap().retries, Some(broken));
    assert!(graph.run(&broken).unwrap().end.as_ref().unwrap().retryable);
    insta::assert_snapshot!(graph_of(&s), @r"
    1 conversation account acct_6447447c
    1 branch br_a9adee5e
    2 participant part_01738976 model model gpt-4o
    3 run run_fcfd36bc chat by part_01738976 on br_a9adee5e failed
    5 run run_1da32aad chat by part_01738976 on br_a9adee5e finished stop
    6 message msg_76643d6b assistant 4 tok generated-by run_1da32aad
    ");
}

#[test]
fn a_second_final_outcome_is_kept_and_odd() {
    let mut s = Story::new("twice");
    let agent = s.model("agent", "gpt-4o");
    let run = s.run(agent);
    let call = s.calls(run, "search_flights", "{}");
    s.result(call, "one");
    s.outcome(call, CallStatus::Failed, false, None);
    insta::assert_snapshot!(graph_of(&s), @r"
    1 conversation account acct_6447447c
    1 branch br_57d59b75
    2 participant part_2c5cdb12 model model gpt-4o
    3 run run_2fc118c0 chat by part_2c5cdb12 on br_57d59b75 open
    4 call call_545fc40e search_flights 2 tok requested-by run_2fc118c0
    5 artifact art_d0fd5895 search_flights succeeded 1 tok of call_545fc40e
    6 artifact art_eef4d7ae search_flights failed no result of call_545fc40e
    6 ! second-outcome
    ");
    assert_eq!(fold(&s).call(&call).unwrap().artifacts.len(), 2);
}

#[test]
fn a_long_result_is_shortened_on_its_card_alone() {
    let mut s = Story::new("long");
    let agent = s.model("agent", "gpt-4o");
    let run = s.run(agent);
    let call = s.calls(run, "read_file", r#"{"path":"a.txt"}"#);
    s.result(call, &"line\n".repeat(100));
    let card = seen(&s);
    let shown = card.lines().last().unwrap();
    assert!(
        shown.ends_with('…') && shown.chars().count() < 220,
        "{shown}"
    );
}

#[test]
fn a_job_fires() {
    let mut s = Story::new("job");
    let agent = s.model("agent", "gpt-4o");
    s.job(agent, "nightly-report", "Write the report.");
    let run = s.mode(foldback_event::RuntimeKind::Scheduled).run(agent);
    s.answers(run, "The report.");
    s.finishes(run, "stop");
    insta::assert_snapshot!(graph_of(&s), @r"
    1 conversation account acct_6447447c
    1 branch br_fa61b9a4
    2 participant part_fde0aed6 model model gpt-4o
    3 job job_cde1ce29 nightly-report by part_fde0aed6 on br_fa61b9a4
    4 run run_83272587 scheduled by part_fde0aed6 on br_fa61b9a4 finished stop
    5 message msg_28f30978 assistant 3 tok generated-by run_83272587
    ");
}
