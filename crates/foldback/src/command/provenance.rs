//! Repair of provenance: the artifact that holds what a memory quotes is looked for, and never made up.

use super::{Begun, Conversation, Pen, know};
use crate::error::Error;
use foldback_event::kind::{ProvenanceRepairTried, RepairOutcome};
use foldback_event::{ArtifactId, CallStatus, Kind, MemoryId};
use foldback_graph::node::{Artifact, Memory};
use serde_json::{Value, json};

/// How many artifacts are looked at for one memory in all, its own among them.
pub const REPAIR_TRIES_MAX: u32 = 8;

/// How a memory's provenance stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provenance {
    /// Its artifacts hold all that it quotes, or it quotes nothing.
    Intact,
    /// Another artifact of the same tool does, and the memory leads there now.
    Repaired(ArtifactId),
    /// None that was looked at does: the memory counts as stale.
    Broken {
        /// How many more artifacts may be looked at, now or when new ones have been captured.
        tries_left: u32,
    },
    /// The quotes or the artifacts were erased, so that nobody can tell.
    Erased,
}

/// Writes the quotes of a memory as its detail; none if there are none.
pub(super) fn detail(quotes: &[String]) -> Option<Vec<u8>> {
    let any = !quotes.is_empty();
    any.then(|| json!({ "quotes": quotes }).to_string().into_bytes())
}

impl Conversation<'_> {
    /// Checks that the artifacts of a memory hold the texts that it quotes, and looks for the artifact
    /// that does where they do not (the article, 4.3 and 9.2).
    ///
    /// Looked at are successes of the same tool that the memory's owner captured on its lineage and that
    /// are no more sensitive than the memory: those that answer the same question first, and of them the
    /// newest. Each look is recorded, and [`REPAIR_TRIES_MAX`] bounds them over the memory's life.
    ///
    /// # Errors
    ///
    /// [`Error`] if the memory does not exist, a payload cannot be opened, or it cannot be written.
    pub async fn repair(&self, memory: MemoryId) -> Result<Provenance, Error> {
        match self.begin(&[Kind::ProvenanceRepairTried]).await? {
            Begun::Before(_) => {
                let graph = self.engine.graph(self.id, None).await?;
                let node = graph.memory(&memory);
                node.map_or(Ok(Provenance::Intact), |node| Ok(standing(node)))
            }
            Begun::Now(mut pen) => {
                know(pen.graph().memory(&memory).is_some(), "memory", &memory)?;
                let Some(quotes) = pen.quotes(memory)? else {
                    return Ok(Provenance::Erased);
                };
                let provenance = pen.repair(memory, &quotes)?;
                pen.finish().await?;
                Ok(provenance)
            }
        }
    }
}

/// Tells how a memory stands after a repair.
fn standing(memory: &Memory) -> Provenance {
    match memory.artifacts.first() {
        Some(artifact) if !memory.broken => Provenance::Repaired(*artifact),
        _ => Provenance::Broken {
            tries_left: REPAIR_TRIES_MAX.saturating_sub(memory.repair_tries),
        },
    }
}

impl Pen<'_> {
    /// Reads the quotes of a memory; none if they were erased.
    fn quotes(&self, memory: MemoryId) -> Result<Option<Vec<String>>, Error> {
        let detail = self.graph().memory(&memory).and_then(|node| node.detail);
        let Some(detail) = detail else {
            return Ok(Some(Vec::new()));
        };
        if self.graph().is_erased(&detail.address) {
            return Ok(None);
        }
        let bytes = self.conversation.engine.payload(self.account, &detail)?;
        let value: Value = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        let quotes = value.get("quotes").and_then(Value::as_array);
        let quotes = quotes.into_iter().flatten().filter_map(Value::as_str);
        Ok(Some(quotes.map(ToOwned::to_owned).collect()))
    }

    /// Checks a memory that the graph holds, and tries to repair its provenance if need be.
    pub(super) fn repair(
        &mut self,
        memory: MemoryId,
        quotes: &[String],
    ) -> Result<Provenance, Error> {
        let Some(node) = self.graph().memory(&memory).cloned() else {
            return Ok(Provenance::Intact);
        };
        let own: Vec<Artifact> = node
            .artifacts
            .iter()
            .filter_map(|id| self.graph().artifact(id).cloned())
            .collect();
        let mut missing: Vec<&String> = quotes.iter().collect();
        let mut erased = false;
        for artifact in &own {
            match self.bytes(artifact)? {
                Some(bytes) => missing.retain(|quote| !holds(&bytes, quote)),
                None => erased = true,
            }
        }
        let left = REPAIR_TRIES_MAX.saturating_sub(node.repair_tries);
        let broken = Provenance::Broken { tries_left: left };
        match own.first() {
            _ if missing.is_empty() && !node.broken => return Ok(Provenance::Intact),
            _ if erased => return Ok(Provenance::Erased),
            Some(artifact) if left > 0 => {
                let found = missing.is_empty();
                self.write_try(memory, artifact.id, found)?;
                if found {
                    return Ok(Provenance::Repaired(artifact.id));
                }
            }
            _ => return Ok(broken),
        }
        let others = usize::try_from(left - 1).unwrap_or(usize::MAX);
        let mut tried = 1;
        for artifact in self.others(&node).into_iter().take(others) {
            let bytes = self.bytes(&artifact)?.unwrap_or_default();
            let found = quotes.iter().all(|quote| holds(&bytes, quote));
            self.write_try(memory, artifact.id, found)?;
            if found {
                return Ok(Provenance::Repaired(artifact.id));
            }
            tried += 1;
        }
        Ok(Provenance::Broken {
            tries_left: left - tried,
        })
    }

    /// Lists the artifacts that a memory may have been made of, the likeliest first.
    fn others(&self, memory: &Memory) -> Vec<Artifact> {
        let graph = self.graph();
        let ownership = &memory.common.ownership;
        let Some(lineage) = graph.lineage(&ownership.branch) else {
            return Vec::new();
        };
        let fits = |artifact: &&Artifact| {
            let common = &artifact.common;
            artifact.tool == memory.tool
                && artifact.status == CallStatus::Succeeded
                && !memory.artifacts.contains(&artifact.id)
                && common.privacy <= memory.common.privacy
                && common.ownership.owner_participant == ownership.owner_participant
                && common.ownership.visibility == ownership.visibility
                && lineage.holds(&common.ownership.branch, common.origin.position)
        };
        let mut out: Vec<Artifact> = graph.artifacts().filter(fits).cloned().collect();
        out.sort_by_key(|artifact| {
            let other = artifact.question.is_none() || artifact.question != memory.question;
            (other, std::cmp::Reverse(artifact.common.origin.position))
        });
        out
    }

    /// Opens what an artifact captured; none if it is erased.
    fn bytes(&self, artifact: &Artifact) -> Result<Option<Vec<u8>>, Error> {
        let Some(result) = &artifact.result else {
            return Ok(Some(Vec::new()));
        };
        if self.graph().is_erased(&result.address) {
            return Ok(None);
        }
        let engine = self.conversation.engine;
        engine.payload(self.account, result).map(Some)
    }

    fn write_try(
        &mut self,
        memory: MemoryId,
        artifact: ArtifactId,
        found: bool,
    ) -> Result<(), Error> {
        let outcome = if found {
            RepairOutcome::Repaired
        } else {
            RepairOutcome::Unresolved
        };
        let body = ProvenanceRepairTried {
            memory,
            artifact,
            outcome,
        };
        let id = self.next_id();
        self.push(id, body)?;
        Ok(())
    }
}

/// Tells whether bytes hold a text; all hold an empty one.
fn holds(bytes: &[u8], text: &str) -> bool {
    text.is_empty()
        || bytes
            .windows(text.len())
            .any(|part| part == text.as_bytes())
}
