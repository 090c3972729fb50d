//! Audit bundles: what was written, and what checking one found.

use super::ProblemRow;
use crate::audit::{Audit, Exported};
use serde::Serialize;

/// What was written into a bundle.
#[derive(Debug, Clone, Serialize)]
pub struct ExportReport {
    /// `foldback.export/1`
    pub schema: &'static str,
    /// The file.
    pub file: String,
    /// The conversation.
    pub conversation: String,
    /// How many events.
    pub events: u64,
    /// How many policies.
    pub policies: u64,
    /// How many payloads.
    pub payloads: u64,
    /// How many payloads are not there.
    pub absent: u64,
    /// The position up to which an attestation covers the events.
    pub attested: Option<u64>,
}

impl ExportReport {
    /// Makes the report of an export.
    pub fn new(file: String, conversation: String, done: &Exported) -> Self {
        Self {
            schema: "foldback.export/1",
            file,
            conversation,
            events: done.events,
            policies: done.policies,
            payloads: done.payloads,
            absent: done.absent,
            attested: done.attested,
        }
    }
}

/// What checking a bundle found.
#[derive(Debug, Clone, Serialize)]
pub struct AuditReport {
    /// `foldback.audit-check/1`
    pub schema: &'static str,
    /// Whether all holds.
    pub ok: bool,
    /// The store that it is from.
    pub store: Option<String>,
    /// The conversation.
    pub conversation: Option<String>,
    /// How many events it holds.
    pub events: u64,
    /// The chain hash of the last one.
    pub head: Option<String>,
    /// How many assemblies are recorded.
    pub assemblies: u64,
    /// How many of these came out the same.
    pub reproduced: u64,
    /// How many payloads it holds.
    pub payloads: u64,
    /// How many payloads the events name and it does not hold.
    pub left_out: u64,
    /// How many payloads were erased.
    pub erased: u64,
    /// The position up to which an attestation covers the events.
    pub attested: Option<u64>,
    /// Who signed the attestation, as it says.
    pub signers: Vec<String>,
    /// Whether the signature was checked with a key of the caller's.
    pub signature_checked: bool,
    /// What does not hold.
    pub problems: Vec<ProblemRow>,
}

impl AuditReport {
    /// Makes the report of a check.
    pub fn new(found: &Audit) -> Self {
        let attested = found.attested.as_ref();
        Self {
            schema: "foldback.audit-check/1",
            ok: found.ok(),
            store: found.store.map(|id| id.to_string()),
            conversation: found.conversation.map(|id| id.to_string()),
            events: found.events,
            head: found.head.map(|hash| hash.to_string()),
            assemblies: found.assemblies,
            reproduced: found.reproduced,
            payloads: found.payloads,
            left_out: found.left_out,
            erased: found.erased,
            attested: attested.map(|attested| attested.version),
            signers: attested.map_or(Vec::new(), |attested| attested.signers.clone()),
            signature_checked: attested.is_some_and(|attested| attested.signature_checked),
            problems: found.problems.iter().map(ProblemRow::new).collect(),
        }
    }
}
