//! Folding: one event at a time, total and pure.
//!
//! No event is refused and nothing panics; what does not fit becomes a finding and, where there
//! is a record to keep, the record is kept all the same.

mod boundary;
mod conversation;
mod memory;
mod run;
mod tool;

pub use tool::call_tokens;

use crate::RuntimeGraph;
use crate::finding::{Finding, FindingCode};
use crate::node::{AssemblyNode, Common, Origin, PolicyNode};
use foldback_event::kind::{ContextAssembled, RecordRef, RetentionClass};
use foldback_event::{
    Body, BranchId, Envelope, Event, Ownership, Presentation, Privacy, RecordKind, Visibility,
};

impl RuntimeGraph {
    /// Folds one event into the graph.
    pub fn apply(&mut self, event: &Event) {
        let envelope = &event.envelope;
        let gap = envelope.version != self.position.saturating_add(1);
        self.position = envelope.version;
        if gap {
            self.find(FindingCode::VersionGap, None);
        }
        let origin = Origin {
            position: envelope.version,
            event: envelope.event_id,
            at: envelope.time(),
        };
        if self.conversation.as_ref().is_some_and(|c| c.erased) {
            self.find(FindingCode::AfterErasure, None);
        }
        if self.conversation.is_none() && !matches!(event.body, Body::ConversationOpened(_)) {
            self.find(FindingCode::NotOpened, None);
        }
        self.apply_body(envelope, origin, &event.body);
    }

    fn apply_body(&mut self, envelope: &Envelope, origin: Origin, body: &Body) {
        match body {
            Body::ConversationOpened(b) => self.open_conversation(origin, b),
            Body::BranchForked(b) => self.fork_branch(origin, b),
            Body::ParticipantJoined(b) => self.join(origin, b),
            Body::MessageRecorded(b) => self.record_message(origin, b),
            Body::MessageFinalized(b) => self.finalize_message(b),
            Body::SkillStateChanged(b) => self.change_skills(origin, b),
            Body::UserFactRemembered(b) => self.remember_fact(origin, b),
            Body::ModelRunStarted(b) => self.start_run(origin, b),
            Body::ModelRunFinished(b) => self.finish_run(origin, b),
            Body::ModelRunFailed(b) => self.fail_run(origin, b),
            Body::JobTriggered(b) => self.trigger_job(origin, b),
            Body::ToolCallRequested(b) => self.request_call(origin, b),
            Body::ToolArtifactCaptured(b) => self.capture_artifact(origin, b),
            Body::ToolCallResolved(b) => self.resolve_call(b),
            Body::ToolMemoryDerived(b) => self.derive_memory(origin, b),
            Body::MemoriesConflicted(b) => self.conflict(b),
            Body::MemoriesSuperseded(b) => self.supersede(b),
            Body::MemoryRevalidated(b) => self.revalidate(origin, b),
            Body::ProvenanceRepairTried(b) => self.try_repair(b),
            Body::SubjectChanged(b) => self.change_subjects(origin, b),
            Body::RecordPromoted(b) => self.promote(b),
            Body::ChildRunStarted(b) => self.start_child(origin, b),
            Body::ChildRunFinished(b) => self.finish_child(origin, b),
            Body::CheckpointTaken(b) => self.take_checkpoint(origin, b),
            Body::CheckpointRestored(b) => self.restore_checkpoint(b),
            Body::PolicyRegistered(b) => {
                self.policies.entry(b.digest).or_insert_with(|| PolicyNode {
                    origin,
                    digest: b.digest,
                    schema: b.schema,
                    name: b.name.clone(),
                    document: b.document,
                });
            }
            Body::PolicyActivated(b) => self.active_policy = Some(b.digest),
            Body::ContextAssembled(b) => self.record_assembly(origin, b),
            Body::RetentionChanged(b) => match self.common_mut(&b.record) {
                Some(common) => common.retention = b.class,
                None => self.find(FindingCode::UnknownRecord, Some(b.record)),
            },
            Body::PayloadErased(b) => {
                self.erased.insert(b.address);
            }
            Body::ConversationErased(_) => {
                if let Some(conversation) = &mut self.conversation {
                    conversation.erased = true;
                }
            }
            Body::AccountErased(b) => {
                if let Some(conversation) = &mut self.conversation
                    && conversation.account == b.account
                {
                    conversation.erased = true;
                }
            }
            Body::SourceImported(_) | Body::SourceRecordKept(_) => {}
            Body::FindingRecorded(b) => {
                let code = FindingCode::Source(b.code.to_string());
                let position = envelope.version;
                self.findings.push(Finding {
                    position,
                    code,
                    record: None,
                    place: Some(b.place),
                });
            }
            Body::Unknown(unknown) => {
                if unknown.must_understand {
                    self.refuses_assembly = true;
                    self.find(FindingCode::UnknownKindMustUnderstand, None);
                } else {
                    self.find(FindingCode::UnknownKind, None);
                }
            }
        }
    }

    fn record_assembly(&mut self, origin: Origin, body: &ContextAssembled) {
        if self.assemblies.contains_key(&body.assembly) {
            self.find(FindingCode::DuplicateRecord, None);
            return;
        }
        let pick = |kind: RecordKind, presentations: &[Presentation]| {
            let fits = body
                .selection
                .iter()
                .filter(|s| s.kind == kind && presentations.contains(&s.presentation));
            fits.map(|s| s.record).collect()
        };
        let node = AssemblyNode {
            id: body.assembly,
            origin,
            position: body.request.position,
            participant: body.request.participant,
            branch: body.request.branch,
            run: body.request.run,
            policy: body.policy,
            memories: pick(
                RecordKind::Memory,
                &[Presentation::Compact, Presentation::Brief],
            ),
            raw_artifacts: pick(RecordKind::Artifact, &[Presentation::Raw]),
            included: body.selection.len() as u64,
            omitted: body
                .omissions
                .iter()
                .fold(0, |sum, o| sum.saturating_add(o.count)),
            tokens: body.tokens.assembled,
            digest: body.digest,
        };
        let key = (node.participant, node.branch);
        self.newest_assemblies.insert(key, body.assembly);
        self.assemblies.insert(body.assembly, node);
    }

    /// Notes something odd at the position that is being folded.
    pub(crate) fn find(&mut self, code: FindingCode, record: Option<RecordRef>) {
        self.findings.push(Finding {
            position: self.position,
            code,
            record,
            place: None,
        });
    }

    /// Puts a new record in its place: on its branch, and among the widely seen if it is.
    ///
    /// `replay_tokens` is what the record takes when the whole history is sent.
    pub(crate) fn place(&mut self, record: RecordRef, ownership: &Ownership, replay_tokens: u64) {
        self.records.insert(self.position, record);
        if ownership.visibility == Visibility::Conversation || !ownership.shared_with.is_empty() {
            self.wide.insert(self.position);
        }
        match self.branches.get_mut(&ownership.branch) {
            Some(branch) => {
                branch.records.push(self.position);
                let before = branch.replay.last().copied().unwrap_or(0);
                branch.replay.push(before.saturating_add(replay_tokens));
            }
            None => self.find(FindingCode::UnknownBranch, Some(record)),
        }
        self.know_participant(ownership.owner_participant.as_ref());
    }

    pub(crate) fn know_participant(&mut self, id: Option<&foldback_event::ParticipantId>) {
        if id.is_some_and(|id| !self.participants.contains_key(id)) {
            self.find(FindingCode::UnknownParticipant, None);
        }
    }

    pub(crate) fn know_branch(&mut self, id: &BranchId) {
        if !self.branches.contains_key(id) {
            self.find(FindingCode::UnknownBranch, None);
        }
    }
}

/// Makes what every record carries.
fn common(origin: Origin, ownership: &Ownership, privacy: Privacy) -> Common {
    Common {
        origin,
        ownership: ownership.clone(),
        privacy,
        promotion: None,
        retention: RetentionClass::Conversation,
    }
}
