//! Reading: conversations, events, graphs at any position, and what ids name.

use crate::Engine;
use crate::engine::PayloadText;
use crate::error::Error;
use foldback_event::{AccountId, BranchId, ConversationId, Digest, Event, PayloadRef};
use foldback_graph::{RuntimeGraph, Transcript, transcript};
use foldback_store::{EventLog, Log};

/// One conversation in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationSummary {
    /// The conversation.
    pub id: ConversationId,
    /// Its title, or a notice in brackets.
    pub title: Option<String>,
    /// How many events it has.
    pub events: u64,
    /// How many messages it has.
    pub messages: u64,
}

/// One event of a conversation, decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRow {
    /// The event.
    pub event: Event,
    /// Its chain hash.
    pub hash: Digest,
}

/// How many candidates an ambiguity names at the most.
const CANDIDATES_MAX: usize = 6;

impl Engine {
    /// Lists the ids of all conversations in ascending order.
    ///
    /// # Errors
    ///
    /// [`Error`] if the log cannot be read.
    pub async fn conversation_ids(&self) -> Result<Vec<ConversationId>, Error> {
        Ok(self.log.conversations().await?)
    }

    /// Lists all conversations, in the order in which they began.
    ///
    /// # Errors
    ///
    /// [`Error`] if the log or a title cannot be read.
    pub async fn conversations(&self) -> Result<Vec<ConversationSummary>, Error> {
        let mut rows = Vec::new();
        for id in self.log.conversations().await? {
            let loaded = self.load(id).await?;
            let Some(conversation) = loaded.graph.conversation() else {
                continue;
            };
            let title = match &conversation.title {
                Some(title) => Some(self.text_of(&loaded.graph, title)?.or_notice()),
                None => None,
            };
            let began = (conversation.origin.at, id);
            let (events, messages) = (
                loaded.graph.position(),
                loaded.graph.messages().count() as u64,
            );
            rows.push((
                began,
                ConversationSummary {
                    id,
                    title,
                    events,
                    messages,
                },
            ));
        }
        rows.sort_by_key(|(began, _)| *began);
        Ok(rows.into_iter().map(|(_, row)| row).collect())
    }

    /// Finds the conversation that a text names: a whole id or a unique prefix of one.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownConversation`] or [`Error::AmbiguousConversation`].
    pub async fn find_conversation(&self, prefix: &str) -> Result<ConversationId, Error> {
        let found: Vec<ConversationId> = self
            .log
            .conversations()
            .await?
            .into_iter()
            .filter(|id| id.to_string().starts_with(prefix) || id.hex().starts_with(prefix))
            .collect();
        match found.as_slice() {
            [one] if !prefix.is_empty() => Ok(*one),
            [] => Err(Error::UnknownConversation {
                id: prefix.chars().take(80).collect(),
            }),
            many => Err(Error::AmbiguousConversation {
                prefix: prefix.chars().take(80).collect(),
                candidates: many
                    .iter()
                    .take(CANDIDATES_MAX)
                    .map(ConversationId::short)
                    .collect(),
            }),
        }
    }

    /// Reads a conversation's events, decoded, in order.
    ///
    /// # Errors
    ///
    /// [`Error`] if the conversation does not exist or an event cannot be read.
    pub async fn events(&self, id: ConversationId) -> Result<Vec<EventRow>, Error> {
        let rows = self.events_after(id, 0).await?;
        if rows.is_empty() {
            return Err(Error::UnknownConversation { id: id.to_string() });
        }
        Ok(rows)
    }

    /// Reads a conversation's events after a position, decoded, in order; none where there are none.
    ///
    /// # Errors
    ///
    /// [`Error`] if an event cannot be read.
    pub async fn events_after(
        &self,
        id: ConversationId,
        position: u64,
    ) -> Result<Vec<EventRow>, Error> {
        let mut rows = Vec::new();
        self.scan(id, position.saturating_add(1), |event, hash| {
            rows.push(EventRow { event, hash });
            Ok(())
        })
        .await?;
        Ok(rows)
    }

    /// Takes in what another process has written since; only a store that is open for reading needs it.
    ///
    /// # Errors
    ///
    /// [`Error`] if the log cannot be read or is damaged.
    pub fn refresh(&self) -> Result<(), Error> {
        if let Log::File(log) = &self.log {
            log.refresh()?;
        }
        self.forget();
        Ok(())
    }

    /// Gives the graph of a conversation at a position, or at its end.
    ///
    /// # Errors
    ///
    /// [`Error`] if the conversation or the position does not exist or cannot be read.
    pub async fn graph(&self, id: ConversationId, at: Option<u64>) -> Result<RuntimeGraph, Error> {
        let loaded = self.load(id).await?;
        let end = loaded.graph.position();
        if end == 0 {
            return Err(Error::UnknownConversation { id: id.to_string() });
        }
        let Some(position) = at.filter(|at| *at != end) else {
            return Ok(loaded.graph.clone());
        };
        drop(loaded);
        if position == 0 || position > end {
            return Err(Error::UnknownPosition {
                conversation: id,
                position,
                end,
            });
        }
        let mut graph = RuntimeGraph::default();
        self.scan(id, 1, |event, _| {
            if graph.position() < position {
                graph.apply(&event);
            }
            Ok(())
        })
        .await?;
        Ok(graph)
    }

    /// Projects a branch as people saw it; the main branch if none is named.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownBranch`] if the branch does not exist at the graph's position.
    pub fn transcript(graph: &RuntimeGraph, branch: Option<BranchId>) -> Result<Transcript, Error> {
        let main = graph
            .conversation()
            .map(|conversation| conversation.main_branch);
        let branch = branch.or(main).ok_or(Error::Bug {
            what: "a graph without a branch",
        })?;
        transcript(graph, &branch).ok_or(Error::UnknownBranch { branch })
    }

    /// Gives the account of a graph's conversation.
    pub fn account_of(&self, graph: &RuntimeGraph) -> AccountId {
        graph
            .conversation()
            .map_or(self.account, |conversation| conversation.account)
    }

    /// Opens a payload of a graph's conversation as text.
    ///
    /// # Errors
    ///
    /// [`Error`] if the vault is damaged there.
    pub fn text_of(
        &self,
        graph: &RuntimeGraph,
        payload: &PayloadRef,
    ) -> Result<PayloadText, Error> {
        if graph.is_erased(&payload.address) {
            return Ok(PayloadText::Erased);
        }
        self.text(self.account_of(graph), payload)
    }
}
