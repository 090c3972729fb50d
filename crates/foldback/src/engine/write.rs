//! One append: events are made, folded and chained in memory, then written at once or not at all.

use super::{Loaded, Pass};
use crate::Engine;
use crate::error::Error;
use foldback_event::{
    Actor, BatchId, Body, ConversationId, Envelope, Event, EventId, Micros, chain_hash,
};
use foldback_graph::RuntimeGraph;
use foldback_store::{AppendError, EventLog, NewEvent};
use tokio::sync::OwnedMutexGuard;

/// An event that has no place yet.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) event_id: EventId,
    pub(crate) occurred_at: Option<Micros>,
    pub(crate) actor: Actor,
    pub(crate) causation: Option<EventId>,
    pub(crate) correlation: Option<EventId>,
    pub(crate) body: Body,
}

/// An append in the making. Dropped without [`Write::commit`], it leaves nothing behind.
#[derive(Debug)]
pub(crate) struct Write<'e> {
    engine: &'e Engine,
    conversation: ConversationId,
    loaded: OwnedMutexGuard<Loaded>,
    first: u64,
    events: Vec<NewEvent>,
    /// Given back when the write is done or dropped.
    _pass: Pass,
}

impl<'e> Write<'e> {
    pub(crate) fn new(
        engine: &'e Engine,
        conversation: ConversationId,
        loaded: OwnedMutexGuard<Loaded>,
        pass: Pass,
    ) -> Self {
        let first = loaded.graph.position() + 1;
        Self {
            engine,
            conversation,
            loaded,
            first,
            events: Vec::new(),
            _pass: pass,
        }
    }

    /// Gives the graph as it stands with the events pushed so far.
    pub(crate) fn graph(&self) -> &RuntimeGraph {
        &self.loaded.graph
    }

    /// Counts the events pushed since the last commit.
    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }

    /// Adds an event and folds it.
    pub(crate) fn push(&mut self, draft: Draft) -> Result<u64, Error> {
        let version = self.loaded.graph.position() + 1;
        let event = Event {
            envelope: Envelope {
                conversation: self.conversation,
                version,
                event_id: draft.event_id,
                recorded_at: self.engine.clock.now(),
                occurred_at: draft.occurred_at,
                actor: draft.actor,
                causation: draft.causation,
                correlation: draft.correlation,
            },
            body: draft.body,
        };
        let record = event.encode()?;
        // From here on the graph is ahead of the log, until the append is acknowledged.
        self.loaded.stale = true;
        self.loaded.hash = chain_hash(&self.loaded.hash, &record);
        self.loaded.graph.apply(&event);
        let hash = self.loaded.hash;
        self.events.push(NewEvent {
            event_id: draft.event_id,
            record,
            hash,
        });
        Ok(version)
    }

    /// Writes what was pushed; it is durable when it returns. More may be pushed afterwards.
    pub(crate) async fn commit(&mut self, batch: BatchId) -> Result<(), Error> {
        if self.events.is_empty() {
            return Ok(());
        }
        let events = std::mem::take(&mut self.events);
        let expected = self.first - 1;
        let appended = self
            .engine
            .log
            .append(self.conversation, expected, batch, events)
            .await;
        match appended {
            Ok(_) => {
                self.first = self.loaded.graph.position() + 1;
                self.loaded.stale = false;
                Ok(())
            }
            Err(AppendError::Conflict { actual, .. }) => Err(Error::Conflict {
                conversation: self.conversation,
                expected,
                actual,
            }),
            Err(error) => Err(error.into()),
        }
    }
}
