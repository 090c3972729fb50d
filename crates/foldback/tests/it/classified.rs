//! The class of a captured result: what raises it, what does not, and what becomes of it.

use crate::scene::{Stage, label};
use foldback::event::{MediaType, Presentation, Privacy};
use foldback::{Engine, ImportOptions, NewArtifact, NewCall, Options};
use foldback::{PRIVACY_RAISED, SourceFile, classify};
use foldback_testkit::Rng;

/// Joined here, so that no tool that looks for secrets finds one in this file.
fn joined(parts: &[&str]) -> String {
    parts.concat()
}

fn rule(tool: &str, text: &str) -> Option<&'static str> {
    classify(tool, text.as_bytes(), Privacy::Internal).rule
}

fn first(text: &str, bytes: usize) -> &str {
    text.get(..bytes).unwrap_or(text)
}

#[test]
fn each_rule_finds_its_form() {
    let body = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
    let cases = [
        (
            joined(&[
                "-----BEGIN RSA PRIVATE",
                " KEY-----\nMIIEowIBAAKCAQEA",
                body,
            ]),
            "private-key",
        ),
        (joined(&["key: AK", "IA7Q2M4X8K1P5R9T3W"]), "aws-access-key"),
        (joined(&["remote: gh", "p_", body]), "github-token"),
        (
            joined(&["GITLAB=glp", "at-", first(body, 22)]),
            "gitlab-token",
        ),
        (joined(&["xox", "b-", first(body, 24)]), "slack-token"),
        (joined(&["sk_", "live_", first(body, 24)]), "stripe-key"),
        (joined(&["sk-", "ant-api03-", body]), "anthropic-key"),
        (joined(&["AI", "za", first(body, 35)]), "google-api-key"),
        (joined(&["np", "m_", body]), "npm-token"),
        (
            joined(&["eyJ", "hbGciOiJIUzI1NiJ9.eyJ", "zdWIiOiI0NDE3In0.", body]),
            "json-web-token",
        ),
        (
            joined(&["Authorization: Bea", "rer ", body]),
            "bearer-token",
        ),
        (
            joined(&["postgres://app:", "k3Qz81vTn2@db.internal/main"]),
            "password-in-address",
        ),
        (
            joined(&["DB_PASS", "WORD=k3Qz81vTn2Lx7pWz"]),
            "assigned-secret",
        ),
        (
            joined(&["{\"client_sec", "ret\": \"k3Qz81vTn2Lx\"}"]),
            "assigned-secret",
        ),
    ];
    for (text, wanted) in cases {
        let found = classify("read_file", text.as_bytes(), Privacy::Public);
        assert_eq!(found.rule, Some(wanted), "{text}");
        assert_eq!(found.privacy, Privacy::SecretAdjacent, "{text}");
    }
}

#[test]
fn answers_under_a_grant_are_told_by_their_marks() {
    let events = r#"{"kind":"calendar#events","items":[]}"#;
    let mail = r#"{"@odata.context":"https://graph.microsoft.com/v1.0/me/messages","value":[]}"#;
    for (tool, text, privacy) in [
        ("list", events, Privacy::GoogleDerived),
        ("gmail_search", "3 messages", Privacy::GoogleDerived),
        ("mcp__google-calendar__list", "none", Privacy::GoogleDerived),
        ("list", mail, Privacy::OauthDerived),
    ] {
        let found = classify(tool, text.as_bytes(), Privacy::Internal);
        assert_eq!(found.privacy, privacy, "{tool}: {text}");
    }
}

#[test]
fn a_text_that_speaks_of_secrets_is_no_secret() {
    for text in [
        "write -----BEGIN PRIVATE KEY-----, the key and -----END PRIVATE KEY-----",
        "The password must have eight characters.",
        "const password = process.env.DB_PASSWORD;",
        "password: <your password>",
        "api_key=YOUR_API_KEY_1234567890",
        "secret: ${{ secrets.DEPLOY_2026_KEY }}",
        "def check(password: str, token1: int) -> bool:",
        "let access_token = get_token(client_id2, scope3);",
        "postgres://user:password@localhost/test",
        "https://example.com/a?b=c",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "Authorization: Bearer <token>",
        "sk-learn 1.4.2 and AKIA are words",
        "{\"kind\":\"fruit\",\"name\":\"calendar#events\"}",
        "googled it, gmailing later",
    ] {
        assert_eq!(rule("read_file", text), None, "{text}");
    }
    assert_eq!(rule("gmailer", "x"), None);
}

/// The text of a configuration that holds a secret.
fn settings() -> String {
    joined(&[
        "{\"host\": \"db.internal\", \"client_sec",
        "ret\": \"k3Qz81vTn2Lx\"}",
    ])
}

#[tokio::test]
async fn a_captured_secret_reaches_no_standard_route_and_the_raise_is_told() {
    let stage = Stage::new().await;
    let run = stage.run().await;
    for (as_stated, class) in [(false, Privacy::SecretAdjacent), (true, Privacy::Internal)] {
        let call = NewCall::json(run, label("read"), "{}");
        let call = stage.talk().request_call(call).await.unwrap();
        let artifact = NewArtifact {
            as_stated,
            ..NewArtifact::succeeded(call, settings(), MediaType::Json)
        };
        let captured = stage.talk().capture(artifact).await.unwrap();
        let graph = stage.graph().await;
        let node = graph.artifact(&captured.artifact).unwrap();
        assert_eq!(node.common.privacy, class);
        let memory = graph.memory(&captured.memory.unwrap()).unwrap();
        assert_eq!(
            memory.common.privacy, class,
            "a memory is as sensitive as its source"
        );
        let raised = graph.findings().iter();
        let raised = raised.filter(|finding| finding.code.to_string() == PRIVACY_RAISED);
        assert_eq!(raised.count(), 1, "told once, for the one that was raised");
        let assembled = stage.talk().assemble(stage.chat()).await.unwrap();
        let decision = assembled.assembly.decision(node.common.origin.position);
        let seen = decision.unwrap().presentation;
        assert_eq!(seen == Some(Presentation::Raw), as_stated, "{seen:?}");
    }
}

#[tokio::test]
async fn an_imported_secret_is_raised_and_found_in_the_import() {
    let call = serde_json::json!({"id": "a", "type": "function",
        "function": {"name": "read", "arguments": "{}"}});
    let chat = serde_json::json!({"messages": [
        {"role": "user", "content": "What is the host?"},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": settings()},
        {"role": "assistant", "content": "db.internal"},
    ]});
    let bytes = chat.to_string().into_bytes();
    for (as_stated, found) in [(false, 1), (true, 0)] {
        let engine = Engine::in_memory(Options::default()).unwrap();
        let file = SourceFile {
            name: "chat.json",
            bytes: &bytes,
            companion: false,
        };
        let options = ImportOptions {
            as_stated,
            ..ImportOptions::default()
        };
        for _ in 0..2 {
            // The same file again adds nothing, and finds nothing anew.
            let rows = engine.import(&[file], &options, |_| ()).await.unwrap();
            let raised = rows[0].findings.get(PRIVACY_RAISED).copied();
            assert_eq!(raised.unwrap_or(0), found);
        }
    }
}

#[test]
fn a_class_is_never_lowered() {
    let mut rng = Rng::new(11);
    let tools = ["gmail_list", "read", "", "gcal"];
    let pieces = [
        "\"kind\":\"drive#file\"",
        "{",
        "password=",
        "k3Qz81vTn2Lx7pWz",
        "://a:",
        "@",
        " ",
        "\u{fffd}",
        "eyJ",
        ".",
        "Bearer ",
    ];
    for _ in 0..4_000 {
        let mut text = String::new();
        for _ in 0..rng.below(8) {
            text.push_str(pieces[usize::try_from(rng.below(pieces.len() as u64)).unwrap()]);
        }
        let tool = tools[usize::try_from(rng.below(4)).unwrap()];
        for stated in Privacy::ALL {
            let found = classify(tool, text.as_bytes(), *stated);
            assert!(found.privacy >= *stated, "{text}");
            assert_eq!(found.rule.is_some(), found.privacy > *stated, "{text}");
        }
    }
}
