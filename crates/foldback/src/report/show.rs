//! One record: its facts, its edges and its texts.

use super::RelationRow;
use crate::event::{ConversationId, PayloadRef};
use crate::node::{self, Common};
use crate::{Resolved, RuntimeGraph, Vertex, rfc3339};
use serde::Serialize;
use serde_json::{Map, Value};

/// One record.
#[derive(Debug, Clone, Serialize)]
pub struct ShowReport {
    /// `foldback.show/1`
    pub schema: &'static str,
    /// The conversation.
    pub conversation: String,
    /// What kind of record it is.
    pub kind: &'static str,
    /// Its id.
    pub id: String,
    /// The position of the event that created it.
    pub position: u64,
    /// When that happened.
    pub at: String,
    /// What the log says of it: ids, numbers, times, codes.
    pub facts: Map<String, Value>,
    /// The edges that start or end at it.
    pub relations: Vec<RelationRow>,
    /// Its payloads.
    pub payloads: Vec<PayloadRow>,
}

/// One payload of a record.
#[derive(Debug, Clone, Serialize)]
pub struct PayloadRow {
    /// What it is to the record.
    pub name: &'static str,
    /// What its bytes are.
    pub media_type: &'static str,
    /// How many bytes it has.
    pub bytes: u64,
    /// How many tokens it has.
    pub tokens: u64,
    /// Its text; null where it cannot be read.
    pub text: Option<String>,
}

/// A record in the making.
struct Draft {
    kind: &'static str,
    id: String,
    origin: node::Origin,
    facts: Map<String, Value>,
    payloads: Vec<(&'static str, PayloadRef)>,
    vertex: Option<Vertex>,
}

impl ShowReport {
    /// Makes the report of a record; none if the graph does not hold it. `text` opens a payload.
    pub fn new(
        conversation: ConversationId,
        graph: &RuntimeGraph,
        record: &Resolved,
        text: &dyn Fn(&PayloadRef) -> Option<String>,
    ) -> Option<Self> {
        let draft = draft(graph, record)?;
        let relations = draft.vertex.map_or(Vec::new(), |vertex| {
            let touches = |edge: &&crate::Relation| edge.from == vertex || edge.to == vertex;
            let edges = graph.relations();
            edges.iter().filter(touches).map(RelationRow::new).collect()
        });
        let payload = |(name, payload): &(&'static str, PayloadRef)| PayloadRow {
            name,
            media_type: payload.media_type.name(),
            bytes: payload.bytes,
            tokens: u64::from(payload.tokens),
            text: text(payload),
        };
        Some(Self {
            schema: "foldback.show/1",
            conversation: conversation.to_string(),
            kind: draft.kind,
            id: draft.id,
            position: draft.origin.position,
            at: rfc3339(draft.origin.at),
            facts: draft.facts,
            relations,
            payloads: draft.payloads.iter().map(payload).collect(),
        })
    }
}

impl Draft {
    fn new(kind: &'static str, id: String, origin: node::Origin) -> Self {
        Self {
            kind,
            id,
            origin,
            facts: Map::new(),
            payloads: Vec::new(),
            vertex: None,
        }
    }

    fn at(mut self, vertex: Vertex) -> Self {
        self.vertex = Some(vertex);
        self
    }

    fn fact(mut self, name: &str, value: &(impl ToString + ?Sized)) -> Self {
        self.facts
            .insert(name.to_owned(), Value::String(value.to_string()));
        self
    }

    fn maybe(self, name: &str, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.fact(name, &value),
            None => self,
        }
    }

    fn number(mut self, name: &str, value: u64) -> Self {
        self.facts.insert(name.to_owned(), value.into());
        self
    }

    fn flag(mut self, name: &str, value: bool) -> Self {
        if value {
            self.facts.insert(name.to_owned(), true.into());
        }
        self
    }

    fn list(mut self, name: &str, values: impl Iterator<Item = String>) -> Self {
        let values: Vec<Value> = values.map(Value::String).collect();
        if !values.is_empty() {
            self.facts.insert(name.to_owned(), Value::Array(values));
        }
        self
    }

    fn payload(mut self, name: &'static str, payload: Option<PayloadRef>) -> Self {
        self.payloads.extend(payload.map(|payload| (name, payload)));
        self
    }

    /// Adds what every record carries.
    fn common(self, common: &Common) -> Self {
        let ownership = &common.ownership;
        let promotion = common.promotion.as_ref();
        self.maybe("owner", ownership.owner_participant)
            .maybe("owner run", ownership.owner_run)
            .fact("branch", &ownership.branch)
            .fact("visibility", &ownership.visibility)
            .list(
                "shared with",
                ownership.shared_with.iter().map(ToString::to_string),
            )
            .fact("isolation", &ownership.isolation)
            .fact("runtime kind", &ownership.runtime_kind)
            .fact("privacy", &common.privacy)
            .fact("retention", &common.retention)
            .maybe("promoted at", promotion.map(|promotion| promotion.position))
            .maybe(
                "promoted because",
                promotion.map(|promotion| &promotion.ground),
            )
    }
}

fn draft(graph: &RuntimeGraph, record: &Resolved) -> Option<Draft> {
    Some(match record {
        Resolved::Message(id) => message(graph.message(id)?),
        Resolved::Call(id) => call(graph, graph.call(id)?),
        Resolved::Artifact(id) => artifact(graph.artifact(id)?),
        Resolved::Memory(id) => memory(graph.memory(id)?),
        Resolved::Run(id) => match (graph.run(id), graph.child(id)) {
            (_, Some(node)) => child(node),
            (Some(node), None) => run(node),
            (None, None) => return None,
        },
        Resolved::Fact(id) => {
            let node = graph.fact(id)?;
            Draft::new("fact", id.to_string(), node.common.origin)
                .common(&node.common)
                .maybe("learnt from", node.source)
                .maybe("superseded by", node.superseded_by)
                .payload("content", Some(node.content))
        }
        Resolved::Checkpoint(id) => {
            let node = graph.checkpoint(id)?;
            Draft::new("checkpoint", id.to_string(), node.common.origin)
                .at(Vertex::Checkpoint(*id))
                .common(&node.common)
                .maybe("run", node.run)
                .maybe("assembly", node.assembly)
                .list(
                    "open calls",
                    node.open_calls.iter().map(ToString::to_string),
                )
                .list("restored at", node.restored.iter().map(ToString::to_string))
                .payload("state", node.state)
        }
        Resolved::Branch(id) => {
            let node = graph.branch(id)?;
            Draft::new("branch", id.to_string(), node.origin)
                .at(Vertex::Branch(*id))
                .maybe("parent", node.parent)
                .maybe("inherits to", node.parent.map(|_| node.at))
                .number("records", node.records.len() as u64)
                .payload("title", node.title)
        }
        Resolved::Participant(id) => {
            let node = graph.participant(id)?;
            Draft::new("participant", id.to_string(), node.origin)
                .fact("is", &node.kind)
                .maybe("model", node.model.as_ref())
                .payload("name", node.name)
        }
        Resolved::Job(id) => {
            let node = graph.job(id)?;
            Draft::new("job", id.to_string(), node.origin)
                .fact("name", &node.name)
                .fact("branch", &node.branch)
                .fact("participant", &node.participant)
                .payload("instruction", node.instruction)
        }
        Resolved::Assembly(id) => assembly(graph.assembly(id)?),
        Resolved::Policy(digest) => {
            let node = graph.policy(digest)?;
            Draft::new("policy", format!("policy_{digest}"), node.origin)
                .at(Vertex::Policy(*digest))
                .fact("name", &node.name)
                .number("schema", u64::from(node.schema))
                .flag("in force", graph.active_policy() == Some(digest))
        }
    })
}

fn message(node: &node::Message) -> Draft {
    Draft::new("message", node.id.to_string(), node.common.origin)
        .at(Vertex::Message(node.id))
        .fact("role", &node.role)
        .maybe("participant", node.participant)
        .maybe("run", node.run)
        .flag("draft", node.draft)
        .common(&node.common)
        .payload("content", Some(node.content))
}

fn call(graph: &RuntimeGraph, node: &node::Call) -> Draft {
    let last = node.artifacts.last().and_then(|id| graph.artifact(id));
    Draft::new("call", node.id.to_string(), node.common.origin)
        .at(Vertex::Call(node.id))
        .fact("tool", &node.tool)
        .fact(
            "status",
            &last.map_or("open", |artifact| artifact.status.name()),
        )
        .maybe("id of the provider", node.source_id.as_ref())
        .maybe("run", node.run)
        .maybe("message", node.message)
        .common(&node.common)
        .payload("arguments", Some(node.arguments))
}

fn artifact(node: &node::Artifact) -> Draft {
    Draft::new("artifact", node.id.to_string(), node.common.origin)
        .at(Vertex::Artifact(node.id))
        .fact("tool", &node.tool)
        .fact("status", &node.status)
        .flag("retryable", node.retryable)
        .maybe("call", node.call)
        .maybe("run", node.run)
        .maybe("resolved by", node.resolved_by)
        .list("memories", node.memories.iter().map(ToString::to_string))
        .common(&node.common)
        .payload("result", node.result)
        .payload("structured", node.structured)
}

fn memory(node: &node::Memory) -> Draft {
    Draft::new("memory", node.id.to_string(), node.common.origin)
        .at(Vertex::Memory(node.id))
        .fact("tool", &node.tool)
        .fact(
            "extractor",
            &format!("{} v{}", node.extractor, node.extractor_version),
        )
        .flag("lossless", node.lossless)
        .fact("freshness", &node.freshness)
        .fact("observed at", &rfc3339(node.observed_at))
        .maybe("stale after", node.stale_after.map(rfc3339))
        .list(
            "check again with",
            node.revalidation.iter().map(ToString::to_string),
        )
        .fact("promotion", &node.promotion_rule)
        .list(
            "supersedes",
            node.supersedes.iter().map(ToString::to_string),
        )
        .list(
            "superseded by",
            node.superseded_by.iter().map(ToString::to_string),
        )
        .list(
            "conflicts with",
            node.conflicts_with.iter().map(ToString::to_string),
        )
        .flag("broken", node.broken)
        .common(&node.common)
        .payload("summary", Some(node.summary))
        .payload("detail", node.detail)
}

fn run(node: &node::Run) -> Draft {
    let end = node.end.as_ref();
    let outcome = match end {
        None => "open",
        Some(end) if end.failed => "failed",
        Some(_) => "finished",
    };
    let mut draft = Draft::new("run", node.id.to_string(), node.origin)
        .at(Vertex::Run(node.id))
        .fact("participant", &node.participant)
        .fact("branch", &node.branch)
        .fact("runtime kind", &node.runtime_kind)
        .maybe("provider", node.provider.as_ref())
        .maybe("model", node.model.as_ref())
        .maybe("assembly", node.assembly)
        .maybe("retries", node.retries)
        .fact("outcome", &outcome)
        .maybe(
            "finish reason",
            end.and_then(|end| end.finish_reason.as_ref()),
        )
        .maybe("answered by", end.and_then(|end| end.model.as_ref()));
    if let Some(usage) = end.and_then(|end| end.usage.as_ref()) {
        draft = draft
            .number("input tokens", usage.input)
            .number("output tokens", usage.output)
            .number("cache read tokens", usage.cache_read)
            .number("cache write tokens", usage.cache_write);
    }
    draft.payload("error", end.and_then(|end| end.error))
}

fn child(node: &node::Child) -> Draft {
    let end = node.end.as_ref();
    Draft::new("child run", node.run.to_string(), node.origin)
        .at(Vertex::Run(node.run))
        .fact("participant", &node.participant)
        .fact("branch", &node.branch)
        .maybe("works for", node.parent)
        .maybe("on branch", node.parent_branch)
        .maybe("started by", node.parent_call)
        .fact("outcome", &end.map_or("open", |end| end.status.name()))
        .payload("report", end.and_then(|end| end.report))
}

fn assembly(node: &node::AssemblyNode) -> Draft {
    Draft::new("assembly", node.id.to_string(), node.origin)
        .at(Vertex::Assembly(node.id))
        .number("made from position", node.position)
        .fact("participant", &node.participant)
        .fact("branch", &node.branch)
        .maybe("run", node.run)
        .fact("policy", &format!("policy_{}", node.policy))
        .number("included", node.included)
        .number("omitted", node.omitted)
        .number("tokens", node.tokens)
        .fact("digest", &node.digest)
}
