//! The runtime graph: typed nodes in ordered containers.

use crate::Finding;
use crate::node::{
    Artifact, AssemblyNode, Branch, Call, Change, Checkpoint, Child, Common, Conversation, Job,
    Memory, Message, Participant, PolicyNode, Run, SkillState, UserFact,
};
use foldback_event::kind::RecordRef;
use foldback_event::{
    ArtifactId, AssemblyId, BranchId, CallId, CheckpointId, Digest, Event, FactId, JobId, Label,
    MemoryId, MessageId, ParticipantId, RecordKind, RunId, ShortDigest,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// One conversation at one position.
///
/// It is a cache of its events: the same events always give an equal graph.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuntimeGraph {
    pub(crate) position: u64,
    pub(crate) conversation: Option<Conversation>,
    pub(crate) branches: BTreeMap<BranchId, Branch>,
    pub(crate) participants: BTreeMap<ParticipantId, Participant>,
    pub(crate) messages: BTreeMap<MessageId, Message>,
    pub(crate) runs: BTreeMap<RunId, Run>,
    pub(crate) calls: BTreeMap<CallId, Call>,
    pub(crate) artifacts: BTreeMap<ArtifactId, Artifact>,
    pub(crate) memories: BTreeMap<MemoryId, Memory>,
    pub(crate) facts: BTreeMap<FactId, UserFact>,
    pub(crate) skills: BTreeMap<u64, SkillState>,
    pub(crate) checkpoints: BTreeMap<CheckpointId, Checkpoint>,
    pub(crate) children: BTreeMap<RunId, Child>,
    pub(crate) jobs: BTreeMap<JobId, Job>,
    pub(crate) policies: BTreeMap<Digest, PolicyNode>,
    pub(crate) active_policy: Option<Digest>,
    pub(crate) assemblies: BTreeMap<AssemblyId, AssemblyNode>,
    /// The newest assembly of each participant on each branch.
    pub(crate) newest_assemblies: BTreeMap<(ParticipantId, BranchId), AssemblyId>,
    /// Which record an event created.
    pub(crate) records: BTreeMap<u64, RecordRef>,
    /// Records that are seen beyond their branch: conversation-wide, shared or promoted.
    pub(crate) wide: BTreeSet<u64>,
    /// The memories that answer a question, per branch, oldest first.
    pub(crate) questions: BTreeMap<(ShortDigest, BranchId), Vec<MemoryId>>,
    /// Memories about one subject, oldest first.
    pub(crate) subjects: BTreeMap<ShortDigest, Vec<MemoryId>>,
    /// The changes of one subject, in ascending order of position.
    pub(crate) changes: BTreeMap<ShortDigest, Vec<Change>>,
    /// Calls that recovery needs: open ones, and failed ones that may be tried again.
    pub(crate) unresolved: BTreeSet<u64>,
    /// Of these, the failed ones of each tool on each branch, so that a success finds them at once.
    pub(crate) failures: BTreeMap<(BranchId, Label), BTreeSet<u64>>,
    pub(crate) erased: BTreeSet<Digest>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) refuses_assembly: bool,
}

macro_rules! nodes {
    ($($(#[$doc:meta])* $one:ident, $all:ident, $field:ident, $id:ty => $node:ty;)*) => {$(
        $(#[$doc])*
        pub fn $one(&self, id: &$id) -> Option<&$node> {
            self.$field.get(id)
        }

        /// Walks all of them in ascending order of id.
        pub fn $all(&self) -> impl Iterator<Item = &$node> {
            self.$field.values()
        }
    )*};
}

impl RuntimeGraph {
    /// Folds events from nothing.
    pub fn fold<'e>(events: impl IntoIterator<Item = &'e Event>) -> Self {
        let mut graph = Self::default();
        for event in events {
            graph.apply(event);
        }
        graph
    }

    /// Gives the position of the last event that was folded.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Gives the conversation, once it is opened.
    pub fn conversation(&self) -> Option<&Conversation> {
        self.conversation.as_ref()
    }

    nodes! {
        /// Finds a branch.
        branch, branches, branches, BranchId => Branch;
        /// Finds a participant.
        participant, participants, participants, ParticipantId => Participant;
        /// Finds a message.
        message, messages, messages, MessageId => Message;
        /// Finds a run.
        run, runs, runs, RunId => Run;
        /// Finds a call.
        call, calls, calls, CallId => Call;
        /// Finds an artifact.
        artifact, artifacts, artifacts, ArtifactId => Artifact;
        /// Finds a memory.
        memory, memories, memories, MemoryId => Memory;
        /// Finds a user fact.
        fact, facts, facts, FactId => UserFact;
        /// Finds the skill state that the event at a position set.
        skill_state, skill_states, skills, u64 => SkillState;
        /// Finds a checkpoint.
        checkpoint, checkpoints, checkpoints, CheckpointId => Checkpoint;
        /// Finds a child by its run.
        child, children, children, RunId => Child;
        /// Finds a job's firing.
        job, jobs, jobs, JobId => Job;
        /// Finds a policy by its digest.
        policy, policies, policies, Digest => PolicyNode;
        /// Finds a recorded assembly.
        assembly, assemblies, assemblies, AssemblyId => AssemblyNode;
    }

    /// Finds the newest recorded assembly of a participant on a branch.
    pub fn newest_assembly(
        &self,
        participant: &ParticipantId,
        branch: &BranchId,
    ) -> Option<&AssemblyId> {
        self.newest_assemblies.get(&(*participant, *branch))
    }

    /// Gives the digest of the policy in force, if one was activated.
    pub fn active_policy(&self) -> Option<&Digest> {
        self.active_policy.as_ref()
    }

    /// Tells which record the event at a position created.
    pub fn record_at(&self, position: u64) -> Option<&RecordRef> {
        self.records.get(&position)
    }

    /// Walks all records that can be selected, by position.
    pub fn records(&self) -> impl Iterator<Item = (u64, &RecordRef)> {
        self.records
            .iter()
            .map(|(position, record)| (*position, record))
    }

    /// Counts all records that can be selected.
    pub fn record_count(&self) -> u64 {
        self.records.len() as u64
    }

    /// Walks the positions of records that are seen beyond their branch, the newest first.
    pub fn wide_newest_first(&self) -> impl Iterator<Item = u64> + '_ {
        self.wide.iter().rev().copied()
    }

    /// Walks the positions of states of skills, the newest first.
    pub fn skills_newest_first(&self) -> impl Iterator<Item = u64> + '_ {
        self.skills.keys().rev().copied()
    }

    /// Walks the positions of calls that recovery needs, the newest first.
    pub fn unresolved_newest_first(&self) -> impl Iterator<Item = u64> + '_ {
        self.unresolved.iter().rev().copied()
    }

    /// Tells whether recovery needs the call at a position.
    pub fn is_unresolved(&self, position: u64) -> bool {
        self.unresolved.contains(&position)
    }

    /// Walks the memories on a branch that answer the same question, oldest first.
    pub fn answers(
        &self,
        question: &ShortDigest,
        branch: &BranchId,
    ) -> impl DoubleEndedIterator<Item = &Memory> {
        let ids = self.questions.get(&(*question, *branch));
        let ids = ids.map_or(&[][..], Vec::as_slice);
        ids.iter().filter_map(|id| self.memories.get(id))
    }

    /// Walks the memories about a subject, oldest first.
    pub fn about(&self, subject: &ShortDigest) -> impl Iterator<Item = &Memory> {
        let ids = self.subjects.get(subject).map_or(&[][..], Vec::as_slice);
        ids.iter().filter_map(|id| self.memories.get(id))
    }

    /// Walks the changes of a subject, oldest first.
    pub fn changes(&self, subject: &ShortDigest) -> impl DoubleEndedIterator<Item = &Change> {
        self.changes
            .get(subject)
            .map_or(&[][..], Vec::as_slice)
            .iter()
    }

    /// Tells whether the bytes of a payload were erased.
    pub fn is_erased(&self, address: &Digest) -> bool {
        self.erased.contains(address) || self.conversation.as_ref().is_some_and(|c| c.erased)
    }

    /// Gives what was odd, in the order of events.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Tells whether an event that must be understood is not: then no context may be assembled.
    pub fn refuses_assembly(&self) -> bool {
        self.refuses_assembly
    }

    /// Gives what every record carries, for a record of any kind.
    pub fn common(&self, record: &RecordRef) -> Option<&Common> {
        let id = record.id;
        match record.kind {
            RecordKind::Message => self
                .messages
                .get(&MessageId::from_bytes(id))
                .map(|n| &n.common),
            RecordKind::Call => self.calls.get(&CallId::from_bytes(id)).map(|n| &n.common),
            RecordKind::Artifact => self
                .artifacts
                .get(&ArtifactId::from_bytes(id))
                .map(|n| &n.common),
            RecordKind::Memory => self
                .memories
                .get(&MemoryId::from_bytes(id))
                .map(|n| &n.common),
            RecordKind::Fact => self.facts.get(&FactId::from_bytes(id)).map(|n| &n.common),
            RecordKind::Checkpoint => self
                .checkpoints
                .get(&CheckpointId::from_bytes(id))
                .map(|n| &n.common),
            RecordKind::Skill => self.skills.get(&skill_position(&id)).map(|n| &n.common),
            RecordKind::Child => self
                .children
                .get(&RunId::from_bytes(id))
                .and_then(|n| n.end.as_ref())
                .map(|end| &end.common),
        }
    }

    pub(crate) fn common_mut(&mut self, record: &RecordRef) -> Option<&mut Common> {
        let id = record.id;
        match record.kind {
            RecordKind::Message => self
                .messages
                .get_mut(&MessageId::from_bytes(id))
                .map(|n| &mut n.common),
            RecordKind::Call => self
                .calls
                .get_mut(&CallId::from_bytes(id))
                .map(|n| &mut n.common),
            RecordKind::Artifact => self
                .artifacts
                .get_mut(&ArtifactId::from_bytes(id))
                .map(|n| &mut n.common),
            RecordKind::Memory => self
                .memories
                .get_mut(&MemoryId::from_bytes(id))
                .map(|n| &mut n.common),
            RecordKind::Fact => self
                .facts
                .get_mut(&FactId::from_bytes(id))
                .map(|n| &mut n.common),
            RecordKind::Checkpoint => self
                .checkpoints
                .get_mut(&CheckpointId::from_bytes(id))
                .map(|n| &mut n.common),
            RecordKind::Skill => self
                .skills
                .get_mut(&skill_position(&id))
                .map(|n| &mut n.common),
            RecordKind::Child => self
                .children
                .get_mut(&RunId::from_bytes(id))
                .and_then(|n| n.end.as_mut())
                .map(|end| &mut end.common),
        }
    }
}

/// A skill state has no id of its own: its reference holds its position.
pub(crate) fn skill_ref(position: u64) -> RecordRef {
    let mut id = [0; 16];
    for (to, from) in id.iter_mut().skip(8).zip(position.to_be_bytes()) {
        *to = from;
    }
    RecordRef {
        kind: RecordKind::Skill,
        id,
    }
}

fn skill_position(id: &[u8; 16]) -> u64 {
    id.iter()
        .skip(8)
        .fold(0, |sum, byte| (sum << 8) | u64::from(*byte))
}
