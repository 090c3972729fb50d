//! Law 6 on whole requests: what is rendered obeys the provider, and takes what was recorded.

use crate::scene::{NIGHT_TRAIN, options};
use crate::sources::{calls, chat, result, says, session_text, short, taubench};
use foldback::{
    Engine, Error, ImportOptions, NON_TEXT_TOKENS, PolicyDocument, Prompt, SourceFile, anthropic,
    count_tokens, openai,
};
use foldback_testkit::provider_rules::{check_anthropic, check_openai};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Counts tokens and remembers what a text took: requests repeat most of what they hold.
#[derive(Debug, Default)]
struct Counter(BTreeMap<foldback::event::Digest, u64>);

impl Counter {
    fn text(&mut self, text: &str) -> u64 {
        let key = foldback::event::Digest::of("foldback test of counted texts", text.as_bytes());
        *self
            .0
            .entry(key)
            .or_insert_with(|| u64::from(count_tokens(text)))
    }

    /// What a model reads of a content: its texts, and a flat figure for each image or document.
    fn content(&mut self, content: &Value) -> u64 {
        match content {
            Value::String(text) => self.text(text),
            Value::Array(parts) => parts.iter().map(|part| self.part(part)).sum(),
            _ => 0,
        }
    }

    fn part(&mut self, part: &Value) -> u64 {
        match part["type"].as_str().unwrap_or_default() {
            "text" => self.text(part["text"].as_str().unwrap_or_default()),
            "thinking" => self.text(part["thinking"].as_str().unwrap_or_default()),
            "tool_use" => {
                self.text(part["name"].as_str().unwrap_or_default())
                    + self.text(&part["input"].to_string())
            }
            "tool_result" => self.content(&part["content"]),
            "redacted_thinking" => 0,
            _ => u64::from(NON_TEXT_TOKENS),
        }
    }

    fn request(&mut self, request: &Value) -> u64 {
        let mut sum = self.content(&request["system"]);
        for message in request["messages"].as_array().unwrap() {
            sum += self.content(&message["content"]);
            for call in message["tool_calls"].as_array().into_iter().flatten() {
                let function = &call["function"];
                for text in [&function["name"], &function["arguments"]] {
                    sum += self.text(text.as_str().unwrap());
                }
            }
        }
        sum
    }
}

/// The recorded and the rendered tokens of the requests that were looked at.
#[derive(Debug, Default)]
struct Seen {
    requests: usize,
    counter: Counter,
    /// What is over or under the bounds, worst first once sorted.
    off: Vec<(i64, String)>,
    /// The least and the most of recorded per rendered, in permille.
    least: Option<(u64, String)>,
    most: Option<(u64, String)>,
    recorded: u64,
    rendered: u64,
}

impl Seen {
    /// Holds a request against the rules of both providers, and its figure against its own.
    fn look(&mut self, place: &str, provider: &str, recorded: u64, prompt: &Prompt) {
        self.requests += 1;
        let chat = openai::render(prompt);
        let found = check_openai(&chat);
        assert!(found.is_empty(), "{place}: {}\n{chat:#}", found[0]);
        let messages = anthropic::render(prompt);
        let found = check_anthropic(&messages);
        assert!(found.is_empty(), "{place}: {}\n{messages:#}", found[0]);
        let own = if provider == "anthropic" {
            &messages
        } else {
            &chat
        };
        let rendered = self.counter.request(own);
        self.recorded += recorded;
        self.rendered += rendered;
        let permille = recorded * 1000 / rendered.max(1);
        let place = format!("{place}: recorded {recorded}, rendered {rendered}");
        if self
            .least
            .as_ref()
            .is_none_or(|(least, _)| permille < *least)
        {
            self.least = Some((permille, place.clone()));
        }
        if rendered > 600 && self.most.as_ref().is_none_or(|(most, _)| permille > *most) {
            self.most = Some((permille, place.clone()));
        }
        let under = recorded * 100 < rendered * 97;
        // A call without any outcome is counted as a whole notice of 40 tokens, though the words in
        // its place take 9.
        let open = own.to_string().matches("[no result yet").count() as u64;
        let over = recorded * 10 > rendered * 11 + 600 + 310 * open;
        if under || over {
            let by = recorded.abs_diff(rendered);
            let shown = format!("{place}\n{own:#}");
            self.off.push((i64::try_from(by).unwrap(), shown));
        }
    }

    fn bounded(mut self, what: &str) {
        println!(
            "{what}: {} requests, recorded {} and rendered {}; least {:?}; most {:?}",
            self.requests, self.recorded, self.rendered, self.least, self.most
        );
        self.off.sort();
        let worst: Vec<&String> = self.off.iter().rev().take(12).map(|(_, at)| at).collect();
        assert!(
            worst.is_empty(),
            "{} of {} requests of {what} are off: {worst:#?}",
            self.off.len(),
            self.requests
        );
    }
}

/// Imports files that belong together, replays what is in them, and looks at each `step`th request.
async fn look(seen: &mut Seen, files: &[(String, Vec<u8>)], step: usize) {
    let engine = Engine::in_memory(options(0)).unwrap();
    let files: Vec<SourceFile<'_>> = files
        .iter()
        .enumerate()
        .map(|(index, (name, bytes))| SourceFile {
            name,
            bytes,
            companion: index > 0,
        })
        .collect();
    let options = ImportOptions::default();
    let rows = engine.import(&files, &options, |_| ()).await.unwrap();
    let policy = PolicyDocument::builtin().unwrap();
    for row in rows {
        let mut count = 0;
        let replay = engine
            .replay(row.id, &policy, |graph, assembly| {
                count += 1;
                if count % step != 0 {
                    return Ok::<(), Error>(());
                }
                let prompt = engine.prompt(graph, assembly)?;
                let place = format!("{} at {}", files[0].name, assembly.request.position);
                let provider = assembly.request.route.provider.as_str();
                seen.look(&place, provider, assembly.tokens.assembled, &prompt);
                Ok(())
            })
            .await
            .unwrap();
        assert_eq!(replay.refused, [], "{}", files[0].name);
    }
    let found = engine.verify(|_| ()).await.unwrap();
    assert_eq!(found.problems, [], "{}", files[0].name);
    assert_eq!(found.reproduced, found.assemblies);
}

fn file(name: &str, text: &str) -> Vec<(String, Vec<u8>)> {
    vec![(name.to_owned(), text.as_bytes().to_vec())]
}

#[tokio::test]
async fn every_request_of_the_fixture_obeys_its_provider_and_takes_what_was_recorded() {
    let mut seen = Seen::default();
    look(&mut seen, &file("night-train.json", NIGHT_TRAIN), 1).await;
    assert!(seen.requests >= 15, "{}", seen.requests);
    seen.bounded("the fixture");
}

#[tokio::test]
async fn every_request_of_an_odd_transcript_obeys_its_provider() {
    let image = "data:image/png;base64,iVBORw0KGgo=";
    let odd = [
        says("system", "You know the tides."),
        says("user", "Tides and moon?"),
        calls(&[("c", "tides", "{}"), ("c", "moon", "{\"broken\": ")]),
        result("c", "high at 1"),
        result("c", "full"),
        result("nobody", "an orphan"),
        says("assistant", "1, and full."),
        says("user", "Again?"),
        calls(&[
            ("c", "tides", "{}"),
            ("d", "moon", "[1]"),
            ("", "sun", "\"x\""),
        ]),
        result("d", ""),
        says("assistant", ""),
        says("user", ""),
        serde_json::json!({"role": "user", "content": [
            {"type": "text", "text": "And this?"},
            {"type": "image_url", "image_url": {"url": image}},
        ]}),
        says("assistant", "A harbour."),
        says("assistant", "At low tide."),
        calls(&[("e", "a tool/with odd name", "{\"a\":1}")]),
        says("user", "Never mind."),
        says("assistant", "As you like."),
    ];
    let mut seen = Seen::default();
    let all = [
        file("odd.json", &chat(&odd)),
        file("short.json", &chat(&short())),
        file("tide-1.jsonl", &session_text()),
        file("airline.json", &taubench()),
    ];
    for files in &all {
        look(&mut seen, files, 1).await;
    }
    assert!(seen.requests >= 20, "{}", seen.requests);
    seen.bounded("the inline transcripts");
}

/// Gives the folder of real files, or says aloud that it is not there.
fn data(name: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if folder.is_dir() {
        return Some(folder.join(name));
    }
    eprintln!("skipped: {} is not there", folder.display());
    None
}

fn read(path: &Path) -> (String, Vec<u8>) {
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    (name, std::fs::read(path).unwrap())
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.is_file());
    paths.sort();
    paths
}

#[tokio::test]
async fn requests_of_real_sessions_obey_their_provider_and_take_what_was_recorded() {
    let Some(folder) = data("claude-code-jsonl") else {
        return;
    };
    let mut seen = Seen::default();
    let paths = files_in(&folder)
        .into_iter()
        .chain(files_in(&folder.join("copilot-chat")));
    for path in paths {
        let mut files = vec![read(&path)];
        let beside = path.with_extension("").join("subagents");
        if beside.is_dir() {
            files.extend(files_in(&beside).iter().map(|path| read(path)));
        }
        if foldback_trace::detect(&files[0].1, &files[0].0).is_err() {
            continue;
        }
        // Each request of a long session repeats the one before: a sample will do.
        let step = if files[0].1.len() > 200_000 { 9 } else { 1 };
        look(&mut seen, &files, step).await;
    }
    assert!(seen.requests > 50, "{}", seen.requests);
    seen.bounded("the real sessions");
}

#[tokio::test]
async fn requests_of_real_episodes_obey_their_provider_and_take_what_was_recorded() {
    let Some(path) = data("openai-chat-taubench/gpt-4o-airline-first120.json") else {
        return;
    };
    let mut seen = Seen::default();
    let all: Vec<Value> = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let some: Vec<&Value> = all.iter().step_by(8).collect();
    let text = serde_json::to_string(&some).unwrap();
    look(&mut seen, &file("some.json", &text), 1).await;
    assert!(seen.requests > 100, "{}", seen.requests);
    seen.bounded("the real episodes");
}
