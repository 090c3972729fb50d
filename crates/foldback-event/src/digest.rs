//! Digests: 32 bytes of BLAKE3, and a 16-byte form for comparing content inside events.

use crate::id::{parse_hex, write_hex};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Says that a text is no digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a digest: expected {digits} hexadecimal digits")]
pub struct ParseDigestError {
    /// What was given.
    pub text: String,
    /// How many digits were expected.
    pub digits: usize,
}

macro_rules! digests {
    ($($(#[$doc:meta])* $name:ident, $size:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name([u8; $size]);

        impl $name {
            /// Makes a digest of its bytes.
            pub const fn from_bytes(bytes: [u8; $size]) -> Self {
                Self(bytes)
            }

            /// Gives the bytes.
            pub const fn as_bytes(&self) -> &[u8; $size] {
                &self.0
            }

            /// Gives the first twelve hexadecimal digits, for people.
            pub fn short(&self) -> String {
                let mut out = String::with_capacity(12);
                write_hex(self.0.get(..6).unwrap_or_default(), &mut out);
                out
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut out = String::with_capacity($size * 2);
                write_hex(&self.0, &mut out);
                f.write_str(&out)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = ParseDigestError;

            fn from_str(text: &str) -> Result<Self, ParseDigestError> {
                parse_hex::<$size>(text).map(Self).ok_or_else(|| ParseDigestError {
                    text: text.chars().take(80).collect(),
                    digits: $size * 2,
                })
            }
        }
    )*};
}

digests! {
    /// 32 bytes of BLAKE3.
    Digest, 32;
    /// The first 16 bytes of a keyed BLAKE3: enough to compare content of one account.
    ShortDigest, 16;
}

impl Digest {
    /// Hashes bytes in the domain named by `context` (BLAKE3's key derivation mode).
    ///
    /// A context is a constant of this project, so a digest of one domain never equals one of
    /// another.
    pub fn of(context: &str, bytes: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(context);
        hasher.update(bytes);
        Self(*hasher.finalize().as_bytes())
    }
}
