//! Bodies of the memory family (the article, 4.3, 4.7, 4.8).

use crate::number::numbered;
use crate::{
    ArtifactId, Confidence, Freshness, Label, MemoryId, Micros, Ownership, PayloadRef, Privacy,
    ShortDigest,
};
use serde::{Deserialize, Serialize};

/// One fact of a memory as two keyed digests: comparable, and not readable from the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FactDigest {
    /// Digest of what the fact is about.
    pub key: [u8; 8],
    /// Digest of its value.
    pub value: [u8; 8],
}

/// Something that a compact form left out, and how often.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Omitted {
    /// What: `rows`, `lines`, `keys`…
    pub what: Label,
    /// How many.
    pub count: u64,
}

numbered! {
    /// When a memory may be shown to others than its owner.
    PromotionRule as "promotion rule" {
        /// With its owner's state, no further.
        Private = 1, "private";
        /// When its child run ends.
        OnFinish = 2, "on-finish";
        /// Only by an explicit promotion.
        Explicit = 3, "explicit";
    }
}

/// A compact memory was derived from artifacts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolMemoryDerived {
    /// The memory.
    pub memory: MemoryId,
    /// Whose it is and who may see it.
    pub ownership: Ownership,
    /// How sensitive it is: never less than its most sensitive source.
    pub privacy: Privacy,
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
    /// Whether every value of the source stands in the summary.
    pub lossless: bool,
    /// Keyed digest of what the observation is about.
    pub subject: Option<ShortDigest>,
    /// The same question (tool and arguments) as the artifact's.
    pub question: Option<ShortDigest>,
    /// Its facts, in ascending order.
    pub facts: Vec<FactDigest>,
    /// How sure it is.
    pub confidence: Confidence,
    /// What is ambiguous, as codes.
    pub ambiguities: Vec<Label>,
    /// What it left out.
    pub limits: Vec<Omitted>,
    /// How long it holds.
    pub freshness: Freshness,
    /// When the source was observed.
    pub observed_at: Micros,
    /// When it becomes stale, where the source says so; else the policy's window decides.
    pub stale_after: Option<Micros>,
    /// Tools that can check it again.
    pub revalidation: Vec<Label>,
    /// When it may be shown to others.
    pub promotion: PromotionRule,
    /// The shortest text that stands for it once its turn is over: what later calls need, no more.
    /// Since version 2.
    pub brief: Option<PayloadRef>,
    /// What the result is without any of its values, for routes that may not see them. Since
    /// version 2.
    pub outline: Option<PayloadRef>,
}

/// Memories on one subject disagree; both stay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoriesConflicted {
    /// The memories, oldest first.
    pub memories: Vec<MemoryId>,
    /// The digests of the facts that differ.
    pub keys: Vec<[u8; 8]>,
}

/// A memory replaces older ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoriesSuperseded {
    /// The memory that replaces.
    pub memory: MemoryId,
    /// The memories that it replaces.
    pub supersedes: Vec<MemoryId>,
    /// On what ground: `same-question`, `explicit`…
    pub ground: Label,
}

/// A memory was checked against its source again and still holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryRevalidated {
    /// The memory.
    pub memory: MemoryId,
    /// The artifact that shows it.
    pub artifact: Option<ArtifactId>,
    /// When it was observed again.
    pub observed_at: Micros,
}

/// A tool changed what memories are about, so what was read of it before may no longer hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubjectChanged {
    /// The outcome of the tool that changed it.
    pub artifact: ArtifactId,
    /// Keyed digests of what it changed, as the memories about it name their subject.
    pub subjects: Vec<ShortDigest>,
}

numbered! {
    /// How a repair of provenance ended.
    RepairOutcome as "repair outcome" {
        /// The locator now resolves.
        Repaired = 1, "repaired";
        /// It does not; the memory is treated as stale.
        Unresolved = 2, "unresolved";
    }
}

/// A repair of broken provenance was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProvenanceRepairTried {
    /// The memory.
    pub memory: MemoryId,
    /// The artifact that was looked at.
    pub artifact: ArtifactId,
    /// How it ended.
    pub outcome: RepairOutcome,
}
