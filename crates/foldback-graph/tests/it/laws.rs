//! Laws that hold for every history, odd ones included.

use foldback_event::codec::{decode_value, encode_value};
use foldback_event::{Event, PayloadRef, RecordKind};
use foldback_graph::{
    RelationKind, Resolved, RuntimeGraph, Vertex, graph_text, transcript, transcript_text,
};
use foldback_testkit::{history, odd_history, unordered};
use proptest::prelude::*;

/// Reads all there is to read from a graph: nothing may panic.
fn read_all(graph: &RuntimeGraph) {
    let _ = graph_text(graph);
    let _ = graph.relations();
    for branch in graph.branches() {
        let lineage = graph.lineage(&branch.id).unwrap();
        let walked: Vec<u64> = graph.newest_first(&lineage).collect();
        assert_eq!(graph.count_on(&lineage), walked.len() as u64);
        let _ = graph.replay_tokens(&lineage);
        let _ = (graph.summary_on(&lineage), graph.prompt_on(&lineage));
        let _ = graph.instructions_on(&lineage).count();
        let view = transcript(graph, &branch.id).unwrap();
        let _ = transcript_text(graph, &view, &|_: &PayloadRef| None);
    }
    for (_, record) in graph.records() {
        assert!(
            graph.common(record).is_some(),
            "{record:?} was placed and is not there"
        );
    }
}

fn knows(graph: &RuntimeGraph, vertex: &Vertex) -> bool {
    match vertex {
        Vertex::Message(id) => graph.message(id).is_some(),
        Vertex::Run(id) => graph.run(id).is_some() || graph.child(id).is_some(),
        Vertex::Call(id) => graph.call(id).is_some(),
        Vertex::Artifact(id) => graph.artifact(id).is_some(),
        Vertex::Memory(id) => graph.memory(id).is_some(),
        Vertex::Branch(id) => graph.branch(id).is_some(),
        Vertex::Assembly(id) => graph.assembly(id).is_some(),
        Vertex::Checkpoint(id) => graph.checkpoint(id).is_some(),
        Vertex::Policy(digest) => graph.policy(digest).is_some(),
    }
}

/// All ids of a graph by their whole text, and what each names.
fn whole_ids(graph: &RuntimeGraph) -> Vec<(String, Resolved)> {
    let mut out = Vec::new();
    out.extend(
        graph
            .branches()
            .map(|n| (n.id.to_string(), Resolved::Branch(n.id))),
    );
    out.extend(
        graph
            .participants()
            .map(|n| (n.id.to_string(), Resolved::Participant(n.id))),
    );
    out.extend(
        graph
            .messages()
            .map(|n| (n.id.to_string(), Resolved::Message(n.id))),
    );
    out.extend(
        graph
            .runs()
            .map(|n| (n.id.to_string(), Resolved::Run(n.id))),
    );
    out.extend(
        graph
            .children()
            .map(|n| (n.run.to_string(), Resolved::Run(n.run))),
    );
    out.extend(
        graph
            .calls()
            .map(|n| (n.id.to_string(), Resolved::Call(n.id))),
    );
    out.extend(
        graph
            .artifacts()
            .map(|n| (n.id.to_string(), Resolved::Artifact(n.id))),
    );
    out.extend(
        graph
            .memories()
            .map(|n| (n.id.to_string(), Resolved::Memory(n.id))),
    );
    out.extend(
        graph
            .facts()
            .map(|n| (n.id.to_string(), Resolved::Fact(n.id))),
    );
    out.extend(
        graph
            .checkpoints()
            .map(|n| (n.id.to_string(), Resolved::Checkpoint(n.id))),
    );
    out.extend(
        graph
            .jobs()
            .map(|n| (n.id.to_string(), Resolved::Job(n.id))),
    );
    out.extend(
        graph
            .assemblies()
            .map(|n| (n.id.to_string(), Resolved::Assembly(n.id))),
    );
    let policies = graph.policies().map(|n| n.digest);
    out.extend(policies.map(|d| (format!("policy_{d}"), Resolved::Policy(d))));
    out
}

fn configured() -> ProptestConfig {
    ProptestConfig {
        cases: 64,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(configured())]

    #[test]
    fn a_well_formed_history_folds_without_a_finding(seed: u64) {
        let story = history(seed, 150);
        let graph = RuntimeGraph::fold(story.events());
        prop_assert_eq!(graph.findings(), &[]);
        prop_assert!(!graph.refuses_assembly());
        prop_assert_eq!(graph.position(), story.position());
        read_all(&graph);
    }

    #[test]
    fn no_order_of_events_breaks_the_fold(seed: u64, order: u64) {
        let story = odd_history(seed, 120);
        read_all(&RuntimeGraph::fold(story.events()));
        let events = unordered(order, story.events());
        read_all(&RuntimeGraph::fold(&events));
    }

    #[test]
    fn the_same_events_give_the_same_graph_at_every_cut(seed: u64, cut: prop::sample::Index) {
        let story = odd_history(seed, 120);
        let events = story.events();
        let whole = RuntimeGraph::fold(events);
        prop_assert_eq!(&RuntimeGraph::fold(events), &whole);
        let (head, tail) = events.split_at(cut.index(events.len()));
        let mut graph = RuntimeGraph::fold(head);
        for event in tail {
            graph.apply(event);
        }
        prop_assert_eq!(&graph, &whole);
        prop_assert_eq!(graph_text(&graph), graph_text(&whole));
    }

    #[test]
    fn a_graph_reads_back_from_its_bytes_and_goes_on(seed: u64, cut: prop::sample::Index) {
        let story = odd_history(seed, 120);
        let events = story.events();
        let (head, tail) = events.split_at(cut.index(events.len()));
        let bytes = encode_value(&RuntimeGraph::fold(head)).unwrap();
        let mut graph: RuntimeGraph = decode_value(&bytes).unwrap();
        prop_assert_eq!(&encode_value(&graph).unwrap(), &bytes);
        for event in tail {
            graph.apply(event);
        }
        prop_assert_eq!(graph, RuntimeGraph::fold(events));
    }

    #[test]
    fn events_that_were_written_and_read_fold_alike(seed: u64) {
        let story = odd_history(seed, 120);
        let read: Vec<Event> = story
            .events()
            .iter()
            .map(|event| Event::decode(&event.encode().unwrap()).unwrap())
            .collect();
        prop_assert_eq!(RuntimeGraph::fold(&read), RuntimeGraph::fold(story.events()));
    }

    #[test]
    fn every_id_is_found_by_its_whole_text(seed: u64) {
        let story = odd_history(seed, 120);
        let graph = RuntimeGraph::fold(story.events());
        for (text, what) in whole_ids(&graph) {
            prop_assert_eq!(graph.resolve(&text), Ok(what), "{}", text);
        }
    }

    #[test]
    fn edges_of_a_well_formed_history_join_known_nodes(seed: u64) {
        let story = history(seed, 150);
        let graph = RuntimeGraph::fold(story.events());
        for edge in graph.relations() {
            prop_assert!(knows(&graph, &edge.from), "{:?}", edge);
            prop_assert!(knows(&graph, &edge.to), "{:?}", edge);
        }
    }

    /// A sibling's records are on no lineage but those that inherit them.
    #[test]
    fn a_lineage_holds_its_ancestors_up_to_the_fork_and_nothing_else(seed: u64) {
        let story = history(seed, 150);
        let graph = RuntimeGraph::fold(story.events());
        for branch in graph.branches() {
            let lineage = graph.lineage(&branch.id).unwrap();
            let walked: Vec<u64> = graph.newest_first(&lineage).collect();
            for (position, record) in graph.records() {
                let home = graph.common(record).unwrap().ownership.branch;
                let inherited = reaches(&graph, branch.id, home, position);
                prop_assert_eq!(lineage.holds(&home, position), inherited);
                prop_assert_eq!(walked.contains(&position), inherited);
            }
        }
    }

    /// The transcript holds messages and cards alone, each record once, in order.
    #[test]
    fn a_transcript_is_in_order_and_shows_each_record_once(seed: u64) {
        let story = history(seed, 150);
        let graph = RuntimeGraph::fold(story.events());
        for branch in graph.branches() {
            let view = transcript(&graph, &branch.id).unwrap();
            let main_only = view.entries.iter().map(|e| e.position).collect::<Vec<_>>();
            let mut sorted = main_only.clone();
            sorted.sort_unstable();
            sorted.dedup();
            if branch.parent.is_none() {
                prop_assert_eq!(&main_only, &sorted);
            }
            for position in main_only {
                let kind = graph.record_at(position).unwrap().kind;
                let shown = matches!(
                    kind,
                    RecordKind::Message | RecordKind::Call | RecordKind::Artifact
                );
                prop_assert!(shown, "{} shows in a transcript", kind);
            }
        }
    }

    #[test]
    fn every_open_or_failed_call_is_recovered_and_no_settled_one(seed: u64) {
        let story = history(seed, 150);
        let graph = RuntimeGraph::fold(story.events());
        for call in graph.calls() {
            let last = call.artifacts.last().and_then(|id| graph.artifact(id));
            let open = last.is_none_or(|artifact| artifact.status.is_open());
            let position = call.common.origin.position;
            if open {
                prop_assert!(graph.is_unresolved(position), "{} is open", call.id);
            }
            let failed = last.is_some_and(|artifact| artifact.retryable);
            if !open && !failed {
                prop_assert!(!graph.is_unresolved(position), "{} is settled", call.id);
            }
        }
    }
}

/// Tells by walking parent by parent whether a branch inherits a position of another.
fn reaches(
    graph: &RuntimeGraph,
    from: foldback_event::BranchId,
    home: foldback_event::BranchId,
    position: u64,
) -> bool {
    let (mut branch, mut bound) = (from, u64::MAX);
    loop {
        if branch == home {
            return position <= bound;
        }
        let node = graph.branch(&branch).unwrap();
        bound = bound.min(node.at);
        match node.parent {
            Some(parent) => branch = parent,
            None => return false,
        }
    }
}

#[test]
fn the_histories_reach_every_relation() {
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..20 {
        let graph = RuntimeGraph::fold(history(seed, 150).events());
        seen.extend(graph.relations().iter().map(|edge| edge.kind));
    }
    assert_eq!(seen.len(), 8, "{seen:?}");
    assert!(seen.contains(&RelationKind::Constrains));
}

/// Checkpoints of long conversations must be readable too: they are larger than any one record.
#[test]
fn the_graph_of_a_long_history_reads_back() {
    let graph = RuntimeGraph::fold(history(1, 25_000).events());
    let bytes = encode_value(&graph).unwrap();
    assert!(bytes.len() > 4 * 1024 * 1024, "only {} bytes", bytes.len());
    assert_eq!(decode_value::<RuntimeGraph>(&bytes).unwrap(), graph);
}
