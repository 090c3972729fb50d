//! Opening conversations, letting participants join, forking branches.

use super::{Begun, Conversation, event};
use crate::Engine;
use crate::engine::{Draft, Write};
use crate::error::Error;
use foldback_event::kind::{BranchForked, ConversationOpened, ParticipantJoined, ParticipantKind};
use foldback_event::{
    AccountId, Actor, BatchId, BranchId, ConversationId, EventId, Kind, Label, MediaType,
    ParticipantId,
};
use foldback_store::EventLog;

/// A conversation to be opened, with one person in it.
#[derive(Debug, Clone, Default)]
pub struct NewConversation {
    /// Its id; made if none is given. Opening the same id twice gives the first result.
    pub id: Option<ConversationId>,
    /// The account whose key seals its payloads; the engine's own if none is given.
    pub account: Option<AccountId>,
    /// A title for people.
    pub title: Option<String>,
    /// The person's name.
    pub user_name: Option<String>,
}

impl NewConversation {
    /// Makes a conversation with a title.
    pub fn titled(title: &str) -> Self {
        Self {
            title: Some(title.to_owned()),
            ..Self::default()
        }
    }
}

/// What opening gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opened {
    /// The conversation.
    pub id: ConversationId,
    /// Its main branch.
    pub branch: BranchId,
    /// The person.
    pub user: ParticipantId,
}

/// Somebody who is to join.
#[derive(Debug, Clone)]
pub struct NewParticipant {
    /// What it is.
    pub kind: ParticipantKind,
    /// Its name, as people know it.
    pub name: Option<String>,
    /// The model it runs on.
    pub model: Option<Label>,
}

impl NewParticipant {
    /// Makes a model participant.
    pub fn model(name: &str, model: Label) -> Self {
        Self {
            kind: ParticipantKind::Model,
            name: Some(name.to_owned()),
            model: Some(model),
        }
    }
}

impl Engine {
    /// Opens a conversation.
    ///
    /// # Errors
    ///
    /// [`Error`] if it cannot be written.
    pub async fn open_conversation(&self, new: NewConversation) -> Result<Opened, Error> {
        let first = self.clock.event_id();
        let id = new.id.unwrap_or_else(|| ConversationId::derive(first, 0));
        let pass = self.pass().await;
        let loaded = self.load(id).await?;
        if loaded.graph.conversation().is_some() {
            let batch = self.log.batch(id, opening(id)).await?;
            if batch.is_none() {
                return Err(Error::ConversationExists { conversation: id });
            }
            let events = self.log.read(id, 1, 2).await?;
            let ids: Vec<EventId> = events.iter().map(|event| event.event_id).collect();
            return opened(id, &ids);
        }
        let account = new.account.unwrap_or(self.account);
        let mut texts = Vec::new();
        for text in [&new.title, &new.user_name].into_iter().flatten() {
            texts.push((text.clone().into_bytes(), MediaType::Text));
        }
        let mut refs = self.seal(account, texts).await?.into_iter();
        let title = new.title.as_ref().and_then(|_| refs.next());
        let name = new.user_name.as_ref().and_then(|_| refs.next());
        let second = self.clock.event_id();
        let opened = opened(id, &[first, second])?;
        let mut write = Write::new(self, id, loaded, pass);
        let draft = |event_id, body| Draft {
            event_id,
            occurred_at: None,
            actor: Actor::RUNTIME,
            causation: None,
            correlation: None,
            body,
        };
        let body = ConversationOpened {
            account,
            branch: opened.branch,
            title,
            source: None,
        };
        write.push(draft(first, body.into()))?;
        let kind = ParticipantKind::Human;
        let body = ParticipantJoined {
            participant: opened.user,
            kind,
            name,
            model: None,
        };
        write.push(draft(second, body.into()))?;
        write.commit(opening(id)).await?;
        Ok(opened)
    }
}

/// The batch that opens a conversation is named after it, so that opening can be tried again.
fn opening(id: ConversationId) -> BatchId {
    BatchId::from_source(id.as_bytes(), "open")
}

fn opened(id: ConversationId, events: &[EventId]) -> Result<Opened, Error> {
    Ok(Opened {
        id,
        branch: BranchId::derive(event(events, 0)?, 0),
        user: ParticipantId::derive(event(events, 1)?, 0),
    })
}

impl Conversation<'_> {
    /// Lets a participant join.
    ///
    /// # Errors
    ///
    /// [`Error`] if it cannot be written.
    pub async fn join(&self, new: NewParticipant) -> Result<ParticipantId, Error> {
        let events = match self.begin(&[Kind::ParticipantJoined]).await? {
            Begun::Before(before) => before.ids,
            Begun::Now(mut pen) => {
                let name = match new.name {
                    Some(name) => {
                        let bytes = name.into_bytes();
                        Some(
                            self.engine
                                .seal_one(pen.account, bytes, MediaType::Text)
                                .await?,
                        )
                    }
                    None => None,
                };
                let id = pen.next_id();
                let participant = ParticipantId::derive(id, 0);
                let (kind, model) = (new.kind, new.model);
                pen.push(
                    id,
                    ParticipantJoined {
                        participant,
                        kind,
                        name,
                        model,
                    },
                )?;
                pen.finish().await?
            }
        };
        Ok(ParticipantId::derive(event(&events, 0)?, 0))
    }

    /// Forks a branch off another at a position; it inherits what stood there and copies nothing.
    ///
    /// # Errors
    ///
    /// [`Error`] if the parent or the position does not exist, or it cannot be written.
    pub async fn fork(&self, parent: BranchId, at: u64) -> Result<BranchId, Error> {
        let events = match self.begin(&[Kind::BranchForked]).await? {
            Begun::Before(before) => before.ids,
            Begun::Now(mut pen) => {
                pen.know_branch(parent)?;
                let end = pen.graph().position();
                if at == 0 || at > end {
                    return Err(Error::UnknownPosition {
                        conversation: self.id,
                        position: at,
                        end,
                    });
                }
                let id = pen.next_id();
                let branch = BranchId::derive(id, 0);
                pen.push(
                    id,
                    BranchForked {
                        branch,
                        parent: Some(parent),
                        at,
                        title: None,
                    },
                )?;
                pen.finish().await?
            }
        };
        Ok(BranchId::derive(event(&events, 0)?, 0))
    }
}
