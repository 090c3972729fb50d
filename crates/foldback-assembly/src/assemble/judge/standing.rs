//! Records that are no part of the history: skills, user facts, checkpoints, ends of children.

use super::super::cost;
use super::super::unit::Entry;
use super::{Judge, entry};
use crate::assembly::Section;
use foldback_event::kind::RecordRef;
use foldback_event::{CheckpointId, FactId, Presentation, Reason, RecordKind, RunId, RuntimeKind};
use foldback_graph::node::SkillState;

impl Judge<'_, '_> {
    pub(super) fn standing(&mut self, position: u64, record: RecordRef) {
        let graph = self.frame.graph;
        let Some(common) = graph.common(&record) else {
            return;
        };
        let verdict = self.frame.gate(&record, common, true);
        let mut entry = entry(position, record, &verdict, 0);
        if verdict.permitted {
            match record.kind {
                RecordKind::Skill => self.skill(&mut entry),
                RecordKind::Fact => self.fact(&mut entry),
                RecordKind::Checkpoint => self.checkpoint(&mut entry),
                _ => self.child(&mut entry),
            }
        }
        self.put(None, position, vec![entry], false);
    }

    /// The newest state that the requester may see is the one in force.
    fn skill(&self, entry: &mut Entry) {
        let graph = self.frame.graph;
        entry.section = Section::Skills;
        let Some(node) = graph.skill_state(&entry.position) else {
            return;
        };
        let newer = self.candidates.range(entry.position + 1..).any(|position| {
            graph.record_at(*position).is_some_and(|record| {
                record.kind == RecordKind::Skill
                    && graph.common(record).is_some_and(|common| {
                        common.ownership.owner_participant
                            == node.common.ownership.owner_participant
                            && self.frame.gate(record, common, true).permitted
                    })
            })
        });
        if newer {
            entry.omit(Reason::Inactive);
        } else {
            entry.show(Presentation::Raw, Reason::Permitted, skill_tokens(node));
        }
    }

    fn fact(&self, entry: &mut Entry) {
        entry.section = Section::Facts;
        let Some(node) = self.frame.graph.fact(&FactId::from_bytes(entry.record.id)) else {
            return;
        };
        let tokens = u64::from(node.content.tokens).saturating_add(self.cost.handle);
        if node.superseded_by.is_some() {
            entry.tokens = tokens;
            entry.omit(Reason::Superseded);
        } else if self.frame.graph.is_erased(&node.content.address) {
            entry.omit(Reason::Erased);
        } else {
            entry.show(Presentation::Raw, Reason::Permitted, tokens);
        }
    }

    /// A parent that goes on is told of the checkpoint it goes on from; nobody else is.
    fn checkpoint(&self, entry: &mut Entry) {
        entry.section = Section::Tail;
        let id = CheckpointId::from_bytes(entry.record.id);
        let Some(node) = self.frame.graph.checkpoint(&id) else {
            return;
        };
        let resumes = self.frame.request.runtime_kind == RuntimeKind::ParentResume;
        if resumes && !node.restored.is_empty() {
            entry.show(Presentation::Reference, Reason::Recovery, cost::CAPTION);
        } else {
            entry.omit(Reason::Inactive);
        }
    }

    /// A child's report stands in the tail, unless the call that started the child returned it.
    fn child(&self, entry: &mut Entry) {
        let graph = self.frame.graph;
        entry.section = Section::Tail;
        let Some(child) = graph.child(&RunId::from_bytes(entry.record.id)) else {
            return;
        };
        let Some(end) = &child.end else { return };
        let answered = child
            .parent_call
            .and_then(|id| graph.call(&id))
            .and_then(|call| call.artifacts.last())
            .and_then(|id| graph.artifact(id))
            .is_some_and(|artifact| !artifact.status.is_open());
        let tokens = end.report.map_or(0, |report| u64::from(report.tokens));
        entry.tokens = tokens;
        if answered {
            entry.omit(Reason::Replaced);
        } else if entry.position < self.frame.marks.summary {
            entry.omit(Reason::Summarized);
        } else {
            let tokens = tokens.saturating_add(cost::CAPTION);
            entry.show(Presentation::Raw, Reason::Permitted, tokens);
        }
    }
}

/// What a state of skills takes: the texts of the loaded ones, and the names of all else.
fn skill_tokens(node: &SkillState) -> u64 {
    let state = &node.state;
    let loaded = state.skills.iter().filter(|skill| skill.loaded);
    let texts: u64 = loaded
        .filter_map(|skill| skill.text)
        .map(|t| u64::from(t.tokens))
        .sum();
    let names = state.skills.len() + state.direct_tools.len() + state.integrations.len() + 2;
    texts.saturating_add(cost::NAME.saturating_mul(names as u64))
}
