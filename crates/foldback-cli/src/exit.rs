//! From what came of a command to the exit code of the process.

use crate::error::CliError;
use foldback::{AssembleError, Error};

/// What a command that ran to its end found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It did what was asked.
    Done,
    /// It did, and the answer is no: something does not reproduce, a policy is not valid.
    No,
    /// It did, and the store's own bytes are damaged.
    Damaged,
}

/// The code of wrong arguments.
pub(crate) const USAGE: u8 = 2;

/// Maps what came of a command to the exit code.
pub(crate) fn code(result: &Result<Outcome, CliError>) -> u8 {
    match result {
        // Whoever closed the pipe has seen enough.
        Ok(Outcome::Done) | Err(CliError::ClosedPipe) => 0,
        Ok(Outcome::No)
        | Err(CliError::Engine(Error::Assemble(AssembleError::BelowFloor { .. }))) => 3,
        Ok(Outcome::Damaged) => 4,
        Err(CliError::Usage { .. }) => USAGE,
        Err(CliError::Engine(error)) if foldback::report::is_damage(error) => 4,
        Err(CliError::Engine(Error::Bug { .. }) | CliError::Panicked) => 70,
        Err(_) => 1,
    }
}
