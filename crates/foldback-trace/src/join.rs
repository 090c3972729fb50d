//! Joining: several conversations one after the other, as if they had been one long one.
//!
//! It is for measuring how a layout fares in long conversations where only short ones are at hand.
//! The person and the model that answers are the same throughout; whoever else took part, and every
//! further branch, stays apart. An instruction that was given before is not given again.

use crate::{Content, SourceBody, SourceConversation, SourceRecord};
use foldback_event::MessageRole;

/// The participants and the branch that all have in common: the person, the model, the main branch.
const SHARED_PARTICIPANTS: usize = 2;
const SHARED_BRANCHES: usize = 1;

impl SourceConversation {
    /// Joins conversations in groups of so many, in their order; the last group may be smaller.
    ///
    /// A size of 0 or 1 joins nothing.
    pub fn join(all: Vec<Self>, size: usize) -> Vec<Self> {
        if size < 2 {
            return all;
        }
        let mut out: Vec<Self> = Vec::new();
        for (at, next) in all.into_iter().enumerate() {
            let number = at % size;
            match out.last_mut().filter(|_| number > 0) {
                Some(joined) => joined.append(next, number),
                None => out.push(Self {
                    key: format!("{} joined in {size}", next.key),
                    ..next
                }),
            }
        }
        out
    }

    /// Appends what happened in another conversation.
    fn append(&mut self, next: Self, number: usize) {
        let map = Map {
            number,
            participants: self.participants.len().max(SHARED_PARTICIPANTS),
            branches: self.branches.len().max(SHARED_BRANCHES),
        };
        let mut participants = next.participants;
        let others = participants.split_off(participants.len().min(self.participants.len()));
        for (mine, theirs) in self.participants.iter_mut().zip(&participants) {
            // Whoever has not said so far which model answers may say it now.
            mine.model = mine.model.take().or_else(|| theirs.model.clone());
        }
        let own = participants.into_iter().skip(SHARED_PARTICIPANTS);
        for mut other in own.chain(others) {
            other.key = map.key(&other.key);
            self.participants.push(other);
        }
        // The index of each record in the joined conversation; that of one which is left out is
        // the index of what stands before it.
        let mut places = Vec::with_capacity(next.records.len());
        for record in next.records {
            if !self.has_instruction(&record) {
                self.records.push(map.record(record));
            }
            places.push(self.records.len().saturating_sub(1));
        }
        for mut branch in next.branches.into_iter().skip(SHARED_BRANCHES) {
            branch.key = map.key(&branch.key);
            branch.parent = branch.parent.map(|(parent, last)| {
                let last = places.get(last).copied().unwrap_or(last);
                (map.branch(parent), last)
            });
            self.branches.push(branch);
        }
        self.findings.extend(next.findings);
    }

    fn has_instruction(&self, record: &SourceRecord) -> bool {
        let Some(instruction) = instruction(record) else {
            return false;
        };
        let mut before = self.records.iter().filter_map(self::instruction);
        before.any(|before| before == instruction)
    }
}

/// Gives the text of an instruction on the main branch.
fn instruction(record: &SourceRecord) -> Option<&Content> {
    match &record.body {
        SourceBody::Message {
            role: MessageRole::System,
            content,
            ..
        } if record.branch == 0 => Some(content),
        _ => None,
    }
}

/// Where the keys and indexes of an appended conversation lead in the joined one.
struct Map {
    number: usize,
    participants: usize,
    branches: usize,
}

impl Map {
    fn key(&self, key: &str) -> String {
        format!("{}/{key}", self.number)
    }

    const fn participant(&self, index: usize) -> usize {
        if index < SHARED_PARTICIPANTS {
            index
        } else {
            index - SHARED_PARTICIPANTS + self.participants
        }
    }

    const fn branch(&self, index: usize) -> usize {
        if index < SHARED_BRANCHES {
            index
        } else {
            index - SHARED_BRANCHES + self.branches
        }
    }

    fn record(&self, mut record: SourceRecord) -> SourceRecord {
        record.key = self.key(&record.key);
        record.branch = self.branch(record.branch);
        record.participant = self.participant(record.participant);
        match &mut record.body {
            SourceBody::Message { run, .. } => self.rename(run.as_mut()),
            SourceBody::RunStarted { run, .. } | SourceBody::RunFinished { run, .. } => {
                self.rename(Some(run));
            }
            SourceBody::CallRequested { run, call, .. } => {
                self.rename(run.as_mut());
                self.rename(Some(call));
            }
            SourceBody::Result { call, .. } => self.rename(call.as_mut()),
            SourceBody::ChildStarted {
                child,
                participant,
                parent_call,
            }
            | SourceBody::ChildFinished {
                child,
                participant,
                parent_call,
                ..
            } => {
                *child = self.branch(*child);
                *participant = self.participant(*participant);
                self.rename(parent_call.as_mut());
            }
            SourceBody::Kept { .. } => {}
        }
        record
    }

    fn rename(&self, key: Option<&mut String>) {
        if let Some(key) = key {
            *key = self.key(key);
        }
    }
}
