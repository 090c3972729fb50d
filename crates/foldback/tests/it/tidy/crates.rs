//! Manifests: lints, names, arrows, and a reason for each dependency.

use super::{members, none, text};
use std::collections::{BTreeMap, BTreeSet};

/// The dependencies of a crate: name to whether only its tests need it.
fn dependencies(member: &str) -> BTreeMap<String, bool> {
    let manifest = text(&format!("crates/{member}/Cargo.toml"));
    let mut section = "";
    let mut found = BTreeMap::new();
    for line in manifest.lines() {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
            assert!(
                !section.contains("dependencies."),
                "{member}: one line for each dependency, please: [{section}]"
            );
            continue;
        }
        let tests = match section {
            "dependencies" => false,
            "dev-dependencies" => true,
            _ => continue,
        };
        if let Some((key, _)) = line.split_once('=') {
            let name = key.trim().trim_end_matches(".workspace").to_owned();
            let only_tests = tests && found.get(&name) != Some(&false);
            found.insert(name, only_tests);
        }
    }
    assert!(!found.is_empty(), "{member} has no dependency at all");
    found
}

#[test]
fn every_crate_inherits_the_lints_of_the_workspace() {
    let all = members();
    assert!(all.len() >= 8, "{all:?}");
    for member in all {
        let manifest = text(&format!("crates/{member}/Cargo.toml"));
        assert!(
            manifest.contains("\n[lints]\nworkspace = true\n"),
            "{member}"
        );
        for key in ["version", "edition", "rust-version", "license", "publish"] {
            let inherited = format!("\n{key}.workspace = true\n");
            assert!(manifest.contains(&inherited), "{member}: {key}");
        }
    }
}

#[test]
fn no_crate_is_a_drawer() {
    for member in members() {
        let noun = member.strip_prefix("foldback-").unwrap_or(&member);
        let drawer = [
            "common", "core", "util", "utils", "helpers", "types", "misc",
        ];
        assert!(!drawer.contains(&noun), "{member}");
    }
}

#[test]
fn the_arrows_between_crates_are_the_ones_of_adr_0001() {
    let allowed: &[(&str, &[&str])] = &[
        ("foldback-event", &[]),
        ("foldback-store", &["foldback-event"]),
        ("foldback-graph", &["foldback-event"]),
        ("foldback-assembly", &["foldback-event", "foldback-graph"]),
        ("foldback-trace", &["foldback-event"]),
        (
            "foldback",
            &[
                "foldback-assembly",
                "foldback-event",
                "foldback-graph",
                "foldback-store",
                "foldback-trace",
            ],
        ),
        ("foldback-cli", &["foldback"]),
        ("foldback-testkit", &["foldback-event"]),
    ];
    let allowed: BTreeMap<&str, &[&str]> = allowed.iter().copied().collect();
    for member in members() {
        let arrows = allowed.get(member.as_str());
        let arrows = arrows.unwrap_or_else(|| panic!("{member} stands in no ADR"));
        let found: Vec<String> = dependencies(&member)
            .into_iter()
            .filter(|(name, tests)| !tests && name.starts_with("foldback"))
            .map(|(name, _)| name)
            .collect();
        assert_eq!(found, *arrows, "{member}");
    }
}

#[test]
fn every_direct_dependency_has_its_row_and_no_row_is_left_over() {
    let mut used: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for member in members() {
        for (name, tests) in dependencies(&member) {
            if name.starts_with("foldback") {
                continue;
            }
            let short = member.strip_prefix("foldback-").unwrap_or(&member);
            let by = if tests {
                format!("({short})")
            } else {
                short.to_owned()
            };
            used.entry(name).or_default().insert(by);
        }
    }
    let mut rows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in text("docs/dependencies.md").lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, name, by, purpose, reason, weakness, _] = cells.as_slice() else {
            continue;
        };
        let Some(name) = name.strip_prefix('`').and_then(|n| n.strip_suffix('`')) else {
            continue;
        };
        assert!(
            !purpose.is_empty() && !reason.is_empty() && !weakness.is_empty(),
            "{name}: no cell of a row is empty"
        );
        let by = by.split(", ").map(str::to_owned).collect();
        assert!(rows.insert(name.to_owned(), by).is_none(), "{name}: twice");
    }
    let mut wrong = Vec::new();
    for name in used.keys().chain(rows.keys()).collect::<BTreeSet<_>>() {
        let (found, told) = (used.get(name), rows.get(name));
        if found != told {
            wrong.push(format!(
                "docs/dependencies.md, `{name}`: used by {found:?}, the row says {told:?}"
            ));
        }
    }
    none(&wrong);
}

#[test]
fn every_dependency_is_declared_once_for_the_workspace() {
    let root = text("Cargo.toml");
    for member in members() {
        for name in dependencies(&member).keys() {
            let plain = format!("\n{name} = ");
            assert!(root.contains(&plain), "{member}: {name}");
            let manifest = text(&format!("crates/{member}/Cargo.toml"));
            let inherited = manifest.contains(&format!("\n{name}.workspace = true"))
                || manifest.contains(&format!("\n{name} = {{ workspace = true"));
            assert!(
                inherited,
                "{member}: {name} is not taken from the workspace"
            );
        }
    }
}
