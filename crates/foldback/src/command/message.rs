//! Messages, user facts and skills.

use super::{Begun, Conversation, event, know};
use crate::engine::payload_of;
use crate::error::Error;
use foldback_event::kind::{
    MessageFinalized, MessageRecorded, SkillEntry, SkillStateChanged, UserFactRemembered,
};
use foldback_event::{
    BranchId, FactId, Isolation, Kind, Label, MediaType, MessageId, MessageRole, Ownership,
    ParticipantId, Privacy, RunId, RuntimeKind, Visibility,
};
use foldback_trace::Content;

/// A message to be recorded.
#[derive(Debug, Clone)]
pub struct NewMessage {
    /// Who speaks.
    pub role: MessageRole,
    /// The participant that speaks.
    pub participant: Option<ParticipantId>,
    /// The branch; the main one if none is given.
    pub branch: Option<BranchId>,
    /// The run that generated it.
    pub run: Option<RunId>,
    /// What is said.
    pub content: Content,
    /// Who may see it once it is final.
    pub visibility: Visibility,
    /// How sensitive it is.
    pub privacy: Privacy,
    /// Whether it may still change; a draft is its owner's alone.
    pub draft: bool,
}

impl NewMessage {
    /// Makes a person's message.
    pub fn user(participant: ParticipantId, text: &str) -> Self {
        Self {
            role: MessageRole::User,
            participant: Some(participant),
            branch: None,
            run: None,
            content: Content::Text(text.to_owned()),
            visibility: Visibility::Branch,
            privacy: Privacy::Internal,
            draft: false,
        }
    }

    /// Makes the operator's instructions.
    pub fn system(text: &str) -> Self {
        Self {
            role: MessageRole::System,
            participant: None,
            branch: None,
            run: None,
            content: Content::Text(text.to_owned()),
            visibility: Visibility::Conversation,
            privacy: Privacy::Internal,
            draft: false,
        }
    }

    /// Makes a model's answer in a run.
    pub fn assistant(participant: ParticipantId, run: RunId, text: &str) -> Self {
        Self {
            role: MessageRole::Assistant,
            run: Some(run),
            ..Self::user(participant, text)
        }
    }

    /// Puts it on a branch.
    #[must_use]
    pub fn on(mut self, branch: BranchId) -> Self {
        self.branch = Some(branch);
        self
    }
}

/// A fact about the user that is to be remembered.
#[derive(Debug, Clone)]
pub struct NewFact {
    /// Who learnt it.
    pub participant: Option<ParticipantId>,
    /// What is remembered.
    pub text: String,
    /// The message it was learnt from.
    pub source: Option<MessageId>,
    /// Older facts that it replaces.
    pub supersedes: Vec<FactId>,
    /// How sensitive it is.
    pub privacy: Privacy,
}

/// One skill of a state of skills.
#[derive(Debug, Clone)]
pub struct NewSkill {
    /// Its name.
    pub name: Label,
    /// Its full text, if it is loaded.
    pub text: Option<String>,
}

/// A whole state of skills.
#[derive(Debug, Clone)]
pub struct NewSkills {
    /// Whose state it is.
    pub participant: ParticipantId,
    /// The active profile.
    pub profile: Option<Label>,
    /// The skills.
    pub skills: Vec<NewSkill>,
    /// Tools that can be called without loading a skill.
    pub direct_tools: Vec<Label>,
    /// Connected integrations.
    pub integrations: Vec<Label>,
}

impl Conversation<'_> {
    /// Records a message.
    ///
    /// # Errors
    ///
    /// [`Error`] if its branch, participant or run does not exist, or it cannot be written.
    pub async fn record_message(&self, new: NewMessage) -> Result<MessageId, Error> {
        let events = match self.begin(&[Kind::MessageRecorded]).await? {
            Begun::Before(before) => before.ids,
            Begun::Now(mut pen) => {
                let branch = match new.branch {
                    Some(branch) => branch,
                    None => pen.main_branch()?,
                };
                pen.know_branch(branch)?;
                if let Some(participant) = new.participant {
                    pen.know_participant(participant)?;
                }
                let run = new.run.map(|run| pen.open_run(run)).transpose()?;
                let (bytes, media_type) = payload_of(&new.content);
                let content = self.engine.seal_one(pen.account, bytes, media_type).await?;
                let id = pen.next_id();
                let message = MessageId::derive(id, 0);
                let visibility = if new.draft {
                    Visibility::ParticipantPrivate
                } else {
                    new.visibility
                };
                let ownership = Ownership {
                    owner_participant: new.participant,
                    owner_run: new.run,
                    branch,
                    visibility,
                    shared_with: Vec::new(),
                    isolation: Isolation::Isolated,
                    runtime_kind: run.unwrap_or(RuntimeKind::Chat),
                };
                let body = MessageRecorded {
                    message,
                    role: new.role,
                    participant: new.participant,
                    ownership,
                    privacy: new.privacy,
                    run: new.run,
                    content,
                    draft: new.draft,
                };
                pen.push(id, body)?;
                pen.finish().await?
            }
        };
        Ok(MessageId::derive(event(&events, 0)?, 0))
    }

    /// Makes a draft final, with another content if it changed.
    ///
    /// # Errors
    ///
    /// [`Error`] if the message does not exist or is final already, or it cannot be written.
    pub async fn finalize_message(
        &self,
        message: MessageId,
        content: Option<Content>,
        visibility: Visibility,
    ) -> Result<(), Error> {
        if let Begun::Now(mut pen) = self.begin(&[Kind::MessageFinalized]).await? {
            match pen.graph().message(&message) {
                None => {
                    let id = message.to_string();
                    return Err(Error::UnknownRecord {
                        what: "message",
                        id,
                    });
                }
                Some(node) if !node.draft => {
                    return Err(Error::MessageFinal {
                        message: message.to_string(),
                    });
                }
                Some(_) => {}
            }
            let content = match content {
                Some(content) => {
                    let (bytes, media_type) = payload_of(&content);
                    Some(self.engine.seal_one(pen.account, bytes, media_type).await?)
                }
                None => None,
            };
            let id = pen.next_id();
            pen.push(
                id,
                MessageFinalized {
                    message,
                    content,
                    visibility,
                },
            )?;
            pen.finish().await?;
        }
        Ok(())
    }

    /// Remembers a fact about the user: personalisation, kept a world apart from tool memory.
    ///
    /// # Errors
    ///
    /// [`Error`] if what it names does not exist, or it cannot be written.
    pub async fn remember_fact(&self, new: NewFact) -> Result<FactId, Error> {
        let events = match self.begin(&[Kind::UserFactRemembered]).await? {
            Begun::Before(before) => before.ids,
            Begun::Now(mut pen) => {
                if let Some(participant) = new.participant {
                    pen.know_participant(participant)?;
                }
                if let Some(source) = new.source {
                    let known = pen.graph().message(&source).is_some();
                    know(known, "message", &source)?;
                }
                for old in &new.supersedes {
                    if pen.graph().fact(old).is_none() {
                        let id = old.to_string();
                        return Err(Error::UnknownRecord {
                            what: "user fact",
                            id,
                        });
                    }
                }
                let branch = pen.main_branch()?;
                let bytes = new.text.into_bytes();
                let content = self
                    .engine
                    .seal_one(pen.account, bytes, MediaType::Text)
                    .await?;
                let id = pen.next_id();
                let ownership = Ownership {
                    owner_participant: new.participant,
                    owner_run: None,
                    branch,
                    visibility: Visibility::Conversation,
                    shared_with: Vec::new(),
                    isolation: Isolation::Isolated,
                    runtime_kind: RuntimeKind::Chat,
                };
                let body = UserFactRemembered {
                    fact: FactId::derive(id, 0),
                    ownership,
                    privacy: new.privacy,
                    content,
                    source: new.source,
                    supersedes: new.supersedes,
                };
                pen.push(id, body)?;
                pen.finish().await?
            }
        };
        Ok(FactId::derive(event(&events, 0)?, 0))
    }

    /// States the whole set of loaded skills, profile, direct tools and integrations.
    ///
    /// # Errors
    ///
    /// [`Error`] if the participant does not exist, or it cannot be written.
    pub async fn change_skills(&self, new: NewSkills) -> Result<(), Error> {
        if let Begun::Now(mut pen) = self.begin(&[Kind::SkillStateChanged]).await? {
            pen.know_participant(new.participant)?;
            let branch = pen.main_branch()?;
            let texts = new.skills.iter().filter_map(|skill| skill.text.clone());
            let payloads = texts
                .map(|text| (text.into_bytes(), MediaType::Markdown))
                .collect();
            let mut refs = self.engine.seal(pen.account, payloads).await?.into_iter();
            let entry = |skill: NewSkill| {
                let loaded = skill.text.is_some();
                let text = skill.text.and_then(|_| refs.next());
                SkillEntry {
                    name: skill.name,
                    loaded,
                    text,
                }
            };
            let skills = new.skills.into_iter().map(entry).collect();
            let id = pen.next_id();
            let body = SkillStateChanged {
                ownership: pen.private(None, new.participant, branch),
                privacy: Privacy::Internal,
                profile: new.profile,
                skills,
                direct_tools: new.direct_tools,
                integrations: new.integrations,
            };
            pen.push(id, body)?;
            pen.finish().await?;
        }
        Ok(())
    }
}
