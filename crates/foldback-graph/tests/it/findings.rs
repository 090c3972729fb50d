//! What is odd is kept and told, and stops nothing.

use crate::{fold, graph_of, seen, seen_on};
use foldback_event::kind::{MessageFinalized, SourceImported};
use foldback_event::{
    BranchId, CallId, Digest, Label, MessageId, ParticipantId, RunId, Visibility,
};
use foldback_graph::{FindingCode, RuntimeGraph};
use foldback_testkit::Story;

fn codes(graph: &RuntimeGraph) -> Vec<String> {
    graph
        .findings()
        .iter()
        .map(|f| format!("{} {}", f.position, f.code))
        .collect()
}

#[test]
fn an_import_with_every_oddity() {
    let mut s = Story::new("oddities");
    let mia = s.human("Mia");
    s.imported("openai-chat", "the file");
    s.says(mia, "Hello.");
    s.orphan("lost_tool", "a result that nobody asked for");
    s.repeats(4);
    s.kept("unknown-type", 12, r#"{"type":"novel"}"#);
    s.finds("duplicate-call-id", 17);
    s.unknown(901, false);
    s.unknown(902, true);
    insta::assert_snapshot!(graph_of(&s), @r"
     1 conversation account acct_6447447c
     1 branch br_68ee5d99
     2 participant part_2c1ed163 human
     4 message msg_c3380975 user 2 tok
     5 artifact art_37a6fb97 lost_tool succeeded 6 tok
     5 ! orphan-result
     6 ! duplicate-record
     8 ! duplicate-call-id at source 17
     9 ! unknown-kind
    10 ! unknown-kind-must-understand
    ");
    insta::assert_snapshot!(seen(&s), @r"
    #4 user Mia
        Hello.
    #5 tool lost_tool succeeded
        < a result that nobody asked for
    ");
    let graph = fold(&s);
    assert!(graph.refuses_assembly());
    assert_eq!(graph.findings()[2].place, Some(17));
}

#[test]
fn an_unknown_kind_that_may_be_passed_over_refuses_nothing() {
    let mut s = Story::new("future");
    s.unknown(901, false);
    let graph = fold(&s);
    assert!(!graph.refuses_assembly());
    assert_eq!(codes(&graph), ["2 unknown-kind"]);
}

#[test]
fn a_missing_and_a_repeated_version_are_told() {
    let mut s = Story::new("gap");
    let mia = s.human("Mia");
    s.says(mia, "one");
    s.says(mia, "two");
    let events = s.events();
    let gap = RuntimeGraph::fold([&events[0], &events[1], &events[3]]);
    assert_eq!(codes(&gap), ["4 version-gap"]);
    let twice = RuntimeGraph::fold([&events[0], &events[1], &events[1]]);
    assert_eq!(codes(&twice), ["2 version-gap", "2 duplicate-record"]);
}

#[test]
fn a_history_without_its_beginning_is_kept() {
    let mut s = Story::new("no beginning");
    let mia = s.human("Mia");
    let message = s.says(mia, "still here");
    let graph = RuntimeGraph::fold(&s.events()[1..]);
    assert!(graph.message(&message).is_some());
    assert_eq!(
        codes(&graph),
        [
            "2 version-gap",
            "2 not-opened",
            "3 not-opened",
            "3 unknown-branch"
        ]
    );
}

#[test]
fn a_conversation_is_opened_once() {
    let mut s = Story::new("opened twice");
    s.repeats(1);
    assert_eq!(codes(&fold(&s)), ["2 not-opened"]);
}

#[test]
fn a_parent_that_is_not_known_is_told_and_the_branch_stays_readable() {
    let mut s = Story::new("unknown parent");
    let mia = s.human("Mia");
    let branch = s.fork(BranchId::from_bytes([0xee; 16]), 1);
    s.on(branch).says(mia, "on an orphaned branch");
    assert_eq!(codes(&fold(&s)), ["3 unknown-branch"]);
    insta::assert_snapshot!(seen_on(&s, branch), @r"
    #4 user Mia
        on an orphaned branch
    ");
}

#[test]
fn a_fork_from_what_has_not_happened_is_told() {
    let mut s = Story::new("fork from future");
    s.fork(s.main(), 99);
    assert_eq!(codes(&fold(&s)), ["2 fork-from-future"]);
}

#[test]
fn every_unknown_name_is_told_and_nothing_is_dropped() {
    let mut s = Story::new("unknown names");
    let nobody = ParticipantId::from_bytes([1; 16]);
    let message = s.says(nobody, "who am I?");
    s.on(BranchId::from_bytes([2; 16]));
    let lost = s.says(nobody, "where am I?");
    s.on(s.main());
    let call = s.calls(RunId::from_bytes([3; 16]), "tool", "{}");
    let artifact = s.result(CallId::from_bytes([4; 16]), "an answer");
    s.tell(MessageFinalized {
        message: MessageId::from_bytes([5; 16]),
        content: None,
        visibility: Visibility::Branch,
    });
    s.promotes(MessageId::from_bytes([6; 16]), Visibility::Conversation);
    s.finishes(RunId::from_bytes([7; 16]), "stop");
    let graph = fold(&s);
    assert!(graph.message(&message).is_some() && graph.message(&lost).is_some());
    assert!(graph.call(&call).is_some() && graph.artifact(&artifact).is_some());
    insta::assert_snapshot!(codes(&graph).join("\n"), @r"
    2 unknown-participant
    3 unknown-branch
    3 unknown-participant
    4 unknown-run
    5 orphan-result
    6 unknown-record
    7 unknown-record
    8 unknown-run
    ");
}

#[test]
fn an_orphan_has_a_card_of_its_own() {
    let mut s = Story::new("orphan");
    s.orphan("lost_tool", "nobody asked");
    insta::assert_snapshot!(seen(&s), @r"
    #2 tool lost_tool succeeded
        < nobody asked
    ");
}

#[test]
fn a_source_import_is_no_record() {
    let mut s = Story::new("import");
    s.tell(SourceImported {
        format: Label::new("openai-chat").unwrap(),
        digest: Digest::from_bytes([0; 32]),
        bytes: 10,
    });
    let graph = fold(&s);
    assert_eq!(graph.record_count(), 0);
    assert!(graph.findings().is_empty());
}

#[test]
fn a_code_has_a_name() {
    assert_eq!(
        FindingCode::Source("duplicate-call-id".to_owned()).to_string(),
        "duplicate-call-id"
    );
    assert_eq!(
        format!("{:<16}|", FindingCode::OrphanResult),
        "orphan-result   |"
    );
}
