//! What an erasure does, or did.

use super::record_id;
use crate::Erasure;
use crate::event::kind::{RecordRef, RetentionClass};
use serde::Serialize;

/// What no erasure of ours reaches.
const OUT_OF_REACH: [&str; 4] = [
    "copies and backups of the store and of its keys",
    "what was sent to providers, and what their caches keep",
    "what was exported, printed or logged elsewhere",
    "processes that have a key or a text in memory",
];

/// What an erasure does, or did: the receipt.
#[derive(Debug, Clone, Serialize)]
pub struct EraseReport {
    /// `foldback.erase/1`
    pub schema: &'static str,
    /// Whether it was carried out; else this is what it would do.
    pub done: bool,
    /// The account whose content it is.
    pub account: Option<String>,
    /// The ground, as a code.
    pub ground: String,
    /// The conversations that are told of it.
    pub conversations: Vec<String>,
    /// The records whose content goes, where single ones do: what was named, and what was derived from
    /// it.
    pub records: Vec<String>,
    /// How many payloads go.
    pub payloads: u64,
    /// How many payloads stay because other conversations hold the same bytes.
    pub kept: u64,
    /// Whether the account's key is destroyed.
    pub key: bool,
    /// How many events were written.
    pub events: u64,
    /// How many payloads were found in the vault and destroyed.
    pub destroyed: Option<u64>,
    /// How many sealed bytes they had.
    pub destroyed_bytes: Option<u64>,
    /// How many packs were written anew.
    pub packs: Option<u64>,
    /// What this does not reach.
    pub out_of_reach: Vec<&'static str>,
}

impl EraseReport {
    /// Makes the report of an erasure.
    pub fn new(erasure: &Erasure, ground: &str) -> Self {
        let destroyed = erasure.destroyed;
        Self {
            schema: "foldback.erase/1",
            done: destroyed.is_some(),
            account: erasure.account.map(|account| account.to_string()),
            ground: ground.to_owned(),
            conversations: erasure
                .conversations
                .iter()
                .map(ToString::to_string)
                .collect(),
            records: erasure.records.iter().map(record_id).collect(),
            payloads: erasure.payloads.len() as u64,
            kept: erasure.kept,
            key: erasure.key,
            events: erasure.events,
            destroyed: destroyed.map(|done| done.payloads),
            destroyed_bytes: destroyed.map(|done| done.bytes),
            packs: destroyed.map(|done| done.packs),
            out_of_reach: OUT_OF_REACH.to_vec(),
        }
    }
}

/// A record's new retention class.
#[derive(Debug, Clone, Serialize)]
pub struct RetainReport {
    /// `foldback.retain/1`
    pub schema: &'static str,
    /// The record.
    pub record: String,
    /// The class.
    pub class: &'static str,
    /// The ground, as a code.
    pub ground: String,
}

impl RetainReport {
    /// Makes the report of a change.
    pub fn new(record: &RecordRef, class: RetentionClass, ground: &str) -> Self {
        Self {
            schema: "foldback.retain/1",
            record: record_id(record),
            class: class.name(),
            ground: ground.to_owned(),
        }
    }
}
