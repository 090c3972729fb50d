//! What another policy would have decided of a recorded request, for programs.

use super::ExplainRow;
use crate::event::{AssemblyId, ConversationId};
use crate::{Against, Judged, Moved};
use serde::Serialize;

/// The decisions of one request that come out otherwise under another policy.
#[derive(Debug, Clone, Serialize)]
pub struct AgainstReport {
    /// `foldback.against/1`
    pub schema: &'static str,
    /// The conversation.
    pub conversation: String,
    /// The assembly.
    pub assembly: String,
    /// The policy that decided.
    pub from: JudgedRow,
    /// The other one.
    pub to: JudgedRow,
    /// A line per decision that moves.
    pub moved: Vec<MovedRow>,
}

/// What a policy comes to.
#[derive(Debug, Clone, Serialize)]
pub struct JudgedRow {
    /// The policy's name.
    pub policy: String,
    /// The digest of its document.
    pub digest: String,
    /// How many records are in.
    pub included: u64,
    /// What they take, in tokens.
    pub assembled_tokens: u64,
}

/// A decision that comes out otherwise.
#[derive(Debug, Clone, Serialize)]
pub struct MovedRow {
    /// What moves it: a rule, the result that a memory stands for, or a reason's code.
    pub cause: String,
    /// Whether the model would read something else, and not the same for another reason.
    pub seen: bool,
    /// The decision under the policy that decided.
    pub before: ExplainRow,
    /// The decision under the other one.
    pub after: ExplainRow,
}

impl AgainstReport {
    /// Makes the report of some decisions that move.
    pub fn new(
        conversation: ConversationId,
        id: AssemblyId,
        against: &Against,
        moved: &[Moved],
    ) -> Self {
        Self {
            schema: "foldback.against/1",
            conversation: conversation.to_string(),
            assembly: id.to_string(),
            from: JudgedRow::new(&against.from),
            to: JudgedRow::new(&against.to),
            moved: moved
                .iter()
                .map(|moved| MovedRow {
                    cause: moved.cause(),
                    seen: moved.is_seen(),
                    before: ExplainRow::new(&moved.before),
                    after: ExplainRow::new(&moved.after),
                })
                .collect(),
        }
    }
}

impl JudgedRow {
    fn new(judged: &Judged) -> Self {
        Self {
            policy: judged.name.to_string(),
            digest: judged.assembly.policy.to_string(),
            included: judged.assembly.items.len() as u64,
            assembled_tokens: judged.assembly.tokens.assembled,
        }
    }
}
