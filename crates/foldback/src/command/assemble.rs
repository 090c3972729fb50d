//! Assembling the context of a participant's next request.

use super::{Before, Begun, Conversation, event, know};
use crate::error::Error;
use crate::policies::PolicyDocument;
use foldback_assembly::{Assembly, Explanation, assemble, explain_record};
use foldback_event::kind::{
    AssemblyRequest, ContextAssembled, PolicyActivated, PolicyRegistered, Route,
};
use foldback_event::{
    ArtifactId, AssemblyId, BranchId, Kind, Label, Micros, ParticipantId, Presentation, RunId,
    RuntimeKind,
};
use foldback_graph::RuntimeGraph;
use foldback_trace::Prompt;

/// What a runtime asks for when it is about to call a model.
#[derive(Debug, Clone)]
pub struct AssembleRequest {
    /// The participant whose request it is.
    pub participant: ParticipantId,
    /// The branch; the main one if none is given.
    pub branch: Option<BranchId>,
    /// The mode.
    pub runtime_kind: RuntimeKind,
    /// The run that the request is for, if it is started already.
    pub run: Option<RunId>,
    /// Where the request goes.
    pub route: Route,
    /// The time at which freshness is judged; now if none is given.
    pub as_of: Option<Micros>,
    /// The most tokens; the policy's own if none is given.
    pub budget_tokens: Option<u64>,
    /// Artifacts whose exact bytes are needed.
    pub exact: Vec<ArtifactId>,
    /// The earlier assembly that this one extends; if none is given, the newest of the same
    /// participant and branch by the same route.
    pub extends: Option<AssemblyId>,
    /// The policy; the one in force in the conversation if none is given.
    pub policy: Option<PolicyDocument>,
}

impl AssembleRequest {
    /// Makes a plain chat request to a provider.
    pub fn chat(participant: ParticipantId, provider: Label) -> Self {
        Self {
            participant,
            branch: None,
            runtime_kind: RuntimeKind::Chat,
            run: None,
            route: Route {
                provider,
                model: None,
                region: None,
                zero_retention: false,
            },
            as_of: None,
            budget_tokens: None,
            exact: Vec::new(),
            extends: None,
            policy: None,
        }
    }
}

/// A recorded assembly, ready to be rendered and explained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assembled {
    /// Its id.
    pub id: AssemblyId,
    /// What was decided.
    pub assembly: Assembly,
    /// The request for the model, free of any provider's form.
    pub prompt: Prompt,
    /// The artifacts that were needed exactly and whose bytes are not in: why.
    pub withheld: Vec<Explanation>,
}

impl Conversation<'_> {
    /// Decides what the next request contains, records the decision, and builds the request.
    ///
    /// # Errors
    ///
    /// [`Error`] if the request cannot be answered as it stands, or it cannot be written.
    pub async fn assemble(&self, new: AssembleRequest) -> Result<Assembled, Error> {
        let mut pen = match self
            .begin(&[
                Kind::PolicyRegistered,
                Kind::PolicyActivated,
                Kind::ContextAssembled,
            ])
            .await?
        {
            Begun::Before(Before { ids, .. }) => {
                let last = event(&ids, ids.len().saturating_sub(1))?;
                let id = AssemblyId::derive(last, 0);
                let recorded = self.engine.recorded(self.id(), &id).await?;
                let prompt = self.engine.prompt(&recorded.graph, &recorded.assembly)?;
                let withheld = withheld(&recorded.graph, &recorded.assembly);
                return Ok(Assembled {
                    id,
                    assembly: recorded.assembly,
                    prompt,
                    withheld,
                });
            }
            Begun::Now(pen) => pen,
        };
        let policy = match new.policy {
            Some(policy) => policy,
            None => self.engine.policy_of(pen.graph())?,
        };
        let digest = policy.policy().digest;
        if pen.graph().policy(&digest).is_none() {
            let id = pen.next_id();
            let document = self.engine.seal_policy(&policy).await?;
            let (schema, name) = (policy.policy().schema, policy.policy().name.clone());
            pen.push(
                id,
                PolicyRegistered {
                    digest,
                    schema,
                    name,
                    document,
                },
            )?;
        }
        if pen.graph().active_policy() != Some(&digest) {
            let id = pen.next_id();
            pen.push(id, PolicyActivated { digest })?;
        }
        let branch = match new.branch {
            Some(branch) => branch,
            None => pen.main_branch()?,
        };
        let mut request = AssemblyRequest {
            branch,
            participant: new.participant,
            position: pen.graph().position(),
            runtime_kind: new.runtime_kind,
            run: new.run,
            route: new.route,
            as_of: new.as_of.unwrap_or_else(|| self.engine.clock.now()),
            budget_tokens: new.budget_tokens,
            exact: new.exact,
            extends: new.extends,
            relevance: None,
        };
        know_all(pen.graph(), &request)?;
        let previous = self.previous(pen.graph(), &mut request).await?;
        let previous = previous.as_ref();
        let mut assembly = assemble(pen.graph(), policy.policy(), &request, previous)?;
        if let Some(relevance) = self.engine.relevance(pen.graph(), &assembly)? {
            let ranked = AssemblyRequest {
                relevance: Some(relevance),
                ..request
            };
            assembly = assemble(pen.graph(), policy.policy(), &ranked, previous)?;
        }
        let prompt = self.engine.prompt(pen.graph(), &assembly)?;
        let withheld = withheld(pen.graph(), &assembly);
        let event_id = pen.next_id();
        let id = AssemblyId::derive(event_id, 0);
        pen.push(event_id, assembly.to_event(id)?)?;
        pen.finish().await?;
        Ok(Assembled {
            id,
            assembly,
            prompt,
            withheld,
        })
    }
}

impl Conversation<'_> {
    /// Finds the recorded assembly that a request extends, and writes down which one it is.
    async fn previous(
        &self,
        graph: &RuntimeGraph,
        request: &mut AssemblyRequest,
    ) -> Result<Option<ContextAssembled>, Error> {
        let stated = request.extends;
        let newest = || graph.newest_assembly(&request.participant, &request.branch);
        let node = stated
            .as_ref()
            .or_else(newest)
            .and_then(|id| graph.assembly(id));
        let Some(node) = node else {
            return Ok(None);
        };
        let body = self
            .engine
            .recorded_at(self.id(), node.origin.position)
            .await?;
        if stated.is_some() {
            return Ok(body);
        }
        // Another route has another cache.
        let body = body.filter(|body| body.request.route == request.route);
        request.extends = body.as_ref().map(|body| body.assembly);
        Ok(body)
    }
}

/// Explains the artifacts that are needed exactly and whose bytes are not in.
fn withheld(graph: &RuntimeGraph, assembly: &Assembly) -> Vec<Explanation> {
    let exact = assembly.request.exact.iter();
    let artifacts = exact.filter_map(|id| graph.artifact(id));
    let told = artifacts
        .filter_map(|node| explain_record(graph, assembly, node.common.origin.position))
        .filter(|told| told.presentation != Some(Presentation::Raw));
    told.collect()
}

/// Refuses a request that names a record which does not exist.
fn know_all(graph: &RuntimeGraph, request: &AssemblyRequest) -> Result<(), Error> {
    for exact in &request.exact {
        know(graph.artifact(exact).is_some(), "artifact", exact)?;
    }
    if let Some(run) = request.run {
        know(graph.run(&run).is_some(), "run", &run)?;
    }
    if let Some(id) = request.extends {
        know(graph.assembly(&id).is_some(), "assembly", &id)?;
    }
    Ok(())
}

/// A recorded assembly, decided again from the log.
#[derive(Debug)]
pub struct Recorded {
    /// The graph at the position that the assembly was made from.
    pub graph: RuntimeGraph,
    /// The decision, made again.
    pub assembly: Assembly,
    /// What the new decision does not share with the recorded one; empty if it reproduces.
    pub differences: Vec<&'static str>,
    /// The policy that decided.
    pub policy: PolicyDocument,
}
