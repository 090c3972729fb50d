//! Child agents: side chains in a session, and files beside it.
//!
//! Each child has a branch of its own that inherits nothing. It begins with the call that asks for
//! what the child was asked, where that can be told, and ends directly before the call's result.

use super::entry::Entry;
use super::plan::prompt_of;
use super::tree::Parent;
use super::walk::{Spot, Walk, Whose};
use crate::read::builder::{MODEL, Scene, USER};
use crate::{SourceBody, SourceBranch};
use foldback_event::CallStatus;
use foldback_event::kind::ParticipantKind;

/// A child agent.
#[derive(Debug)]
pub(super) struct Child {
    pub(super) branch: usize,
    pub(super) participant: usize,
    agent: Option<String>,
    /// Who started it, and so speaks to it.
    pub(super) parent: usize,
    call: Option<String>,
    finished: bool,
}

/// A call that starts a child agent.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) call: String,
    pub(super) prompt: String,
    pub(super) branch: usize,
    pub(super) participant: usize,
    pub(super) taken: bool,
}

impl<'a> Walk<'_, 'a> {
    /// Finds the child of a line of a side chain that has no parent, or begins it.
    pub(super) fn inline_child(&mut self, entry: &Entry<'a>, parent: Parent, line: &str) -> usize {
        let same = |child: &Child| entry.agent.is_some() && child.agent == entry.agent;
        if let Some(child) = self.children.iter().position(same) {
            return child;
        }
        if parent == Parent::Missing && !self.children.is_empty() && entry.agent.is_none() {
            return self.children.len() - 1;
        }
        let prompt = prompt_of(entry);
        let task = self
            .tasks
            .iter_mut()
            .find(|task| !task.taken && Some(&task.prompt) == prompt.as_ref());
        let (call, branch, participant) = if let Some(task) = task {
            task.taken = true;
            (Some(task.call.clone()), task.branch, task.participant)
        } else {
            let what = "no earlier call asks for what this side chain begins with";
            self.builder.find("unlinked-sidechain", &entry.place, what);
            (None, self.current, MODEL)
        };
        let scene = Scene {
            place: entry.place.clone(),
            branch,
            participant,
            at: entry.at,
        };
        self.child(entry.agent.clone(), line, &scene, call)
    }

    fn child(
        &mut self,
        agent: Option<String>,
        line: &str,
        parent: &Scene,
        call: Option<String>,
    ) -> usize {
        let name = agent.as_deref().unwrap_or(line);
        let key = format!("sidechain:{name}");
        let participant = self
            .builder
            .participant(&key, ParticipantKind::Child, Some("subagent"));
        let branch = self.builder.branch(SourceBranch {
            key: key.clone(),
            parent: None,
            sidechain: true,
            title: None,
        });
        let body = SourceBody::ChildStarted {
            child: branch,
            participant,
            parent_call: call.clone(),
        };
        self.builder.push(parent, &format!("{key}:started"), body);
        self.children.push(Child {
            branch,
            participant,
            agent,
            parent: parent.participant,
            call,
            finished: false,
        });
        self.children.len() - 1
    }

    /// Tells what the children of a call did, before its result.
    pub(super) fn children_of(
        &mut self,
        spot: &Spot,
        call: &str,
        source_id: &str,
        status: Option<CallStatus>,
    ) {
        let waiting: Vec<usize> = self
            .plan
            .callers
            .iter()
            .filter(|(index, caller)| *caller == source_id && !self.emitted.contains(index))
            .map(|(index, _)| *index)
            .collect();
        for index in waiting {
            self.companion(index, &spot.scene, Some(call.to_owned()));
        }
        let Some(status) = status else { return };
        let mut ended = Vec::new();
        for child in &mut self.children {
            if child.call.as_deref() == Some(call) && !child.finished {
                child.finished = true;
                ended.push((child.branch, child.participant));
            }
        }
        for (child, participant) in ended {
            let branch = self.builder.conversation.branches.get(child);
            let named = branch.map_or("", |branch| branch.key.as_str());
            let key = format!("{call}:child:{named}");
            let parent_call = Some(call.to_owned());
            let body = SourceBody::ChildFinished {
                child,
                participant,
                parent_call,
                status,
            };
            self.record(spot, &key, body);
        }
    }

    /// Reads a file beside the session.
    fn companion(&mut self, index: usize, parent: &Scene, call: Option<String>) {
        self.emitted.insert(index);
        let Some(file) = self.beside.get(index).copied() else {
            return;
        };
        let agent = file.agent_id().unwrap_or(file.stem).to_owned();
        let child = self.child(Some(agent.clone()), &agent, parent, call);
        let whose = Whose {
            child: Some(child),
            alone: false,
        };
        for entry in &file.entries {
            self.entry(entry, whose);
        }
    }

    /// Reads the files beside the session whose call has no result, or cannot be told.
    pub(super) fn rest(&mut self) {
        for index in 0..self.beside.len() {
            if self.emitted.contains(&index) {
                continue;
            }
            let first = self.beside.get(index).and_then(|file| file.entries.first());
            let Some(first) = first else { continue };
            let caller = self
                .plan
                .callers
                .get(&index)
                .and_then(|id| self.calls.latest(id));
            let call = caller.map(|call| call.key.clone());
            let branch = caller.map_or(self.current, |call| call.branch);
            let place = first.place.clone();
            if call.is_none() {
                let what = "no call of the session can be told to have started this agent";
                self.builder.find("unlinked-sidechain", &place, what);
            }
            let scene = Scene {
                place,
                branch,
                participant: MODEL,
                at: first.at,
            };
            self.companion(index, &scene, call);
        }
    }

    pub(super) fn child_on(&self, branch: usize) -> Option<usize> {
        let mut branch = branch;
        loop {
            if let Some(child) = self
                .children
                .iter()
                .position(|child| child.branch == branch)
            {
                return Some(child);
            }
            // A fork of a child's branch is the child's as well.
            let (parent, _) = self.builder.conversation.branches.get(branch)?.parent?;
            branch = parent;
        }
    }

    /// Gives who speaks in the user's place.
    pub(super) fn speaker(&self, spot: &Spot) -> usize {
        spot.child
            .and_then(|child| self.children.get(child))
            .map_or(USER, |child| child.parent)
    }
}
