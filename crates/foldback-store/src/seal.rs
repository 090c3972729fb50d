//! Sealing of payloads: compressed where that helps, then encrypted and authenticated.
//!
//! A payload is compressed with zstd if that makes it smaller, then sealed with XChaCha20Poly1305
//! under the account's sealing key and a random nonce. The account, the address, the plain length
//! and whether it is compressed are authenticated with it, so that no sealed payload passes for
//! another. Opening decompresses into no more than the plain length.

use crate::bytes::{index as to_index, wide};
use crate::keys::AccountKeys;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use foldback_event::limits::PAYLOAD_BYTES_MAX;
use foldback_event::{AccountId, Digest};
use std::io;

const LEVEL: i32 = 3;
const DIGEST_CONTEXT: &str = "foldback 2026 sealed payload v1";

/// The number of bytes that sealing adds.
pub(crate) const TAG: usize = 16;

/// Draws random bytes from the operating system.
pub(crate) fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut out = [0; N];
    getrandom::fill(&mut out).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(out)
}

/// What is known of a sealed payload without its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Label {
    pub(crate) account: AccountId,
    pub(crate) address: Digest,
    pub(crate) nonce: [u8; 24],
    pub(crate) plain_bytes: u64,
    pub(crate) compressed: bool,
}

impl Label {
    fn associated(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(57);
        out.extend_from_slice(self.account.as_bytes());
        out.extend_from_slice(self.address.as_bytes());
        out.extend_from_slice(&self.plain_bytes.to_le_bytes());
        out.push(u8::from(self.compressed));
        out
    }

    /// Computes the digest that is checked without the key: over the label and the sealed bytes.
    pub(crate) fn digest(&self, sealed: &[u8]) -> Digest {
        let mut hasher = blake3::Hasher::new_derive_key(DIGEST_CONTEXT);
        hasher.update(&self.associated());
        hasher.update(&self.nonce);
        hasher.update(sealed);
        Digest::from_bytes(*hasher.finalize().as_bytes())
    }
}

/// A payload as it is sealed, with what is known of it without its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedPayload {
    pub(crate) label: Label,
    pub(crate) sealed: Vec<u8>,
}

impl SealedPayload {
    /// Puts one together from its parts.
    pub const fn new(
        account: AccountId,
        address: Digest,
        nonce: [u8; 24],
        plain_bytes: u64,
        compressed: bool,
        sealed: Vec<u8>,
    ) -> Self {
        let label = Label {
            account,
            address,
            nonce,
            plain_bytes,
            compressed,
        };
        Self { label, sealed }
    }

    /// Computes the digest that events name, over all of its parts.
    pub fn digest(&self) -> Digest {
        self.label.digest(&self.sealed)
    }

    /// Gives the nonce.
    pub const fn nonce(&self) -> &[u8; 24] {
        &self.label.nonce
    }

    /// Gives the length of the plain bytes.
    pub const fn plain_bytes(&self) -> u64 {
        self.label.plain_bytes
    }

    /// Tells whether the plain bytes were compressed.
    pub const fn compressed(&self) -> bool {
        self.label.compressed
    }

    /// Gives the sealed bytes.
    pub fn sealed(&self) -> &[u8] {
        &self.sealed
    }
}

/// Seals a payload.
pub(crate) fn seal(
    keys: &AccountKeys,
    account: AccountId,
    address: Digest,
    plain: &[u8],
) -> io::Result<(Label, Vec<u8>)> {
    let packed = zstd::bulk::compress(plain, LEVEL)?;
    let compressed = packed.len() < plain.len();
    let label = Label {
        account,
        address,
        nonce: random()?,
        plain_bytes: wide(plain.len()),
        compressed,
    };
    let payload = Payload {
        msg: if compressed { &packed } else { plain },
        aad: &label.associated(),
    };
    let sealed = XChaCha20Poly1305::new(keys.sealing().into())
        .encrypt(&XNonce::from(label.nonce), payload)
        .map_err(|_| io::Error::other("the payload could not be sealed"))?;
    Ok((label, sealed))
}

/// Opens a sealed payload; `None` where it is not what was sealed under this key and label.
pub(crate) fn open(keys: &AccountKeys, label: &Label, sealed: &[u8]) -> Option<Vec<u8>> {
    if label.plain_bytes > PAYLOAD_BYTES_MAX {
        return None;
    }
    let payload = Payload {
        msg: sealed,
        aad: &label.associated(),
    };
    let opened = XChaCha20Poly1305::new(keys.sealing().into())
        .decrypt(&XNonce::from(label.nonce), payload)
        .ok()?;
    let plain = if label.compressed {
        zstd::bulk::decompress(&opened, to_index(label.plain_bytes)).ok()?
    } else {
        opened
    };
    (wide(plain.len()) == label.plain_bytes && keys.address(&plain) == label.address)
        .then_some(plain)
}
