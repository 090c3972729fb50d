//! The one place that reads the environment; nothing below the command line does.

use crate::error::CliError;
use std::path::PathBuf;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// What the environment says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Environment {
    store: Option<PathBuf>,
    log: Option<String>,
    master_key: Option<String>,
    new_master_key: Option<String>,
}

impl Environment {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the edge where the environment enters"
    )]
    pub(crate) fn read() -> Self {
        let text = |name| std::env::var(name).ok().filter(|text| !text.is_empty());
        Self {
            store: std::env::var_os("FOLDBACK_STORE")
                .filter(|path| !path.is_empty())
                .map(PathBuf::from),
            log: text("FOLDBACK_LOG"),
            master_key: text("FOLDBACK_MASTER_KEY"),
            new_master_key: text("FOLDBACK_NEW_MASTER_KEY"),
        }
    }

    /// Gives the store's folder: the flag, else `FOLDBACK_STORE`, else `.foldback`.
    pub(crate) fn store(&self, flag: Option<&PathBuf>) -> PathBuf {
        let store = flag.or(self.store.as_ref());
        store.map_or_else(|| PathBuf::from(".foldback"), PathBuf::clone)
    }

    /// Gives the key of `FOLDBACK_MASTER_KEY`.
    pub(crate) fn master_key(&self) -> Result<Option<[u8; 32]>, CliError> {
        key("FOLDBACK_MASTER_KEY", self.master_key.as_deref())
    }

    /// Gives the key of `FOLDBACK_NEW_MASTER_KEY`.
    pub(crate) fn new_master_key(&self) -> Result<Option<[u8; 32]>, CliError> {
        key("FOLDBACK_NEW_MASTER_KEY", self.new_master_key.as_deref())
    }

    /// Sends the engine's trace to stderr: as `FOLDBACK_LOG` filters it, else all with `-vv`.
    pub(crate) fn trace(&self, verbose: u8) -> Result<(), CliError> {
        let filter = match &self.log {
            Some(text) => text.parse::<Targets>().map_err(|error| CliError::Usage {
                message: format!("FOLDBACK_LOG does not read: {error}"),
                hint: "write levels by target, such as `foldback=debug`".to_owned(),
            })?,
            None if verbose > 1 => Targets::new().with_default(LevelFilter::DEBUG),
            None => return Ok(()),
        };
        let lines = tracing_subscriber::fmt::layer()
            .with_writer(std::io::stderr)
            .with_ansi(false)
            .without_time();
        // Only the first subscriber of a process counts, and this is the first.
        let _ = tracing_subscriber::registry()
            .with(lines)
            .with(filter)
            .try_init();
        Ok(())
    }
}

/// Reads the value of a variable as a key: 64 hexadecimal digits.
fn key(name: &str, value: Option<&str>) -> Result<Option<[u8; 32]>, CliError> {
    let Some(text) = value else {
        return Ok(None);
    };
    // The value is a secret: no message repeats it.
    let bad = || CliError::Usage {
        message: format!("{name} is not 64 hexadecimal digits"),
        hint: "`openssl rand -hex 32` makes such a key".to_owned(),
    };
    let digits: Vec<u8> = text
        .trim()
        .chars()
        .map(|digit| {
            digit
                .to_digit(16)
                .and_then(|digit| u8::try_from(digit).ok())
        })
        .collect::<Option<_>>()
        .ok_or_else(bad)?;
    if digits.len() != 64 {
        return Err(bad());
    }
    let mut key = [0; 32];
    for (byte, pair) in key.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = pair.iter().fold(0, |sum, digit| (sum << 4) | digit);
    }
    Ok(Some(key))
}
