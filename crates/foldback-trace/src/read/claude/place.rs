//! Where a line's records go: its node, its branch, and who speaks.

use super::entry::{COMPACT_BOUNDARY, Entry, Item};
use super::result;
use super::tree::{Growth, Parent};
use super::walk::{Spot, Walk, Whose};
use crate::SourceBranch;
use crate::read::builder::{MAIN, MODEL, Scene, USER};

impl<'a> Walk<'_, 'a> {
    /// Gives the scene of a line that is no message: where its parent is.
    pub(super) fn aside(&self, entry: &Entry<'a>, whose: Whose) -> Scene {
        let child = whose.child.and_then(|child| self.children.get(child));
        let parent = self.tree.parent(entry.place.file, parent_of(entry));
        let branch = match (parent, child) {
            (Parent::Node(node), _) => self.tree.branch_of(node),
            (_, Some(child)) => child.branch,
            (_, None) => self.current,
        };
        let participant = child.map_or(USER, |child| child.participant);
        Scene {
            place: entry.place.clone(),
            branch,
            participant,
            at: entry.at,
        }
    }

    pub(super) fn stand_for_parent(&mut self, entry: &Entry<'a>) {
        let file = entry.place.file;
        let node = match self.tree.parent(file, parent_of(entry)) {
            Parent::Node(node) => Some(node),
            Parent::None | Parent::Missing => None,
        };
        self.tree.stand_for(file, entry.uuid.as_deref(), node);
    }

    /// Finds or makes the node of a line, and its branch.
    pub(super) fn place(&mut self, entry: &Entry<'a>, whose: Whose, line: String) -> Spot {
        let file = entry.place.file;
        let side = whose.child.is_some() || (entry.sidechain && !whose.alone);
        let answer = entry.answer_id();
        let known = match (&answer, &entry.item) {
            (Some(id), _) => self.tree.answer(file, id),
            (None, Item::User(message)) => result::results_in(message)
                .iter()
                .find_map(|id| self.calls.latest(id))
                .and_then(|call| self.call_nodes.get(&call.key).copied())
                .filter(|node| self.is_side(self.tree.branch_of(*node)) == side || whose.alone),
            _ => None,
        };
        let node = known.unwrap_or_else(|| {
            let branch = self.branch(entry, whose, side, &line);
            self.tree.add(branch)
        });
        if let Some(id) = &answer {
            self.tree.set_answer(file, id, node);
        }
        self.tree.join(file, entry.uuid.as_deref(), node);
        let branch = self.tree.branch_of(node);
        if !side {
            self.current = branch;
        }
        let child = whose.child.or_else(|| self.child_on(branch));
        let model = child
            .and_then(|child| self.children.get(child))
            .map(|c| c.participant);
        let scene = Scene {
            place: entry.place.clone(),
            branch,
            participant: model.unwrap_or(MODEL),
            at: entry.at,
        };
        Spot {
            scene,
            node,
            child,
            line,
        }
    }

    pub(super) fn is_side(&self, branch: usize) -> bool {
        self.builder
            .conversation
            .branches
            .get(branch)
            .is_some_and(|branch| branch.sidechain)
    }

    /// Finds the branch of a new node.
    fn branch(&mut self, entry: &Entry<'a>, whose: Whose, side: bool, line: &str) -> usize {
        let mut parent = self.tree.parent(entry.place.file, parent_of(entry));
        if parent == Parent::Missing {
            let what = format!(
                "`{}` is not in the file",
                entry.parent.as_deref().unwrap_or("?")
            );
            self.builder.find("missing-parent", &entry.place, what);
        }
        if let Parent::Node(node) = parent
            && self.is_side(self.tree.branch_of(node)) != side
            && !whose.alone
        {
            // A line of a child under one of its parent's begins the child; the other way round
            // it is the parent going on.
            parent = Parent::None;
        }
        match self.tree.grow(parent) {
            Growth::On(branch) => branch,
            // What stands for all before it does not leave the branch.
            Growth::Fork(branch, _) if entry.fields.is_true("isCompactSummary") => branch,
            Growth::Fork(branch, after) => self.builder.branch(SourceBranch {
                key: format!("fork:{line}"),
                parent: Some((branch, after)),
                sidechain: self.is_side(branch),
                title: None,
            }),
            Growth::Root if !side => self.current,
            Growth::Root => {
                let child = whose
                    .child
                    .unwrap_or_else(|| self.inline_child(entry, parent, line));
                self.children.get(child).map_or(MAIN, |child| child.branch)
            }
        }
    }
}

/// Gives the parent that a line continues; a compaction continues what it compacts.
fn parent_of<'e>(entry: &'e Entry<'_>) -> Option<&'e str> {
    let logical = match entry.item {
        Item::Aside(COMPACT_BOUNDARY) => entry.logical_parent.as_deref(),
        _ => None,
    };
    entry.parent.as_deref().or(logical)
}
