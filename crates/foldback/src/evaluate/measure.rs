//! Measuring: one pass over a conversation, all layouts side by side.

use super::account::{Cache, Kept, Measure, Thread};
use super::block::{Counter, texts};
use super::history::{Entry, History};
use super::layout::{self, Layout, Plain};
use super::need::{self, Need};
use crate::error::Error;
use crate::policies::PolicyDocument;
use crate::{Assembly, Engine};
use foldback_assembly::AssembleError;
use foldback_event::{ArtifactId, ConversationId, Label, Presentation, Reason, RunId};
use foldback_graph::RuntimeGraph;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the requests of one conversation took and held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evaluation {
    /// The conversation.
    pub conversation: ConversationId,
    /// Its requests, in order.
    pub requests: Vec<EvaluatedRequest>,
    /// Requests that could not be assembled and count in no layout: the run's position and why.
    pub refused: Vec<(u64, AssembleError)>,
}

/// What one request took and held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvaluatedRequest {
    /// The run that the request was for.
    pub run: RunId,
    /// The position that it was laid out from.
    pub position: u64,
    /// Each layout's account.
    pub layouts: BTreeMap<Layout, Measure>,
    /// What its calls need and Foldback's request does not hold.
    pub missing: Vec<Missing>,
}

/// A needed text that does not stand in Foldback's request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// What kind of text.
    pub need: Need,
    /// The text.
    pub text: String,
    /// The tool that was called with it.
    pub tool: Label,
    /// The newest result that holds it.
    pub artifact: ArtifactId,
    /// The tool whose result that is.
    pub source: Label,
    /// The form in which that result stands; none if nothing stands for it.
    pub presentation: Option<Presentation>,
    /// Why its bytes are not there.
    pub reason: Option<Reason>,
    /// Whether its bytes can be asked for.
    pub reachable: bool,
}

/// Something a call needs, and the results that hold it.
struct Needed {
    need: Need,
    text: String,
    tool: Label,
    sources: Vec<Arc<Entry>>,
}

impl Engine {
    /// Measures what the requests of a past conversation take and hold, layout by layout.
    ///
    /// The requests are those of [`Engine::replay`], which are recorded: measure in a store that
    /// lives in memory to leave no trace.
    ///
    /// # Errors
    ///
    /// [`Error`] if the conversation does not exist, or cannot be read or written.
    pub async fn evaluate(
        &self,
        conversation: ConversationId,
        policy: &PolicyDocument,
    ) -> Result<Evaluation, Error> {
        let whole = self.graph(conversation, None).await?;
        let mut evaluator = Evaluator {
            engine: self,
            policy,
            whole: &whole,
            counter: Counter::default(),
            history: History::new(self),
            plain: Plain::default(),
            cache: Cache::default(),
            requests: Vec::new(),
        };
        let replay = self
            .replay(conversation, policy, |graph, assembly| {
                evaluator.request(graph, assembly)
            })
            .await?;
        Ok(Evaluation {
            conversation,
            requests: evaluator.requests,
            refused: replay.refused,
        })
    }
}

struct Evaluator<'e> {
    engine: &'e Engine,
    policy: &'e PolicyDocument,
    /// The graph at the end: what the run of a request was going to call.
    whole: &'e RuntimeGraph,
    counter: Counter,
    history: History<'e>,
    plain: Plain,
    cache: Cache,
    requests: Vec<EvaluatedRequest>,
}

impl Evaluator<'_> {
    fn request(&mut self, graph: &RuntimeGraph, assembly: &Assembly) -> Result<(), Error> {
        let Some(run) = assembly.request.run else {
            return Ok(());
        };
        let (who, branch) = (assembly.request.participant, assembly.request.branch);
        let thread: Thread = (who, branch);
        let replay = self.history.replay(&mut self.counter, graph, &branch)?;
        let needs = self.needs(&run, &replay)?;
        let run_before = graph
            .lineage(&branch)
            .and_then(|lineage| graph.run_on(&lineage, &who))
            .unwrap_or(0);
        let mut layouts = BTreeMap::new();
        let mut missing = Vec::new();
        for layout in Layout::ALL {
            let measure = if layout == Layout::Foldback {
                self.ours(graph, assembly, thread, &needs, &mut missing)?
            } else {
                let elided_to = self.plain.elided_to(layout, thread, &replay, run_before);
                let blocks = layout::blocks(&mut self.counter, &replay, elided_to);
                let mut measure = self.cache.send(layout, thread, blocks);
                for needed in &needs {
                    let mut sources = needed.sources.iter();
                    let kept = sources.any(|entry| layout::is_raw(entry, elided_to));
                    *measure.of(needed.need) += told(kept, kept);
                }
                measure
            };
            layouts.insert(layout, measure);
        }
        self.requests.push(EvaluatedRequest {
            run,
            position: assembly.request.position,
            layouts,
            missing,
        });
        Ok(())
    }

    /// Lists what the calls of a run need from the history that it was sent: what they name, and
    /// what stands in results and in nothing else of it.
    fn needs(&self, run: &RunId, replay: &[Arc<Entry>]) -> Result<Vec<Needed>, Error> {
        let mut out = Vec::new();
        let calls = self.whole.run(run).map_or(&[][..], |run| &run.calls);
        for call in calls.iter().filter_map(|id| self.whole.call(id)) {
            let arguments = self.history.arguments(self.whole, call)?;
            for (need, text) in need::named(&arguments) {
                let holds = |entry: &&Arc<Entry>| entry.text.contains(&text);
                let is_result = |entry: &&Arc<Entry>| entry.artifact().is_some();
                let mut others = replay.iter().filter(|entry| !is_result(entry));
                if others.any(|entry| holds(&entry)) {
                    continue;
                }
                let results = replay.iter().filter(is_result);
                let sources: Vec<Arc<Entry>> = results.filter(holds).cloned().collect();
                if !sources.is_empty() {
                    out.push(Needed {
                        need,
                        text,
                        tool: call.tool.clone(),
                        sources,
                    });
                }
            }
        }
        Ok(out)
    }

    fn ours(
        &mut self,
        graph: &RuntimeGraph,
        assembly: &Assembly,
        thread: Thread,
        needs: &[Needed],
        missing: &mut Vec<Missing>,
    ) -> Result<Measure, Error> {
        let prompt = self.engine.prompt(graph, assembly)?;
        let blocks = self.counter.prompt(&prompt);
        let mut measure = self.cache.send(Layout::Foldback, thread, blocks);
        if needs.is_empty() {
            return Ok(measure);
        }
        let texts = texts(&prompt);
        for needed in needs {
            let kept = texts.iter().any(|text| text.contains(&needed.text));
            let reachable = kept
                || needed.sources.iter().any(|source| {
                    let handle = source.artifact();
                    handle.is_some_and(|id| self.is_reachable(graph, assembly, &texts, &id))
                });
            *measure.of(needed.need) += told(kept, reachable);
            if !kept {
                missing.extend(gap(graph, assembly, needed, reachable));
            }
        }
        Ok(measure)
    }

    /// Tells whether a request names an artifact, and the policy lets its bytes be brought back.
    fn is_reachable(
        &self,
        graph: &RuntimeGraph,
        assembly: &Assembly,
        texts: &[Cow<'_, str>],
        id: &ArtifactId,
    ) -> bool {
        let policy = self.policy.policy();
        let trust = policy.trust(&assembly.request.route);
        let handle = id.short();
        graph.artifact(id).is_some_and(|artifact| {
            let bytes = artifact.result.map_or(0, |result| result.bytes);
            bytes <= policy.rehydration.bytes_max
                && policy.rehydration.allows(artifact.common.privacy, trust)
        }) && texts.iter().any(|text| text.contains(&handle))
    }
}

impl Measure {
    fn of(&mut self, need: Need) -> &mut Kept {
        match need {
            Need::Value => &mut self.values,
            Need::Line => &mut self.lines,
        }
    }
}

fn told(kept: bool, reachable: bool) -> Kept {
    Kept {
        needed: 1,
        kept: u64::from(kept),
        reachable: u64::from(reachable),
    }
}

/// Says where a needed text would have come from, and what stands there.
fn gap(
    graph: &RuntimeGraph,
    assembly: &Assembly,
    needed: &Needed,
    reachable: bool,
) -> Option<Missing> {
    let artifact = graph.artifact(&needed.sources.last()?.artifact()?)?;
    let own = assembly.decision(artifact.common.origin.position);
    let memories = artifact.memories.iter().filter_map(|id| graph.memory(id));
    let shown = memories
        .filter_map(|memory| assembly.decision(memory.common.origin.position))
        .find_map(|decision| decision.presentation);
    Some(Missing {
        need: needed.need,
        text: needed.text.clone(),
        tool: needed.tool.clone(),
        artifact: artifact.id,
        source: artifact.tool.clone(),
        presentation: own.and_then(|decision| decision.presentation).or(shown),
        reason: own.map(|decision| decision.reason),
        reachable,
    })
}
