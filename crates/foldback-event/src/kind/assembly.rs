//! Bodies of the policy and assembly family (the article, 4.4, 4.5).

use crate::{
    ArtifactId, AssemblyId, BranchId, Digest, Label, Micros, ParticipantId, PayloadRef,
    Presentation, Reason, RecordKind, RunId, RuntimeKind,
};
use serde::{Deserialize, Serialize};

/// A policy document became known to the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyRegistered {
    /// BLAKE3 of the document, in the domain that docs/event-format.md names.
    pub digest: Digest,
    /// Its schema.
    pub schema: u16,
    /// Its name.
    pub name: Label,
    /// The document.
    pub document: PayloadRef,
}

/// A policy document became the one in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyActivated {
    /// BLAKE3 of the document.
    pub digest: Digest,
}

/// Where a request goes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Route {
    /// The provider.
    pub provider: Label,
    /// The model.
    pub model: Option<Label>,
    /// The region, where it matters.
    pub region: Option<Label>,
    /// Whether the provider keeps nothing.
    pub zero_retention: bool,
}

/// A ranking made outside the pure part, recorded so that it replays after the texts are gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relevance {
    /// What ranked.
    pub scorer: Label,
    /// The version of what ranked.
    pub version: u16,
    /// Position of the record and its score; higher is more relevant. In ascending order of
    /// position.
    pub scores: Vec<(u64, i64)>,
}

/// All that an assembly depends on besides the graph and the policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssemblyRequest {
    /// The branch that the next message continues.
    pub branch: BranchId,
    /// The participant whose request it is.
    pub participant: ParticipantId,
    /// The position of the graph: the last version that is folded.
    pub position: u64,
    /// The mode.
    pub runtime_kind: RuntimeKind,
    /// The run that the request is for, if it is known.
    pub run: Option<RunId>,
    /// Where the request goes.
    pub route: Route,
    /// The time at which freshness is judged.
    pub as_of: Micros,
    /// The most tokens that the request may hold; none for the policy's own.
    pub budget_tokens: Option<u64>,
    /// Artifacts whose exact bytes are needed.
    pub exact: Vec<ArtifactId>,
    /// The earlier assembly of the same participant that this one extends.
    pub extends: Option<AssemblyId>,
    /// A ranking of records.
    pub relevance: Option<Relevance>,
}

/// One record in an assembly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Selected {
    /// The position of the event that created the record.
    pub record: u64,
    /// Its kind.
    pub kind: RecordKind,
    /// The form in which it enters.
    pub presentation: Presentation,
    /// Why it is in, in this form.
    pub reason: Reason,
}

/// How many candidates were left out for one reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OmissionCount {
    /// The reason.
    pub reason: Reason,
    /// How many.
    pub count: u64,
}

/// A decision that kept something from a provider or a participant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SafetyDecision {
    /// The rule that decided.
    pub rule: Label,
    /// Its reason.
    pub reason: Reason,
    /// How many candidates it kept out.
    pub count: u64,
}

/// The tokens of an assembly, counted by the tokenizer that the payloads name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenAccount {
    /// What the whole history of the branch would have taken.
    pub replay: u64,
    /// What the assembly takes.
    pub assembled: u64,
    /// Of these, what recovery protects.
    pub protected: u64,
    /// The budget that held.
    pub budget: u64,
}

/// How one selected record stands in the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Placement {
    /// What it takes, in tokens.
    pub tokens: u64,
    /// The position of the record that its notice names: what replaces it, disagrees with it…
    pub names: Option<u64>,
}

/// What the planner reckoned: whether smaller forms of earlier results are worth that the provider
/// writes anew what stands behind them (design.md calls the two sides D and S).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayoutPlan {
    /// How many results stand in a larger form than the policy aims at.
    pub pending: u64,
    /// D: the tokens that the weighed changes save in this and each later request.
    pub saving: u64,
    /// S: the tokens behind the first change that would be read from the cache without it.
    pub suffix: u64,
    /// With how many further requests the planner reckoned.
    pub horizon: u64,
    /// The fewest further requests at which the weighed changes pay.
    pub break_even: u64,
    /// How many results changed to a smaller form in this request.
    pub applied: u64,
    /// Price of an input token read from the cache, in thousandths of one that is not cached.
    pub read_permille: u64,
    /// Price of an input token written to the cache, in the same unit.
    pub write_permille: u64,
}

/// How an assembly is laid out, and what that costs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayoutAccount {
    /// One for each selected record, in the order of the selection.
    pub placements: Vec<Placement>,
    /// How many of the assembled tokens are a prefix of the request that this one extends.
    pub prefix: u64,
    /// What the input costs, in thousandths of an input token that is not cached.
    pub cost: u64,
    /// What the planner reckoned.
    pub plan: LayoutPlan,
}

/// How long a stage took; measured at the edge and no part of the digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageDuration {
    /// The stage.
    pub stage: Label,
    /// Microseconds.
    pub us: u64,
}

/// A request's context was assembled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextAssembled {
    /// The assembly.
    pub assembly: AssemblyId,
    /// The request.
    pub request: AssemblyRequest,
    /// BLAKE3 of the policy document that decided.
    pub policy: Digest,
    /// The version of the assembler.
    pub assembler: u16,
    /// What is in, in the order in which it is laid out.
    pub selection: Vec<Selected>,
    /// What is out, by reason, in ascending order of the reason's number.
    pub omissions: Vec<OmissionCount>,
    /// What a rule kept out, in ascending order of rule.
    pub safety: Vec<SafetyDecision>,
    /// The token account.
    pub tokens: TokenAccount,
    /// How long the stages took.
    pub durations: Vec<StageDuration>,
    /// BLAKE3 over request, policy, assembler, selection, omissions, safety, tokens and layout.
    pub digest: Digest,
    /// How it is laid out; none if assembler 1 made it. Since version 2.
    pub layout: Option<LayoutAccount>,
}
