//! The power goes at every operation of a small workload: what was acknowledged survives, and the
//! rest is a clean prefix.

use crate::fault::{FaultStorage, Loss};
use crate::support::{append, batch, conversation, events, records, try_open};
use foldback_event::{BatchId, ConversationId};
use foldback_store::{EventLog, FileLog, Head};

type Acknowledged = Vec<(ConversationId, BatchId, Vec<Vec<u8>>)>;

async fn one(log: &FileLog, n: u8, count: u64, salt: u64) -> Acknowledged {
    let of = conversation(n);
    let head = log.head(of).await.unwrap().unwrap_or(Head::EMPTY);
    let new = events(head, count, salt);
    let bodies = new.iter().map(|event| event.record.clone()).collect();
    match log.append(of, head.version, batch(salt), new).await {
        Ok(_) => vec![(of, batch(salt), bodies)],
        Err(_) => Vec::new(),
    }
}

/// Appends alone and in groups, over several segments, and closes.
async fn workload(storage: &FaultStorage) -> Acknowledged {
    let mut done = Vec::new();
    let Ok((log, _)) = try_open(storage) else {
        return done;
    };
    for salt in 0..6 {
        done.extend(one(&log, 1, 4, salt).await);
    }
    for round in 0..3_u64 {
        storage.hold();
        let first = tokio::spawn({
            let log = log.clone();
            async move { one(&log, 1, 1, 100 + round).await }
        });
        tokio::task::yield_now().await;
        storage.wait_for_sync();
        let mut tasks = vec![first];
        for n in 2..6_u8 {
            let log = log.clone();
            tasks.push(tokio::spawn(async move {
                one(&log, n, 3, 200 + round * 10 + u64::from(n)).await
            }));
            tokio::task::yield_now().await;
        }
        storage.release();
        for task in tasks {
            done.extend(task.await.unwrap());
        }
    }
    log.close().await;
    done
}

async fn survives(storage: &FaultStorage, done: &Acknowledged, case: &str) {
    let opened = try_open(storage);
    let (log, report) = opened.unwrap_or_else(|error| panic!("{case}: {error}"));
    for (of, id, bodies) in done {
        let found = log.batch(*of, *id).await.unwrap();
        let found = found.unwrap_or_else(|| panic!("{case}: {id} is lost"));
        let read = log
            .read(*of, found.first_version, bodies.len())
            .await
            .unwrap();
        let read: Vec<Vec<u8>> = read.into_iter().map(|event| event.record).collect();
        assert_eq!(read, *bodies, "{case}");
    }
    let checked = log.check();
    assert_eq!(checked.problems, [], "{case}");
    assert_eq!(checked.events, log.count(), "{case}");
    if let Some(cut) = report.cut {
        assert_eq!(
            storage.bytes(&cut.kept).len(),
            usize::try_from(cut.bytes).unwrap()
        );
    }
    let before = records(&log).await;
    append(&log, conversation(77), 3, 999).await;
    drop(log);
    let (log, report) = try_open(storage).unwrap_or_else(|error| panic!("{case}: {error}"));
    assert_eq!(report.cut, None, "{case}");
    let after = records(&log).await;
    assert_eq!(after[..before.len()], before, "{case}");
    assert_eq!(after.len(), before.len() + 3, "{case}");
}

#[tokio::test]
async fn at_every_operation() {
    let whole = FaultStorage::default();
    let all = workload(&whole).await;
    assert_eq!(all.len(), 6 + 3 * 5);
    assert!(whole.ending(".seg").len() >= 3);
    let operations = whole.operations();
    assert!(operations > 60, "{operations}");
    let mut partly = 0;
    for operation in 0..operations {
        let storage = FaultStorage::default();
        storage.crash_at(operation);
        let done = workload(&storage).await;
        partly += usize::from(!done.is_empty() && done.len() < all.len());
        let losses = [
            Loss::Nothing,
            Loss::All,
            Loss::Some(1),
            Loss::Some(2),
            Loss::Some(3),
        ];
        for loss in losses {
            let case = format!("operation {operation}, {loss:?}");
            survives(&storage.after(loss), &done, &case).await;
        }
    }
    assert!(partly > 30, "{partly}");
}

#[tokio::test]
async fn at_every_operation_of_cutting_a_torn_tail() {
    let storage = FaultStorage::default();
    let (log, _) = try_open(&storage).unwrap();
    let mut done = one(&log, 1, 2, 1).await;
    done.extend(one(&log, 2, 2, 2).await);
    // The group is written whole and its sync never returns.
    storage.hold();
    let held = log.clone();
    let lost = tokio::spawn(async move { one(&held, 1, 9, 3).await });
    tokio::task::yield_now().await;
    storage.wait_for_sync();
    let torn = (1..200)
        .map(|seed| storage.after(Loss::Some(seed)))
        .find(|torn| matches!(try_open(&torn.copy()), Ok((_, report)) if report.cut.is_some()))
        .unwrap();
    storage.release();
    assert_eq!(lost.await.unwrap().len(), 1);
    let operations = {
        let copy = torn.copy();
        drop(try_open(&copy).unwrap());
        copy.operations()
    };
    for operation in 0..operations {
        let copy = torn.copy();
        copy.crash_at(operation);
        drop(try_open(&copy));
        for loss in [Loss::Nothing, Loss::All, Loss::Some(5), Loss::Some(6)] {
            let case = format!("operation {operation}, {loss:?}");
            survives(&copy.after(loss), &done, &case).await;
        }
    }
}
