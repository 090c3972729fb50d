//! Laws 2, 6 and 7 on whole requests: each text of a seeded history holds a canary, and no canary
//! is found where its text may not be.

use foldback::event::kind::{AssemblyRequest, RecordRef, Route};
use foldback::event::{
    Body, Digest, Event, Label, MessageId, PayloadRef, Presentation, Privacy, Reason, RecordKind,
    RuntimeKind, Visibility,
};
use foldback::node::Common;
use foldback::policy::{Policy, Trust};
use foldback::{
    AssembleError, Assembly, PayloadText, RuntimeGraph, anthropic, build_prompt, openai,
};
use foldback_assembly::{assemble, explain_assembly};
use foldback_testkit::provider_rules::{check_anthropic, check_openai};
use foldback_testkit::{Rng, Story, canary_history};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// How many histories the suite plays.
const SHORT: u64 = 150;
/// How many the long run plays.
const LONG: u64 = 100_000;
/// How many requests are made of each.
const REQUESTS: u64 = 4;

/// Three routes, one of each trust; and little room for exact bytes, so that it runs out.
fn policy(text: &str) -> Policy {
    let text = text
        .replace(
            "[[route]]\ntrust = \"standard\"",
            "[[route]]\nprovider = \"vault\"\ntrust = \"trusted\"\n\n\
             [[route]]\nprovider = \"plaza\"\ntrust = \"untrusted\"\n\n\
             [[route]]\ntrust = \"standard\"",
        )
        .replace("bytes-max = 131072", "bytes-max = 300");
    Policy::parse(&text).unwrap()
}

/// Draws what is asked of a history: by whom, where, in which mode, on which route.
fn draw(graph: &RuntimeGraph, events: &[Event], rng: &mut Rng) -> AssemblyRequest {
    let participants: Vec<_> = graph.participants().map(|p| p.id).collect();
    let branches: Vec<_> = graph.branches().map(|b| b.id).collect();
    let provider = *rng.pick(&["openai", "vault", "plaza"]).unwrap();
    let exactly = rng.chance(50);
    let artifacts = graph.artifacts().map(|artifact| artifact.id);
    let exact = artifacts.filter(|_| exactly && rng.chance(30)).collect();
    let last = events.last().unwrap().envelope.time();
    AssemblyRequest {
        branch: *rng.pick(&branches).unwrap(),
        participant: *rng.pick(&participants).unwrap(),
        position: graph.position(),
        runtime_kind: *rng.pick(RuntimeKind::ALL).unwrap(),
        run: None,
        route: Route {
            provider: Label::or_stand_in(provider),
            model: None,
            region: None,
            zero_retention: false,
        },
        as_of: last.plus_seconds(rng.below(20_000).cast_signed()),
        budget_tokens: rng.chance(30).then(|| rng.below(2_000)),
        exact,
        extends: None,
        relevance: None,
    }
}

/// Law 2 told again, without the rules of the document: whether content may reach the requester.
fn may_reach(
    graph: &RuntimeGraph,
    trust: Trust,
    request: &AssemblyRequest,
    record: &RecordRef,
) -> Result<(), &'static str> {
    let Common {
        ownership,
        privacy,
        promotion,
        origin,
        ..
    } = graph.common(record).unwrap();
    let me = request.participant;
    let mine = ownership.owner_participant == Some(me);
    let shared = ownership.shared_with.contains(&me);
    if ownership.visibility == Visibility::AuditOnly {
        return Err("it is kept for auditors");
    }
    if ownership.visibility == Visibility::ParticipantPrivate && !mine && !shared {
        return Err("it is private to another");
    }
    let of_child = graph.children().any(|child| {
        child.parent == Some(me) && ownership.owner_participant == Some(child.participant)
    });
    if of_child && !mine && !shared && promotion.is_none() {
        return Err("it is a child's and not promoted");
    }
    let lineage = graph.lineage(&request.branch).unwrap();
    let here = lineage.holds(&ownership.branch, origin.position);
    if !here && !shared && ownership.visibility != Visibility::Conversation {
        return Err("it is on a sibling branch");
    }
    let message = MessageId::from_bytes(record.id);
    let draft = record.kind == RecordKind::Message && graph.message(&message).unwrap().draft;
    if draft && !mine {
        return Err("it is a draft of another");
    }
    // A memory is a safe form of what it was derived from; all else is the thing itself.
    let whole = record.kind != RecordKind::Memory;
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
        Err("its class is forbidden on this route")
    }
}

/// The texts of each record, and those that are of none.
struct Texts {
    of_records: BTreeMap<RecordRef, Vec<PayloadRef>>,
    of_none: Vec<PayloadRef>,
    /// Names of participants, which everyone sees.
    names: BTreeSet<Digest>,
}

impl Texts {
    fn of(graph: &RuntimeGraph, events: &[Event]) -> Self {
        let mut texts = Self {
            of_records: BTreeMap::new(),
            of_none: Vec::new(),
            names: BTreeSet::new(),
        };
        for event in events {
            let payloads = event.body.payloads();
            let record = match &event.body {
                Body::MessageFinalized(body) => Some(RecordRef {
                    kind: RecordKind::Message,
                    id: *body.message.as_bytes(),
                }),
                Body::ChildRunFinished(body) => Some(RecordRef {
                    kind: RecordKind::Child,
                    id: *body.run.as_bytes(),
                }),
                Body::ParticipantJoined(_) => {
                    texts.names.extend(payloads.iter().map(|p| p.address));
                    None
                }
                _ => graph.record_at(event.envelope.version).copied(),
            };
            match record {
                Some(record) => texts.of_records.entry(record).or_default().extend(payloads),
                None => texts.of_none.extend(payloads),
            }
        }
        texts
    }
}

fn canary(story: &Story, payload: &PayloadRef) -> Option<String> {
    let text = story.text(payload)?;
    let words = text.rsplit(|c: char| !c.is_ascii_alphanumeric());
    let mut canaries = words.filter(|word| word.starts_with("cn"));
    canaries.next().map(str::to_owned)
}

/// What a request said, in every form in which it leaves us.
fn said(
    story: &Story,
    graph: &RuntimeGraph,
    assembly: &Assembly,
) -> (String, BTreeSet<Digest>, Vec<String>) {
    let opened = RefCell::new(BTreeSet::new());
    let open = |payload: &PayloadRef| {
        opened.borrow_mut().insert(payload.address);
        Ok(match story.text(payload) {
            Some(text) => PayloadText::Text(text),
            None => PayloadText::Erased,
        })
    };
    let prompt = build_prompt(graph, assembly, &open).unwrap();
    let (openai, anthropic) = (openai::render(&prompt), anthropic::render(&prompt));
    let refused = check_openai(&openai)
        .into_iter()
        .chain(check_anthropic(&anthropic));
    let refused = refused.map(|violation| violation.to_string()).collect();
    let mut text = format!("{openai}\n{anthropic}\n");
    for told in explain_assembly(graph, assembly) {
        let (sentence, hint, provenance) = (told.sentence, told.hint, told.provenance);
        let _ = writeln!(text, "{sentence} {hint:?} {provenance:?}");
    }
    (text, opened.into_inner(), refused)
}

/// Holds one request to the laws; tells how many canaries it had to keep out.
fn hold(
    story: &Story,
    graph: &RuntimeGraph,
    texts: &Texts,
    trust: Trust,
    assembly: &Assembly,
) -> Result<usize, String> {
    let (text, opened, refused) = said(story, graph, assembly);
    if let Some(first) = refused.first() {
        return Err(format!("a provider would refuse it: {first}"));
    }
    let seen: BTreeSet<&str> = text
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| word.starts_with("cn"))
        .collect();
    let mut forbidden = 0;
    for (record, payloads) in &texts.of_records {
        let Err(why) = may_reach(graph, trust, &assembly.request, record) else {
            continue;
        };
        for canary in payloads.iter().filter_map(|payload| canary(story, payload)) {
            forbidden += 1;
            if seen.contains(canary.as_str()) {
                return Err(format!("{canary} of {record:?} is out, though {why}"));
            }
        }
    }
    for payload in &texts.of_none {
        if let Some(canary) = canary(story, payload).filter(|c| seen.contains(c.as_str())) {
            return Err(format!("{canary} is of no record and is out"));
        }
    }
    // Law 7: nothing is opened but what is shown.
    let mut shown = texts.names.clone();
    for item in &assembly.items {
        let told = item.presentation != Presentation::Marker;
        if let Some(payloads) = texts.of_records.get(&item.record).filter(|_| told) {
            shown.extend(payloads.iter().map(|payload| payload.address));
        }
        let exact = item.reason == Reason::ExactNeeded;
        let mut asked_for = assembly.request.exact.iter();
        let asked = asked_for.any(|id| *id.as_bytes() == item.record.id);
        if exact && !asked {
            return Err(format!("{item:?} is exact and nobody asked for it"));
        }
    }
    match opened.difference(&shown).next() {
        Some(address) => Err(format!("{address} was opened and is not shown")),
        None => Ok(forbidden),
    }
}

/// What was looked at.
#[derive(Debug, Default)]
struct Tally {
    requests: u64,
    kept_out: usize,
}

/// Plays histories from seeds, up to the first request that breaks a law.
fn play(policy: &Policy, seeds: std::ops::Range<u64>) -> Result<Tally, String> {
    let mut tally = Tally::default();
    for seed in seeds {
        let mut rng = Rng::new(seed ^ 0xca9a);
        let story = canary_history(seed, 20 + rng.below(120));
        let graph = RuntimeGraph::fold(story.events());
        let texts = Texts::of(&graph, story.events());
        for _ in 0..REQUESTS {
            let request = draw(&graph, story.events(), &mut rng);
            let assembly = match assemble(&graph, policy, &request, None) {
                Ok(assembly) => assembly,
                Err(AssembleError::BelowFloor { .. }) => continue,
                Err(other) => return Err(format!("history {seed}: {other}")),
            };
            let trust = policy.trust(&request.route);
            tally.kept_out += hold(&story, &graph, &texts, trust, &assembly)
                .map_err(|broken| format!("history {seed}: {broken}\n{request:#?}"))?;
            tally.requests += 1;
        }
    }
    Ok(tally)
}

#[test]
fn no_canary_is_found_where_its_text_may_not_be() {
    let tally = play(&policy(Policy::builtin()), 0..SHORT).unwrap_or_else(|e| panic!("{e}"));
    assert!(tally.requests > SHORT * 3, "{tally:?}");
    assert!(tally.kept_out > 5_000, "{tally:?}");
}

#[test]
fn a_policy_without_one_of_its_rules_is_found_to_leak() {
    let whole = Policy::builtin();
    let mut blocks = whole.split("[[gate]]\n");
    let head = blocks.next().unwrap();
    let rules: Vec<&str> = blocks.collect();
    let mut harmless = Vec::new();
    for (at, rule) in rules.iter().enumerate() {
        let last = at + 1 == rules.len();
        if !rule.contains("effect = \"forbid\"") || last {
            continue;
        }
        let mut fewer = rules.clone();
        fewer.remove(at);
        let text = format!("{head}[[gate]]\n{}", fewer.join("[[gate]]\n"));
        if play(&policy(&text), 0..SHORT).is_ok() {
            let id = rule.lines().next().unwrap();
            harmless.push(id.trim_start_matches("id = ").trim_matches('"'));
        }
    }
    // A private record and a draft, which is private, are kept out by the want of a permit as well.
    assert_eq!(harmless, ["private-to-others", "draft-of-others"]);
}

#[test]
#[ignore = "the long run; docs/laws.md says how to start it and what it showed"]
fn no_canary_is_found_in_a_hundred_thousand_histories() {
    let tally = play(&policy(Policy::builtin()), 0..LONG).unwrap_or_else(|e| panic!("{e}"));
    println!("{LONG} histories: {tally:?}");
}
