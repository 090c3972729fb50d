//! Which of many admissible records matter for a request: a ranking made outside the pure part.
//!
//! It reads texts, so it cannot be part of the decision. Its scores enter as a recorded input, with
//! the scorer's name and version, and so the decision replays after the texts are erased.

use crate::Engine;
use crate::error::Error;
use foldback_assembly::Assembly;
use foldback_event::kind::{RecordRef, Relevance};
use foldback_event::{CallId, Label, MemoryId, MessageId, PayloadRef, Reason, RecordKind};
use foldback_graph::RuntimeGraph;
use std::collections::BTreeSet;

/// The scorer that this version uses: how many identifiers a record shares with the newest prompt.
const SCORER: &str = "shared-identifiers";
const VERSION: u16 = 1;

/// The least length of a word without a digit that counts as an identifier.
const WORD_MIN: usize = 6;

impl Engine {
    /// Ranks the records that compete for a budget; none if everything fits.
    pub(crate) fn relevance(
        &self,
        graph: &RuntimeGraph,
        assembly: &Assembly,
    ) -> Result<Option<Relevance>, Error> {
        if assembly
            .omissions
            .iter()
            .all(|omission| omission.reason != Reason::Budget)
        {
            return Ok(None);
        }
        let Some(lineage) = graph.lineage(&assembly.request.branch) else {
            return Ok(None);
        };
        let prompt = graph
            .prompt_on(&lineage)
            .and_then(|position| graph.record_at(position));
        let Some(asked) = prompt.and_then(|record| text_payload(graph, record)) else {
            return Ok(None);
        };
        let wanted = identifiers(&self.text_of(graph, &asked)?.or_notice());
        let mut scores = Vec::new();
        for decision in &assembly.decisions {
            let competes = decision.presentation.is_some() || decision.reason == Reason::Budget;
            if let Some(payload) =
                text_payload(graph, &decision.record).filter(|_| competes && !wanted.is_empty())
            {
                let own = identifiers(&self.text_of(graph, &payload)?.or_notice());
                let shared = i64::try_from(own.intersection(&wanted).count()).unwrap_or(i64::MAX);
                if shared > 0 {
                    scores.push((decision.position, shared));
                }
            }
        }
        Ok(Some(Relevance {
            scorer: Label::or_stand_in(SCORER),
            version: VERSION,
            scores,
        }))
    }
}

/// The text by which a record is ranked; an artifact is ranked by its memory.
fn text_payload(graph: &RuntimeGraph, record: &RecordRef) -> Option<PayloadRef> {
    match record.kind {
        RecordKind::Message => graph
            .message(&MessageId::from_bytes(record.id))
            .map(|node| node.content),
        RecordKind::Call => graph
            .call(&CallId::from_bytes(record.id))
            .map(|node| node.arguments),
        RecordKind::Memory => graph
            .memory(&MemoryId::from_bytes(record.id))
            .map(|node| node.summary),
        _ => None,
    }
}

/// Takes the words that may be identifiers: those with a digit, and the longer ones.
fn identifiers(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-')
        .filter(|word| word.chars().any(|c| c.is_ascii_digit()) || word.chars().count() >= WORD_MIN)
        .map(str::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::identifiers;

    #[test]
    fn identifiers_have_a_digit_or_are_long() {
        let found: Vec<String> = identifiers("Is BK7Q2M on the train to Berlin?")
            .into_iter()
            .collect();
        assert_eq!(found, ["berlin", "bk7q2m"]);
    }
}
