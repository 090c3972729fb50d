//! Memories: provenance, supersession, conflict, revalidation, repair.

use crate::{fold, graph_of, seen};
use foldback_event::kind::RepairOutcome;
use foldback_event::{ArtifactId, Freshness, MemoryId};
use foldback_testkit::Story;

/// The same question is asked twice; each answer has its memory.
fn asked_twice(first: &str, second: &str) -> (Story, [MemoryId; 2], [ArtifactId; 2]) {
    let mut s = Story::new("asked twice");
    let agent = s.model("agent", "gpt-4o");
    let run = s.run(agent);
    let arguments = r#"{"id":"4WQ150"}"#;
    let mut memories = Vec::new();
    let mut artifacts = Vec::new();
    for day in [first, second] {
        let call = s.calls(run, "get_reservation", arguments);
        let artifact = s.result(call, day);
        s.about("4WQ150")
            .facts(&[("day", day)])
            .freshness(Freshness::Volatile);
        memories.push(s.derives(artifact, day));
        artifacts.push(artifact);
    }
    (
        s,
        memories.try_into().unwrap(),
        artifacts.try_into().unwrap(),
    )
}

#[test]
fn a_newer_memory_supersedes_and_the_older_one_stays() {
    let (mut s, [old, new], _) = asked_twice("Thu", "Fri");
    s.supersedes(new, &[old]);
    let graph = fold(&s);
    assert_eq!(graph.memory(&old).unwrap().superseded_by, [new]);
    assert_eq!(graph.memory(&new).unwrap().supersedes, [old]);
    let question = Story::question("get_reservation", r#"{"id":"4WQ150"}"#);
    let answers: Vec<MemoryId> = graph.answers(&question, &s.main()).map(|m| m.id).collect();
    assert_eq!(answers, [old, new]);
    let about: Vec<MemoryId> = graph
        .about(&Story::subject("4WQ150"))
        .map(|m| m.id)
        .collect();
    assert_eq!(about, [old, new]);
    insta::assert_snapshot!(graph_of(&s), @r"
    1 conversation account acct_6447447c
    1 branch br_10e3e5b6
    2 participant part_7bd46b86 model model gpt-4o
    3 run run_951c1314 chat by part_7bd46b86 on br_10e3e5b6 open
    4 call call_eabbd35f get_reservation 9 tok requested-by run_951c1314
    5 artifact art_541dae32 get_reservation succeeded 1 tok of call_eabbd35f
    6 memory mem_08e31f65 story v1 volatile 1 tok derived-from art_541dae32 superseded-by mem_93f29661
    7 call call_1d5e236c get_reservation 9 tok requested-by run_951c1314
    8 artifact art_4aefdd9d get_reservation succeeded 1 tok of call_1d5e236c
    9 memory mem_93f29661 story v1 volatile 1 tok derived-from art_4aefdd9d supersedes mem_08e31f65
    ");
}

#[test]
fn memories_that_disagree_name_each_other() {
    let (mut s, [one, other], _) = asked_twice("Thu", "Fri");
    s.conflicts(&[one, other], "day");
    s.conflicts(&[one, other], "day");
    let graph = fold(&s);
    assert_eq!(graph.memory(&one).unwrap().conflicts_with, [other]);
    assert_eq!(graph.memory(&other).unwrap().conflicts_with, [one]);
    insta::assert_snapshot!(graph_of(&s), @r"
    1 conversation account acct_6447447c
    1 branch br_10e3e5b6
    2 participant part_7bd46b86 model model gpt-4o
    3 run run_951c1314 chat by part_7bd46b86 on br_10e3e5b6 open
    4 call call_eabbd35f get_reservation 9 tok requested-by run_951c1314
    5 artifact art_541dae32 get_reservation succeeded 1 tok of call_eabbd35f
    6 memory mem_08e31f65 story v1 volatile 1 tok derived-from art_541dae32 conflicts-with mem_93f29661
    7 call call_1d5e236c get_reservation 9 tok requested-by run_951c1314
    8 artifact art_4aefdd9d get_reservation succeeded 1 tok of call_1d5e236c
    9 memory mem_93f29661 story v1 volatile 1 tok derived-from art_4aefdd9d conflicts-with mem_08e31f65
    ");
}

#[test]
fn memories_never_show_in_a_transcript() {
    let (s, ..) = asked_twice("Thu", "Fri");
    insta::assert_snapshot!(seen(&s), @r#"
    #4 tool get_reservation succeeded
        > {"id":"4WQ150"}
        < Thu
    #7 tool get_reservation succeeded
        > {"id":"4WQ150"}
        < Fri
    "#);
}

#[test]
fn a_memory_that_supersedes_itself_is_odd_and_stays_in_force() {
    let (mut s, [_, memory], _) = asked_twice("Thu", "Fri");
    s.supersedes(memory, &[memory]);
    let graph = fold(&s);
    let node = graph.memory(&memory).unwrap();
    assert_eq!(node.superseded_by, []);
    assert_eq!(
        node.supersedes,
        [],
        "what it does not replace it does not name"
    );
    assert_eq!(graph.findings()[0].code.as_str(), "unknown-record");
}

#[test]
fn saying_twice_what_is_superseded_says_it_once() {
    let (mut s, [old, new], _) = asked_twice("Thu", "Fri");
    s.supersedes(new, &[old]);
    s.supersedes(new, &[old]);
    assert_eq!(fold(&s).memory(&new).unwrap().supersedes, [old]);
}

#[test]
fn a_revalidated_memory_is_observed_anew() {
    let (mut s, [memory, _], [artifact, _]) = asked_twice("Thu", "Thu");
    let before = fold(&s).memory(&memory).unwrap().observed_at;
    s.wait(3_600).revalidates(memory, Some(artifact));
    let graph = fold(&s);
    let after = graph.memory(&memory).unwrap().observed_at;
    assert_eq!(after, s.now());
    assert!(after > before.plus_seconds(3_600));
}

#[test]
fn a_stated_end_is_counted_from_the_observation() {
    let mut s = Story::new("stated end");
    let agent = s.model("agent", "gpt-4o");
    let run = s.run(agent);
    let call = s.calls(run, "search", "{}");
    let artifact = s.result(call, "x");
    let memory = s.stale_after(60).derives(artifact, "x");
    let graph = fold(&s);
    let node = graph.memory(&memory).unwrap();
    assert_eq!(node.stale_after, Some(node.observed_at.plus_seconds(60)));
}

#[test]
fn a_repair_that_fails_breaks_the_memory_and_one_that_succeeds_mends_it() {
    let (mut s, [memory, _], [artifact, _]) = asked_twice("Thu", "Fri");
    s.repairs(memory, artifact, RepairOutcome::Unresolved);
    assert!(fold(&s).memory(&memory).unwrap().broken);
    assert!(graph_of(&s).contains(" broken"));
    s.repairs(memory, artifact, RepairOutcome::Repaired);
    let graph = fold(&s);
    let node = graph.memory(&memory).unwrap();
    assert!(!node.broken);
    assert_eq!(node.repair_tries, 2);
}
