//! The binary in a sealed environment: what it writes where, and how it exits.
//!
//! The modules are marked as tests so that the lint exemptions of tests hold for their functions.

#[cfg(test)]
mod against;
#[cfg(test)]
mod answers;
#[cfg(test)]
mod attested;
#[cfg(test)]
mod audited;
#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod data;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod durability;
#[cfg(test)]
mod erased;
#[cfg(test)]
mod rehydrate;
#[cfg(test)]
mod sandbox;
