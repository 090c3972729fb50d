//! Tests of the store through its public interface.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected has to stop"
)]

mod cache;
mod conformance;
mod crash;
mod damage;
mod fault;
mod model;
mod opening;
mod support;
mod vault;
mod vault_damage;
#[cfg(test)]
mod vault_erase;
#[cfg(test)]
mod vault_rotate;
