//! Branches, children, promotion, checkpoints, policies and assemblies.

use crate::{fold, graph_of, seen, seen_on};
use foldback_event::kind::{ChildStatus, RetentionClass};
use foldback_event::{Presentation, RecordKind, Visibility};
use foldback_testkit::Story;
use foldback_testkit::story::Recorded;
use std::fmt::Write as _;

#[test]
fn a_fork_inherits_up_to_its_point_and_siblings_stay_apart() {
    let mut s = Story::new("fork");
    let mia = s.human("Mia");
    s.says(mia, "Paris or Rome?");
    let at = s.position();
    s.says(mia, "only on main");
    let paris = s.fork(s.main(), at);
    let rome = s.fork(s.main(), at);
    s.on(paris).says(mia, "Paris it is");
    s.on(rome).says(mia, "Rome it is");
    s.on(s.main()).says(mia, "still on main");
    insta::assert_snapshot!(graph_of(&s), @r"
    1 conversation account acct_6447447c
    1 branch br_b30ea206
    2 participant part_ded39512 human
    3 message msg_179c1a22 user 4 tok
    4 message msg_1936d6e1 user 3 tok
    5 branch br_ab4da700 inherits-from br_b30ea206 at 3
    6 branch br_53561102 inherits-from br_b30ea206 at 3
    7 message msg_b1b4bbcb user 3 tok on br_ab4da700
    8 message msg_e0dfac0c user 3 tok on br_53561102
    9 message msg_a78d44c8 user 3 tok
    ");
    insta::assert_snapshot!(seen_on(&s, paris), @r"
    #3 user Mia
        Paris or Rome?
    #7 user Mia
        Paris it is
    ");
    insta::assert_snapshot!(seen_on(&s, rome), @r"
    #3 user Mia
        Paris or Rome?
    #8 user Mia
        Rome it is
    ");
    insta::assert_snapshot!(seen(&s), @r"
    #3 user Mia
        Paris or Rome?
    #4 user Mia
        only on main
    #9 user Mia
        still on main
    ");
}

#[test]
fn a_child_reports_to_its_parent_and_its_scratch_stays_private() {
    let mut s = Story::new("child");
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    s.says(mia, "Compare the hotels.");
    let run = s.run(agent);
    let call = s.calls(run, "task", r#"{"prompt":"hotels"}"#);
    let child = s.child(agent, "scout", Some(call));
    let inner = s.run(child.participant);
    let search = s.calls(inner, "search_hotels", "{}");
    let artifact = s.result(search, "three hotels");
    let memory = s.derives(artifact, "Hotel Sol is cheapest");
    s.answers(inner, "I think Sol.");
    s.finishes(inner, "stop");
    s.child_ends(child, ChildStatus::Succeeded, "Hotel Sol, 80 EUR");
    s.promotes_to(memory, Visibility::Branch, &[agent], "finding");
    s.result(call, "Hotel Sol, 80 EUR");
    s.finishes(run, "tool_calls");
    insta::assert_snapshot!(graph_of(&s), @r"
     1 conversation account acct_6447447c
     1 branch br_c4b37f6d
     2 participant part_da312e27 human
     3 participant part_6d94d405 model model gpt-4o
     4 message msg_81390518 user 4 tok
     5 run run_41f9d5c1 chat by part_6d94d405 on br_c4b37f6d finished tool_calls
     6 call call_d049ffc2 task 9 tok requested-by run_41f9d5c1
     7 branch br_c9600fa7
     8 participant part_2af27973 child
     9 child run_ae6278fd by part_2af27973 for call_d049ffc2
    10 run run_0119528e child by part_2af27973 on br_c9600fa7 finished stop
    11 call call_c04dff7f search_hotels 2 tok requested-by run_0119528e on br_c9600fa7 participant-private
    12 artifact art_503710c9 search_hotels succeeded 2 tok of call_c04dff7f on br_c9600fa7 participant-private
    13 memory mem_69f058cb story v1 bounded 4 tok derived-from art_503710c9 on br_c9600fa7 promoted at 17 (finding)
    14 message msg_8675ce86 assistant 4 tok generated-by run_0119528e on br_c9600fa7 participant-private
    16 child-end run_ae6278fd succeeded participant-private
    18 artifact art_3821de56 task succeeded 5 tok of call_d049ffc2
    ");
    insta::assert_snapshot!(seen(&s), @r#"
    #4 user Mia
        Compare the hotels.
    #6 tool task succeeded
        > {"prompt":"hotels"}
        < Hotel Sol, 80 EUR
    "#);
    insta::assert_snapshot!(seen_on(&s, child.branch), @r"
    #11 tool search_hotels succeeded
        > {}
        < three hotels
    #14 assistant scout
        I think Sol.
    ");
    let graph = fold(&s);
    let end = graph.child(&child.run).unwrap().end.as_ref().unwrap();
    assert_eq!(end.common.ownership.owner_participant, Some(agent));
    assert_eq!(end.common.ownership.branch, s.main());
    assert_eq!(
        graph.memory(&memory).unwrap().common.ownership.shared_with,
        [agent]
    );
}

#[test]
fn a_child_that_ends_twice_ended_once() {
    let mut s = Story::new("child twice");
    let agent = s.model("agent", "gpt-4o");
    let child = s.child(agent, "scout", None);
    s.child_ends(child, ChildStatus::TimedOut, "no answer");
    s.child_ends(child, ChildStatus::Succeeded, "late answer");
    let graph = fold(&s);
    let end = graph.child(&child.run).unwrap().end.as_ref().unwrap();
    assert_eq!(end.status, ChildStatus::TimedOut);
    assert_eq!(graph.findings()[0].code.as_str(), "second-outcome");
}

/// What is begun again is odd; what had been recorded of it must not be lost.
#[test]
fn a_child_that_is_started_again_keeps_its_end() {
    let mut s = Story::new("child again");
    let agent = s.model("agent", "gpt-4o");
    let child = s.child(agent, "scout", None);
    let started = s.position();
    s.child_ends(child, ChildStatus::Succeeded, "done");
    s.repeats(started);
    let graph = fold(&s);
    assert!(graph.child(&child.run).unwrap().end.is_some());
    assert!(graph.common(&child.run.record()).is_some());
    assert_eq!(graph.findings()[0].code.as_str(), "duplicate-record");
}

#[test]
fn a_participant_a_job_or_an_assembly_told_again_stays_as_it_was_first() {
    let mut s = Story::new("first stays");
    let agent = s.model("agent", "gpt-4o");
    s.job(agent, "nightly", "Write.");
    let policy = s.policy("strict", "schema = 1");
    s.assembled(agent, policy, &[], 0);
    let before = fold(&s);
    for position in [2, 3, 6] {
        s.repeats(position);
    }
    let graph = fold(&s);
    assert_eq!(graph.participant(&agent), before.participant(&agent));
    assert_eq!(
        graph.jobs().collect::<Vec<_>>(),
        before.jobs().collect::<Vec<_>>()
    );
    assert_eq!(
        graph.assemblies().collect::<Vec<_>>(),
        before.assemblies().collect::<Vec<_>>()
    );
    assert_eq!(graph.findings().len(), 3);
}

#[test]
fn a_private_record_is_promoted_to_all() {
    let mut s = Story::new("promotion");
    let mia = s.human("Mia");
    let note = s.private().says(mia, "a private note");
    s.promotes(note, Visibility::Conversation);
    let graph = fold(&s);
    assert_eq!(graph.wide_newest_first().collect::<Vec<_>>(), [3]);
    insta::assert_snapshot!(graph_of(&s), @r"
    1 conversation account acct_6447447c
    1 branch br_af902336
    2 participant part_9e54ffe6 human
    3 message msg_ab768665 user 3 tok conversation promoted at 4 (shared-by-user)
    ");
}

#[test]
fn a_checkpoint_is_taken_and_restored() {
    let mut s = Story::new("checkpoint");
    let agent = s.model("agent", "gpt-4o");
    let run = s.run(agent);
    let call = s.calls(run, "approve_refund", "{}");
    s.pending(call);
    let checkpoint = s.checkpoint(run, "step 3");
    let again = s.mode(foldback_event::RuntimeKind::ParentResume).run(agent);
    s.restores(checkpoint, again);
    let graph = fold(&s);
    let node = graph.checkpoint(&checkpoint).unwrap();
    assert_eq!(node.open_calls, [call]);
    assert_eq!(node.restored, [8]);
    insta::assert_snapshot!(graph_of(&s), @r"
    1 conversation account acct_6447447c
    1 branch br_5da1326a
    2 participant part_fb533e8b model model gpt-4o
    3 run run_7d6ef8ca chat by part_fb533e8b on br_5da1326a open
    4 call call_d8ed7f34 approve_refund 2 tok requested-by run_7d6ef8ca
    5 artifact art_7579eaed approve_refund pending no result of call_d8ed7f34
    6 checkpoint ckpt_472f8099 restores run_7d6ef8ca restored 1 times
    7 run run_333077d2 parent-resume by part_fb533e8b on br_5da1326a open
    ");
}

#[test]
fn the_eight_relations_are_named_edges() {
    let mut s = Story::new("relations");
    let agent = s.model("agent", "gpt-4o");
    let policy = s.policy("strict", "schema = 1");
    let run = s.run(agent);
    s.answers(run, "Let me look.");
    let call = s.calls(run, "read_file", "{}");
    let artifact = s.result(call, "bytes");
    let at_artifact = s.position();
    s.derives(artifact, "words");
    let at_memory = s.position();
    s.fork(s.main(), 3);
    s.checkpoint(run, "here");
    let chosen = [
        (at_artifact, RecordKind::Artifact, Presentation::Raw),
        (at_memory, RecordKind::Memory, Presentation::Compact),
        (6, RecordKind::Message, Presentation::Raw),
    ];
    let assembly = s.assembled(agent, policy, &chosen, 2);
    s.run_from(agent, assembly);
    let mut out = String::new();
    for relation in fold(&s).relations() {
        let ends = [relation.from, relation.to].map(|end| end.to_string());
        let ends = ends.map(|end| end.chars().take(12).collect::<String>());
        writeln!(out, "{} {} {}", ends[0], relation.kind.name(), ends[1]).unwrap();
    }
    insta::assert_snapshot!(out, @r"
    msg_c02ce197 generated-by run_12d7cbf5
    run_12d7cbf5 requested call_ba5f610
    call_ba5f610 produced art_cdfbd5e9
    mem_63ab13c9 derived-from art_cdfbd5e9
    br_6d4d41806 inherits-from br_7885015d1
    asm_bab15af8 includes art_cdfbd5e9
    asm_bab15af8 includes mem_63ab13c9
    ckpt_e3d3d65 restores run_12d7cbf5
    policy_69151 constrains asm_bab15af8
    ");
    insta::assert_snapshot!(graph_of(&s), @r"
     1 conversation account acct_6447447c
     1 branch br_7885015d
     2 participant part_99961c69 model model gpt-4o
     3 policy strict 6915118a8ea6
     5 run run_12d7cbf5 chat by part_99961c69 on br_7885015d open
     6 message msg_c02ce197 assistant 4 tok generated-by run_12d7cbf5
     7 call call_ba5f6108 read_file 2 tok requested-by run_12d7cbf5
     8 artifact art_cdfbd5e9 read_file succeeded 1 tok of call_ba5f6108
     9 memory mem_63ab13c9 story v1 bounded 1 tok derived-from art_cdfbd5e9
    10 branch br_6d4d4180 inherits-from br_7885015d at 3
    11 checkpoint ckpt_e3d3d655 restores run_12d7cbf5 restored 0 times
    12 assembly asm_bab15af8 at 11 for part_99961c69 in 3 out 2 tokens 80
    13 run run_9e261be3 chat by part_99961c69 on br_7885015d open
    ");
}

#[test]
fn retention_is_a_property_of_the_record() {
    let mut s = Story::new("retention");
    let mia = s.human("Mia");
    let message = s.says(mia, "keep this");
    s.retains(message, RetentionClass::Hold);
    let graph = fold(&s);
    assert_eq!(
        graph.message(&message).unwrap().common.retention,
        RetentionClass::Hold
    );
}
