//! Requests that extend each other: what stays in the provider's cache, what changes, and when.

use crate::assembly::{ask, fold, policy};
use foldback_assembly::{Assembly, assemble, reassemble};
use foldback_event::kind::{AssemblyRequest, ContextAssembled};
use foldback_event::{
    ArtifactId, AssemblyId, EventId, ParticipantId, Presentation, Reason, RecordKind,
};
use foldback_testkit::{Rng, Story};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A participant's requests, of which each extends the one before.
struct Thread {
    agent: ParticipantId,
    recorded: Vec<ContextAssembled>,
}

impl Thread {
    fn new(agent: ParticipantId) -> Self {
        Self {
            agent,
            recorded: Vec::new(),
        }
    }

    fn ask(&mut self, story: &Story) -> Assembly {
        self.ask_for(story, |_| ())
    }

    fn ask_for(&mut self, story: &Story, change: impl Fn(&mut AssemblyRequest)) -> Assembly {
        let graph = fold(story);
        let mut request = ask(story, self.agent);
        let previous = self.recorded.last();
        request.extends = previous.map(|previous| previous.assembly);
        change(&mut request);
        let policy = policy(&[]);
        let assembly = assemble(&graph, &policy, &request, previous).unwrap();
        let number = u8::try_from(self.recorded.len()).unwrap();
        let id = AssemblyId::derive(EventId::from_bytes([number; 16]), 0);
        let recorded = assembly.to_event(id).unwrap();
        // Whoever decides again by what was recorded decides the same.
        let again = reassemble(&graph, &policy, &recorded, previous).unwrap();
        assert_eq!(again.differences(&recorded).unwrap(), [""; 0]);
        self.recorded.push(recorded);
        assembly
    }
}

fn plan(assembly: &Assembly) -> foldback_event::kind::LayoutPlan {
    assembly.layout.as_ref().unwrap().plan
}

/// The form in which a result stands: its own, or that of its memory.
fn form(story: &Story, assembly: &Assembly, artifact: ArtifactId) -> Option<Presentation> {
    let graph = fold(story);
    let node = graph.artifact(&artifact).unwrap();
    let own = assembly.decision(node.common.origin.position);
    let memories = node.memories.iter().filter_map(|id| graph.memory(id));
    let mut forms = memories
        .filter_map(|memory| assembly.decision(memory.common.origin.position))
        .chain(own)
        .filter_map(|decision| decision.presentation);
    let form = forms.next();
    assert_eq!(forms.next(), None, "a result stands once");
    form
}

/// A result of so many rows with a compact memory of about half and a brief one of a tenth.
fn reads(s: &mut Story, agent: ParticipantId, rows: u32) -> ArtifactId {
    let run = s.run(agent);
    let call = s.calls(run, "search_flights", r#"{"to":"SEA"}"#);
    s.finishes(run, "tool_calls");
    let artifact = s.result(call, &crate::assembly::flights(rows));
    let summary = crate::assembly::flights(rows / 2);
    s.brief(&crate::assembly::flights(rows / 10)).lossless();
    s.derives(artifact, &summary);
    artifact
}

#[test]
fn a_brief_form_waits_until_it_pays_and_never_goes_back() {
    let mut s = Story::new("waiting");
    let mia = s.human("Mia");
    let agent = s.model("agent", "claude");
    let mut thread = Thread::new(agent);
    s.says(mia, "Find flights.");
    let artifact = reads(&mut s, agent, 10);
    // Much is said behind the result in its own turn.
    let run = s.run(agent);
    s.answers(run, &"Each of these flights has a seat. ".repeat(90));
    let first = thread.ask(&s);
    assert_eq!(form(&s, &first, artifact), Some(Presentation::Raw));
    let mut forms = Vec::new();
    for turn in 0..40 {
        s.says(mia, &format!("And {turn}?"));
        let assembly = thread.ask(&s);
        let plan = plan(&assembly);
        let now = form(&s, &assembly, artifact);
        let waits = now == Some(Presentation::Raw);
        // What the account says is what was done.
        assert_eq!(plan.pending, 1 - u64::from(!waits && plan.applied == 0));
        if waits {
            assert!(plan.break_even > plan.horizon, "{plan:?}");
            assert!(plan.suffix > plan.saving, "{plan:?}");
        }
        forms.push(now);
        let run = s.run(agent);
        s.answers(run, "Yes.");
    }
    assert_eq!(
        forms.first(),
        Some(&Some(Presentation::Raw)),
        "it waits at first"
    );
    assert_eq!(
        forms.last(),
        Some(&Some(Presentation::Brief)),
        "and it pays in the end"
    );
    let changes = forms.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert_eq!(changes, 1);
}

#[test]
fn a_result_that_waits_says_what_it_waits_for() {
    let mut s = Story::new("told");
    let mia = s.human("Mia");
    let agent = s.model("agent", "claude");
    let mut thread = Thread::new(agent);
    s.says(mia, "Find flights.");
    let artifact = reads(&mut s, agent, 10);
    let run = s.run(agent);
    s.answers(run, &"Each of these flights has a seat. ".repeat(200));
    thread.ask(&s);
    s.says(mia, "Thanks.");
    let assembly = thread.ask(&s);
    let graph = fold(&s);
    let position = graph.artifact(&artifact).unwrap().common.origin.position;
    let told = foldback_assembly::explain_record(&graph, &assembly, position).unwrap();
    assert_eq!(told.reason, Reason::Cached.name());
    insta::assert_snapshot!(told.sentence, @"The model saw the result art_239b1b7d of search_flights whole: a smaller form is due, but 1921 cached tokens stand behind the change, which would save 279 in each request; it pays from 52 further requests on, and 16 are reckoned with.");
}

#[test]
fn what_must_change_takes_along_what_is_due_behind_it() {
    let mut s = Story::new("along");
    let mia = s.human("Mia");
    let agent = s.model("agent", "claude");
    let mut thread = Thread::new(agent);
    s.says(mia, "Find flights.");
    let old = reads(&mut s, agent, 10);
    let artifact = reads(&mut s, agent, 10);
    let run = s.run(agent);
    s.answers(run, &"Each of these flights has a seat. ".repeat(200));
    thread.ask(&s);
    s.says(mia, "Thanks.");
    let waiting = thread.ask(&s);
    assert_eq!(form(&s, &waiting, artifact), Some(Presentation::Raw));
    let graph = fold(&s);
    let memory = |id: ArtifactId| graph.artifact(&id).unwrap().memories[0];
    s.supersedes(memory(artifact), &[memory(old)]);
    let changed = thread.ask(&s);
    assert_eq!(form(&s, &changed, old), Some(Presentation::Marker));
    assert_eq!(form(&s, &changed, artifact), Some(Presentation::Brief));
    assert_eq!(plan(&changed).applied, 1);
}

#[test]
fn another_policy_begins_anew_and_another_time_changes_nothing() {
    let mut s = Story::new("epochs");
    let mia = s.human("Mia");
    let agent = s.model("agent", "claude");
    let mut thread = Thread::new(agent);
    s.says(mia, "Find flights.");
    let artifact = reads(&mut s, agent, 10);
    let run = s.run(agent);
    s.answers(run, &"Each of these flights has a seat. ".repeat(200));
    thread.ask(&s);
    s.says(mia, "Thanks.");
    let waiting = thread.ask(&s);
    assert_eq!(form(&s, &waiting, artifact), Some(Presentation::Raw));
    let again = thread.ask(&s);
    let layout = again.layout.as_ref().unwrap();
    assert_eq!(layout.prefix, again.tokens.assembled, "all of it is cached");
    let mut request = ask(&s, agent);
    let previous = thread.recorded.last();
    request.extends = previous.map(|previous| previous.assembly);
    let other = policy(&[("small-tokens = 64", "small-tokens = 65")]);
    let assembly = assemble(&fold(&s), &other, &request, previous).unwrap();
    assert_eq!(form(&s, &assembly, artifact), Some(Presentation::Brief));
}

#[test]
fn a_request_names_what_it_extends_or_is_refused() {
    let mut s = Story::new("named");
    let mia = s.human("Mia");
    let agent = s.model("agent", "claude");
    s.says(mia, "Hello.");
    let mut thread = Thread::new(agent);
    thread.ask(&s);
    let graph = fold(&s);
    let request = ask(&s, agent);
    let error = assemble(&graph, &policy(&[]), &request, thread.recorded.last()).unwrap_err();
    insta::assert_snapshot!(error.to_string(), @"the assembly asm_14526b3c was handed over, and the request does not say that it extends it");
}

/// Sizes of the forms, from the smallest.
fn size(form: Presentation) -> u8 {
    match form {
        Presentation::Raw => 2,
        Presentation::Compact => 1,
        _ => 0,
    }
}

/// A chat whose results have memories with and without brief forms; some are superseded.
fn chat(seed: u64, turns: u64) -> Thread {
    let mut rng = Rng::new(seed);
    let mut s = Story::new(&format!("chat {seed}"));
    let mia = s.human("Mia");
    let agent = s.model("agent", "claude");
    let mut thread = Thread::new(agent);
    let mut memories = Vec::new();
    for turn in 0..turns {
        s.says(mia, &format!("Question {turn}."));
        for _ in 0..=rng.below(4) {
            thread.ask(&s);
            let run = s.run(agent);
            if rng.chance(50) {
                let words = usize::try_from(rng.below(80)).unwrap();
                s.answers(run, &"I look at it. ".repeat(words + 1));
            }
            let call = s.calls(run, "search_flights", &format!(r#"{{"n":{turn}}}"#));
            s.finishes(run, "tool_calls");
            let rows = u32::try_from(rng.below(20)).unwrap();
            let artifact = s.result(call, &crate::assembly::flights(rows));
            if rng.chance(80) {
                if rng.chance(50) {
                    s.lossless();
                }
                if rng.chance(70) {
                    s.brief(&crate::assembly::flights(rows / 8));
                }
                let memory = s.derives(artifact, &crate::assembly::flights(rows / 2));
                if rng.chance(20)
                    && let Some(old) = memories.pop()
                {
                    s.supersedes(memory, &[old]);
                }
                memories.push(memory);
            }
        }
    }
    thread
}

/// What a selected record says in a request, as far as an auditor sees it.
type Said = (u64, RecordKind, Presentation, u64, Option<u64>);

fn said(recorded: &ContextAssembled) -> Vec<Said> {
    let layout = recorded.layout.as_ref().unwrap();
    assert_eq!(layout.placements.len(), recorded.selection.len());
    let both = recorded.selection.iter().zip(&layout.placements);
    both.map(|(s, p)| (s.record, s.kind, s.presentation, p.tokens, p.names))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// What a request claims to share with the one before it stands at the beginning of both.
    #[test]
    fn a_claimed_prefix_is_one(seed in any::<u64>(), turns in 1_u64..6) {
        let thread = chat(seed, turns);
        for (before, after) in thread.recorded.iter().zip(thread.recorded.iter().skip(1)) {
            let (before, now) = (said(before), said(after));
            let common = before.iter().zip(&now).take_while(|(a, b)| a == b).count();
            let shared: u64 = now.iter().take(common).map(|said| said.3).sum();
            let layout = after.layout.as_ref().unwrap();
            prop_assert!(layout.prefix <= shared, "{} claimed, {shared} shared", layout.prefix);
            let sum: u64 = now.iter().map(|said| said.3).sum();
            prop_assert_eq!(sum, after.tokens.assembled);
            let plan = layout.plan;
            let cost = plan.read_permille * layout.prefix
                + plan.write_permille * (sum - layout.prefix);
            prop_assert_eq!(cost, layout.cost);
        }
    }

    #[test]
    fn what_was_smaller_never_grows(seed in any::<u64>(), turns in 1_u64..6) {
        let thread = chat(seed, turns);
        let mut smallest: BTreeMap<u64, u8> = BTreeMap::new();
        for recorded in &thread.recorded {
            for selected in &recorded.selection {
                if !matches!(selected.kind, RecordKind::Artifact | RecordKind::Memory) {
                    continue;
                }
                let now = size(selected.presentation);
                let least = smallest.entry(selected.record).or_insert(now);
                prop_assert!(now <= *least, "{selected:?} was smaller before");
                *least = now;
            }
        }
    }

    /// Without a request before it, every result stands in the form that is due.
    #[test]
    fn the_first_request_owes_nothing(seed in any::<u64>(), turns in 1_u64..6) {
        let thread = chat(seed, turns);
        let first = thread.recorded.first().unwrap();
        let layout = first.layout.as_ref().unwrap();
        prop_assert_eq!((layout.prefix, layout.plan.pending), (0, 0));
    }
}
