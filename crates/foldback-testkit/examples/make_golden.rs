//! Writes the golden records that are missing; one that is there stays as it is.
//!
//! A kind or version that is new gets its pair of files from here. Whoever wants another golden
//! record for the same version wants another format, and that has another version.

use foldback_event::Kind;
use foldback_testkit::golden;
use std::error::Error;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = golden::folder();
    std::fs::create_dir_all(&folder)?;
    let mut out = std::io::stdout().lock();
    for kind in Kind::ALL {
        let event = golden::event(*kind);
        let stem = golden::stem(*kind, kind.version());
        let mut text = serde_json::to_string_pretty(&golden::describe(&event))?;
        text.push('\n');
        for (ending, bytes) in [("bin", event.encode()?), ("json", text.into_bytes())] {
            let path = folder.join(format!("{stem}.{ending}"));
            let done = if write_new(&path, &bytes)? {
                "written"
            } else {
                "kept"
            };
            writeln!(out, "{done} {stem}.{ending}")?;
        }
    }
    Ok(())
}

/// Writes a file that is not there yet; tells whether it did.
fn write_new(path: &Path, bytes: &[u8]) -> std::io::Result<bool> {
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(mut file) => file.write_all(bytes).map(|()| true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}
