//! Folding the tool family.

use super::common;
use crate::RuntimeGraph;
use crate::finding::FindingCode;
use crate::node::{Artifact, Call, Origin};
use foldback_event::kind::{RecordRef, ToolArtifactCaptured, ToolCallRequested, ToolCallResolved};
use foldback_event::{CallStatus, Label, PayloadRef, RecordKind};

/// What a call takes in a request: its arguments, and a token for four bytes of its tool's name.
pub fn call_tokens(tool: &Label, arguments: &PayloadRef) -> u64 {
    let name = (tool.as_str().len() as u64).div_ceil(4);
    name.saturating_add(u64::from(arguments.tokens))
}

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
        self.place(
            record,
            &body.ownership,
            call_tokens(&body.tool, &body.arguments),
        );
        self.unresolved.insert(origin.position);
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
        let tokens = body.result.map_or(0, |result| u64::from(result.tokens));
        self.place(record, &body.ownership, tokens);
        self.settle(body);
    }

    /// Keeps the calls that recovery needs: an outcome settles its own call, and a success also
    /// settles earlier failures of the same tool on the same branch.
    fn settle(&mut self, body: &ToolArtifactCaptured) {
        if let Some(call) = body.call.as_ref().and_then(|id| self.calls.get(id)) {
            let position = call.common.origin.position;
            let place = (call.common.ownership.branch, call.tool.clone());
            let failed = body.status == CallStatus::Failed && body.retryable;
            if failed && self.unresolved.contains(&position) {
                self.failures.entry(place).or_default().insert(position);
            } else if let Some(failures) = self.failures.get_mut(&place) {
                failures.remove(&position);
            }
            if !failed && !body.status.is_open() {
                self.unresolved.remove(&position);
            }
        }
        if body.status == CallStatus::Succeeded {
            let place = (body.ownership.branch, body.tool.clone());
            for position in self.failures.remove(&place).unwrap_or_default() {
                self.unresolved.remove(&position);
            }
        }
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
