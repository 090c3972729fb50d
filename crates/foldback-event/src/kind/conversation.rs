//! Bodies of the conversation family.

use crate::number::numbered;
use crate::{
    AccountId, BranchId, FactId, Label, MessageId, MessageRole, Ownership, ParticipantId,
    PayloadRef, Privacy, RunId, Visibility,
};
use serde::{Deserialize, Serialize};

/// A conversation begins, with its main branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationOpened {
    /// The account whose key seals its payloads.
    pub account: AccountId,
    /// The branch that it starts with.
    pub branch: BranchId,
    /// A title for people.
    pub title: Option<PayloadRef>,
    /// The format it was imported from, if it was.
    pub source: Option<Label>,
}

/// A branch leaves its parent; it inherits what stood there and copies nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchForked {
    /// The new branch.
    pub branch: BranchId,
    /// The branch it leaves; none for a branch that inherits nothing, such as a child's.
    pub parent: Option<BranchId>,
    /// The last position of the parent that it inherits.
    pub at: u64,
    /// A title for people.
    pub title: Option<PayloadRef>,
}

numbered! {
    /// What a participant is.
    ParticipantKind as "participant kind" {
        /// A person.
        Human = 1, "human";
        /// A model in some configuration.
        Model = 2, "model";
        /// An agent that works for another participant.
        Child = 3, "child";
        /// The moderator of a discussion.
        Moderator = 4, "moderator";
    }
}

/// A participant joins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParticipantJoined {
    /// The participant.
    pub participant: ParticipantId,
    /// What it is.
    pub kind: ParticipantKind,
    /// Its name, as people know it.
    pub name: Option<PayloadRef>,
    /// The model it runs on, where known.
    pub model: Option<Label>,
}

/// Somebody said something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageRecorded {
    /// The message.
    pub message: MessageId,
    /// Who speaks.
    pub role: MessageRole,
    /// The participant that speaks.
    pub participant: Option<ParticipantId>,
    /// Whose it is and who may see it.
    pub ownership: Ownership,
    /// How sensitive it is.
    pub privacy: Privacy,
    /// The run that generated it, if one did.
    pub run: Option<RunId>,
    /// What was said.
    pub content: PayloadRef,
    /// Whether it may still change; a draft is its owner's alone.
    pub draft: bool,
}

/// A draft message became final.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageFinalized {
    /// The message.
    pub message: MessageId,
    /// Its final content, where it differs from the draft.
    pub content: Option<PayloadRef>,
    /// Who may see it from now on.
    pub visibility: Visibility,
}

/// One skill in a skill state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillEntry {
    /// Its name.
    pub name: Label,
    /// Whether its full text is loaded.
    pub loaded: bool,
    /// Its text.
    pub text: Option<PayloadRef>,
}

/// The loaded skills, the profile, the direct tools or the integrations changed.
///
/// It states the whole new state, not the difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillStateChanged {
    /// Whose state it is and who may see it.
    pub ownership: Ownership,
    /// How sensitive it is.
    pub privacy: Privacy,
    /// The active profile.
    pub profile: Option<Label>,
    /// The skills.
    pub skills: Vec<SkillEntry>,
    /// Tools that can be called without loading a skill.
    pub direct_tools: Vec<Label>,
    /// Connected integrations.
    pub integrations: Vec<Label>,
}

/// A durable fact about a user was remembered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserFactRemembered {
    /// The fact.
    pub fact: FactId,
    /// Whose it is and who may see it.
    pub ownership: Ownership,
    /// How sensitive it is.
    pub privacy: Privacy,
    /// What is remembered.
    pub content: PayloadRef,
    /// The message it was learnt from.
    pub source: Option<MessageId>,
    /// Older facts that it replaces.
    pub supersedes: Vec<FactId>,
}
