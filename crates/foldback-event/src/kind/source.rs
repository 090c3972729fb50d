//! Bodies of the import family: nothing in a source file is lost.

use crate::{Digest, Label, PayloadRef};
use serde::{Deserialize, Serialize};

/// A source file was imported up to some point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceImported {
    /// Its format.
    pub format: Label,
    /// BLAKE3 of the file as it was read.
    pub digest: Digest,
    /// How many bytes it had.
    pub bytes: u64,
}

/// A source record that is no message, call or result was kept byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceRecordKept {
    /// Why it was kept, as a code.
    pub code: Label,
    /// Where it stood: a line number or array index, from 1.
    pub place: u64,
    /// Its bytes.
    pub content: PayloadRef,
}

/// Something odd was seen in a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingRecorded {
    /// What, as a code.
    pub code: Label,
    /// Where it stood: a line number or array index, from 1; without a source, the position of the
    /// record.
    pub place: u64,
    /// What was seen.
    pub detail: Option<PayloadRef>,
}
