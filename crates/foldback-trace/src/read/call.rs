//! Which result answers which call.
//!
//! Ids of calls repeat in real files, in one conversation and for different calls. A result answers
//! the latest message that has an unanswered call of its id, and there the first such call.

use foldback_event::Digest;
use std::collections::BTreeMap;

/// The domain of the digest by which two calls are compared.
const CONTEXT: &str = "foldback 2026 trace call v1";

/// The calls seen so far.
#[derive(Debug, Default)]
pub(super) struct Calls(BTreeMap<String, Vec<Call>>);

/// A call.
#[derive(Debug, Clone)]
pub(super) struct Call {
    /// Its key in the conversation.
    pub(super) key: String,
    /// Its tool.
    pub(super) tool: String,
    /// A number that calls of one message share and later messages exceed.
    pub(super) message: usize,
    /// The branch it is on.
    pub(super) branch: usize,
    identity: Digest,
    answered: bool,
}

/// What a result answers.
#[derive(Debug)]
pub(super) enum Answer {
    /// This call.
    Call(Call),
    /// A call that was answered before.
    Again,
    /// No call.
    Orphan,
}

impl Calls {
    /// Takes note of a call, and tells whether its id stands for another call already.
    pub(super) fn request(
        &mut self,
        id: &str,
        (key, tool): (&str, &str),
        arguments: &[u8],
        (message, branch): (usize, usize),
    ) -> bool {
        let identity = Digest::of(CONTEXT, &[tool.as_bytes(), b"\0", arguments].concat());
        let of_id = self.0.entry(id.to_owned()).or_default();
        let other = of_id.iter().any(|call| call.identity != identity);
        of_id.push(Call {
            key: key.into(),
            tool: tool.into(),
            message,
            branch,
            identity,
            answered: false,
        });
        other
    }

    /// Finds the call that a result of this id answers, and marks it answered.
    pub(super) fn answer(&mut self, id: &str) -> Answer {
        let Some(of_id) = self.0.get_mut(id) else {
            return Answer::Orphan;
        };
        let latest = of_id
            .iter()
            .filter(|call| !call.answered)
            .map(|call| call.message)
            .max();
        let open = of_id
            .iter_mut()
            .find(|call| !call.answered && Some(call.message) == latest);
        match open {
            Some(call) => {
                call.answered = true;
                Answer::Call(call.clone())
            }
            None => Answer::Again,
        }
    }

    /// Gives the latest call of an id.
    pub(super) fn latest(&self, id: &str) -> Option<&Call> {
        self.0.get(id).and_then(|of_id| of_id.last())
    }

    /// Gives the calls without an answer, in the order of their keys' messages.
    pub(super) fn open(&self) -> Vec<&Call> {
        let mut open: Vec<&Call> = self.0.values().flatten().filter(|c| !c.answered).collect();
        open.sort_by(|a, b| (a.message, &a.key).cmp(&(b.message, &b.key)));
        open
    }
}
