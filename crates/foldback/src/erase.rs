//! Erasure: content goes everywhere it stands in the store; what happened, and what was decided, stays.
//!
//! The events come first: they say that content was destroyed, by what ground, and hold no name of
//! anybody. From then on rendering says *erased*, and the conversation of an erased account takes no
//! more writes. Then the bytes go: the keys of an account, and the packs that held the payloads.
//! After a crash in between, erasing the same again ends the work, and `verify` says that it is due.

use crate::Engine;
use crate::engine::{Draft, Write};
use crate::error::Error;
use foldback_event::kind::{
    AccountErased, ConversationErased, PayloadErased, RecordRef, RetentionClass,
};
use foldback_event::{
    AccountId, Actor, ArtifactId, BatchId, Body, CallId, ConversationId, Digest, Event, FactId,
    Label, MemoryId, MessageId, Micros, PayloadRef, RecordKind,
};
use foldback_graph::RuntimeGraph;
use foldback_store::{Erase, EventLog};
use std::collections::{BTreeMap, BTreeSet};

/// Whose content is to be erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// That of one record, of what was derived from it, and of the same bytes wherever the account holds
    /// them.
    Record(ConversationId, RecordRef),
    /// That of a conversation, but for what others of the account hold too.
    Conversation(ConversationId),
    /// All that an account ever held, and its key.
    Account(AccountId),
    /// That of the account's records whose retention class is
    /// [`Prunable`](RetentionClass::Prunable) and that are older than a time, with what was derived from
    /// them, but for what other records hold too. What is on hold stays.
    Prunable(AccountId, Micros),
}

/// What an erasure does, or did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Erasure {
    /// The account whose content it is.
    pub account: Option<AccountId>,
    /// The conversations that are told of it.
    pub conversations: Vec<ConversationId>,
    /// The records whose content goes: what was named, and what was derived from it.
    pub records: Vec<RecordRef>,
    /// The payloads that go, by address.
    pub payloads: BTreeSet<Digest>,
    /// How many payloads stay because others hold the same bytes.
    pub kept: u64,
    /// Whether the account's key is destroyed.
    pub key: bool,
    /// How many events were written; 0 until it is carried out.
    pub events: u64,
    /// What became of the bytes; none until it is carried out.
    pub destroyed: Option<foldback_store::Erased>,
}

/// One conversation of the account, as far as erasure needs it.
struct Known {
    id: ConversationId,
    graph: RuntimeGraph,
    /// The payloads that its events name.
    cited: BTreeSet<Digest>,
}

impl Known {
    fn is_erased(&self) -> bool {
        self.graph.conversation().is_some_and(|c| c.erased)
    }
}

impl Engine {
    /// Tells what erasing a subject would do, and does nothing.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownRecord`] or [`Error::UnknownConversation`] if there is no such subject;
    /// [`Error::OnHold`] if a record of it is on hold; [`Error`] if the store cannot be read.
    pub async fn plan_erasure(&self, subject: Subject) -> Result<Erasure, Error> {
        let account = match subject {
            Subject::Account(account) | Subject::Prunable(account, _) => account,
            Subject::Record(conversation, _) | Subject::Conversation(conversation) => {
                let graph = self.graph(conversation, None).await?;
                self.account_of(&graph)
            }
        };
        let all = self.known(account).await?;
        if all.is_empty() {
            return Err(Error::UnknownAccount { account });
        }
        let mut plan = Erasure {
            account: Some(account),
            ..Erasure::default()
        };
        match subject {
            Subject::Account(_) => {
                plan.key = true;
                for known in &all {
                    plan.conversations.push(known.id);
                    plan.payloads.extend(&known.cited);
                    free_of_holds(&known.graph, None)?;
                }
            }
            Subject::Conversation(id) => {
                plan.conversations.push(id);
                let mut others = BTreeSet::new();
                for known in &all {
                    if known.id == id {
                        plan.payloads.clone_from(&known.cited);
                        free_of_holds(&known.graph, None)?;
                    } else if !known.is_erased() {
                        others.extend(known.cited.iter().copied());
                    }
                }
                let before = plan.payloads.len();
                plan.payloads.retain(|address| !others.contains(address));
                plan.kept = (before - plan.payloads.len()) as u64;
            }
            Subject::Prunable(_, before) => {
                let mut others = BTreeSet::new();
                for known in all.iter().filter(|known| !known.is_erased()) {
                    let records = prunable(&known.graph, before)?;
                    let goes = self.payloads_of(known, &records).await?;
                    let positions = positions(&known.graph, &records);
                    self.scan(known.id, 1, |event, _| {
                        if !positions.contains(&event.envelope.version) {
                            let payloads = event.body.payloads();
                            others.extend(payloads.iter().map(|payload| payload.address));
                        }
                        Ok(())
                    })
                    .await?;
                    plan.records.extend(records);
                    plan.payloads.extend(goes);
                }
                let found = plan.payloads.len();
                plan.payloads.retain(|address| !others.contains(address));
                plan.kept = (found - plan.payloads.len()) as u64;
                let holds = |known: &&Known| !known.cited.is_disjoint(&plan.payloads);
                plan.conversations = all.iter().filter(holds).map(|known| known.id).collect();
            }
            Subject::Record(id, record) => {
                let known = all.iter().find(|known| known.id == id);
                let known = known.ok_or_else(|| unknown(&record))?;
                plan.records = derived(&known.graph, record)?;
                free_of_holds(&known.graph, Some(&plan.records))?;
                plan.payloads = self.payloads_of(known, &plan.records).await?;
                let holds = |known: &&Known| !known.cited.is_disjoint(&plan.payloads);
                plan.conversations = all.iter().filter(holds).map(|known| known.id).collect();
            }
        }
        Ok(plan)
    }

    /// Erases a subject: it is written down first, then the bytes are destroyed.
    ///
    /// Nothing else is written to the store meanwhile. What was erased before is erased again as far as
    /// bytes are left, and is not written down twice.
    ///
    /// # Errors
    ///
    /// Those of [`Engine::plan_erasure`]; [`Error`] if it cannot be written or the bytes cannot be
    /// destroyed: then part of it may be done, and erasing the same again ends it.
    pub async fn erase(&self, subject: Subject, ground: Label) -> Result<Erasure, Error> {
        // Whoever writes now has sealed its payloads for events that come before ours.
        let _alone = self.writers.write().await;
        let mut plan = self.plan_erasure(subject).await?;
        let account = plan.account.ok_or(Error::Bug {
            what: "an erasure of no account",
        })?;
        for id in &plan.conversations {
            let bodies = self.tellings(*id, subject, &plan, &ground).await?;
            plan.events += bodies.len() as u64;
            self.tell(*id, bodies).await?;
        }
        let what = match subject {
            Subject::Account(_) => {
                self.vault.erase_account(account)?;
                Erase::All
            }
            Subject::Record(..) | Subject::Conversation(_) | Subject::Prunable(..) => {
                Erase::Payloads(plan.payloads.clone())
            }
        };
        plan.destroyed = Some(self.vault.erase(account, what).await?);
        Ok(plan)
    }

    /// Reads the conversations of an account.
    async fn known(&self, account: AccountId) -> Result<Vec<Known>, Error> {
        let mut out = Vec::new();
        for id in self.log.conversations().await? {
            let graph = self.graph(id, None).await?;
            let own = graph.conversation().is_some_and(|c| c.account == account);
            if !own {
                continue;
            }
            let mut cited = BTreeSet::new();
            self.scan(id, 1, |event, _| {
                cited.extend(event.body.payloads().iter().map(|payload| payload.address));
                Ok(())
            })
            .await?;
            out.push(Known { id, graph, cited });
        }
        Ok(out)
    }

    /// Finds the payloads of records, and a title that repeats a message of them.
    async fn payloads_of(
        &self,
        known: &Known,
        records: &[RecordRef],
    ) -> Result<BTreeSet<Digest>, Error> {
        let positions = positions(&known.graph, records);
        let messages = records
            .iter()
            .filter(|record| record.kind == RecordKind::Message);
        let messages = messages
            .map(|record| MessageId::from_bytes(record.id))
            .collect();
        let mut out = BTreeSet::new();
        let mut texts = Vec::new();
        self.scan(known.id, 1, |event, _| {
            let of_record = positions.contains(&event.envelope.version);
            if of_record || is_of_message(&event, &messages) {
                for payload in event.body.payloads() {
                    out.insert(payload.address);
                    if is_of_message(&event, &messages) {
                        texts.push(payload);
                    }
                }
            }
            Ok(())
        })
        .await?;
        let title = known.graph.conversation().and_then(|c| c.title);
        let Some(title) = title else { return Ok(out) };
        let words = self.text_of(&known.graph, &title)?.or_notice();
        let words = words.trim_end_matches(['…', '.', ' ']);
        for text in texts {
            let text = self.text_of(&known.graph, &text)?.or_notice();
            if !words.is_empty() && text.contains(words) {
                out.insert(title.address);
            }
        }
        Ok(out)
    }

    /// Makes the events that tell a conversation of an erasure; none where it was told before.
    async fn tellings(
        &self,
        id: ConversationId,
        subject: Subject,
        plan: &Erasure,
        ground: &Label,
    ) -> Result<Vec<Body>, Error> {
        let graph = self.graph(id, None).await?;
        if graph.conversation().is_some_and(|c| c.erased) {
            return Ok(Vec::new());
        }
        let ground = ground.clone();
        Ok(match subject {
            Subject::Account(account) => vec![AccountErased { account, ground }.into()],
            Subject::Conversation(_) => vec![ConversationErased { ground }.into()],
            Subject::Record(..) | Subject::Prunable(..) => {
                let mut cited = BTreeSet::new();
                self.scan(id, 1, |event, _| {
                    cited.extend(event.body.payloads().iter().map(|payload| payload.address));
                    Ok(())
                })
                .await?;
                let here = plan.payloads.intersection(&cited).copied();
                here.filter(|address| !graph.is_erased(address))
                    .map(|address| {
                        let ground = ground.clone();
                        PayloadErased { address, ground }.into()
                    })
                    .collect()
            }
        })
    }

    async fn tell(&self, id: ConversationId, bodies: Vec<Body>) -> Result<(), Error> {
        let loaded = self.load(id).await?;
        let mut write = Write::new(self, id, loaded, None);
        let mut batch = None;
        for body in bodies {
            let event_id = self.clock.event_id();
            batch.get_or_insert(BatchId::from_source(event_id.as_bytes(), "batch"));
            write.push(Draft {
                event_id,
                occurred_at: None,
                actor: Actor::ENGINE,
                causation: None,
                correlation: None,
                body,
            })?;
        }
        match batch {
            Some(batch) => write.commit(batch).await,
            None => Ok(()),
        }
    }
}

/// Which payloads the vault must hold, and which it must not any more, as events tell.
#[derive(Debug, Default)]
pub(crate) struct Citations {
    /// With the sealed digests that the events name.
    live: BTreeSet<(AccountId, Digest, Digest)>,
    gone: BTreeSet<(AccountId, Digest)>,
}

impl Citations {
    /// Takes in one conversation: what was erased is expected only where a later event names it again.
    pub(crate) fn take(&mut self, account: AccountId, events: &[Event]) {
        let mut own: BTreeMap<Digest, BTreeSet<Digest>> = BTreeMap::new();
        for event in events {
            match &event.body {
                Body::PayloadErased(body) => own.entry(body.address).or_default().clear(),
                Body::ConversationErased(_) | Body::AccountErased(_) => {
                    own.values_mut().for_each(BTreeSet::clear);
                }
                body => {
                    for payload in body.payloads() {
                        let sealed = own.entry(payload.address).or_default();
                        sealed.insert(payload.sealed_digest);
                    }
                }
            }
        }
        for (address, sealed) in own {
            if sealed.is_empty() {
                self.gone.insert((account, address));
            }
            let sealed = sealed.into_iter().map(|sealed| (account, address, sealed));
            self.live.extend(sealed);
        }
    }

    /// Takes in a payload that no erasure reaches.
    pub(crate) fn keep(&mut self, account: AccountId, payload: &PayloadRef) {
        self.live
            .insert((account, payload.address, payload.sealed_digest));
    }

    /// Lists what the vault must hold, with the sealed digests that events name.
    pub(crate) fn live(&self) -> &BTreeSet<(AccountId, Digest, Digest)> {
        &self.live
    }

    /// Lists what the vault must not hold: what was erased, and is named by no conversation that was not
    /// told of it.
    pub(crate) fn gone(&self) -> Vec<(AccountId, Digest)> {
        let named: BTreeSet<(AccountId, Digest)> = self
            .live
            .iter()
            .map(|(account, address, _)| (*account, *address))
            .collect();
        self.gone.difference(&named).copied().collect()
    }
}

fn is_of_message(event: &Event, messages: &BTreeSet<MessageId>) -> bool {
    match &event.body {
        Body::MessageRecorded(body) => messages.contains(&body.message),
        Body::MessageFinalized(body) => messages.contains(&body.message),
        _ => false,
    }
}

fn unknown(record: &RecordRef) -> Error {
    Error::UnknownRecord {
        what: "record",
        id: crate::report::record_id(record),
    }
}

/// Lists a record and what was derived from it: results of a call, memories of a result, facts of a
/// message.
fn derived(graph: &RuntimeGraph, record: RecordRef) -> Result<Vec<RecordRef>, Error> {
    if graph.common(&record).is_none() {
        return Err(unknown(&record));
    }
    let mut out = vec![record];
    let mut next = 0;
    while let Some(record) = out.get(next).copied() {
        next += 1;
        let further = match record.kind {
            RecordKind::Call => {
                let call = graph.call(&CallId::from_bytes(record.id));
                let artifacts = call.map_or(&[][..], |call| &call.artifacts);
                let artifacts = artifacts.iter().filter_map(|id| graph.artifact(id));
                memories(artifacts.flat_map(|artifact| &artifact.memories))
            }
            RecordKind::Artifact => {
                let artifact = graph.artifact(&ArtifactId::from_bytes(record.id));
                memories(artifact.iter().flat_map(|artifact| &artifact.memories))
            }
            RecordKind::Message => {
                let message = MessageId::from_bytes(record.id);
                let facts = graph.facts().filter(|fact| fact.source == Some(message));
                facts.map(|fact| of(RecordKind::Fact, fact.id)).collect()
            }
            _ => Vec::new(),
        };
        for record in further {
            if !out.contains(&record) {
                out.push(record);
            }
        }
    }
    Ok(out)
}

fn memories<'m>(ids: impl Iterator<Item = &'m MemoryId>) -> Vec<RecordRef> {
    let record = |id: &MemoryId| RecordRef {
        kind: RecordKind::Memory,
        id: *id.as_bytes(),
    };
    ids.map(record).collect()
}

fn of(kind: RecordKind, id: FactId) -> RecordRef {
    RecordRef {
        kind,
        id: *id.as_bytes(),
    }
}

/// Lists the prunable records that are older than a time, with what was derived from them; none of which
/// anything is on hold.
fn prunable(graph: &RuntimeGraph, before: Micros) -> Result<Vec<RecordRef>, Error> {
    let mut out: Vec<RecordRef> = Vec::new();
    for (_, record) in graph.records() {
        let common = graph.common(record);
        let due = common.is_some_and(|common| {
            common.retention == RetentionClass::Prunable && common.origin.at < before
        });
        if !due {
            continue;
        }
        let all = derived(graph, *record)?;
        if free_of_holds(graph, Some(&all)).is_ok() {
            out.extend(all);
        }
    }
    let mut seen = BTreeSet::new();
    out.retain(|record| seen.insert((record.kind, record.id)));
    Ok(out)
}

/// Gives the positions of the events that created records.
fn positions(graph: &RuntimeGraph, records: &[RecordRef]) -> BTreeSet<u64> {
    let commons = records.iter().filter_map(|record| graph.common(record));
    commons.map(|common| common.origin.position).collect()
}

/// Refuses to erase what is on hold: a person has to release it first.
fn free_of_holds(graph: &RuntimeGraph, only: Option<&[RecordRef]>) -> Result<(), Error> {
    for (_, record) in graph.records() {
        let meant = only.is_none_or(|only| only.contains(record));
        let common = graph.common(record).filter(|_| meant);
        if common.is_some_and(|common| common.retention == RetentionClass::Hold) {
            return Err(Error::OnHold {
                record: crate::report::record_id(record),
            });
        }
    }
    Ok(())
}
