//! Changing the master key: every account's key is sealed anew, and a crash in the middle loses none.

use crate::fault::{FaultStorage, Loss};
use crate::vault::{account, open, open_with, payload};
use foldback_store::{OpenError, PutError, Sealed, VaultOptions};

fn with(key: u8) -> VaultOptions {
    VaultOptions {
        master_key: Some([key; 32]),
        ..VaultOptions::default()
    }
}

async fn filled(storage: &FaultStorage, options: &VaultOptions) -> Vec<Sealed> {
    let (vault, _) = open_with(storage, options).unwrap();
    let mut out = Vec::new();
    for n in 1..4 {
        out.extend(
            vault
                .put(account(n), vec![payload(u64::from(n))])
                .await
                .unwrap(),
        );
    }
    out
}

fn reads(storage: &FaultStorage, options: &VaultOptions, sealed: &[Sealed]) -> bool {
    let Ok((vault, _)) = open_with(storage, options) else {
        return false;
    };
    sealed.iter().zip(1_u8..).all(|(sealed, n)| {
        let found = vault.get(account(n), &sealed.address);
        found.is_ok_and(|bytes| bytes == payload(u64::from(n)))
    })
}

#[tokio::test]
async fn payloads_read_under_the_new_key_and_not_under_the_old() {
    let own = VaultOptions::default();
    // From the store's own key to another of its own.
    let storage = FaultStorage::default();
    let sealed = filled(&storage, &own).await;
    let master = storage.ending("master.key")[0].clone();
    let before = storage.bytes(&master);
    let (vault, _) = open(&storage);
    assert_eq!(vault.rotate_master(None).unwrap(), 3);
    // It goes on at once, and for accounts that are new.
    vault.put(account(9), vec![payload(9)]).await.unwrap();
    drop(vault);
    assert_ne!(storage.bytes(&master), before);
    assert!(storage.ending("master.next").is_empty());
    assert!(reads(&storage, &own, &sealed));
    // With the old key put back, nothing opens.
    let copy = storage.copy();
    copy.set(&master, before);
    assert!(!reads(&copy, &own, &sealed));
    // To a key of the caller's: none is left in the store.
    let (vault, _) = open(&storage);
    assert_eq!(vault.rotate_master(Some([7; 32])).unwrap(), 4);
    drop(vault);
    assert!(storage.ending("master.key").is_empty());
    assert!(reads(&storage, &with(7), &sealed));
    assert!(!reads(&storage, &with(8), &sealed));
    let error = open_with(&storage, &own).unwrap_err();
    assert!(matches!(error, OpenError::NoMasterKey { .. }), "{error}");
    // To another of the caller's, and back to one that the store keeps.
    let (vault, _) = open_with(&storage, &with(7)).unwrap();
    vault.rotate_master(Some([8; 32])).unwrap();
    vault.rotate_master(None).unwrap();
    drop(vault);
    assert!(reads(&storage, &own, &sealed));
}

#[tokio::test]
async fn a_key_that_does_not_open_changes_nothing() {
    let storage = FaultStorage::default();
    let sealed = filled(&storage, &with(1)).await;
    let (vault, _) = open_with(&storage, &with(2)).unwrap();
    let error = vault.rotate_master(Some([3; 32])).unwrap_err();
    assert!(matches!(error, PutError::Key(_)), "{error}");
    drop(vault);
    assert!(reads(&storage, &with(1), &sealed));
    let reading = VaultOptions {
        read_only: true,
        ..with(1)
    };
    let (reader, _) = open_with(&storage, &reading).unwrap();
    assert!(matches!(
        reader.rotate_master(None),
        Err(PutError::ReadOnly)
    ));
}

#[tokio::test]
async fn a_crash_at_any_operation_of_a_rotation_loses_no_key() {
    let own = VaultOptions::default();
    for (new, before, after) in [
        (None, own.clone(), own.clone()),
        (Some([7; 32]), own.clone(), with(7)),
        (Some([7; 32]), with(1), with(7)),
        (None, with(1), own.clone()),
    ] {
        let whole = FaultStorage::default();
        filled(&whole, &before).await;
        let start = whole.operations();
        let (vault, _) = open_with(&whole, &before).unwrap();
        vault.rotate_master(new).unwrap();
        drop(vault);
        let all = whole.operations() - start;
        assert!(all > 8, "{all}");
        for operation in 0..=all {
            let base = FaultStorage::default();
            let sealed = filled(&base, &before).await;
            base.crash_at(base.operations() + operation);
            if let Ok((vault, _)) = open_with(&base, &before) {
                let _ = vault.rotate_master(new);
            }
            for loss in [Loss::Nothing, Loss::All, Loss::Some(1), Loss::Some(2)] {
                let given = (before.master_key.is_some(), new.is_some());
                let case = format!("{given:?} operation {operation} of {all}, {loss:?}");
                let found = base.after(loss);
                // The same again ends it, whatever was done; what the store keeps it ends by itself.
                let again = open_with(&found, &before);
                if let Ok((vault, _)) = again {
                    let _ = vault.rotate_master(new);
                }
                let holds = reads(&found, &after, &sealed) || reads(&found, &before, &sealed);
                assert!(holds, "{case}");
            }
        }
    }
}
