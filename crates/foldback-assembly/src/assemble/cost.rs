//! What the words that the renderer adds take, in tokens.
//!
//! Payloads carry their own counts, made once at capture. The few words around them are constants
//! here, so that an assembly never has to count text: each is the length of the renderer's longest
//! form under `o200k_base`, rounded up.

use foldback_event::Reason;

/// What differs between versions of the assembler.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cost {
    /// The line that names the artifact a smaller form stands for, so that its bytes can be asked
    /// for.
    pub(super) handle: u64,
}

impl Cost {
    pub(super) const fn of(assembler: u16) -> Self {
        Self {
            handle: if assembler < 2 { 12 } else { 9 },
        }
    }
}

/// What says that values are withheld, why, and which tool fetches them again.
pub(super) const WITHHELD: u64 = 36;

/// A notice in the place of a result that is not there yet.
pub(super) const OPEN: u64 = 12;

/// A notice in the place of a result: what happened to it, and its handle.
pub(super) fn marker(reason: Reason) -> u64 {
    match reason {
        Reason::Stale | Reason::BrokenProvenance => 40,
        Reason::Erased => 14,
        _ => 24,
    }
}

/// A notice that one memory disagrees with another.
pub(super) const CONFLICT: u64 = 16;

/// The words around a record in the tail that say what it is.
pub(super) const CAPTION: u64 = 20;

/// The words around a state of skills, and each name in it.
pub(super) const NAME: u64 = 8;
