//! The lines of a bundle (docs/event-format.md, "Audit bundles"): JSON, one object a line, and a digest
//! of all that stands before it as the last.

use crate::error::Error;
use foldback_event::Digest;
use serde::{Deserialize, Serialize};
use std::io::Write;

/// What the first line says.
pub(super) const VERSION: &str = "foldback.audit/1";

const CONTEXT: &str = "foldback 2026 audit bundle v1";

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Line {
    /// The first.
    Bundle {
        bundle: String,
        store: String,
        conversation: String,
        account: String,
        events: u64,
    },
    Event {
        version: u64,
        record: String,
        hash: String,
    },
    Policy {
        digest: String,
        document: String,
    },
    Payload {
        address: String,
        nonce: String,
        plain_bytes: u64,
        compressed: bool,
        sealed: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        plain: Option<String>,
    },
    Attestation {
        version: u64,
        index: u64,
        proof: Vec<String>,
        note: String,
    },
    /// The last.
    End {
        lines: u64,
        digest: String,
    },
}

/// Writes lines, and at the end the digest of them.
pub(super) struct Writer<'w, W> {
    out: &'w mut W,
    lines: u64,
    hasher: blake3::Hasher,
}

impl<'w, W: Write> Writer<'w, W> {
    pub(super) fn new(out: &'w mut W) -> Self {
        Self {
            out,
            lines: 0,
            hasher: blake3::Hasher::new_derive_key(CONTEXT),
        }
    }

    pub(super) fn line(&mut self, line: &Line) -> Result<(), Error> {
        let bytes = written(line)?;
        self.hasher.update(&bytes);
        self.lines += 1;
        self.out.write_all(&bytes).map_err(Error::Export)
    }

    pub(super) fn end(self) -> Result<(), Error> {
        let digest = Digest::from_bytes(*self.hasher.finalize().as_bytes());
        let end = Line::End {
            lines: self.lines,
            digest: digest.to_string(),
        };
        let bytes = written(&end)?;
        let out = self.out;
        out.write_all(&bytes)
            .and_then(|()| out.flush())
            .map_err(Error::Export)
    }
}

/// Writes a line in the one form that it has.
fn written(line: &Line) -> Result<Vec<u8>, Error> {
    let mut bytes = serde_json::to_vec(line).map_err(|_| Error::Bug {
        what: "a line of a bundle is no JSON",
    })?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Reads the lines of a bundle and holds them to the digest in the last; the last is not among them.
///
/// Each must be in the one form that it has, so that no byte of the file is free.
pub(super) fn read(bundle: &[u8]) -> Result<Vec<Line>, String> {
    let body = bundle
        .strip_suffix(b"\n")
        .ok_or("its last line does not end")?;
    let start = body
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    let (before, last) = bundle.split_at_checked(start).unwrap_or_default();
    let last = line(last).map_err(|what| format!("its last line {what}"))?;
    let Line::End { lines, digest } = last else {
        return Err("its end is missing: it was cut off".to_owned());
    };
    if Digest::of(CONTEXT, before).to_string() != digest {
        return Err("it was changed: its digest does not fit".to_owned());
    }
    let mut out = Vec::new();
    for (at, bytes) in before.split_inclusive(|byte| *byte == b'\n').enumerate() {
        out.push(line(bytes).map_err(|what| format!("line {} {what}", at + 1))?);
    }
    if out.len() as u64 == lines {
        Ok(out)
    } else {
        Err("it does not have as many lines as its last one says".to_owned())
    }
}

fn line(bytes: &[u8]) -> Result<Line, String> {
    let line: Line =
        serde_json::from_slice(bytes).map_err(|error| format!("does not read: {error}"))?;
    match written(&line) {
        Ok(again) if again == bytes => Ok(line),
        _ => Err("is not in its one form".to_owned()),
    }
}
