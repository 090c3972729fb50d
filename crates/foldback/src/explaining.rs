//! Recorded assemblies, folded and decided again to be explained.

use crate::Engine;
use crate::command::Recorded;
use crate::error::Error;
use crate::policies::PolicyDocument;
use foldback_assembly::{
    Assembly, Explanation, Moved, assemble, explain_assembly, explain_record, moved, reassemble,
};
use foldback_event::kind::{AssemblyRequest, ContextAssembled, PolicyRegistered};
use foldback_event::{AssemblyId, Body, ConversationId, Event, Label};
use foldback_graph::RuntimeGraph;
use foldback_store::EventLog;

impl Engine {
    /// Folds a conversation to the position of a recorded assembly and decides again.
    ///
    /// # Errors
    ///
    /// [`Error`] if there is no such assembly, or something it needs cannot be read.
    pub async fn recorded(
        &self,
        conversation: ConversationId,
        id: &AssemblyId,
    ) -> Result<Recorded, Error> {
        let missing = || Error::UnknownRecord {
            what: "assembly",
            id: id.to_string(),
        };
        let node = {
            let loaded = self.load(conversation).await?;
            loaded.graph.assembly(id).cloned().ok_or_else(missing)?
        };
        let mut recorded: Option<ContextAssembled> = None;
        let mut registered: Option<PolicyRegistered> = None;
        let mut graph = RuntimeGraph::default();
        self.scan(conversation, 1, |event, _| {
            if event.envelope.version <= node.position {
                graph.apply(&event);
            }
            match event.body {
                Body::ContextAssembled(body) if body.assembly == *id => recorded = Some(body),
                Body::PolicyRegistered(body) if body.digest == node.policy => {
                    registered = Some(body);
                }
                _ => {}
            }
            Ok(())
        })
        .await?;
        let recorded = recorded.ok_or_else(missing)?;
        let registered = registered.ok_or(Error::Bug {
            what: "an assembly without a policy",
        })?;
        let policy =
            self.open_policy(&registered.digest, &registered.document, &registered.name)?;
        let previous = match &recorded.request.extends {
            Some(previous) => self.recorded_body(conversation, previous).await?,
            None => None,
        };
        let assembly = reassemble(&graph, policy.policy(), &recorded, previous.as_ref())?;
        let differences = assembly.differences(&recorded)?;
        Ok(Recorded {
            graph,
            assembly,
            differences,
            policy,
        })
    }
}

impl Engine {
    /// Reads the event that recorded an assembly; none if the conversation has no such one.
    async fn recorded_body(
        &self,
        conversation: ConversationId,
        id: &AssemblyId,
    ) -> Result<Option<ContextAssembled>, Error> {
        let position = {
            let loaded = self.load(conversation).await?;
            loaded.graph.assembly(id).map(|node| node.origin.position)
        };
        match position {
            Some(position) => self.recorded_at(conversation, position).await,
            None => Ok(None),
        }
    }

    /// Reads the event at a position if it records an assembly.
    pub(crate) async fn recorded_at(
        &self,
        conversation: ConversationId,
        position: u64,
    ) -> Result<Option<ContextAssembled>, Error> {
        let stored = self.log.read(conversation, position, 1).await?;
        let Some(stored) = stored.first() else {
            return Ok(None);
        };
        let event = Event::decode(&stored.record).map_err(|source| Error::Decode {
            conversation,
            version: stored.version,
            seq: stored.seq,
            source,
        })?;
        Ok(match event.body {
            Body::ContextAssembled(body) => Some(body),
            _ => None,
        })
    }
}

/// A request as one policy decides it.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The policy's name.
    pub name: Label,
    /// What it decides.
    pub assembly: Assembly,
}

/// One request under two policies.
///
/// Both decide it as a first request, which extends no other: what an earlier one left in a
/// provider's cache is no matter of either policy.
#[derive(Debug, Clone)]
pub struct Against {
    /// Under the policy that was in force.
    pub from: Judged,
    /// Under the other one.
    pub to: Judged,
    /// The decisions that differ, in ascending order of position.
    pub moved: Vec<Moved>,
}

impl Recorded {
    /// Decides the request under another policy too, and lists the decisions that move.
    ///
    /// # Errors
    ///
    /// [`Error`] if the other policy refuses the request.
    pub fn against(&self, other: &PolicyDocument) -> Result<Against, Error> {
        let request = AssemblyRequest {
            extends: None,
            ..self.assembly.request.clone()
        };
        let judge = |policy: &PolicyDocument| -> Result<Judged, Error> {
            Ok(Judged {
                name: policy.policy().name.clone(),
                assembly: assemble(&self.graph, policy.policy(), &request, None)?,
            })
        };
        let (from, to) = (judge(&self.policy)?, judge(other)?);
        let moved = moved(&self.graph, &from.assembly, &to.assembly);
        Ok(Against { from, to, moved })
    }

    /// Explains every candidate, in ascending order of position.
    pub fn explain(&self) -> Vec<Explanation> {
        explain_assembly(&self.graph, &self.assembly)
    }

    /// Explains the record that the event at a position created; `whole` is the conversation at its
    /// end, by which a record that came later is told from one that never was.
    pub fn explain_record(&self, whole: &RuntimeGraph, position: u64) -> Option<Explanation> {
        let graph = if position > self.graph.position() {
            whole
        } else {
            &self.graph
        };
        explain_record(graph, &self.assembly, position)
    }
}
