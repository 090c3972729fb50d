//! One conversation of a source: what is new is sealed and written chunk by chunk.

use super::ImportedConversation;
use super::body::{Step, Subject};
use super::importer::{Importer, Tip};
use crate::engine::Write;
use crate::error::Error;
use foldback_event::kind::{
    BranchForked, ConversationOpened, FindingRecorded, ParticipantJoined, SourceImported,
};
use foldback_event::{BatchId, BranchId, Digest, EventId, Label, MediaType, Micros, PayloadRef};
use foldback_trace::{Format, SourceBody, SourceFinding, SourceRecord};
use std::collections::BTreeMap;

/// How many source records, and how many bytes of them, are written at once.
const CHUNK_RECORDS: usize = 512;
const CHUNK_BYTES: usize = 4 * 1024 * 1024;

impl<'s> Importer<'s> {
    /// Writes what is new of the conversation.
    pub(super) async fn write(
        mut self,
        file: (Digest, u64),
    ) -> Result<ImportedConversation, Error> {
        let pass = self.engine.pass().await;
        let loaded = self.engine.load(self.id).await?;
        if loaded.graph.position() > 0 {
            let positions = &mut self.positions;
            self.engine
                .scan(self.id, 1, |event, _| {
                    positions.insert(event.envelope.event_id, event.envelope.version);
                    Ok(())
                })
                .await?;
        }
        if loaded
            .graph
            .conversation()
            .is_some_and(|conversation| conversation.erased)
        {
            return Err(Error::ConversationErased {
                conversation: self.id,
            });
        }
        let mut write = Write::new(self.engine, self.id, loaded, pass);
        self.open(&mut write).await?;
        let mut next = 0;
        while next < self.source.records.len() {
            next = self.chunk(&mut write, next).await?;
        }
        self.findings(&mut write).await?;
        if self.added > 0 {
            let (digest, bytes) = file;
            let body = SourceImported {
                format: self.source.format.label(),
                digest,
                bytes,
            };
            let id = self.event_id(&format!("imported:{digest}"));
            self.push(&mut write, id, None, body.into())?;
        }
        self.commit(&mut write).await?;
        let graph = write.graph();
        let count = |wanted: fn(&SourceBody) -> bool| {
            self.source
                .records
                .iter()
                .filter(|record| wanted(&record.body))
                .count() as u64
        };
        let mut findings: BTreeMap<String, u64> = BTreeMap::new();
        for finding in graph.findings() {
            *findings.entry(finding.code.to_string()).or_default() += 1;
        }
        Ok(ImportedConversation {
            id: self.id,
            title: self.source.title.clone(),
            events: self.added,
            messages: count(|body| matches!(body, SourceBody::Message { .. })),
            tool_calls: count(|body| matches!(body, SourceBody::CallRequested { .. })),
            artifacts: graph.artifacts().count() as u64,
            memories: graph.memories().count() as u64,
            findings,
            already_present: self.present,
        })
    }

    async fn commit(&self, write: &mut Write<'_>) -> Result<(), Error> {
        // The batch is named after the place it begins at: a second import of the same part
        // finds its events and writes none.
        let name = format!("import at {}", self.positions.len() - write.len());
        write
            .commit(BatchId::from_source(self.id.as_bytes(), &name))
            .await
    }

    async fn seal_text(&self, text: Option<&String>) -> Result<Option<PayloadRef>, Error> {
        let Some(text) = text else { return Ok(None) };
        let bytes = text.clone().into_bytes();
        Ok(Some(
            self.engine
                .seal_one(self.account, bytes, MediaType::Text)
                .await?,
        ))
    }

    async fn open(&mut self, write: &mut Write<'_>) -> Result<(), Error> {
        let at = self.source.records.iter().find_map(|record| record.at);
        let event_id = self.event_id("opened");
        if !self.positions.contains_key(&event_id) {
            let body = ConversationOpened {
                account: self.account,
                branch: self.branch(0),
                title: self.seal_text(self.source.title.as_ref()).await?,
                source: Some(self.source.format.label()),
            };
            self.push(write, event_id, at, body.into())?;
        }
        for index in 0..self.source.participants.len().min(2) {
            self.join(write, index, at).await?;
        }
        Ok(())
    }

    async fn join(
        &mut self,
        write: &mut Write<'_>,
        index: usize,
        at: Option<Micros>,
    ) -> Result<(), Error> {
        let Some(participant) = self.source.participants.get(index) else {
            return Ok(());
        };
        let event_id = self.event_id(&format!("joined:{}", participant.key));
        if !self.joined.insert(index) || self.positions.contains_key(&event_id) {
            return Ok(());
        }
        let body = ParticipantJoined {
            participant: self.participant(index),
            kind: participant.kind,
            name: self.seal_text(participant.name.as_ref()).await?,
            model: participant.model.as_deref().map(Label::or_stand_in),
        };
        self.push(write, event_id, at, body.into())
    }

    async fn fork(
        &mut self,
        write: &mut Write<'_>,
        index: usize,
        at: Option<Micros>,
    ) -> Result<(), Error> {
        let Some(branch) = self.source.branches.get(index) else {
            return Ok(());
        };
        let event_id = self.event_id(&format!("forked:{}", branch.key));
        if !self.forked.insert(index) || self.positions.contains_key(&event_id) {
            return Ok(());
        }
        let body = BranchForked {
            branch: self.branch(index),
            parent: branch.parent.map(|(parent, _)| self.branch(parent)),
            at: branch.parent.map_or(0, |(_, record)| self.end_of(record)),
            title: self.seal_text(branch.title.as_ref()).await?,
        };
        self.push(write, event_id, at, body.into())
    }

    /// Finds the position of the last event that a source record made.
    fn end_of(&self, record: usize) -> u64 {
        let Some(record) = self.source.records.get(record) else {
            return 0;
        };
        let ids = Step::event_keys(record);
        let positions = ids
            .iter()
            .filter_map(|key| self.positions.get(&self.event_id(key)));
        positions.copied().max().unwrap_or(0)
    }

    /// Writes some records and gives the index of the next one.
    async fn chunk(&mut self, write: &mut Write<'_>, from: usize) -> Result<usize, Error> {
        let mut steps: Vec<Step<'s>> = Vec::new();
        let mut payloads = Vec::new();
        let mut bytes = 0;
        let mut next = from;
        let source = self.source;
        for (index, record) in source.records.iter().enumerate().skip(from) {
            if steps.len() >= CHUNK_RECORDS || bytes >= CHUNK_BYTES {
                break;
            }
            next = index + 1;
            let known = Step::event_keys(record)
                .first()
                .is_some_and(|key| self.positions.contains_key(&self.event_id(key)));
            if known {
                self.present += 1;
                self.follow(write, record);
                continue;
            }
            let step = Step::plan(self, record);
            let planned = step.payloads();
            bytes += planned.iter().map(|(bytes, _)| bytes.len()).sum::<usize>();
            payloads.extend(planned);
            self.raised.extend(step.raised(self.options.privacy));
            steps.push(step);
        }
        let mut refs = self.engine.seal(self.account, payloads).await?.into_iter();
        if let Some(step) = steps.first() {
            self.diverge(write, step.record)?;
        }
        for step in steps {
            let record = step.record;
            self.join(write, record.participant, record.at).await?;
            if let Subject::Child {
                branch,
                participant,
            } = step.subject()
            {
                self.join(write, participant, record.at).await?;
                self.fork(write, branch, record.at).await?;
            }
            self.fork(write, record.branch, record.at).await?;
            step.write(self, write, &mut refs)?;
        }
        self.commit(write).await?;
        Ok(next)
    }

    /// Moves the tip of a chat to a record that the store holds.
    fn follow(&mut self, write: &Write<'_>, record: &SourceRecord) {
        if !matches!(self.source.format, Format::OpenAiChat | Format::TauBench) {
            return;
        }
        let ids = Step::event_keys(record);
        let all = ids
            .iter()
            .filter_map(|key| self.positions.get(&self.event_id(key)).copied());
        let position = all.max().unwrap_or(0);
        let main = self
            .source
            .branches
            .first()
            .map_or("", |branch| branch.key.as_str());
        let before = self.tip.as_ref().map(|tip| tip.branch);
        let before = before.unwrap_or_else(|| BranchId::from_source(self.id.as_bytes(), main));
        let graph = write.graph();
        let branch = graph
            .record_at(position)
            .and_then(|record| graph.common(record))
            .map_or(before, |common| common.ownership.branch);
        self.tip = Some(Tip {
            branch,
            position,
            settled: false,
        });
    }

    /// Forks a branch where a chat goes on otherwise than the store knows it: two chats that begin
    /// alike are two paths through one conversation, and neither is lost or mixed up.
    ///
    /// The keys of a chat's records depend on all before them, so a record that is not known is
    /// followed by unknown ones only.
    fn diverge(&mut self, write: &mut Write<'_>, record: &SourceRecord) -> Result<(), Error> {
        let Some(tip) = self.tip.as_mut().filter(|tip| !tip.settled) else {
            return Ok(());
        };
        tip.settled = true;
        let (parent, at) = (tip.branch, tip.position);
        let newest = write
            .graph()
            .branch(&parent)
            .and_then(|node| node.records.last().copied());
        if newest.is_none_or(|newest| newest <= at) {
            return Ok(());
        }
        let branch = BranchId::from_source(self.id.as_bytes(), &format!("diverged:{}", record.key));
        let event_id = self.event_id(&format!("forked:diverged:{}", record.key));
        let body = BranchForked {
            branch,
            parent: Some(parent),
            at,
            title: None,
        };
        self.push(write, event_id, record.at, body.into())?;
        self.tip = Some(Tip {
            branch,
            position: at,
            settled: true,
        });
        Ok(())
    }

    async fn findings(&mut self, write: &mut Write<'_>) -> Result<(), Error> {
        let raised = std::mem::take(&mut self.raised);
        let mut seen: BTreeMap<(&str, u64), u32> = BTreeMap::new();
        let mut new: Vec<(EventId, &SourceFinding)> = Vec::new();
        for finding in self.source.findings.iter().chain(&raised) {
            let number = seen
                .entry((finding.code, finding.place.number))
                .or_default();
            *number += 1;
            let key = format!("finding:{}:{}:{number}", finding.code, finding.place);
            let id = self.event_id(&key);
            if !self.positions.contains_key(&id) {
                new.push((id, finding));
            }
        }
        let texts = new
            .iter()
            .map(|(_, f)| (f.detail.clone().into_bytes(), MediaType::Text));
        let refs = self.engine.seal(self.account, texts.collect()).await?;
        for ((id, finding), detail) in new.into_iter().zip(refs) {
            let code = Label::or_stand_in(finding.code);
            let body = FindingRecorded {
                code,
                place: finding.place.number,
                detail: Some(detail),
            };
            self.push(write, id, None, body.into())?;
        }
        Ok(())
    }
}
