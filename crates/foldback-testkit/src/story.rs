//! Conversations as tests write them: line by line, like a screenplay.
//!
//! ```
//! use foldback_testkit::Story;
//!
//! let mut s = Story::new("flight change");
//! let mia = s.human("Mia");
//! let agent = s.model("agent", "gpt-4o");
//! s.says(mia, "Please move my flight to Friday.");
//! let run = s.run(agent);
//! let call = s.calls(run, "get_reservation", r#"{"id":"4WQ150"}"#);
//! let artifact = s.result(call, r#"{"id":"4WQ150","day":"Thu"}"#);
//! s.derives(artifact, "4WQ150 flies on Thursday");
//! s.finishes(run, "stop");
//! assert_eq!(s.position(), 9);
//! ```
//!
//! **Invariants:**
//! - Versions are dense from 1, and each event is one second later than the one before.
//! - Every id is derived from the story's name and the position of its event, so the same calls
//!   give the same events.
//! - What the methods write is well formed: it folds without a finding. Oddities are written on
//!   purpose, with [`Story::tell`] or a method that says so.
//!
//! What stands on the stage stays until it changes: the branch ([`Story::on`]). All else that is
//! out of the ordinary (privacy, visibility, freshness…) is set for the *next* event alone:
//! `s.private().privacy(Privacy::Personal).says(mia, "…")`.

mod archive;
mod cast;
mod manner;
mod memory;
mod recorded;
mod talk;
mod text;
mod tools;

pub use cast::ChildRun;
pub use recorded::Recorded;
pub use text::tokens_of;

use foldback_event::{
    AccountId, Actor, ArtifactId, Body, BranchId, CallId, ConversationId, Envelope, Event, EventId,
    Label, Micros, ParticipantId, RunId, RuntimeKind, ShortDigest,
};
use manner::Manner;
use std::collections::BTreeMap;

/// 2026-01-01T00:00:00Z.
const BEGIN: Micros = Micros(1_767_225_600_000_000);

/// What a story keeps of a run, so that later lines need not repeat it.
#[derive(Debug, Clone, Copy)]
struct RunPlace {
    participant: ParticipantId,
    branch: BranchId,
    kind: RuntimeKind,
}

/// What a story keeps of a call.
#[derive(Debug, Clone)]
struct CallPlace {
    event: EventId,
    run: RunId,
    tool: Label,
    question: ShortDigest,
    branch: BranchId,
    open: Option<ArtifactId>,
}

/// What a story keeps of an artifact.
#[derive(Debug, Clone)]
struct ArtifactPlace {
    run: Option<RunId>,
    tool: Label,
    question: Option<ShortDigest>,
    branch: BranchId,
}

/// Writes the events of one conversation.
#[derive(Debug, Clone)]
pub struct Story {
    conversation: ConversationId,
    account: AccountId,
    main: BranchId,
    stage: BranchId,
    now: Micros,
    next: Manner,
    events: Vec<Event>,
    texts: text::Texts,
    runs: BTreeMap<RunId, RunPlace>,
    calls: BTreeMap<CallId, CallPlace>,
    artifacts: BTreeMap<ArtifactId, ArtifactPlace>,
    children: BTreeMap<ParticipantId, BranchId>,
}

impl Story {
    /// Opens a conversation; another name gives other ids.
    pub fn new(name: &str) -> Self {
        let conversation = ConversationId::from_source(&[0; 16], name);
        let main = BranchId::derive(event_id(conversation, 1), 0);
        let mut story = Self {
            conversation,
            account: AccountId::from_source(&[0; 16], "testkit"),
            main,
            stage: main,
            now: BEGIN,
            next: Manner::default(),
            events: Vec::new(),
            texts: text::Texts::default(),
            runs: BTreeMap::new(),
            calls: BTreeMap::new(),
            artifacts: BTreeMap::new(),
            children: BTreeMap::new(),
        };
        let title = story.payload(name);
        let body = foldback_event::kind::ConversationOpened {
            account: story.account,
            branch: main,
            title: Some(title),
            source: None,
        };
        story.tell(body);
        story
    }

    /// Gives the events so far.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Gives the conversation.
    pub const fn conversation(&self) -> ConversationId {
        self.conversation
    }

    /// Gives the account whose key would seal the payloads.
    pub const fn account(&self) -> AccountId {
        self.account
    }

    /// Gives the main branch.
    pub const fn main(&self) -> BranchId {
        self.main
    }

    /// Gives the branch on which the next lines stand.
    pub const fn stage(&self) -> BranchId {
        self.stage
    }

    /// Gives the position of the last event.
    pub fn position(&self) -> u64 {
        self.events.len() as u64
    }

    /// Gives the time of the last event.
    pub const fn now(&self) -> Micros {
        self.now
    }

    /// Lets time pass before the next event.
    pub const fn wait(&mut self, seconds: i64) -> &mut Self {
        self.now = self.now.plus_seconds(seconds);
        self
    }

    /// Goes on on another branch.
    pub const fn on(&mut self, branch: BranchId) -> &mut Self {
        self.stage = branch;
        self
    }

    /// Writes any body as the next event: for what has no line of its own, and for oddities.
    pub fn tell(&mut self, body: impl Into<Body>) -> EventId {
        self.tell_as(Actor::ENGINE, None, body)
    }

    /// Writes an event again as it stands at a position, under the next version: a duplicate.
    pub fn repeats(&mut self, position: u64) {
        let at = position
            .checked_sub(1)
            .and_then(|p| usize::try_from(p).ok());
        if let Some(body) = at
            .and_then(|at| self.events.get(at))
            .map(|e| e.body.clone())
        {
            self.tell(body);
        }
    }

    fn tell_as(
        &mut self,
        actor: Actor,
        causation: Option<EventId>,
        body: impl Into<Body>,
    ) -> EventId {
        self.now = self.now.plus_seconds(1);
        self.next = Manner::default();
        let event_id = self.next_event();
        let envelope = Envelope {
            conversation: self.conversation,
            version: self.position() + 1,
            event_id,
            recorded_at: self.now,
            occurred_at: None,
            actor,
            causation,
            correlation: None,
        };
        self.events.push(Event {
            envelope,
            body: body.into(),
        });
        event_id
    }

    /// Gives the id that the next event will have.
    fn next_event(&self) -> EventId {
        event_id(self.conversation, self.position() + 1)
    }
}

fn event_id(conversation: ConversationId, version: u64) -> EventId {
    EventId::from_source(conversation.as_bytes(), &version.to_string())
}
