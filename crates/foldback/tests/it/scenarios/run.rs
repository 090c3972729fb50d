//! Runs a scenario to its request, and holds it against what is expected.

use super::fixture::{Expectation, Scenario};
use super::play::{Stage, label, mode, time};
use super::reading;
use foldback::{
    AssembleRequest, PolicyDocument, Prompt, RuntimeGraph, anthropic, assembly_text, openai,
};
use foldback_testkit::provider_rules::{Violation, check_anthropic, check_openai};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What a run gave.
#[derive(Debug)]
pub(super) struct Ran {
    /// What sending everything takes.
    pub(super) replay: u64,
    /// What the model reads takes.
    pub(super) assembled: u64,
    /// What it reads, one after the other.
    read: Vec<String>,
    /// How many candidates are out, by reason.
    omitted: BTreeMap<&'static str, u64>,
    /// Why each record is in or out, in sentences; names in the place of ids.
    explained: String,
    /// The assembly, and the request as it is laid out for people; names in the place of ids.
    laid_out: String,
    /// Handles by the name of their result.
    handles: BTreeMap<String, String>,
    violations: Vec<String>,
    problems: Vec<String>,
}

/// How a scenario is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// As it stands: the engine's own memories, and the default policy's budget.
    Plain,
    /// With the published figure as the request's budget.
    Within(u64),
    /// With the compact memories that the runtime brings.
    Remembering,
}

pub(super) async fn run(scenario: &Scenario, way: Way) -> Option<Ran> {
    let stage = Stage::play(scenario, way == Way::Remembering).await;
    let asked = &scenario.header.request;
    let request = request_of(scenario, &stage, way);
    let assembled = stage
        .engine
        .conversation(stage.opened.id)
        .assemble(request)
        .await;
    let assembled = match (assembled, way) {
        (Ok(assembled), _) => assembled,
        (Err(_), Way::Within(_)) => return None,
        (Err(error), _) => panic!("{}: {error}", scenario.name),
    };
    let (rendered, violations) = render(&asked.provider, &assembled.prompt);
    let read = reading::texts(&rendered);
    let recorded = stage
        .engine
        .recorded(stage.opened.id, &assembled.id)
        .await
        .unwrap();
    let mut problems: Vec<String> = recorded
        .differences
        .iter()
        .map(ToString::to_string)
        .collect();
    let verified = stage.engine.verify(|_| ()).await.unwrap();
    problems.extend(
        verified
            .problems
            .iter()
            .map(|problem| format!("{problem:?}")),
    );
    if verified.reproduced != verified.assemblies || verified.assemblies != 1 {
        problems.push(format!("{verified:?}"));
    }
    let names = Names::new(&stage, &recorded.graph);
    let mut explained = String::new();
    for row in recorded.explain() {
        let _ = writeln!(explained, "  {}", row.sentence);
        if let Some(hint) = row.hint {
            let _ = writeln!(explained, "    {hint}");
        }
    }
    let tokens = reading::tokens(&read);
    let assembly = assembly_text(&assembled.assembly);
    let laid_out = format!(
        "{assembly}\nwhat the model reads, {tokens} tokens\n{}",
        reading::lay_out(&rendered)
    );
    let handles = stage.captured.iter();
    Some(Ran {
        replay: assembled.assembly.tokens.replay,
        assembled: tokens,
        read,
        omitted: assembled
            .assembly
            .omissions
            .iter()
            .map(|omission| (omission.reason.name(), omission.count))
            .collect(),
        explained: names.put(&explained),
        laid_out: names.put(&laid_out),
        handles: handles
            .map(|(name, captured)| (name.clone(), captured.artifact.short()))
            .collect(),
        violations: violations.iter().map(ToString::to_string).collect(),
        problems,
    })
}

/// Makes the request that the header describes.
fn request_of(scenario: &Scenario, stage: &Stage, way: Way) -> AssembleRequest {
    let asked = &scenario.header.request;
    let mut request = AssembleRequest::chat(
        stage.participant(&asked.participant),
        label(&asked.provider),
    );
    request.branch = Some(stage.branch(asked.branch.as_ref()));
    request.runtime_kind = mode(asked.mode.as_ref());
    request.run = asked.run.as_ref().map(|name| stage.run(name));
    request.route.model = asked.model.as_deref().map(label);
    request.as_of = asked.as_of.as_deref().map(time);
    request.budget_tokens = match way {
        Way::Within(tokens) => Some(tokens),
        _ => asked.budget,
    };
    let exact = asked.exact.iter();
    request.exact = exact
        .map(|name| {
            stage
                .captured
                .get(name)
                .unwrap_or_else(|| panic!("no result `{name}`"))
                .artifact
        })
        .collect();
    if !asked.policy.is_empty() {
        request.policy = Some(changed(&asked.policy));
    }
    request
}

/// Renders for the provider, and lists what it would refuse.
fn render(provider: &str, prompt: &Prompt) -> (Value, Vec<Violation>) {
    if provider == "anthropic" {
        let request = anthropic::render(prompt);
        let found = check_anthropic(&request);
        (request, found)
    } else {
        let request = openai::render(prompt);
        let found = check_openai(&request);
        (request, found)
    }
}

/// The default policy with some of its text replaced.
fn changed(by: &BTreeMap<String, String>) -> PolicyDocument {
    let mut text = PolicyDocument::builtin().unwrap().text().to_owned();
    for (old, new) in by {
        assert_eq!(text.matches(old.as_str()).count(), 1, "`{old}` stands once");
        text = text.replace(old, new);
    }
    PolicyDocument::parse(&text).unwrap()
}

/// Puts the names of the scenario in the place of ids.
struct Names(Vec<(String, String)>);

impl Names {
    fn new(stage: &Stage, graph: &RuntimeGraph) -> Self {
        let mut of = Vec::new();
        let mut add = |whole: String, short: String, name: String| {
            of.push((whole, name.clone()));
            of.push((short, name));
        };
        for (name, id) in &stage.participants {
            add(id.to_string(), id.short(), format!("<{name}>"));
        }
        for (name, id) in &stage.branches {
            add(id.to_string(), id.short(), format!("<branch {name}>"));
        }
        for (name, id) in &stage.runs {
            add(id.to_string(), id.short(), format!("<run {name}>"));
        }
        for (name, id) in &stage.calls {
            add(id.to_string(), id.short(), format!("<call {name}>"));
        }
        for (name, id) in &stage.checkpoints {
            add(id.to_string(), id.short(), format!("<checkpoint {name}>"));
        }
        for (name, captured) in &stage.captured {
            let id = captured.artifact;
            add(id.to_string(), id.short(), format!("<{name}>"));
            if let Some(id) = captured.memory {
                add(id.to_string(), id.short(), format!("<memory of {name}>"));
            }
        }
        for message in graph.messages() {
            let at = message.common.origin.position;
            add(
                message.id.to_string(),
                message.id.short(),
                format!("<message {at}>"),
            );
        }
        for child in graph.children() {
            add(
                child.run.to_string(),
                child.run.short(),
                "<child run>".to_owned(),
            );
        }
        // A short id is the start of the whole one, which therefore goes first.
        of.sort_by_key(|(id, _)| std::cmp::Reverse(id.len()));
        Self(of)
    }

    fn put(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for (id, name) in &self.0 {
            out = out.replace(id, name);
        }
        out
    }
}

impl Ran {
    fn expected(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for (name, handle) in &self.handles {
            out = out.replace(&format!("{{{name}}}"), handle);
        }
        out
    }

    pub(super) fn reads(&self, text: &str) -> bool {
        let text = self.expected(text);
        self.read.iter().any(|read| read.contains(&text))
    }
}

/// Says what of one expectation does not hold.
fn unmet(expectation: &Expectation, ran: &Ran) -> Vec<String> {
    let mut out = Vec::new();
    let why = &expectation.why;
    for text in expectation.present.iter().filter(|text| !ran.reads(text)) {
        out.push(format!("`{text}` is not in, and must be: {why}"));
    }
    for text in expectation.absent.iter().filter(|text| ran.reads(text)) {
        out.push(format!("`{text}` is in, and must not be: {why}"));
    }
    for (reason, count) in &expectation.omitted {
        let found = ran.omitted.get(reason.as_str()).copied().unwrap_or(0);
        if found != *count {
            out.push(format!("{found} are out as {reason}, not {count}: {why}"));
        }
    }
    out
}

/// Says what does not hold.
pub(super) fn complaints(scenario: &Scenario, ran: &Ran) -> Vec<String> {
    let mut out = Vec::new();
    for expectation in &scenario.expectations {
        let found = unmet(expectation, ran);
        match &expectation.missed {
            None => out.extend(found),
            Some(_) if found.is_empty() => {
                out.push(format!(
                    "it holds now, and is said to be missed: {}",
                    expectation.why
                ));
            }
            Some(_) => {}
        }
    }
    if let Some(published) = &scenario.header.published {
        let replay = ran.replay;
        if replay * 10 < published.replay * 9 || replay * 10 > published.replay * 11 {
            out.push(format!(
                "the replay form takes {replay} tokens, published are {}",
                published.replay
            ));
        }
        let most = scenario.header.at_most.unwrap_or(published.assembled);
        if ran.assembled > most {
            out.push(format!(
                "{} tokens are assembled, {most} are the most",
                ran.assembled
            ));
        }
        let missed = scenario
            .header
            .at_most
            .is_some_and(|most| most > published.assembled);
        if missed != scenario.header.missed.is_some()
            || missed && ran.assembled <= published.assembled
        {
            out.push("what is missed, and by what, does not agree with the header".to_owned());
        }
    }
    out.extend(
        ran.violations
            .iter()
            .map(|v| format!("the provider refuses it: {v}")),
    );
    out.extend(
        ran.problems
            .iter()
            .map(|p| format!("it does not verify: {p}")),
    );
    for line in &mut out {
        *line = format!("{}: {line}", scenario.name);
    }
    out
}

pub(super) fn snapshot(scenario: &Scenario, ran: &Ran) {
    let text = format!("{}\nwhy\n{}", ran.laid_out, ran.explained);
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(scenario.name.as_str(), text));
}
