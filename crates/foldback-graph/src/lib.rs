//! The meaning of Foldback: events fold into the runtime graph, and views are read from it.
//!
//! Everything here is pure. Folding is total: an odd event becomes a [`Finding`], never an error,
//! a panic or a dropped record. The same events always give the same graph.

mod apply;
mod finding;
mod graph;
mod lineage;
pub mod node;
mod relation;
mod resolve;
mod text;
mod transcript;

pub use apply::call_tokens;
pub use finding::{Finding, FindingCode};
pub use graph::RuntimeGraph;
pub use lineage::{Lineage, Segment};
pub use relation::{Relation, RelationKind, Vertex};
pub use resolve::{ResolveError, Resolved};
pub use text::graph_text;
pub use transcript::{Entry, EntryKind, Transcript, transcript, transcript_text};
