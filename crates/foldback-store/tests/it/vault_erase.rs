//! Erasing payloads: what goes is nowhere any more, what stays stays, whatever the moment of a crash.

use crate::fault::{FaultStorage, Loss};
use crate::vault::{account, open, open_with, payload, wanted};
use foldback_event::Digest;
use foldback_store::{Erase, GetError, PutError, Sealed, VaultOptions};
use std::collections::BTreeSet;

fn options() -> VaultOptions {
    VaultOptions {
        pack_bytes: 600,
        ..VaultOptions::default()
    }
}

/// Eight payloads of one account and two of another, over several packs.
async fn filled(storage: &FaultStorage) -> (Vec<Sealed>, Vec<Sealed>) {
    let (vault, _) = open_with(storage, &options()).unwrap();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for n in 0..8 {
        ours.extend(vault.put(account(1), vec![payload(n)]).await.unwrap());
        if n % 4 == 0 {
            theirs.extend(vault.put(account(2), vec![payload(n)]).await.unwrap());
        }
    }
    (ours, theirs)
}

fn odd(sealed: &[Sealed]) -> (BTreeSet<Digest>, Vec<Sealed>) {
    let (dead, live): (Vec<_>, Vec<_>) = sealed.iter().enumerate().partition(|(at, _)| at % 2 == 1);
    let dead = dead.into_iter().map(|(_, sealed)| sealed.address);
    let live = live.into_iter().map(|(_, sealed)| *sealed);
    (dead.collect(), live.collect())
}

/// Tells whether a file of the storage holds the address, which stands before the sealed bytes.
fn anywhere(storage: &FaultStorage, address: &Digest) -> bool {
    let bytes = address.as_bytes().as_slice();
    let holds =
        |path: &std::path::PathBuf| storage.bytes(path).windows(32).any(|part| part == bytes);
    storage.paths().iter().any(holds)
}

#[tokio::test]
async fn what_is_erased_is_in_no_file_and_the_rest_stays() {
    let storage = FaultStorage::default();
    let (ours, theirs) = filled(&storage).await;
    let (dead, live) = odd(&ours);
    let before: BTreeSet<_> = storage.ending(".pack").into_iter().collect();
    let (vault, _) = open_with(&storage, &options()).unwrap();
    let erased = vault
        .erase(account(1), Erase::Payloads(dead.clone()))
        .await
        .unwrap();
    assert_eq!(erased.payloads, 4);
    assert!(erased.packs > 1 && erased.bytes > 0, "{erased:?}");
    for vault in [vault, open(&storage.copy()).0] {
        for address in &dead {
            let error = vault.get(account(1), address).unwrap_err();
            assert!(matches!(error, GetError::Missing { .. }), "{error}");
        }
        for (n, sealed) in live.iter().enumerate() {
            let bytes = vault.get(account(1), &sealed.address).unwrap();
            assert_eq!(bytes, payload(2 * n as u64));
        }
        assert_eq!(vault.count(), 6);
        let report = vault.check(wanted(&live));
        assert_eq!(report.problems, []);
        for sealed in &theirs {
            assert!(vault.get(account(2), &sealed.address).is_ok());
        }
    }
    assert!(dead.iter().all(|address| !anywhere(&storage, address)));
    assert!(
        live.iter()
            .all(|sealed| anywhere(&storage, &sealed.address))
    );
    // A pack's number is never used twice, so a reader's picture of one stays true.
    let after: BTreeSet<_> = storage.ending(".pack").into_iter().collect();
    assert!(after.iter().any(|path| !before.contains(path)));
    assert!(before.iter().any(|path| !after.contains(path)));
}

#[tokio::test]
async fn what_was_erased_may_be_stored_again_and_erasing_it_twice_is_nothing() {
    let storage = FaultStorage::default();
    let (ours, _) = filled(&storage).await;
    let (dead, _) = odd(&ours);
    let (vault, _) = open_with(&storage, &options()).unwrap();
    let what = Erase::Payloads(dead);
    vault.erase(account(1), what.clone()).await.unwrap();
    let again = vault.erase(account(1), what).await.unwrap();
    assert_eq!((again.payloads, again.packs), (0, 0));
    let put = vault.put(account(1), vec![payload(1)]).await.unwrap();
    assert_eq!(put[0].address, ours[1].address);
    assert_eq!(vault.get(account(1), &put[0].address).unwrap(), payload(1));
    let all = vault.erase(account(1), Erase::All).await.unwrap();
    assert_eq!(all.payloads, 5);
    assert_eq!(vault.count(), 2);
}

#[tokio::test]
async fn a_crash_at_any_operation_of_an_erasure_loses_nothing_that_stays() {
    let whole = FaultStorage::default();
    let (ours, theirs) = filled(&whole).await;
    let (dead, live) = odd(&ours);
    let what = Erase::Payloads(dead.clone());
    let before = whole.operations();
    let (vault, _) = open_with(&whole, &options()).unwrap();
    let opened = whole.operations() - before;
    vault.erase(account(1), what.clone()).await.unwrap();
    drop(vault);
    let all = whole.operations() - before;
    assert!(all > opened + 20, "{all}");
    for operation in 0..=all {
        let base = FaultStorage::default();
        let (ours, others) = filled(&base).await;
        let (dead, live) = odd(&ours);
        base.crash_at(base.operations() + operation);
        if let Ok((vault, _)) = open_with(&base, &options()) {
            let _ = vault.erase(account(1), Erase::Payloads(dead.clone())).await;
        }
        for loss in [Loss::Nothing, Loss::All, Loss::Some(1), Loss::Some(2)] {
            let case = format!("operation {operation}, {loss:?}");
            let after = base.after(loss);
            let (vault, _) = open_with(&after, &options()).unwrap();
            for (account, sealed) in live
                .iter()
                .map(|sealed| (account(1), sealed))
                .chain(others.iter().map(|sealed| (account(2), sealed)))
            {
                let found = vault.get(account, &sealed.address);
                found.unwrap_or_else(|error| panic!("{case}: {error}"));
            }
            let what = Erase::Payloads(dead.clone());
            vault.erase(account(1), what).await.unwrap();
            drop(vault);
            for address in &dead {
                assert!(!anywhere(&after, address), "{case}");
            }
            assert!(after.ending(".tmp").is_empty(), "{case}");
        }
    }
    assert_eq!((live.len(), theirs.len()), (4, 2));
}

#[tokio::test]
async fn a_reader_beside_an_erasure_goes_on_reading() {
    let storage = FaultStorage::default();
    let (ours, _) = filled(&storage).await;
    let (dead, live) = odd(&ours);
    let reading = VaultOptions {
        read_only: true,
        ..options()
    };
    let (reader, _) = open_with(&storage, &reading).unwrap();
    assert!(reader.get(account(1), &ours[1].address).is_ok());
    let (writer, _) = open_with(&storage, &options()).unwrap();
    let what = Erase::Payloads(dead.clone());
    writer.erase(account(1), what.clone()).await.unwrap();
    for sealed in &live {
        assert!(reader.get(account(1), &sealed.address).is_ok());
    }
    for address in &dead {
        assert!(reader.get(account(1), address).is_err());
    }
    let refused = reader.erase(account(1), what).await.unwrap_err();
    assert!(matches!(refused, PutError::ReadOnly), "{refused}");
}
