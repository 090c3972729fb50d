//! Folding the boundary family: promotion, children, checkpoints.

use super::common;
use crate::RuntimeGraph;
use crate::finding::FindingCode;
use crate::node::{Checkpoint, Child, ChildEnd, Origin, Promotion};
use foldback_event::kind::{
    CheckpointRestored, CheckpointTaken, ChildRunFinished, ChildRunStarted, RecordPromoted,
    RecordRef,
};
use foldback_event::{Isolation, Ownership, RecordKind, RuntimeKind, Visibility};

impl RuntimeGraph {
    pub(super) fn promote(&mut self, body: &RecordPromoted) {
        let position = self.position;
        let Some(common) = self.common_mut(&body.record) else {
            self.find(FindingCode::UnknownRecord, Some(body.record));
            return;
        };
        common.ownership.visibility = body.to;
        for participant in &body.shared_with {
            if !common.ownership.shared_with.contains(participant) {
                common.ownership.shared_with.push(*participant);
            }
        }
        common.ownership.shared_with.sort_unstable();
        common.promotion = Some(Promotion {
            position,
            ground: body.ground.clone(),
            branch: body.branch,
        });
        let created = common.origin.position;
        self.wide.insert(created);
    }

    pub(super) fn start_child(&mut self, origin: Origin, body: &ChildRunStarted) {
        if self.children.contains_key(&body.run) {
            // The first start stays, and with it the end that may have come since.
            self.find(FindingCode::DuplicateRecord, None);
            return;
        }
        self.know_participant(Some(&body.participant));
        self.know_branch(&body.branch);
        let node = Child {
            run: body.run,
            origin,
            participant: body.participant,
            branch: body.branch,
            parent: body.parent,
            parent_branch: body.parent_branch,
            parent_call: body.parent_call,
            end: None,
        };
        self.children.insert(body.run, node);
    }

    /// The report belongs to the parent: it stands on the parent's branch and is its own.
    pub(super) fn finish_child(&mut self, origin: Origin, body: &ChildRunFinished) {
        let record = RecordRef {
            kind: RecordKind::Child,
            id: *body.run.as_bytes(),
        };
        let Some(child) = self.children.get_mut(&body.run) else {
            self.find(FindingCode::UnknownRun, Some(record));
            return;
        };
        if child.end.is_some() {
            self.find(FindingCode::SecondOutcome, Some(record));
            return;
        }
        let ownership = Ownership {
            owner_participant: child.parent,
            owner_run: Some(body.run),
            branch: child.parent_branch.unwrap_or(child.branch),
            visibility: Visibility::ParticipantPrivate,
            shared_with: Vec::new(),
            isolation: Isolation::Isolated,
            runtime_kind: RuntimeKind::ParentResume,
        };
        child.end = Some(ChildEnd {
            common: common(origin, &ownership, body.privacy),
            status: body.status,
            report: body.report,
        });
        self.place(record, &ownership, 0);
    }

    pub(super) fn take_checkpoint(&mut self, origin: Origin, body: &CheckpointTaken) {
        let record = RecordRef {
            kind: RecordKind::Checkpoint,
            id: *body.checkpoint.as_bytes(),
        };
        if self.checkpoints.contains_key(&body.checkpoint) {
            self.find(FindingCode::DuplicateRecord, Some(record));
            return;
        }
        let node = Checkpoint {
            id: body.checkpoint,
            common: common(origin, &body.ownership, foldback_event::Privacy::Internal),
            run: body.run,
            assembly: body.assembly,
            open_calls: body.open_calls.clone(),
            state: body.state,
            restored: Vec::new(),
        };
        self.checkpoints.insert(body.checkpoint, node);
        self.place(record, &body.ownership, 0);
    }

    pub(super) fn restore_checkpoint(&mut self, body: &CheckpointRestored) {
        let position = self.position;
        if let Some(checkpoint) = self.checkpoints.get_mut(&body.checkpoint) {
            checkpoint.restored.push(position);
        } else {
            let id = *body.checkpoint.as_bytes();
            let record = RecordRef {
                kind: RecordKind::Checkpoint,
                id,
            };
            self.find(FindingCode::UnknownRecord, Some(record));
        }
    }
}
