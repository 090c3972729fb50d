//! Recorded assemblies, decided again while their conversation is folded from nothing.

use crate::policies::PolicyDocument;
use foldback_assembly::reassemble;
use foldback_event::kind::ContextAssembled;
use foldback_event::{AssemblyId, Body, Digest, Event};
use foldback_graph::RuntimeGraph;
use std::collections::BTreeMap;

/// The policies that events register, each read or with what is wrong with it.
pub(crate) type Policies = BTreeMap<Digest, Result<PolicyDocument, String>>;

/// The assemblies that a conversation records.
#[derive(Debug, Default)]
pub(crate) struct Decisions<'e> {
    by_id: BTreeMap<AssemblyId, &'e ContextAssembled>,
    /// By the position that each was made from, with the version of its event.
    waiting: BTreeMap<u64, Vec<(u64, &'e ContextAssembled)>>,
}

impl<'e> Decisions<'e> {
    pub(crate) fn of(events: &'e [Event]) -> Self {
        let mut out = Self::default();
        for event in events {
            if let Body::ContextAssembled(body) = &event.body {
                let at = (event.envelope.version, body);
                out.by_id.entry(body.assembly).or_insert(body);
                let waiting = out.waiting.entry(body.request.position).or_default();
                waiting.push(at);
            }
        }
        out
    }

    /// Decides again what was made from the graph's position; for each the version of its event, and
    /// what does not come out the same.
    pub(crate) fn again(
        &mut self,
        graph: &RuntimeGraph,
        policies: &Policies,
    ) -> Vec<(u64, Result<(), String>)> {
        let here = self.waiting.remove(&graph.position());
        let here = here.unwrap_or_default().into_iter();
        here.map(|(version, body)| (version, self.one(graph, policies, body)))
            .collect()
    }

    fn one(
        &self,
        graph: &RuntimeGraph,
        policies: &Policies,
        body: &ContextAssembled,
    ) -> Result<(), String> {
        let policy = match policies.get(&body.policy) {
            None => {
                let digest = body.policy.short();
                return Err(format!("its policy {digest} is not registered"));
            }
            Some(policy) => policy.as_ref().map_err(Clone::clone)?,
        };
        let previous = body.request.extends.as_ref();
        let previous = previous.and_then(|id| self.by_id.get(id)).copied();
        let again = reassemble(graph, policy.policy(), body, previous);
        let again = again.map_err(|error| error.to_string())?;
        let differences = again.differences(body);
        let differences = differences.map_err(|error| error.to_string())?;
        if differences.is_empty() {
            Ok(())
        } else {
            Err(format!("differs in {}", differences.join(", ")))
        }
    }

    /// Lists what was made from no position that there is: the version of its event and the position.
    pub(crate) fn left(self) -> Vec<(u64, u64)> {
        let left = self.waiting.into_iter();
        left.flat_map(|(position, bodies)| {
            let versions = bodies.into_iter().map(|(version, _)| version);
            versions.map(move |version| (version, position))
        })
        .collect()
    }
}
