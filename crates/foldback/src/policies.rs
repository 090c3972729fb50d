//! Policies in use: documents sealed in the vault by digest, and named by each assembly.

use crate::Engine;
use crate::error::Error;
use foldback_assembly::policy::Policy;
use foldback_event::{AccountId, Digest, MediaType, PayloadRef};
use foldback_graph::RuntimeGraph;

/// A policy with the document it was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyDocument {
    text: String,
    policy: Policy,
}

impl PolicyDocument {
    /// Reads a document.
    ///
    /// # Errors
    ///
    /// [`Error::Policy`] with every problem and its line.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let policy = Policy::parse(text).map_err(|errors| Error::Policy { errors })?;
        Ok(Self {
            text: text.to_owned(),
            policy,
        })
    }

    /// Gives the default policy of this version.
    ///
    /// # Errors
    ///
    /// [`Error::Policy`] if the built-in document were not valid, which a test rules out.
    pub fn builtin() -> Result<Self, Error> {
        Self::parse(Policy::builtin())
    }

    /// Gives the policy.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Gives the document.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// The account that seals policy documents: they are the operator's, and no erasure of a subject
/// may take the ground from under a recorded decision.
pub(crate) fn policy_account() -> AccountId {
    AccountId::from_source(&[0; 16], "policies")
}

impl Engine {
    /// Gives the policy in force in a conversation: the one activated last, else the default.
    ///
    /// # Errors
    ///
    /// [`Error`] if the recorded document cannot be read.
    pub fn policy_of(&self, graph: &RuntimeGraph) -> Result<PolicyDocument, Error> {
        match graph
            .active_policy()
            .and_then(|digest| graph.policy(digest))
        {
            Some(node) => self.open_policy(&node.digest, &node.document, &node.name),
            None => PolicyDocument::builtin(),
        }
    }

    /// Opens a recorded policy and checks that it is the one that its digest names.
    pub(crate) fn open_policy(
        &self,
        digest: &Digest,
        document: &PayloadRef,
        name: &foldback_event::Label,
    ) -> Result<PolicyDocument, Error> {
        let bytes = self.payload(policy_account(), document)?;
        let read = PolicyDocument::parse(&String::from_utf8_lossy(&bytes))?;
        if read.policy.digest == *digest {
            Ok(read)
        } else {
            Err(Error::PolicyChanged { name: name.clone() })
        }
    }

    /// Seals a policy's document.
    pub(crate) async fn seal_policy(&self, policy: &PolicyDocument) -> Result<PayloadRef, Error> {
        let bytes = policy.text.clone().into_bytes();
        self.seal_one(policy_account(), bytes, MediaType::Policy)
            .await
    }
}
