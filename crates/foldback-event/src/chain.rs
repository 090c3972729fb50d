//! The hash chain of one conversation (docs/event-format.md, "Chain").

use crate::Digest;

/// The hash before the first event of every conversation.
pub const GENESIS: Digest = Digest::from_bytes([0; 32]);

const CONTEXT: &str = "foldback 2026 event chain v1";

/// Computes the hash of an event from the hash before it and the event's encoded record.
///
/// The record holds the conversation, the version and all else that is said of the event, so a
/// changed, moved, dropped or reordered event changes every later hash of its conversation.
pub fn chain_hash(previous: &Digest, record: &[u8]) -> Digest {
    let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
    hasher.update(previous.as_bytes());
    hasher.update(record);
    Digest::from_bytes(*hasher.finalize().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_hash_is_a_changed_format() {
        let first = chain_hash(&GENESIS, b"first");
        let second = chain_hash(&first, b"second");
        assert_eq!(
            second.to_string(),
            "4366584dc14cc92f50792e321fb63b6b6b1d85414bd69b1812a44e134d81b4ba"
        );
    }
}
