//! What a handle brought.

use crate::event::{ArtifactId, AssemblyId, ConversationId};
use crate::{ExactBytes, Rehydrated};
use serde::Serialize;

/// The exact bytes behind a handle, or why they are kept back.
#[derive(Debug, Clone, Serialize)]
pub struct RehydrateReport {
    /// `foldback.rehydrate/1`
    pub schema: &'static str,
    /// The conversation.
    pub conversation: String,
    /// The request whose participant, branch and route are asked for.
    pub assembly: String,
    /// The artifact that the handle names.
    pub artifact: String,
    /// Whether the bytes are given.
    pub given: bool,
    /// The reason's code.
    pub reason: &'static str,
    /// The rule that decided, where one did.
    pub rule: Option<String>,
    /// The reason in one sentence.
    pub sentence: String,
    /// What to do instead, where something can be done.
    pub hint: Option<String>,
    /// What the bytes are.
    pub media_type: Option<String>,
    /// How many there are.
    pub bytes: Option<u64>,
    /// The bytes as text; none where they are kept back or are no UTF-8.
    pub text: Option<String>,
}

impl RehydrateReport {
    /// Makes the report of a handle.
    pub fn new(
        conversation: ConversationId,
        assembly: AssemblyId,
        artifact: ArtifactId,
        rehydrated: &Rehydrated,
    ) -> Self {
        let told = &rehydrated.explanation;
        let exact = rehydrated.exact.as_ref();
        let text = |exact: &ExactBytes| String::from_utf8(exact.bytes.clone()).ok();
        Self {
            schema: "foldback.rehydrate/1",
            conversation: conversation.to_string(),
            assembly: assembly.to_string(),
            artifact: artifact.to_string(),
            given: exact.is_some(),
            reason: told.reason,
            rule: told.rule.clone(),
            sentence: told.sentence.clone(),
            hint: told.hint.clone(),
            media_type: exact.map(|exact| exact.media_type.to_string()),
            bytes: exact.map(|exact| exact.bytes.len() as u64),
            text: exact.and_then(text),
        }
    }
}
