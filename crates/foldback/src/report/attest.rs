//! Attestations, and how a log stands to them.

use crate::attest::{Attestation, Standing};
use serde::Serialize;

/// What was attested.
#[derive(Debug, Clone, Serialize)]
pub struct AttestReport {
    /// `foldback.attest/1`
    pub schema: &'static str,
    /// The store.
    pub store: String,
    /// How many events it holds.
    pub events: u64,
    /// The root of the tree over them, in hexadecimal digits.
    pub root: String,
    /// Who signed.
    pub signers: Vec<String>,
    /// The signed note, to be kept as it is.
    pub note: String,
}

impl AttestReport {
    /// Makes the report of an attestation.
    pub fn new(attestation: &Attestation) -> Self {
        let signers = attestation.signers();
        Self {
            schema: "foldback.attest/1",
            store: attestation.store.to_string(),
            events: attestation.events,
            root: hex(&attestation.root),
            signers: signers.into_iter().map(ToOwned::to_owned).collect(),
            note: attestation.to_string(),
        }
    }
}

/// An attestation that a log was compared with.
#[derive(Debug, Clone, Serialize)]
pub struct AttestationRow {
    /// The file.
    pub file: String,
    /// How many events it attests.
    pub events: u64,
    /// The root that it states, in hexadecimal digits.
    pub root: String,
    /// Whether its signature was checked with a key of the caller's.
    pub signature_checked: bool,
    /// Whether the log holds what it attests.
    pub holds: bool,
}

impl AttestationRow {
    /// Makes the row of one attestation.
    pub fn new(file: String, known: &Attestation, checked: bool, standing: Standing) -> Self {
        Self {
            file,
            events: known.events,
            root: hex(&known.root),
            signature_checked: checked,
            holds: standing == Standing::Holds,
        }
    }
}

/// Says in words what is wrong with a log against an attestation; none if nothing is.
pub fn standing_text(known: &Attestation, standing: Standing) -> Option<String> {
    let attested = known.events;
    Some(match standing {
        Standing::Holds => return None,
        Standing::OtherStore => format!(
            "it attests the store {}, which is not this one",
            known.store
        ),
        Standing::Shorter { events } => format!(
            "the log ends at event {events} of the store, and {attested} were attested: {} gone, so its \
             end was cut or an old copy was put in its place",
            if events + 1 == attested {
                format!("event {attested} is")
            } else {
                format!("events {} to {attested} are", events + 1)
            }
        ),
        Standing::Rewritten { sound } => format!(
            "events {} to {attested} of the store are not those that were attested: one of them was \
             changed, put in or taken out",
            sound + 1
        ),
    })
}

fn hex(bytes: &[u8; 32]) -> String {
    crate::event::Digest::from_bytes(*bytes).to_string()
}

/// A key that checks signatures.
#[derive(Debug, Clone, Serialize)]
pub struct KeyReport {
    /// `foldback.key/1`
    pub schema: &'static str,
    /// Who signs.
    pub name: String,
    /// The key, for those who check.
    pub verifying_key: String,
}

impl KeyReport {
    /// Makes the report of a key.
    pub fn new(key: &crate::attest::VerifyingKey) -> Self {
        Self {
            schema: "foldback.key/1",
            name: key.name().to_owned(),
            verifying_key: key.to_string(),
        }
    }
}

/// What a change of the master key did.
#[derive(Debug, Clone, Serialize)]
pub struct RotateReport {
    /// `foldback.rotate/1`
    pub schema: &'static str,
    /// How many keys of accounts were sealed anew.
    pub keys: u64,
    /// Whether the store keeps the new master key, or the caller does.
    pub kept_by_store: bool,
}

impl RotateReport {
    /// Makes the report of a change.
    pub fn new(keys: u64, given: bool) -> Self {
        Self {
            schema: "foldback.rotate/1",
            keys,
            kept_by_store: !given,
        }
    }
}
