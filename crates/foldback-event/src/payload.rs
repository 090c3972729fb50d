//! References from events to sealed payloads in the vault.

use crate::number::numbered;
use crate::{Digest, ShortDigest};
use serde::{Deserialize, Serialize};

numbered! {
    /// What kind of text or bytes a payload holds.
    MediaType as "media type" {
        /// UTF-8 text without further structure.
        Text = 1, "text";
        /// One JSON value.
        Json = 2, "json";
        /// Comma-separated values (RFC 4180).
        Csv = 3, "csv";
        /// Tab-separated values.
        Tsv = 4, "tsv";
        /// Markdown.
        Markdown = 5, "markdown";
        /// HTML.
        Html = 6, "html";
        /// Lines of a log or of a program's output.
        Log = 7, "log";
        /// A JSON array of message parts (docs/event-format.md, "Message content").
        Parts = 8, "parts";
        /// An image, of any encoding.
        Image = 9, "image";
        /// A document such as PDF.
        Document = 10, "document";
        /// A policy document (TOML).
        Policy = 11, "policy";
        /// The source record of an import, byte for byte.
        Source = 12, "source";
        /// Anything else.
        Bytes = 13, "bytes";
        /// A JSON array of a model's thinking parts, signatures included.
        Thinking = 14, "thinking";
    }
}

/// Points from an event to a payload in the vault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PayloadRef {
    /// Keyed BLAKE3 of the plain bytes under the account's key: equal content of one account has
    /// equal addresses, and without the key an address tells nothing.
    pub address: Digest,
    /// BLAKE3 over the sealed bytes and their label, in the domain that docs/event-format.md names:
    /// integrity is checked without the key.
    pub sealed_digest: Digest,
    /// Length of the plain bytes.
    pub bytes: u64,
    /// Tokens of the plain text, counted once at capture; 0 for what is not text.
    pub tokens: u32,
    /// What the bytes are.
    pub media_type: MediaType,
}

impl PayloadRef {
    /// Gives the first half of the address, for comparing content inside events.
    pub fn short_address(&self) -> ShortDigest {
        let mut out = [0; 16];
        for (to, from) in out.iter_mut().zip(self.address.as_bytes()) {
            *to = *from;
        }
        ShortDigest::from_bytes(out)
    }
}
