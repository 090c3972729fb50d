//! One look over all entries, for what a line alone cannot tell.

use super::File;
use super::entry::{Entry, Item};
use crate::read::json::{Fields, text};
use crate::read::same::LongStrings;
use foldback_event::kind::Usage;
use std::collections::{BTreeMap, BTreeSet};

/// What a model's answer comes to, over all its lines.
#[derive(Debug, Clone, Default)]
pub(super) struct Answer {
    /// The line of its last part.
    pub(super) last_line: u64,
    pub(super) usage: Option<Usage>,
    pub(super) finish_reason: Option<String>,
    pub(super) model: Option<String>,
}

/// What is known before the walk.
#[derive(Debug, Default)]
pub(super) struct Plan<'a> {
    /// The answers of a file, by the provider's id.
    pub(super) answers: BTreeMap<(usize, String), Answer>,
    /// The id of the call that started an agent, by the agent's id.
    started: BTreeMap<String, String>,
    /// The ids of the calls that start agents, with what they ask for.
    asked: Vec<(String, String)>,
    /// The id of the call that started the agent of a file beside the session, by its index.
    pub(super) callers: BTreeMap<usize, String>,
    pub(super) long: LongStrings<'a>,
    pub(super) title: Option<String>,
    /// The summaries that are about another file, by line.
    pub(super) foreign: BTreeSet<(usize, u64)>,
}

impl<'a> Plan<'a> {
    /// Looks over a session's file and those beside it.
    pub(super) fn of(main: &File<'a>, beside: &[&File<'a>]) -> Self {
        let mut plan = Self::default();
        let mut summary = None;
        let mut title = None;
        let known: BTreeSet<&str> = main
            .entries
            .iter()
            .filter_map(|entry| entry.uuid.as_deref())
            .collect();
        for entry in &main.entries {
            match entry.item {
                Item::Aside("summary") => {
                    let leaf = entry.fields.text("leafUuid");
                    if leaf.is_none_or(|leaf| known.contains(leaf.as_str())) {
                        summary = entry.fields.text("summary").or(summary);
                    } else {
                        plan.foreign.insert((entry.place.file, entry.place.number));
                    }
                }
                Item::Aside("title") => {
                    let named = ["customTitle", "aiTitle", "title"];
                    title = named
                        .iter()
                        .find_map(|name| entry.fields.text(name))
                        .or(title);
                }
                _ => {}
            }
        }
        plan.title = title.or(summary);
        for entry in main
            .entries
            .iter()
            .chain(beside.iter().flat_map(|file| &file.entries))
        {
            plan.note(entry);
        }
        for (index, file) in beside.iter().enumerate() {
            if let Some(call) = plan.caller(file) {
                plan.callers.insert(index, call);
            }
        }
        plan
    }

    /// Finds the call that started the agent of a file: by the agent's id, which results and
    /// progress lines name, else by what the call asks for.
    fn caller(&mut self, file: &File<'a>) -> Option<String> {
        if let Some(call) = file.agent_id().and_then(|agent| self.started.get(agent)) {
            return Some(call.clone());
        }
        let prompt = file.entries.iter().find_map(prompt_of)?;
        let at = self.asked.iter().position(|(_, asked)| *asked == prompt)?;
        // Each call starts one agent: two that ask for the same are told apart by their order.
        Some(self.asked.remove(at).0)
    }

    fn note(&mut self, entry: &Entry<'a>) {
        if let Some(message) = entry.fields.get("message") {
            self.long.note(message.get());
        }
        if let Some(id) = entry.answer_id() {
            let message = entry.message();
            let answer = self.answers.entry((entry.place.file, id)).or_default();
            answer.last_line = entry.place.number;
            let usage = message.and_then(|message| message.object("usage"));
            if let Some(usage) = usage.map(|usage| usage_of(&usage)) {
                answer.usage = Some(most(answer.usage.unwrap_or_default(), usage));
            }
            let reason = message.and_then(|message| message.text("stop_reason"));
            answer.finish_reason = reason.or_else(|| answer.finish_reason.take());
            let model = message.and_then(|message| message.text("model"));
            answer.model = answer.model.take().or(model);
        }
        match &entry.item {
            Item::User(message) => {
                let agent = entry
                    .structured()
                    .and_then(Fields::of)
                    .and_then(|f| f.text("agentId"));
                let call = message
                    .array("content")
                    .unwrap_or_default()
                    .into_iter()
                    .find_map(|b| Fields::of(b).and_then(|block| block.text("tool_use_id")));
                if let (Some(agent), Some(call)) = (agent, call) {
                    self.started.entry(agent).or_insert(call);
                }
            }
            Item::Aside("progress") => {
                let agent = entry
                    .fields
                    .object("data")
                    .and_then(|data| data.text("agentId"));
                let call = entry.fields.get("parentToolUseID").and_then(text);
                if let (Some(agent), Some(call)) = (agent, call) {
                    self.started.entry(agent).or_insert(call);
                }
            }
            Item::Assistant(message) => {
                for raw in message.array("content").unwrap_or_default() {
                    let Some(block) = Fields::of(raw) else {
                        continue;
                    };
                    if let (Some(id), Some(prompt)) = (block.text("id"), asked_by(&block)) {
                        self.asked.push((id, prompt));
                    }
                }
            }
            _ => {}
        }
    }
}

/// Gives what a call asks an agent to do; none for a call of another kind.
pub(super) fn asked_by(block: &Fields<'_>) -> Option<String> {
    let tool = block.text("name")?;
    matches!(tool.as_str(), "Task" | "Agent").then(|| block.object("input")?.text("prompt"))?
}

/// Gives the text of a user's line.
pub(super) fn prompt_of(entry: &Entry<'_>) -> Option<String> {
    let Item::User(message) = &entry.item else {
        return None;
    };
    message.text("content").or_else(|| {
        let blocks = message.array("content")?;
        blocks
            .into_iter()
            .find_map(|raw| Fields::of(raw)?.text("text"))
    })
}

fn usage_of(usage: &Fields<'_>) -> Usage {
    let number = |name| usage.number(name).unwrap_or_default();
    Usage {
        input: number("input_tokens"),
        output: number("output_tokens"),
        cache_read: number("cache_read_input_tokens"),
        cache_write: number("cache_creation_input_tokens"),
    }
}

/// The lines of one answer repeat its usage, and the early ones have not counted all of it.
fn most(a: Usage, b: Usage) -> Usage {
    Usage {
        input: a.input.max(b.input),
        output: a.output.max(b.output),
        cache_read: a.cache_read.max(b.cache_read),
        cache_write: a.cache_write.max(b.cache_write),
    }
}
