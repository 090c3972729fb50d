//! Policies and assembled requests, for programs.

use crate::event::ConversationId;
use crate::policy::{PolicyErrors, warnings};
use crate::{Assembled, Error, Explanation, PolicyDocument};
use serde::Serialize;
use std::collections::BTreeMap;

/// What checking a policy found.
#[derive(Debug, Clone, Serialize)]
pub struct PolicyCheckReport {
    /// `foldback.policy-check/1`
    pub schema: &'static str,
    /// Whether it can be used.
    pub ok: bool,
    /// Its name, where it reads.
    pub name: Option<String>,
    /// BLAKE3 of the document, where it reads.
    pub digest: Option<String>,
    /// What is wrong.
    pub errors: Vec<PolicyProblem>,
    /// What is allowed and deserves a second look.
    pub warnings: Vec<PolicyProblem>,
}

/// Something about one place of a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PolicyProblem {
    /// The line, from 1; null where no line is concerned.
    pub line: Option<u64>,
    /// The column, from 1.
    pub column: Option<u64>,
    /// The path of the key, or the id of the rule.
    pub key: Option<String>,
    /// What it is, with its place.
    pub message: String,
    /// What to do about it, where that is known.
    pub hint: Option<String>,
}

impl PolicyCheckReport {
    /// Makes the report of a policy that was read, or could not be.
    pub fn new(parsed: &Result<PolicyDocument, Error>) -> Self {
        let schema = "foldback.policy-check/1";
        match parsed {
            Ok(document) => {
                let policy = document.policy();
                let warning = |warning: &crate::policy::PolicyWarning| PolicyProblem {
                    line: warning.line.map(|line| line as u64),
                    column: None,
                    key: warning.rule.as_ref().map(ToString::to_string),
                    message: warning.to_string(),
                    hint: None,
                };
                Self {
                    schema,
                    ok: true,
                    name: Some(policy.name.to_string()),
                    digest: Some(policy.digest.to_string()),
                    errors: Vec::new(),
                    warnings: warnings(policy).iter().map(warning).collect(),
                }
            }
            Err(error) => Self {
                schema,
                ok: false,
                name: None,
                digest: None,
                errors: policy_errors(error),
                warnings: Vec::new(),
            },
        }
    }
}

/// Lists what is wrong with a policy; one row without a place for any other error.
pub fn policy_errors(error: &Error) -> Vec<PolicyProblem> {
    match error {
        Error::Policy { errors } => rows(errors),
        other => vec![PolicyProblem {
            line: None,
            column: None,
            key: None,
            message: super::chain(other),
            hint: other.hint(),
        }],
    }
}

fn rows(errors: &PolicyErrors) -> Vec<PolicyProblem> {
    errors
        .iter()
        .map(|error| PolicyProblem {
            line: Some(error.line as u64),
            column: Some(error.column as u64),
            key: Some(error.key.clone()).filter(|key| !key.is_empty()),
            message: error.to_string(),
            hint: error.hint.clone(),
        })
        .collect()
}

/// A policy document.
#[derive(Debug, Clone, Serialize)]
pub struct PolicyReport {
    /// `foldback.policy/1`
    pub schema: &'static str,
    /// Its name.
    pub name: String,
    /// BLAKE3 of the document.
    pub digest: String,
    /// The document, in TOML.
    pub document: String,
}

impl PolicyReport {
    /// Makes the report of a policy.
    pub fn new(document: &PolicyDocument) -> Self {
        Self {
            schema: "foldback.policy/1",
            name: document.policy().name.to_string(),
            digest: document.policy().digest.to_string(),
            document: document.text().to_owned(),
        }
    }
}

/// A new assembly with the request for the provider.
#[derive(Debug, Clone, Serialize)]
pub struct AssembleReport {
    /// `foldback.assemble/1`
    pub schema: &'static str,
    /// The conversation.
    pub conversation: String,
    /// The recorded assembly.
    pub assembly: String,
    /// The position it was assembled from.
    pub position: u64,
    /// The provider.
    pub provider: String,
    /// What sending the whole history takes, in tokens.
    pub replay_tokens: u64,
    /// What the assembly takes, in tokens.
    pub assembled_tokens: u64,
    /// How many records are in.
    pub included: u64,
    /// Reason code to count.
    pub omitted: BTreeMap<String, u64>,
    /// The artifacts whose exact bytes were asked for and are not in.
    pub withheld: Vec<WithheldRow>,
    /// The request as the provider takes it.
    pub request: serde_json::Value,
}

/// One artifact whose exact bytes were asked for and are not in.
#[derive(Debug, Clone, Serialize)]
pub struct WithheldRow {
    /// The position of its event.
    pub position: u64,
    /// The reason's code.
    pub reason: &'static str,
    /// The rule that decided, where one did.
    pub rule: Option<String>,
    /// The reason in one sentence.
    pub sentence: String,
}

impl AssembleReport {
    /// Makes the report of an assembly and the request rendered from it.
    pub fn new(
        conversation: ConversationId,
        assembled: &Assembled,
        request: serde_json::Value,
    ) -> Self {
        let assembly = &assembled.assembly;
        let withheld = |told: &Explanation| WithheldRow {
            position: told.position,
            reason: told.reason,
            rule: told.rule.clone(),
            sentence: told.sentence.clone(),
        };
        Self {
            schema: "foldback.assemble/1",
            conversation: conversation.to_string(),
            assembly: assembled.id.to_string(),
            position: assembly.request.position,
            provider: assembly.request.route.provider.to_string(),
            replay_tokens: assembly.tokens.replay,
            assembled_tokens: assembly.tokens.assembled,
            included: assembly.items.len() as u64,
            omitted: super::omitted(assembly),
            withheld: assembled.withheld.iter().map(withheld).collect(),
            request,
        }
    }
}
