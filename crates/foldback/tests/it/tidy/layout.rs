//! Folders and source files.

use super::{files, members, names, none, text};

/// The most lines of a source file; its tests in a file of their own do not count.
const LINES_MAX: usize = 600;

#[test]
fn the_top_holds_only_what_belongs_there() {
    let allowed = [
        "Cargo.lock",
        "Cargo.toml",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "README.md",
        "clippy.toml",
        "crates",
        "deny.toml",
        "docs",
        "fixtures",
        "justfile",
        "rust-toolchain.toml",
        "rustfmt.toml",
        "target",
    ];
    let found: Vec<String> = names(".")
        .into_iter()
        .filter(|name| !name.starts_with('.') && !allowed.contains(&name.as_str()))
        .collect();
    none(&found);
}

#[test]
fn a_source_file_says_first_what_it_owns_and_stays_readable() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for member in members() {
        for path in files(&format!("crates/{member}/src"), ".rs") {
            seen += 1;
            let source = text(&path);
            let tests = path.ends_with("/tests.rs");
            if !source.starts_with("//! ") && !tests {
                wrong.push(format!("{path}: does not begin with `//!`"));
            }
            let lines = source.lines().count();
            if lines > LINES_MAX && !tests {
                wrong.push(format!("{path}: {lines} lines, at most {LINES_MAX}"));
            }
        }
    }
    assert!(seen > 100, "{seen}");
    none(&wrong);
}

#[test]
fn no_file_is_a_drawer_and_none_is_called_mod() {
    let drawers = [
        "mod.rs",
        "utils.rs",
        "util.rs",
        "helpers.rs",
        "misc.rs",
        "types.rs",
        "common.rs",
    ];
    let mut wrong = Vec::new();
    for member in members() {
        for path in files(&format!("crates/{member}"), ".rs") {
            let name = path.rsplit('/').next().unwrap();
            if drawers.contains(&name) {
                wrong.push(path);
            }
        }
    }
    none(&wrong);
}

#[test]
fn each_crate_has_one_binary_of_integration_tests() {
    let mut wrong = Vec::new();
    for member in members() {
        let folder = format!("crates/{member}/tests");
        if !super::root().join(&folder).exists() {
            continue;
        }
        // Seeds that once broke a law stand beside the binary, where proptest looks for them.
        let binaries: Vec<String> = names(&folder)
            .into_iter()
            .filter(|name| name != "proptest-regressions")
            .collect();
        if binaries != ["it"] {
            wrong.push(format!("{folder}: {binaries:?}, not `it` alone"));
        }
    }
    none(&wrong);
}
