//! The report of an evaluation.

use crate::event::{Presentation, Reason};
use crate::{Evaluation, Layout, Measure};
use serde::Serialize;
use std::collections::BTreeMap;

/// What tokens read from a provider's cache cost, in permille of an input token: two prices that
/// providers ask.
const READ_PERMILLE: [u64; 2] = [100, 50];

/// What requests took and held, layout by layout.
#[derive(Debug, Clone, Serialize)]
pub struct EvaluateReport {
    /// `foldback.evaluate/1`
    pub schema: &'static str,
    /// How many conversations were measured.
    pub conversations: u64,
    /// The sums, a row per layout.
    pub totals: Vec<LayoutRow>,
    /// A line per request.
    pub requests: Vec<EvaluatedRow>,
    /// Requests that could not be assembled and count in no layout.
    pub refused: Vec<EvaluateRefusedRow>,
}

/// One layout's account.
#[derive(Debug, Clone, Serialize)]
pub struct LayoutRow {
    /// The layout.
    pub layout: &'static str,
    /// All tokens.
    pub tokens: u64,
    /// Tokens, in permille of full replay.
    pub tokens_permille: Option<u64>,
    /// Tokens that the request before began with as well.
    pub cached: u64,
    /// Cost in input tokens where reading from the cache costs 0.1.
    pub cost_read_100: u64,
    /// The same in permille of full replay, which is append-only.
    pub cost_read_100_permille: Option<u64>,
    /// Cost in input tokens where reading from the cache costs 0.05.
    pub cost_read_50: u64,
    /// The same in permille of full replay.
    pub cost_read_50_permille: Option<u64>,
    /// Needed values of arguments.
    pub values: KeptRow,
    /// Needed lines of edits.
    pub lines: KeptRow,
}

/// How much of what was needed was there.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct KeptRow {
    /// How many texts stand in earlier results alone.
    pub needed: u64,
    /// How many of them stand in the request.
    pub kept: u64,
    /// How many do, or are in the bytes of an artifact whose handle does.
    pub reachable: u64,
}

/// One request.
#[derive(Debug, Clone, Serialize)]
pub struct EvaluatedRow {
    /// The conversation.
    pub conversation: String,
    /// The run that the request was for.
    pub run: String,
    /// The position that it was laid out from.
    pub position: u64,
    /// A row per layout.
    pub layouts: Vec<LayoutRow>,
    /// What its calls need and the assembled request does not hold.
    pub missing: Vec<MissingRow>,
}

/// A needed text that does not stand in the assembled request.
#[derive(Debug, Clone, Serialize)]
pub struct MissingRow {
    /// `value` or `line`
    pub need: &'static str,
    /// The text, cut to a readable length.
    pub text: String,
    /// The tool that was called with it.
    pub tool: String,
    /// The newest result that holds it.
    pub artifact: String,
    /// The tool whose result that is.
    pub source: String,
    /// The form in which that result stands, if any.
    pub presentation: Option<&'static str>,
    /// Why its bytes are not there.
    pub reason: Option<&'static str>,
    /// Whether its bytes can be asked for.
    pub reachable: bool,
}

/// A request that could not be assembled.
#[derive(Debug, Clone, Serialize)]
pub struct EvaluateRefusedRow {
    /// The conversation.
    pub conversation: String,
    /// The run's position.
    pub position: u64,
    /// Why.
    pub message: String,
}

/// A missing text is told so far: the whole of it is one command away.
const TEXT_CHARS_MAX: usize = 160;

impl EvaluateReport {
    /// Makes the report of evaluations.
    pub fn new(evaluations: &[Evaluation]) -> Self {
        let mut totals: BTreeMap<Layout, Measure> = BTreeMap::new();
        let (mut requests, mut refused) = (Vec::new(), Vec::new());
        for evaluation in evaluations {
            let conversation = evaluation.conversation.to_string();
            for request in &evaluation.requests {
                for (layout, measure) in &request.layouts {
                    *totals.entry(*layout).or_default() += *measure;
                }
                requests.push(EvaluatedRow {
                    conversation: conversation.clone(),
                    run: request.run.to_string(),
                    position: request.position,
                    layouts: rows(&request.layouts),
                    missing: request.missing.iter().map(MissingRow::new).collect(),
                });
            }
            refused.extend(
                evaluation
                    .refused
                    .iter()
                    .map(|(position, error)| EvaluateRefusedRow {
                        conversation: conversation.clone(),
                        position: *position,
                        message: error.to_string(),
                    }),
            );
        }
        Self {
            schema: "foldback.evaluate/1",
            conversations: evaluations.len() as u64,
            totals: rows(&totals),
            requests,
            refused,
        }
    }
}

impl MissingRow {
    fn new(missing: &crate::Missing) -> Self {
        Self {
            need: missing.need.name(),
            text: missing.text.chars().take(TEXT_CHARS_MAX).collect(),
            tool: missing.tool.to_string(),
            artifact: missing.artifact.to_string(),
            source: missing.source.to_string(),
            presentation: missing.presentation.map(Presentation::name),
            reason: missing.reason.map(Reason::name),
            reachable: missing.reachable,
        }
    }
}

fn rows(layouts: &BTreeMap<Layout, Measure>) -> Vec<LayoutRow> {
    let replay = layouts.get(&Layout::Replay).copied().unwrap_or_default();
    let row = |(layout, measure): (&Layout, &Measure)| {
        let [dear, cheap] = READ_PERMILLE.map(|read| (measure.cost(read), replay.cost(read)));
        LayoutRow {
            layout: layout.name(),
            tokens: measure.tokens,
            tokens_permille: permille(measure.tokens, replay.tokens),
            cached: measure.cached,
            cost_read_100: dear.0,
            cost_read_100_permille: permille(dear.0, dear.1),
            cost_read_50: cheap.0,
            cost_read_50_permille: permille(cheap.0, cheap.1),
            values: kept(measure.values),
            lines: kept(measure.lines),
        }
    };
    layouts.iter().map(row).collect()
}

fn kept(kept: crate::Kept) -> KeptRow {
    KeptRow {
        needed: kept.needed,
        kept: kept.kept,
        reachable: kept.reachable,
    }
}

/// Gives a share in permille, rounded; none of nothing.
fn permille(part: u64, whole: u64) -> Option<u64> {
    let (part, whole) = (u128::from(part), u128::from(whole));
    let share = (part * 1_000 + whole / 2).checked_div(whole)?;
    u64::try_from(share).ok()
}
