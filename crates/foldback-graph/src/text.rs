//! The graph as stable text: for people, and for snapshot tests.
//!
//! The form is a promise: nodes in the order of their events, one line each, ids short, nothing
//! that depends on the machine or the time of the run.

use crate::RuntimeGraph;
use crate::node::{Artifact, Call, Common, Memory, Message};
use foldback_event::kind::RecordRef;
use foldback_event::{
    ArtifactId, CallId, CheckpointId, FactId, MemoryId, MessageId, PayloadRef, Privacy, RecordKind,
    RunId, Visibility,
};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Writes the whole graph as text.
pub fn graph_text(graph: &RuntimeGraph) -> String {
    let mut lines: BTreeMap<(u64, u8), String> = BTreeMap::new();
    if let Some(conversation) = graph.conversation() {
        let source = conversation
            .source
            .as_ref()
            .map_or(String::new(), |s| format!(" from {s}"));
        let erased = if conversation.erased { " erased" } else { "" };
        let line = format!(
            "conversation{source}{erased} account {}",
            conversation.account.short()
        );
        lines.insert((conversation.origin.position, 0), line);
    }
    for branch in graph.branches() {
        let parent = match branch.parent {
            Some(parent) => format!(" inherits-from {} at {}", parent.short(), branch.at),
            None => String::new(),
        };
        let line = format!("branch {}{parent}", branch.id.short());
        lines.insert((branch.origin.position, 1), line);
    }
    for node in graph.participants() {
        let model = node
            .model
            .as_ref()
            .map_or(String::new(), |model| format!(" model {model}"));
        let line = format!("participant {} {}{model}", node.id.short(), node.kind);
        lines.insert((node.origin.position, 0), line);
    }
    work_lines(graph, &mut lines);
    for (position, record) in graph.records() {
        if let Some(line) = record_line(graph, record) {
            lines.insert((position, 0), line);
        }
    }
    let mut out = String::new();
    for ((position, _), line) in lines {
        let _ = writeln!(out, "{position:>5} {line}");
    }
    for finding in graph.findings() {
        let place = finding
            .place
            .map_or(String::new(), |place| format!(" at source {place}"));
        let _ = writeln!(out, "{:>5} ! {}{place}", finding.position, finding.code);
    }
    out
}

/// Writes the lines of what is at work: runs, children, jobs, policies, assemblies.
fn work_lines(graph: &RuntimeGraph, lines: &mut BTreeMap<(u64, u8), String>) {
    for node in graph.runs() {
        let end = match &node.end {
            None => "open".to_owned(),
            Some(end) if end.failed => "failed".to_owned(),
            Some(end) => match &end.finish_reason {
                Some(reason) => format!("finished {reason}"),
                None => "finished".to_owned(),
            },
        };
        let (run, who) = (node.id.short(), node.participant.short());
        let line = format!(
            "run {run} {} by {who} on {} {end}",
            node.runtime_kind,
            node.branch.short()
        );
        lines.insert((node.origin.position, 0), line);
    }
    for node in graph.children() {
        let call = node
            .parent_call
            .map_or(String::new(), |call| format!(" for {}", call.short()));
        let line = format!(
            "child {} by {}{call}",
            node.run.short(),
            node.participant.short()
        );
        lines.insert((node.origin.position, 0), line);
    }
    for node in graph.jobs() {
        let line = format!(
            "job {} {} by {} on {}",
            node.id.short(),
            node.name,
            node.participant.short(),
            node.branch.short()
        );
        lines.insert((node.origin.position, 0), line);
    }
    for node in graph.policies() {
        let line = format!("policy {} {}", node.name, node.digest.short());
        lines.insert((node.origin.position, 0), line);
    }
    for node in graph.assemblies() {
        let line = format!(
            "assembly {} at {} for {} in {} out {} tokens {}",
            node.id.short(),
            node.position,
            node.participant.short(),
            node.included,
            node.omitted,
            node.tokens
        );
        lines.insert((node.origin.position, 0), line);
    }
}

fn record_line(graph: &RuntimeGraph, record: &RecordRef) -> Option<String> {
    let id = record.id;
    let line = match record.kind {
        RecordKind::Message => message_line(graph.message(&MessageId::from_bytes(id))?),
        RecordKind::Call => call_line(graph.call(&CallId::from_bytes(id))?),
        RecordKind::Artifact => artifact_line(graph.artifact(&ArtifactId::from_bytes(id))?),
        RecordKind::Memory => memory_line(graph.memory(&MemoryId::from_bytes(id))?),
        RecordKind::Skill => {
            let node = graph.skill_state(&graph.common(record)?.origin.position)?;
            let loaded = node
                .state
                .skills
                .iter()
                .filter(|skill| skill.loaded)
                .count();
            format!("skills {loaded} of {} loaded", node.state.skills.len())
        }
        RecordKind::Fact => {
            let node = graph.fact(&FactId::from_bytes(id))?;
            let by = edge("superseded-by", node.superseded_by.map(|id| id.short()));
            format!("fact {} {}{by}", node.id.short(), size(&node.content))
        }
        RecordKind::Checkpoint => {
            let node = graph.checkpoint(&CheckpointId::from_bytes(id))?;
            let run = edge("restores", node.run.map(|id| id.short()));
            format!(
                "checkpoint {}{run} restored {} times",
                node.id.short(),
                node.restored.len()
            )
        }
        RecordKind::Child => {
            let node = graph.child(&RunId::from_bytes(id))?;
            format!(
                "child-end {} {}",
                node.run.short(),
                node.end.as_ref()?.status
            )
        }
    };
    Some(format!(
        "{line}{}",
        common_text(graph, graph.common(record)?)
    ))
}

fn message_line(node: &Message) -> String {
    let run = edge("generated-by", node.run.map(|id| id.short()));
    let draft = if node.draft { " draft" } else { "" };
    format!(
        "message {} {}{draft} {}{run}",
        node.id.short(),
        node.role,
        size(&node.content)
    )
}

fn call_line(node: &Call) -> String {
    let run = edge("requested-by", node.run.map(|id| id.short()));
    format!(
        "call {} {} {}{run}",
        node.id.short(),
        node.tool,
        size(&node.arguments)
    )
}

fn artifact_line(node: &Artifact) -> String {
    let call = edge("of", node.call.map(|id| id.short()));
    let size = node.result.as_ref().map_or("no result".to_owned(), size);
    let resolved = edge("resolved-by", node.resolved_by.map(|id| id.short()));
    let (id, tool, status) = (node.id.short(), &node.tool, node.status);
    format!("artifact {id} {tool} {status} {size}{call}{resolved}")
}

fn memory_line(node: &Memory) -> String {
    let mut line = format!(
        "memory {} {} v{} {} {}",
        node.id.short(),
        node.extractor,
        node.extractor_version,
        node.freshness,
        size(&node.summary)
    );
    for artifact in &node.artifacts {
        line.push_str(&edge("derived-from", Some(artifact.short())));
    }
    for old in &node.supersedes {
        line.push_str(&edge("supersedes", Some(old.short())));
    }
    for newer in &node.superseded_by {
        line.push_str(&edge("superseded-by", Some(newer.short())));
    }
    for other in &node.conflicts_with {
        line.push_str(&edge("conflicts-with", Some(other.short())));
    }
    if node.broken {
        line.push_str(" broken");
    }
    line
}

fn edge(name: &str, to: Option<String>) -> String {
    to.map_or(String::new(), |to| format!(" {name} {to}"))
}

/// Says what is not ordinary about whose a record is: most are on the branch and internal.
fn common_text(graph: &RuntimeGraph, common: &Common) -> String {
    let mut out = String::new();
    let main = graph.conversation().map(|c| c.main_branch);
    if Some(common.ownership.branch) != main {
        let _ = write!(out, " on {}", common.ownership.branch.short());
    }
    if common.ownership.visibility != Visibility::Branch {
        let _ = write!(out, " {}", common.ownership.visibility);
    }
    if common.privacy != Privacy::Internal {
        let _ = write!(out, " {}", common.privacy);
    }
    if let Some(promotion) = &common.promotion {
        let _ = write!(
            out,
            " promoted at {} ({})",
            promotion.position, promotion.ground
        );
    }
    out
}

fn size(payload: &PayloadRef) -> String {
    format!("{} tok", payload.tokens)
}
