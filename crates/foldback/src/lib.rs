//! Foldback: an append-only engine that folds agent events into a runtime graph, and assembles from
//! it what one participant's next model request contains.
//!
//! This crate is the one public API of the engine; front ends never reach around it.
//! A runtime [opens](Engine::open) a store, [records](Conversation::record_message) what happens,
//! [captures](Conversation::capture) each tool's whole outcome, [assembles](Conversation::assemble)
//! the next request, and can [explain](Engine::recorded) and [verify](Engine::verify) every request
//! it ever made.

pub mod attest;
pub mod audit;
mod classify;
mod clock;
mod command;
mod derive;
mod engine;
mod erase;
mod error;
mod evaluate;
mod explaining;
mod import;
mod policies;
mod prompt;
mod rehydrate;
mod relevance;
mod replay;
pub mod report;
mod tokenizer;
mod verify;

pub use classify::{Classified, PRIVACY_RAISED, classify};
pub use clock::{Clock, rfc3339};
pub use command::{
    AssembleRequest, Assembled, Captured, ChildStart, Conversation, MemoryDraft, NewArtifact,
    NewCall, NewConversation, NewFact, NewMessage, NewParticipant, NewSkill, NewSkills, Opened,
    Outcome, Promote, Provenance, REPAIR_TRIES_MAX, Recorded, RunEnding, StartRun, TakeCheckpoint,
};
pub use engine::{ConversationSummary, Engine, EventRow, Options, PayloadText, Recovery};
pub use erase::{Erasure, Subject};
pub use error::Error;
pub use evaluate::{
    CACHE_WRITE_PERMILLE, EvaluatedRequest, Evaluation, Kept, Layout, Measure, Missing, Need,
};
pub use explaining::{Against, Judged};
pub use import::{ImportOptions, ImportedConversation};
pub use policies::PolicyDocument;
pub use prompt::build_prompt;
pub use rehydrate::{ExactBytes, Rehydrated};
pub use replay::{Replay, ReplayedRequest};
pub use tokenizer::{NON_TEXT_TOKENS, TOKENIZER, count_tokens};
pub use verify::{Problem, Verification};

pub use foldback_assembly::{
    AssembleError, Assembly, Decision, Explanation, Item, Moved, Note, Section, assembly_text,
    policy,
};
pub use foldback_event as event;
pub use foldback_graph::{
    Finding, FindingCode, Relation, RelationKind, ResolveError, Resolved, RuntimeGraph, Transcript,
    Vertex, graph_text, node, transcript_text,
};
pub use foldback_store::{Erased, FsStorage, OpenError, RecoveryReport, Storage};
pub use foldback_trace::{
    Content, Format, Part, Prompt, PromptCall, PromptResult, SourceFile, Speaker, Turn, anthropic,
    openai,
};

/// The README's Rust blocks, run as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
