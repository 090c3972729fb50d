//! Why a request holds a record, or does not, in sentences that can be forwarded.
//!
//! An explanation prints the trace of the assembly; it never forms a second opinion.
//! It speaks of ids, kinds, tools, times and rules, never of content.

mod moved;
mod sentence;

pub use moved::{Moved, moved};

use crate::assembly::{Assembly, Decision};
use foldback_event::kind::RecordRef;
use foldback_event::{
    ArtifactId, CallId, CheckpointId, FactId, MemoryId, MessageId, Presentation, RecordKind, RunId,
};
use foldback_graph::RuntimeGraph;

/// Why one record is in a request or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The position of the event that created the record.
    pub position: u64,
    /// The record.
    pub record: RecordRef,
    /// The form in which it entered; none if it was left out.
    pub presentation: Option<Presentation>,
    /// The reason's code.
    pub reason: &'static str,
    /// The rule that decided, where one did.
    pub rule: Option<String>,
    /// What it takes in the request, or would have taken, in tokens.
    pub tokens: u64,
    /// The answer in one sentence.
    pub sentence: String,
    /// Where the record comes from, from itself back to the message: one step a line.
    pub provenance: Vec<String>,
    /// What to do to see more, where something can be done.
    pub hint: Option<String>,
}

/// Explains every candidate of an assembly, in ascending order of position.
pub fn explain_assembly(graph: &RuntimeGraph, assembly: &Assembly) -> Vec<Explanation> {
    assembly
        .decisions
        .iter()
        .map(|decision| explain(graph, assembly, decision))
        .collect()
}

/// Explains one record; none if no event created a record at the position.
pub fn explain_record(
    graph: &RuntimeGraph,
    assembly: &Assembly,
    position: u64,
) -> Option<Explanation> {
    if let Some(decision) = assembly.decision(position) {
        return Some(explain(graph, assembly, decision));
    }
    let record = *graph.record_at(position)?;
    let common = graph.common(&record)?;
    let (reason, why) = if position > assembly.request.position {
        let at = assembly.request.position;
        (
            "later",
            format!("it was recorded at position {position}, after the request at {at}"),
        )
    } else if graph
        .lineage(&assembly.request.branch)
        .is_some_and(|lineage| lineage.holds(&common.ownership.branch, position))
    {
        let bound = "it lies beyond the policy's bound on candidates";
        (
            "candidate-bound",
            format!("{bound}: newer records came first"),
        )
    } else {
        let (own, asked) = (
            common.ownership.branch.short(),
            assembly.request.branch.short(),
        );
        let lineage = graph.lineage(&assembly.request.branch);
        let forked = lineage.is_some_and(|lineage| {
            let mut segments = lineage.segments().iter();
            segments.any(|segment| segment.branch == common.ownership.branch)
        });
        let why = if forked {
            format!("it was recorded on {own} after {asked} had left it")
        } else {
            format!("it stands on {own}, and {asked} does not descend from there")
        };
        ("branch-excluded", why)
    };
    let name = sentence::name(graph, &record);
    Some(Explanation {
        position,
        record,
        presentation: None,
        reason,
        rule: None,
        tokens: 0,
        sentence: format!("The model did not see {name}: {why}."),
        provenance: provenance(graph, &record),
        hint: None,
    })
}

fn explain(graph: &RuntimeGraph, assembly: &Assembly, decision: &Decision) -> Explanation {
    Explanation {
        position: decision.position,
        record: decision.record,
        presentation: decision.presentation,
        reason: decision.reason.name(),
        rule: decision.rule.as_ref().map(ToString::to_string),
        tokens: decision.tokens,
        sentence: sentence::sentence(graph, assembly, decision),
        provenance: provenance(graph, &decision.record),
        hint: sentence::hint(graph, decision),
    }
}

/// Follows a record back: memory, artifact, call, run, branch, message.
fn provenance(graph: &RuntimeGraph, record: &RecordRef) -> Vec<String> {
    let mut out = Vec::new();
    let id = record.id;
    match record.kind {
        RecordKind::Memory => memory_steps(graph, &MemoryId::from_bytes(id), &mut out),
        RecordKind::Artifact => artifact_steps(graph, &ArtifactId::from_bytes(id), &mut out),
        RecordKind::Call => call_steps(graph, &CallId::from_bytes(id), &mut out),
        RecordKind::Message => {
            if let Some(node) = graph.message(&MessageId::from_bytes(id)) {
                let at = node.common.origin.position;
                out.push(format!(
                    "message {} by {} at position {at}",
                    node.id, node.role
                ));
                if let Some(run) = node.run {
                    run_steps(graph, &run, &mut out);
                }
            }
        }
        RecordKind::Fact => {
            if let Some(node) = graph.fact(&FactId::from_bytes(id)) {
                out.push(format!("user fact {}", node.id));
                if let Some(source) = node.source {
                    out.push(format!("learnt from message {source}"));
                }
            }
        }
        RecordKind::Checkpoint => {
            if let Some(node) = graph.checkpoint(&CheckpointId::from_bytes(id)) {
                out.push(format!("checkpoint {}", node.id));
                if let Some(run) = node.run {
                    run_steps(graph, &run, &mut out);
                }
            }
        }
        RecordKind::Child => {
            if let Some(node) = graph.child(&RunId::from_bytes(id)) {
                out.push(format!("child run {} of {}", node.run, node.participant));
                if let Some(call) = node.parent_call {
                    call_steps(graph, &call, &mut out);
                }
            }
        }
        RecordKind::Skill => {}
    }
    out
}

fn memory_steps(graph: &RuntimeGraph, id: &MemoryId, out: &mut Vec<String>) {
    let Some(node) = graph.memory(id) else { return };
    let (extractor, version) = (&node.extractor, node.extractor_version);
    let at = node.common.origin.position;
    out.push(format!(
        "memory {id} by extractor {extractor} v{version} at position {at}"
    ));
    for artifact in &node.artifacts {
        artifact_steps(graph, artifact, out);
    }
}

fn artifact_steps(graph: &RuntimeGraph, id: &ArtifactId, out: &mut Vec<String>) {
    let Some(node) = graph.artifact(id) else {
        out.push(format!("artifact {id}, which this log does not hold"));
        return;
    };
    let bytes = node.result.map_or(0, |result| result.bytes);
    let at = node.common.origin.position;
    let status = node.status;
    out.push(format!(
        "artifact {id}, {status}, {bytes} bytes, at position {at}"
    ));
    match &node.call {
        Some(call) => call_steps(graph, call, out),
        None => out.push("no call: the source named none".to_owned()),
    }
}

fn call_steps(graph: &RuntimeGraph, id: &CallId, out: &mut Vec<String>) {
    let Some(node) = graph.call(id) else {
        out.push(format!("call {id}, which this log does not hold"));
        return;
    };
    let at = node.common.origin.position;
    out.push(format!("call {id} of tool {} at position {at}", node.tool));
    if let Some(run) = &node.run {
        run_steps(graph, run, out);
    }
}

fn run_steps(graph: &RuntimeGraph, id: &RunId, out: &mut Vec<String>) {
    let Some(run) = graph.run(id) else { return };
    let model = run
        .model
        .as_ref()
        .map_or(String::new(), |model| format!(" of {model}"));
    let at = run.origin.position;
    out.push(format!(
        "run {id}{model} at position {at} on branch {}",
        run.branch
    ));
    // The message that the run answers is the last thing said before it.
    let lineage = graph.lineage(&run.branch);
    let prompt = lineage.and_then(|lineage| {
        graph
            .newest_first(&lineage)
            .filter(|position| *position < at)
            .find_map(|position| {
                let record = graph.record_at(position)?;
                let message = graph.message(&MessageId::from_bytes(record.id))?;
                (record.kind == RecordKind::Message && message.run.is_none()).then_some(message)
            })
    });
    if let Some(message) = prompt {
        let at = message.common.origin.position;
        out.push(format!(
            "answering message {} by {} at position {at}",
            message.id, message.role
        ));
    }
}
