//! Requests of one chat extend each other: what a provider has cached stays as it was.

use crate::assembly::{ask, call_of, fold, policy};
use foldback_assembly::{Assembly, Section, assemble};
use foldback_event::{Presentation, RecordKind};
use foldback_graph::RuntimeGraph;
use foldback_testkit::{Rng, Story};
use proptest::prelude::*;

/// One place in the history: a message, a call, or what answers a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    position: u64,
    answer: bool,
    form: Presentation,
    tokens: u64,
}

impl Place {
    fn is_at(&self, other: &Self) -> bool {
        (self.position, self.answer) == (other.position, other.answer)
    }
}

/// The history as it is laid out: an answer stands with its call.
fn laid_out(graph: &RuntimeGraph, assembly: &Assembly) -> Vec<Place> {
    let mut out = Vec::new();
    for item in &assembly.items {
        assert_eq!(item.section, Section::History, "a chat has nothing else");
        let answer = matches!(item.record.kind, RecordKind::Artifact | RecordKind::Memory);
        let call = call_of(graph, &item.record).and_then(|id| graph.call(&id));
        out.push(Place {
            position: call.map_or(item.position, |call| call.common.origin.position),
            answer,
            form: item.presentation,
            tokens: item.tokens,
        });
    }
    out.sort_by_key(|place| (place.position, place.answer));
    out
}

/// A chat with tools in which each result is condensed at once, and the places of each request.
fn requests(seed: u64, turns: u64) -> Vec<Vec<Place>> {
    let mut rng = Rng::new(seed);
    let mut s = Story::new(&format!("chat {seed}"));
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    let policy = policy(&[]);
    let mut out = Vec::new();
    for turn in 0..turns {
        s.says(mia, &format!("Question {turn}."));
        for step in 0..=rng.below(4) {
            let graph = fold(&s);
            let assembly = assemble(&graph, &policy, &ask(&s, agent), None).unwrap();
            out.push(laid_out(&graph, &assembly));
            let run = s.run(agent);
            if rng.chance(50) {
                s.answers(run, &format!("I look at {step}."));
            }
            let calls: Vec<_> = (0..rng.below(3))
                .map(|n| s.calls(run, "search_flights", &format!(r#"{{"n":{n}}}"#)))
                .collect();
            s.finishes(run, "tool_calls");
            for call in calls {
                let rows = u32::try_from(rng.below(20)).unwrap();
                let artifact = s.result(call, &crate::assembly::flights(rows));
                if rng.chance(50) {
                    s.lossless();
                }
                if rng.chance(90) {
                    s.derives(artifact, &format!("{rows} flights"));
                }
            }
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_request_extends_the_one_before(seed in any::<u64>(), turns in 1_u64..6) {
        let requests = requests(seed, turns);
        for (before, after) in requests.iter().zip(requests.iter().skip(1)) {
            prop_assert!(before.len() <= after.len(), "a place is gone");
            for (old, new) in before.iter().zip(after) {
                // No place is put in between, and none is taken out.
                prop_assert!(old.is_at(new), "{old:?} became {new:?}");
                let condensed = old.answer
                    && (old.form, new.form) == (Presentation::Raw, Presentation::Compact)
                    && new.tokens < old.tokens;
                prop_assert!(old == new || condensed, "{old:?} became {new:?}");
            }
        }
    }

    #[test]
    fn a_result_changes_its_form_once(seed in any::<u64>(), turns in 1_u64..6) {
        let requests = requests(seed, turns);
        let last = requests.last().unwrap();
        for (at, place) in last.iter().enumerate() {
            let forms: Vec<_> = requests.iter().filter_map(|r| r.get(at)).map(|p| p.form).collect();
            let changes = forms.windows(2).filter(|pair| pair[0] != pair[1]).count();
            prop_assert!(changes <= 1, "{forms:?} at {place:?}");
        }
    }
}
