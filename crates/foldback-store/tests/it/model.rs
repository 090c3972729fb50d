//! The file log against a model: a vector of records for each conversation.

use crate::fault::{FaultStorage, Loss};
use crate::support::{batch, conversation, events, try_open};
use foldback_store::{AppendError, EventLog, Head};
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Debug, Clone)]
enum Step {
    Append { of: u8, count: u64 },
    Conflict { of: u8 },
    Again,
    Read { of: u8, from: u64, limit: usize },
    Reopen,
    Crash { seed: u64 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0..4_u8, 1..12_u64).prop_map(|(of, count)| Step::Append { of, count }),
        1 => (0..4_u8).prop_map(|of| Step::Conflict { of }),
        1 => Just(Step::Again),
        2 => (0..4_u8, 0..30_u64, 0..20_usize)
            .prop_map(|(of, from, limit)| Step::Read { of, from, limit }),
        1 => Just(Step::Reopen),
        1 => any::<u64>().prop_map(|seed| Step::Crash { seed }),
    ];
    prop::collection::vec(step, 1..40)
}

type Model = BTreeMap<u8, Vec<Vec<u8>>>;

async fn run(steps: &[Step]) {
    let mut storage = FaultStorage::default();
    let (mut log, _) = try_open(&storage).unwrap();
    let mut model = Model::new();
    let mut last = None;
    for (salt, step) in (1_u64..).zip(steps) {
        match step {
            Step::Append { of, count } => {
                let id = conversation(*of);
                let head = log.head(id).await.unwrap().unwrap_or(Head::EMPTY);
                let new = events(head, *count, salt);
                let known = model.entry(*of).or_default();
                assert_eq!(head.version, u64::try_from(known.len()).unwrap());
                known.extend(new.iter().map(|event| event.record.clone()));
                let done = log.append(id, head.version, batch(salt), new.clone()).await;
                last = Some((id, head.version, salt, new, done.unwrap()));
            }
            Step::Conflict { of } => {
                let known = u64::try_from(model.get(of).map_or(0, Vec::len)).unwrap();
                let new = events(Head::EMPTY, 1, salt);
                let done = log
                    .append(conversation(*of), known + 1, batch(salt), new)
                    .await;
                assert!(
                    matches!(done, Err(AppendError::Conflict { actual, .. }) if actual == known)
                );
            }
            Step::Again => {
                if let Some((id, version, salt, new, done)) = &last {
                    let again = log.append(*id, *version, batch(*salt), new.clone()).await;
                    let again = again.unwrap();
                    assert!(again.replayed);
                    assert_eq!(again.head, done.head);
                }
            }
            Step::Read { of, from, limit } => {
                let read = log.read(conversation(*of), *from, *limit).await.unwrap();
                let read: Vec<Vec<u8>> = read.into_iter().map(|event| event.record).collect();
                let known = model.get(of).cloned().unwrap_or_default();
                let skip = usize::try_from((*from).max(1) - 1).unwrap();
                let wanted: Vec<Vec<u8>> = known.into_iter().skip(skip).take(*limit).collect();
                assert_eq!(read, wanted);
            }
            Step::Reopen => {
                drop(log);
                log = try_open(&storage).unwrap().0;
            }
            Step::Crash { seed } => {
                // Everything so far was acknowledged, so nothing may be lost.
                let after = storage.after(Loss::Some(*seed));
                drop(log);
                storage = after;
                log = try_open(&storage).unwrap().0;
            }
        }
    }
    let report = log.check();
    assert_eq!(report.problems, []);
    let total: usize = model.values().map(Vec::len).sum();
    assert_eq!(report.events, u64::try_from(total).unwrap());
    for (of, known) in &model {
        let read = log.read(conversation(*of), 1, usize::MAX).await.unwrap();
        let read: Vec<Vec<u8>> = read.into_iter().map(|event| event.record).collect();
        assert_eq!(read, *known);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_log_is_its_model(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(run(&steps));
    }
}
