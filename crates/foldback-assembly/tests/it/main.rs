//! Integration tests of `foldback-assembly`, one binary.
//!
//! The modules are marked as tests so that the lint exemptions of tests hold for their functions.

#[cfg(test)]
mod extract;
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
