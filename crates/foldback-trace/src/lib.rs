//! The outside formats of Foldback: transcripts and traces in, provider requests out.
//!
//! - In: [`detect`] names the format of a file, [`read`] turns its bytes into
//!   [`SourceConversation`]s, a neutral model of what the file holds, in its own order.
//! - Out: [`openai::render`] and [`anthropic::render`] turn a neutral [`Prompt`] into a request
//!   that the provider accepts.
//!
//! Everything here is parsing and rendering: no file is opened, no clock is read, and the same
//! bytes give the same answer. Nothing of a source is dropped in silence: what is no message, call
//! or result is kept byte for byte, and what is odd is told as a finding.

pub mod anthropic;
mod content;
mod detect;
mod ident;
mod join;
mod media;
pub mod openai;
mod prompt;
mod read;
mod source;

pub use content::{Content, ContentError, Part};
pub use detect::{DetectError, SUPPORTED, detect};
pub use prompt::{Prompt, PromptCall, PromptResult, Speaker, Turn};
pub use read::{ReadError, SourceFile, read};
pub use source::{
    Format, Place, SourceBody, SourceBranch, SourceConversation, SourceFinding, SourceParticipant,
    SourceRecord,
};
