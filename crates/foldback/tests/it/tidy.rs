//! The order of the repository itself: what a reviewer should not have to look for.
//!
//! Everything here reads files of the checkout and nothing else.

mod crates;
mod docs;
mod layout;

use std::path::{Path, PathBuf};

/// Gives the top of the checkout.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// Reads a file by its path from the top.
fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Lists the names in a folder, in order.
fn names(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(root().join(folder));
    let entries = entries.unwrap_or_else(|error| panic!("{folder}: {error}"));
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Lists the files below a folder whose names end so, as paths from the top, in order.
fn files(folder: &str, ending: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for name in names(&folder) {
            let path = format!("{folder}/{name}");
            if root().join(&path).is_dir() {
                folders.push(path);
            } else if name.ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Lists the crates of the workspace by the names of their folders; the benchmarks are a package of
/// their own, so that no peer is part of the product.
fn members() -> Vec<String> {
    let all = names("crates");
    all.into_iter()
        .filter(|name| name != "foldback-bench")
        .filter(|name| root().join(format!("crates/{name}/Cargo.toml")).exists())
        .collect()
}

/// Fails with all that was found, one line each.
fn none(found: &[String]) {
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}
