//! The history as a runtime without an engine would send it: every message, call and result of the
//! lineage, from its newest summary on, each opened once.

use super::block::{Block, Counter, readable};
use super::need::spoken;
use crate::Engine;
use crate::engine::PayloadText;
use crate::error::Error;
use foldback_event::{
    ArtifactId, BranchId, CallId, MediaType, MessageId, MessageRole, PayloadRef, RecordKind,
};
use foldback_graph::RuntimeGraph;
use foldback_graph::node::{Artifact, Call, Message};
use foldback_trace::Content;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One record of the history.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) position: u64,
    pub(super) kind: EntryKind,
    pub(super) block: Block,
    /// What can be read of it.
    pub(super) text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    Instructions,
    Message,
    Call,
    Result(ArtifactId),
}

impl Entry {
    /// Gives the artifact of a result.
    pub(super) fn artifact(&self) -> Option<ArtifactId> {
        match self.kind {
            EntryKind::Result(artifact) => Some(artifact),
            _ => None,
        }
    }
}

/// The records opened so far, by position; none for those that no model reads.
pub(super) struct History<'e> {
    engine: &'e Engine,
    known: BTreeMap<u64, Option<Arc<Entry>>>,
}

impl<'e> History<'e> {
    pub(super) fn new(engine: &'e Engine) -> Self {
        Self {
            engine,
            known: BTreeMap::new(),
        }
    }

    /// Lists what sending the whole lineage of a branch takes: instructions, then the rest in order.
    pub(super) fn replay(
        &mut self,
        counter: &mut Counter,
        graph: &RuntimeGraph,
        branch: &BranchId,
    ) -> Result<Vec<Arc<Entry>>, Error> {
        let Some(lineage) = graph.lineage(branch) else {
            return Ok(Vec::new());
        };
        let from = graph.summary_on(&lineage).unwrap_or(0);
        let mut positions: Vec<u64> = graph
            .newest_first(&lineage)
            .take_while(|position| *position >= from)
            .collect();
        positions.extend(graph.instructions_on(&lineage).filter(|at| *at < from));
        positions.sort_unstable();
        let (mut instructions, mut out) = (Vec::new(), Vec::new());
        for position in positions {
            match self.entry(counter, graph, position)? {
                Some(entry) if entry.kind == EntryKind::Instructions => instructions.push(entry),
                Some(entry) if stands(graph, &entry) => out.push(entry),
                _ => {}
            }
        }
        instructions.append(&mut out);
        Ok(instructions)
    }

    fn entry(
        &mut self,
        counter: &mut Counter,
        graph: &RuntimeGraph,
        position: u64,
    ) -> Result<Option<Arc<Entry>>, Error> {
        if let Some(known) = self.known.get(&position) {
            return Ok(known.clone());
        }
        let opened = self.open(counter, graph, position)?.map(Arc::new);
        self.known.insert(position, opened.clone());
        Ok(opened)
    }

    fn open(
        &self,
        counter: &mut Counter,
        graph: &RuntimeGraph,
        position: u64,
    ) -> Result<Option<Entry>, Error> {
        let Some(record) = graph.record_at(position) else {
            return Ok(None);
        };
        match record.kind {
            RecordKind::Message => match graph.message(&MessageId::from_bytes(record.id)) {
                Some(node) => self.message(counter, graph, node),
                None => Ok(None),
            },
            RecordKind::Call => match graph.call(&CallId::from_bytes(record.id)) {
                Some(node) => self.call(counter, graph, node).map(Some),
                None => Ok(None),
            },
            RecordKind::Artifact => match graph.artifact(&ArtifactId::from_bytes(record.id)) {
                Some(node) => self.result(counter, graph, node).map(Some),
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }

    fn message(
        &self,
        counter: &mut Counter,
        graph: &RuntimeGraph,
        node: &Message,
    ) -> Result<Option<Entry>, Error> {
        if node.content.media_type == MediaType::Thinking {
            return Ok(None);
        }
        let content = self.content(graph, &node.content, node.common.origin.position)?;
        let kind = match node.role {
            MessageRole::System => EntryKind::Instructions,
            _ => EntryKind::Message,
        };
        Ok(Some(Entry {
            position: node.common.origin.position,
            kind,
            block: counter.content(&content),
            text: readable(&content).into_owned(),
        }))
    }

    fn call(
        &self,
        counter: &mut Counter,
        graph: &RuntimeGraph,
        node: &Call,
    ) -> Result<Entry, Error> {
        let arguments = self.arguments(graph, node)?;
        Ok(Entry {
            position: node.common.origin.position,
            kind: EntryKind::Call,
            block: counter.call(node.tool.as_str(), &arguments),
            text: spoken(&arguments).into_owned(),
        })
    }

    fn result(
        &self,
        counter: &mut Counter,
        graph: &RuntimeGraph,
        node: &Artifact,
    ) -> Result<Entry, Error> {
        let position = node.common.origin.position;
        let content = match &node.result {
            Some(result) => self.content(graph, result, position)?,
            None => Content::Text(String::new()),
        };
        Ok(Entry {
            position,
            kind: EntryKind::Result(node.id),
            block: counter.content(&content),
            text: readable(&content).into_owned(),
        })
    }

    /// Opens the arguments of a call.
    pub(super) fn arguments(&self, graph: &RuntimeGraph, node: &Call) -> Result<String, Error> {
        Ok(self.engine.text_of(graph, &node.arguments)?.or_notice())
    }

    fn content(
        &self,
        graph: &RuntimeGraph,
        payload: &PayloadRef,
        position: u64,
    ) -> Result<Content, Error> {
        match (self.engine.text_of(graph, payload)?, payload.media_type) {
            (PayloadText::Text(text), MediaType::Parts) => {
                Content::from_bytes(MediaType::Parts, text.as_bytes())
                    .map_err(|source| Error::Content { position, source })
            }
            (text, _) => Ok(Content::Text(text.or_notice())),
        }
    }
}

/// Of several outcomes of one call, only the last one that is known stands in a request.
fn stands(graph: &RuntimeGraph, entry: &Entry) -> bool {
    let Some(artifact) = entry.artifact().and_then(|id| graph.artifact(&id)) else {
        return true;
    };
    let call = artifact.call.and_then(|id| graph.call(&id));
    call.is_none_or(|call| call.artifacts.last() == Some(&artifact.id))
}
