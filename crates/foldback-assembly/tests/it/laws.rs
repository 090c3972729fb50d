//! Laws that hold for every generated history, participant, branch, route and bound.

use crate::assembly::{call_of, calls_and_results_pair, policy, verdicts_add_up, via};
use foldback_assembly::policy::{Policy, Trust};
use foldback_assembly::{
    AssembleError, Assembly, Note, Section, assemble, explain_assembly, explain_record,
};
use foldback_event::codec::{decode_value, encode_value};
use foldback_event::kind::{AssemblyRequest, RecordRef, Relevance};
use foldback_event::{
    ArtifactId, AssemblyId, CallStatus, Event, Label, MemoryId, MessageId, Presentation, Privacy,
    Reason, RecordKind, RuntimeKind, Visibility,
};
use foldback_graph::node::{Call, Common};
use foldback_graph::{Lineage, RuntimeGraph};
use foldback_testkit::{Rng, history, odd_history, unordered};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// What a request is made of; a failing one is printed whole.
#[derive(Debug, Clone)]
struct Case {
    seed: u64,
    steps: u64,
    who: usize,
    branch: usize,
    provider: &'static str,
    mode: RuntimeKind,
    candidates: u64,
    small_tokens: u64,
    exact: bool,
    later: i64,
}

/// A history, and a request on it.
struct Stage {
    events: Vec<Event>,
    graph: RuntimeGraph,
    policy: Policy,
    request: AssemblyRequest,
}

fn case() -> impl Strategy<Value = Case> {
    let mode = prop_oneof![Just(RuntimeKind::Chat), Just(RuntimeKind::ParentResume)];
    let provider = prop_oneof![Just("openai"), Just("vault"), Just("plaza")];
    // The bounds are mostly wide; a history of some dozen records also meets the narrow ones.
    let candidates = prop_oneof![3 => Just(4_096), 1 => 4_u64..40];
    let small_tokens = prop_oneof![Just(0), Just(64)];
    let later = prop_oneof![2 => Just(0), 1 => 0_i64..200_000];
    (
        (any::<u64>(), 10_u64..140, 0_usize..8, 0_usize..12),
        (
            provider,
            mode,
            candidates,
            small_tokens,
            any::<bool>(),
            later,
        ),
    )
        .prop_map(|((seed, steps, who, branch), rest)| {
            let (provider, mode, candidates, small_tokens, exact, later) = rest;
            Case {
                seed,
                steps,
                who,
                branch,
                provider,
                mode,
                candidates,
                small_tokens,
                exact,
                later,
            }
        })
}

impl Case {
    fn stage(&self) -> Stage {
        self.stage_of(history(self.seed, self.steps).events().to_vec())
    }

    fn stage_of(&self, events: Vec<Event>) -> Stage {
        let graph = RuntimeGraph::fold(&events);
        let participants: Vec<_> = graph.participants().map(|p| p.id).collect();
        let branches: Vec<_> = graph.branches().map(|b| b.id).collect();
        let mut rng = Rng::new(self.seed ^ 0x5eed);
        let scores = graph
            .records()
            .filter(|_| rng.chance(30))
            .map(|(position, _)| (position, i64::try_from(position % 7).unwrap()))
            .collect();
        let relevance = Some(Relevance {
            scorer: Label::or_stand_in("drawn"),
            version: 1,
            scores,
        });
        let exact = graph.artifacts().filter(|_| self.exact).map(|a| a.id);
        let last = events
            .last()
            .map_or(foldback_event::Micros(0), |e| e.envelope.time());
        let request = AssemblyRequest {
            branch: branches[self.branch % branches.len()],
            participant: participants[self.who % participants.len()],
            position: graph.position(),
            runtime_kind: self.mode,
            run: None,
            route: via(self.provider),
            as_of: last.plus_seconds(self.later),
            budget_tokens: None,
            exact: exact.collect(),
            extends: None,
            relevance,
        };
        Stage {
            events,
            graph,
            policy: self.policy(),
            request,
        }
    }

    fn policy(&self) -> Policy {
        let candidates = format!("candidates = {}", self.candidates);
        let small = format!("small-tokens = {}", self.small_tokens);
        policy(&[
            ("candidates = 4096", candidates.as_str()),
            ("small-tokens = 64", small.as_str()),
            ("bytes-max = 131072", "bytes-max = 100"),
        ])
    }
}

impl Stage {
    fn assemble(&self) -> Assembly {
        assemble(&self.graph, &self.policy, &self.request, None).unwrap()
    }

    fn with_budget(&self, budget: u64) -> Result<Assembly, AssembleError> {
        let request = AssemblyRequest {
            budget_tokens: Some(budget),
            ..self.request.clone()
        };
        assemble(&self.graph, &self.policy, &request, None)
    }

    /// What the smallest budget is that is accepted.
    fn floor(&self) -> u64 {
        match self.with_budget(0) {
            Ok(_) => 0,
            Err(AssembleError::BelowFloor { floor, .. }) => floor,
            Err(other) => panic!("{other}"),
        }
    }

    fn lineage(&self) -> Lineage {
        self.graph.lineage(&self.request.branch).unwrap()
    }
}

/// Law 2 told again, without the rules of the document: whether content may reach the requester.
fn may_reach(stage: &Stage, record: &RecordRef, form: Presentation) -> Result<(), &'static str> {
    let graph = &stage.graph;
    let Common {
        ownership,
        privacy,
        promotion,
        origin,
        ..
    } = graph.common(record).unwrap();
    let me = stage.request.participant;
    let mine = ownership.owner_participant == Some(me);
    let shared = ownership.shared_with.contains(&me);
    if ownership.visibility == Visibility::AuditOnly {
        return Err("kept for auditors");
    }
    if ownership.visibility == Visibility::ParticipantPrivate && !mine && !shared {
        return Err("private to another");
    }
    let of_child = graph.children().any(|child| {
        child.parent == Some(me) && ownership.owner_participant == Some(child.participant)
    });
    if of_child && !mine && !shared && promotion.is_none() {
        return Err("not promoted");
    }
    let here = stage.lineage().holds(&ownership.branch, origin.position);
    if !here && !shared && ownership.visibility != Visibility::Conversation {
        return Err("on a sibling branch");
    }
    let draft = record.kind == RecordKind::Message
        && graph
            .message(&MessageId::from_bytes(record.id))
            .unwrap()
            .draft;
    if draft && !mine {
        return Err("a draft of another");
    }
    let whole = form == Presentation::Raw;
    let trust = stage.policy.trust(&stage.request.route);
    let allowed = match privacy {
        Privacy::Public | Privacy::Internal => true,
        Privacy::Personal => !whole || trust != Trust::Untrusted,
        Privacy::OauthDerived | Privacy::GoogleDerived => {
            trust == Trust::Trusted || !whole && trust == Trust::Standard
        }
        Privacy::SecretAdjacent => !whole && trust == Trust::Trusted,
        Privacy::Unknown => false,
    };
    if allowed {
        Ok(())
    } else {
        Err("a forbidden class")
    }
}

/// Calls of the requester on its branch that are open, or failed and may be tried again.
fn unresolved(stage: &Stage) -> Vec<u64> {
    let lineage = stage.lineage();
    let here = |common: &Common| lineage.holds(&common.ownership.branch, common.origin.position);
    let graph = &stage.graph;
    let mine = |common: &Common| {
        common.ownership.owner_participant == Some(stage.request.participant) && here(common)
    };
    let made_good = |call: &Call, since: u64| {
        graph.artifacts().any(|artifact| {
            let common = &artifact.common;
            artifact.status == CallStatus::Succeeded
                && artifact.tool == call.tool
                && common.origin.position > since
                && mine(common)
        })
    };
    let needs = |call: &&Call| {
        let plain = matches!(call.common.privacy, Privacy::Public | Privacy::Internal)
            && call.common.ownership.visibility != Visibility::AuditOnly;
        let outcomes = call.artifacts.iter().map(|id| graph.artifact(id).unwrap());
        // What stands beside the branch may still be seen from here: then nothing is claimed.
        let known: Vec<_> = outcomes.collect();
        let last = known.last();
        mine(&call.common)
            && plain
            && known.iter().all(|artifact| here(&artifact.common))
            && last.is_none_or(|artifact| {
                let since = artifact.common.origin.position;
                let failed = artifact.status == CallStatus::Failed && artifact.retryable;
                artifact.status.is_open() || failed && !made_good(call, since)
            })
    };
    let calls = graph.calls().filter(needs);
    calls.map(|call| call.common.origin.position).collect()
}

/// What stands in a request, whatever its form: results by the call that they answer.
fn places(stage: &Stage, assembly: &Assembly) -> BTreeMap<(bool, u64), Presentation> {
    let place = |section: Section, record: &RecordRef, position: u64| {
        let result = matches!(record.kind, RecordKind::Artifact | RecordKind::Memory);
        let call = call_of(&stage.graph, record).filter(|_| result && section == Section::History);
        let call = call.and_then(|id| stage.graph.call(&id));
        call.map_or((false, position), |call| {
            (true, call.common.origin.position)
        })
    };
    let items = assembly.items.iter();
    items
        .map(|item| {
            (
                place(item.section, &item.record, item.position),
                item.presentation,
            )
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_same_inputs_give_the_same_assembly(case in case(), cut in 0_usize..140) {
        let stage = case.stage();
        let first = stage.assemble();
        let id = AssemblyId::from_bytes([1; 16]);
        let event = first.to_event(id).unwrap();
        let decoded: RuntimeGraph = decode_value(&encode_value(&stage.graph).unwrap()).unwrap();
        let (head, tail) = stage.events.split_at(cut.min(stage.events.len()));
        let checkpoint = encode_value(&RuntimeGraph::fold(head)).unwrap();
        let mut resumed: RuntimeGraph = decode_value(&checkpoint).unwrap();
        for event in tail {
            resumed.apply(event);
        }
        for graph in [&stage.graph, &decoded, &resumed] {
            let again = assemble(graph, &case.policy(), &stage.request, None).unwrap();
            prop_assert_eq!(&again, &first);
            prop_assert_eq!(again.differences(&event).unwrap(), Vec::<&str>::new());
        }
        let other = AssemblyRequest { as_of: stage.request.as_of.plus_seconds(1), ..stage.request };
        let other = assemble(&stage.graph, &stage.policy, &other, None).unwrap();
        prop_assert_ne!(other.to_event(id).unwrap().digest, event.digest);
    }

    #[test]
    fn nothing_reaches_whom_it_may_not_reach(case in case()) {
        let stage = case.stage();
        let assembly = stage.assemble();
        let calls: BTreeSet<_> = assembly
            .items
            .iter()
            .filter(|item| item.record.kind == RecordKind::Call)
            .map(|item| item.record.id)
            .collect();
        for item in &assembly.items {
            // The notice that holds the place of a result tells nothing of it.
            let place = item.presentation == Presentation::Marker
                && item.record.kind == RecordKind::Artifact
                && call_of(&stage.graph, &item.record).is_some_and(|id| calls.contains(id.as_bytes()));
            if !place {
                let allowed = may_reach(&stage, &item.record, item.presentation);
                prop_assert_eq!(allowed, Ok(()), "{:?}", item);
            }
        }
        // An explanation tells of all candidates, and of none of their words.
        for told in explain_assembly(&stage.graph, &assembly) {
            let seen = told.sentence.starts_with("The model saw ");
            prop_assert_eq!(seen, told.presentation.is_some(), "{}", told.sentence);
            prop_assert!(seen || told.sentence.starts_with("The model did not see "));
            let text = format!("{} {:?} {:?}", told.sentence, told.hint, told.provenance);
            for words in ["4WQ", "and so on", "asked a person", "timed out", "overloaded"] {
                prop_assert!(!text.contains(words), "{text}");
            }
        }
    }

    #[test]
    fn what_replaces_a_memory_could_enter_itself(case in case()) {
        let stage = case.stage();
        let assembly = stage.assemble();
        let memory = |position: u64| {
            let record = stage.graph.record_at(position).unwrap();
            stage.graph.memory(&MemoryId::from_bytes(record.id)).unwrap()
        };
        for decision in &assembly.decisions {
            if let (Reason::Superseded, Some(Note::SupersededBy(newer))) = (decision.reason, decision.note) {
                let newer = stage.graph.memory(&newer).unwrap();
                let position = newer.common.origin.position;
                let verdict = assembly.decision(position).expect("the replacement is a candidate");
                prop_assert!(position > decision.position);
                let admitted = verdict.presentation.is_some() || verdict.rule.is_none();
                prop_assert!(admitted, "a gate keeps {verdict:?} out");
                prop_assert_ne!(verdict.reason, Reason::NotPermitted);
            }
            let shown = decision.presentation == Some(Presentation::Compact);
            if decision.record.kind == RecordKind::Memory && shown {
                let newer = &memory(decision.position).superseded_by;
                let newer = newer.iter().filter_map(|id| stage.graph.memory(id));
                let newer = newer.filter(|n| n.common.origin.position > decision.position && !n.broken);
                let verdicts: Vec<_> =
                    newer.filter_map(|n| assembly.decision(n.common.origin.position)).collect();
                let kept_out = verdicts.iter().all(|v| {
                    v.presentation.is_none() && (v.rule.is_some() || v.reason == Reason::NotPermitted)
                });
                prop_assert!(kept_out, "{decision:?} is shown as current beside {verdicts:?}");
            }
        }
    }

    #[test]
    fn every_candidate_has_one_verdict_and_every_call_its_result(case in case()) {
        let stage = case.stage();
        let assembly = stage.assemble();
        verdicts_add_up(&stage.graph, &assembly);
        calls_and_results_pair(&stage.graph, &assembly);
        for (position, _) in stage.graph.records() {
            let told = explain_record(&stage.graph, &assembly, position).unwrap();
            let decided = assembly.decision(position);
            prop_assert_eq!(decided.is_some_and(|d| d.presentation.is_some()), told.presentation.is_some());
        }
    }

    #[test]
    fn odd_histories_keep_the_counts_too(case in case(), shuffled in any::<bool>()) {
        let mut events = odd_history(case.seed, case.steps).events().to_vec();
        if shuffled {
            // As an import may find them: in no order, yet numbered as they come.
            events = unordered(case.seed, &events);
            for (at, event) in events.iter_mut().enumerate() {
                event.envelope.version = at as u64 + 1;
            }
        }
        let graph = RuntimeGraph::fold(&events);
        prop_assume!(graph.participants().next().is_some() && graph.branches().next().is_some());
        let stage = case.stage_of(events);
        match assemble(&stage.graph, &stage.policy, &stage.request, None) {
            Ok(assembly) => {
                verdicts_add_up(&stage.graph, &assembly);
                calls_and_results_pair(&stage.graph, &assembly);
                let _ = explain_assembly(&stage.graph, &assembly);
            }
            Err(AssembleError::NotUnderstood) => prop_assert!(stage.graph.refuses_assembly()),
            Err(AssembleError::NotOpened { .. }) => prop_assert!(stage.graph.conversation().is_none()),
            // An odd event may say that its text has more tokens than any budget.
            Err(AssembleError::BelowFloor { budget, floor }) => prop_assert!(floor > budget),
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    #[test]
    fn what_is_unresolved_survives_every_budget_from_the_floor_on(case in case()) {
        let case = Case { candidates: 4_096, ..case };
        let stage = case.stage();
        let needed = unresolved(&stage);
        let free = stage.assemble();
        let floor = stage.floor();
        prop_assert!(floor <= free.tokens.assembled);
        for budget in [floor, floor + 1, floor + 50, free.tokens.assembled] {
            let assembly = stage.with_budget(budget).unwrap();
            prop_assert_eq!(assembly.tokens.protected, free.tokens.protected);
            for position in &needed {
                let decision = assembly.decision(*position).unwrap();
                prop_assert!(decision.presentation.is_some(), "{decision:?} at {budget}");
                prop_assert_eq!(decision.note, Some(Note::Protected));
            }
        }
        if floor > 0 {
            let refused = stage.with_budget(floor - 1);
            prop_assert_eq!(refused, Err(AssembleError::BelowFloor { budget: floor - 1, floor }));
        }
    }

    #[test]
    fn exact_bytes_enter_only_by_request_and_within_limits(case in case()) {
        let case = Case { exact: true, ..case };
        let stage = case.stage();
        let assembly = stage.assemble();
        let rules = &stage.policy.rehydration;
        let (mut bytes, mut count) = (0, 0);
        for item in assembly.items.iter().filter(|i| i.record.kind == RecordKind::Artifact) {
            let artifact = stage.graph.artifact(&ArtifactId::from_bytes(item.record.id)).unwrap();
            let exact = item.reason == Reason::ExactNeeded;
            prop_assert_eq!(exact, item.section == Section::Tail);
            if exact {
                prop_assert!(stage.request.exact.contains(&artifact.id));
                let trust = stage.policy.trust(&stage.request.route);
                prop_assert!(rules.allows(artifact.common.privacy, trust));
                bytes += artifact.result.unwrap().bytes;
                count += 1;
            } else if item.presentation == Presentation::Raw {
                let usual = [Reason::FreshRaw, Reason::NoSaving, Reason::Permitted, Reason::Recovery];
                prop_assert!(usual.contains(&item.reason), "{item:?}");
            }
        }
        prop_assert!(bytes <= rules.bytes_max && count <= rules.count_max);
    }

    #[test]
    fn more_budget_never_loses_a_record(case in case()) {
        let stage = case.stage();
        let (floor, all) = (stage.floor(), stage.assemble().tokens.assembled);
        let mut before = BTreeMap::new();
        for part in 0..=8 {
            let budget = floor + (all - floor) * part / 8;
            let places = places(&stage, &stage.with_budget(budget).unwrap());
            for (place, form) in &before {
                let now = places.get(place);
                prop_assert!(now.is_some(), "{place:?} is lost at {budget}");
                let kept = *form != Presentation::Raw || now == Some(form);
                prop_assert!(kept, "{place:?} was raw and is {now:?} at {budget}");
            }
            before = places;
        }
    }

    #[test]
    fn time_never_makes_a_stale_memory_fresh(case in case(), passing in proptest::collection::vec(0_i64..50_000, 3..7)) {
        let case = Case { candidates: 4_096, steps: case.steps + 60, ..case };
        let mut stage = case.stage();
        let mut stale = BTreeSet::new();
        for seconds in passing {
            stage.request.as_of = stage.request.as_of.plus_seconds(seconds);
            let assembly = stage.assemble();
            let now: BTreeSet<u64> = assembly
                .decisions
                .iter()
                .filter(|d| d.record.kind == RecordKind::Memory && d.reason == Reason::Stale)
                .map(|d| d.position)
                .collect();
            prop_assert!(stale.is_subset(&now), "{stale:?} are not all in {now:?}");
            stale = now;
        }
    }
}
