//! Integration tests of `foldback-assembly`, one binary.
//!
//! The modules are marked as tests so that the lint exemptions of tests hold for their functions.

#[cfg(test)]
mod assembly;
#[cfg(test)]
mod assembly_budget;
#[cfg(test)]
mod assembly_exact;
#[cfg(test)]
mod assembly_recovery;
#[cfg(test)]
mod assembly_results;
#[cfg(test)]
mod assembly_views;
#[cfg(test)]
mod explain;
#[cfg(test)]
mod extract;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod laws_prefix;
#[cfg(test)]
mod layout;
#[cfg(test)]
mod policy_docs;
#[cfg(test)]
mod policy_errors;
#[cfg(test)]
mod policy_golden;
#[cfg(test)]
mod policy_laws;
#[cfg(test)]
mod policy_warnings;
