//! The Merkle tree of RFC 6962, section 2.1, as a log grows: SHA-256, with a byte that keeps leaves and
//! nodes apart.

use sha2::{Digest as _, Sha256};

/// A hash of the tree.
pub type Hash = [u8; 32];

/// A tree over leaves that are only ever added: it keeps the roots of its whole halves.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    len: u64,
    /// The roots of the perfect trees that the leaves fall into, the largest first.
    roots: Vec<Hash>,
}

impl Tree {
    /// Adds a leaf by its hash.
    pub fn push(&mut self, leaf: Hash) {
        let mut node = leaf;
        // Each perfect tree that is as large as the new one grows together with it.
        for _ in 0..self.len.trailing_ones() {
            if let Some(left) = self.roots.pop() {
                node = node_hash(&left, &node);
            }
        }
        self.roots.push(node);
        self.len += 1;
    }

    /// Counts the leaves.
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Tells whether there is no leaf.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Gives the root; of no leaves it is the hash of nothing.
    pub fn root(&self) -> Hash {
        let right_first = self.roots.iter().rev().copied();
        let root = right_first.reduce(|right, left| node_hash(&left, &right));
        root.unwrap_or_else(|| Sha256::digest([]).into())
    }
}

/// Hashes a leaf.
pub fn leaf_hash(leaf: &[u8]) -> Hash {
    let mut hasher = Sha256::new();
    hasher.update([0]);
    hasher.update(leaf);
    hasher.finalize().into()
}

fn node_hash(left: &Hash, right: &Hash) -> Hash {
    let mut hasher = Sha256::new();
    hasher.update([1]);
    hasher.update(left);
    hasher.update(right);
    hasher.finalize().into()
}

/// Makes the proof that a leaf is in the tree over all of them (RFC 6962, section 2.1.1): the roots
/// beside its way up, the lowest first; none if there is no such leaf.
pub fn proof_of(leaves: &[Hash], index: usize) -> Option<Vec<Hash>> {
    let mut out = Vec::new();
    let (mut part, mut at) = (leaves, index);
    if at >= part.len() {
        return None;
    }
    while part.len() > 1 {
        // The largest power of two below the number of leaves is the size of the left half.
        let half = part.len().next_power_of_two() / 2;
        let (left, right) = part.split_at_checked(half)?;
        let beside = if at < half { right } else { left };
        let mut tree = Tree::default();
        for leaf in beside {
            tree.push(*leaf);
        }
        out.push(tree.root());
        (part, at) = if at < half {
            (left, at)
        } else {
            (right, at - half)
        };
    }
    out.reverse();
    Some(out)
}

/// Computes the root to which a proof of inclusion leads (RFC 9162, section 2.1.3.2); none if it cannot
/// be one of that leaf in a tree of that size.
pub fn root_of(leaf: Hash, index: u64, size: u64, proof: &[Hash]) -> Option<Hash> {
    if index >= size {
        return None;
    }
    let (mut at, mut last) = (index, size - 1);
    let mut node = leaf;
    for sibling in proof {
        if last == 0 {
            return None;
        }
        if at & 1 == 1 || at == last {
            node = node_hash(sibling, &node);
            while at & 1 == 0 && at != 0 {
                at >>= 1;
                last >>= 1;
            }
        } else {
            node = node_hash(&node, sibling);
        }
        at >>= 1;
        last >>= 1;
    }
    (last == 0).then_some(node)
}
