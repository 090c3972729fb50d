//! The pages: links that lead somewhere, one page for each error, numbered decisions.

use super::{files, names, none, root, text};
use foldback::Error;
use std::collections::BTreeSet;
use std::path::Path;

/// Lists the pages that are checked.
fn pages() -> Vec<String> {
    let mut pages = files("docs", ".md");
    if root().join("README.md").exists() {
        pages.push("README.md".to_owned());
    }
    assert!(pages.len() > 30, "{}", pages.len());
    pages
}

/// Gives the lines of a page that stand in no code block.
fn prose(page: &str) -> Vec<String> {
    let mut code = false;
    let mut lines = Vec::new();
    for line in text(page).lines() {
        if line.trim_start().starts_with("```") {
            code = !code;
        } else if !code {
            lines.push(line.to_owned());
        }
    }
    lines
}

/// Gives the targets of the links in a line: `[text](target)`.
fn targets(line: &str) -> Vec<String> {
    let rest = line.split("](").skip(1);
    rest.filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target.to_owned())
        .collect()
}

/// Gives what stands between back ticks in a line.
fn quoted(line: &str) -> Vec<String> {
    line.split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

/// Gives the anchors of a page's headings, as a renderer makes them.
fn anchors(page: &str) -> BTreeSet<String> {
    let headings = prose(page);
    let headings = headings.iter().filter(|line| line.starts_with('#'));
    headings
        .map(|line| {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            let kept = title
                .chars()
                .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            kept.collect::<String>().replace(' ', "-")
        })
        .collect()
}

#[test]
fn every_link_of_every_page_leads_somewhere() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for page in pages() {
        let folder = Path::new(&page).parent().unwrap().to_owned();
        for line in prose(&page) {
            for target in targets(&line) {
                if target.starts_with("http://") || target.starts_with("https://") {
                    continue;
                }
                seen += 1;
                let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
                let path = if path.is_empty() {
                    root().join(&page)
                } else {
                    root().join(&folder).join(path)
                };
                let Ok(path) = path.canonicalize() else {
                    wrong.push(format!("{page}: {target}"));
                    continue;
                };
                let inside = path
                    .strip_prefix(root())
                    .unwrap()
                    .to_string_lossy()
                    .into_owned();
                if !anchor.is_empty() && !anchors(&inside).contains(anchor) {
                    wrong.push(format!("{page}: {target}: no such heading"));
                }
            }
        }
    }
    assert!(seen > 20, "{seen}");
    none(&wrong);
}

#[test]
fn every_path_that_a_page_names_is_there() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for page in pages() {
        for line in prose(&page) {
            for name in quoted(&line) {
                let ours = ["crates/", "docs/", "fixtures/", ".ci/", ".config/"];
                let plain = !name.contains(['<', '*', '…', '{', ' ']);
                if plain && ours.iter().any(|start| name.starts_with(start)) {
                    seen += 1;
                    if !root().join(&name).exists() {
                        wrong.push(format!("{page}: `{name}`"));
                    }
                }
            }
        }
    }
    assert!(seen > 20, "{seen}");
    none(&wrong);
}

#[test]
fn every_page_that_the_code_names_is_there() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for path in files("crates", ".rs") {
        for word in text(&path).split(|c: char| !c.is_alphanumeric() && !"/.-_".contains(c)) {
            let name = word.trim_end_matches('.');
            let ending = Path::new(name).extension();
            if name.starts_with("docs/") && ending.is_some_and(|ending| ending == "md") {
                seen += 1;
                if !root().join(name).exists() {
                    wrong.push(format!("{path}: {name}"));
                }
            }
        }
    }
    assert!(seen > 5, "{seen}");
    none(&wrong);
}

#[test]
fn every_error_code_has_its_page_and_every_page_its_code() {
    let codes: BTreeSet<String> = Error::CODES
        .iter()
        .map(|code| format!("{code}.md"))
        .collect();
    assert_eq!(codes.len(), Error::CODES.len(), "a code stands twice");
    let found: BTreeSet<String> = names("docs/errors").into_iter().collect();
    assert_eq!(found, codes);
    // The codes that `code` can give are the ones that are listed.
    let source = text("crates/foldback/src/error.rs");
    let given: BTreeSet<String> = source
        .split('"')
        .filter(|word| word.len() == 6 && word.starts_with("FB"))
        .map(|code| format!("{code}.md"))
        .collect();
    assert_eq!(given, codes);
}

#[test]
fn an_error_page_says_what_it_means_why_and_what_to_do() {
    for page in names("docs/errors") {
        let code = page.trim_end_matches(".md");
        let lines = prose(&format!("docs/errors/{page}"));
        let first = format!("# {code}: ");
        assert!(
            lines.first().is_some_and(|line| line.starts_with(&first)),
            "{page}"
        );
        let headings: Vec<&str> = lines
            .iter()
            .filter_map(|line| line.strip_prefix("## "))
            .collect();
        assert_eq!(
            headings,
            ["Meaning", "Likely cause", "What to do"],
            "{page}"
        );
    }
}

#[test]
fn decisions_are_numbered_without_a_gap_and_say_all_that_a_decision_must() {
    let all = names("docs/adr");
    assert!(all.len() >= 9, "{all:?}");
    for (index, name) in all.iter().enumerate() {
        let number = format!("{:04}", index + 1);
        assert!(
            name.starts_with(&format!("{number}-")),
            "{name} is not {number}"
        );
        let lines = prose(&format!("docs/adr/{name}"));
        let first = format!("# {number}: ");
        assert!(
            lines.first().is_some_and(|line| line.starts_with(&first)),
            "{name}"
        );
        let status = lines.iter().find_map(|line| line.strip_prefix("Status: "));
        let status = status.unwrap_or_else(|| panic!("{name} has no status"));
        assert!(
            status.starts_with("accepted") || status.starts_with("superseded by"),
            "{name}"
        );
        let headings: Vec<&str> = lines
            .iter()
            .filter_map(|line| line.strip_prefix("## "))
            .collect();
        let wanted = ["Context", "Decision", "Consequences", "Rejected"];
        assert_eq!(headings, wanted, "{name}");
    }
}

#[test]
fn every_test_that_the_page_on_recovery_names_exists() {
    let mut seen = 0;
    for line in prose("docs/recovery.md") {
        for name in quoted(&line) {
            let Some((file, test)) = name.split_once("::") else {
                continue;
            };
            let plain = |name: &str| name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
            if !plain(file) || !plain(test) {
                continue;
            }
            seen += 1;
            let source = text(&format!("crates/foldback-store/tests/it/{file}.rs"));
            assert!(
                source.contains(&format!("fn {test}(")),
                "docs/recovery.md: `{name}`"
            );
        }
    }
    assert!(seen > 20, "{seen}");
}

#[test]
fn the_changelog_says_what_is_new_in_the_format() {
    let headings: Vec<String> = prose("docs/changelog.md")
        .into_iter()
        .filter(|line| line.starts_with('#'))
        .collect();
    assert!(
        headings.iter().any(|line| line == "## Unreleased"),
        "{headings:?}"
    );
    let releases = headings
        .iter()
        .filter(|line| line.starts_with("## "))
        .count();
    let formats = headings.iter().filter(|line| *line == "### Format").count();
    assert_eq!(formats, releases, "{headings:?}");
}
