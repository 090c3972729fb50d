//! Memories that a caller brings, and what is said of memories afterwards.

use super::{Begun, Conversation, event, know, provenance};
use crate::error::Error;
use foldback_event::kind::{
    MemoriesConflicted, MemoriesSuperseded, MemoryRevalidated, PromotionRule, ToolMemoryDerived,
};
use foldback_event::{
    ArtifactId, Confidence, Freshness, Kind, Label, MediaType, MemoryId, Micros, Privacy,
};

/// A memory that a caller, such as a model, made of artifacts.
#[derive(Debug, Clone)]
pub struct MemoryDraft {
    /// The artifacts it was made of.
    pub artifacts: Vec<ArtifactId>,
    /// The compact text.
    pub summary: String,
    /// How sure it is, from what source and on what ground.
    pub confidence: Confidence,
    /// What made it.
    pub extractor: Label,
    /// The version of what made it.
    pub extractor_version: u16,
    /// What it is about, in words that another memory on the same subject would use.
    pub subject: Option<String>,
    /// How long it holds.
    pub freshness: Freshness,
    /// When it becomes stale.
    pub stale_after: Option<Micros>,
    /// Tools that can check it again.
    pub revalidation: Vec<Label>,
    /// What is ambiguous, as codes.
    pub ambiguities: Vec<Label>,
    /// Texts that stand in the artifacts word for word, and on which the memory rests. If one does not,
    /// the artifact that holds them all is looked for, as [`Conversation::repair`] does.
    pub quotes: Vec<String>,
}

impl Conversation<'_> {
    /// Records a memory that the caller made; it is never less private than its sources.
    ///
    /// # Errors
    ///
    /// [`Error`] if an artifact does not exist, or it cannot be written.
    pub async fn derive(&self, new: MemoryDraft) -> Result<MemoryId, Error> {
        let events = match self.begin(&[Kind::ToolMemoryDerived]).await? {
            Begun::Before(before) => before.ids,
            Begun::Now(mut pen) => {
                let mut sources = Vec::new();
                for id in &new.artifacts {
                    let node = pen.graph().artifact(id).cloned();
                    sources.push(node.ok_or_else(|| Error::UnknownRecord {
                        what: "artifact",
                        id: id.to_string(),
                    })?);
                }
                let Some(last) = sources.last() else {
                    let id = "none".to_owned();
                    return Err(Error::UnknownRecord {
                        what: "artifact",
                        id,
                    });
                };
                // The least trusted source decides.
                let privacy = sources
                    .iter()
                    .map(|s| s.common.privacy)
                    .max()
                    .unwrap_or(Privacy::Unknown);
                let (ownership, tool) = (last.common.ownership.clone(), last.tool.clone());
                let (question, observed_at) = (
                    if sources.len() == 1 {
                        last.question
                    } else {
                        None
                    },
                    last.common.origin.at,
                );
                let subject = new.subject.as_deref();
                let subject = subject.map(|it| self.engine.subject(pen.account, it));
                let subject = subject.transpose()?;
                let mut texts = vec![(new.summary.into_bytes(), MediaType::Text)];
                texts.extend(provenance::detail(&new.quotes).map(|text| (text, MediaType::Json)));
                let mut refs = self.engine.seal(pen.account, texts).await?.into_iter();
                let summary = refs.next().ok_or(Error::Bug {
                    what: "sealing a summary gave none",
                })?;
                let id = pen.next_id();
                let memory = MemoryId::derive(id, 0);
                let body = ToolMemoryDerived {
                    memory,
                    ownership,
                    privacy,
                    artifacts: new.artifacts,
                    tool,
                    extractor: new.extractor,
                    extractor_version: new.extractor_version,
                    summary,
                    detail: refs.next(),
                    lossless: false,
                    subject,
                    question,
                    facts: Vec::new(),
                    confidence: new.confidence,
                    ambiguities: new.ambiguities,
                    limits: Vec::new(),
                    freshness: new.freshness,
                    observed_at,
                    stale_after: new.stale_after,
                    revalidation: new.revalidation,
                    promotion: PromotionRule::Private,
                    brief: None,
                    outline: None,
                };
                pen.push(id, body)?;
                pen.repair(memory, &new.quotes)?;
                pen.finish().await?
            }
        };
        Ok(MemoryId::derive(event(&events, 0)?, 0))
    }

    /// Says that a memory replaces older ones.
    ///
    /// # Errors
    ///
    /// [`Error`] if one of them does not exist, or it cannot be written.
    pub async fn supersede(
        &self,
        memory: MemoryId,
        supersedes: Vec<MemoryId>,
        ground: Label,
    ) -> Result<(), Error> {
        if let Begun::Now(mut pen) = self.begin(&[Kind::MemoriesSuperseded]).await? {
            pen.know_memories(supersedes.iter().chain([&memory]))?;
            if supersedes.is_empty() || supersedes.contains(&memory) {
                let what = "a memory supersedes at least one other, and never itself";
                return Err(Error::Meaningless { what });
            }
            let id = pen.next_id();
            pen.push(
                id,
                MemoriesSuperseded {
                    memory,
                    supersedes,
                    ground,
                },
            )?;
            pen.finish().await?;
        }
        Ok(())
    }

    /// Says that memories disagree; both stay.
    ///
    /// # Errors
    ///
    /// [`Error`] if one of them does not exist, or it cannot be written.
    pub async fn conflict(&self, memories: Vec<MemoryId>) -> Result<(), Error> {
        if let Begun::Now(mut pen) = self.begin(&[Kind::MemoriesConflicted]).await? {
            pen.know_memories(memories.iter())?;
            let distinct: std::collections::BTreeSet<&MemoryId> = memories.iter().collect();
            if distinct.len() < 2 || distinct.len() != memories.len() {
                let what = "a conflict is between at least two memories, each named once";
                return Err(Error::Meaningless { what });
            }
            let id = pen.next_id();
            pen.push(
                id,
                MemoriesConflicted {
                    memories,
                    keys: Vec::new(),
                },
            )?;
            pen.finish().await?;
        }
        Ok(())
    }

    /// Says that a memory was checked against its source again and still holds.
    ///
    /// # Errors
    ///
    /// [`Error`] if it or the artifact does not exist, or it cannot be written.
    pub async fn revalidate(
        &self,
        memory: MemoryId,
        artifact: Option<ArtifactId>,
        observed_at: Micros,
    ) -> Result<(), Error> {
        if let Begun::Now(mut pen) = self.begin(&[Kind::MemoryRevalidated]).await? {
            pen.know_memories([&memory])?;
            if let Some(artifact) = artifact {
                let known = pen.graph().artifact(&artifact).is_some();
                know(known, "artifact", &artifact)?;
            }
            let id = pen.next_id();
            pen.push(
                id,
                MemoryRevalidated {
                    memory,
                    artifact,
                    observed_at,
                },
            )?;
            pen.finish().await?;
        }
        Ok(())
    }
}

impl super::Pen<'_> {
    fn know_memories<'m>(&self, ids: impl IntoIterator<Item = &'m MemoryId>) -> Result<(), Error> {
        for id in ids {
            if self.graph().memory(id).is_none() {
                return Err(Error::UnknownRecord {
                    what: "memory",
                    id: id.to_string(),
                });
            }
        }
        Ok(())
    }
}
