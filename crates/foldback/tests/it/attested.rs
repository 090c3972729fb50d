//! Attestations: what was attested is found again, and nothing else passes for it.

use crate::replays::copy;
use crate::scene::{Stage, options};
use ct_merkle::mem_backed_tree::MemoryBackedTree;
use foldback::attest::{
    Attestation, NoteError, SigningKey, Standing, Tree, VerifyingKey, leaf_hash, root_of,
};
use foldback::{Engine, NewMessage};
use sha2::Sha256;
use std::path::Path;

/// The example of C2SP `signed-note`: a key, and a note that it signed.
const EXAMPLE_KEY: &str = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";

async fn say(stage: &Stage, text: &str) {
    let said = NewMessage::user(stage.opened.user, text);
    stage.talk().record_message(said).await.unwrap();
}

fn key() -> SigningKey {
    SigningKey::generate("audit.example.org").unwrap()
}

#[test]
fn roots_and_proofs_are_those_of_another_implementation() {
    let (mut ours, mut theirs) = (Tree::default(), MemoryBackedTree::<Sha256, Vec<u8>>::new());
    assert_eq!(ours.root()[..], theirs.root().as_bytes()[..]);
    for number in 0..130_u64 {
        let leaf = number.to_be_bytes().to_vec();
        ours.push(leaf_hash(&leaf));
        theirs.push(leaf);
        let root = ours.root();
        assert_eq!(root[..], theirs.root().as_bytes()[..], "{number}");
        let size = number + 1;
        for index in 0..size {
            let proof = theirs.prove_inclusion(usize::try_from(index).unwrap());
            let proof: Vec<[u8; 32]> = proof
                .as_bytes()
                .chunks_exact(32)
                .map(|hash| hash.try_into().unwrap())
                .collect();
            let leaf = leaf_hash(&index.to_be_bytes());
            assert_eq!(root_of(leaf, index, size, &proof), Some(root));
            assert_ne!(root_of(leaf, index + 1, size, &proof), Some(root));
            if size > 1 {
                assert_ne!(root_of(root, index, size, &proof), Some(root), "{size}");
            }
        }
    }
}

#[test]
fn keys_read_back_and_others_are_refused() {
    let key = key();
    let again = SigningKey::parse(&key.to_text()).unwrap();
    assert_eq!(again.verifying(), key.verifying());
    let shown = key.verifying().to_string();
    assert_eq!(VerifyingKey::parse(&shown).unwrap(), key.verifying());
    // The id of the specification's own example fits its key.
    let example = VerifyingKey::parse(EXAMPLE_KEY).unwrap();
    assert_eq!(example.to_string(), EXAMPLE_KEY);
    for wrong in [
        EXAMPLE_KEY.replace("530d903a", "530d903b"),
        EXAMPLE_KEY.replace("foo", "fo+o"),
        EXAMPLE_KEY.replace("AeKy", ""),
        EXAMPLE_KEY.get(..40).unwrap().to_owned(),
        String::new(),
        key.to_text(),
    ] {
        if wrong != EXAMPLE_KEY {
            assert!(VerifyingKey::parse(&wrong).is_err(), "{wrong}");
        }
    }
    assert!(SigningKey::parse(&shown).is_err());
    for name in ["", "two words", "a+b", "line\nend"] {
        assert!(SigningKey::generate(name).is_err(), "{name}");
    }
    // A key is a secret: its debug form does not tell it.
    let secret = key.to_text();
    let secret = secret.trim().rsplit('+').next().unwrap();
    assert!(!format!("{key:?}").contains(secret));
}

#[tokio::test]
async fn a_note_holds_for_the_key_that_signed_it_and_for_no_other() {
    let stage = Stage::new().await;
    let (signer, other) = (key(), key());
    let note = stage.engine.attest(&signer).await.unwrap();
    let text = note.to_string();
    let read = Attestation::parse(&text).unwrap();
    assert_eq!(read, note);
    assert_eq!(read.signers(), ["audit.example.org"]);
    assert_eq!(read.check(&signer.verifying()), Ok(()));
    let name = "audit.example.org".to_owned();
    let unsigned = Err(NoteError::NotSigned { name: name.clone() });
    assert_eq!(read.check(&other.verifying()), unsigned);
    // Any one byte changed: it does not read, or it does not hold.
    for at in 0..text.len() {
        let mut bytes = text.clone().into_bytes();
        bytes[at] ^= 1;
        let Ok(changed) = String::from_utf8(bytes) else {
            continue;
        };
        let holds = Attestation::parse(&changed)
            .is_ok_and(|read| read.check(&signer.verifying()).is_ok() && read == note);
        assert!(!holds, "byte {at}: {changed}");
    }
}

#[tokio::test]
async fn a_log_that_grew_still_holds_what_was_attested() {
    let stage = Stage::new().await;
    let key = key();
    let mut taken = Vec::new();
    for number in 0..20 {
        taken.push(stage.engine.attest(&key).await.unwrap());
        say(&stage, &format!("message {number}")).await;
    }
    let standings = stage.engine.compare(&taken).await.unwrap();
    assert_eq!(standings, vec![Standing::Holds; 20]);
}

/// Opens the store of a folder; the clock starts on another day each time.
async fn stage(folder: &Path, days: i64) -> Stage {
    Stage::on(Engine::open(folder, options(days)).unwrap()).await
}

#[tokio::test]
async fn a_log_that_was_written_anew_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs) = (folder.path().join("ours"), folder.path().join("theirs"));
    let key = key();
    let first = stage(&ours, 0).await;
    let before = first.engine.attest(&key).await.unwrap();
    say(&first, "The same for both.").await;
    let same = first.engine.attest(&key).await.unwrap();
    drop(first);
    copy(&ours, &theirs);
    // Both are whole in themselves: every chain and commit is computed from what each holds.
    let ours = stage(&ours, 1).await;
    say(&ours, "Pay 100 to Ines.").await;
    let after = ours.engine.attest(&key).await.unwrap();
    let short = stage(&theirs, 1).await;
    let all = [before, same.clone(), after.clone()];
    let events = same.events;
    assert_eq!(
        short.engine.compare(&all).await.unwrap(),
        [
            Standing::Holds,
            Standing::Holds,
            Standing::Shorter { events }
        ]
    );
    say(&short, "Pay 900 to Tom.").await;
    let other = &short.engine;
    assert!(other.verify(|_| ()).await.unwrap().ok());
    let sound = same.events;
    assert_eq!(
        other.compare(&all).await.unwrap(),
        [
            Standing::Holds,
            Standing::Holds,
            Standing::Rewritten { sound }
        ]
    );
    let alone = other.compare(&[after]).await.unwrap();
    assert_eq!(alone, [Standing::Rewritten { sound: 0 }]);
    let elsewhere = Stage::new().await;
    let compared = elsewhere.engine.compare(&[same]).await.unwrap();
    assert_eq!(compared, [Standing::OtherStore]);
}
