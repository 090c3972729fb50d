//! What can be wrong with a policy document, each with its place.

use foldback_event::LabelError;

/// One thing that is wrong with a policy document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {}{problem}", quoted(key))]
pub struct PolicyError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The path of the key, such as `gate.effect`; empty where none is concerned.
    pub key: String,
    /// What is wrong.
    pub problem: Problem,
    /// What to do about it, where that is known.
    pub hint: Option<String>,
}

fn quoted(key: &str) -> String {
    if key.is_empty() {
        String::new()
    } else {
        format!("`{key}`: ")
    }
}

/// What is wrong at one place of a policy document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The text is no TOML.
    #[error("not valid TOML: {message}")]
    Syntax {
        /// What the parser says.
        message: String,
    },
    /// The document is longer than any policy.
    #[error("the document has {bytes} bytes, more than {max}")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The limit.
        max: usize,
    },
    /// The document is of a later schema.
    #[error("schema {schema} is too new: this version reads schemas 1 to {newest}")]
    TooNew {
        /// The document's schema.
        schema: u64,
        /// The newest that is known.
        newest: u16,
    },
    /// A key is not known.
    #[error("unknown key")]
    UnknownKey,
    /// A key is missing.
    #[error("the key is missing")]
    MissingKey,
    /// A name is not one of its closed vocabulary.
    #[error("`{value}` is no {what}")]
    UnknownValue {
        /// What was written.
        value: String,
        /// What was expected.
        what: &'static str,
    },
    /// A name is one of its vocabulary, yet not one for this place.
    #[error("`{value}` is a {what} that this key does not take")]
    MisplacedValue {
        /// What was written.
        value: String,
        /// What it is.
        what: &'static str,
    },
    /// A value is of another type.
    #[error("expected {expected}, found {found}")]
    WrongType {
        /// What was expected.
        expected: &'static str,
        /// What was found.
        found: &'static str,
    },
    /// A number is outside its range.
    #[error("`{value}` is out of range: expected {min} to {max}")]
    OutOfRange {
        /// What was written.
        value: String,
        /// The least.
        min: u64,
        /// The most.
        max: u64,
    },
    /// A list of alternatives is empty and so matches nothing.
    #[error("an empty list matches nothing")]
    EmptyList,
    /// An exception is empty and so excepts everything.
    #[error("an empty exception would switch the rule off")]
    EmptyException,
    /// Two rules have the same id.
    #[error("rule id `{id}` is taken by line {first_line}")]
    DuplicateId {
        /// The id.
        id: String,
        /// The line of the first rule with it.
        first_line: usize,
    },
    /// A name has characters or a length that names do not have.
    #[error("`{value}` is no name")]
    BadName {
        /// What was written.
        value: String,
        /// Why not.
        #[source]
        source: LabelError,
    },
    /// There are more rules than a decision may walk.
    #[error("{count} rules, more than {max}")]
    TooMany {
        /// How many.
        count: usize,
        /// The limit.
        max: usize,
    },
}

/// All that is wrong with a policy document, in the order of its lines.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the policy document has {}", counted(.0))]
pub struct PolicyErrors(
    // INVARIANT: at least one, ascending by line and column.
    Vec<PolicyError>,
);

fn counted(errors: &[PolicyError]) -> String {
    match errors {
        [one] => format!("an error: {one}"),
        [first, ..] => format!("{} errors, the first: {first}", errors.len()),
        [] => "no error".to_owned(),
    }
}

impl PolicyErrors {
    pub(super) fn new(mut errors: Vec<PolicyError>) -> Self {
        errors.sort_by_key(|error| (error.line, error.column));
        Self(errors)
    }

    /// Gives the errors, at least one, in the order of their lines.
    pub fn as_slice(&self) -> &[PolicyError] {
        &self.0
    }

    /// Walks the errors.
    pub fn iter(&self) -> std::slice::Iter<'_, PolicyError> {
        self.0.iter()
    }
}

impl<'a> IntoIterator for &'a PolicyErrors {
    type Item = &'a PolicyError;
    type IntoIter = std::slice::Iter<'a, PolicyError>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
