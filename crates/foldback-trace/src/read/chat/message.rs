//! One message of a chat after the other.

use super::text_media;
use crate::read::builder::{Builder, MAIN, MODEL, Scene, USER};
use crate::read::call::{Answer, Calls};
use crate::read::json::{self, Fields, items, object, quoted, text};
use crate::{Content, Part, Place, SourceBody, SourceConversation};
use foldback_event::kind::ParticipantKind;
use foldback_event::{CallStatus, MediaType, MessageRole};
use serde_json::value::RawValue;

/// Members of a message that its records hold.
const KNOWN: &[&str] = &[
    "role",
    "content",
    "tool_calls",
    "function_call",
    "tool_call_id",
    "name",
    "refusal",
];

/// How a tool's text begins when it tells of a failure; the format has no mark for it.
const ERROR_PREFIX: &str = "Error:";

/// Reads a conversation's messages.
#[derive(Debug)]
pub(in crate::read) struct Reader {
    pub(in crate::read) builder: Builder,
    model: Option<String>,
    calls: Calls,
    /// How many messages of the model were read.
    answers: usize,
}

impl Reader {
    pub(in crate::read) fn new(builder: Builder, model: Option<String>) -> Self {
        Self {
            builder,
            model,
            calls: Calls::default(),
            answers: 0,
        }
    }

    /// Reads a message.
    pub(in crate::read) fn message(&mut self, key: &str, place: Place, raw: &RawValue) {
        let mut scene = Scene {
            place,
            branch: MAIN,
            participant: USER,
            at: None,
        };
        let Some(fields) = Fields::of(raw) else {
            return self.odd(&scene, key, "not-an-object", raw);
        };
        let role = fields.text("role");
        match role.as_deref() {
            Some("system" | "developer") => {
                self.said(&scene, key, MessageRole::System, None, &fields);
            }
            Some("user") => {
                scene.participant = self.person(&fields);
                self.said(&scene, key, MessageRole::User, None, &fields);
            }
            Some("assistant") => {
                scene.participant = MODEL;
                self.answer(&scene, key, &fields);
            }
            Some("tool" | "function") => {
                scene.participant = MODEL;
                self.result(&scene, key, &fields);
            }
            Some(_) => return self.odd(&scene, key, "unknown-role", raw),
            None => return self.odd(&scene, key, "no-role", raw),
        }
        if let Some(rest) = fields.without(KNOWN) {
            self.builder
                .keep(&scene, &format!("{key}:fields"), "message-fields", &rest);
        }
    }

    /// Ends the conversation.
    pub(in crate::read) fn finish(mut self) -> SourceConversation {
        let answers = self.answers;
        let open: Vec<(String, String)> = self
            .calls
            .open()
            .into_iter()
            .filter(|call| call.message < answers)
            .map(|call| (call.key.clone(), call.tool.clone()))
            .collect();
        for (key, tool) in open {
            let records = &self.builder.conversation.records;
            let place = records
                .iter()
                .find(|r| r.key == key)
                .map(|r| r.place.clone());
            if let Some(place) = place {
                self.builder.find(
                    "unanswered-call",
                    &place,
                    format!("`{tool}` was never answered, and the model went on"),
                );
            }
        }
        self.builder.finish(None)
    }

    fn odd(&mut self, scene: &Scene, key: &str, code: &'static str, raw: &RawValue) {
        self.builder.find(code, &scene.place, raw.get());
        self.builder.keep(scene, key, code, raw.get().as_bytes());
    }

    fn person(&mut self, fields: &Fields<'_>) -> usize {
        match fields.text("name") {
            Some(name) => {
                let key = format!("user:{name}");
                self.builder
                    .participant(&key, ParticipantKind::Human, Some(&name))
            }
            None => USER,
        }
    }

    fn said(
        &mut self,
        scene: &Scene,
        key: &str,
        role: MessageRole,
        run: Option<String>,
        fields: &Fields<'_>,
    ) {
        let content = content(fields).unwrap_or_else(|| Content::Text(String::new()));
        if role == MessageRole::User {
            self.builder.wrote(&content.plain_text());
        }
        let body = SourceBody::Message {
            role,
            content,
            run,
            client_generated: false,
        };
        self.builder.push(scene, key, body);
    }

    fn answer(&mut self, scene: &Scene, key: &str, fields: &Fields<'_>) {
        self.answers += 1;
        let run = format!("{key}:run");
        let model = self.model.clone();
        self.builder.answers_with(MODEL, model.as_deref());
        let body = SourceBody::RunStarted {
            run: run.clone(),
            provider: None,
            model: model.clone(),
        };
        self.builder.push(scene, &run, body);
        let calls = fields.array("tool_calls").unwrap_or_default();
        let legacy = fields.object("function_call");
        let silent = content(fields).is_none_or(|content| content.is_empty());
        if !silent || (calls.is_empty() && legacy.is_none()) {
            self.said(
                scene,
                key,
                MessageRole::Assistant,
                Some(run.clone()),
                fields,
            );
        }
        for (index, raw) in calls.iter().enumerate() {
            self.call(scene, &format!("{key}:c{index}"), &run, raw);
        }
        if let Some(function) = legacy {
            self.function(scene, &format!("{key}:f"), &run, None, &function);
        }
        let body = SourceBody::RunFinished {
            run: run.clone(),
            finish_reason: None,
            usage: None,
            model,
        };
        self.builder.push(scene, &format!("{run}:finished"), body);
    }

    fn call(&mut self, scene: &Scene, key: &str, run: &str, raw: &RawValue) {
        let fields = Fields::of(raw).unwrap_or_default();
        let function = fields
            .object("function")
            .or_else(|| fields.object("custom"));
        let Some(function) = function.filter(|function| function.text("name").is_some()) else {
            return self.odd(scene, key, "malformed-call", raw);
        };
        let id = fields.text("id").unwrap_or_default();
        self.function(scene, key, run, Some(&id), &function);
        if !fields.only(&["id", "type", "function", "custom", "index"])
            || !function.only(&["name", "arguments", "input"])
        {
            self.builder.keep(
                scene,
                &format!("{key}:item"),
                "call-item",
                raw.get().as_bytes(),
            );
        }
    }

    /// Takes a function call; one without an id is a legacy call, which goes by its name.
    fn function(
        &mut self,
        scene: &Scene,
        key: &str,
        run: &str,
        id: Option<&str>,
        function: &Fields<'_>,
    ) {
        let tool = function.text("name").unwrap_or_default();
        let raw = function.get("arguments").or_else(|| function.get("input"));
        let arguments = match raw {
            None => String::new(),
            Some(raw) => text(raw).unwrap_or_else(|| {
                let what = "the arguments are no string";
                self.builder
                    .find("arguments-not-a-string", &scene.place, what);
                raw.get().to_owned()
            }),
        };
        let media_type = if json::is_json(&arguments) {
            MediaType::Json
        } else {
            MediaType::Text
        };
        if media_type == MediaType::Text && !arguments.is_empty() && function.get("input").is_none()
        {
            self.builder
                .find("malformed-arguments", &scene.place, arguments.as_str());
        }
        let pairing = id.map_or_else(|| legacy(&tool), str::to_owned);
        let call = self.builder.unique(key);
        let of_message = (self.answers, MAIN);
        if self
            .calls
            .request(&pairing, (&call, &tool), arguments.as_bytes(), of_message)
        {
            let what = format!("`{pairing}` stands for another call already");
            self.builder.find("call-id-reused", &scene.place, what);
        }
        let body = SourceBody::CallRequested {
            run: Some(run.to_owned()),
            call: call.clone(),
            source_id: id.unwrap_or(&tool).to_owned(),
            tool,
            arguments: arguments.into_bytes(),
            media_type,
        };
        self.builder.push_as(scene, call, body);
    }

    fn result(&mut self, scene: &Scene, key: &str, fields: &Fields<'_>) {
        let id = fields.text("tool_call_id");
        let name = fields.text("name");
        let pairing = id
            .clone()
            .or_else(|| name.as_deref().map(legacy))
            .unwrap_or_default();
        let source_id = id.or_else(|| name.clone()).unwrap_or_default();
        let call = match self.calls.answer(&pairing) {
            Answer::Call(call) => Some(call),
            Answer::Again => {
                let what = format!("`{source_id}` was answered before");
                self.builder.find("duplicate-result", &scene.place, what);
                None
            }
            Answer::Orphan => {
                let what = format!("`{source_id}` is the id of no call before it");
                self.builder.find("orphan-result", &scene.place, what);
                None
            }
        };
        let (content, media_type) = match content(fields) {
            None => (Vec::new(), MediaType::Text),
            Some(Content::Text(text)) => {
                let media_type = text_media(&text);
                (text.into_bytes(), media_type)
            }
            Some(parts) => (parts.to_bytes(), MediaType::Parts),
        };
        let failed = content.starts_with(ERROR_PREFIX.as_bytes());
        let body = SourceBody::Result {
            tool: call.as_ref().map(|call| call.tool.clone()).or(name),
            call: call.map(|call| call.key),
            source_id,
            status: if failed {
                CallStatus::Failed
            } else {
                CallStatus::Succeeded
            },
            is_error: false,
            content,
            media_type,
            structured: None,
            duration_ms: None,
        };
        self.builder.push(scene, key, body);
    }
}

/// Keeps legacy calls, which have no id, apart from ids.
fn legacy(name: &str) -> String {
    format!("function:{name}")
}

/// Reads what a message says; none if it says nothing at all.
fn content(fields: &Fields<'_>) -> Option<Content> {
    let refusal = fields.get("refusal").map(|refusal| Part::Other {
        json: String::from_utf8_lossy(&object(
            [
                ("type", quoted("refusal").as_str()),
                ("refusal", refusal.get()),
            ]
            .into_iter(),
        ))
        .into_owned(),
    });
    let mut parts = match fields.get("content") {
        None => Vec::new(),
        Some(raw) => match (text(raw), items(raw)) {
            (Some(text), _) => vec![Part::Text { text }],
            (None, Some(blocks)) => blocks.into_iter().map(part).collect(),
            (None, None) => vec![Part::Other {
                json: raw.get().to_owned(),
            }],
        },
    };
    parts.extend(refusal);
    (!parts.is_empty()).then(|| Content::of_parts(parts))
}

fn part(raw: &RawValue) -> Part {
    let fields = Fields::of(raw).unwrap_or_default();
    let kind = fields.text("type").unwrap_or_default();
    match fields.text("text") {
        Some(text) if kind == "text" && fields.only(&["type", "text"]) => Part::Text { text },
        _ => Part::of_block(&kind, raw),
    }
}
