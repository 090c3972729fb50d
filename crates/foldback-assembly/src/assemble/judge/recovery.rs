//! Step 6: which calls recovery needs: open ones, and failures that were not made good since.

use super::super::frame::Frame;
use crate::policy::FailedCalls;
use foldback_event::{ArtifactId, CallId, CallStatus, Label, ParticipantId, RecordKind};
use foldback_graph::node::{Artifact, Call};
use std::collections::{BTreeMap, BTreeSet};

/// What became of tools, as the branch of the request knows it.
///
/// A success on another branch, or of another participant, makes nothing good here.
pub(super) struct Recovery<'a> {
    /// Where each participant last succeeded with each tool.
    successes: BTreeMap<(Option<ParticipantId>, &'a Label), u64>,
    /// The requester's calls whose failure is the newest outcome of their tool.
    latest: BTreeSet<CallId>,
}

impl<'a> Recovery<'a> {
    pub(super) fn new(frame: &Frame<'a>, candidates: &BTreeSet<u64>) -> Self {
        let mut out = Self {
            successes: BTreeMap::new(),
            latest: BTreeSet::new(),
        };
        let mut seen = BTreeSet::new();
        for position in candidates.iter().rev() {
            let record = frame.graph.record_at(*position);
            let artifact = record
                .filter(|record| record.kind == RecordKind::Artifact)
                .and_then(|record| frame.graph.artifact(&ArtifactId::from_bytes(record.id)))
                .filter(|node| !node.status.is_open() && frame.on_lineage(&node.common));
            let Some(artifact) = artifact else { continue };
            let owner = artifact.common.ownership.owner_participant;
            if artifact.status == CallStatus::Succeeded {
                let key = (owner, &artifact.tool);
                out.successes.entry(key).or_insert(*position);
            }
            // A failure before a summary was summarized like all else.
            let counts =
                owner == Some(frame.request.participant) && *position >= frame.marks.summary;
            if counts && seen.insert(&artifact.tool) && artifact.status == CallStatus::Failed {
                out.latest.extend(artifact.call);
            }
        }
        out
    }

    /// Tells whether recovery needs a call with these outcomes, the oldest first.
    pub(super) fn needs(&self, frame: &Frame<'_>, call: &Call, outcomes: &[&Artifact]) -> bool {
        let rules = &frame.policy.recovery;
        match outcomes.last() {
            None => rules.open,
            Some(last) if last.status.is_open() => rules.open,
            Some(last) => {
                let retry = last.status == CallStatus::Failed && last.retryable;
                match rules.failed {
                    FailedCalls::None => false,
                    FailedCalls::Retryable => retry && !self.made_good(last),
                    FailedCalls::Latest => {
                        retry && !self.made_good(last) || self.latest.contains(&call.id)
                    }
                }
            }
        }
    }

    fn made_good(&self, failure: &Artifact) -> bool {
        let key = (failure.common.ownership.owner_participant, &failure.tool);
        let success = self.successes.get(&key);
        success.is_some_and(|position| *position > failure.common.origin.position)
    }
}
