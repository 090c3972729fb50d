//! The byte form of content.

use foldback_event::MediaType;
use foldback_trace::{Content, ContentError, Part};

fn parts() -> Content {
    Content::Parts(vec![
        Part::Text {
            text: "a \"quoted\" line\n".into(),
        },
        Part::Thinking {
            text: "hm".into(),
            signature: Some("sig==".into()),
        },
        Part::Thinking {
            text: "unsigned".into(),
            signature: None,
        },
        Part::RedactedThinking {
            data: "opaque".into(),
        },
        Part::Image {
            json: r#"{"type": "image",  "source":{"n":1.50}}"#.into(),
        },
        Part::Document { json: "{}".into() },
        Part::Other {
            json: r#"{"type":"x","z":1,"a":2}"#.into(),
        },
    ])
}

#[test]
fn content_comes_back_from_its_bytes() {
    for content in [
        Content::Text("plain é".into()),
        Content::Text(String::new()),
        parts(),
    ] {
        let bytes = content.to_bytes();
        assert_eq!(
            Content::from_bytes(content.media_type(), &bytes).unwrap(),
            content
        );
        assert_eq!(
            Content::from_bytes(content.media_type(), &bytes)
                .unwrap()
                .to_bytes(),
            bytes,
            "the same content has the same bytes"
        );
    }
}

#[test]
fn the_byte_form_of_parts_is_fixed() {
    assert_eq!(
        String::from_utf8(parts().to_bytes()).unwrap(),
        concat!(
            r#"[{"type":"text","text":"a \"quoted\" line\n"},"#,
            r#"{"type":"thinking","thinking":"hm","signature":"sig=="},"#,
            r#"{"type":"thinking","thinking":"unsigned"},"#,
            r#"{"type":"redacted_thinking","data":"opaque"},"#,
            r#"{"type":"image","json":"{\"type\": \"image\",  \"source\":{\"n\":1.50}}"},"#,
            r#"{"type":"document","json":"{}"},"#,
            r#"{"type":"other","json":"{\"type\":\"x\",\"z\":1,\"a\":2}"}]"#,
        )
    );
}

#[test]
fn bytes_that_are_no_content_are_refused() {
    assert!(matches!(
        Content::from_bytes(MediaType::Text, b"ab\xff"),
        Err(ContentError::Utf8 { at: 2 })
    ));
    for bytes in [
        &b"{}"[..],
        b"[1]",
        br#"[{"type":"new"}]"#,
        br#"[{"type":"text"}]"#,
        b"[",
        b"",
    ] {
        assert!(
            matches!(
                Content::from_bytes(MediaType::Parts, bytes),
                Err(ContentError::Parts { .. })
            ),
            "{}",
            String::from_utf8_lossy(bytes)
        );
    }
}

#[test]
fn plain_text_leaves_out_what_nobody_reads() {
    assert_eq!(parts().plain_text(), "a \"quoted\" line\n");
    assert!(Content::Parts(Vec::new()).is_empty());
    assert!(!parts().is_empty());
}
