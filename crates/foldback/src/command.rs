//! Commands: what a runtime tells the engine, checked against the graph before it becomes events.
//!
//! A command that is refused writes nothing.
//! A command with an id is answered with its first result when it is tried again, whether or not
//! the first answer was heard.

mod assemble;
mod boundary;
mod memory;
mod message;
mod open;
mod provenance;
mod retention;
mod run;
mod tool;

pub use assemble::{AssembleRequest, Assembled, Recorded};
pub use boundary::{ChildStart, Promote, TakeCheckpoint};
pub use memory::MemoryDraft;
pub use message::{NewFact, NewMessage, NewSkill, NewSkills};
pub use open::{NewConversation, NewParticipant, Opened};
pub use provenance::{Provenance, REPAIR_TRIES_MAX};
pub use run::{RunEnding, StartRun};
pub use tool::{Captured, NewArtifact, NewCall, Outcome};

use crate::Engine;
use crate::engine::{Draft, Write};
use crate::error::Error;
use foldback_event::{
    AccountId, Actor, BatchId, Body, BranchId, ConversationId, Event, EventId, Isolation, Kind,
    Micros, Ownership, ParticipantId, RunId, RuntimeKind, Visibility,
};
use foldback_graph::RuntimeGraph;
use foldback_store::{Appended, EventLog};

/// One conversation, ready for a command.
///
/// # Examples
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use foldback::{Engine, NewConversation, NewMessage, Options};
///
/// let engine = Engine::in_memory(Options::default())?;
/// let opened = engine.open_conversation(NewConversation::titled("a flight")).await?;
/// let conversation = engine.conversation(opened.id);
/// let message = conversation.record_message(NewMessage::user(opened.user, "Hello")).await?;
/// assert!(engine.graph(opened.id, None).await?.message(&message).is_some());
/// # Ok::<(), foldback::Error>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct Conversation<'e> {
    pub(crate) engine: &'e Engine,
    id: ConversationId,
    command: Option<BatchId>,
    expected: Option<u64>,
    occurred_at: Option<Micros>,
    actor: Actor,
    causation: Option<EventId>,
    correlation: Option<EventId>,
}

impl Engine {
    /// Takes a conversation to give it commands.
    pub fn conversation(&self, id: ConversationId) -> Conversation<'_> {
        Conversation {
            engine: self,
            id,
            command: None,
            expected: None,
            occurred_at: None,
            actor: Actor::RUNTIME,
            causation: None,
            correlation: None,
        }
    }
}

impl Conversation<'_> {
    /// Gives the conversation's id.
    pub fn id(&self) -> ConversationId {
        self.id
    }

    /// Names the next command, so that trying it again gives its first result.
    #[must_use]
    pub fn command(mut self, id: BatchId) -> Self {
        self.command = Some(id);
        self
    }

    /// Refuses the next command unless the conversation still stands at this position.
    #[must_use]
    pub fn expecting(mut self, position: u64) -> Self {
        self.expected = Some(position);
        self
    }

    /// Says when it happened, where that is not now.
    #[must_use]
    pub fn at(mut self, time: Micros) -> Self {
        self.occurred_at = Some(time);
        self
    }

    /// Says who causes it, where that is not the runtime.
    #[must_use]
    pub fn by(mut self, actor: Actor) -> Self {
        self.actor = actor;
        self
    }

    /// Says which event led to it, and which story it belongs to.
    #[must_use]
    pub fn because_of(mut self, causation: EventId, correlation: Option<EventId>) -> Self {
        self.causation = Some(causation);
        self.correlation = correlation;
        self
    }

    /// Takes the conversation's place in the queue: what was written under this command's id, or
    /// the right to write.
    ///
    /// `first` lists the kinds that the command's first event may have: an id that was another
    /// command's is refused, since its events are no answer to this one.
    async fn begin(&self, first: &[Kind]) -> Result<Begun<'_>, Error> {
        let pass = self.engine.pass().await;
        let loaded = self.engine.load(self.id).await?;
        if let Some(command) = self.command
            && let Some(done) = self.engine.log.batch(self.id, command).await?
        {
            return self.before(command, &done, first).await;
        }
        let actual = loaded.graph.position();
        let Some(conversation) = loaded.graph.conversation() else {
            return Err(Error::UnknownConversation {
                id: self.id.to_string(),
            });
        };
        if conversation.erased {
            return Err(Error::ConversationErased {
                conversation: self.id,
            });
        }
        let account = conversation.account;
        if let Some(expected) = self.expected.filter(|expected| *expected != actual) {
            return Err(Error::Conflict {
                conversation: self.id,
                expected,
                actual,
            });
        }
        let write = Write::new(self.engine, self.id, loaded, pass);
        Ok(Begun::Now(Pen {
            conversation: self,
            account,
            write,
            events: Vec::new(),
        }))
    }

    /// Reads what a command wrote when it was carried out.
    async fn before(
        &self,
        command: BatchId,
        done: &Appended,
        first: &[Kind],
    ) -> Result<Begun<'_>, Error> {
        let mut before = Before::default();
        let (from, to) = (
            done.first_version,
            done.first_version + u64::from(done.count),
        );
        for stored in self
            .engine
            .log
            .read(self.id, from, count_of(done.count))
            .await?
            .iter()
            .filter(|stored| stored.version < to)
        {
            let event = Event::decode(&stored.record).map_err(|source| Error::Decode {
                conversation: self.id,
                version: stored.version,
                seq: stored.seq,
                source,
            })?;
            before.ids.push(event.envelope.event_id);
            before.kinds.push(event.body.kind());
        }
        let same = before.kinds.first().copied().flatten();
        if same.is_some_and(|kind| first.contains(&kind)) {
            Ok(Begun::Before(before))
        } else {
            Err(Error::CommandReused { command })
        }
    }
}

fn count_of(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// How a command begins.
enum Begun<'c> {
    /// It was carried out before.
    Before(Before),
    /// It may write.
    Now(Pen<'c>),
}

/// The events of a command that was carried out before.
#[derive(Default)]
struct Before {
    ids: Vec<EventId>,
    kinds: Vec<Option<Kind>>,
}

/// The right to write one command's events.
struct Pen<'c> {
    conversation: &'c Conversation<'c>,
    account: AccountId,
    write: Write<'c>,
    events: Vec<EventId>,
}

impl Pen<'_> {
    fn graph(&self) -> &RuntimeGraph {
        self.write.graph()
    }

    /// Makes an id for the next event, from which the ids of its records are derived.
    fn next_id(&self) -> EventId {
        self.conversation.engine.clock.event_id()
    }

    fn push(&mut self, event_id: EventId, body: impl Into<Body>) -> Result<u64, Error> {
        let conversation = self.conversation;
        self.events.push(event_id);
        self.write.push(Draft {
            event_id,
            occurred_at: conversation.occurred_at,
            actor: conversation.actor,
            causation: conversation.causation,
            correlation: conversation.correlation,
            body: body.into(),
        })
    }

    async fn finish(mut self) -> Result<Vec<EventId>, Error> {
        let random = || BatchId::from_source(self.next_id().as_bytes(), "batch");
        let batch = self.conversation.command.unwrap_or_else(random);
        self.write.commit(batch).await?;
        Ok(self.events)
    }

    fn know_branch(&self, branch: BranchId) -> Result<(), Error> {
        match self.graph().branch(&branch) {
            Some(_) => Ok(()),
            None => Err(Error::UnknownBranch { branch }),
        }
    }

    fn know_participant(&self, participant: ParticipantId) -> Result<(), Error> {
        match self.graph().participant(&participant) {
            Some(_) => Ok(()),
            None => Err(Error::UnknownParticipant { participant }),
        }
    }

    fn main_branch(&self) -> Result<BranchId, Error> {
        let conversation = self.graph().conversation();
        conversation.map(|c| c.main_branch).ok_or(Error::Bug {
            what: "no main branch",
        })
    }

    /// The default of the article (4.9): state of a run is its participant's own and isolated.
    fn private(
        &self,
        run: Option<RunId>,
        participant: ParticipantId,
        branch: BranchId,
    ) -> Ownership {
        let kind = run
            .and_then(|run| self.graph().run(&run))
            .map(|run| run.runtime_kind);
        Ownership {
            owner_participant: Some(participant),
            owner_run: run,
            branch,
            visibility: Visibility::ParticipantPrivate,
            shared_with: Vec::new(),
            isolation: Isolation::Isolated,
            runtime_kind: kind.unwrap_or(RuntimeKind::Chat),
        }
    }
}

/// Refuses a command that names a record which does not exist.
pub(crate) fn know(known: bool, what: &'static str, id: &impl ToString) -> Result<(), Error> {
    if known {
        return Ok(());
    }
    let id = id.to_string();
    Err(Error::UnknownRecord { what, id })
}

/// Gives the id of one of a command's events.
fn event(events: &[EventId], index: usize) -> Result<EventId, Error> {
    events.get(index).copied().ok_or(Error::Bug {
        what: "a command without its event",
    })
}
