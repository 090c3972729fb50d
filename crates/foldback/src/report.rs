//! Reports for programs: JSON with a version of its own.
//!
//! Fields are added, never changed or taken away; a changed meaning is another `schema`.
//! What is on disk is told in docs/event-format.md and has nothing to do with these names.

mod against;
mod attest;
mod audit;
mod erase;
mod evaluate;
mod log;
mod policy;
mod rehydrate;
mod show;
mod view;

pub use against::{AgainstReport, JudgedRow, MovedRow};
pub use attest::{AttestReport, AttestationRow, KeyReport, RotateReport, standing_text};
pub use audit::{AuditReport, ExportReport};
pub use erase::{EraseReport, RetainReport};
pub use evaluate::{
    EvaluateRefusedRow, EvaluateReport, EvaluatedRow, KeptRow, LayoutRow, MissingRow,
};
pub use log::{LogReport, LogRow};
pub use policy::{
    AssembleReport, PolicyCheckReport, PolicyProblem, PolicyReport, WithheldRow, policy_errors,
};
pub use rehydrate::RehydrateReport;
pub use show::{PayloadRow, ShowReport};
pub use view::{Counts, FindingRow, GraphReport, RelationRow, TranscriptReport, TranscriptRow};

use crate::event::kind::LayoutAccount;
use crate::event::{AssemblyId, ConversationId};
use crate::{
    Assembly, ConversationSummary, Error, Explanation, ImportedConversation, OpenError, Recorded,
    Replay, ReplayedRequest, Verification,
};
use foldback_store::{GetError, PutError, ReadError};
use serde::Serialize;
use std::collections::BTreeMap;

/// What an import did.
#[derive(Debug, Clone, Serialize)]
pub struct ImportReport {
    /// `foldback.import/1`
    pub schema: &'static str,
    /// A line per conversation.
    pub conversations: Vec<ImportRow>,
    /// How many source records were in the store already.
    pub already_present: u64,
}

/// One imported conversation.
#[derive(Debug, Clone, Serialize)]
pub struct ImportRow {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: Option<String>,
    /// How many events were added.
    pub events: u64,
    /// How many messages the source holds.
    pub messages: u64,
    /// How many tool calls the source holds.
    pub tool_calls: u64,
    /// How many artifacts the conversation has.
    pub artifacts: u64,
    /// How many memories it has.
    pub memories: u64,
    /// What was odd: code to count.
    pub findings: BTreeMap<String, u64>,
    /// How many of its source records were in the store already.
    pub already_present: u64,
}

impl ImportReport {
    /// Makes the report of an import.
    pub fn new(rows: &[ImportedConversation]) -> Self {
        let row = |row: &ImportedConversation| ImportRow {
            id: row.id.to_string(),
            title: row.title.clone(),
            events: row.events,
            messages: row.messages,
            tool_calls: row.tool_calls,
            artifacts: row.artifacts,
            memories: row.memories,
            findings: row.findings.clone(),
            already_present: row.already_present,
        };
        Self {
            schema: "foldback.import/1",
            conversations: rows.iter().map(row).collect(),
            already_present: rows.iter().map(|row| row.already_present).sum(),
        }
    }
}

/// What a replay found.
#[derive(Debug, Clone, Serialize)]
pub struct ReplayReport {
    /// `foldback.replay/1`
    pub schema: &'static str,
    /// A line per request.
    pub requests: Vec<RequestRow>,
    /// Requests that could not be assembled.
    pub refused: Vec<RefusedRow>,
    /// The sums.
    pub totals: Totals,
    /// What verification found afterwards, if it ran.
    pub verified: Option<VerifyReport>,
}

/// One replayed request.
#[derive(Debug, Clone, Serialize)]
pub struct RequestRow {
    /// The conversation.
    pub conversation: String,
    /// The recorded assembly.
    pub assembly: String,
    /// The position it was assembled from.
    pub position: u64,
    /// What sending the whole history takes, in tokens.
    pub replay_tokens: u64,
    /// What the assembly takes, in tokens.
    pub assembled_tokens: u64,
    /// How many records are in.
    pub included: u64,
    /// Reason code to count.
    pub omitted: BTreeMap<String, u64>,
}

/// One request that could not be assembled.
#[derive(Debug, Clone, Serialize)]
pub struct RefusedRow {
    /// The conversation.
    pub conversation: String,
    /// The position of the run.
    pub position: u64,
    /// Why.
    pub message: String,
}

/// The sums of a replay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// How many requests.
    pub requests: u64,
    /// What sending the whole history each time takes, in tokens.
    pub replay_tokens: u64,
    /// What the assemblies take, in tokens.
    pub assembled_tokens: u64,
}

impl ReplayReport {
    /// Makes the report of one or more replays.
    pub fn new(replays: &[Replay]) -> Self {
        let mut out = Self {
            schema: "foldback.replay/1",
            requests: Vec::new(),
            refused: Vec::new(),
            totals: Totals::default(),
            verified: None,
        };
        for replay in replays {
            let conversation = replay.conversation.to_string();
            for request in &replay.requests {
                out.totals.requests += 1;
                out.totals.replay_tokens += request.replay_tokens;
                out.totals.assembled_tokens += request.assembled_tokens;
                out.requests.push(request_row(&conversation, request));
            }
            for (position, error) in &replay.refused {
                out.refused.push(RefusedRow {
                    conversation: conversation.clone(),
                    position: *position,
                    message: error.to_string(),
                });
            }
        }
        out
    }
}

fn request_row(conversation: &str, request: &ReplayedRequest) -> RequestRow {
    RequestRow {
        conversation: conversation.to_owned(),
        assembly: request.assembly.to_string(),
        position: request.position,
        replay_tokens: request.replay_tokens,
        assembled_tokens: request.assembled_tokens,
        included: request.included,
        omitted: request
            .omitted
            .iter()
            .map(|(reason, count)| (reason.to_string(), *count))
            .collect(),
    }
}

/// What verification found.
#[derive(Debug, Clone, Serialize)]
pub struct VerifyReport {
    /// `foldback.verify/1`
    pub schema: &'static str,
    /// Whether all holds.
    pub ok: bool,
    /// How many conversations were folded.
    pub conversations: u64,
    /// How many events were read.
    pub events: u64,
    /// How many payloads events name.
    pub payloads: u64,
    /// How many assemblies are recorded.
    pub assemblies: u64,
    /// How many of these came out the same.
    pub reproduced: u64,
    /// How many memories came out the same from their artifacts.
    pub memories: u64,
    /// How many memories could not be derived again.
    pub memories_skipped: u64,
    /// The attestations that the log was compared with, in the order in which they were given.
    pub attestations: Vec<AttestationRow>,
    /// What does not hold.
    pub problems: Vec<ProblemRow>,
}

/// Something that does not hold.
#[derive(Debug, Clone, Serialize)]
pub struct ProblemRow {
    /// What, as a stable code.
    pub code: &'static str,
    /// The conversation, where it is known.
    pub conversation: Option<String>,
    /// The position in the conversation, where it is known.
    pub position: Option<u64>,
    /// The file and offset, where it is known.
    pub place: Option<String>,
    /// What was seen.
    pub detail: String,
}

impl ProblemRow {
    fn new(problem: &crate::Problem) -> Self {
        Self {
            code: problem.code,
            conversation: problem.conversation.map(|id| id.to_string()),
            position: problem.position,
            place: problem.place.clone(),
            detail: problem.detail.clone(),
        }
    }
}

impl VerifyReport {
    /// Makes the report of a verification.
    pub fn new(found: &Verification) -> Self {
        Self {
            schema: "foldback.verify/1",
            ok: found.ok(),
            conversations: found.conversations,
            events: found.events,
            payloads: found.payloads,
            assemblies: found.assemblies,
            reproduced: found.reproduced,
            memories: found.memories,
            memories_skipped: found.memories_skipped,
            attestations: Vec::new(),
            problems: found.problems.iter().map(ProblemRow::new).collect(),
        }
    }
}

/// The conversations of a store.
#[derive(Debug, Clone, Serialize)]
pub struct ConversationsReport {
    /// `foldback.conversations/1`
    pub schema: &'static str,
    /// A line per conversation, in the order in which they began.
    pub conversations: Vec<ConversationRow>,
}

/// One conversation.
#[derive(Debug, Clone, Serialize)]
pub struct ConversationRow {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: Option<String>,
    /// How many events it has.
    pub events: u64,
    /// How many messages it has.
    pub messages: u64,
}

impl ConversationsReport {
    /// Makes the report of a list of conversations.
    pub fn new(rows: &[ConversationSummary]) -> Self {
        let row = |row: &ConversationSummary| ConversationRow {
            id: row.id.to_string(),
            title: row.title.clone(),
            events: row.events,
            messages: row.messages,
        };
        Self {
            schema: "foldback.conversations/1",
            conversations: rows.iter().map(row).collect(),
        }
    }
}

/// Why records are in a request or not.
#[derive(Debug, Clone, Serialize)]
pub struct ExplainReport {
    /// `foldback.explain/1`
    pub schema: &'static str,
    /// The conversation.
    pub conversation: String,
    /// The assembly.
    pub assembly: String,
    /// The position it was assembled from.
    pub position: u64,
    /// The policy's name.
    pub policy: String,
    /// The provider that the request goes to.
    pub provider: String,
    /// What sending the whole history takes, in tokens.
    pub replay_tokens: u64,
    /// What the assembly takes, in tokens.
    pub assembled_tokens: u64,
    /// How many records are in.
    pub included: u64,
    /// Reason code to count.
    pub omitted: BTreeMap<String, u64>,
    /// How it is laid out and what that costs; null for assemblies of assembler 1.
    pub layout: Option<LayoutSummary>,
    /// Whether the decision came out as it was recorded.
    pub reproduced: bool,
    /// A line per record.
    pub records: Vec<ExplainRow>,
}

impl ExplainReport {
    /// Makes the report of an assembly that was decided again, with the records that were asked
    /// about.
    pub fn new(
        conversation: ConversationId,
        id: AssemblyId,
        recorded: &Recorded,
        records: &[Explanation],
    ) -> Self {
        let assembly = &recorded.assembly;
        Self {
            schema: "foldback.explain/1",
            conversation: conversation.to_string(),
            assembly: id.to_string(),
            position: assembly.request.position,
            policy: recorded.policy.policy().name.to_string(),
            provider: assembly.request.route.provider.to_string(),
            replay_tokens: assembly.tokens.replay,
            assembled_tokens: assembly.tokens.assembled,
            included: assembly.items.len() as u64,
            omitted: omitted(assembly),
            layout: assembly.layout.as_ref().map(LayoutSummary::new),
            reproduced: recorded.differences.is_empty(),
            records: records.iter().map(ExplainRow::new).collect(),
        }
    }
}

/// How an assembly is laid out and what that costs. Tokens, and prices in thousandths of an input
/// token that is not cached.
#[derive(Debug, Clone, Serialize)]
pub struct LayoutSummary {
    /// How many of its tokens are a prefix of the request that it extends.
    pub prefix_tokens: u64,
    /// What its input costs, in thousandths of an input token that is not cached.
    pub cost_permille: u64,
    /// The price of a token that is read from the cache.
    pub read_permille: u64,
    /// The price of a token that is written to it.
    pub write_permille: u64,
    /// How many results stand in a larger form than is due.
    pub pending: u64,
    /// How many changed to a smaller form in this request.
    pub applied: u64,
    /// D: what the changes that were weighed save in each request.
    pub saving_tokens: u64,
    /// S: what stands behind them and would be written anew.
    pub suffix_tokens: u64,
    /// With how many further requests the planner reckoned.
    pub horizon: u64,
    /// From how many on the changes pay; null if they never do.
    pub break_even: Option<u64>,
}

impl LayoutSummary {
    fn new(layout: &LayoutAccount) -> Self {
        let plan = layout.plan;
        Self {
            prefix_tokens: layout.prefix,
            cost_permille: layout.cost,
            read_permille: plan.read_permille,
            write_permille: plan.write_permille,
            pending: plan.pending,
            applied: plan.applied,
            saving_tokens: plan.saving,
            suffix_tokens: plan.suffix,
            horizon: plan.horizon,
            break_even: Some(plan.break_even).filter(|pays| *pays < u64::MAX),
        }
    }
}

/// Counts what an assembly left out, by the code of the reason.
fn omitted(assembly: &Assembly) -> BTreeMap<String, u64> {
    let omissions = assembly.omissions.iter();
    omissions.map(|o| (o.reason.to_string(), o.count)).collect()
}

/// Why one record is in a request or not.
#[derive(Debug, Clone, Serialize)]
pub struct ExplainRow {
    /// The position of the event that created it.
    pub position: u64,
    /// Its kind.
    pub kind: String,
    /// Its id.
    pub id: String,
    /// The form in which it entered; null if it was left out.
    pub presentation: Option<String>,
    /// The reason's code.
    pub reason: &'static str,
    /// The rule that decided, where one did.
    pub rule: Option<String>,
    /// Its tokens.
    pub tokens: u64,
    /// The answer in one sentence.
    pub sentence: String,
    /// Where it comes from, one step a line.
    pub provenance: Vec<String>,
    /// What can be done to see more.
    pub hint: Option<String>,
}

impl ExplainRow {
    /// Makes the row of an explanation.
    pub fn new(explanation: &Explanation) -> Self {
        Self {
            position: explanation.position,
            kind: explanation.record.kind.to_string(),
            id: record_id(&explanation.record),
            presentation: explanation.presentation.map(|p| p.to_string()),
            reason: explanation.reason,
            rule: explanation.rule.clone(),
            tokens: explanation.tokens,
            sentence: explanation.sentence.clone(),
            provenance: explanation.provenance.clone(),
            hint: explanation.hint.clone(),
        }
    }
}

/// Writes the id that a record reference names.
pub fn record_id(record: &crate::event::kind::RecordRef) -> String {
    use crate::event::RecordKind as K;
    use crate::event::{ArtifactId, CallId, CheckpointId, FactId, MemoryId, MessageId, RunId};
    match record.kind {
        K::Message => MessageId::from_bytes(record.id).to_string(),
        K::Call => CallId::from_bytes(record.id).to_string(),
        K::Artifact => ArtifactId::from_bytes(record.id).to_string(),
        K::Memory => MemoryId::from_bytes(record.id).to_string(),
        K::Fact => FactId::from_bytes(record.id).to_string(),
        K::Checkpoint => CheckpointId::from_bytes(record.id).to_string(),
        K::Child => RunId::from_bytes(record.id).to_string(),
        K::Skill => "skills".to_owned(),
    }
}

/// An error, for programs.
#[derive(Debug, Clone, Serialize)]
pub struct ErrorReport {
    /// `foldback.error/1`
    pub schema: &'static str,
    /// The stable code.
    pub code: String,
    /// What went wrong, with its causes.
    pub message: String,
    /// A next step, where one is known.
    pub hint: Option<String>,
}

impl ErrorReport {
    /// Makes the report of an error of the engine.
    pub fn new(error: &Error) -> Self {
        Self {
            schema: "foldback.error/1",
            code: error.code().to_owned(),
            message: chain(error),
            hint: error.hint(),
        }
    }
}

/// Tells whether an error says that the store itself is damaged, or too new to be read.
pub fn is_damage(error: &Error) -> bool {
    matches!(
        error,
        Error::Open(
            OpenError::Corrupt { .. } | OpenError::TooNew { .. } | OpenError::BadStoreFile { .. }
        ) | Error::Read(ReadError::Corrupt { .. })
            | Error::Get(GetError::Corrupt { .. })
            | Error::Decode { .. }
    )
}

/// Tells whether an error says that a key is missing or does not open what it should.
pub fn is_about_key(error: &Error) -> bool {
    matches!(
        error,
        Error::Open(OpenError::BadKey { .. } | OpenError::NoMasterKey { .. })
            | Error::Key(_)
            | Error::Put(PutError::Key(_))
            | Error::Get(GetError::Key(_))
    )
}

/// Tells whether a problem that verification found is in the store's bytes, and not in what
/// follows from them.
pub fn is_damage_code(code: &str) -> bool {
    !matches!(code, "assembly" | "memory")
}

/// Writes an error with its causes on one line.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut out = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let text = error.to_string();
        if !out.ends_with(&text) {
            out.push_str(": ");
            out.push_str(&text);
        }
        source = error.source();
    }
    out
}
