//! What stories tell the assembler, and what it makes of them: the stage for the tests beside it.

use foldback_assembly::policy::Policy;
use foldback_assembly::{Assembly, assemble, assembly_text, explain_assembly};
use foldback_event::kind::{AssemblyRequest, RecordRef, Route};
use foldback_event::{
    ArtifactId, CallId, Label, MemoryId, ParticipantId, Presentation, Reason, RecordKind,
    RuntimeKind,
};
use foldback_graph::RuntimeGraph;
use foldback_testkit::Story;
use foldback_testkit::story::Recorded;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// What is expected of one record.
pub(crate) struct Expect {
    record: RecordRef,
    fate: Fate,
}

enum Fate {
    In(Presentation, Reason),
    Out(Reason),
    Beside,
}

pub(crate) fn raw(record: impl Recorded, reason: Reason) -> Expect {
    shown(record, Presentation::Raw, reason)
}

pub(crate) fn compact(record: impl Recorded, reason: Reason) -> Expect {
    shown(record, Presentation::Compact, reason)
}

pub(crate) fn marker(record: impl Recorded, reason: Reason) -> Expect {
    shown(record, Presentation::Marker, reason)
}

pub(crate) fn shown(record: impl Recorded, form: Presentation, reason: Reason) -> Expect {
    Expect {
        record: record.record(),
        fate: Fate::In(form, reason),
    }
}

pub(crate) fn out(record: impl Recorded, reason: Reason) -> Expect {
    Expect {
        record: record.record(),
        fate: Fate::Out(reason),
    }
}

/// The record is not even looked at.
pub(crate) fn beside(record: impl Recorded) -> Expect {
    Expect {
        record: record.record(),
        fate: Fate::Beside,
    }
}

/// The state of skills that the story's last event set.
pub(crate) fn skills_of(story: &Story) -> RecordRef {
    let mut id = [0; 16];
    id[8..].copy_from_slice(&story.position().to_be_bytes());
    RecordRef {
        kind: RecordKind::Skill,
        id,
    }
}

/// The request that a participant makes where a story stands, over a route of standard trust.
pub(crate) fn ask(story: &Story, participant: ParticipantId) -> AssemblyRequest {
    AssemblyRequest {
        branch: story.stage(),
        participant,
        position: story.position(),
        runtime_kind: RuntimeKind::Chat,
        run: None,
        route: via("openai"),
        as_of: story.now(),
        budget_tokens: None,
        exact: Vec::new(),
        extends: None,
        relevance: None,
    }
}

pub(crate) fn via(provider: &str) -> Route {
    Route {
        provider: Label::or_stand_in(provider),
        model: None,
        region: None,
        zero_retention: false,
    }
}

/// The default policy with some lines changed; one route is trusted, one is not.
pub(crate) fn policy(changes: &[(&str, &str)]) -> Policy {
    let mut text = Policy::builtin().replace(
        "[[route]]\ntrust = \"standard\"",
        "[[route]]\nprovider = \"vault\"\ntrust = \"trusted\"\n\n\
         [[route]]\nprovider = \"plaza\"\ntrust = \"untrusted\"\n\n\
         [[route]]\ntrust = \"standard\"",
    );
    for (line, instead) in changes {
        assert!(text.contains(line), "the default policy has no `{line}`");
        text = text.replace(line, instead);
    }
    Policy::parse(&text).unwrap()
}

pub(crate) fn fold(story: &Story) -> RuntimeGraph {
    RuntimeGraph::fold(story.events())
}

/// Assembles, holds the assembly to the laws and to what is expected, and gives it as text.
pub(crate) fn check(story: &Story, request: &AssemblyRequest, expect: &[Expect]) -> String {
    check_under(&policy(&[]), story, request, expect)
}

pub(crate) fn check_under(
    policy: &Policy,
    story: &Story,
    request: &AssemblyRequest,
    expect: &[Expect],
) -> String {
    let graph = fold(story);
    let assembly = assemble(&graph, policy, request, None).unwrap();
    verdicts_add_up(&graph, &assembly);
    calls_and_results_pair(&graph, &assembly);
    let text = text_of(&graph, &assembly);
    for Expect { record, fate } in expect {
        let found = assembly.decisions.iter().find(|d| d.record == *record);
        let told = found.map(|d| (d.presentation, d.reason));
        let wanted = match fate {
            Fate::In(form, reason) => Some((Some(*form), *reason)),
            Fate::Out(reason) => Some((None, *reason)),
            Fate::Beside => None,
        };
        assert_eq!(told, wanted, "of {record:?} in\n{text}");
    }
    text
}

/// The assembly and a sentence on each candidate.
fn text_of(graph: &RuntimeGraph, assembly: &Assembly) -> String {
    let mut text = assembly_text(assembly);
    for told in explain_assembly(graph, assembly) {
        let hint = told
            .hint
            .map_or(String::new(), |hint| format!(" Hint: {hint}."));
        let _ = writeln!(text, "{:>3} {}{hint}", told.position, told.sentence);
    }
    text
}

/// Law 4: every candidate has one verdict, and the counts add up to all records there are.
pub(crate) fn verdicts_add_up(graph: &RuntimeGraph, assembly: &Assembly) {
    let decisions = &assembly.decisions;
    assert!(
        decisions.is_sorted_by(|a, b| a.position < b.position),
        "two verdicts on one record"
    );
    let chosen: Vec<(u64, Presentation, u64)> = decisions
        .iter()
        .filter_map(|d| Some((d.position, d.presentation?, d.tokens)))
        .collect();
    let mut items: Vec<(u64, Presentation, u64)> = assembly
        .items
        .iter()
        .map(|item| (item.position, item.presentation, item.tokens))
        .collect();
    items.sort_unstable();
    assert_eq!(items, chosen, "what is in is not what was decided");
    let mut counts: BTreeMap<Reason, u64> = BTreeMap::new();
    for decision in decisions.iter().filter(|d| d.presentation.is_none()) {
        *counts.entry(decision.reason).or_default() += 1;
    }
    for omission in &assembly.omissions {
        let decided = counts.remove(&omission.reason).unwrap_or(0);
        let unseen = matches!(
            omission.reason,
            Reason::BranchExcluded | Reason::CandidateBound
        );
        assert!(
            omission.count == decided || unseen && omission.count > decided,
            "{} are counted as {}, {decided} were decided",
            omission.count,
            omission.reason
        );
    }
    assert!(counts.is_empty(), "not counted: {counts:?}");
    let omitted: u64 = assembly.omissions.iter().map(|o| o.count).sum();
    let records = graph.record_count();
    assert_eq!(items.len() as u64 + omitted, records, "of all records");
    let by_rule = decisions
        .iter()
        .filter(|d| d.presentation.is_none() && d.rule.is_some())
        .count() as u64;
    let safety: u64 = assembly.safety.iter().map(|s| s.count).sum();
    assert_eq!(safety, by_rule, "safety decisions");
    let spent: u64 = assembly.items.iter().map(|item| item.tokens).sum();
    assert_eq!(spent, assembly.tokens.assembled, "tokens");
    assert!(assembly.tokens.protected <= spent);
    assert!(spent <= assembly.tokens.budget);
}

/// The core of law 6: in the history, a result stands with its call, and a call has one result or
/// none because none is there.
pub(crate) fn calls_and_results_pair(graph: &RuntimeGraph, assembly: &Assembly) {
    let mut calls = BTreeSet::new();
    let mut answered = BTreeMap::new();
    for item in &assembly.items {
        let id = item.record.id;
        if item.section != foldback_assembly::Section::History {
            continue;
        }
        match item.record.kind {
            RecordKind::Call => {
                calls.insert(CallId::from_bytes(id));
            }
            RecordKind::Artifact | RecordKind::Memory => {
                let call = call_of(graph, &item.record).expect("a result of a call");
                *answered.entry(call).or_insert(0) += 1;
            }
            _ => {}
        }
    }
    for (call, count) in &answered {
        assert!(calls.contains(call), "a result stands without its call");
        assert_eq!(*count, 1, "one result in one form");
    }
    for call in calls.iter().filter(|call| !answered.contains_key(call)) {
        let node = graph.call(call).unwrap();
        let candidate = |id: &ArtifactId| {
            let position = graph.artifact(id).unwrap().common.origin.position;
            assembly.decision(position).is_some()
        };
        assert!(
            !node.artifacts.iter().any(candidate),
            "the result of {call} was lost"
        );
    }
}

/// The call whose result a record of the history is.
pub(crate) fn call_of(graph: &RuntimeGraph, record: &RecordRef) -> Option<CallId> {
    match record.kind {
        RecordKind::Call => Some(CallId::from_bytes(record.id)),
        RecordKind::Artifact => graph.artifact(&ArtifactId::from_bytes(record.id))?.call,
        RecordKind::Memory => {
            let memory = graph.memory(&MemoryId::from_bytes(record.id))?;
            graph.artifact(memory.artifacts.first()?)?.call
        }
        _ => None,
    }
}

/// The answer of a search, long enough that its compact form saves.
pub(crate) fn flights(count: u32) -> String {
    let rows: Vec<String> = (0..count)
        .map(|n| {
            let (number, seats) = (100 + n, n % 7);
            format!(r#"{{"flight":"HAT{number}","from":"JFK","to":"SEA","seats":{seats}}}"#)
        })
        .collect();
    format!("[{}]", rows.join(","))
}
