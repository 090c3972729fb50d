//! Short names from configuration: tools, models, providers, extractors, rules.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Says why a text is no label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LabelError {
    /// It is empty or longer than the limit.
    #[error("a label has 1 to {max} bytes, not {bytes}", max = Label::MAX)]
    Length {
        /// How long it is.
        bytes: usize,
    },
    /// It has a character outside the set.
    #[error("a label holds letters, digits and _ - . : / @ + only; byte {at} is another")]
    Character {
        /// Where the first such byte stands.
        at: usize,
    },
}

/// A short name that configuration gave: the name of a tool, model, provider, extractor or rule.
///
/// Labels are facts, so events hold them in the clear. What a person, a model or a tool wrote is a
/// payload instead; that is why the set of characters is narrow.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Label(
    // INVARIANT: 1 to MAX bytes of the narrow set.
    String,
);

impl Label {
    /// The most bytes a label has.
    pub const MAX: usize = 128;

    /// Checks a text and makes it a label.
    pub fn new(text: &str) -> Result<Self, LabelError> {
        if text.is_empty() || text.len() > Self::MAX {
            return Err(LabelError::Length { bytes: text.len() });
        }
        let fits = |b: u8| b.is_ascii_alphanumeric() || b"_-.:/@+".contains(&b);
        match text.bytes().position(|b| !fits(b)) {
            Some(at) => Err(LabelError::Character { at }),
            None => Ok(Self(text.to_owned())),
        }
    }

    /// Makes a label of any text: where it does not fit, a stand-in that is the same for the same
    /// text and tells nothing of it.
    pub fn or_stand_in(text: &str) -> Self {
        Self::new(text).unwrap_or_else(|_| {
            let digest = crate::Digest::of("foldback 2026 label stand-in v1", text.as_bytes());
            Self(format!("unnamed-{}", digest.short()))
        })
    }

    /// Gives the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Label {
    type Error = LabelError;

    fn try_from(text: String) -> Result<Self, LabelError> {
        Self::new(&text)
    }
}

impl From<Label> for String {
    fn from(label: Label) -> Self {
        label.0
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.0)
    }
}
