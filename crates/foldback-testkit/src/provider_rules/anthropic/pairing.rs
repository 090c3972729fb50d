//! A call of a tool and its result: together, in the right messages, each once.
//!
//! The user's next message answers what the assistant called; what the provider ran itself is
//! answered within the message of the call.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::{Found, items, string};
use super::block::{is_server_call, is_server_result};

pub(super) const TOOL_USE_ID_UNIQUE: &str = "tool-use-id-unique";
pub(super) const TOOL_USE_ANSWERED: &str = "tool-use-answered";
pub(super) const TOOL_RESULT_ONCE: &str = "tool-result-once";
pub(super) const TOOL_RESULT_FIRST: &str = "tool-result-first";
pub(super) const TOOL_RESULT_ORPHAN: &str = "tool-result-orphan";
pub(super) const SERVER_CALL_ANSWERED: &str = "server-call-answered";
pub(super) const SERVER_RESULT_ONCE: &str = "server-result-once";
pub(super) const SERVER_RESULT_ORPHAN: &str = "server-result-orphan";

/// The names of the rules that hold for one side's tools.
#[derive(Debug)]
struct Side {
    answered: &'static str,
    once: &'static str,
    orphan: &'static str,
}

const CLIENT: Side = Side {
    answered: TOOL_USE_ANSWERED,
    once: TOOL_RESULT_ONCE,
    orphan: TOOL_RESULT_ORPHAN,
};

const SERVER: Side = Side {
    answered: SERVER_CALL_ANSWERED,
    once: SERVER_RESULT_ONCE,
    orphan: SERVER_RESULT_ORPHAN,
};

/// Follows the calls through the messages of a request.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    /// Every id of a call so far.
    ids: BTreeSet<String>,
    /// The calls of the message before, for the user to answer.
    asked: Calls,
}

impl Pairs {
    /// Takes the next message; a message without blocks answers nothing.
    pub(super) fn message(
        &mut self,
        role: &str,
        blocks: &[Value],
        content: &str,
        found: &mut Found,
    ) {
        let mut asked = std::mem::take(&mut self.asked);
        if role == "user" {
            let mut others = false;
            for (path, block) in items(blocks, content) {
                if string(block, "type") != Some("tool_result") {
                    others = true;
                    continue;
                }
                if others {
                    let detail = "results stand before all else in their message";
                    found.add(path.as_str(), TOOL_RESULT_FIRST, detail);
                }
                asked.answer(block, &path, &CLIENT, found);
            }
        }
        asked.close(&CLIENT, found);
        if role == "assistant" {
            self.assistant(blocks, content, found);
        }
    }

    /// Ends the request: what is not answered by now never is.
    pub(super) fn end(self, found: &mut Found) {
        self.asked.close(&CLIENT, found);
    }

    fn assistant(&mut self, blocks: &[Value], content: &str, found: &mut Found) {
        let mut server = Calls::default();
        for (path, block) in items(blocks, content) {
            let kind = string(block, "type").unwrap_or_default();
            if kind == "tool_use" {
                self.asked.ask(block, &path, &mut self.ids, found);
            } else if is_server_call(kind) {
                server.ask(block, &path, &mut self.ids, found);
            } else if is_server_result(kind) {
                server.answer(block, &path, &SERVER, found);
            }
        }
        server.close(&SERVER, found);
    }
}

/// The calls that wait for a result.
#[derive(Debug, Default)]
struct Calls(Vec<Call>);

#[derive(Debug)]
struct Call {
    id: String,
    path: String,
    answered: bool,
}

impl Calls {
    fn ask(&mut self, block: &Value, path: &str, ids: &mut BTreeSet<String>, found: &mut Found) {
        // A call without an id is reported for its id.
        let Some(id) = string(block, "id").filter(|id| !id.is_empty()) else {
            return;
        };
        if !ids.insert(id.to_owned()) {
            let detail = format!("`{id}` names an earlier call");
            found.add(format!("{path}/id"), TOOL_USE_ID_UNIQUE, detail);
        }
        // Asked once, it is answered once.
        if !self.0.iter().any(|call| call.id == id) {
            self.0.push(Call {
                id: id.to_owned(),
                path: path.to_owned(),
                answered: false,
            });
        }
    }

    fn answer(&mut self, block: &Value, path: &str, side: &Side, found: &mut Found) {
        let id = string(block, "tool_use_id").unwrap_or_default();
        // A client's result without an id is reported for its id.
        if id.is_empty() && side.orphan == TOOL_RESULT_ORPHAN {
            return;
        }
        match self.0.iter_mut().find(|call| call.id == id) {
            None => found.add(path, side.orphan, format!("no call `{id}` stands before")),
            Some(call) if call.answered => {
                found.add(path, side.once, format!("`{id}` is answered already"));
            }
            Some(call) => call.answered = true,
        }
    }

    fn close(self, side: &Side, found: &mut Found) {
        for call in self.0.into_iter().filter(|call| !call.answered) {
            let detail = format!("no result of `{}` directly follows", call.id);
            found.add(call.path, side.answered, detail);
        }
    }
}
