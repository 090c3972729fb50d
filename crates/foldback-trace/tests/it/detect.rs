//! Telling formats apart.

use crate::outline::try_read;
use foldback_trace::{DetectError, Format, ReadError, SUPPORTED, SourceFile, detect, read};

#[test]
fn each_supported_shape_is_told() {
    let cases: &[(&str, Format)] = &[
        (r#"[{"role":"user","content":"hi"}]"#, Format::OpenAiChat),
        (
            "\u{feff}{\"model\":\"m\",\"messages\":[{\"role\":\"developer\",\"content\":\"x\"}]}",
            Format::OpenAiChat,
        ),
        (
            "{\"messages\":[{\"role\":\"user\"}]}\n{\"messages\":[{\"role\":\"user\"}]}",
            Format::OpenAiChat,
        ),
        (r#"[{"task_id":1,"traj":[]}]"#, Format::TauBench),
        (
            "{\"messages_display\":\"user: x\"}\n{\"messages_display\":\"user: y\"}\n",
            Format::TauBench,
        ),
        (r#"{"loglines":[]}"#, Format::ClaudeCode),
        (
            r#"{"type":"user","uuid":"u","message":{"role":"user","content":"x"}}"#,
            Format::ClaudeCode,
        ),
        (
            "not json\n\"loose\"\n{\"type\":\"summary\",\"leafUuid\":\"x\"}\n{\"ty",
            Format::ClaudeCode,
        ),
        (
            "{\"type\":\"queue-operation\",\"sessionId\":\"s\"}\n{\"type\":\"user\",\"message\":\"\u{e9}",
            Format::ClaudeCode,
        ),
    ];
    for (text, format) in cases {
        assert_eq!(detect(text.as_bytes(), "f").unwrap(), *format, "{text}");
    }
    let mut cut = b"{\"type\":\"user\",\"uuid\":\"u\"}\n{\"a\":\"\xc3".to_vec();
    assert_eq!(detect(&cut, "f").unwrap(), Format::ClaudeCode);
    cut.remove(0);
    assert!(detect(&cut, "f").is_err());
}

#[test]
fn another_format_is_named_with_what_is_supported() {
    let cases = [
        (
            r#"{"a":1,"b":2}"#,
            "`f` is a JSON object with `a`, `b`; supported are ",
        ),
        (
            r#"[{"event":1}]"#,
            "`f` is a JSON array of objects with `event`; supported are ",
        ),
        (
            "[1,2]",
            "`f` is a JSON array of 2 items without an object; supported are ",
        ),
        (
            "42",
            "`f` is one JSON value that is neither an object nor an array; supported are ",
        ),
        (
            r#"{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]}]}"#,
            "`f` is an array of Anthropic messages; supported are ",
        ),
        (
            r#"{"messages":[{"type":"gemini","text":"x"}]}"#,
            "`f` is a list of messages with `type`, `text`; supported are ",
        ),
        (
            "{\"type\":\"session_meta\",\"payload\":{}}\n{\"type\":\"event_msg\",\"payload\":{}}",
            "`f` is lines of which the first known is a JSON object with `type`, `payload`; supported are ",
        ),
    ];
    for (text, start) in cases {
        let error = detect(text.as_bytes(), "f").unwrap_err();
        assert!(matches!(error, DetectError::Unknown { .. }), "{text}");
        assert_eq!(error.to_string(), format!("{start}{SUPPORTED}"), "{text}");
    }
}

#[test]
fn what_is_no_text_or_no_json_is_named_with_its_place() {
    let told = |bytes: &[u8]| {
        let told = detect(bytes, "f").unwrap_err().to_string();
        told.replace(&format!("; supported are {SUPPORTED}"), " ...")
    };
    assert_eq!(told(b""), "`f` is empty");
    assert_eq!(told(b" \n\xef"), "`f` is empty");
    assert_eq!(told(b"ab\xff"), "`f` is not UTF-8 text at byte 2");
    assert_eq!(
        told(b"[{\"role\":\"user\"},\n {\"role\":"),
        "`f` is not JSON: line 2, column 9 ..."
    );
    assert_eq!(
        told(b"{\n \"messages\": [\n  {}\n"),
        "`f` is not JSON: line 4, column 0 ..."
    );
    assert_eq!(told(b"hello"), "`f` is not JSON: line 1, column 1 ...");
}

#[test]
fn a_file_that_is_not_what_its_format_says_is_an_error_with_its_place() {
    let told = |format, text: &str| {
        let file = SourceFile {
            name: "f",
            bytes: text.as_bytes(),
            companion: false,
        };
        read(format, &[file]).unwrap_err().to_string()
    };
    let chat = "an array of messages, an object with `messages`, or lines of such objects";
    assert_eq!(
        told(Format::OpenAiChat, " \n"),
        format!("`f` is empty: expected {chat}")
    );
    assert_eq!(
        told(Format::OpenAiChat, "[{\"role\":\"user\"},\n {\"ro"),
        format!("`f` is cut off at line 2, column 5: expected {chat}")
    );
    assert_eq!(
        told(Format::OpenAiChat, "[}"),
        format!("`f` is not JSON at line 1, column 2: expected {chat}")
    );
    assert_eq!(
        told(Format::OpenAiChat, r#"{"messages":3}"#),
        "`f` at `/messages`: expected an array of messages"
    );
    assert_eq!(
        told(Format::OpenAiChat, "[]"),
        "`f` at `/`: expected at least one message"
    );
    assert_eq!(
        told(Format::TauBench, r#"[{"traj":[]},{"traj":1}]"#),
        "`f` at `/1/traj`: expected an array of messages"
    );
    assert_eq!(
        told(Format::TauBench, "[4]"),
        "`f` at `/0`: expected a trajectory: an object with `traj`"
    );
    assert_eq!(
        told(Format::ClaudeCode, r#"{"loglines":4}"#),
        "`f` at `/loglines`: expected an array of lines"
    );
    assert_eq!(
        told(Format::ClaudeCode, "{\"loglines\":[\n"),
        "`f` is cut off at line 2, column 0: expected JSON lines of a session, or an object with \
         `loglines`"
    );
    assert!(matches!(
        read(
            Format::ClaudeCode,
            &[SourceFile {
                name: "f",
                bytes: b"\xff",
                companion: false
            }]
        ),
        Err(ReadError::NotText { at: 0, .. })
    ));
    assert!(try_read("f", br#"[{"role":"user","content":"x"}]"#).is_ok());
}
