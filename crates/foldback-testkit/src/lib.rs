//! What Foldback's tests share: stories, seeded histories, arbitrary events and golden records.
//!
//! - [`Story`] writes the events of one conversation as a test reads best: like a screenplay.
//! - [`history`], [`canary_history`] and [`odd_history`] write whole conversations from a seed.
//! - [`draw`] draws any event body from a seed, for tests of the codec.
//! - [`golden`] makes and describes the records of `fixtures/golden`.
//!
//! A dev-dependency only. Nothing here reads a clock, an environment or a random source: the same
//! calls and the same seed give the same bytes on every machine.

pub mod draw;
mod generate;
pub mod golden;
pub mod provider_rules;
mod rng;
pub mod story;

pub use generate::{canary_history, history, odd_history, unordered};
pub use rng::Rng;
pub use story::Story;
