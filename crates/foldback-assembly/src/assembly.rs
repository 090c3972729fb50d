//! What an assembly is: the items in order, and a verdict on every candidate.

use foldback_event::codec::{EncodeError, encode_value};
use foldback_event::kind::{
    AssemblyRequest, ContextAssembled, LayoutAccount, OmissionCount, RecordRef, SafetyDecision,
    Selected, TokenAccount,
};
use foldback_event::{
    ArtifactId, AssemblyId, Digest, Label, MemoryId, Micros, Presentation, Reason,
};
use std::fmt::Write as _;

/// The part of a request in which an item stands, in the order of layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// The operator's instructions.
    Instructions,
    /// The state of loaded skills.
    Skills,
    /// Facts about the user.
    Facts,
    /// The history of the branch, in order.
    History,
    /// What was brought in from beside the history: promoted and shared records, reports of
    /// children, checkpoints, exact bytes.
    Tail,
}

impl Section {
    /// Gives the name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::Skills => "skills",
            Self::Facts => "facts",
            Self::History => "history",
            Self::Tail => "tail",
        }
    }
}

/// One record in the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item {
    /// Where it stands.
    pub section: Section,
    /// The position of the event that created the record.
    pub position: u64,
    /// The record.
    pub record: RecordRef,
    /// The form in which it enters.
    pub presentation: Presentation,
    /// Why, in this form.
    pub reason: Reason,
    /// What it takes, in tokens.
    pub tokens: u64,
    /// What its words point to.
    pub note: Option<Note>,
}

/// What a decision points to besides its record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Note {
    /// This memory stands for the record.
    StandsFor(MemoryId),
    /// This memory replaces it.
    SupersededBy(MemoryId),
    /// It is stale since then.
    StaleSince(Micros),
    /// What it is about was changed since it was seen, by a tool whose outcome stands there.
    Changed {
        /// The position of the outcome.
        position: u64,
        /// When it was changed.
        at: Micros,
    },
    /// It disagrees with this memory.
    ConflictsWith(MemoryId),
    /// This artifact is shown itself.
    Shown(ArtifactId),
    /// It is protected: no budget removes it.
    Protected,
}

/// The verdict on one candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The position of the event that created the record.
    pub position: u64,
    /// The record.
    pub record: RecordRef,
    /// The form in which it enters; none if it is left out.
    pub presentation: Option<Presentation>,
    /// Why.
    pub reason: Reason,
    /// The rule that decided, where one did.
    pub rule: Option<Label>,
    /// What it takes, or would take as it was captured, in tokens.
    pub tokens: u64,
    /// What the decision points to.
    pub note: Option<Note>,
}

/// What one request contains, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assembly {
    /// The request it answers.
    pub request: AssemblyRequest,
    /// BLAKE3 of the policy document that decided.
    pub policy: Digest,
    /// The version of the assembler.
    pub assembler: u16,
    /// What is in, in order of layout.
    pub items: Vec<Item>,
    /// The verdict on every candidate, in ascending order of position.
    pub decisions: Vec<Decision>,
    /// What is out, by reason; candidates that were never looked at are counted here too.
    pub omissions: Vec<OmissionCount>,
    /// What a rule kept out.
    pub safety: Vec<SafetyDecision>,
    /// The token account.
    pub tokens: TokenAccount,
    /// How it is laid out; none under the rules of assembler 1.
    pub layout: Option<LayoutAccount>,
}

const CONTEXT: &str = "foldback 2026 assembly digest v1";
/// Of an assembly that records its layout.
const CONTEXT_2: &str = "foldback 2026 assembly digest v2";

impl Assembly {
    /// Lists the selection as it is recorded.
    pub fn selection(&self) -> Vec<Selected> {
        let select = |item: &Item| Selected {
            record: item.position,
            kind: item.record.kind,
            presentation: item.presentation,
            reason: item.reason,
        };
        self.items.iter().map(select).collect()
    }

    /// Makes the event body that records the assembly.
    ///
    /// # Errors
    ///
    /// [`EncodeError`] if the selection is larger than an event may be.
    pub fn to_event(&self, assembly: AssemblyId) -> Result<ContextAssembled, EncodeError> {
        let mut body = ContextAssembled {
            assembly,
            request: self.request.clone(),
            policy: self.policy,
            assembler: self.assembler,
            selection: self.selection(),
            omissions: self.omissions.clone(),
            safety: self.safety.clone(),
            tokens: self.tokens,
            durations: Vec::new(),
            digest: Digest::from_bytes([0; 32]),
            layout: self.layout.clone(),
        };
        body.digest = selection_digest(&body)?;
        Ok(body)
    }

    /// Compares with a recorded assembly and lists what differs; nothing differs if it reproduces.
    ///
    /// # Errors
    ///
    /// [`EncodeError`] if the selection is larger than an event may be.
    pub fn differences(
        &self,
        recorded: &ContextAssembled,
    ) -> Result<Vec<&'static str>, EncodeError> {
        let again = self.to_event(recorded.assembly)?;
        let mut out = Vec::new();
        let mut check = |name, same: bool| {
            if !same {
                out.push(name);
            }
        };
        check("policy", again.policy == recorded.policy);
        check("assembler version", again.assembler == recorded.assembler);
        check("selection", again.selection == recorded.selection);
        check("omissions", again.omissions == recorded.omissions);
        check("safety decisions", again.safety == recorded.safety);
        check("token account", again.tokens == recorded.tokens);
        check("layout", again.layout == recorded.layout);
        check("digest", again.digest == recorded.digest);
        Ok(out)
    }

    /// Finds the verdict on a record.
    pub fn decision(&self, position: u64) -> Option<&Decision> {
        let at = self
            .decisions
            .binary_search_by_key(&position, |decision| decision.position);
        at.ok().and_then(|at| self.decisions.get(at))
    }
}

/// Hashes what an assembly decided; durations and the assembly's own id are no part of it.
fn selection_digest(body: &ContextAssembled) -> Result<Digest, EncodeError> {
    let mut bytes = encode_value(&(
        &body.request,
        &body.policy,
        body.assembler,
        &body.selection,
        &body.omissions,
        &body.safety,
        &body.tokens,
    ))?;
    let Some(layout) = &body.layout else {
        return Ok(Digest::of(CONTEXT, &bytes));
    };
    bytes.extend(encode_value(layout)?);
    Ok(Digest::of(CONTEXT_2, &bytes))
}

/// Writes an assembly as stable text, for people and for snapshot tests.
pub fn assembly_text(assembly: &Assembly) -> String {
    let mut out = String::new();
    let tokens = &assembly.tokens;
    let _ = writeln!(
        out,
        "assembly at {} for {} via {}: {} of {} replay tokens, {} protected, budget {}",
        assembly.request.position,
        assembly.request.participant.short(),
        assembly.request.route.provider,
        tokens.assembled,
        tokens.replay,
        tokens.protected,
        tokens.budget,
    );
    let mut section = None;
    for item in &assembly.items {
        if section != Some(item.section) {
            let _ = writeln!(out, "  {}", item.section.name());
            section = Some(item.section);
        }
        let _ = writeln!(
            out,
            "    {:>5} {:<8} {:<9} {:<14} {:>6} tok",
            item.position, item.record.kind, item.presentation, item.reason, item.tokens
        );
    }
    for omission in &assembly.omissions {
        let _ = writeln!(out, "  out: {} {}", omission.count, omission.reason);
    }
    for decision in assembly
        .decisions
        .iter()
        .filter(|d| d.presentation.is_none())
    {
        let rule = decision
            .rule
            .as_ref()
            .map_or(String::new(), |rule| format!(" by {rule}"));
        let (kind, reason) = (decision.record.kind, decision.reason);
        let _ = writeln!(out, "    {:>5} {kind:<8} {reason}{rule}", decision.position);
    }
    out
}
