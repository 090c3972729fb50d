//! The words of an explanation.

use crate::assembly::{Assembly, Decision, Note};
use foldback_event::kind::RecordRef;
use foldback_event::{
    ArtifactId, CallId, MemoryId, MessageId, Micros, Presentation, Reason, RecordKind,
};
use foldback_graph::RuntimeGraph;

/// Names a record so that a person finds it again.
pub(super) fn name(graph: &RuntimeGraph, record: &RecordRef) -> String {
    let id = record.id;
    let of = |tool: Option<String>| tool.map_or(String::new(), |tool| format!(" of {tool}"));
    match record.kind {
        RecordKind::Message => {
            let id = MessageId::from_bytes(id);
            let role = graph
                .message(&id)
                .map_or(String::new(), |m| format!("{} ", m.role));
            format!("the {role}message {}", id.short())
        }
        RecordKind::Call => {
            let id = CallId::from_bytes(id);
            let tool = graph.call(&id).map(|call| call.tool.to_string());
            format!("the call {}{}", id.short(), of(tool))
        }
        RecordKind::Artifact => {
            let id = ArtifactId::from_bytes(id);
            let tool = graph
                .artifact(&id)
                .map(|artifact| artifact.tool.to_string());
            format!("the result {}{}", id.short(), of(tool))
        }
        RecordKind::Memory => {
            let id = MemoryId::from_bytes(id);
            let tool = graph.memory(&id).map(|memory| memory.tool.to_string());
            format!("the memory {}{}", id.short(), of(tool))
        }
        RecordKind::Skill => "the state of skills".to_owned(),
        RecordKind::Fact => "the user fact".to_owned(),
        RecordKind::Checkpoint => "the checkpoint".to_owned(),
        RecordKind::Child => "the report of the child run".to_owned(),
    }
}

/// Says in one sentence what was decided, and why.
pub(super) fn sentence(graph: &RuntimeGraph, assembly: &Assembly, decision: &Decision) -> String {
    let name = name(graph, &decision.record);
    let why = why(graph, assembly, decision);
    let rule = decision
        .rule
        .as_ref()
        .map_or(String::new(), |rule| format!(" (rule `{rule}`)"));
    match decision.presentation {
        Some(Presentation::Raw) => format!("The model saw {name} whole: {why}{rule}."),
        Some(Presentation::Compact) => {
            format!("The model saw {name}, a compact form: {why}{rule}.")
        }
        Some(Presentation::Brief) => {
            format!("The model saw {name}, the shortest form: {why}{rule}.")
        }
        Some(Presentation::Outline) => {
            format!("The model saw the shape of {name} without its values: {why}{rule}.")
        }
        Some(Presentation::Marker) => {
            format!("The model saw a notice in the place of {name}: {why}{rule}.")
        }
        Some(Presentation::Reference) => format!("The model saw the id of {name}: {why}{rule}."),
        None => format!("The model did not see {name}: {why}{rule}."),
    }
}

fn why(graph: &RuntimeGraph, assembly: &Assembly, decision: &Decision) -> String {
    let trust_route = &assembly.request.route.provider;
    match decision.reason {
        Reason::Permitted if decision.presentation == Some(Presentation::Compact) => {
            compact(graph, assembly, decision)
        }
        Reason::Permitted if decision.presentation == Some(Presentation::Brief) => {
            brief(graph, decision)
        }
        Reason::Cached => cached(assembly, decision),
        Reason::Permitted => "the policy permits it and nothing stands against it".to_owned(),
        Reason::NotPermitted if decision.rule.is_some() => {
            "a rule of the policy forbids it".to_owned()
        }
        Reason::NotPermitted => "no rule of the policy permits it".to_owned(),
        Reason::BranchExcluded => "it belongs to a branch that the request's branch does not \
                                   descend from"
            .to_owned(),
        Reason::ParticipantPrivate => "it is private to another participant".to_owned(),
        Reason::AuditOnly => "it is kept for auditors only".to_owned(),
        Reason::NotPromoted => "it belongs to a child run and was not promoted".to_owned(),
        Reason::PrivacyRoute => {
            let class = graph
                .common(&decision.record)
                .map_or("unknown", |common| common.privacy.name());
            format!("its privacy class `{class}` is not allowed on the route to {trust_route}")
        }
        Reason::Draft => "it was still a draft of someone else".to_owned(),
        Reason::Summarized => "a summary later on the branch stands for all before it".to_owned(),
        Reason::Stale
        | Reason::Superseded
        | Reason::Conflicted
        | Reason::Compacted
        | Reason::Replaced
        | Reason::BrokenProvenance => noted(graph, assembly, decision),
        Reason::Recovery => match decision.record.kind {
            RecordKind::Call => "recovery needs it, because the call is open, or failed and was \
                                 not made good since"
                .to_owned(),
            _ => "recovery needs it until it is resolved".to_owned(),
        },
        Reason::FreshRaw => "it is so recent that the model gets the exact bytes".to_owned(),
        Reason::NoSaving => {
            format!(
                "at {} tokens, a compact form would save too little",
                decision.tokens
            )
        }
        Reason::Budget => format!(
            "the budget of {} tokens was spent on what the policy ranks higher",
            assembly.tokens.budget
        ),
        Reason::CandidateBound => "it lies beyond the policy's bound on candidates".to_owned(),
        Reason::ExactNeeded => "the request asked for the exact bytes, and privacy, route and \
                                size allow them"
            .to_owned(),
        Reason::Erased => "its bytes were erased".to_owned(),
        Reason::CallOmitted => "its call is not in the request, and a result never stands \
                                without its call"
            .to_owned(),
        Reason::Inactive => match decision.record.kind {
            RecordKind::Message => "it is a model's thinking of an earlier turn, which providers \
                                    drop"
                .to_owned(),
            RecordKind::Skill => "a newer state of skills is in force".to_owned(),
            _ => "it is not active for this request".to_owned(),
        },
        Reason::RehydrationLimit => "its exact bytes exceed what the policy lets one request \
                                     bring back"
            .to_owned(),
        Reason::TooLarge => format!(
            "at {} tokens it is larger than the policy lets one result be",
            decision.tokens
        ),
    }
}

/// A compact form stands for a result of the request's own history, or was let in from beside it.
fn compact(graph: &RuntimeGraph, assembly: &Assembly, decision: &Decision) -> String {
    let memory = graph.memory(&MemoryId::from_bytes(decision.record.id));
    let promotion = memory.and_then(|memory| memory.common.promotion.as_ref());
    if let Some(promotion) = promotion {
        return format!(
            "it was promoted at position {} ({})",
            promotion.position, promotion.ground
        );
    }
    let artifact = memory
        .and_then(|memory| memory.artifacts.first())
        .and_then(|id| graph.artifact(id));
    let Some(artifact) = artifact else {
        return "it stands for its result".to_owned();
    };
    let source = format!("the result {}", artifact.id.short());
    let lossless = memory.is_some_and(|memory| memory.lossless);
    let stands = if lossless {
        format!("it keeps every value of {source}")
    } else {
        format!("it stands for {source}")
    };
    // The verdict on the result itself says why its bytes are not there.
    let verdict = assembly.decision(artifact.common.origin.position);
    let rest = match verdict.map(|verdict| verdict.reason) {
        Some(Reason::Compacted) if lossless => return stands,
        Some(Reason::Compacted) => {
            "whose exact bytes the policy keeps for its own turn or for a request that asks for them"
        }
        Some(Reason::TooLarge) => "which is too large to be shown whole",
        Some(Reason::Budget) => "for which the budget leaves no room",
        Some(Reason::RehydrationLimit) => "whose exact bytes exceed what one request brings back",
        Some(Reason::PrivacyRoute) => "whose privacy class keeps the exact bytes off this route",
        Some(Reason::ExactNeeded) => "whose exact bytes stand at the end of the request",
        _ => "which is not in the request",
    };
    format!("{stands}, {rest}")
}

/// The brief form stands for a result of an earlier turn.
fn brief(graph: &RuntimeGraph, decision: &Decision) -> String {
    let memory = graph.memory(&MemoryId::from_bytes(decision.record.id));
    let artifact = memory.and_then(|memory| memory.artifacts.first());
    let source = artifact.map_or("its result".to_owned(), |id| {
        format!("the result {}", id.short())
    });
    format!(
        "it keeps the ids, names and figures of {source}, whose turn is over; the bytes are kept"
    )
}

/// A larger form stays while changing it would cost more than it saves.
fn cached(assembly: &Assembly, decision: &Decision) -> String {
    let form = match decision.record.kind {
        RecordKind::Memory => "the brief form",
        _ => "a smaller form",
    };
    let plan = assembly.layout.as_ref().map(|layout| layout.plan);
    let Some(plan) = plan else {
        return format!("{form} is due, but changing it now would cost more than it saves");
    };
    format!(
        "{form} is due, but {} cached tokens stand behind the change, which would save {} in each \
         request; it pays from {} further requests on, and {} are reckoned with",
        plan.suffix, plan.saving, plan.break_even, plan.horizon
    )
}

fn noted(graph: &RuntimeGraph, assembly: &Assembly, decision: &Decision) -> String {
    match (decision.reason, decision.note) {
        (Reason::Stale, Some(Note::StaleSince(at))) => {
            format!("its observation is stale since {}", time(at))
        }
        (Reason::Stale, Some(Note::Changed { position, at })) => {
            let by = graph.record_at(position).map(|record| name(graph, record));
            let by = by.unwrap_or_else(|| format!("event {position}"));
            let at = time(at);
            format!("{by}, an act of another, changed what it is about at {at}, after it was read")
        }
        (Reason::BrokenProvenance, _) => {
            "its provenance is broken, so it counts as stale".to_owned()
        }
        (Reason::Superseded, Some(Note::SupersededBy(id))) => {
            format!("the newer memory {} supersedes it", id.short())
        }
        (Reason::Conflicted, Some(Note::ConflictsWith(id))) => format!(
            "it is in with a notice, because it disagrees with the memory {} and neither is known \
             to be wrong",
            id.short()
        ),
        (Reason::Compacted, Some(Note::StandsFor(id))) => {
            let id_short = id.short();
            let position = graph
                .memory(&id)
                .map(|memory| memory.common.origin.position);
            let verdict = position.and_then(|position| assembly.decision(position));
            if verdict.and_then(|verdict| verdict.presentation) == Some(Presentation::Brief) {
                format!(
                    "its turn is over, so the brief form of the memory {id_short} stands for it; \
                     the bytes are kept"
                )
            } else if graph.memory(&id).is_some_and(|memory| memory.lossless) {
                format!("the compact memory {id_short} keeps every value of it and stands for it")
            } else {
                format!(
                    "it is no longer new, so the compact memory {id_short} stands for it; the bytes \
                     are kept"
                )
            }
        }
        (Reason::Replaced, Some(Note::Shown(id))) => {
            format!(
                "the result {} itself is in the request, so its memory is not needed",
                id.short()
            )
        }
        (Reason::Stale, _) => "its observation is stale".to_owned(),
        (Reason::Superseded, _) => "a newer record supersedes it".to_owned(),
        (Reason::Conflicted, _) => "it disagrees with another record".to_owned(),
        (Reason::Compacted, _) => "a compact memory stands for it".to_owned(),
        _ => "another form of the same record is in the request".to_owned(),
    }
}

/// Says what a person can do to get at what was left out.
pub(super) fn hint(graph: &RuntimeGraph, decision: &Decision) -> Option<String> {
    let id = ArtifactId::from_bytes(decision.record.id);
    match (decision.record.kind, decision.reason) {
        (RecordKind::Artifact, Reason::Compacted | Reason::Budget | Reason::Superseded) => {
            Some(format!(
                "name {} as exact in a request to have its bytes, or run `foldback show {}`",
                id.short(),
                id.short()
            ))
        }
        (RecordKind::Memory, Reason::Stale | Reason::BrokenProvenance) => {
            let memory = graph.memory(&MemoryId::from_bytes(decision.record.id))?;
            let tools: Vec<&str> = memory
                .revalidation
                .iter()
                .map(foldback_event::Label::as_str)
                .collect();
            let tools = if tools.is_empty() {
                memory.tool.as_str().to_owned()
            } else {
                tools.join(", ")
            };
            Some(format!("call {tools} again to check it"))
        }
        _ => None,
    }
}

/// Writes a time in UTC without a calendar library: days are counted from the civil epoch.
///
/// The algorithm is the one of Howard Hinnant's `civil_from_days`, in integers.
pub(crate) fn time(at: Micros) -> String {
    let seconds = at.0.div_euclid(1_000_000);
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_civil() {
        assert_eq!(time(Micros(0)), "1970-01-01 00:00:00 UTC");
        assert_eq!(time(Micros(951_782_400_000_000)), "2000-02-29 00:00:00 UTC");
        assert_eq!(time(Micros(-1)), "1969-12-31 23:59:59 UTC");
    }
}
