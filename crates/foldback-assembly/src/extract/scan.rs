//! Finds the words in a text that a later call may need: paths, addresses, hashes, codes, versions,
//! flags, names from source code.

use super::key::is_code;
use std::collections::BTreeMap;

/// What kind of word it is, the most specific first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// A path, an address, an email.
    Place,
    /// A hash, a uuid, a code of letters and digits.
    Code,
    /// A name from source code: `useTodos`, `is_open`, `MAX_LEN`.
    Name,
    /// A version, a flag, a date, a quantity with its name.
    Detail,
    /// A path to what a tool made from something else: `node_modules/…`, `dist/…`.
    Derived,
}

/// A distinct word and where it stands first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found<'a> {
    pub(super) word: &'a str,
    pub(super) class: Class,
    pub(super) line: usize,
    pub(super) count: usize,
}

/// How many distinct words are looked at.
const WORDS_MAX: usize = 8_192;

/// Lists the distinct words of interest, in the order in which they stand.
pub(super) fn scan<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Found<'a>> {
    let mut found: Vec<Found<'a>> = Vec::new();
    let mut index: BTreeMap<&str, usize> = BTreeMap::new();
    for (line, text) in lines.enumerate() {
        for word in words(text) {
            if let Some(at) = index.get(word) {
                if let Some(known) = found.get_mut(*at) {
                    known.count += 1;
                }
                continue;
            }
            let Some(class) = classify(word) else {
                continue;
            };
            if found.len() < WORDS_MAX {
                index.insert(word, found.len());
                found.push(Found {
                    word,
                    class,
                    line,
                    count: 1,
                });
            }
        }
    }
    found
}

/// Splits a line at what no path, address or name holds.
pub(super) fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| {
        c.is_whitespace()
            || "\"'`<>(){}|,;→│┃=".contains(c)
            || (c > '\u{2000}' && !c.is_alphanumeric())
    })
    .map(|word| word.trim_matches(|c: char| "[]:.!?*#&\\".contains(c) && c != '.' || c == ':'))
    .map(|word| word.trim_end_matches(['.', ':']))
    .filter(|word| word.len() >= 3 && word.len() <= 240)
}

const DERIVED: &[&str] = &[
    "node_modules",
    "build",
    "dist",
    "target",
    "out",
    ".next",
    "coverage",
    "__pycache__",
    ".venv",
    "site-packages",
    "vendor",
    ".cache",
];

/// Rates a word; none if it is of no interest.
pub(super) fn classify(word: &str) -> Option<Class> {
    let bytes = || word.bytes();
    if word.contains("://") || is_email(word) {
        return Some(Class::Place);
    }
    if is_path(word) {
        let derived = word.split('/').any(|step| DERIVED.contains(&step));
        return Some(if derived {
            Class::Derived
        } else {
            Class::Place
        });
    }
    let digits = bytes().filter(u8::is_ascii_digit).count();
    let letters = bytes().filter(u8::is_ascii_alphabetic).count();
    if letters == 0 {
        // Bare small numbers are sizes and counts: noise without what they count.
        return (digits >= 5 || digits >= 3 && word.contains('.')).then_some(Class::Detail);
    }
    if digits > 0
        && letters <= 2
        && word.starts_with(|c: char| c.is_ascii_digit())
        && word.len() < 7
    {
        // `26ms`, `10KB`: a measure without its name.
        return None;
    }
    if word.starts_with("--") {
        return Some(Class::Detail);
    }
    if word.starts_with('@') && word.contains('/') {
        return Some(Class::Place);
    }
    let plain = bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.$#@:/".contains(&b));
    if !plain {
        return None;
    }
    if word.starts_with(|c: char| c == 'v' || c.is_ascii_digit())
        && digits > 0
        && word.contains('.')
    {
        return Some(Class::Detail);
    }
    if digits > 0 && is_code(word) {
        let hex = word.len() >= 7 && bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
        let upper = !bytes().any(|b| b.is_ascii_lowercase());
        let joined = word.contains('_') || digits >= 3;
        return Some(if hex || upper || joined {
            Class::Code
        } else {
            Class::Name
        });
    }
    let inner_upper = word
        .as_bytes()
        .windows(2)
        .any(|pair| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase()));
    let snake = word.trim_matches('_').contains('_');
    let dotted = word.contains('.') && !word.ends_with('.');
    let kebab = word.contains('-') && letters >= 4;
    (inner_upper || snake || dotted || kebab || word.contains("::")).then_some(Class::Name)
}

fn is_email(word: &str) -> bool {
    word.split_once('@')
        .is_some_and(|(user, host)| !user.is_empty() && host.contains('.'))
}

/// Tells whether a word is a path: it has a directory, or an extension that files have.
pub(super) fn is_path(word: &str) -> bool {
    let body = word.trim_start_matches(['.', '~', '@']);
    let slashes = body.bytes().filter(|b| *b == b'/').count();
    let letters = body.bytes().filter(u8::is_ascii_alphabetic).count();
    if body.starts_with("//") || letters < 2 || word.contains(['*', '$', '^']) {
        return false;
    }
    // One slash alone also stands in closing tags and in "and/or".
    slashes >= 2 || slashes == 1 && word.starts_with(['.', '~']) || has_extension(word)
}

const EXTENSIONS: &[&str] = &[
    "rs", "ts", "tsx", "js", "jsx", "mjs", "cjs", "py", "rb", "java", "kt", "cc", "cpp", "hpp",
    "cs", "php", "swift", "sh", "css", "scss", "html", "htm", "vue", "svelte", "json", "jsonl",
    "yaml", "yml", "toml", "xml", "csv", "tsv", "md", "mdx", "txt", "pdf", "png", "jpg", "jpeg",
    "gif", "svg", "ico", "zip", "gz", "tar", "ini", "cfg", "ipynb", "docx", "xlsx", "pptx", "wasm",
    "proto",
];

/// Extensions that are also names of methods: `console.log` is no file, `logs/app.log` is one.
const AMBIGUOUS: &[&str] = &[
    "log", "map", "env", "snap", "lock", "go", "c", "h", "conf", "sql",
];

fn has_extension(word: &str) -> bool {
    let file = word.rsplit('/').next().unwrap_or(word);
    // `src/a.rs:12:5` names a file and a place in it.
    let file = file.split(':').next().unwrap_or(file);
    file.rsplit_once('.').is_some_and(|(stem, end)| {
        let known = EXTENSIONS.contains(&end) || word.contains('/') && AMBIGUOUS.contains(&end);
        !stem.is_empty() && stem.len() <= 120 && known
    })
}

/// Gives the text of a line that defines something, if it does.
pub(super) fn definition(line: &str) -> Option<&str> {
    const STARTS: &[&str] = &[
        "fn ",
        "pub ",
        "def ",
        "class ",
        "function ",
        "const ",
        "export ",
        "interface ",
        "type ",
        "struct ",
        "enum ",
        "trait ",
        "impl ",
        "mod ",
        "async ",
        "func ",
        "describe(",
        "it(",
        "test(",
        "static ",
        "abstract ",
        "public ",
        "private ",
        "protected ",
        "namespace ",
        "macro_rules!",
        "CREATE ",
        "#define ",
    ];
    let text = line.trim_start();
    let known = STARTS.iter().any(|start| text.starts_with(start));
    let indent = line.len() - text.len();
    let heading = text.starts_with('#') && text.trim_start_matches('#').starts_with(' ');
    let local = text.starts_with("const ") && indent > 2;
    ((known && !local) || (heading && indent == 0)).then(|| {
        let end = text
            .find(['{', '='])
            .filter(|end| *end > 12)
            .unwrap_or(text.len());
        text.get(..end)
            .unwrap_or(text)
            .trim_end_matches([' ', ':', ';'])
    })
}
