//! Folding the tool family.

use super::common;
use crate::RuntimeGraph;
use crate::finding::FindingCode;
use crate::node::{Artifact, Call, Origin};
use foldback_event::RecordKind;
use foldback_event::kind::{RecordRef, ToolArtifactCaptured, ToolCallRequested, ToolCallResolved};

impl RuntimeGraph {
    pub(super) fn request_call(&mut self, origin: Origin, body: &ToolCallRequested) {
        let record = RecordRef {
            kind: RecordKind::Call,
            id: *body.call.as_bytes(),
        };
        if self.calls.contains_key(&body.call) {
            self.find(FindingCode::DuplicateRecord, Some(record));
            return;
        }
        if let Some(run) = &body.run {
            match self.runs.get_mut(run) {
                Some(run) => run.calls.push(body.call),
                None => self.find(FindingCode::UnknownRun, Some(record)),
            }
        }
        let node = Call {
            id: body.call,
            common: common(origin, &body.ownership, body.privacy),
            run: body.run,
            message: body.message,
            tool: body.tool.clone(),
            source_id: body.source_id.clone(),
            arguments: body.arguments,
            artifacts: Vec::new(),
        };
        self.calls.insert(body.call, node);
        self.place(record, &body.ownership);
    }

    pub(super) fn capture_artifact(&mut self, origin: Origin, body: &ToolArtifactCaptured) {
        let record = RecordRef {
            kind: RecordKind::Artifact,
            id: *body.artifact.as_bytes(),
        };
        if self.artifacts.contains_key(&body.artifact) {
            self.find(FindingCode::DuplicateRecord, Some(record));
            return;
        }
        match body.call.as_ref().map(|call| self.calls.get(call)) {
            Some(Some(call)) => {
                // What was open may be followed by another outcome; what was final may not.
                let last = call.artifacts.last().and_then(|id| self.artifacts.get(id));
                if last.is_some_and(|artifact| !artifact.status.is_open()) {
                    self.find(FindingCode::SecondOutcome, Some(record));
                }
                if let Some(call) = body.call.as_ref().and_then(|id| self.calls.get_mut(id)) {
                    call.artifacts.push(body.artifact);
                }
            }
            Some(None) | None => self.find(FindingCode::OrphanResult, Some(record)),
        }
        let node = Artifact {
            id: body.artifact,
            common: common(origin, &body.ownership, body.privacy),
            call: body.call,
            run: body.run,
            tool: body.tool.clone(),
            status: body.status,
            retryable: body.retryable,
            result: body.result,
            structured: body.structured,
            question: body.question,
            memories: Vec::new(),
            resolved_by: None,
        };
        self.artifacts.insert(body.artifact, node);
        self.place(record, &body.ownership);
    }

    pub(super) fn resolve_call(&mut self, body: &ToolCallResolved) {
        let record = RecordRef {
            kind: RecordKind::Artifact,
            id: *body.artifact.as_bytes(),
        };
        if !self.artifacts.contains_key(&body.artifact) || !self.calls.contains_key(&body.call) {
            self.find(FindingCode::UnknownRecord, Some(record));
        }
        match self.artifacts.get_mut(&body.open) {
            Some(open) => open.resolved_by = Some(body.artifact),
            None => self.find(FindingCode::UnknownRecord, Some(record)),
        }
    }
}
