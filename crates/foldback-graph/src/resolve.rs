//! From what a person types to a node: unique prefixes of ids.

use crate::RuntimeGraph;
use foldback_event::{
    ArtifactId, AssemblyId, BranchId, CallId, CheckpointId, Digest, FactId, JobId, MemoryId,
    MessageId, ParticipantId, RunId,
};

/// Something that an id names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resolved {
    /// A branch.
    Branch(BranchId),
    /// A participant.
    Participant(ParticipantId),
    /// A message.
    Message(MessageId),
    /// A run; of a child too.
    Run(RunId),
    /// A call.
    Call(CallId),
    /// An artifact.
    Artifact(ArtifactId),
    /// A memory.
    Memory(MemoryId),
    /// A user fact.
    Fact(FactId),
    /// A checkpoint.
    Checkpoint(CheckpointId),
    /// A job's firing.
    Job(JobId),
    /// An assembly.
    Assembly(AssemblyId),
    /// A policy.
    Policy(Digest),
}

/// Says why a text names nothing, or too much.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// Nothing starts with it.
    #[error("no record's id starts with `{prefix}`")]
    Unknown {
        /// What was given.
        prefix: String,
    },
    /// Several do.
    #[error("`{prefix}` is ambiguous: {}", candidates.join(", "))]
    Ambiguous {
        /// What was given.
        prefix: String,
        /// Some of the ids that start with it.
        candidates: Vec<String>,
    },
}

/// How many candidates an ambiguity names at the most.
const CANDIDATES_MAX: usize = 6;

impl RuntimeGraph {
    /// Finds what a text names: a whole id, or a prefix of one with or without its tag.
    ///
    /// A provider's own call id is found too.
    ///
    /// # Errors
    ///
    /// [`ResolveError`] if nothing or several things start with it.
    pub fn resolve(&self, prefix: &str) -> Result<Resolved, ResolveError> {
        let mut found: Vec<(String, Resolved)> = Vec::new();
        let mut look = |text: String, what: Resolved| {
            let bare = text.split_once('_').map_or(text.as_str(), |(_, hex)| hex);
            if !prefix.is_empty() && (text.starts_with(prefix) || bare.starts_with(prefix)) {
                found.push((text, what));
            }
        };
        self.branches
            .keys()
            .for_each(|id| look(id.to_string(), Resolved::Branch(*id)));
        self.participants
            .keys()
            .for_each(|id| look(id.to_string(), Resolved::Participant(*id)));
        self.messages
            .keys()
            .for_each(|id| look(id.to_string(), Resolved::Message(*id)));
        self.runs
            .keys()
            .for_each(|id| look(id.to_string(), Resolved::Run(*id)));
        self.children
            .keys()
            .for_each(|id| look(id.to_string(), Resolved::Run(*id)));
        self.artifacts
            .keys()
            .for_each(|id| look(id.to_string(), Resolved::Artifact(*id)));
        self.memories
            .keys()
            .for_each(|id| look(id.to_string(), Resolved::Memory(*id)));
        self.facts
            .keys()
            .for_each(|id| look(id.to_string(), Resolved::Fact(*id)));
        self.checkpoints
            .keys()
            .for_each(|id| look(id.to_string(), Resolved::Checkpoint(*id)));
        self.jobs
            .keys()
            .for_each(|id| look(id.to_string(), Resolved::Job(*id)));
        self.assemblies
            .keys()
            .for_each(|id| look(id.to_string(), Resolved::Assembly(*id)));
        for digest in self.policies.keys() {
            look(format!("policy_{digest}"), Resolved::Policy(*digest));
        }
        for call in self.calls.values() {
            look(call.id.to_string(), Resolved::Call(call.id));
        }
        for call in self.calls.values() {
            if call
                .source_id
                .as_ref()
                .is_some_and(|source| source.as_str() == prefix)
            {
                found.push((call.id.to_string(), Resolved::Call(call.id)));
            }
        }
        found.sort();
        found.dedup();
        match found.as_slice() {
            [] => Err(ResolveError::Unknown {
                prefix: prefix.chars().take(80).collect(),
            }),
            [(_, one)] => Ok(*one),
            many => Err(ResolveError::Ambiguous {
                prefix: prefix.chars().take(80).collect(),
                candidates: many
                    .iter()
                    .take(CANDIDATES_MAX)
                    .map(|(id, _)| id.clone())
                    .collect(),
            }),
        }
    }
}
