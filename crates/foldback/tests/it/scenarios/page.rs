//! The page docs/scenarios.md, made of the fixtures and their runs.

use super::fixture::Scenario;
use super::run::Ran;
use std::fmt::Write as _;

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

Two more columns compare. *Within the published budget* is the same request with the published
figure as its budget, which leaves out what ranks lowest; *with memories of the runtime* is the same
history in which the runtime brings compact memories of its own, made by a model, in the place of
those that the engine derives. Neither counts as reaching the figure.

";

/// The same scenario run in other ways.
#[derive(Debug, Default)]
pub(super) struct Others {
    /// Whether the published figure was tried as the budget.
    pub(super) bounded: bool,
    /// With that budget; none if it is below the floor.
    pub(super) within: Option<Ran>,
    /// With the memories that the runtime brings, where the fixture has some.
    pub(super) remembering: Option<Ran>,
}

/// Says how many tokens a run took, and how many of the needed facts are in.
fn cell(scenario: &Scenario, ran: &Ran) -> String {
    let needed = scenario.expectations.iter().flat_map(|e| &e.present);
    let all = needed.clone().count();
    let found = needed.filter(|text| ran.reads(text)).count();
    format!("{}, {found} of {all}", ran.assembled)
}

pub(super) fn write(all: &[(Scenario, Ran, Others)]) -> String {
    let mut out = HEAD.to_owned();
    out.push_str("| scenario | replay published | replay | assembled published | assembled, needed facts | within the published budget | with memories of the runtime |\n");
    out.push_str("| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (scenario, ran, others) in all {
        let (replay, assembled) = match &scenario.header.published {
            Some(p) => (p.replay.to_string(), p.assembled.to_string()),
            None => ("-".to_owned(), "-".to_owned()),
        };
        let expected = scenario.expectations.iter();
        let short = expected.filter(|e| e.missed.is_some()).count() > 0;
        let missed = if short || scenario.header.missed.is_some() {
            " (missed)"
        } else {
            ""
        };
        let within = match &others.within {
            Some(ran) => cell(scenario, ran),
            None if others.bounded => "refused".to_owned(),
            None => "-".to_owned(),
        };
        let remembering = match &others.remembering {
            None => "-".to_owned(),
            Some(ran) => cell(scenario, ran),
        };
        let _ = writeln!(
            out,
            "| [{}](#{}) | {replay} | {} | {assembled} | {}{missed} | {within} | {remembering} |",
            scenario.header.title,
            anchor(&scenario.header.title),
            ran.replay,
            cell(scenario, ran),
        );
    }
    for (scenario, _, _) in all {
        let header = &scenario.header;
        let _ = writeln!(out, "\n## {}\n\n{}", header.title, header.shows);
        if let Some(missed) = &header.missed {
            let _ = writeln!(out, "\nMissed: {missed}");
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
                let _ = writeln!(
                    out,
                    "- In: {}. {}",
                    quoted(&expectation.present),
                    expectation.why
                );
            }
            if !expectation.absent.is_empty() {
                let _ = writeln!(
                    out,
                    "- Out: {}. {}",
                    quoted(&expectation.absent),
                    expectation.why
                );
            }
            if let Some(missed) = &expectation.missed {
                let _ = writeln!(out, "  Missed: {missed}");
            }
            for (reason, count) in &expectation.omitted {
                let _ = writeln!(out, "- Counted as {reason}: {count}. {}", expectation.why);
            }
        }
        let _ = writeln!(
            out,
            "\nThe file: `fixtures/scenarios/{}.jsonl`.",
            scenario.name
        );
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
