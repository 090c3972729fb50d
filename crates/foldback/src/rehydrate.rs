//! The exact bytes behind a handle of a recorded request, or why they are kept back.

use crate::Engine;
use crate::command::know;
use crate::error::Error;
use foldback_assembly::{Explanation, assemble, explain_record};
use foldback_event::kind::AssemblyRequest;
use foldback_event::{ArtifactId, AssemblyId, ConversationId, MediaType, Presentation};

/// What a handle brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rehydrated {
    /// Why the bytes are here, or why they are kept back.
    pub explanation: Explanation,
    /// The bytes; none if they are kept back.
    pub exact: Option<ExactBytes>,
}

/// The exact bytes of a result, as they were captured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExactBytes {
    /// What they are.
    pub media_type: MediaType,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl Engine {
    /// Gives the exact bytes behind a handle to the participant of a recorded request.
    ///
    /// The request is decided again at the conversation's end, under the policy in force there,
    /// with this one artifact needed exactly: ownership, branch, privacy, route and byte limits
    /// decide as they do for [`AssembleRequest::exact`](crate::AssembleRequest::exact).
    /// Nothing is recorded. A runtime that hands the bytes to a model captures them as the result
    /// of a call, or assembles with the artifact in `exact`.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownRecord`] if the conversation has no such assembly or artifact;
    /// [`Error`] if the policy refuses the request as a whole or the vault cannot give the bytes.
    pub async fn rehydrate(
        &self,
        conversation: ConversationId,
        shown_in: &AssemblyId,
        handle: &ArtifactId,
    ) -> Result<Rehydrated, Error> {
        let graph = self.graph(conversation, None).await?;
        know(graph.assembly(shown_in).is_some(), "assembly", shown_in)?;
        let artifact = graph.artifact(handle);
        let artifact = artifact.ok_or_else(|| Error::UnknownRecord {
            what: "artifact",
            id: handle.to_string(),
        })?;
        let recorded = self.recorded(conversation, shown_in).await?;
        let request = AssemblyRequest {
            position: graph.position(),
            as_of: self.clock.now(),
            budget_tokens: None,
            exact: vec![*handle],
            extends: None,
            relevance: None,
            ..recorded.assembly.request
        };
        let policy = self.policy_of(&graph)?;
        let assembly = assemble(&graph, policy.policy(), &request, None)?;
        let position = artifact.common.origin.position;
        let explanation =
            explain_record(&graph, &assembly, position).ok_or_else(|| Error::UnknownRecord {
                what: "artifact",
                id: handle.to_string(),
            })?;
        let whole = explanation.presentation == Some(Presentation::Raw);
        let exact = match artifact.result.as_ref().filter(|_| whole) {
            Some(result) => Some(ExactBytes {
                media_type: result.media_type,
                bytes: self.payload(self.account_of(&graph), result)?,
            }),
            None => None,
        };
        Ok(Rehydrated { explanation, exact })
    }
}
