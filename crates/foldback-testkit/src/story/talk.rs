//! What is said and remembered of people: messages, skills, user facts.

use super::Story;
use foldback_event::kind::{
    MessageFinalized, MessageRecorded, SkillEntry, SkillStateChanged, UserFactRemembered,
};
use foldback_event::{
    Actor, FactId, Label, MessageId, MessageRole, ParticipantId, PayloadRef, RunId, Visibility,
};

impl Story {
    /// A person says something on the stage.
    pub fn says(&mut self, who: ParticipantId, text: &str) -> MessageId {
        let content = self.payload(text);
        self.message(MessageRole::User, Some(who), None, content, false)
    }

    /// A run's model says something, on the run's branch.
    pub fn answers(&mut self, run: RunId, text: &str) -> MessageId {
        let content = self.payload(text);
        let who = self.runs.get(&run).map(|place| place.participant);
        self.message(MessageRole::Assistant, who, Some(run), content, false)
    }

    /// The operator instructs.
    pub fn system(&mut self, text: &str) -> MessageId {
        let content = self.payload(text);
        self.message(MessageRole::System, None, None, content, false)
    }

    /// The moderator directs.
    pub fn directs(&mut self, who: ParticipantId, text: &str) -> MessageId {
        let content = self.payload(text);
        self.message(MessageRole::Moderator, Some(who), None, content, false)
    }

    /// A summary stands for all that came before on the stage.
    pub fn summary(&mut self, text: &str) -> MessageId {
        let content = self.payload(text);
        self.message(MessageRole::Summary, None, None, content, false)
    }

    /// The client puts a notice in the user's place.
    pub fn notice(&mut self, text: &str) -> MessageId {
        let content = self.payload(text);
        self.message(MessageRole::Notice, None, None, content, false)
    }

    /// A person drafts a message: its own alone until it is final.
    pub fn drafts(&mut self, who: ParticipantId, text: &str) -> MessageId {
        let content = self.payload(text);
        self.private();
        self.message(MessageRole::User, Some(who), None, content, true)
    }

    /// Records a message of any role and content.
    pub fn message(
        &mut self,
        role: MessageRole,
        who: Option<ParticipantId>,
        run: Option<RunId>,
        content: PayloadRef,
        draft: bool,
    ) -> MessageId {
        let message = MessageId::derive(self.next_event(), 0);
        let branch = run
            .and_then(|run| self.runs.get(&run))
            .map_or(self.stage, |place| place.branch);
        let body = MessageRecorded {
            message,
            role,
            participant: who,
            ownership: self.ownership(who, run, branch),
            privacy: self.next_privacy(),
            run,
            content,
            draft,
        };
        let actor = who.map_or(Actor::RUNTIME, Actor::participant);
        self.tell_as(actor, None, body);
        message
    }

    /// A draft becomes final, with another text where one is given.
    pub fn finalizes(&mut self, message: MessageId, text: Option<&str>, seen_by: Visibility) {
        let content = text.map(|text| self.payload(text));
        self.tell(MessageFinalized {
            message,
            content,
            visibility: seen_by,
        });
    }

    /// The skills change: name, whether loaded, text.
    pub fn skills(&mut self, skills: &[(&str, bool, &str)]) {
        let skills = skills
            .iter()
            .map(|(name, loaded, text)| SkillEntry {
                name: Label::or_stand_in(name),
                loaded: *loaded,
                text: Some(self.payload(text)),
            })
            .collect();
        let body = SkillStateChanged {
            ownership: self.ownership(None, None, self.stage),
            privacy: self.next_privacy(),
            profile: None,
            skills,
            direct_tools: Vec::new(),
            integrations: Vec::new(),
        };
        self.tell_as(Actor::RUNTIME, None, body);
    }

    /// A fact about a user is remembered, for the whole conversation unless said otherwise.
    pub fn fact(&mut self, about: ParticipantId, text: &str) -> FactId {
        self.fact_instead(about, text, &[])
    }

    /// A fact about a user is remembered and replaces older ones.
    pub fn fact_instead(&mut self, about: ParticipantId, text: &str, old: &[FactId]) -> FactId {
        let fact = FactId::derive(self.next_event(), 0);
        let content = self.payload(text);
        let mut ownership = self.ownership(Some(about), None, self.stage);
        if ownership.visibility == Visibility::Branch {
            ownership.visibility = Visibility::Conversation;
        }
        self.tell(UserFactRemembered {
            fact,
            ownership,
            privacy: self
                .next
                .privacy
                .unwrap_or(foldback_event::Privacy::Personal),
            content,
            source: None,
            supersedes: old.to_vec(),
        });
        fact
    }
}
