//! The documents that quote the binary quote what it prints.

use crate::sandbox::{Sandbox, masked, root};

/// Tells whether the documents are to be written instead of checked.
#[expect(
    clippy::disallowed_methods,
    reason = "blessing is asked for from outside, in tests alone"
)]
fn blessing() -> bool {
    std::env::var_os("FOLDBACK_BLESS").is_some()
}

fn check(name: &str, wanted: &str) {
    let path = root().join(name);
    if blessing() {
        std::fs::write(&path, wanted).expect("the document is written");
        return;
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        found, wanted,
        "{name} is not what the binary prints: run the test with FOLDBACK_BLESS=1"
    );
}

#[test]
fn the_reference_lists_every_command() {
    let sandbox = Sandbox::new();
    let reference = sandbox.run(&["reference"]).exits(0).stdout;
    for command in [
        "import",
        "replay",
        "explain",
        "policy check",
        "policy show",
        "verify",
    ] {
        assert!(
            reference.contains(&format!("## `foldback {command}`")),
            "{command}"
        );
    }
    check("docs/cli.md", &reference);
}

/// What depends on when the README's commands are run.
const MASKED: &[&str] = &["  as of   "];

#[test]
fn the_readme_shows_what_the_commands_print() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("the README");
    let sandbox = Sandbox::new();
    let mut out = String::new();
    let mut commands = 0;
    let mut lines = readme.lines().peekable();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        if line != "```console" {
            continue;
        }
        while let Some(line) = lines.next_if(|line| *line != "```") {
            let Some(command) = line.strip_prefix("$ foldback ") else {
                continue;
            };
            let mut shown = String::new();
            while let Some(line) = lines.next_if(|line| *line != "```" && !line.starts_with("$ ")) {
                shown.extend([line, "\n"]);
            }
            let words = command.split_whitespace();
            let arguments: Vec<&str> = words.map(|word| word.trim_matches('\'')).collect();
            let mut printed = sandbox.run(&arguments).exits(0).stdout;
            if masked(&shown, MASKED) == masked(&printed, MASKED) {
                printed = shown;
            }
            out.extend([line, "\n", printed.as_str()]);
            commands += 1;
        }
    }
    assert_eq!(commands, 4, "the README's demo has four commands");
    check("README.md", &out);
}
