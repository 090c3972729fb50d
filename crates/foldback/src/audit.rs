//! Audit bundles: one conversation in one file, to be checked by someone without the store.
//!
//! A bundle holds the records of the events, the policies that decided, the payloads as far as they are
//! to be shown, and the proof that an attestation covers them. docs/event-format.md tells the lines.

mod bundle;
mod check;

pub use check::{Attested, Audit, audit};

use crate::Engine;
use crate::attest::{Attestation, Hash, proof_of};
use crate::erase::Citations;
use crate::error::Error;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bundle::{Line, Writer};
use foldback_event::{AccountId, Body, ConversationId, Event};
use foldback_store::GetError;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

/// What a bundle shows of content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Content {
    /// Nothing: events, policies and proofs alone.
    #[default]
    None,
    /// The sealed bytes, which show that nothing was exchanged and tell nothing without the key.
    Sealed,
    /// The sealed bytes, and the plain ones beside them. That they belong together is the word of who
    /// exports: it takes the account's key to check.
    Plain,
}

/// What a bundle is to hold.
#[derive(Debug, Clone, Default)]
pub struct AuditOptions {
    /// What of content.
    pub content: Content,
    /// The attestation that is to cover the events.
    pub attestation: Option<Attestation>,
}

/// What was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exported {
    /// How many events.
    pub events: u64,
    /// How many policies.
    pub policies: u64,
    /// How many payloads.
    pub payloads: u64,
    /// How many payloads are not there: erased, or without a key where they were to be plain.
    pub absent: u64,
    /// The position up to which an attestation covers the events.
    pub attested: Option<u64>,
}

impl Engine {
    /// Writes a conversation as a bundle for an auditor.
    ///
    /// # Errors
    ///
    /// [`Error`] if the conversation does not exist, the attestation does not cover any of it or does not
    /// hold, or something cannot be read or written.
    pub async fn export_audit(
        &self,
        id: ConversationId,
        options: &AuditOptions,
        out: &mut impl Write,
    ) -> Result<Exported, Error> {
        let rows = self.events(id).await?;
        let account = rows.iter().find_map(|row| match &row.event.body {
            Body::ConversationOpened(body) => Some(body.account),
            _ => None,
        });
        let account = account.unwrap_or(self.account);
        let mut done = Exported {
            events: rows.len() as u64,
            ..Exported::default()
        };
        let mut out = Writer::new(out);
        out.line(&Line::Bundle {
            bundle: bundle::VERSION.to_owned(),
            store: self.store_id().to_string(),
            conversation: id.to_string(),
            account: account.to_string(),
            events: done.events,
        })?;
        for row in &rows {
            out.line(&Line::Event {
                version: row.event.envelope.version,
                record: STANDARD.encode(row.event.encode()?),
                hash: row.hash.to_string(),
            })?;
        }
        let mut told = BTreeSet::new();
        for row in &rows {
            if let Body::PolicyRegistered(body) = &row.event.body
                && told.insert(body.digest)
            {
                let policy = self.open_policy(&body.digest, &body.document, &body.name)?;
                out.line(&Line::Policy {
                    digest: body.digest.to_string(),
                    document: policy.text().to_owned(),
                })?;
                done.policies += 1;
            }
        }
        let events: Vec<Event> = rows.into_iter().map(|row| row.event).collect();
        self.export_content(account, &events, options.content, &mut out, &mut done)?;
        if let Some(attestation) = &options.attestation {
            done.attested = Some(self.export_proof(id, attestation, &mut out).await?);
        }
        out.end()?;
        Ok(done)
    }

    fn export_content(
        &self,
        account: AccountId,
        events: &[Event],
        content: Content,
        out: &mut Writer<'_, impl Write>,
        done: &mut Exported,
    ) -> Result<(), Error> {
        if content == Content::None {
            return Ok(());
        }
        let mut citations = Citations::default();
        citations.take(account, events);
        for (_, address, _) in citations.live() {
            let sealed = match self.vault.get_sealed(account, address) {
                Ok(sealed) => sealed,
                Err(GetError::Missing { .. }) => {
                    done.absent += 1;
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            let plain = match content {
                Content::Plain => Some(STANDARD.encode(self.vault.get(account, address)?)),
                _ => None,
            };
            out.line(&Line::Payload {
                address: address.to_string(),
                nonce: STANDARD.encode(sealed.nonce()),
                plain_bytes: sealed.plain_bytes(),
                compressed: sealed.compressed(),
                sealed: STANDARD.encode(sealed.sealed()),
                plain,
            })?;
            done.payloads += 1;
        }
        done.absent += citations.gone().len() as u64;
        Ok(())
    }

    /// Writes the proof that an attestation covers the conversation, up to the last of its events that
    /// was there; gives that event's version.
    async fn export_proof(
        &self,
        id: ConversationId,
        attestation: &Attestation,
        out: &mut Writer<'_, impl Write>,
    ) -> Result<u64, Error> {
        let [standing] = self.compare(std::slice::from_ref(attestation)).await?[..] else {
            return Err(Error::Bug {
                what: "one attestation has one standing",
            });
        };
        if let Some(text) = crate::report::standing_text(attestation, standing) {
            return Err(Error::NotAttested { text });
        }
        let mut leaves: Vec<Hash> = Vec::new();
        let mut last: Option<(usize, u64)> = None;
        let mut versions: BTreeMap<ConversationId, u64> = BTreeMap::new();
        let attested = usize::try_from(attestation.events).unwrap_or(usize::MAX);
        self.leaves(|conversation, leaf| {
            let version = versions.entry(conversation).or_default();
            *version += 1;
            if leaves.len() < attested {
                if conversation == id {
                    last = Some((leaves.len(), *version));
                }
                leaves.push(leaf);
            }
        })
        .await?;
        let proof = last.and_then(|(at, version)| Some((at, version, proof_of(&leaves, at)?)));
        let Some((index, version, proof)) = proof else {
            return Err(Error::NotAttested {
                text: "the attestation is older than the conversation".to_owned(),
            });
        };
        out.line(&Line::Attestation {
            version,
            index: index as u64,
            proof: proof.iter().map(|hash| STANDARD.encode(hash)).collect(),
            note: attestation.to_string(),
        })?;
        Ok(version)
    }
}
