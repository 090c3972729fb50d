//! The vault: sealing, addresses, keys, erasure.

use crate::fault::FaultStorage;
use crate::support::DIR;
use foldback_event::AccountId;
use foldback_store::{
    GetError, KeyError, OpenError, PutError, Sealed, Vault, VaultOptions, VaultRecovery,
};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

pub(crate) fn account(n: u8) -> AccountId {
    AccountId::from_bytes([n; 16])
}

pub(crate) fn open(storage: &FaultStorage) -> (Vault, VaultRecovery) {
    open_with(storage, &VaultOptions::default()).unwrap()
}

pub(crate) fn open_with(
    storage: &FaultStorage,
    options: &VaultOptions,
) -> Result<(Vault, VaultRecovery), OpenError> {
    Vault::open_on(Arc::new(storage.clone()), Path::new(DIR), options)
}

pub(crate) fn payload(n: u64) -> Vec<u8> {
    format!("payload {n} ")
        .repeat(1 + usize::try_from(n % 40).unwrap())
        .into_bytes()
}

pub(crate) fn wanted(
    sealed: &[Sealed],
) -> Vec<(AccountId, foldback_event::Digest, foldback_event::Digest)> {
    sealed
        .iter()
        .map(|sealed| (account(1), sealed.address, sealed.sealed_digest))
        .collect()
}

#[tokio::test]
async fn payloads_come_back_after_reopening_and_from_memory() {
    let storage = FaultStorage::default();
    let (vault, _) = open(&storage);
    let memory = Vault::in_memory().unwrap();
    let payloads: Vec<Vec<u8>> = (0..60).map(payload).chain([Vec::new()]).collect();
    for vault in [&vault, &memory] {
        let sealed = vault.put(account(1), payloads.clone()).await.unwrap();
        assert_eq!(sealed.len(), payloads.len());
        for (sealed, plain) in sealed.iter().zip(&payloads) {
            assert_eq!(vault.get(account(1), &sealed.address).unwrap(), *plain);
            assert_eq!(vault.address(account(1), plain).unwrap(), sealed.address);
            assert_eq!(sealed.bytes, u64::try_from(plain.len()).unwrap());
        }
        let report = vault.check(wanted(&sealed));
        assert_eq!(
            (report.payloads, report.wanted, report.problems),
            (61, 61, vec![])
        );
    }
    let again = vault.put(account(1), payloads.clone()).await.unwrap();
    drop(vault);
    let (vault, recovery) = open(&storage);
    assert_eq!(
        recovery,
        VaultRecovery {
            payloads: 61,
            ..VaultRecovery::default()
        }
    );
    for (sealed, plain) in again.iter().zip(&payloads) {
        assert_eq!(vault.get(account(1), &sealed.address).unwrap(), *plain);
    }
}

#[tokio::test]
async fn equal_content_of_an_account_is_stored_once_and_costs_no_sync() {
    let storage = FaultStorage::default();
    let (vault, _) = open(&storage);
    let same = vec![payload(1), payload(2), payload(1)];
    let first = vault.put(account(1), same.clone()).await.unwrap();
    assert_eq!(first[0], first[2]);
    let syncs = storage.syncs();
    let again = vault.put(account(1), same.clone()).await.unwrap();
    assert_eq!((again, storage.syncs()), (first.clone(), syncs));
    assert_eq!(vault.count(), 2);
    let other = vault.put(account(2), same).await.unwrap();
    assert_ne!(
        other[0].address, first[0].address,
        "addresses are the account's own"
    );
    assert!(!vault.contains(account(2), &first[0].address));
    assert!(vault.contains(account(1), &first[0].address));
}

#[tokio::test]
async fn nothing_readable_is_on_the_disk_and_text_is_compressed() {
    let storage = FaultStorage::default();
    let (vault, _) = open(&storage);
    let secret = b"the quick brown fox ".repeat(5000);
    let random: Vec<u8> = (0..4000_u32)
        .flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes())
        .collect();
    let sealed = vault
        .put(account(1), vec![secret, random.clone()])
        .await
        .unwrap();
    let pack = storage.bytes(&storage.ending(".pack")[0]);
    assert!(pack.len() < 20_000, "{}", pack.len());
    assert!(!pack.windows(9).any(|bytes| bytes == b"brown fox"));
    assert_eq!(vault.get(account(1), &sealed[1].address).unwrap(), random);
}

#[test]
fn comparison_digests_depend_on_account_domain_and_content() {
    let vault = Vault::in_memory().unwrap();
    let digest = |n, domain, bytes: &[u8]| vault.digest(account(n), domain, bytes).unwrap();
    let base = digest(1, "subject", b"order 17");
    assert_eq!(base, digest(1, "subject", b"order 17"));
    for other in [
        digest(2, "subject", b"order 17"),
        digest(1, "value", b"order 17"),
        digest(1, "subject", b"order 18"),
        digest(1, "subjecto", b"rder 17"),
    ] {
        assert_ne!(base, other);
    }
}

#[tokio::test]
async fn a_missing_account_key_is_an_error_and_no_new_one_is_made() {
    let storage = FaultStorage::default();
    let (vault, _) = open(&storage);
    let sealed = vault.put(account(1), vec![payload(1)]).await.unwrap();
    drop(vault);
    let key = Path::new(DIR).join(format!("vault/keys/{}.key", account(1).hex()));
    storage.delete(&key);
    let (vault, _) = open(&storage);
    let error = vault.get(account(1), &sealed[0].address).unwrap_err();
    assert!(matches!(&error, GetError::Key(KeyError::NoKey { path, .. }) if *path == key));
    let error = vault.put(account(1), vec![payload(2)]).await.unwrap_err();
    assert!(
        matches!(error, PutError::Key(KeyError::NoKey { .. })),
        "{error}"
    );
    let error = vault.address(account(1), b"x").unwrap_err();
    assert!(matches!(error, KeyError::NoKey { .. }));
    assert!(!storage.paths().contains(&key));
    assert_eq!(
        vault.check(wanted(&sealed)).problems,
        [],
        "no key is needed for that"
    );
    vault.put(account(2), vec![payload(2)]).await.unwrap();
}

#[tokio::test]
async fn the_master_key_is_made_kept_private_and_must_be_the_right_one() {
    let dir = tempfile::tempdir().unwrap();
    let (vault, _) = Vault::open(dir.path(), &VaultOptions::default()).unwrap();
    let sealed = vault.put(account(1), vec![payload(1)]).await.unwrap();
    drop(vault);
    let keys = dir.path().join("vault/keys");
    for name in ["master.key".to_owned(), format!("{}.key", account(1).hex())] {
        let mode = std::fs::metadata(keys.join(&name))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    let wrong = VaultOptions {
        master_key: Some([3; 32]),
        ..VaultOptions::default()
    };
    let (vault, _) = Vault::open(dir.path(), &wrong).unwrap();
    let error = vault.get(account(1), &sealed[0].address).unwrap_err();
    assert!(
        matches!(error, GetError::Key(KeyError::BadKey { .. })),
        "{error}"
    );
    drop(vault);
    let master = keys.join("master.key");
    let good = std::fs::read(&master).unwrap();
    let mut bad = good.clone();
    bad[9] ^= 1;
    std::fs::write(&master, bad).unwrap();
    let error = Vault::open(dir.path(), &VaultOptions::default()).unwrap_err();
    assert!(matches!(error, OpenError::BadKey { .. }), "{error}");
    std::fs::remove_file(&master).unwrap();
    let error = Vault::open(dir.path(), &VaultOptions::default()).unwrap_err();
    assert!(matches!(error, OpenError::NoMasterKey { .. }), "{error}");
    std::fs::write(&master, good).unwrap();
    let (vault, _) = Vault::open(dir.path(), &VaultOptions::default()).unwrap();
    assert_eq!(
        vault.get(account(1), &sealed[0].address).unwrap(),
        payload(1)
    );
}

#[tokio::test]
async fn a_given_master_key_is_never_written() {
    let storage = FaultStorage::default();
    let options = VaultOptions {
        master_key: Some([3; 32]),
        ..VaultOptions::default()
    };
    let (vault, _) = open_with(&storage, &options).unwrap();
    let sealed = vault.put(account(1), vec![payload(1)]).await.unwrap();
    drop(vault);
    assert!(
        !storage
            .paths()
            .iter()
            .any(|path| path.ends_with("master.key"))
    );
    let (vault, _) = open_with(&storage, &options).unwrap();
    assert_eq!(
        vault.get(account(1), &sealed[0].address).unwrap(),
        payload(1)
    );
}

#[tokio::test]
async fn an_erased_account_is_unreadable_and_still_checks() {
    let storage = FaultStorage::default();
    let (vault, _) = open(&storage);
    let sealed = vault.put(account(1), vec![payload(1)]).await.unwrap();
    let other = vault.put(account(2), vec![payload(1)]).await.unwrap();
    vault.erase_account(account(1)).unwrap();
    for vault in [vault, open_after(&storage)] {
        let error = vault.get(account(1), &sealed[0].address).unwrap_err();
        assert!(
            matches!(error, GetError::Key(KeyError::Erased { .. })),
            "{error}"
        );
        let error = vault.put(account(1), vec![payload(5)]).await.unwrap_err();
        assert!(
            matches!(error, PutError::Key(KeyError::Erased { .. })),
            "{error}"
        );
        assert_eq!(vault.check(wanted(&sealed)).problems, []);
        assert_eq!(
            vault.get(account(2), &other[0].address).unwrap(),
            payload(1)
        );
    }
}

fn open_after(storage: &FaultStorage) -> Vault {
    open(&storage.copy()).0
}

#[tokio::test]
async fn one_writer_and_readers_beside_it() {
    let storage = FaultStorage::default();
    let (vault, _) = open(&storage);
    let first = vault.put(account(1), vec![payload(1)]).await.unwrap();
    let error = open_with(&storage, &VaultOptions::default()).unwrap_err();
    assert!(matches!(error, OpenError::Locked { .. }), "{error}");
    let options = VaultOptions {
        read_only: true,
        ..VaultOptions::default()
    };
    let (reader, _) = open_with(&storage, &options).unwrap();
    assert_eq!(
        reader.get(account(1), &first[0].address).unwrap(),
        payload(1)
    );
    let later = vault.put(account(1), vec![payload(2)]).await.unwrap();
    assert_eq!(
        reader.get(account(1), &later[0].address).unwrap(),
        payload(2)
    );
    let error = reader.put(account(1), vec![payload(3)]).await.unwrap_err();
    assert!(matches!(error, PutError::ReadOnly));
    let error = reader.address(account(9), b"x").unwrap_err();
    assert!(
        matches!(error, KeyError::NoKey { .. }),
        "a reader makes no key"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_tasks_put_side_by_side() {
    let storage = FaultStorage::default();
    let options = VaultOptions {
        pack_bytes: 4000,
        ..VaultOptions::default()
    };
    let (vault, _) = open_with(&storage, &options).unwrap();
    let tasks: Vec<_> = (0..8_u64)
        .map(|task| {
            let vault = vault.clone();
            tokio::spawn(async move {
                let mut all = Vec::new();
                for n in 0..20 {
                    let plain = vec![payload(n), payload(task * 1000 + n)];
                    all.extend(vault.put(account(1), plain).await.unwrap());
                }
                all
            })
        })
        .collect();
    let mut sealed = Vec::new();
    for task in tasks {
        sealed.extend(task.await.unwrap());
    }
    assert_eq!(vault.count(), 20 + 7 * 20);
    assert!(storage.ending(".pack").len() > 2);
    assert_eq!(vault.check(wanted(&sealed)).problems, []);
    drop(vault);
    let (vault, _) = open(&storage);
    assert_eq!(vault.check(wanted(&sealed)).problems, []);
}
