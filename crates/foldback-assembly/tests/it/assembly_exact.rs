//! Exact bytes on demand: where they are allowed, and what stands in their place where not.

use crate::assembly::{ask, check, check_under, compact, flights, marker, out, policy, raw};
use foldback_event::{ArtifactId, CallStatus, MediaType, MemoryId, ParticipantId, Privacy, Reason};
use foldback_testkit::Story;
use insta::assert_snapshot;

/// A table that was read a turn ago, and the request that asks for its bytes.
fn exact_table(
    s: &mut Story,
    rows: u32,
    privacy: Privacy,
) -> (ParticipantId, ArtifactId, MemoryId) {
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    s.says(mia, "Read the table.");
    let run = s.run(agent);
    let call = s.calls(run, "read_file", r#"{"path":"sales.csv"}"#);
    s.finishes(run, "tool_calls");
    let lines: Vec<String> = (0..rows)
        .map(|n| format!("{n},2026-01-{n:02},{n}.50"))
        .collect();
    let csv = s.payload_as(MediaType::Csv, lines.join("\n").as_bytes());
    let status = CallStatus::Succeeded;
    let artifact = s.privacy(privacy).outcome(call, status, false, Some(csv));
    let memory = s
        .privacy(privacy)
        .derives(artifact, "sales.csv: number, day, amount");
    s.says(mia, "Give me the exact file.");
    (agent, artifact, memory)
}

#[test]
fn exact_bytes_come_back_where_they_are_allowed() {
    let mut s = Story::new("exact bytes");
    let (agent, artifact, memory) = exact_table(&mut s, 20, Privacy::Personal);
    let mut request = ask(&s, agent);
    request.exact = vec![artifact];
    assert_snapshot!(check(
        &s,
        &request,
        &[
            raw(artifact, Reason::ExactNeeded),
            compact(memory, Reason::Permitted),
        ],
    ));
    // A stale memory does not keep back the bytes that are asked for by name.
    request.as_of = request.as_of.plus_seconds(100_000);
    check(
        &s,
        &request,
        &[
            raw(artifact, Reason::ExactNeeded),
            marker(memory, Reason::Stale),
        ],
    );
}

#[test]
fn a_large_result_without_a_memory_comes_whole_only_if_it_is_asked_for() {
    let mut s = Story::new("large and bare");
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    s.says(mia, "Read the log.");
    let run = s.run(agent);
    let call = s.calls(run, "read_log", "{}");
    s.finishes(run, "tool_calls");
    let artifact = s.result(call, &flights(12));
    let tight = policy(&[("raw-tokens-max = 30000", "raw-tokens-max = 100")]);
    let mut request = ask(&s, agent);
    check_under(&tight, &s, &request, &[marker(artifact, Reason::TooLarge)]);
    request.exact = vec![artifact];
    check_under(&tight, &s, &request, &[raw(artifact, Reason::ExactNeeded)]);
}

#[test]
fn exact_bytes_beyond_the_limit_stay_compact() {
    let mut s = Story::new("too many exact bytes");
    let (agent, artifact, memory) = exact_table(&mut s, 20, Privacy::Internal);
    let mut request = ask(&s, agent);
    request.exact = vec![artifact];
    let small = policy(&[("bytes-max = 131072", "bytes-max = 100")]);
    assert_snapshot!(check_under(
        &small,
        &s,
        &request,
        &[
            out(artifact, Reason::RehydrationLimit),
            compact(memory, Reason::Permitted),
        ],
    ));
}

#[test]
fn exact_bytes_that_no_gate_permits_stay_compact() {
    let mut s = Story::new("forbidden exact bytes");
    let (agent, artifact, memory) = exact_table(&mut s, 20, Privacy::GoogleDerived);
    let mut request = ask(&s, agent);
    request.exact = vec![artifact];
    assert_snapshot!(check(
        &s,
        &request,
        &[
            out(artifact, Reason::PrivacyRoute),
            compact(memory, Reason::Permitted),
        ],
    ));
}
