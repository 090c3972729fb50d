//! Files that were damaged anywhere: never a panic, and what is read keeps the model's promises.

use crate::data::check_model;
use foldback_trace::{Format, SourceFile, detect, read};
use proptest::prelude::*;

const SESSION: &[u8] = include_bytes!("fixtures/session.jsonl");
const CHAT: &[u8] = br#"[{"role":"user","content":"go \ud83d\ude00"},
 {"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"t","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c","content":"ok"},{"role":"assistant","content":[{"type":"text","text":"done"}]}]"#;

/// Bytes that mean something to JSON, and some that are no text.
const BYTES: &[u8] = b"{}[]\":,\\\n u0d8\xff\xc3\0";

fn damaged(whole: &'static [u8]) -> impl Strategy<Value = Vec<u8>> {
    let edit = (0..whole.len(), 0..BYTES.len(), any::<bool>());
    (proptest::collection::vec(edit, 0..6), 0..=whole.len()).prop_map(move |(edits, end)| {
        let mut bytes = whole.to_vec();
        for (at, byte, insert) in edits {
            if insert {
                bytes.insert(at, BYTES[byte]);
            } else {
                bytes[at] = BYTES[byte];
            }
        }
        // A third of the files are cut as well.
        if end % 3 == 0 {
            bytes.truncate(end);
        }
        bytes
    })
}

fn survives(bytes: &[u8]) {
    let _ = detect(bytes, "f");
    for format in Format::ALL {
        for companion in [false, true] {
            let file = SourceFile {
                name: "s1.jsonl",
                bytes,
                companion,
            };
            let main = SourceFile {
                name: "main.jsonl",
                bytes: SESSION,
                companion: false,
            };
            for files in [&[file][..], &[main, file][..]] {
                for one in read(*format, files).unwrap_or_default() {
                    check_model(&one);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_damaged_session_is_read_or_refused(bytes in damaged(SESSION)) {
        survives(&bytes);
    }

    #[test]
    fn a_damaged_chat_is_read_or_refused(bytes in damaged(CHAT)) {
        survives(&bytes);
    }
}
