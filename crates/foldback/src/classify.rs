//! What a captured result gives away about itself: secrets, and data fetched under a user's grant.
//!
//! [`classify`] is a pure function of the tool's name and the bytes, in time linear in them.
//! It only ever raises the class that the caller stated; to lower one is a caller's explicit word.
//! Each rule looks for a form that nothing else has: the fixed beginning and length of a provider's
//! tokens, the armour of a private key, a password inside an address, a value of letters and digits
//! assigned to a name that says that it is secret, the marks that an interface puts on its answers.
//! A text that merely speaks of passwords is left alone.

use foldback_event::Privacy;

/// The class of a result and what raised it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Classified {
    /// The class: never less than the one that was stated.
    pub privacy: Privacy,
    /// The rule that raised it; none if nothing did.
    pub rule: Option<&'static str>,
}

/// The code of the finding that says that a result's class was raised.
pub const PRIVACY_RAISED: &str = "privacy-raised";

impl Classified {
    /// Takes the caller's word.
    pub const fn stated(privacy: Privacy) -> Self {
        Self {
            privacy,
            rule: None,
        }
    }

    /// Tells what was raised, by which rule; none if nothing was.
    pub(crate) fn told(&self, stated: Privacy) -> Option<String> {
        let rule = self.rule?;
        Some(format!("from {stated} to {} by {rule}", self.privacy))
    }
}

/// A provider's token: how it begins, what follows, and at least how much of that.
struct Token {
    rule: &'static str,
    prefix: &'static str,
    min: usize,
    upper: bool,
}

const fn token(rule: &'static str, prefix: &'static str, min: usize) -> Token {
    Token {
        rule,
        prefix,
        min,
        upper: false,
    }
}

const TOKENS: &[Token] = &[
    Token {
        rule: "aws-access-key",
        prefix: "AKIA",
        min: 16,
        upper: true,
    },
    Token {
        rule: "aws-access-key",
        prefix: "ASIA",
        min: 16,
        upper: true,
    },
    token("github-token", "ghp_", 36),
    token("github-token", "gho_", 36),
    token("github-token", "ghu_", 36),
    token("github-token", "ghs_", 36),
    token("github-token", "ghr_", 36),
    token("github-token", "github_pat_", 40),
    token("gitlab-token", "glpat-", 20),
    token("slack-token", "xoxb-", 20),
    token("slack-token", "xoxp-", 20),
    token("slack-token", "xoxa-", 20),
    token("slack-token", "xoxr-", 20),
    token("slack-token", "xoxs-", 20),
    token("stripe-key", "sk_live_", 16),
    token("stripe-key", "rk_live_", 16),
    token("anthropic-key", "sk-ant-", 32),
    token("openai-key", "sk-proj-", 32),
    token("google-api-key", "AIza", 35),
    token("google-oauth-token", "ya29.", 30),
    token("google-oauth-secret", "GOCSPX-", 24),
    token("npm-token", "npm_", 36),
    token("pypi-token", "pypi-AgEIcHlwaS5vcmc", 32),
    token("sendgrid-key", "SG.", 60),
];

/// How a name ends whose value is a secret; lower case, without `_` and `-`.
const SECRET_NAMES: &[&str] = &[
    "password",
    "passwd",
    "secret",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "accesstoken",
    "authtoken",
    "refreshtoken",
    "clientsecret",
];

/// How much of a key must stand in its armour.
const KEY_CHARS_MIN: usize = 32;

/// What stands in a value that is no secret but shows where one goes.
const PLACEHOLDERS: &[&str] = &[
    "example",
    "placeholder",
    "changeme",
    "your",
    "xxxx",
    "dummy",
    "test",
];

/// Marks that Google's interfaces put on their answers, as the start of `kind`.
const GOOGLE_KINDS: &[&str] = &[
    "calendar#",
    "drive#",
    "gmail#",
    "people#",
    "tasks#",
    "youtube#",
    "admin#",
];

/// Names of tools that read with Google's interfaces, as the first words of the name.
const GOOGLE_TOOLS: &[&str] = &[
    "gmail",
    "gcal",
    "gdrive",
    "google calendar",
    "google drive",
    "google docs",
    "google sheets",
    "google mail",
    "google contacts",
];

/// Finds the class of a captured result.
pub fn classify(tool: &str, result: &[u8], stated: Privacy) -> Classified {
    let text = String::from_utf8_lossy(result);
    let found = secret(&text)
        .map(|rule| (Privacy::SecretAdjacent, rule))
        .or_else(|| grant(tool, &text));
    match found {
        Some((privacy, rule)) if privacy > stated => Classified {
            privacy,
            rule: Some(rule),
        },
        _ => Classified::stated(stated),
    }
}

fn secret(text: &str) -> Option<&'static str> {
    if private_key(text) {
        return Some("private-key");
    }
    if address_with_password(text) {
        return Some("password-in-address");
    }
    let mut rest = text;
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    while let Some(start) = rest.find(is_word) {
        let from = rest.get(start..).unwrap_or_default();
        let end = from.find(|c| !is_word(c)).unwrap_or(from.len());
        let (word, behind) = from.split_at(end);
        let known = TOKENS.iter().find(|token| is_token(word, token));
        if let Some(token) = known {
            return Some(token.rule);
        }
        if is_jwt(word) {
            return Some("json-web-token");
        }
        if word == "Bearer" && bearer(behind) {
            return Some("bearer-token");
        }
        if is_secret_name(word) && assigned(behind) {
            return Some("assigned-secret");
        }
        rest = behind;
    }
    None
}

/// Finds the armour of a private key with something in it.
fn private_key(text: &str) -> bool {
    text.match_indices("PRIVATE KEY-----").any(|(at, mark)| {
        let behind = text.get(at + mark.len()..).unwrap_or_default();
        let body =
            behind.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '\\' | 'n' | 'r'));
        let base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=');
        body.chars().take_while(|c| base64(*c)).count() >= KEY_CHARS_MIN
    })
}

fn is_token(word: &str, token: &Token) -> bool {
    let Some(body) = word.strip_prefix(token.prefix) else {
        return false;
    };
    let upper = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit();
    let fits = !token.upper || body.bytes().all(upper) && body.len() == token.min;
    fits && body.len() >= token.min && is_random(body)
}

/// Three parts in base64, of which the first two are JSON objects.
fn is_jwt(word: &str) -> bool {
    let mut parts = word.split('.');
    let (Some(head), Some(body), Some(sign), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    head.starts_with("eyJ") && body.starts_with("eyJ") && body.len() > 10 && sign.len() >= 16
}

fn bearer(behind: &str) -> bool {
    let Some(value) = behind.strip_prefix(' ') else {
        return false;
    };
    let end = value.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '\\' | ','));
    let value = value.get(..end.unwrap_or(value.len())).unwrap_or_default();
    value.len() >= 20 && is_random(value) && is_value(value)
}

fn is_secret_name(word: &str) -> bool {
    if word.len() > 64 {
        return false;
    }
    let plain: String = word
        .chars()
        .filter(|c| !matches!(c, '_' | '-'))
        .map(|c| c.to_ascii_lowercase())
        .collect();
    SECRET_NAMES.iter().any(|name| plain.ends_with(name))
}

/// Tells whether what stands behind a name gives it a value that looks like a secret.
fn assigned(behind: &str) -> bool {
    let after = behind.trim_start_matches(['"', '\'', '\\', ' ']);
    let Some(value) = after.strip_prefix([':', '=']) else {
        return false;
    };
    let value = value.trim_start_matches([' ', '\\']);
    let quoted = value.starts_with(['"', '\'']);
    let value = value.trim_start_matches(['"', '\'']);
    let end = value.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '\\' | ',' | ';'));
    let value = value.get(..end.unwrap_or(value.len())).unwrap_or_default();
    let long = value.len() >= if quoted { 10 } else { 16 };
    long && is_random(value) && is_value(value)
}

/// Tells letters and digits in disorder from words and numbers.
fn is_random(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
    let mut seen = [false; 256];
    for byte in text.bytes() {
        if let Some(seen) = seen.get_mut(usize::from(byte)) {
            *seen = true;
        }
    }
    let distinct = seen.iter().filter(|seen| **seen).count();
    digits >= 2 && letters >= 2 && distinct >= 7
}

/// Tells a value from code that names one, and from what only shows where one goes.
fn is_value(text: &str) -> bool {
    let code = text.contains(['(', ')', '{', '}', '[', ']', '<', '>', '$', '*', '…']);
    let lower = text.to_ascii_lowercase();
    !code && !PLACEHOLDERS.iter().any(|word| lower.contains(word))
}

/// Finds `scheme://user:password@host`.
fn address_with_password(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        rest = rest.get(at + 3..).unwrap_or_default();
        let end = rest
            .find(|c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\'' | '`' | '<' | ')'));
        let authority = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        let user = authority.rsplit_once('@').map(|(user, _)| user);
        if let Some((_, password)) = user.and_then(|user| user.split_once(':')) {
            let known = ["password", "pass", "postgres", "root", "user", "secret"];
            if password.len() >= 6 && is_value(password) && !known.contains(&password) {
                return true;
            }
        }
    }
    false
}

/// Finds what an interface that needs a user's grant has answered.
fn grant(tool: &str, text: &str) -> Option<(Privacy, &'static str)> {
    let words: String = tool
        .trim_start_matches("mcp__")
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                ' '
            }
        })
        .collect();
    let named = |name: &&&str| {
        let rest = words.strip_prefix(**name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    if GOOGLE_TOOLS.iter().find(named).is_some() {
        return Some((Privacy::GoogleDerived, "google-tool"));
    }
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let mut kinds = text.match_indices("\"kind\"");
    let google = kinds.any(|(at, key)| {
        let value = text.get(at + key.len()..).unwrap_or_default();
        let value = value.trim_start().trim_start_matches(':').trim_start();
        let value = value.trim_start_matches('"');
        GOOGLE_KINDS.iter().any(|kind| value.starts_with(kind))
    });
    if google {
        return Some((Privacy::GoogleDerived, "google-answer"));
    }
    let graph =
        text.contains("\"@odata.context\"") && text.contains("https://graph.microsoft.com/");
    graph.then_some((Privacy::OauthDerived, "microsoft-answer"))
}
