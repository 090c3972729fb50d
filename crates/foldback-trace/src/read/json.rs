//! JSON as slices of the source: members are found without giving up their exact bytes.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// The members of a JSON object, in order, each as the slice that the source has.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry::<String, &'de RawValue>()? {
                    members.push(member);
                }
                Ok(Fields(members))
            }
        }
        from.deserialize_map(Members)
    }
}

impl<'a> Fields<'a> {
    /// Reads an object; any other value is none.
    pub(crate) fn of(value: &'a RawValue) -> Option<Self> {
        value
            .get()
            .starts_with('{')
            .then(|| serde_json::from_str(value.get()).ok())
            .flatten()
    }

    /// Gives a member that is there and not null. Where a name repeats, the last one counts.
    pub(crate) fn get(&self, name: &str) -> Option<&'a RawValue> {
        let (_, value) = self.0.iter().rev().find(|(key, _)| key == name)?;
        (value.get() != "null").then_some(*value)
    }

    /// Gives a member that is a string.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.get(name).and_then(text)
    }

    /// Gives a member that is a whole number.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        serde_json::from_str(self.get(name)?.get()).ok()
    }

    /// Tells whether a member is `true`.
    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value.get() == "true")
    }

    /// Gives the members of a member that is an object.
    pub(crate) fn object(&self, name: &str) -> Option<Self> {
        self.get(name).and_then(Self::of)
    }

    /// Gives the items of a member that is an array.
    pub(crate) fn array(&self, name: &str) -> Option<Vec<&'a RawValue>> {
        self.get(name).and_then(items)
    }

    /// Gives the members, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value))
    }

    /// Tells whether all members that say something have one of these names.
    pub(crate) fn only(&self, known: &[&str]) -> bool {
        self.iter()
            .all(|(name, value)| known.contains(&name) || says_nothing(value))
    }

    /// Writes the members that say something and have none of these names, as an object in which
    /// each value is exact; none if there is no such member.
    pub(crate) fn without(&self, known: &[&str]) -> Option<Vec<u8>> {
        let rest = self
            .iter()
            .filter(|(name, v)| !known.contains(name) && !says_nothing(v));
        let bytes = object(rest.map(|(name, value)| (name, value.get())));
        (bytes.len() > 2).then_some(bytes)
    }

    /// Names the first members, for people.
    pub(crate) fn names(&self) -> String {
        const SHOWN_MAX: usize = 6;
        if self.0.is_empty() {
            return "no member".into();
        }
        let mut names: Vec<String> = self
            .0
            .iter()
            .take(SHOWN_MAX)
            .map(|(name, _)| format!("`{}`", cut(name, 40)))
            .collect();
        if self.0.len() > SHOWN_MAX {
            names.push("more".into());
        }
        names.join(", ")
    }
}

/// A member that is null or an empty list or object tells nothing that its absence would not.
fn says_nothing(value: &RawValue) -> bool {
    matches!(value.get(), "null" | "[]" | "{}")
}

/// Reads a string; any other value is none.
pub(crate) fn text(value: &RawValue) -> Option<String> {
    value
        .get()
        .starts_with('"')
        .then(|| serde_json::from_str(value.get()).ok())
        .flatten()
}

/// Reads an array; any other value is none.
pub(crate) fn items(value: &RawValue) -> Option<Vec<&RawValue>> {
    value
        .get()
        .starts_with('[')
        .then(|| serde_json::from_str(value.get()).ok())
        .flatten()
}

/// Writes an object of values that are JSON already.
pub(crate) fn object<'v>(members: impl Iterator<Item = (&'v str, &'v str)>) -> Vec<u8> {
    let mut out = String::from("{");
    for (name, value) in members {
        if out.len() > 1 {
            out.push(',');
        }
        out.push_str(&quoted(name));
        out.push(':');
        out.push_str(value);
    }
    out.push('}');
    out.into_bytes()
}

/// Writes a string.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Tells whether bytes are one JSON value.
pub(crate) fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// Tells whether text is one JSON object or array.
pub(crate) fn is_json_tree(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[']) && is_json(text)
}

/// Shortens a text for a message to people.
pub(crate) fn cut(text: &str, chars_max: usize) -> String {
    let mut out: String = text.chars().take(chars_max).collect();
    if out.len() < text.len() {
        out.push('…');
    }
    out
}

/// Replaces halves of surrogate pairs, which JSON can escape and text cannot hold, by the
/// replacement character. Borrows where there is none, so that the caller can tell.
pub(crate) fn mend(text: &str) -> Cow<'_, str> {
    const REPLACEMENT: &str = "\\ufffd";
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('\\')) {
        at += found;
        let Some(unit) = escaped_unit(text, at) else {
            at += 2;
            // The escaped character may have several bytes, of which none is a backslash.
            while at < text.len() && !text.is_char_boundary(at) {
                at += 1;
            }
            continue;
        };
        let pair = (0xd800..0xdc00).contains(&unit)
            && escaped_unit(text, at + 6).is_some_and(|low| (0xdc00..0xe000).contains(&low));
        if pair {
            at += 12;
            continue;
        }
        if (0xd800..0xe000).contains(&unit) {
            out.push_str(text.get(copied..at).unwrap_or_default());
            out.push_str(REPLACEMENT);
            copied = at + 6;
        }
        at += 6;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

fn escaped_unit(text: &str, at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mending_replaces_halves_and_nothing_else() {
        assert!(matches!(
            mend(r#"{"a":"\\ud83d \ud83d\ude00 \n é"}"#),
            Cow::Borrowed(_)
        ));
        assert_eq!(mend(r#""a\ud83d""#), r#""a\ufffd""#);
        assert_eq!(mend(r#""\udc00x\uD83D\u0041""#), r#""\ufffdx\ufffd\u0041""#);
        assert_eq!(mend("\"\\é\\ud800"), "\"\\é\\ufffd");
    }

    #[test]
    fn members_keep_their_exact_bytes() {
        let value: &RawValue =
            serde_json::from_str(r#"{"b": 1.50, "a": { "x" :1}, "n":null}"#).unwrap();
        let fields = Fields::of(value).unwrap();
        assert_eq!(fields.get("b").unwrap().get(), "1.50");
        assert_eq!(fields.get("a").unwrap().get(), r#"{ "x" :1}"#);
        assert!(fields.get("n").is_none());
        assert_eq!(fields.without(&["b"]).unwrap(), br#"{"a":{ "x" :1}}"#);
        assert!(fields.without(&["a", "b"]).is_none());
    }
}
