//! The scenarios of `fixtures/scenarios`: each is played through the engine, assembled under the
//! default policy, rendered for its provider, explained and verified.
//!
//! What the page docs/scenarios.md says is made of the same runs.

mod fixture;
mod page;
mod play;
mod reading;
mod run;

use fixture::{Scenario, Step};
use page::Others;
use run::{Ran, Way};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Reads every fixture, those with published figures first and else by name.
fn scenarios() -> Vec<Scenario> {
    let folder = root().join("fixtures/scenarios");
    let mut all: Vec<Scenario> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| Scenario::read(&entry.unwrap().path()))
        .collect();
    all.sort_by_key(|scenario| {
        let place = scenario
            .header
            .published
            .as_ref()
            .map_or(u64::MAX, |p| p.place);
        (place, scenario.name.clone())
    });
    all
}

async fn run_all() -> Vec<(Scenario, Ran)> {
    let mut out = Vec::new();
    for scenario in scenarios() {
        let ran = run::run(&scenario, Way::Plain).await.unwrap();
        out.push((scenario, ran));
    }
    out
}

/// Runs a scenario in the other ways that the page compares.
async fn others(scenario: &Scenario) -> Others {
    let Some(published) = &scenario.header.published else {
        return Others::default();
    };
    let remembers = scenario
        .steps
        .iter()
        .any(|(_, step)| matches!(step, Step::Remember { .. }));
    Others {
        bounded: true,
        within: run::run(scenario, Way::Within(published.assembled)).await,
        remembering: if remembers {
            run::run(scenario, Way::Remembering).await
        } else {
            None
        },
    }
}

#[tokio::test]
async fn each_scenario_holds_what_it_says() {
    let all = run_all().await;
    let mut wrong = Vec::new();
    for (scenario, ran) in &all {
        wrong.extend(run::complaints(scenario, ran));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn each_scenario_can_be_read_as_a_whole() {
    for (scenario, ran) in &run_all().await {
        run::snapshot(scenario, ran);
    }
}

#[tokio::test]
async fn the_page_of_scenarios_says_what_the_run_gives() {
    let mut rows = Vec::new();
    for (scenario, ran) in run_all().await {
        let others = others(&scenario).await;
        rows.push((scenario, ran, others));
    }
    let page = page::write(&rows);
    let path = root().join("docs/scenarios.md");
    #[expect(
        clippy::disallowed_methods,
        reason = "the one who runs the tests says whether the page is written anew"
    )]
    let update = std::env::var_os("UPDATE_DOCS").is_some();
    if update {
        std::fs::write(&path, &page).unwrap();
    }
    let stands = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stands == page,
        "docs/scenarios.md is not what the run gives; `UPDATE_DOCS=1 cargo test -p foldback --test \
         it scenarios` writes it anew"
    );
}
