//! What the vocabulary promises: its bytes, its numbers and its hashes.
//!
//! The modules are marked as tests so that the lints treat their helpers as such.

#[cfg(test)]
mod chain;
#[cfg(test)]
mod codec;
#[cfg(test)]
mod document;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod ids;
#[cfg(test)]
mod numbers;
#[cfg(test)]
mod payloads;
#[cfg(test)]
mod unknown;
