//! What the readers and writers promise, checked from outside.
//!
//! The modules are marked as tests so that the lint exemptions of tests hold for their functions.

#[cfg(test)]
mod chat;
#[cfg(test)]
mod claude;
#[cfg(test)]
mod content;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod data;
#[cfg(test)]
mod detect;
#[cfg(test)]
mod growth;
#[cfg(test)]
mod join;
#[cfg(test)]
mod outline;
#[cfg(test)]
mod prompt;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod sidechain;
