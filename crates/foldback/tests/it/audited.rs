//! Audit bundles: what is exported holds, and nothing else does.

use crate::scene::{Stage, label};
use foldback::attest::SigningKey;
use foldback::audit::{Audit, AuditOptions, Content, audit};
use foldback::event::kind::RecordRef;
use foldback::event::{Digest, MediaType, RecordKind};
use foldback::{AssembleRequest, Error, NewArtifact, NewCall, NewMessage, Subject};
use serde_json::Value;

/// A short conversation with a call, a memory and a recorded assembly.
async fn stage() -> Stage {
    let stage = Stage::new().await;
    let said = NewMessage::user(stage.opened.user, "Is there a berth?");
    stage.talk().record_message(said).await.unwrap();
    let run = stage.run().await;
    let call = NewCall::json(run, label("get_berths"), r#"{"train":"NL 457"}"#);
    let call = stage.talk().request_call(call).await.unwrap();
    let result = r#"{"train":"NL 457","berths":[11,13]}"#;
    let new = NewArtifact::succeeded(call, result, MediaType::Json);
    stage.talk().capture(new).await.unwrap();
    let request = AssembleRequest::chat(stage.agent, label("openai"));
    stage.talk().assemble(request).await.unwrap();
    stage
}

async fn exported(stage: &Stage, options: &AuditOptions) -> Vec<u8> {
    let mut out = Vec::new();
    let export = stage
        .engine
        .export_audit(stage.opened.id, options, &mut out);
    export.await.unwrap();
    out
}

fn sealed() -> AuditOptions {
    AuditOptions {
        content: Content::Sealed,
        attestation: None,
    }
}

fn codes(found: &Audit) -> Vec<&str> {
    let mut codes: Vec<&str> = found.problems.iter().map(|problem| problem.code).collect();
    codes.dedup();
    codes
}

/// Changes lines and computes the digest anew, as somebody who knows the format would.
fn forged(bundle: &[u8], change: impl FnOnce(&mut Vec<Value>)) -> Vec<u8> {
    let text = std::str::from_utf8(bundle).unwrap();
    let mut lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    lines.pop();
    change(&mut lines);
    let mut out = String::new();
    for line in &lines {
        out.push_str(&serde_json::to_string(line).unwrap());
        out.push('\n');
    }
    let digest = Digest::of("foldback 2026 audit bundle v1", out.as_bytes());
    let count = lines.len();
    let end = format!(r#"{{"line":"end","lines":{count},"digest":"{digest}"}}"#);
    out.push_str(&end);
    out.push('\n');
    out.into_bytes()
}

fn first<'l>(lines: &'l mut [Value], kind: &str) -> &'l mut Value {
    lines.iter_mut().find(|line| line["line"] == kind).unwrap()
}

#[tokio::test]
async fn a_bundle_holds_without_its_store() {
    let stage = stage().await;
    let key = SigningKey::generate("audit.example.org").unwrap();
    let attestation = stage.engine.attest(&key).await.unwrap();
    let said = NewMessage::user(stage.opened.user, "And after the attestation?");
    stage.talk().record_message(said).await.unwrap();
    let options = AuditOptions {
        content: Content::Plain,
        attestation: Some(attestation),
    };
    let bundle = exported(&stage, &options).await;
    let rows = stage.engine.events(stage.opened.id).await.unwrap();
    drop(stage);
    let found = audit(&bundle, Some(&key.verifying()));
    assert!(found.ok(), "{:?}", found.problems);
    assert_eq!(found.events, rows.len() as u64);
    assert_eq!(found.head, rows.last().map(|row| row.hash));
    assert_eq!((found.assemblies, found.reproduced), (1, 1));
    assert_eq!((found.left_out, found.erased), (0, 0));
    assert!(found.payloads > 5);
    let attested = found.attested.unwrap();
    assert_eq!(attested.version, found.events - 1);
    assert!(attested.signature_checked);
    let text = String::from_utf8(bundle).unwrap();
    assert!(
        text.contains("SXMgdGhlcmUgYSBiZXJ0aD8="),
        "the question in base64"
    );
    let other = SigningKey::generate("audit.example.org").unwrap();
    let found = audit(text.as_bytes(), Some(&other.verifying()));
    assert_eq!(codes(&found), ["attestation"]);
}

#[tokio::test]
async fn no_single_byte_can_be_changed_and_no_end_cut() {
    let stage = stage().await;
    let bundle = exported(&stage, &sealed()).await;
    assert!(audit(&bundle, None).ok());
    for at in 0..bundle.len() {
        let mut changed = bundle.clone();
        changed[at] ^= 1 << (at % 7);
        let found = audit(&changed, None);
        assert_eq!(codes(&found), ["bundle"], "byte {at}");
    }
    for at in 0..bundle.len() {
        assert!(!audit(&bundle[..at], None).ok(), "cut at {at}");
    }
    let mut longer = bundle.clone();
    longer.push(b'\n');
    assert!(!audit(&longer, None).ok());
}

#[tokio::test]
async fn who_computes_the_digest_anew_is_found_out_by_what_it_covers() {
    let stage = stage().await;
    let key = SigningKey::generate("auditor").unwrap();
    let attestation = stage.engine.attest(&key).await.unwrap();
    let options = AuditOptions {
        attestation: Some(attestation),
        ..sealed()
    };
    let bundle = exported(&stage, &options).await;
    assert!(audit(&forged(&bundle, |_| ()), None).ok());
    let of = |change: fn(&mut Vec<Value>)| {
        let found = audit(&forged(&bundle, change), None);
        let codes: Vec<String> = codes(&found).into_iter().map(ToOwned::to_owned).collect();
        codes.join(" ")
    };
    // An event is left out, two change places, one is given another hash.
    let told = of(|lines| {
        let at = lines.iter().position(|line| line["version"] == 4).unwrap();
        lines.remove(at);
    });
    assert!(
        told.contains("chain") && told.contains("attestation"),
        "{told}"
    );
    assert!(of(|lines| lines.swap(3, 4)).contains("misplaced"));
    let told = of(|lines| first(lines, "event")["hash"] = Value::from("0".repeat(64)));
    assert_eq!(told, "chain");
    // Another policy is put in the place of the one that decided, or none.
    let told = of(|lines| {
        let line = first(lines, "policy");
        let text = line["document"].as_str().unwrap();
        line["document"] = Value::from(text.replace("name = \"default\"", "name = \"other\""));
    });
    assert_eq!(told, "assembly");
    assert_eq!(
        of(|lines| lines.retain(|line| line["line"] != "policy")),
        "assembly"
    );
    // Sealed bytes are exchanged, or some are added that no event names.
    let told = of(|lines| first(lines, "payload")["compressed"] = Value::from(true));
    assert!(told.is_empty() || told == "payload", "{told}");
    assert_eq!(
        of(|lines| first(lines, "payload")["plain_bytes"] = Value::from(7)),
        "payload"
    );
    let told = of(|lines| first(lines, "payload")["address"] = Value::from("0".repeat(64)));
    assert_eq!(told, "payload");
    assert_eq!(
        of(|lines| first(lines, "bundle")["store"] =
            Value::from(format!("store_{}", "1".repeat(32)))),
        "attestation"
    );
    assert_eq!(
        of(|lines| first(lines, "attestation")["index"] = Value::from(0)),
        "attestation"
    );
    let told = of(|lines| first(lines, "bundle")["bundle"] = Value::from("foldback.audit/9"));
    assert_eq!(told, "bundle");
    // The last event is left out, and all counts are made to fit: only the attestation tells.
    let told = of(|lines| {
        let last = lines
            .iter()
            .rposition(|line| line["line"] == "event")
            .unwrap();
        lines.remove(last);
        let events = lines[0]["events"].as_u64().unwrap();
        lines[0]["events"] = Value::from(events - 1);
    });
    assert_eq!(told, "attestation");
}

#[tokio::test]
async fn what_was_erased_is_in_no_bundle_and_the_rest_still_holds() {
    let stage = stage().await;
    let graph = stage.graph().await;
    let artifact = graph.artifacts().next().unwrap().id;
    let record = RecordRef {
        kind: RecordKind::Artifact,
        id: *artifact.as_bytes(),
    };
    let subject = Subject::Record(stage.opened.id, record);
    stage.engine.erase(subject, label("asked")).await.unwrap();
    let bundle = exported(&stage, &sealed()).await;
    let found = audit(&bundle, None);
    assert!(found.ok(), "{:?}", found.problems);
    assert!(found.erased >= 2);
    assert_eq!(found.reproduced, 1);
}

#[tokio::test]
async fn an_attestation_that_does_not_cover_the_conversation_is_refused() {
    let key = SigningKey::generate("auditor").unwrap();
    let (stage, other) = (stage().await, Stage::new().await);
    let said = NewMessage::user(other.opened.user, "Another store.");
    other.talk().record_message(said).await.unwrap();
    let options = AuditOptions {
        content: Content::None,
        attestation: Some(other.engine.attest(&key).await.unwrap()),
    };
    let mut out = Vec::new();
    let refused = stage
        .engine
        .export_audit(stage.opened.id, &options, &mut out);
    let refused = refused.await.unwrap_err();
    assert!(matches!(refused, Error::NotAttested { .. }), "{refused}");
    assert_eq!(refused.code(), "FB0022");
}
