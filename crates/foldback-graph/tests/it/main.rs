//! What events mean: stories folded into graphs and transcripts, and laws over histories.
//!
//! The modules are marked as tests so that the lints treat their helpers as such.

#[cfg(test)]
mod boundaries;
#[cfg(test)]
mod findings;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod lineage;
#[cfg(test)]
mod memories;
#[cfg(test)]
mod queries;
#[cfg(test)]
mod resolve;
#[cfg(test)]
mod talk;
#[cfg(test)]
mod tools;

use foldback_event::BranchId;
use foldback_graph::{RuntimeGraph, graph_text, transcript, transcript_text};
use foldback_testkit::Story;

fn fold(story: &Story) -> RuntimeGraph {
    RuntimeGraph::fold(story.events())
}

fn graph_of(story: &Story) -> String {
    graph_text(&fold(story))
}

/// What people saw on a branch.
fn seen_on(story: &Story, branch: BranchId) -> String {
    let graph = fold(story);
    match transcript(&graph, &branch) {
        Some(view) => transcript_text(&graph, &view, &|payload| story.text(payload)),
        None => "no such branch\n".to_owned(),
    }
}

/// What people saw on the main branch.
fn seen(story: &Story) -> String {
    seen_on(story, story.main())
}
