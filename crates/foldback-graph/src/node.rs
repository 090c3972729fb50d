//! The nodes of the runtime graph: one struct per entity of the article (4.1).
//!
//! Each node carries the position of the event that created it, which is also its order.

use foldback_event::kind::{
    ChildStatus, FactDigest, ParticipantKind, PromotionRule, RetentionClass, SkillStateChanged,
    Usage,
};
use foldback_event::{
    AccountId, ArtifactId, AssemblyId, BranchId, CallId, CallStatus, CheckpointId, Digest, EventId,
    FactId, Freshness, JobId, Label, MemoryId, MessageId, MessageRole, Micros, Ownership,
    ParticipantId, PayloadRef, Privacy, RunId, RuntimeKind, ShortDigest,
};
use serde::{Deserialize, Serialize};

/// Where a node comes from: its event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The position of the event in the conversation.
    pub position: u64,
    /// The event.
    pub event: EventId,
    /// When it happened.
    pub at: Micros,
}

/// The container of all else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversation {
    /// Its event.
    pub origin: Origin,
    /// The account whose key seals its payloads.
    pub account: AccountId,
    /// The branch that it started with.
    pub main_branch: BranchId,
    /// A title for people.
    pub title: Option<PayloadRef>,
    /// The format it was imported from.
    pub source: Option<Label>,
    /// Whether its content was erased.
    pub erased: bool,
}

/// An ordered path through the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branch {
    /// Its id.
    pub id: BranchId,
    /// Its event.
    pub origin: Origin,
    /// The branch it left; none for a main branch or a child's own.
    pub parent: Option<BranchId>,
    /// The last position of the parent that it inherits.
    pub at: u64,
    /// A title for people.
    pub title: Option<PayloadRef>,
    /// The positions of the records that stand on it, ascending.
    pub records: Vec<u64>,
    /// What a replay of the branch's own records takes up to and with each of `records`, in
    /// tokens; thinking of earlier turns is left out, as providers drop it.
    pub replay: Vec<u64>,
    /// The positions of its summaries: each stands for all that came before it.
    pub summaries: Vec<u64>,
    /// The positions of the operator's instructions.
    pub instructions: Vec<u64>,
    /// The positions of what people said: each begins a turn.
    pub prompts: Vec<u64>,
    /// Where runs started, and whose.
    pub runs: Vec<(u64, ParticipantId)>,
}

/// Somebody who takes part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Participant {
    /// Its id.
    pub id: ParticipantId,
    /// Its event.
    pub origin: Origin,
    /// What it is.
    pub kind: ParticipantKind,
    /// Its name, as people know it.
    pub name: Option<PayloadRef>,
    /// The model it runs on.
    pub model: Option<Label>,
}

/// How a record came to be seen by more than its owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promotion {
    /// The position of the event.
    pub position: u64,
    /// The ground, as a code.
    pub ground: Label,
    /// The branch on which it is seen since.
    pub branch: Option<BranchId>,
}

/// What every record that can be selected carries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Common {
    /// Its event.
    pub origin: Origin,
    /// Whose it is and who may see it, after promotions.
    pub ownership: Ownership,
    /// How sensitive it is.
    pub privacy: Privacy,
    /// The promotion that widened it last.
    pub promotion: Option<Promotion>,
    /// How long its bytes are kept.
    pub retention: RetentionClass,
}

/// A node of the human-visible history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Its id.
    pub id: MessageId,
    /// What every record carries.
    pub common: Common,
    /// Who speaks.
    pub role: MessageRole,
    /// The participant that speaks.
    pub participant: Option<ParticipantId>,
    /// The run that generated it.
    pub run: Option<RunId>,
    /// What was said.
    pub content: PayloadRef,
    /// Whether it may still change.
    pub draft: bool,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnd {
    /// The position of the event.
    pub position: u64,
    /// When it ended.
    pub at: Micros,
    /// Why the model stopped; none when the run failed.
    pub finish_reason: Option<Label>,
    /// What was used.
    pub usage: Option<Usage>,
    /// The model that really answered.
    pub model: Option<Label>,
    /// Whether it failed.
    pub failed: bool,
    /// What went wrong.
    pub error: Option<PayloadRef>,
    /// Whether trying again may help.
    pub retryable: bool,
}

/// One attempt to generate with a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Its id.
    pub id: RunId,
    /// Its event.
    pub origin: Origin,
    /// The participant that generates.
    pub participant: ParticipantId,
    /// The branch it continues.
    pub branch: BranchId,
    /// The mode.
    pub runtime_kind: RuntimeKind,
    /// The provider that is asked.
    pub provider: Option<Label>,
    /// The model that is asked for.
    pub model: Option<Label>,
    /// The assembly that was sent.
    pub assembly: Option<AssemblyId>,
    /// The run that this one tries again.
    pub retries: Option<RunId>,
    /// The messages it generated.
    pub messages: Vec<MessageId>,
    /// The calls it requested.
    pub calls: Vec<CallId>,
    /// How it ended.
    pub end: Option<RunEnd>,
}

/// A function call that a model requested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Its id.
    pub id: CallId,
    /// What every record carries.
    pub common: Common,
    /// The run that asked.
    pub run: Option<RunId>,
    /// The message it stands in.
    pub message: Option<MessageId>,
    /// The tool.
    pub tool: Label,
    /// The provider's id.
    pub source_id: Option<Label>,
    /// The arguments.
    pub arguments: PayloadRef,
    /// Its artifacts, oldest first; the last one tells how the call stands.
    pub artifacts: Vec<ArtifactId>,
}

/// The durable raw record of one tool execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// Its id.
    pub id: ArtifactId,
    /// What every record carries.
    pub common: Common,
    /// The call it answers.
    pub call: Option<CallId>,
    /// The run that asked.
    pub run: Option<RunId>,
    /// The tool.
    pub tool: Label,
    /// How the call stood.
    pub status: CallStatus,
    /// Whether a failed call may be tried again.
    pub retryable: bool,
    /// The result, or the error of a failed call.
    pub result: Option<PayloadRef>,
    /// Further structured outcome.
    pub structured: Option<PayloadRef>,
    /// Keyed digest of tool and arguments.
    pub question: Option<ShortDigest>,
    /// The memories derived from it.
    pub memories: Vec<MemoryId>,
    /// The artifact that resolved it, if it was open.
    pub resolved_by: Option<ArtifactId>,
}

/// A compact, model-facing record derived from artifacts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Its id.
    pub id: MemoryId,
    /// What every record carries.
    pub common: Common,
    /// The artifacts it was derived from.
    pub artifacts: Vec<ArtifactId>,
    /// The tool whose outcome it condenses.
    pub tool: Label,
    /// What derived it.
    pub extractor: Label,
    /// The version of what derived it.
    pub extractor_version: u16,
    /// The compact text.
    pub summary: PayloadRef,
    /// Facts, locators, file references and omissions as JSON.
    pub detail: Option<PayloadRef>,
    /// The shortest text that stands for it once its turn is over.
    pub brief: Option<PayloadRef>,
    /// What the result is without any of its values.
    pub outline: Option<PayloadRef>,
    /// Whether every value of the source stands in the summary.
    pub lossless: bool,
    /// Keyed digest of what it is about.
    pub subject: Option<ShortDigest>,
    /// Keyed digest of tool and arguments.
    pub question: Option<ShortDigest>,
    /// Its facts.
    pub facts: Vec<FactDigest>,
    /// How long it holds.
    pub freshness: Freshness,
    /// When the source was observed, or last checked again.
    pub observed_at: Micros,
    /// When it becomes stale, where the source says so.
    pub stale_after: Option<Micros>,
    /// Tools that can check it again.
    pub revalidation: Vec<Label>,
    /// The position up to which it tells how its subject stands: of the oldest artifact it was derived
    /// from, or of the newest check.
    pub seen_at: u64,
    /// When it may be shown to others.
    pub promotion_rule: PromotionRule,
    /// The memories it replaces.
    pub supersedes: Vec<MemoryId>,
    /// The memories that replace it, in the order of events: derived, never written. There are
    /// several where branches that share it replaced it each for themselves.
    pub superseded_by: Vec<MemoryId>,
    /// Memories that disagree with it.
    pub conflicts_with: Vec<MemoryId>,
    /// How many repairs of its provenance were tried.
    pub repair_tries: u32,
    /// Whether its provenance is broken.
    pub broken: bool,
}

/// A change of what memories are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The position of the artifact that changed it, or of the event where that is not known.
    pub position: u64,
    /// When it was changed.
    pub at: Micros,
    /// Who changed it and where; none where the artifact is not known.
    pub by: Option<(ParticipantId, BranchId)>,
}

/// A durable fact about a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserFact {
    /// Its id.
    pub id: FactId,
    /// What every record carries.
    pub common: Common,
    /// What is remembered.
    pub content: PayloadRef,
    /// The message it was learnt from.
    pub source: Option<MessageId>,
    /// The fact that replaces it.
    pub superseded_by: Option<FactId>,
}

/// The loaded skills, profile, direct tools and integrations from some position on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillState {
    /// What every record carries.
    pub common: Common,
    /// The state.
    pub state: SkillStateChanged,
}

/// A resumable state between actions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Its id.
    pub id: CheckpointId,
    /// What every record carries.
    pub common: Common,
    /// The run whose state it is.
    pub run: Option<RunId>,
    /// The assembly that the run was given.
    pub assembly: Option<AssemblyId>,
    /// Calls that were open.
    pub open_calls: Vec<CallId>,
    /// State that only the runtime understands.
    pub state: Option<PayloadRef>,
    /// The positions at which it was restored.
    pub restored: Vec<u64>,
}

/// How a child run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildEnd {
    /// What every record carries; the parent owns the report.
    pub common: Common,
    /// How it ended.
    pub status: ChildStatus,
    /// Its report, or its error.
    pub report: Option<PayloadRef>,
}

/// A child agent's run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Child {
    /// Its run.
    pub run: RunId,
    /// Its event.
    pub origin: Origin,
    /// The child.
    pub participant: ParticipantId,
    /// The branch that holds its state.
    pub branch: BranchId,
    /// The participant it works for.
    pub parent: Option<ParticipantId>,
    /// The branch it works for.
    pub parent_branch: Option<BranchId>,
    /// The call that started it.
    pub parent_call: Option<CallId>,
    /// How it ended.
    pub end: Option<ChildEnd>,
}

/// A scheduled job's firing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Its id.
    pub id: JobId,
    /// Its event.
    pub origin: Origin,
    /// The branch it works on.
    pub branch: BranchId,
    /// The participant that works.
    pub participant: ParticipantId,
    /// Its name.
    pub name: Label,
    /// What it is to do.
    pub instruction: Option<PayloadRef>,
}

/// A policy that the conversation knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyNode {
    /// Its event.
    pub origin: Origin,
    /// BLAKE3 of the document.
    pub digest: Digest,
    /// Its schema.
    pub schema: u16,
    /// Its name.
    pub name: Label,
    /// The document.
    pub document: PayloadRef,
}

/// A recorded assembly, as the graph keeps it; the whole selection stands in its event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssemblyNode {
    /// Its id.
    pub id: AssemblyId,
    /// Its event.
    pub origin: Origin,
    /// The position of the graph that it was made from.
    pub position: u64,
    /// The participant whose request it is.
    pub participant: ParticipantId,
    /// The branch.
    pub branch: BranchId,
    /// The run it was made for.
    pub run: Option<RunId>,
    /// The policy that decided.
    pub policy: Digest,
    /// The positions of the memories it holds.
    pub memories: Vec<u64>,
    /// The positions of the artifacts whose raw bytes it holds.
    pub raw_artifacts: Vec<u64>,
    /// How many records it holds.
    pub included: u64,
    /// How many candidates it left out.
    pub omitted: u64,
    /// Its tokens.
    pub tokens: u64,
    /// Its digest.
    pub digest: Digest,
}
