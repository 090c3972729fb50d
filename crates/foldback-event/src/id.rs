//! Identifiers: sixteen bytes with a tag for the kind of record they name.
//!
//! An id prints as `msg_3fa9c1d27b…` and is parsed back from that form.
//! Record ids are derived from the event that created them, so they are evenly spread and short
//! prefixes tell them apart, while event ids keep the time order of UUIDv7 (RFC 9562).

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Says why a text is no id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseIdError {
    /// The text has another tag than the wanted kind.
    #[error("`{text}` is not a {what} id: expected `{tag}_` and 32 hexadecimal digits")]
    Form {
        /// What was given.
        text: String,
        /// What it should name.
        what: &'static str,
        /// The tag that such an id carries.
        tag: &'static str,
    },
}

const HEX: &[u8; 16] = b"0123456789abcdef";

pub(crate) fn write_hex(bytes: &[u8], out: &mut String) {
    for byte in bytes {
        for nibble in [byte >> 4, byte & 15] {
            out.push(char::from(
                HEX.get(usize::from(nibble)).copied().unwrap_or(b'?'),
            ));
        }
    }
}

pub(crate) fn parse_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let bytes = text.as_bytes();
    if bytes.len() != N * 2 {
        return None;
    }
    let mut out = [0_u8; N];
    for (slot, pair) in out.iter_mut().zip(bytes.chunks_exact(2)) {
        let text = std::str::from_utf8(pair).ok()?;
        if text.starts_with('+') {
            return None;
        }
        *slot = u8::from_str_radix(text, 16).ok()?;
    }
    Some(out)
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident, $tag:literal, $what:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name([u8; 16]);

        impl $name {
            /// The tag that the text form starts with.
            pub const TAG: &'static str = $tag;

            /// Makes an id of sixteen bytes.
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(bytes)
            }

            /// Derives the id that the event `event` gives to the record it creates.
            ///
            /// One event may create several records; `index` tells them apart.
            pub fn derive(event: EventId, index: u32) -> Self {
                Self::from_source(event.as_bytes(), &index.to_string())
            }

            /// Derives an id from a namespace and a name, as UUIDv5 does (RFC 9562, 5.5).
            ///
            /// The same namespace and name always give the same id, which is what makes importing
            /// the same source twice add nothing.
            pub fn from_source(namespace: &[u8; 16], name: &str) -> Self {
                let mut text = String::with_capacity(name.len() + 8);
                text.push_str($tag);
                text.push(':');
                text.push_str(name);
                let namespace = uuid::Uuid::from_bytes(*namespace);
                Self(uuid::Uuid::new_v5(&namespace, text.as_bytes()).into_bytes())
            }

            /// Gives the sixteen bytes.
            pub const fn as_bytes(&self) -> &[u8; 16] {
                &self.0
            }

            /// Gives the 32 hexadecimal digits, without the tag.
            pub fn hex(&self) -> String {
                let mut out = String::with_capacity(32);
                write_hex(&self.0, &mut out);
                out
            }

            /// Gives the tag and the first eight digits: enough for a person within one
            /// conversation, not promised to be unique.
            pub fn short(&self) -> String {
                let mut out = String::with_capacity(16);
                out.push_str($tag);
                out.push('_');
                write_hex(self.0.get(..4).unwrap_or_default(), &mut out);
                out
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}_{}", $tag, self.hex())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = ParseIdError;

            fn from_str(text: &str) -> Result<Self, ParseIdError> {
                text.strip_prefix(concat!($tag, "_"))
                    .and_then(parse_hex::<16>)
                    .map(Self)
                    .ok_or_else(|| ParseIdError::Form {
                        text: text.chars().take(80).collect(),
                        what: $what,
                        tag: $tag,
                    })
            }
        }
    )*};
}

ids! {
    /// Names the subject whose key seals payloads: a person, a tenant, a team.
    AccountId, "acct", "account";
    /// Names one capture of a tool's whole result.
    ArtifactId, "art", "artifact";
    /// Names one recorded assembly.
    AssemblyId, "asm", "assembly";
    /// Names one append, so that a retried command is answered with the first result.
    BatchId, "bat", "batch";
    /// Names a path through a conversation.
    BranchId, "br", "branch";
    /// Names one requested tool call; the provider's own id is kept beside it.
    CallId, "call", "call";
    /// Names a resumable state of a run.
    CheckpointId, "ckpt", "checkpoint";
    /// Names a conversation: the unit of order, of chain and of proof.
    ConversationId, "conv", "conversation";
    /// Names an event; unique over all stores.
    EventId, "evt", "event";
    /// Names a remembered fact about a user.
    FactId, "fact", "user fact";
    /// Names one firing of a scheduled job.
    JobId, "job", "job";
    /// Names a tool memory.
    MemoryId, "mem", "memory";
    /// Names a message.
    MessageId, "msg", "message";
    /// Names a model configuration, person or child agent that takes part in a conversation.
    ParticipantId, "part", "participant";
    /// Names one attempt to generate with a model.
    RunId, "run", "run";
    /// Names a store.
    StoreId, "store", "store";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_from_its_own_text() {
        let id = MessageId::from_bytes([0x3f; 16]);
        assert_eq!(id.to_string().parse::<MessageId>(), Ok(id));
        assert!("art_3f".parse::<MessageId>().is_err());
        assert!(
            format!("msg_{}", "g".repeat(32))
                .parse::<MessageId>()
                .is_err()
        );
    }

    #[test]
    fn record_ids_depend_on_kind_event_and_index() {
        let event = EventId::from_bytes([7; 16]);
        let call = CallId::derive(event, 0);
        assert_ne!(call.as_bytes(), CallId::derive(event, 1).as_bytes());
        assert_ne!(call.as_bytes(), MessageId::derive(event, 0).as_bytes());
        assert_eq!(
            call.to_string(),
            "call_00000000000000000000000000000000"
                .replace("00000000000000000000000000000000", &call.hex())
        );
    }
}
