//! A readable form of what was read, one line for each record.

use foldback_trace::{
    Content, Part, ReadError, SourceBody, SourceConversation, SourceFile, detect, read,
};
use std::fmt::Write;

/// Reads one file whose format is told from its bytes.
pub(crate) fn one(name: &str, bytes: &[u8]) -> SourceConversation {
    let mut all = try_read(name, bytes).unwrap();
    assert_eq!(all.len(), 1, "conversations of `{name}`");
    all.pop().unwrap()
}

pub(crate) fn try_read(name: &str, bytes: &[u8]) -> Result<Vec<SourceConversation>, ReadError> {
    read(
        detect(bytes, name).unwrap(),
        &[SourceFile {
            name,
            bytes,
            companion: false,
        }],
    )
}

/// Writes the records: branch, participant, what, and where it belongs.
pub(crate) fn outline(conversation: &SourceConversation) -> String {
    let mut out = String::new();
    for record in &conversation.records {
        let who = &conversation.participants[record.participant].key;
        let _ = writeln!(out, "{}/{who}: {}", record.branch, body(&record.body));
    }
    out
}

/// Writes the findings: code, place.
pub(crate) fn findings(conversation: &SourceConversation) -> Vec<String> {
    conversation
        .findings
        .iter()
        .map(|one| format!("{} {}", one.code, one.place))
        .collect()
}

fn body(body: &SourceBody) -> String {
    match body {
        SourceBody::Message {
            role,
            content,
            client_generated,
            ..
        } => {
            let client = if *client_generated {
                " by the client"
            } else {
                ""
            };
            format!("{role}{client} {}", said(content))
        }
        SourceBody::RunStarted { model, .. } => {
            format!("run started {}", model.as_deref().unwrap_or("-"))
        }
        SourceBody::RunFinished {
            finish_reason,
            usage,
            ..
        } => format!(
            "run finished {} {}",
            finish_reason.as_deref().unwrap_or("-"),
            usage.map_or_else(
                || "-".into(),
                |usage| format!("{}+{}", usage.input, usage.output)
            ),
        ),
        SourceBody::CallRequested {
            call,
            tool,
            arguments,
            media_type,
            ..
        } => {
            let arguments = String::from_utf8_lossy(arguments);
            format!("call {tool} {media_type} {arguments} [{call}]")
        }
        SourceBody::Result {
            call,
            status,
            content,
            media_type,
            structured,
            ..
        } => {
            let call = call.as_deref().unwrap_or("orphan");
            let content = String::from_utf8_lossy(content);
            let more = structured
                .as_ref()
                .map(|more| String::from_utf8_lossy(more).into_owned());
            let more = more.map_or_else(String::new, |more| format!(" + {more}"));
            format!("result {status} {media_type} {content}{more} [{call}]")
        }
        SourceBody::ChildStarted {
            child, parent_call, ..
        } => {
            format!(
                "child {child} started [{}]",
                parent_call.as_deref().unwrap_or("-")
            )
        }
        SourceBody::ChildFinished { child, status, .. } => {
            format!("child {child} finished {status}")
        }
        SourceBody::Kept { code, bytes } => {
            format!("kept {code} {}", String::from_utf8_lossy(bytes))
        }
    }
}

fn said(content: &Content) -> String {
    match content {
        Content::Text(text) => format!("{text:?}"),
        Content::Parts(parts) => {
            let parts: Vec<String> = parts
                .iter()
                .map(|part| match part {
                    Part::Text { text } => format!("{text:?}"),
                    Part::Thinking { text, signature } => {
                        format!("thinking {text:?} {signature:?}")
                    }
                    Part::RedactedThinking { data } => format!("redacted {data}"),
                    Part::Image { json } => format!("image {json}"),
                    Part::Document { json } => format!("document {json}"),
                    Part::Other { json } => format!("other {json}"),
                })
                .collect();
            format!("<{}>", parts.join(", "))
        }
    }
}
