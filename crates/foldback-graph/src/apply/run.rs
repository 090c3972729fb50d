//! Folding the run family.

use crate::RuntimeGraph;
use crate::finding::FindingCode;
use crate::node::{Job, Origin, Run, RunEnd};
use foldback_event::RunId;
use foldback_event::kind::{JobTriggered, ModelRunFailed, ModelRunFinished, ModelRunStarted};

impl RuntimeGraph {
    pub(super) fn start_run(&mut self, origin: Origin, body: &ModelRunStarted) {
        if self.runs.contains_key(&body.run) {
            self.find(FindingCode::DuplicateRecord, None);
            return;
        }
        self.know_participant(Some(&body.participant));
        self.know_branch(&body.branch);
        let node = Run {
            id: body.run,
            origin,
            participant: body.participant,
            branch: body.branch,
            runtime_kind: body.runtime_kind,
            provider: body.provider.clone(),
            model: body.model.clone(),
            assembly: body.assembly,
            retries: body.retries,
            messages: Vec::new(),
            calls: Vec::new(),
            end: None,
        };
        self.runs.insert(body.run, node);
        if let Some(branch) = self.branches.get_mut(&body.branch) {
            branch.runs.push((origin.position, body.participant));
        }
    }

    pub(super) fn finish_run(&mut self, origin: Origin, body: &ModelRunFinished) {
        let end = RunEnd {
            position: origin.position,
            at: origin.at,
            finish_reason: body.finish_reason.clone(),
            usage: body.usage,
            model: body.model.clone(),
            failed: false,
            error: None,
            retryable: false,
        };
        self.end_run(&body.run, end);
    }

    pub(super) fn fail_run(&mut self, origin: Origin, body: &ModelRunFailed) {
        let end = RunEnd {
            position: origin.position,
            at: origin.at,
            finish_reason: None,
            usage: None,
            model: None,
            failed: true,
            error: body.error,
            retryable: body.retryable,
        };
        self.end_run(&body.run, end);
    }

    /// A run that is ended again keeps the newer end: a source that grew may know better.
    fn end_run(&mut self, run: &RunId, end: RunEnd) {
        match self.runs.get_mut(run) {
            Some(run) => run.end = Some(end),
            None => self.find(FindingCode::UnknownRun, None),
        }
    }

    pub(super) fn trigger_job(&mut self, origin: Origin, body: &JobTriggered) {
        if self.jobs.contains_key(&body.job) {
            self.find(FindingCode::DuplicateRecord, None);
            return;
        }
        let node = Job {
            id: body.job,
            origin,
            branch: body.branch,
            participant: body.participant,
            name: body.name.clone(),
            instruction: body.instruction,
        };
        self.jobs.insert(body.job, node);
    }
}
