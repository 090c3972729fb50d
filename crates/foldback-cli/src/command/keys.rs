//! `keys`: the keys that sign attestations and those that check them, and the master key of a store.

use crate::columns::counted;
use crate::error::CliError;
use crate::exit::Outcome;
use crate::output;
use crate::printer::Printer;
use crate::store::Store;
use foldback::Error;
use foldback::attest::{NoteError, SigningKey, VerifyingKey};
use foldback::report::{KeyReport, RotateReport};
use std::path::{Path, PathBuf};

/// Make and show the keys that sign attestations, and change the master key
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Keys {
    /// Make a signing key, and print the key that checks what it signs
    New {
        /// Name of who signs, such as audit.example.org; it holds no blank and no +
        #[arg(value_name = "NAME")]
        name: String,
        /// File to write the signing key to, which must not exist; it is a secret
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Seal the accounts' keys anew under another master key
    ///
    /// The new one is that of `FOLDBACK_NEW_MASTER_KEY`, which is kept nowhere; without it, one that the
    /// store draws and keeps.
    /// Payloads stay as they are.
    Rotate,
    /// Print the key that checks what a signing key signs
    Show {
        /// File with the signing key
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

pub(crate) fn run(
    command: &Keys,
    store: &Store,
    printer: &mut Printer,
) -> Result<Outcome, CliError> {
    let key = match command {
        Keys::Rotate => return rotate(store, printer),
        Keys::New { name, file } => {
            let key = SigningKey::generate(name).map_err(Error::Note)?;
            output::create(file, key.to_text().as_bytes(), output::Access::Private)?;
            printer.note(&format!("signing key made: `{}`", file.display()));
            printer.next("give the line on stdout to those who check; keep the file to yourself");
            key
        }
        Keys::Show { file } => signing(file)?,
    };
    let verifying = key.verifying();
    if printer.is_json() {
        printer.json(&KeyReport::new(&verifying))?;
    } else {
        printer.line(&verifying.to_string())?;
    }
    Ok(Outcome::Done)
}

fn rotate(store: &Store, printer: &mut Printer) -> Result<Outcome, CliError> {
    let engine = store.write(printer)?;
    let keys = engine.rotate_master(store.new_master_key)?;
    if printer.is_json() {
        printer.json(&RotateReport::new(keys, store.new_master_key.is_some()))?;
        return Ok(Outcome::Done);
    }
    let keys = counted(keys, "key");
    printer.line(&format!("rotated: {keys} of accounts sealed anew"))?;
    if store.new_master_key.is_some() {
        printer.next("from now on FOLDBACK_MASTER_KEY must be the new key; keep a copy of it");
    } else {
        printer.next("from now on no FOLDBACK_MASTER_KEY must be set; the store keeps its key");
    }
    Ok(Outcome::Done)
}

/// Reads a signing key.
pub(crate) fn signing(path: &Path) -> Result<SigningKey, CliError> {
    SigningKey::parse(&text(path)?).map_err(|source| note_file(path, source))
}

/// Reads the key that checks signatures: itself, or a file that holds it.
pub(crate) fn verifying(named: &str) -> Result<VerifyingKey, CliError> {
    let path = Path::new(named);
    if !path.exists() {
        return Ok(VerifyingKey::parse(named).map_err(Error::Note)?);
    }
    VerifyingKey::parse(&text(path)?).map_err(|source| note_file(path, source))
}

/// Reads a text file whole.
pub(crate) fn text(path: &Path) -> Result<String, CliError> {
    let path = path.to_owned();
    std::fs::read_to_string(&path).map_err(|source| CliError::File { path, source })
}

/// Says in which file a note or a key is wrong.
pub(crate) fn note_file(path: &Path, source: NoteError) -> CliError {
    CliError::Note {
        path: path.to_owned(),
        source: Box::new(Error::Note(source)),
    }
}
