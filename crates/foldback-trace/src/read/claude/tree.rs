//! Which branch a line is on.
//!
//! Lines name their parents, and parents alone would fork at every parallel call. So lines are
//! gathered into *nodes*: a prompt, or an answer of the model with all its lines and the results of
//! its calls. Lines that are no message stand for their parent. A new node continues its branch
//! where its parent is the latest node of that branch, and forks a new branch where it is not.

use std::collections::BTreeMap;

/// A node's index.
pub(super) type NodeIndex = usize;

#[derive(Debug)]
struct Node {
    branch: usize,
    last_record: Option<usize>,
}

/// The lines so far.
#[derive(Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// The node that a line of a file belongs to or stands for; none for one without a parent.
    lines: BTreeMap<(usize, String), Option<NodeIndex>>,
    /// The nodes of a file's answers, by the provider's id.
    answers: BTreeMap<(usize, String), NodeIndex>,
    /// The latest node of each branch.
    tips: BTreeMap<usize, NodeIndex>,
}

/// Where a new node goes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Growth {
    /// It continues this branch.
    On(usize),
    /// It forks a new branch from this one, after this record.
    Fork(usize, usize),
    /// It has no known parent.
    Root,
}

/// What is known of a line's parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parent {
    /// The line names none, or one that leads to none.
    None,
    /// The line names one that is not there.
    Missing,
    /// The parent belongs to this node.
    Node(NodeIndex),
}

impl Tree {
    /// Looks up a parent.
    pub(super) fn parent(&self, file: usize, uuid: Option<&str>) -> Parent {
        let Some(uuid) = uuid else {
            return Parent::None;
        };
        match self.lines.get(&(file, uuid.to_owned())) {
            None => Parent::Missing,
            Some(None) => Parent::None,
            Some(Some(node)) => Parent::Node(*node),
        }
    }

    /// Gives a node's branch.
    pub(super) fn branch_of(&self, node: NodeIndex) -> usize {
        self.nodes.get(node).map_or(0, |node| node.branch)
    }

    /// Tells where a child of this parent goes.
    pub(super) fn grow(&self, parent: Parent) -> Growth {
        let Parent::Node(index) = parent else {
            return Growth::Root;
        };
        let Some(node) = self.nodes.get(index) else {
            return Growth::Root;
        };
        match node.last_record {
            Some(after) if self.tips.get(&node.branch) != Some(&index) => {
                Growth::Fork(node.branch, after)
            }
            _ => Growth::On(node.branch),
        }
    }

    /// Adds a node to a branch, where it is the latest.
    pub(super) fn add(&mut self, branch: usize) -> NodeIndex {
        self.nodes.push(Node {
            branch,
            last_record: None,
        });
        let index = self.nodes.len() - 1;
        self.tips.insert(branch, index);
        index
    }

    /// Finds the node of an answer.
    pub(super) fn answer(&self, file: usize, id: &str) -> Option<NodeIndex> {
        self.answers.get(&(file, id.to_owned())).copied()
    }

    /// Takes note of the node of an answer.
    pub(super) fn set_answer(&mut self, file: usize, id: &str, node: NodeIndex) {
        self.answers.insert((file, id.to_owned()), node);
    }

    /// Takes note that a line belongs to a node, which so becomes the latest of its branch.
    pub(super) fn join(&mut self, file: usize, uuid: Option<&str>, node: NodeIndex) {
        self.tips.insert(self.branch_of(node), node);
        self.stand_for(file, uuid, Some(node));
    }

    /// Takes note that a line stands for its parent. A line that comes twice counts once.
    pub(super) fn stand_for(&mut self, file: usize, uuid: Option<&str>, node: Option<NodeIndex>) {
        if let Some(uuid) = uuid {
            self.lines.entry((file, uuid.to_owned())).or_insert(node);
        }
    }

    /// Takes note of a record of a node.
    pub(super) fn recorded(&mut self, node: NodeIndex, record: usize) {
        if let Some(node) = self.nodes.get_mut(node) {
            node.last_record = Some(node.last_record.map_or(record, |last| last.max(record)));
        }
    }
}
