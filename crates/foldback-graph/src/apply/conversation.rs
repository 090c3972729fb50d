//! Folding the conversation family.

use super::common;
use crate::RuntimeGraph;
use crate::finding::FindingCode;
use crate::graph::skill_ref;
use crate::node::{Branch, Conversation, Message, Origin, Participant, SkillState, UserFact};
use foldback_event::kind::{
    BranchForked, ConversationOpened, MessageFinalized, MessageRecorded, ParticipantJoined,
    RecordRef, SkillStateChanged, UserFactRemembered,
};
use foldback_event::{BranchId, MediaType, MessageRole, PayloadRef, RecordKind, Visibility};

impl RuntimeGraph {
    pub(super) fn open_conversation(&mut self, origin: Origin, body: &ConversationOpened) {
        if self.conversation.is_some() {
            self.find(FindingCode::NotOpened, None);
            return;
        }
        self.conversation = Some(Conversation {
            origin,
            account: body.account,
            main_branch: body.branch,
            title: body.title,
            source: body.source.clone(),
            erased: false,
        });
        self.add_branch(body.branch, origin, None, 0, None);
    }

    pub(super) fn fork_branch(&mut self, origin: Origin, body: &BranchForked) {
        if let Some(parent) = &body.parent {
            self.know_branch(parent);
            if body.at >= origin.position {
                self.find(FindingCode::ForkFromFuture, None);
            }
        }
        self.add_branch(body.branch, origin, body.parent, body.at, body.title);
    }

    fn add_branch(
        &mut self,
        id: BranchId,
        origin: Origin,
        parent: Option<BranchId>,
        at: u64,
        title: Option<PayloadRef>,
    ) {
        if self.branches.contains_key(&id) {
            self.find(FindingCode::DuplicateRecord, None);
            return;
        }
        let branch = Branch {
            id,
            origin,
            parent,
            at,
            title,
            records: Vec::new(),
            replay: Vec::new(),
            summaries: Vec::new(),
            instructions: Vec::new(),
            prompts: Vec::new(),
            runs: Vec::new(),
        };
        self.branches.insert(id, branch);
    }

    pub(super) fn join(&mut self, origin: Origin, body: &ParticipantJoined) {
        if self.participants.contains_key(&body.participant) {
            self.find(FindingCode::DuplicateRecord, None);
            return;
        }
        let node = Participant {
            id: body.participant,
            origin,
            kind: body.kind,
            name: body.name,
            model: body.model.clone(),
        };
        self.participants.insert(body.participant, node);
    }

    pub(super) fn record_message(&mut self, origin: Origin, body: &MessageRecorded) {
        let record = RecordRef {
            kind: RecordKind::Message,
            id: *body.message.as_bytes(),
        };
        if self.messages.contains_key(&body.message) {
            self.find(FindingCode::DuplicateRecord, Some(record));
            return;
        }
        if let Some(run) = &body.run {
            match self.runs.get_mut(run) {
                Some(run) => run.messages.push(body.message),
                None => self.find(FindingCode::UnknownRun, Some(record)),
            }
        }
        let node = Message {
            id: body.message,
            common: common(origin, &body.ownership, body.privacy),
            role: body.role,
            participant: body.participant,
            run: body.run,
            content: body.content,
            draft: body.draft,
        };
        self.messages.insert(body.message, node);
        let thinking = body.content.media_type == MediaType::Thinking;
        let tokens = if thinking {
            0
        } else {
            u64::from(body.content.tokens)
        };
        self.place(record, &body.ownership, tokens);
        if let Some(branch) = self.branches.get_mut(&body.ownership.branch) {
            match body.role {
                MessageRole::Summary => branch.summaries.push(origin.position),
                MessageRole::System => branch.instructions.push(origin.position),
                MessageRole::User | MessageRole::Moderator => branch.prompts.push(origin.position),
                MessageRole::Assistant | MessageRole::Notice => {}
            }
        }
    }

    pub(super) fn finalize_message(&mut self, body: &MessageFinalized) {
        let record = RecordRef {
            kind: RecordKind::Message,
            id: *body.message.as_bytes(),
        };
        let Some(message) = self.messages.get_mut(&body.message) else {
            self.find(FindingCode::UnknownRecord, Some(record));
            return;
        };
        message.draft = false;
        if let Some(content) = body.content {
            message.content = content;
        }
        message.common.ownership.visibility = body.visibility;
        if body.visibility == Visibility::Conversation {
            self.wide.insert(message.common.origin.position);
        }
    }

    pub(super) fn change_skills(&mut self, origin: Origin, body: &SkillStateChanged) {
        let node = SkillState {
            common: common(origin, &body.ownership, body.privacy),
            state: body.clone(),
        };
        self.skills.insert(origin.position, node);
        let tokens = body
            .skills
            .iter()
            .filter_map(|s| s.text)
            .map(|t| u64::from(t.tokens))
            .sum();
        self.place(skill_ref(origin.position), &body.ownership, tokens);
    }

    pub(super) fn remember_fact(&mut self, origin: Origin, body: &UserFactRemembered) {
        let record = RecordRef {
            kind: RecordKind::Fact,
            id: *body.fact.as_bytes(),
        };
        if self.facts.contains_key(&body.fact) {
            self.find(FindingCode::DuplicateRecord, Some(record));
            return;
        }
        for old in &body.supersedes {
            match self.facts.get_mut(old) {
                Some(old) => old.superseded_by = Some(body.fact),
                None => self.find(FindingCode::UnknownRecord, Some(record)),
            }
        }
        let node = UserFact {
            id: body.fact,
            common: common(origin, &body.ownership, body.privacy),
            content: body.content,
            source: body.source,
            superseded_by: None,
        };
        self.facts.insert(body.fact, node);
        self.place(record, &body.ownership, u64::from(body.content.tokens));
    }
}
