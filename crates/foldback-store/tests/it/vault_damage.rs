//! The vault under faults: loss of power, a full disk, flipped and cut bytes.

use crate::fault::{FaultStorage, Loss};
use crate::vault::{account, open, open_with, payload, wanted};
use foldback_store::{GetError, PutError, Sealed, VaultOptions};

async fn small_vault() -> (FaultStorage, Vec<Sealed>) {
    let storage = FaultStorage::default();
    let (vault, _) = open(&storage);
    let mut sealed = Vec::new();
    for n in 0..4 {
        let put = vault
            .put(account(1), vec![payload(n), payload(n + 100)])
            .await;
        sealed.extend(put.unwrap());
    }
    (storage, sealed)
}

fn plain(n: usize) -> Vec<u8> {
    let n = u64::try_from(n).unwrap();
    payload(n / 2 + 100 * (n % 2))
}

#[tokio::test]
async fn every_flipped_byte_is_found_and_no_damaged_payload_is_served() {
    let (storage, sealed) = small_vault().await;
    let pack = &storage.ending(".pack")[0];
    for offset in 0..storage.bytes(pack).len() {
        let copy = storage.copy();
        copy.flip(pack, offset, 1 << (offset % 8));
        let (vault, recovery) = open(&copy);
        let report = vault.check(wanted(&sealed));
        assert!(!report.problems.is_empty(), "{offset}");
        assert!(
            recovery.cut.is_some() || !recovery.problems.is_empty(),
            "{offset}"
        );
        let mut lost = 0;
        for (n, sealed) in sealed.iter().enumerate() {
            match vault.get(account(1), &sealed.address) {
                Ok(bytes) => assert_eq!(bytes, plain(n), "{offset}"),
                Err(GetError::Missing { .. } | GetError::Corrupt { .. }) => lost += 1,
                Err(error) => panic!("{offset}: {error}"),
            }
        }
        assert_eq!(lost, 1, "{offset}: one byte harms one payload");
        // Put again, what was lost is there again.
        let all = (0..sealed.len()).map(plain).collect();
        let again = vault.put(account(1), all).await.unwrap();
        for (n, sealed) in again.iter().enumerate() {
            assert_eq!(vault.get(account(1), &sealed.address).unwrap(), plain(n));
        }
    }
}

#[tokio::test]
async fn damage_under_an_open_vault_is_an_error_with_its_place() {
    let (storage, sealed) = small_vault().await;
    let (vault, _) = open(&storage);
    let pack = &storage.ending(".pack")[0];
    let length = storage.bytes(pack).len();
    storage.flip(pack, length - 1, 1);
    let error = vault.get(account(1), &sealed[7].address).unwrap_err();
    assert!(
        matches!(&error, GetError::Corrupt { file, .. } if file == pack),
        "{error}"
    );
    let report = vault.check(wanted(&sealed));
    assert_eq!(report.problems.len(), 1);
    assert_eq!(report.problems[0].address, Some(sealed[7].address));
}

#[tokio::test]
async fn a_cut_at_every_length_keeps_what_stands_before() {
    let (storage, sealed) = small_vault().await;
    let pack = &storage.ending(".pack")[0];
    let bytes = storage.bytes(pack);
    for length in 0..bytes.len() {
        let copy = storage.copy();
        copy.set(pack, bytes[..length].to_vec());
        let (vault, recovery) = open(&copy);
        let kept = usize::try_from(recovery.payloads).unwrap();
        for (n, sealed) in sealed.iter().enumerate() {
            let found = vault.get(account(1), &sealed.address);
            assert_eq!(found.is_ok(), n < kept, "{length}");
        }
        assert_eq!(
            vault.check(wanted(&sealed)).problems.len(),
            sealed.len() - kept
        );
        if let Some(cut) = recovery.cut {
            let start = usize::try_from(cut.offset).unwrap();
            assert_eq!(copy.bytes(&cut.kept), bytes[start..length]);
        }
    }
}

async fn workload(storage: &FaultStorage) -> Vec<Sealed> {
    let options = VaultOptions {
        pack_bytes: 600,
        ..VaultOptions::default()
    };
    let Ok((vault, _)) = open_with(storage, &options) else {
        return Vec::new();
    };
    let mut done = Vec::new();
    for n in 0..4 {
        let put = vault
            .put(account(1), vec![payload(n), payload(n + 100)])
            .await;
        done.extend(put.unwrap_or_default());
    }
    done
}

#[tokio::test]
async fn what_was_stored_survives_a_loss_of_power_at_every_operation() {
    let whole = FaultStorage::default();
    let all = workload(&whole).await;
    assert_eq!(all.len(), 8);
    assert!(whole.ending(".pack").len() > 1);
    for operation in 0..whole.operations() {
        let storage = FaultStorage::default();
        storage.crash_at(operation);
        let done = workload(&storage).await;
        for loss in [
            Loss::Nothing,
            Loss::All,
            Loss::Some(1),
            Loss::Some(2),
            Loss::Some(3),
        ] {
            let case = format!("operation {operation}, {loss:?}");
            let after = storage.after(loss);
            let (vault, _) = open(&after);
            for (n, sealed) in done.iter().enumerate() {
                let found = vault.get(account(1), &sealed.address);
                assert_eq!(
                    found.unwrap_or_else(|e| panic!("{case}: {e}")),
                    plain(n),
                    "{case}"
                );
            }
            assert_eq!(vault.check(wanted(&done)).problems, [], "{case}");
            let again = vault.put(account(1), vec![payload(900)]).await.unwrap();
            assert_eq!(
                vault.get(account(1), &again[0].address).unwrap(),
                payload(900)
            );
        }
    }
}

#[tokio::test]
async fn a_full_disk_or_a_failed_sync_poisons_the_vault_and_loses_nothing() {
    for full in [true, false] {
        let (storage, sealed) = small_vault().await;
        let (vault, _) = open(&storage);
        if full {
            storage.free(Some(100));
        } else {
            storage.fail_syncs(true);
        }
        let error = vault.put(account(1), vec![payload(7)]).await.unwrap_err();
        assert!(matches!(error, PutError::Io { .. }), "{error}");
        storage.free(None);
        storage.fail_syncs(false);
        let error = vault.put(account(1), vec![payload(7)]).await.unwrap_err();
        assert!(matches!(error, PutError::Poisoned), "{error}");
        assert_eq!(
            vault.get(account(1), &sealed[0].address).unwrap(),
            payload(0)
        );
        drop(vault);
        let (vault, _) = open(&storage);
        let put = vault.put(account(1), vec![payload(7)]).await.unwrap();
        assert_eq!(vault.get(account(1), &put[0].address).unwrap(), payload(7));
        assert_eq!(vault.check(wanted(&sealed)).problems, []);
    }
}

/// Gives the offsets of the entries of a pack.
fn entries(bytes: &[u8]) -> Vec<usize> {
    let mut out = vec![0];
    while let Some(length) = out
        .last()
        .and_then(|at| bytes.get(at + 8..at + 12))
        .map(|length| u32::from_le_bytes(length.try_into().unwrap()))
    {
        out.push(out.last().unwrap() + 128 + usize::try_from(length).unwrap());
    }
    out.pop();
    out
}

#[tokio::test]
async fn a_write_that_is_torn_in_its_middle_is_no_damage_and_what_reads_of_it_stays() {
    let (storage, sealed) = small_vault().await;
    let pack = &storage.ending(".pack")[0];
    let bytes = storage.bytes(pack);
    let at = entries(&bytes);
    assert_eq!(at.len(), sealed.len());
    // Puts are of two payloads each: 6 and 7 are the last write, 4 and 5 the one before.
    let mut torn = bytes.clone();
    torn[at[6] + 40..at[6] + 140].fill(0);
    storage.set(pack, torn.clone());
    let (vault, recovery) = open(&storage);
    assert_eq!(recovery.problems, []);
    assert_eq!(storage.bytes(&recovery.cut.unwrap().kept), torn[at[6]..]);
    assert!(vault.get(account(1), &sealed[6].address).is_err());
    assert_eq!(vault.get(account(1), &sealed[7].address).unwrap(), plain(7));
    let missing = vault.check(wanted(&sealed)).problems;
    assert_eq!(missing.len(), 1);
    vault.put(account(1), vec![plain(6)]).await.unwrap();
    drop(vault);
    let (vault, recovery) = open(&storage);
    assert_eq!((recovery.problems, recovery.cut), (vec![], None));
    for (n, sealed) in sealed.iter().enumerate() {
        assert_eq!(vault.get(account(1), &sealed.address).unwrap(), plain(n));
    }
    // The same in a write that another one follows was synced, so it is damage.
    let (storage, _) = small_vault().await;
    let pack = &storage.ending(".pack")[0];
    let at = entries(&storage.bytes(pack));
    storage.flip(pack, at[4] + 150, 1);
    let (_, recovery) = open(&storage);
    assert_eq!((recovery.problems.len(), recovery.cut), (1, None));
}

#[tokio::test]
async fn packs_of_entry_version_1_are_read() {
    let (storage, sealed) = small_vault().await;
    let pack = &storage.ending(".pack")[0];
    let mut bytes = storage.bytes(pack);
    for at in entries(&bytes) {
        bytes[at + 3] = 1;
        bytes[at + 4] &= 1;
        let crc = crc32c::crc32c(&bytes[at..at + 12]);
        let crc = crc32c::crc32c_append(crc, &bytes[at + 16..at + 128]);
        bytes[at + 12..at + 16].copy_from_slice(&crc.to_le_bytes());
    }
    storage.set(pack, bytes);
    let (vault, recovery) = open(&storage);
    assert_eq!((recovery.problems, recovery.cut), (vec![], None));
    for (n, sealed) in sealed.iter().enumerate() {
        assert_eq!(vault.get(account(1), &sealed.address).unwrap(), plain(n));
    }
    vault
        .put(account(1), vec![b"newer".to_vec()])
        .await
        .unwrap();
    assert_eq!(vault.check(wanted(&sealed)).problems, []);
}
