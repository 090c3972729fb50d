//! What can go wrong in front of the engine, and the next step for each case.

use foldback::report::ErrorReport;
use foldback::{Error, OpenError};
use std::io;
use std::path::PathBuf;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// The engine says so.
    #[error(transparent)]
    Engine(#[from] Error),
    /// A file could not be read.
    #[error("cannot read `{}`", path.display())]
    File {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// A file could not be made.
    #[error("cannot make `{}`", path.display())]
    NewFile {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// A file is no attestation, or no key of attestations.
    #[error("`{}` cannot be used", path.display())]
    Note {
        path: PathBuf,
        #[source]
        source: Box<Error>,
    },
    /// A folder stands where a file is wanted.
    #[error("`{}` is a directory", path.display())]
    Directory { path: PathBuf, hint: String },
    /// A policy file is not valid.
    #[error("`{}` is no valid policy", path.display())]
    PolicyFile {
        path: PathBuf,
        #[source]
        source: Box<Error>,
    },
    /// The arguments do not say enough, or contradict each other.
    #[error("{message}")]
    Usage { message: String, hint: String },
    /// What was asked for is not there.
    #[error("{message}")]
    NotFound { message: String, hint: String },
    /// Whoever read our output has closed it.
    #[error("the output was closed")]
    ClosedPipe,
    /// The answer could not be written.
    #[error("cannot write the answer")]
    Output(#[source] io::Error),
    /// The answer could not be put into JSON.
    #[error("cannot write the answer as JSON")]
    Json(#[source] serde_json::Error),
    /// There is no runtime to work in.
    #[error("cannot start the runtime")]
    Runtime(#[source] io::Error),
    /// The command panicked.
    #[error("a bug in foldback: the command panicked")]
    Panicked,
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::ClosedPipe
        } else {
            Self::Output(error)
        }
    }
}

impl CliError {
    /// Gives the report that people and programs see.
    pub(crate) fn report(&self) -> ErrorReport {
        let own = |code: &str, hint: Option<&str>| ErrorReport {
            schema: "foldback.error/1",
            code: code.to_owned(),
            message: foldback::report::chain(self),
            hint: hint.map(str::to_owned),
        };
        match self {
            Self::Engine(error) => {
                let mut report = ErrorReport::new(error);
                report.hint = report.hint.or_else(|| hint(error).map(str::to_owned));
                report
            }
            Self::NewFile { source, .. } if source.kind() == io::ErrorKind::AlreadyExists => {
                own("cli-file", Some("nothing was changed; name a new file"))
            }
            Self::File { .. } | Self::NewFile { .. } => own("cli-file", None),
            Self::Note { source, .. } => own(source.code(), None),
            Self::Directory { hint, .. } => own("cli-directory", Some(hint)),
            Self::PolicyFile { source, .. } => {
                let found = foldback::report::policy_errors(source);
                let lines: Vec<String> = found
                    .iter()
                    .map(|problem| format!("\n  {}", problem.message))
                    .collect();
                let mut report = own(
                    source.code(),
                    Some("`foldback policy check FILE` says more"),
                );
                report.message = format!("{self}:{}", lines.concat());
                report
            }
            Self::Usage { hint, .. } => own("cli-usage", Some(hint)),
            Self::NotFound { hint, .. } => own("cli-not-found", Some(hint)),
            Self::ClosedPipe | Self::Output(_) | Self::Json(_) => own("cli-output", None),
            Self::Runtime(_) => own("cli-runtime", None),
            Self::Panicked => own("FB0099", Some("please report it, with the message above")),
        }
    }
}

/// Knows a next step where the engine, which does not know the command line, names none.
fn hint(error: &Error) -> Option<&'static str> {
    Some(match error {
        Error::Open(OpenError::NotAStore { .. }) => {
            "name a store, or an empty or new folder, with --store"
        }
        Error::Open(OpenError::BadStoreFile { .. }) => {
            "nothing was changed; restore the file from a copy"
        }
        error if foldback::report::is_about_key(error) => {
            "put the key file back, and give the key it was sealed with in FOLDBACK_MASTER_KEY"
        }
        Error::Get(_) | Error::Read(_) => "`foldback verify` tells what is damaged, and where",
        Error::Detect(_) => {
            "see that the file is a whole transcript; --from FORMAT names its format"
        }
        Error::Source(_) => "nothing of the file was imported; mend it and import it again",
        Error::UnknownRecord { .. } | Error::Resolve(_) => {
            "`foldback graph` lists the records of a conversation"
        }
        Error::UnknownAccount { .. } => {
            "an account is named as it was for `foldback import --account`"
        }
        Error::UnknownBranch { .. } | Error::UnknownParticipant { .. } => {
            "`foldback graph` lists branches and participants"
        }
        _ => return None,
    })
}
