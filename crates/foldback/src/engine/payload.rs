//! Texts and bytes on their way into the vault and out of it.

use crate::Engine;
use crate::error::Error;
use crate::tokenizer;
use foldback_event::{AccountId, MediaType, PayloadRef, limits};
use foldback_trace::{Content, Part};

/// The text of a payload, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PayloadText {
    /// The text; bytes that are no UTF-8 are replaced.
    Text(String),
    /// The bytes were erased.
    Erased,
    /// The account's key is missing.
    NoKey,
    /// The vault does not hold the payload.
    Missing,
}

impl PayloadText {
    /// Gives the text, or a notice in brackets in its place.
    pub fn or_notice(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Erased => "[erased]".to_owned(),
            Self::NoKey => "[not readable: the account's key is missing]".to_owned(),
            Self::Missing => "[missing from the vault]".to_owned(),
        }
    }
}

impl Engine {
    /// Seals payloads and counts their tokens; they are durable when it returns.
    pub(crate) async fn seal(
        &self,
        account: AccountId,
        payloads: Vec<(Vec<u8>, MediaType)>,
    ) -> Result<Vec<PayloadRef>, Error> {
        let mut counts = Vec::with_capacity(payloads.len());
        let mut plain = Vec::with_capacity(payloads.len());
        for (bytes, media_type) in payloads {
            let size = bytes.len() as u64;
            if size > limits::PAYLOAD_BYTES_MAX {
                return Err(Error::PayloadTooLarge {
                    bytes: size,
                    max: limits::PAYLOAD_BYTES_MAX,
                });
            }
            counts.push((tokenizer::count(&bytes, media_type), media_type));
            plain.push(bytes);
        }
        let sealed = self.vault.put(account, plain).await?;
        let refs = sealed
            .into_iter()
            .zip(counts)
            .map(|(sealed, (tokens, media_type))| PayloadRef {
                address: sealed.address,
                sealed_digest: sealed.sealed_digest,
                bytes: sealed.bytes,
                tokens,
                media_type,
            });
        Ok(refs.collect())
    }

    /// Seals one payload.
    pub(crate) async fn seal_one(
        &self,
        account: AccountId,
        bytes: Vec<u8>,
        media_type: MediaType,
    ) -> Result<PayloadRef, Error> {
        let mut refs = self.seal(account, vec![(bytes, media_type)]).await?;
        refs.pop().ok_or(Error::Bug {
            what: "sealing one payload gave none",
        })
    }

    /// Opens a payload.
    ///
    /// # Errors
    ///
    /// [`Error`] if it is missing, erased or damaged, or its account's key is missing.
    pub fn payload(&self, account: AccountId, payload: &PayloadRef) -> Result<Vec<u8>, Error> {
        Ok(self.vault.get(account, &payload.address)?)
    }

    /// Opens a payload as text, with a reason where there is none to open.
    ///
    /// # Errors
    ///
    /// [`Error`] if the vault is damaged there.
    pub fn text(&self, account: AccountId, payload: &PayloadRef) -> Result<PayloadText, Error> {
        use foldback_store::{GetError, KeyError};
        match self.vault.get(account, &payload.address) {
            Ok(bytes) => Ok(PayloadText::Text(
                String::from_utf8_lossy(&bytes).into_owned(),
            )),
            Err(GetError::Key(KeyError::Erased { .. })) => Ok(PayloadText::Erased),
            Err(GetError::Key(KeyError::NoKey { .. })) => Ok(PayloadText::NoKey),
            Err(GetError::Missing { .. }) => Ok(PayloadText::Missing),
            Err(error) => Err(error.into()),
        }
    }
}

/// Gives the byte form of a message's content, and what to call it: thinking alone has a name of
/// its own, because it is shown for another time than the rest.
pub(crate) fn payload_of(content: &Content) -> (Vec<u8>, MediaType) {
    let thinking = match content {
        Content::Text(_) => false,
        Content::Parts(parts) => {
            !parts.is_empty()
                && parts.iter().all(|part| {
                    matches!(part, Part::Thinking { .. } | Part::RedactedThinking { .. })
                })
        }
    };
    let media_type = if thinking {
        MediaType::Thinking
    } else {
        content.media_type()
    };
    (content.to_bytes(), media_type)
}
