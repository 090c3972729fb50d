//! Evaluation against figures that are worked out by hand.

use foldback::report::EvaluateReport;
use foldback::{
    Engine, Evaluation, ImportOptions, Layout, Measure, Need, Options, PolicyDocument, SourceFile,
    count_tokens,
};
use serde_json::{Value, json};

const SYSTEM: &str = "You keep the registry of a small harbour.";
const ASK: &str = "Which boats are in?";
const SAID: &str = "Two hundred. Which one do you want to move?";
const MOVE: &str = "The last but one, to the quay.";

/// A long list: no compact form of it can hold all its lines.
fn list() -> String {
    let lines = (0..200).map(|at| format!("the boat {at:03} lies where a long rope ends\n"));
    let mut out: String = lines.collect();
    out.push_str("berth K-4417 belongs to the ferry alone\n");
    out
}

fn call(id: &str, tool: &str, arguments: &Value) -> Value {
    let function = json!({"name": tool, "arguments": arguments.to_string()});
    json!({"role": "assistant", "content": null,
        "tool_calls": [{"id": id, "type": "function", "function": function}]})
}

fn result(id: &str, says: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": says})
}

/// Four requests: the list is asked for, read, talked about, and then a line of it is edited.
fn chat() -> Value {
    let edit = json!({
        "path": "registry.txt",
        "old_string": "the boat 198 lies where a long rope ends\n",
        "new_string": "the boat 198 lies at the quay\n",
    });
    json!({"model": "gpt-4o", "messages": [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": ASK},
        call("a", "list", &json!({"of": "boats"})),
        result("a", &list()),
        {"role": "assistant", "content": SAID},
        {"role": "user", "content": MOVE},
        call("b", "edit", &edit),
        result("b", "done"),
        {"role": "assistant", "content": "It lies at the quay now."},
    ]})
}

/// The default policy, with lossy results raw once: what is missing is worked out for it.
fn policy() -> PolicyDocument {
    let text = PolicyDocument::builtin().unwrap().text().to_owned();
    let lines = text.lines().map(|line| {
        if line.starts_with("raw-lossy = ") {
            "raw-lossy = \"once\""
        } else {
            line
        }
    });
    let text: Vec<&str> = lines.collect();
    assert!(text.contains(&"raw-lossy = \"once\""));
    PolicyDocument::parse(&text.join("\n")).unwrap()
}

async fn evaluate(chat: &Value) -> Evaluation {
    let engine = Engine::in_memory(Options::default()).unwrap();
    let bytes = chat.to_string().into_bytes();
    let file = SourceFile {
        name: "harbour.json",
        bytes: &bytes,
        companion: false,
    };
    let rows = engine
        .import(&[file], &ImportOptions::default(), |_| ())
        .await
        .unwrap();
    engine.evaluate(rows[0].id, &policy()).await.unwrap()
}

fn sum(evaluation: &Evaluation, layout: Layout) -> Measure {
    let mut sum = Measure::default();
    for request in &evaluation.requests {
        sum += request.layouts[&layout];
    }
    sum
}

fn tokens(text: &str) -> u64 {
    u64::from(count_tokens(text))
}

/// What a call takes: its arguments, and a token for four bytes of its name.
fn call_tokens(message: &Value) -> u64 {
    let function = &message["tool_calls"][0]["function"];
    let name = function["name"].as_str().unwrap();
    tokens(function["arguments"].as_str().unwrap()) + (name.len() as u64).div_ceil(4)
}

#[tokio::test]
async fn tokens_and_cache_are_those_of_a_sum_by_hand() {
    let chat = chat();
    let evaluation = evaluate(&chat).await;
    assert_eq!(evaluation.requests.len(), 4);
    let (list_call, edit_call) = (
        call_tokens(&chat["messages"][2]),
        call_tokens(&chat["messages"][6]),
    );
    let begin = tokens(SYSTEM) + tokens(ASK);
    let read = begin + list_call + tokens(&list());
    let talked = read + tokens(SAID) + tokens(MOVE);
    let edited = talked + edit_call + tokens("done");

    let replay = sum(&evaluation, Layout::Replay);
    assert_eq!(replay.tokens, begin + read + talked + edited);
    assert_eq!(replay.cached, begin + read + talked);

    // In the third request the list gives way to a notice of ten tokens, and all after it is new.
    let elided = tokens(&list()) - 10;
    let once = sum(&evaluation, Layout::RawOnce);
    assert_eq!(once.tokens, replay.tokens - 2 * elided);
    let (third, kept) = (talked - elided, begin + list_call);
    assert_eq!(once.cached, begin + kept + third);

    // Fewer results than they keep, and fewer tokens than they gather: these send everything.
    for layout in [Layout::KeepLast3, Layout::KeepLast5, Layout::ClearAt10000] {
        assert_eq!(sum(&evaluation, layout), replay, "{}", layout.name());
    }
    let ours = sum(&evaluation, Layout::Foldback);
    assert!(ours.tokens < replay.tokens);
    assert!(ours.cached >= begin + kept);
}

#[tokio::test]
async fn what_an_edit_needs_is_found_where_it_stands() {
    let evaluation = evaluate(&chat()).await;
    let of = |layout| {
        let measure = sum(&evaluation, layout);
        let told = |kept: foldback::Kept| (kept.needed, kept.kept, kept.reachable);
        (told(measure.values), told(measure.lines))
    };
    // The old line, once as a line. As a value it ends in a line break, which the list has as well;
    // the new line stands nowhere before, and neither does the path.
    assert_eq!(of(Layout::Replay), ((1, 1, 1), (1, 1, 1)));
    assert_eq!(of(Layout::KeepLast3), ((1, 1, 1), (1, 1, 1)));
    assert_eq!(of(Layout::RawOnce), ((1, 0, 0), (1, 0, 0)));
    assert_eq!(of(Layout::Foldback), ((1, 0, 1), (1, 0, 1)));
    let missing: Vec<(Need, &str, bool)> = evaluation.requests[2]
        .missing
        .iter()
        .map(|missing| (missing.need, missing.text.trim(), missing.reachable))
        .collect();
    let line = "the boat 198 lies where a long rope ends";
    assert_eq!(
        missing,
        [(Need::Value, line, true), (Need::Line, line, true)]
    );
}

#[tokio::test]
async fn a_value_that_was_said_is_not_needed() {
    let mut said = chat();
    said["messages"][5]["content"] = json!(format!("{MOVE} Its number is 198, berth K-4417."));
    said["messages"][6] = call(
        "b",
        "move",
        &json!({"boat": 198, "berth": "K-4417", "to": "EW"}),
    );
    let evaluation = evaluate(&said).await;
    assert_eq!(sum(&evaluation, Layout::Replay).values.needed, 0);

    let mut read = chat();
    read["messages"][6] = call(
        "b",
        "move",
        &json!({"boat": 198, "berth": "K-4417", "to": "EW"}),
    );
    let evaluation = evaluate(&read).await;
    let values = sum(&evaluation, Layout::Foldback).values;
    assert_eq!((values.needed, values.reachable), (2, 2));
}

#[tokio::test]
async fn shares_are_of_full_replay() {
    let report = EvaluateReport::new(&[evaluate(&chat()).await]);
    assert_eq!(report.schema, "foldback.evaluate/1");
    let [replay, ours, ..] = report.totals.as_slice() else {
        panic!("{:?}", report.totals);
    };
    assert_eq!((replay.layout, ours.layout), ("replay", "foldback"));
    assert_eq!(replay.cost_read_100_permille, Some(1_000));
    let permille = (ours.tokens * 1_000 + replay.tokens / 2) / replay.tokens;
    assert_eq!(ours.tokens_permille, Some(permille));
    let written = ours.tokens - ours.cached;
    assert_eq!(
        ours.cost_read_50,
        (written * 1_250 + ours.cached * 50 + 500) / 1_000
    );
}
