//! Attestations: signed statements of what the log held, for someone who keeps them elsewhere.
//!
//! The store proves by itself that nothing in it was changed by chance. Whoever can write its files
//! can also compute its chains anew, cut its end, or put back an old copy of all of it. An attestation
//! that was taken before and kept elsewhere finds each of these.
//!
//! It is a checkpoint of a transparency log (C2SP `tlog-checkpoint`): the size and the root of the
//! Merkle tree of RFC 6962 over the events in the order of the store, as a note signed with Ed25519
//! (C2SP `signed-note`). docs/event-format.md tells the bytes.

mod note;
mod tree;

pub use note::{NoteError, Signature, SigningKey, VerifyingKey};
pub use tree::{Hash, Tree, leaf_hash, proof_of, root_of};

use crate::Engine;
use crate::engine::READ_CHUNK;
use crate::error::Error;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use foldback_event::{ConversationId, Digest, GENESIS, StoreId, chain_hash};
use foldback_store::{EventLog, Log};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What the origin of an attestation starts with; the id of the store follows.
const ORIGIN: &str = "foldback/";

/// A signed statement of what the log of one store held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attestation {
    /// The store.
    pub store: StoreId,
    /// How many events it held.
    pub events: u64,
    /// The root of the tree over them.
    pub root: Hash,
    /// What the signatures are over.
    text: String,
    signatures: Vec<Signature>,
}

/// How a log stands to an attestation of an earlier state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It holds what was attested, and maybe more behind it.
    Holds,
    /// It is another store's.
    OtherStore,
    /// It ends before: its end was cut off, or an old copy was put in its place.
    Shorter {
        /// How many events it has.
        events: u64,
    },
    /// An event was changed, put in or taken out. It stands after the events of the greatest
    /// attestation that holds.
    Rewritten {
        /// How many events are as they were attested; 0 where no attestation holds.
        sound: u64,
    },
}

impl Attestation {
    /// Reads an attestation; its signatures are read too, and not checked.
    ///
    /// # Errors
    ///
    /// [`NoteError`] if it is no signed note, or its text states no size and root of a store.
    pub fn parse(text: &str) -> Result<Self, NoteError> {
        let (text, signatures) = note::open(text)?;
        let bad = |what| NoteError::Statement { what };
        let mut lines = text.lines();
        let store = lines.next().and_then(|line| line.strip_prefix(ORIGIN));
        let store = store.and_then(|id| id.parse().ok());
        let size = lines.next().unwrap_or_default();
        let events: Option<u64> = size.parse().ok();
        let root = STANDARD.decode(lines.next().unwrap_or_default()).ok();
        let root = root.and_then(|bytes| Hash::try_from(bytes).ok());
        Ok(Self {
            store: store.ok_or(bad(
                "its first line is not `foldback/` and the id of a store",
            ))?,
            events: events
                .filter(|events| events.to_string() == size)
                .ok_or(bad("its second line is not the number of events"))?,
            root: root.ok_or(bad("its third line is not the root of a tree"))?,
            text,
            signatures,
        })
    }

    /// Tells whether a key signed it.
    ///
    /// # Errors
    ///
    /// [`NoteError::BadSignature`] if there is a signature in the key's name that does not hold;
    /// [`NoteError::NotSigned`] if there is none.
    pub fn check(&self, key: &VerifyingKey) -> Result<(), NoteError> {
        key.check(&self.text, &self.signatures)
    }

    /// Names those who signed it, if their signatures hold.
    pub fn signers(&self) -> Vec<&str> {
        self.signatures.iter().map(Signature::name).collect()
    }
}

impl Engine {
    /// Gives the id of the store; zeros if it lives in memory.
    pub fn store_id(&self) -> StoreId {
        match &self.log {
            Log::File(log) => log.store(),
            Log::Memory(_) => StoreId::from_bytes([0; 16]),
        }
    }

    /// Attests what the log holds now: the signed note, to be kept where the store's owner cannot change
    /// it.
    ///
    /// # Errors
    ///
    /// [`Error`] if the log cannot be read.
    pub async fn attest(&self, key: &SigningKey) -> Result<Attestation, Error> {
        let mut tree = Tree::default();
        self.leaves(|_, leaf| tree.push(leaf)).await?;
        let (store, events, root) = (self.store_id(), tree.len(), tree.root());
        let mut text = String::new();
        let _ = writeln!(text, "{ORIGIN}{store}");
        let _ = writeln!(text, "{events}");
        let _ = writeln!(text, "{}", STANDARD.encode(root));
        let signatures = vec![key.sign(&text)];
        Ok(Attestation {
            store,
            events,
            root,
            text,
            signatures,
        })
    }

    /// Compares the log with attestations of earlier states, in one pass; the answers are in their
    /// order.
    ///
    /// # Errors
    ///
    /// [`Error`] if the log cannot be read.
    pub async fn compare(&self, attestations: &[Attestation]) -> Result<Vec<Standing>, Error> {
        let store = self.store_id();
        let mut roots: BTreeMap<u64, Hash> = BTreeMap::new();
        let sizes: Vec<u64> = attestations.iter().map(|known| known.events).collect();
        let mut tree = Tree::default();
        if sizes.contains(&0) {
            roots.insert(0, tree.root());
        }
        self.leaves(|_, leaf| {
            tree.push(leaf);
            if sizes.contains(&tree.len()) {
                roots.insert(tree.len(), tree.root());
            }
        })
        .await?;
        let holds = |known: &&Attestation| {
            known.store == store && roots.get(&known.events) == Some(&known.root)
        };
        let standing = |known: &Attestation| {
            if known.store != store {
                return Standing::OtherStore;
            }
            if known.events > tree.len() {
                let events = tree.len();
                return Standing::Shorter { events };
            }
            if holds(&known) {
                return Standing::Holds;
            }
            let before = attestations.iter().filter(holds).map(|known| known.events);
            let sound = before.filter(|events| *events < known.events).max();
            Standing::Rewritten {
                sound: sound.unwrap_or(0),
            }
        };
        Ok(attestations.iter().map(standing).collect())
    }

    /// Walks the leaves of the tree over the log, computing every chain anew: what a record says of its
    /// own hash is not believed.
    pub(crate) async fn leaves(
        &self,
        mut each: impl FnMut(ConversationId, Hash),
    ) -> Result<(), Error> {
        let mut heads: BTreeMap<ConversationId, Digest> = BTreeMap::new();
        // The order of the store is that of its one partition; a log of several would need a tree each.
        let [partition] = self.log.partitions()[..] else {
            return Err(Error::Meaningless {
                what: "a log of several partitions has no one order to attest",
            });
        };
        let mut after = None;
        loop {
            let read = self.log.read_partition(partition, after, READ_CHUNK);
            let chunk = read.await?;
            let Some(last) = chunk.last() else {
                return Ok(());
            };
            after = Some(last.position());
            for stored in &chunk {
                let head = heads.entry(stored.conversation).or_insert(GENESIS);
                *head = chain_hash(head, &stored.record);
                let leaf = leaf(stored.conversation, stored.version, head);
                each(stored.conversation, leaf_hash(&leaf));
            }
        }
    }
}

impl std::fmt::Display for Attestation {
    /// Writes the signed note.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        note::write(f, &self.text, &self.signatures)
    }
}

/// Gives the leaf of an event: its conversation, its version and its chain hash, which covers the record
/// and all before it.
pub(crate) fn leaf(conversation: ConversationId, version: u64, hash: &Digest) -> Vec<u8> {
    let mut out = Vec::with_capacity(56);
    out.extend_from_slice(conversation.as_bytes());
    out.extend_from_slice(&version.to_be_bytes());
    out.extend_from_slice(hash.as_bytes());
    out
}
