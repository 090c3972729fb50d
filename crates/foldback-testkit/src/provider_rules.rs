//! The providers' own rules for a request, held against a request from outside.
//!
//! [`check_openai`] reads a Chat Completions request and [`check_anthropic`] a Messages request, and
//! each lists what its provider would refuse. They are written from the providers' public rules and
//! know nothing of the code that renders requests: a mistake there cannot hide behind the same
//! mistake here. For the same reason nothing here is shared with a renderer.
//!
//! Both are total: any JSON value gives a list, in the order of the request. A rule is named by one
//! of [`OPENAI_RULES`] or [`ANTHROPIC_RULES`], so that a test can ask for it.
//!
//! Not checked: which models exist, what a model allows (lengths, media, thinking budgets), the
//! genuineness of a signature, and the settings beside the messages. `model` and `max_tokens` may be
//! absent.

mod anthropic;
mod openai;

pub use anthropic::{ANTHROPIC_RULES, check_anthropic};
pub use openai::{OPENAI_RULES, check_openai};

use serde_json::Value;

/// One place in a request that its provider would refuse.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// The place, as a JSON pointer into the request.
    pub path: String,
    /// The rule that is broken, by its name.
    pub rule: &'static str,
    /// What stands there and what should.
    pub detail: String,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}: {}", self.path, self.rule, self.detail)
    }
}

/// The violations found so far.
#[derive(Debug, Default)]
struct Found(Vec<Violation>);

impl Found {
    fn add(&mut self, path: impl Into<String>, rule: &'static str, detail: impl Into<String>) {
        self.0.push(Violation {
            path: path.into(),
            rule,
            detail: detail.into(),
        });
    }
}

/// The string at a key.
fn string<'a>(of: &'a Value, key: &str) -> Option<&'a str> {
    of.get(key).and_then(Value::as_str)
}

/// The items of a list, each with its pointer.
fn items<'a>(list: &'a [Value], path: &'a str) -> impl Iterator<Item = (String, &'a Value)> {
    list.iter()
        .enumerate()
        .map(move |(index, item)| (format!("{path}/{index}"), item))
}

/// Tells whether a text matches `^[a-zA-Z0-9_-]{1,longest}$`.
fn is_identifier(text: &str, longest: usize) -> bool {
    !text.is_empty()
        && text.len() <= longest
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}
