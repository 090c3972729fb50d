//! The page docs/scenarios.md, made of the fixtures and their runs.

use super::fixture::Scenario;
use super::run::Ran;

const HEAD: &str = "\
# Scenarios

<!-- Made by `UPDATE_DOCS=1 cargo test -p foldback --test it scenarios`; a test compares it. -->

Each scenario is one readable file in `fixtures/scenarios`: what happens, what is asked for, what
must stand in the request and what must not. A test plays each through the engine, assembles under
the default policy, renders the request for its provider, explains it and verifies the store.

*Replay* is the plain form: every message, call and raw result up to the request. Both are counted
with o200k_base over what the model reads: contents, names and arguments of calls, results. The
published figures are those of the article that the product implements (9.1); a figure that we miss
says so, and the section of its scenario says why.

";

pub(super) fn write(all: &[(Scenario, Ran)]) -> String {
    let mut out = HEAD.to_owned();
    out.push_str("| scenario | replay published | replay | assembled published | assembled | needed facts |\n");
    out.push_str("| --- | ---: | ---: | ---: | ---: | ---: |\n");
    for (scenario, ran) in all {
        let (replay, assembled) = match &scenario.header.published {
            Some(p) => (p.replay.to_string(), p.assembled.to_string()),
            None => ("-".to_owned(), "-".to_owned()),
        };
        let missed = if scenario.header.missed.is_some() {
            " (missed)"
        } else {
            ""
        };
        let needed: Vec<&String> = scenario
            .expectations
            .iter()
            .flat_map(|e| &e.present)
            .collect();
        let found = needed.iter().filter(|text| ran.reads(text)).count();
        out.push_str(&format!(
            "| [{}](#{}) | {replay} | {} | {assembled} | {}{missed} | {found} of {} |\n",
            scenario.header.title,
            anchor(&scenario.header.title),
            ran.replay,
            ran.assembled,
            needed.len(),
        ));
    }
    for (scenario, _) in all {
        let header = &scenario.header;
        out.push_str(&format!("\n## {}\n\n{}\n", header.title, header.shows));
        if let Some(missed) = &header.missed {
            out.push_str(&format!("\nMissed: {missed}\n"));
        }
        out.push('\n');
        for expectation in &scenario.expectations {
            let quoted = |texts: &[String]| {
                let texts: Vec<String> = texts
                    .iter()
                    .map(|text| format!("`{}`", text.replace('\n', " ")))
                    .collect();
                texts.join(", ")
            };
            if !expectation.present.is_empty() {
                out.push_str(&format!(
                    "- In: {}. {}\n",
                    quoted(&expectation.present),
                    expectation.why
                ));
            }
            if !expectation.absent.is_empty() {
                out.push_str(&format!(
                    "- Out: {}. {}\n",
                    quoted(&expectation.absent),
                    expectation.why
                ));
            }
            for (reason, count) in &expectation.omitted {
                out.push_str(&format!(
                    "- Counted as {reason}: {count}. {}\n",
                    expectation.why
                ));
            }
        }
        out.push_str(&format!(
            "\nThe file: `fixtures/scenarios/{}.jsonl`.\n",
            scenario.name
        ));
    }
    out
}

fn anchor(title: &str) -> String {
    let kept = title
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .collect::<String>();
    kept.replace(' ', "-")
}
