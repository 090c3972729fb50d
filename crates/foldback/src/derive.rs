//! From an artifact to its memory, and from a memory to the conflicts and supersessions that its
//! provenance justifies.

use crate::Engine;
use crate::error::Error;
use foldback_assembly::extract::{self, Extraction, Input, extract};
use foldback_event::kind::{
    FactDigest, MemoriesConflicted, MemoriesSuperseded, Omitted, PromotionRule, SubjectChanged,
    ToolMemoryDerived,
};
use foldback_event::{
    AccountId, ArtifactId, Body, CallStatus, Confidence, ConfidenceSource, EventId, Freshness,
    Label, MediaType, MemoryId, Micros, PayloadRef, Privacy, ShortDigest,
};
use foldback_graph::node::{Artifact, Memory};
use foldback_graph::{Lineage, RuntimeGraph};
use serde_json::{Value, json};

/// A tool's outcome, as an extractor reads it.
pub(crate) struct Source<'a> {
    pub(crate) tool: &'a str,
    pub(crate) arguments: &'a [u8],
    pub(crate) result: &'a [u8],
    pub(crate) media_type: MediaType,
    pub(crate) failed: bool,
}

/// The compact form of an outcome, not yet sealed.
pub(crate) struct Condensed {
    extraction: Extraction,
    detail: Vec<u8>,
    /// Whether a policy may keep the values from some routes.
    restricted: bool,
}

/// What the caller or the source says of a memory.
pub(crate) struct Terms {
    pub(crate) freshness: Option<Freshness>,
    pub(crate) revalidation: Vec<Label>,
    pub(crate) observed_at: Micros,
}

/// A memory's artifact and its sealed payloads.
pub(crate) struct Parts {
    artifact: ArtifactId,
    summary: PayloadRef,
    detail: PayloadRef,
    brief: Option<PayloadRef>,
    outline: Option<PayloadRef>,
}

/// The most facts that an event compares; what is beyond stands in the detail payload alone.
const FACTS_MAX: usize = 32;

/// How many memories on one subject a new one is compared with, the newest first.
const COMPARED_MAX: usize = 8;

impl Condensed {
    pub(crate) fn of(source: &Source<'_>, privacy: Privacy) -> Self {
        let extraction = extract(&Input {
            tool: source.tool,
            arguments: source.arguments,
            result: source.result,
            media: source.media_type,
            failed: source.failed,
        });
        let detail = detail(&extraction).to_string().into_bytes();
        Self {
            extraction,
            detail,
            restricted: !matches!(privacy, Privacy::Public | Privacy::Internal),
        }
    }

    /// Gives the texts of the memory, to be sealed in this order.
    pub(crate) fn payloads(&self) -> Vec<(Vec<u8>, MediaType)> {
        let text = |text: &str| (text.as_bytes().to_vec(), MediaType::Text);
        let mut out = vec![
            text(&self.extraction.summary),
            (self.detail.clone(), MediaType::Json),
        ];
        out.extend(self.extraction.brief.as_deref().map(text));
        out.extend(self.outline().map(text));
        out
    }

    /// Takes the sealed texts, in the order of [`Condensed::payloads`]; none if one is missing.
    pub(crate) fn parts(
        &self,
        artifact: ArtifactId,
        sealed: &mut impl Iterator<Item = PayloadRef>,
    ) -> Option<Parts> {
        let (summary, detail) = (sealed.next()?, sealed.next()?);
        let mut optional = |there: bool| -> Option<Option<PayloadRef>> {
            if there {
                sealed.next().map(Some)
            } else {
                Some(None)
            }
        };
        Some(Parts {
            artifact,
            summary,
            detail,
            brief: optional(self.extraction.brief.is_some())?,
            outline: optional(self.outline().is_some())?,
        })
    }

    /// Gives the outline, which is kept only where a route may have to do with it.
    fn outline(&self) -> Option<&str> {
        self.restricted.then_some(self.extraction.outline.as_str())
    }

    pub(crate) fn extraction(&self) -> &Extraction {
        &self.extraction
    }
}

fn detail(extraction: &Extraction) -> Value {
    let locator = |locator: &foldback_assembly::extract::Locator| json!({ "kind": locator.kind.name(), "text": locator.text, "start": locator.start, "end": locator.end });
    json!({
        "subject": extraction.subject,
        "facts": extraction.facts.iter().map(|fact| json!({
            "key": fact.key, "value": fact.value, "locator": locator(&fact.locator),
        })).collect::<Vec<_>>(),
        "locators": extraction.locators.iter().map(locator).collect::<Vec<_>>(),
        "file_refs": extraction.file_refs,
        "omitted": extraction.omitted.iter().map(|omission| json!({
            "what": omission.what, "count": omission.count,
        })).collect::<Vec<_>>(),
    })
}

/// Tells whether arguments are JSON.
pub(crate) fn argument_type(arguments: &[u8]) -> MediaType {
    match serde_json::from_slice::<serde::de::IgnoredAny>(arguments) {
        Ok(_) => MediaType::Json,
        Err(_) => MediaType::Text,
    }
}

impl Engine {
    /// Digests a question: the same tool with the same arguments, whatever the order of keys.
    pub(crate) fn question(
        &self,
        account: AccountId,
        tool: &str,
        arguments: &[u8],
    ) -> Result<ShortDigest, Error> {
        let canonical = match serde_json::from_slice::<Value>(arguments) {
            Ok(value) => sorted(value).to_string().into_bytes(),
            Err(_) => arguments.to_vec(),
        };
        let mut bytes = tool.as_bytes().to_vec();
        bytes.push(0);
        bytes.extend(canonical);
        Ok(self.vault.digest(account, "question", &bytes)?)
    }

    /// Digests what a memory is about.
    pub(crate) fn subject(&self, account: AccountId, words: &str) -> Result<ShortDigest, Error> {
        Ok(self.vault.digest(account, "subject", words.as_bytes())?)
    }

    /// Says what a tool's outcome changed, of that which earlier memories are about; none if it is
    /// nothing.
    ///
    /// `stated` is what the caller says; a success of a tool that is known to write a file adds it.
    pub(crate) fn changed(
        &self,
        graph: &RuntimeGraph,
        account: AccountId,
        artifact: ArtifactId,
        stated: &[String],
        arguments: &[u8],
    ) -> Result<Option<Body>, Error> {
        let node = graph.artifact(&artifact);
        let written = node
            .filter(|node| node.status == CallStatus::Succeeded)
            .and_then(|node| extract::changed(node.tool.as_str(), arguments));
        let mut subjects = Vec::new();
        for words in stated.iter().chain(&written) {
            let subject = self.subject(account, words)?;
            let mut about = graph.about(&subject);
            let earlier = about.any(|memory| !memory.artifacts.contains(&artifact));
            if earlier && !subjects.contains(&subject) {
                subjects.push(subject);
            }
        }
        let any = !subjects.is_empty();
        Ok(any.then(|| SubjectChanged { artifact, subjects }.into()))
    }

    fn short(&self, account: AccountId, domain: &str, text: &str) -> Result<[u8; 8], Error> {
        let digest = self.vault.digest(account, domain, text.as_bytes())?;
        let mut out = [0; 8];
        for (to, from) in out.iter_mut().zip(digest.as_bytes()) {
            *to = *from;
        }
        Ok(out)
    }

    fn facts(&self, account: AccountId, extraction: &Extraction) -> Result<Vec<FactDigest>, Error> {
        let mut facts = Vec::new();
        for fact in extraction.facts.iter().take(FACTS_MAX) {
            facts.push(FactDigest {
                key: self.short(account, "fact key", &fact.key)?,
                value: self.short(account, "fact value", &fact.value)?,
            });
        }
        facts.sort_unstable();
        facts.dedup();
        Ok(facts)
    }

    /// Makes the events of a memory: itself, then what it supersedes, then what it disagrees with.
    ///
    /// The graph must hold the artifact already.
    pub(crate) fn derive(
        &self,
        graph: &RuntimeGraph,
        account: AccountId,
        condensed: &Condensed,
        parts: &Parts,
        terms: Terms,
        mut id: impl FnMut(u32) -> EventId,
    ) -> Result<Vec<(EventId, Body)>, Error> {
        let artifact = graph.artifact(&parts.artifact).ok_or(Error::Bug {
            what: "a memory of no artifact",
        })?;
        let extraction = condensed.extraction();
        let subject = extraction.subject.as_deref();
        let subject = subject.map(|it| self.subject(account, it)).transpose()?;
        let first = id(0);
        let memory = MemoryId::derive(first, 0);
        let body = ToolMemoryDerived {
            memory,
            ownership: artifact.common.ownership.clone(),
            privacy: artifact.common.privacy,
            artifacts: vec![artifact.id],
            tool: artifact.tool.clone(),
            extractor: Label::or_stand_in(extraction.extractor),
            extractor_version: extraction.version,
            summary: parts.summary,
            detail: Some(parts.detail),
            lossless: extraction.lossless,
            subject,
            question: artifact.question,
            facts: self.facts(account, extraction)?,
            confidence: Confidence {
                permille: extraction.confidence,
                source: ConfidenceSource::Extractor,
                rationale: Label::or_stand_in(extraction.rationale),
            },
            ambiguities: Vec::new(),
            limits: extraction
                .omitted
                .iter()
                .map(|o| Omitted {
                    what: Label::or_stand_in(o.what),
                    count: o.count,
                })
                .collect(),
            freshness: terms.freshness.unwrap_or(extraction.freshness),
            observed_at: terms.observed_at,
            stale_after: None,
            revalidation: terms.revalidation,
            promotion: PromotionRule::Private,
            brief: parts.brief,
            outline: parts.outline,
        };
        let superseded = answered_before(graph, artifact);
        let (conflicting, keys) = disagreeing(graph, artifact, &body, &superseded);
        let mut out = vec![(first, Body::from(body))];
        if !superseded.is_empty() {
            let ground = Label::or_stand_in("same-question");
            let body = MemoriesSuperseded {
                memory,
                supersedes: superseded,
                ground,
            };
            out.push((id(1), body.into()));
        }
        if !conflicting.is_empty() {
            let mut memories = conflicting;
            memories.push(memory);
            out.push((id(2), MemoriesConflicted { memories, keys }.into()));
        }
        Ok(out)
    }
}

/// Finds the memories that answered the same question on the artifact's lineage before, oldest
/// first, and that nothing there has replaced yet.
///
/// A failure replaces nothing: that the tool could not answer says nothing of what it found before.
/// So both a failure and what was found before it may stand, and a success replaces both.
fn answered_before(graph: &RuntimeGraph, artifact: &Artifact) -> Vec<MemoryId> {
    let mut out: Vec<(u64, MemoryId)> = Vec::new();
    if artifact.status != CallStatus::Succeeded {
        return Vec::new();
    }
    let Some(question) = artifact.question else {
        return Vec::new();
    };
    let Some(lineage) = graph.lineage(&artifact.common.ownership.branch) else {
        return Vec::new();
    };
    for segment in lineage.segments() {
        let answers = graph.answers(&question, &segment.branch).rev();
        let before = answers
            .filter(|memory| memory.common.origin.position <= segment.to)
            .filter(|memory| same_owner(memory, artifact))
            .take(COMPARED_MAX)
            .filter(|memory| !is_replaced(graph, &lineage, memory));
        out.extend(before.map(|memory| (memory.common.origin.position, memory.id)));
    }
    out.sort_unstable();
    out.into_iter().map(|(_, id)| id).collect()
}

/// Tells whether something on the lineage has replaced a memory; what a sibling replaced for itself
/// stands here.
fn is_replaced(graph: &RuntimeGraph, lineage: &Lineage, memory: &Memory) -> bool {
    let mut newer = memory
        .superseded_by
        .iter()
        .filter_map(|id| graph.memory(id));
    newer.any(|newer| {
        let common = &newer.common;
        lineage.holds(&common.ownership.branch, common.origin.position)
    })
}

/// Finds memories on the same subject of which a fact differs.
fn disagreeing(
    graph: &RuntimeGraph,
    artifact: &Artifact,
    new: &ToolMemoryDerived,
    superseded: &[MemoryId],
) -> (Vec<MemoryId>, Vec<[u8; 8]>) {
    let (mut memories, mut keys) = (Vec::new(), Vec::new());
    // An error says that the tool could not answer, and contradicts nothing.
    if artifact.status != CallStatus::Succeeded {
        return (memories, keys);
    }
    let Some(subject) = new.subject else {
        return (memories, keys);
    };
    let Some(lineage) = graph.lineage(&artifact.common.ownership.branch) else {
        return (memories, keys);
    };
    let known: Vec<&Memory> = graph.about(&subject).collect();
    for old in known.into_iter().rev().take(COMPARED_MAX) {
        let origin = old.common.origin.position;
        let comparable = !superseded.contains(&old.id)
            && !is_replaced(graph, &lineage, old)
            && same_owner(old, artifact)
            && lineage.holds(&old.common.ownership.branch, origin);
        if !comparable {
            continue;
        }
        let differing = old.facts.iter().filter(|fact| {
            // A key with several values in one memory is a list, and lists do not contradict.
            let one =
                |facts: &[FactDigest]| facts.iter().filter(|f| f.key == fact.key).count() == 1;
            let other = new.facts.iter().find(|f| f.key == fact.key);
            other.is_some_and(|other| other.value != fact.value)
                && one(&old.facts)
                && one(&new.facts)
        });
        let before = keys.len();
        keys.extend(differing.map(|fact| fact.key));
        if keys.len() > before {
            memories.push(old.id);
        }
    }
    memories.reverse();
    keys.sort_unstable();
    keys.dedup();
    (memories, keys)
}

fn same_owner(memory: &Memory, artifact: &Artifact) -> bool {
    memory.common.ownership.owner_participant == artifact.common.ownership.owner_participant
}

/// Sorts the keys of all objects, so that two writings of one value are equal.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<(String, Value)> = map
                .into_iter()
                .map(|(key, value)| (key, sorted(value)))
                .collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(entries.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}
