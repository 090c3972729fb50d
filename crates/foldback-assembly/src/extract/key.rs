//! How much a key or a value is worth when not all fits.
//!
//! A later call needs what names things (ids, codes, addresses) before what measures them
//! (numbers, dates, states), and both before what tells about them (prose).

/// The worth of a field, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Worth {
    /// Names a thing.
    Id,
    /// Measures a thing: a number, a date, a state, a person's name.
    Value,
    /// A short text.
    Short,
    /// A longer text.
    Long,
    /// Says next to nothing: null, empty, prose.
    Noise,
}

const ID_KEYS: &[&str] = &[
    "id", "uuid", "guid", "key", "name", "number", "code", "sku", "slug", "email", "url", "uri",
    "href", "path", "file", "filename", "handle", "login", "username", "user", "ref", "sha",
    "hash", "digest", "commit", "branch", "version", "token", "cursor", "symbol", "ticker", "iban",
    "phone", "zip", "host", "hostname", "ip", "port", "title", "subject", "tag",
];

const VALUE_KEYS: &[&str] = &[
    "status",
    "state",
    "type",
    "kind",
    "date",
    "time",
    "price",
    "amount",
    "total",
    "count",
    "quantity",
    "balance",
    "currency",
    "created",
    "updated",
    "due",
    "start",
    "end",
    "first_name",
    "last_name",
    "dob",
    "city",
    "country",
    "origin",
    "destination",
    "role",
    "owner",
    "assignee",
    "priority",
    "level",
    "score",
    "size",
    "error",
    "message",
    "result",
    "success",
];

/// Tells whether a key names things: `id`, `user_id`, `userId`, `flight_number`.
pub(crate) fn is_id_key(key: &str) -> bool {
    let last = last_word(key);
    ID_KEYS.contains(&last.as_str())
}

/// Tells whether a key holds the identity of its object, in the narrow sense.
pub(crate) fn is_identity(key: &str) -> bool {
    let last = last_word(key);
    let whole = key.len() == last.len();
    match last.as_str() {
        "id" | "uuid" | "guid" | "sku" | "slug" => true,
        "number" | "code" | "key" => !whole || last == "key",
        _ => false,
    }
}

/// Rates a field by its key and text.
pub(crate) fn worth(key: &str, text: &str) -> Worth {
    if text.is_empty() {
        return Worth::Noise;
    }
    let prose = text.len() > 120 && text.contains(' ');
    if prose || text.len() > 400 {
        return Worth::Noise;
    }
    if is_id_key(key) && text.len() <= 120 || is_code(text) {
        return Worth::Id;
    }
    let last = last_word(key);
    let named = VALUE_KEYS.contains(&last.as_str()) || VALUE_KEYS.contains(&key);
    match text.len() {
        0..=60 if named || text.bytes().any(|b| b.is_ascii_digit()) => Worth::Value,
        0..=32 => Worth::Short,
        _ => Worth::Long,
    }
}

/// Tells whether a text looks like a code, an address or a path: one word of letters and digits.
pub(crate) fn is_code(text: &str) -> bool {
    if text.len() < 4 || text.len() > 160 || text.chars().any(char::is_whitespace) {
        return false;
    }
    let has = |f: fn(&u8) -> bool| text.bytes().any(|b| f(&b));
    let digit = has(u8::is_ascii_digit);
    let letter = has(u8::is_ascii_alphabetic);
    (digit && letter && !is_time(text)) || text.contains('@') || text.contains('/')
}

fn is_time(text: &str) -> bool {
    text.len() <= 32
        && text
            .bytes()
            .all(|b| b.is_ascii_digit() || b"-:.+TZ".contains(&b))
}

/// Gives the last word of a key in lower case: `flightNumber` gives `number`.
fn last_word(key: &str) -> String {
    let tail = key.rsplit(['_', '-', '.', ' ', '/']).next().unwrap_or(key);
    let mut start = 0;
    let mut lower = false;
    for (at, c) in tail.char_indices() {
        if c.is_uppercase() && lower {
            start = at;
        }
        lower = c.is_lowercase() || c.is_ascii_digit();
    }
    let word = tail.get(start..).unwrap_or(tail).to_lowercase();
    match word.strip_suffix('s') {
        Some(single) if single.len() > 2 && ID_KEYS.contains(&single) => single.to_owned(),
        _ => word,
    }
}
