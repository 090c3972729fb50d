//! tau-bench: arrays of trajectories, and the few-shot rows that go with them.
//!
//! A trajectory is a chat with the task and the trial it belongs to. A few-shot row is a rendering
//! of a chat as one text; taking it apart would be guessing, so it is one notice.

use super::builder::{Builder, MAIN, Scene, USER, annotate, line_key};
use super::chat::{self, Keys, Mended, Origin, not_json, number, start_digest, whole_text};
use super::json::{Fields, items};
use super::{ReadError, SourceFile, line};
use crate::{Content, Format, Place, SourceBody, SourceConversation};
use foldback_event::MessageRole;
use serde_json::value::RawValue;

const EXPECTED: &str = "an array of trajectories, each an object with `traj`";

/// Reads files of this format.
pub(super) fn read(files: &[SourceFile<'_>]) -> Result<Vec<SourceConversation>, ReadError> {
    let mut all = Vec::new();
    let mut keys = Keys::default();
    for (file, source) in files.iter().enumerate() {
        let text = whole_text(source, EXPECTED)?;
        let mended = Mended::of(&text, source.bytes);
        match serde_json::from_str::<&RawValue>(&text) {
            Ok(value) => match items(value) {
                Some(trajectories) => {
                    for (index, raw) in trajectories.into_iter().enumerate() {
                        let at = format!("/{index}");
                        all.push(trajectory(
                            source,
                            file,
                            &at,
                            number(index),
                            raw,
                            mended,
                            &mut keys,
                        )?);
                    }
                }
                None if is_row(value) => rows(source, file, &mut keys, &mut all),
                None => all.push(trajectory(source, file, "", 1, value, mended, &mut keys)?),
            },
            Err(error) => {
                let before = all.len();
                rows(source, file, &mut keys, &mut all);
                if all.len() == before {
                    return Err(not_json(source, EXPECTED, error));
                }
            }
        }
    }
    Ok(all)
}

fn is_row(value: &RawValue) -> bool {
    Fields::of(value).is_some_and(|fields| fields.text("messages_display").is_some())
}

fn trajectory(
    source: &SourceFile<'_>,
    file: usize,
    at: &str,
    number: u64,
    raw: &RawValue,
    mended: Option<Mended<'_>>,
    keys: &mut Keys,
) -> Result<SourceConversation, ReadError> {
    let shape = |path: String, expected| ReadError::Shape {
        file: source.name.into(),
        path: if path.is_empty() { "/".into() } else { path },
        expected,
    };
    let fields =
        Fields::of(raw).ok_or_else(|| shape(at.into(), "a trajectory: an object with `traj`"))?;
    let messages = fields
        .array("traj")
        .ok_or_else(|| shape(format!("{at}/traj"), "an array of messages"))?;
    let plain = |name: &str| fields.get(name).map_or("none", RawValue::get).to_owned();
    let start = start_digest(&messages);
    let key = keys.of(&format!(
        "tau:{}:{}:{start}",
        plain("task_id"),
        plain("trial")
    ));
    let origin = Origin {
        file,
        pointer: format!("{at}/traj"),
        line: None,
        beside: fields.without(&["traj"]),
        beside_code: "trajectory-fields",
        model: None,
        messages,
        mended,
    };
    let is_empty = origin.messages.is_empty();
    let mut conversation = chat::conversation(key, Format::TauBench, &origin);
    if fields.get("task_id").is_some() {
        let task = plain("task_id");
        conversation.title = Some(match fields.get("trial") {
            Some(trial) => format!("task {task}, trial {}", trial.get()),
            None => format!("task {task}"),
        });
    }
    if is_empty {
        let place = Place {
            file,
            number,
            pointer: Some(format!("{at}/traj")),
        };
        annotate(
            &mut conversation,
            &place,
            "no-message",
            "a trajectory without messages",
            &[],
        );
    }
    Ok(conversation)
}

fn rows(source: &SourceFile<'_>, file: usize, keys: &mut Keys, all: &mut Vec<SourceConversation>) {
    let first = all.len();
    let mut odd = Vec::new();
    for line in line::split(source.bytes) {
        let place = Place {
            file,
            number: line.number,
            pointer: None,
        };
        let text = match &line.text {
            Ok(text) => text,
            Err(broken) => {
                let kept = if broken.is_cut() { &[][..] } else { line.bytes };
                odd.push((place, broken.code, broken.detail.clone(), kept));
                continue;
            }
        };
        let fields = serde_json::from_str::<&RawValue>(text)
            .ok()
            .and_then(Fields::of);
        let fields = fields.unwrap_or_default();
        let Some(display) = fields.text("messages_display") else {
            odd.push((
                place,
                "no-messages",
                "a line without messages".into(),
                line.bytes,
            ));
            continue;
        };
        let row = line_key(text.as_bytes());
        let mut builder = Builder::new(keys.of(&format!("tau-row:{row}")), Format::TauBench);
        let scene = Scene {
            place,
            branch: MAIN,
            participant: USER,
            at: None,
        };
        builder.find("rendered-chat", &scene.place, "a chat rendered as one text");
        builder.wrote(&display);
        let body = SourceBody::Message {
            role: MessageRole::Notice,
            content: Content::Text(display),
            run: None,
            client_generated: true,
        };
        builder.push(&scene, &row, body);
        if let Some(rest) = fields.without(&["messages_display"]) {
            builder.keep(&scene, &format!("{row}:fields"), "row-fields", &rest);
        }
        all.push(builder.finish(None));
    }
    if let Some(conversation) = all.get_mut(first) {
        for (place, code, detail, bytes) in odd {
            annotate(conversation, &place, code, &detail, bytes);
        }
    }
}
