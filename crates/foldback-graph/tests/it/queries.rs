//! Questions that programs ask a graph.

use crate::fold;
use foldback_testkit::Story;

#[test]
fn a_graph_knows_its_position_records_and_policy() {
    let mut s = Story::new("queries");
    let mia = s.human("Mia");
    assert_eq!(fold(&s).active_policy(), None);
    let policy = s.policy("strict", "schema = 1");
    s.says(mia, "Hello.");
    let graph = fold(&s);
    assert_eq!(graph.position(), 5);
    assert_eq!(graph.active_policy(), Some(&policy));
    assert_eq!(graph.policy(&policy).unwrap().name.as_str(), "strict");
    assert_eq!(graph.record_count(), 1);
    assert_eq!(
        graph
            .records()
            .map(|(position, _)| position)
            .collect::<Vec<_>>(),
        [5]
    );
    assert!(graph.record_at(4).is_none());
    assert_eq!(graph.conversation().unwrap().account, s.account());
}

#[test]
fn a_skill_state_is_found_by_its_position() {
    let mut s = Story::new("skill state");
    s.skills(&[("rebooking", true, "How to rebook")]);
    let graph = fold(&s);
    let record = graph.record_at(2).unwrap();
    assert_eq!(graph.common(record).unwrap().origin.position, 2);
    assert!(graph.skill_state(&2).unwrap().state.skills[0].loaded);
}
