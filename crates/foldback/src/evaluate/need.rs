//! Needs: what a call's arguments say that the model can only have read in an earlier result.

use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// What kind of text a call needs from an earlier result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// The value of an argument.
    Value,
    /// A whole line of a text that is edited or written.
    Line,
}

impl Need {
    /// Gives the name for people and for reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::Line => "line",
        }
    }
}

/// A shorter text is found everywhere, and by chance.
const VALUE_CHARS_MIN: usize = 3;
const NUMBER_DIGITS_MIN: usize = 2;
const LINE_CHARS_MIN: usize = 8;

/// The arguments in which editing tools name what they replace and what they write.
const EDITED: [&str; 7] = [
    "old_string",
    "new_string",
    "old_str",
    "new_str",
    "content",
    "file_text",
    "edits",
];

/// Lists what the arguments of a call name, each once; arguments that are no JSON name nothing.
pub(super) fn named(arguments: &str) -> BTreeSet<(Need, String)> {
    let mut out = BTreeSet::new();
    if let Ok(value) = serde_json::from_str(arguments) {
        leaves(&value, false, &mut |leaf, edited| {
            take(leaf, edited, &mut out);
        });
    }
    out
}

fn take(leaf: &Value, edited: bool, out: &mut BTreeSet<(Need, String)>) {
    match leaf {
        Value::String(text) => {
            if text.trim().chars().count() >= VALUE_CHARS_MIN {
                out.insert((Need::Value, text.clone()));
            }
            for line in text.lines().filter(|_| edited).map(str::trim) {
                if line.chars().count() >= LINE_CHARS_MIN {
                    out.insert((Need::Line, line.to_owned()));
                }
            }
        }
        Value::Number(number) => {
            let text = number.to_string();
            if text.chars().filter(char::is_ascii_digit).count() >= NUMBER_DIGITS_MIN {
                out.insert((Need::Value, text));
            }
        }
        _ => {}
    }
}

/// Walks the values of a JSON text that hold no others, and tells of each whether it is edited.
fn leaves(value: &Value, edited: bool, each: &mut impl FnMut(&Value, bool)) {
    match value {
        Value::Array(items) => {
            for item in items {
                leaves(item, edited, each);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                leaves(field, edited || EDITED.contains(&name.as_str()), each);
            }
        }
        leaf => each(leaf, edited),
    }
}

/// Gives arguments as they are read: where JSON escapes something, its texts stand there as well.
pub(super) fn spoken(arguments: &str) -> Cow<'_, str> {
    if !arguments.contains('\\') {
        return Cow::Borrowed(arguments);
    }
    let Ok(value) = serde_json::from_str(arguments) else {
        return Cow::Borrowed(arguments);
    };
    let mut out = arguments.to_owned();
    leaves(&value, false, &mut |leaf, _| {
        if let Value::String(text) = leaf {
            out.push('\n');
            out.push_str(text);
        }
    });
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_leaves_that_say_something() {
        let named = named(r#"{"id":"K4","n":7,"seat":12,"ok":true,"legs":[{"no":"HAT170"}]}"#);
        let texts: Vec<&str> = named.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["12", "HAT170"]);
    }

    #[test]
    fn lines_are_taken_of_edited_texts_alone() {
        let named = named(r#"{"path":"a long path","old_string":"  let x = 1;\n}\n"}"#);
        let lines: Vec<&str> = named
            .iter()
            .filter(|(need, _)| *need == Need::Line)
            .map(|(_, text)| text.as_str())
            .collect();
        assert_eq!(lines, ["let x = 1;"]);
    }

    #[test]
    fn escaped_arguments_are_read_as_they_were_meant() {
        assert_eq!(spoken(r#"{"a":"b"}"#), r#"{"a":"b"}"#);
        assert!(spoken(r#"{"a":"say \"b\""}"#).ends_with("\nsay \"b\""));
    }
}
