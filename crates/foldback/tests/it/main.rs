//! The engine from outside: commands, capture, import, replay, verification and their laws.
//!
//! The modules are marked as tests so that the lints treat their helpers as such.

#[cfg(test)]
mod attested;
#[cfg(test)]
mod audited;
#[cfg(test)]
mod canaries;
#[cfg(test)]
mod capture;
#[cfg(test)]
mod classified;
#[cfg(test)]
mod commands;
#[cfg(test)]
mod concurrency;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod erased;
#[cfg(test)]
mod evaluate;
#[cfg(test)]
mod explained;
#[cfg(test)]
#[expect(dead_code, reason = "the store's own tests use more of it")]
#[path = "../../../foldback-store/tests/it/fault.rs"]
mod fault;
#[cfg(test)]
mod growth;
#[cfg(test)]
mod imports;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod provenance;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod rendered;
#[cfg(test)]
mod replays;
#[cfg(test)]
mod scenarios;
#[cfg(test)]
mod scene;
#[cfg(test)]
mod script;
#[cfg(test)]
mod sim;
#[cfg(test)]
mod sources;
#[cfg(test)]
mod sources_refused;
#[cfg(test)]
mod tidy;
