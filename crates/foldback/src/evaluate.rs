//! Evaluation: what Foldback's requests of a past conversation take and hold, against sending the
//! whole history and against plain ways of eliding old results.
//!
//! Every layout is measured with one rule over the same records: tokens are counted on the blocks
//! that the model reads, a request's longest run of leading blocks that the one before it had too
//! is read from the provider's cache, and the rest is written to it.
//! Whether something that is needed is still there is asked of the text itself, never of the
//! assembler. Thinking counts in no layout: providers drop it or take it back for nothing.

mod account;
mod block;
mod history;
mod layout;
mod measure;
mod need;

pub use account::{CACHE_WRITE_PERMILLE, Kept, Measure};
pub use layout::Layout;
pub use measure::{EvaluatedRequest, Evaluation, Missing};
pub use need::Need;
