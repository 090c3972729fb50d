//! Replay: what each request of a past conversation would have held, had Foldback served it.
//!
//! The conversation is folded once. Before each run that it records, the context is assembled from
//! the graph at the position just before that run; the assemblies are recorded at the end of the
//! log and verify like any other.

use crate::Engine;
use crate::engine::{Draft, Write};
use crate::error::Error;
use crate::policies::PolicyDocument;
use foldback_assembly::{AssembleError, Assembly, assemble};
use foldback_event::kind::{
    AssemblyRequest, ContextAssembled, ModelRunStarted, PolicyActivated, PolicyRegistered, Route,
};
use foldback_event::{
    Actor, AssemblyId, BatchId, Body, BranchId, ConversationId, Event, EventId, Label,
    ParticipantId, Reason, RunId,
};
use foldback_graph::RuntimeGraph;
use std::collections::BTreeMap;

/// One request of a replayed conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayedRequest {
    /// The recorded assembly.
    pub assembly: AssemblyId,
    /// The run that the request was for.
    pub run: RunId,
    /// The position that it was assembled from.
    pub position: u64,
    /// The provider that was asked.
    pub provider: Label,
    /// What sending the whole history takes, in tokens.
    pub replay_tokens: u64,
    /// What the assembly takes, in tokens.
    pub assembled_tokens: u64,
    /// How many records are in.
    pub included: u64,
    /// How many candidates are out, by reason.
    pub omitted: BTreeMap<Reason, u64>,
}

/// A replayed conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replay {
    /// The conversation.
    pub conversation: ConversationId,
    /// Its requests, in order.
    pub requests: Vec<ReplayedRequest>,
    /// Requests that could not be assembled: the run's position and why.
    pub refused: Vec<(u64, AssembleError)>,
}

/// Requests of which each extends the one before it: of one participant, on one branch, by one
/// route, because a provider's cache is a model's own.
type Thread = (ParticipantId, BranchId, Route);

/// How many assemblies are written at once.
const CHUNK: usize = 256;

impl Engine {
    /// Assembles at every recorded run of a conversation, and records what is not recorded yet.
    ///
    /// `each` is given the graph and the assembly of each request, for callers that render it.
    ///
    /// # Errors
    ///
    /// [`Error`] if the conversation does not exist, or cannot be read or written.
    pub async fn replay(
        &self,
        conversation: ConversationId,
        policy: &PolicyDocument,
        mut each: impl FnMut(&RuntimeGraph, &Assembly) -> Result<(), Error>,
    ) -> Result<Replay, Error> {
        let mut replay = Replay {
            conversation,
            requests: Vec::new(),
            refused: Vec::new(),
        };
        let mut last: BTreeMap<Thread, ContextAssembled> = BTreeMap::new();
        let mut new = Vec::new();
        let pass = self.pass().await;
        let loaded = self.load(conversation).await?;
        if loaded.graph.position() == 0 {
            return Err(Error::UnknownConversation {
                id: conversation.to_string(),
            });
        }
        let mut graph = RuntimeGraph::default();
        self.scan(conversation, 1, |event, _| {
            if let Body::ModelRunStarted(run) = &event.body
                && graph.conversation().is_some()
            {
                let mut request = request_of(&graph, run, &event);
                let key = (run.participant, run.branch, request.route.clone());
                let previous = last.get(&key);
                request.extends = previous.map(|previous| previous.assembly);
                match assemble(&graph, policy.policy(), &request, previous) {
                    Ok(assembly) => {
                        each(&graph, &assembly)?;
                        let event_id = assembly_event(conversation, run.run, &assembly);
                        let id = AssemblyId::derive(event_id, 0);
                        let recorded = assembly.to_event(id)?;
                        replay.requests.push(row(id, run.run, &assembly));
                        if loaded.graph.assembly(&id).is_none() {
                            new.push((event_id, recorded.clone()));
                        }
                        last.insert(key, recorded);
                    }
                    Err(error) => replay.refused.push((event.envelope.version, error)),
                }
            }
            graph.apply(&event);
            Ok(())
        })
        .await?;
        drop(graph);
        let erased = loaded.graph.conversation().is_some_and(|c| c.erased);
        if erased && !new.is_empty() {
            return Err(Error::ConversationErased { conversation });
        }
        let mut write = Write::new(self, conversation, loaded, pass);
        if !new.is_empty() {
            self.know_policy(&mut write, policy).await?;
        }
        for (event_id, body) in new {
            write.push(draft(event_id, body))?;
            if write.len() >= CHUNK {
                commit(&mut write, conversation).await?;
            }
        }
        commit(&mut write, conversation).await?;
        Ok(replay)
    }

    /// Registers and activates a policy, unless the conversation knows it already.
    async fn know_policy(
        &self,
        write: &mut Write<'_>,
        policy: &PolicyDocument,
    ) -> Result<(), Error> {
        let digest = policy.policy().digest;
        if write.graph().policy(&digest).is_none() {
            let document = self.seal_policy(policy).await?;
            let (schema, name) = (policy.policy().schema, policy.policy().name.clone());
            let body = PolicyRegistered {
                digest,
                schema,
                name,
                document,
            };
            write.push(draft(self.clock.event_id(), body))?;
        }
        if write.graph().active_policy() != Some(&digest) {
            write.push(draft(self.clock.event_id(), PolicyActivated { digest }))?;
        }
        Ok(())
    }
}

fn draft(event_id: EventId, body: impl Into<Body>) -> Draft {
    Draft {
        event_id,
        occurred_at: None,
        actor: Actor::ENGINE,
        causation: None,
        correlation: None,
        body: body.into(),
    }
}

async fn commit(write: &mut Write<'_>, conversation: ConversationId) -> Result<(), Error> {
    let name = format!("replay to {}", write.graph().position());
    write
        .commit(BatchId::from_source(conversation.as_bytes(), &name))
        .await
}

/// The request as it was, as far as the log knows: the time is that of the run.
fn request_of(graph: &RuntimeGraph, run: &ModelRunStarted, event: &Event) -> AssemblyRequest {
    let unknown = || Label::or_stand_in("unknown");
    AssemblyRequest {
        branch: run.branch,
        participant: run.participant,
        position: graph.position(),
        runtime_kind: run.runtime_kind,
        run: Some(run.run),
        route: Route {
            provider: run.provider.clone().unwrap_or_else(unknown),
            model: run.model.clone(),
            region: None,
            zero_retention: false,
        },
        as_of: event.envelope.time(),
        budget_tokens: None,
        exact: Vec::new(),
        extends: None,
        relevance: None,
    }
}

/// The same run under the same policy and assembler has one assembly, however often it is replayed.
fn assembly_event(conversation: ConversationId, run: RunId, assembly: &Assembly) -> EventId {
    let (policy, assembler) = (assembly.policy, assembly.assembler);
    let extends = assembly
        .request
        .extends
        .map_or(String::new(), |id| id.to_string());
    let name = format!("replayed:{run}:{policy}:{assembler}:{extends}");
    EventId::from_source(conversation.as_bytes(), &name)
}

fn row(id: AssemblyId, run: RunId, assembly: &Assembly) -> ReplayedRequest {
    ReplayedRequest {
        assembly: id,
        run,
        position: assembly.request.position,
        provider: assembly.request.route.provider.clone(),
        replay_tokens: assembly.tokens.replay,
        assembled_tokens: assembly.tokens.assembled,
        included: assembly.items.len() as u64,
        omitted: assembly
            .omissions
            .iter()
            .map(|o| (o.reason, o.count))
            .collect(),
    }
}
