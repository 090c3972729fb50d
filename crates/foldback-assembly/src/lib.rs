//! The decision of Foldback: what a participant's next request contains, and why.
//!
//! [`assemble()`] is a pure function of a graph, a policy and a request.
//! It reads no clock, no random source, no file, no float and no unordered container, so the same
//! inputs give the same [`Assembly`] in any process and any year.
//! [`extract`] is as pure: it condenses an artifact's bytes into the compact form that stands for
//! them, and can be checked again.

mod assemble;
mod assembly;
mod explain;
pub mod extract;
pub mod policy;

pub use assemble::{ASSEMBLER_VERSION, AssembleError, assemble, reassemble};
pub use assembly::{Assembly, Decision, Item, Note, Section, assembly_text};
pub use explain::{Explanation, Moved, explain_assembly, explain_record, moved};
