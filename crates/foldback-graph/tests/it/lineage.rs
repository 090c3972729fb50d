//! What a branch inherits.

use crate::fold;
use foldback_event::BranchId;
use foldback_event::kind::BranchForked;
use foldback_testkit::Story;

#[test]
fn a_fork_of_a_fork_is_bounded_by_each_fork() {
    let mut s = Story::new("fork of a fork");
    let mia = s.human("Mia");
    s.says(mia, "3");
    s.says(mia, "4");
    let one = s.fork(s.main(), 4);
    s.on(one).says(mia, "6");
    s.says(mia, "7");
    // The second fork inherits from the first no further than position 3, which lies on main.
    let two = s.fork(one, 3);
    s.on(two).says(mia, "9");
    let three = s.fork(one, 6);
    s.on(three).says(mia, "11");
    let graph = fold(&s);
    let on = |branch: &BranchId| {
        let lineage = graph.lineage(branch).unwrap();
        let positions: Vec<u64> = graph.newest_first(&lineage).collect();
        assert_eq!(graph.count_on(&lineage), positions.len() as u64);
        for (position, record) in graph.records() {
            let branch = graph.common(record).unwrap().ownership.branch;
            assert_eq!(
                lineage.holds(&branch, position),
                positions.contains(&position)
            );
        }
        positions
    };
    assert_eq!(on(&s.main()), [4, 3]);
    assert_eq!(on(&one), [7, 6, 4, 3]);
    assert_eq!(on(&two), [9, 3]);
    assert_eq!(on(&three), [11, 6, 4, 3]);
}

#[test]
fn a_branch_that_is_not_known_has_no_lineage() {
    let s = Story::new("no such branch");
    assert!(fold(&s).lineage(&BranchId::from_bytes([9; 16])).is_none());
}

/// An import may say so: the lineage ends, and its two views agree.
#[test]
fn a_branch_that_leaves_itself_inherits_nothing() {
    let mut s = Story::new("loop");
    let mia = s.human("Mia");
    let branch = BranchId::from_bytes([0xaa; 16]);
    s.tell(BranchForked {
        branch,
        parent: Some(branch),
        at: 1,
        title: None,
    });
    s.on(branch).says(mia, "4");
    let graph = fold(&s);
    let lineage = graph.lineage(&branch).unwrap();
    assert_eq!(graph.newest_first(&lineage).collect::<Vec<_>>(), [4]);
    assert!(lineage.holds(&branch, 4));
}

#[test]
fn what_is_asked_of_a_lineage_is_inherited_too() {
    let mut s = Story::new("inherited");
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    s.system("Be brief.");
    s.says(mia, "one two");
    let run = s.run(agent);
    s.answers(run, "three");
    s.finishes(run, "stop");
    let branch = s.fork(s.main(), 7);
    s.on(s.main()).says(mia, "main goes on");
    s.run(agent);
    let graph = fold(&s);
    let lineage = graph.lineage(&branch).unwrap();
    assert_eq!(graph.prompt_on(&lineage), Some(5));
    assert_eq!(graph.run_on(&lineage, &agent), Some(6));
    assert_eq!(graph.run_on(&lineage, &mia), None);
    assert_eq!(graph.instructions_on(&lineage).collect::<Vec<_>>(), [4]);
    assert_eq!(graph.summary_on(&lineage), None);
    assert_eq!(graph.replay_tokens(&lineage), 3 + 2 + 1);
    let main = graph.lineage(&s.main()).unwrap();
    assert_eq!(graph.prompt_on(&main), Some(9 + 1));
    assert_eq!(graph.run_on(&main, &agent), Some(11));
}

#[test]
fn thinking_is_no_part_of_a_replay_nor_of_a_transcript() {
    let mut s = Story::new("thinking");
    let agent = s.model("agent", "claude");
    let run = s.run(agent);
    let thought = s.payload_as(foldback_event::MediaType::Thinking, b"[\"long thoughts\"]");
    s.message(
        foldback_event::MessageRole::Assistant,
        Some(agent),
        Some(run),
        thought,
        false,
    );
    s.answers(run, "Yes.");
    let graph = fold(&s);
    let lineage = graph.lineage(&s.main()).unwrap();
    assert_eq!(graph.replay_tokens(&lineage), 2);
    insta::assert_snapshot!(crate::seen(&s), @r"
    #5 assistant agent
        Yes.
    ");
}
