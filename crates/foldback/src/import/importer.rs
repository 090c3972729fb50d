//! What all steps of an import share: the source, the ids that it determines, and what is written.

use super::ImportOptions;
use crate::Engine;
use crate::engine::{Draft, Write};
use crate::error::Error;
use foldback_event::{
    AccountId, Actor, Body, BranchId, CallId, ConversationId, EventId, Micros, ParticipantId, RunId,
};
use foldback_trace::{SourceBody, SourceConversation, SourceFinding};
use std::collections::{BTreeMap, BTreeSet};

/// The end of the part of a chat that the store holds already.
pub(super) struct Tip {
    pub(super) branch: BranchId,
    pub(super) position: u64,
    /// Whether what comes next is known to stand after it.
    pub(super) settled: bool,
}

/// One conversation of a source on its way into the log.
pub(super) struct Importer<'s> {
    pub(super) engine: &'s Engine,
    pub(super) options: &'s ImportOptions,
    pub(super) source: &'s SourceConversation,
    pub(super) id: ConversationId,
    pub(super) account: AccountId,
    /// The position of every event that is in the log.
    pub(super) positions: BTreeMap<EventId, u64>,
    /// The calls of the source, by key: the index of their record.
    pub(super) calls: BTreeMap<&'s str, usize>,
    pub(super) joined: BTreeSet<usize>,
    pub(super) forked: BTreeSet<usize>,
    /// Where the known part of a chat ends; none for sources that tell their branches themselves.
    pub(super) tip: Option<Tip>,
    /// What was raised in the class of results that are new.
    pub(super) raised: Vec<SourceFinding>,
    pub(super) added: u64,
    pub(super) present: u64,
}

impl<'s> Importer<'s> {
    pub(super) fn new(
        engine: &'s Engine,
        options: &'s ImportOptions,
        source: &'s SourceConversation,
    ) -> Self {
        let account = options.account.unwrap_or(engine.account);
        let name = format!("{}:{}", source.format.name(), source.key);
        let calls = source
            .records
            .iter()
            .enumerate()
            .filter_map(|(at, record)| match &record.body {
                SourceBody::CallRequested { call, .. } => Some((call.as_str(), at)),
                _ => None,
            });
        Self {
            engine,
            options,
            source,
            id: ConversationId::from_source(account.as_bytes(), &name),
            account,
            positions: BTreeMap::new(),
            calls: calls.collect(),
            joined: BTreeSet::new(),
            forked: BTreeSet::from([0]),
            tip: None,
            raised: Vec::new(),
            added: 0,
            present: 0,
        }
    }

    /// Makes the id of an event from the stable key of what it tells.
    pub(super) fn event_id(&self, key: &str) -> EventId {
        EventId::from_source(self.id.as_bytes(), key)
    }

    pub(super) fn participant(&self, index: usize) -> ParticipantId {
        let key = self
            .source
            .participants
            .get(index)
            .map_or("", |p| p.key.as_str());
        ParticipantId::from_source(self.id.as_bytes(), key)
    }

    pub(super) fn branch(&self, index: usize) -> BranchId {
        if let Some(tip) = self.tip.as_ref().filter(|_| index == 0) {
            return tip.branch;
        }
        let key = self
            .source
            .branches
            .get(index)
            .map_or("", |b| b.key.as_str());
        BranchId::from_source(self.id.as_bytes(), key)
    }

    pub(super) fn run(&self, key: &str) -> RunId {
        RunId::from_source(self.id.as_bytes(), key)
    }

    pub(super) fn call(&self, key: &str) -> CallId {
        CallId::from_source(self.id.as_bytes(), key)
    }

    /// Adds an event, unless it is in the log already.
    pub(super) fn push(
        &mut self,
        write: &mut Write<'_>,
        event_id: EventId,
        occurred_at: Option<Micros>,
        body: Body,
    ) -> Result<(), Error> {
        if self.positions.contains_key(&event_id) {
            return Ok(());
        }
        let actor = Actor::IMPORTER;
        let draft = Draft {
            event_id,
            occurred_at,
            actor,
            causation: None,
            correlation: None,
            body,
        };
        let position = write.push(draft)?;
        self.positions.insert(event_id, position);
        self.added += 1;
        Ok(())
    }
}
