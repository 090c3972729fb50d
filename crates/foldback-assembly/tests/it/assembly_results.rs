//! In which form results stand: raw, compact, marked.

use crate::assembly::{ask, check, check_under, compact, flights, marker, out, policy, raw, shown};
use foldback_event::kind::RepairOutcome;
use foldback_event::{
    ArtifactId, CallId, Freshness, MemoryId, ParticipantId, Presentation, Reason,
};
use foldback_testkit::Story;
use insta::assert_snapshot;

/// A person asks, a model calls a tool once, and what it gave is condensed.
struct Lookup {
    agent: ParticipantId,
    mia: ParticipantId,
    call: CallId,
    artifact: ArtifactId,
    memory: MemoryId,
}

fn lookup(s: &mut Story, lossless: bool) -> Lookup {
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    s.says(mia, "Which flights go to Seattle?");
    let run = s.run(agent);
    let call = s.calls(run, "search_flights", r#"{"to":"SEA"}"#);
    s.finishes(run, "tool_calls");
    let artifact = s.result(call, &flights(12));
    if lossless {
        s.lossless();
    }
    let memory = s.derives(artifact, "12 flights JFK to SEA, HAT100 to HAT111");
    Lookup {
        agent,
        mia,
        call,
        artifact,
        memory,
    }
}

fn answers(s: &mut Story, agent: ParticipantId, text: &str) {
    let run = s.run(agent);
    s.answers(run, text);
    s.finishes(run, "stop");
}

#[test]
fn a_plain_chat_is_sent_whole() {
    let mut s = Story::new("plain chat");
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    let rules = s.system("Be brief.");
    let question = s.says(mia, "Who are you?");
    let run = s.run(agent);
    let answer = s.answers(run, "An agent.");
    s.finishes(run, "stop");
    let next = s.says(mia, "Whose?");
    let expect = [rules, question, answer, next].map(|m| raw(m, Reason::Permitted));
    assert_snapshot!(check(&s, &ask(&s, agent), &expect));
}

#[test]
fn structured_data_is_compact_from_the_start() {
    let mut s = Story::new("structured");
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    s.says(mia, "Which flights go to Seattle?");
    let run = s.run(agent);
    let call = s.calls(run, "search_flights", r#"{"to":"SEA"}"#);
    s.finishes(run, "tool_calls");
    let artifact = s.result(call, &flights(12));
    s.structured();
    let memory = s.derives(artifact, "12 flights JFK to SEA, HAT100 to HAT111");
    let compacted = || {
        [
            raw(call, Reason::Permitted),
            out(artifact, Reason::Compacted),
            compact(memory, Reason::Permitted),
        ]
    };
    let first = check(&s, &ask(&s, agent), &compacted());
    answers(&mut s, agent, "Twelve flights go there.");
    s.says(mia, "Thank you.");
    let second = check(&s, &ask(&s, agent), &compacted());
    assert_snapshot!(format!("{first}\n{second}"));
}

#[test]
fn a_lossless_result_is_raw_for_the_turn_and_then_compact() {
    let mut s = Story::new("raw for the turn, lossless");
    let l = lookup(&mut s, true);
    let shown = || {
        [
            raw(l.call, Reason::Permitted),
            raw(l.artifact, Reason::FreshRaw),
            out(l.memory, Reason::Replaced),
        ]
    };
    let first = check(&s, &ask(&s, l.agent), &shown());
    let run = s.run(l.agent);
    let call = s.calls(run, "book", r#"{"flight":"HAT104"}"#);
    s.finishes(run, "tool_calls");
    s.result(call, r#"{"booked":true}"#);
    let second = check(&s, &ask(&s, l.agent), &shown());
    answers(&mut s, l.agent, "Booked HAT104.");
    s.says(l.mia, "Thank you.");
    let compacted = [
        out(l.artifact, Reason::Compacted),
        compact(l.memory, Reason::Permitted),
    ];
    let third = check(&s, &ask(&s, l.agent), &compacted);
    assert_snapshot!(format!("{first}\n{second}\n{third}"));
}

#[test]
fn a_lossy_result_is_raw_until_the_next_prompt() {
    let mut s = Story::new("raw for the turn");
    let l = lookup(&mut s, false);
    let run = s.run(l.agent);
    let call = s.calls(run, "book", r#"{"flight":"HAT104"}"#);
    s.finishes(run, "tool_calls");
    s.result(call, r#"{"booked":true}"#);
    let same_turn = check(
        &s,
        &ask(&s, l.agent),
        &[
            raw(l.artifact, Reason::FreshRaw),
            out(l.memory, Reason::Replaced),
        ],
    );
    answers(&mut s, l.agent, "Booked HAT104.");
    s.says(l.mia, "Thank you.");
    let next_turn = check(
        &s,
        &ask(&s, l.agent),
        &[
            out(l.artifact, Reason::Compacted),
            compact(l.memory, Reason::Permitted),
        ],
    );
    assert_snapshot!(format!("{same_turn}\n{next_turn}"));
}

#[test]
fn a_run_that_has_started_has_not_read_yet() {
    let mut s = Story::new("the run of the request");
    let l = lookup(&mut s, true);
    let run = s.run(l.agent);
    let mut request = ask(&s, l.agent);
    request.run = Some(run);
    check(&s, &request, &[raw(l.artifact, Reason::FreshRaw)]);
}

#[test]
fn a_result_that_a_compact_form_would_hardly_shorten_stays_raw() {
    let mut s = Story::new("small results");
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    s.says(mia, "When do I fly?");
    let run = s.run(agent);
    let call = s.calls(run, "get_reservation", r#"{"id":"4WQ150"}"#);
    s.finishes(run, "tool_calls");
    let artifact = s.result(call, r#"{"id":"4WQ150","day":"Thu"}"#);
    let memory = s.lossless().derives(artifact, "4WQ150 Thu");
    answers(&mut s, agent, "On Thursday.");
    s.says(mia, "Thank you.");
    assert_snapshot!(check(
        &s,
        &ask(&s, agent),
        &[
            raw(artifact, Reason::NoSaving),
            out(memory, Reason::Replaced)
        ],
    ));
}

#[test]
fn one_huge_result_is_compact_from_the_start() {
    let mut s = Story::new("huge result");
    let l = lookup(&mut s, true);
    let small = policy(&[("raw-tokens-max = 30000", "raw-tokens-max = 100")]);
    let text = check_under(
        &small,
        &s,
        &ask(&s, l.agent),
        &[
            out(l.artifact, Reason::TooLarge),
            compact(l.memory, Reason::Permitted),
        ],
    );
    assert_snapshot!(text);
}

#[test]
fn a_superseded_memory_leaves_a_notice_that_names_its_replacement() {
    let mut s = Story::new("superseded");
    let l = lookup(&mut s, false);
    answers(&mut s, l.agent, "Twelve.");
    s.says(l.mia, "And now?");
    let run = s.run(l.agent);
    let again = s.calls(run, "search_flights", r#"{"to":"SEA"}"#);
    s.finishes(run, "tool_calls");
    let artifact = s.result(again, &flights(14));
    let newer = s.derives(artifact, "14 flights JFK to SEA, HAT100 to HAT113");
    s.supersedes(newer, &[l.memory]);
    let request = ask(&s, l.agent);
    let expect = || {
        [
            raw(l.call, Reason::Permitted),
            marker(l.memory, Reason::Superseded),
            out(l.artifact, Reason::Superseded),
            raw(artifact, Reason::FreshRaw),
        ]
    };
    assert_snapshot!(check(&s, &request, &expect()));
    // A policy that shows stale memories as current still marks those that were replaced.
    let shows = policy(&[("stale = \"marker\"", "stale = \"show\"")]);
    let mut later = request.clone();
    later.as_of = later.as_of.plus_seconds(100_000);
    let marked = [marker(l.memory, Reason::Superseded)];
    check_under(&shows, &s, &later, &marked);
    // Where the policy says so, the old call goes with its result.
    let omits = policy(&[("superseded = \"marker\"", "superseded = \"omit\"")]);
    check_under(
        &omits,
        &s,
        &request,
        &[
            out(l.call, Reason::Superseded),
            out(l.memory, Reason::Superseded),
            out(l.artifact, Reason::Superseded),
            raw(artifact, Reason::FreshRaw),
        ],
    );
}

#[test]
fn a_replacement_that_may_not_enter_replaces_nothing() {
    let mut s = Story::new("hidden replacement");
    let l = lookup(&mut s, false);
    let other = s.model("other", "claude");
    let run = s.run(other);
    let again = s.private().calls(run, "search_flights", r#"{"to":"SEA"}"#);
    let artifact = s.private().result(again, &flights(14));
    let newer = s.private().derives(artifact, "14 flights");
    s.supersedes(newer, &[l.memory]);
    s.says(l.mia, "And now?");
    check(
        &s,
        &ask(&s, l.agent),
        &[
            compact(l.memory, Reason::Permitted),
            out(newer, Reason::ParticipantPrivate),
        ],
    );
    check(
        &s,
        &ask(&s, other),
        &[
            marker(l.memory, Reason::Superseded),
            compact(newer, Reason::Permitted),
        ],
    );
}

#[test]
fn two_memories_never_replace_each_other() {
    let mut s = Story::new("circle of replacements");
    let l = lookup(&mut s, false);
    let run = s.run(l.agent);
    let again = s.calls(run, "search_flights", r#"{"to":"SEA"}"#);
    let artifact = s.result(again, &flights(14));
    let newer = s.derives(artifact, "14 flights");
    s.supersedes(newer, &[l.memory]);
    s.supersedes(l.memory, &[newer]);
    s.says(l.mia, "And now?");
    check(
        &s,
        &ask(&s, l.agent),
        &[
            marker(l.memory, Reason::Superseded),
            compact(newer, Reason::Permitted),
        ],
    );
}

#[test]
fn the_newer_side_of_a_conflict_carries_the_notice() {
    let mut s = Story::new("conflict");
    let l = lookup(&mut s, false);
    let run = s.run(l.agent);
    let call = s.calls(run, "read_mail", r#"{"id":"m7"}"#);
    s.finishes(run, "tool_calls");
    let artifact = s.result(call, &flights(11));
    let other = s.derives(artifact, "a mail lists 11 flights JFK to SEA");
    s.conflicts(&[l.memory, other], "count");
    s.says(l.mia, "Which is right?");
    assert_snapshot!(check(
        &s,
        &ask(&s, l.agent),
        &[
            compact(l.memory, Reason::Permitted),
            compact(other, Reason::Conflicted),
        ],
    ));
}

#[test]
fn a_stale_memory_leaves_a_notice_with_since_when_and_how_to_check() {
    let mut s = Story::new("stale");
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    s.says(mia, "Any seats left?");
    let run = s.run(agent);
    let call = s.calls(run, "search_flights", r#"{"to":"SEA"}"#);
    s.finishes(run, "tool_calls");
    let artifact = s.result(call, &flights(12));
    let memory = s
        .freshness(Freshness::Volatile)
        .derives(artifact, "seats on 10 of 12 flights");
    s.says(mia, "Still?");
    let mut request = ask(&s, agent);
    check(&s, &request, &[compact(memory, Reason::Permitted)]);
    request.as_of = request.as_of.plus_seconds(901);
    let text = check(
        &s,
        &request,
        &[
            raw(call, Reason::Permitted),
            marker(memory, Reason::Stale),
            out(artifact, Reason::Stale),
        ],
    );
    assert_snapshot!(text);
    assert!(text.contains("Hint: call search_flights again to check it."));
    // Checked again, it holds again.
    s.wait(901).revalidates(memory, None);
    check(&s, &ask(&s, agent), &[compact(memory, Reason::Permitted)]);
}

/// An agent reads a file on the main branch.
fn reading(s: &mut Story, agent: ParticipantId) -> (CallId, MemoryId) {
    let run = s.run(agent);
    let call = s.calls(run, "read_file", r#"{"path":"quay.toml"}"#);
    let artifact = s.result(call, &flights(12));
    s.finishes(run, "tool_calls");
    let memory = s
        .about("file=quay.toml")
        .derives(artifact, "twelve berths, all free");
    (call, memory)
}

/// A run writes the same file.
fn writing(s: &mut Story, run: foldback_event::RunId) {
    let call = s.calls(run, "write_file", r#"{"path":"quay.toml"}"#);
    let artifact = s.result(call, "written");
    s.changes(artifact, &["file=quay.toml"]);
}

#[test]
fn what_another_changed_is_stale_until_it_is_read_again() {
    let mut s = Story::new("written by another");
    let mia = s.human("Mia");
    let (agent, other) = (s.model("agent", "gpt-4o"), s.model("other", "claude"));
    s.says(mia, "Are the berths free?");
    let (call, memory) = reading(&mut s, agent);
    s.says(mia, "And now?");
    let run = s.run(agent);
    writing(&mut s, run);
    s.finishes(run, "stop");
    // The agent knows what it wrote itself.
    check(&s, &ask(&s, agent), &[compact(memory, Reason::Permitted)]);
    let run = s.run(other);
    writing(&mut s, run);
    s.finishes(run, "stop");
    let told = [raw(call, Reason::Permitted), marker(memory, Reason::Stale)];
    assert_snapshot!(check(&s, &ask(&s, agent), &told));
    s.revalidates(memory, None);
    check(&s, &ask(&s, agent), &[compact(memory, Reason::Permitted)]);
}

#[test]
fn a_child_changes_what_its_parent_read_and_a_sibling_branch_does_not() {
    let mut s = Story::new("written elsewhere");
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    s.says(mia, "Are the berths free?");
    let (_, memory) = reading(&mut s, agent);
    s.says(mia, "And now?");
    let (main, at) = (s.main(), s.position());
    let sibling = s.fork(main, at);
    s.on(sibling);
    let run = s.run(agent);
    writing(&mut s, run);
    s.finishes(run, "stop");
    s.on(main);
    check(&s, &ask(&s, agent), &[compact(memory, Reason::Permitted)]);
    let child = s.child(agent, "scout", None);
    writing(&mut s, child.run);
    check(&s, &ask(&s, agent), &[marker(memory, Reason::Stale)]);
}

#[test]
fn a_memory_whose_provenance_is_broken_counts_as_stale() {
    let mut s = Story::new("broken provenance");
    let l = lookup(&mut s, false);
    s.repairs(l.memory, l.artifact, RepairOutcome::Unresolved);
    s.says(l.mia, "And?");
    assert_snapshot!(check(
        &s,
        &ask(&s, l.agent),
        &[
            marker(l.memory, Reason::BrokenProvenance),
            out(l.artifact, Reason::BrokenProvenance),
        ],
    ));
    s.repairs(l.memory, l.artifact, RepairOutcome::Repaired);
    check(
        &s,
        &ask(&s, l.agent),
        &[compact(l.memory, Reason::Permitted)],
    );
}

#[test]
fn erased_bytes_leave_a_notice() {
    let mut s = Story::new("erased");
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    let said = s.says(mia, "My passport is C01X00T47.");
    let run = s.run(agent);
    let call = s.calls(run, "search_flights", r#"{"to":"SEA"}"#);
    s.finishes(run, "tool_calls");
    let artifact = s.result(call, &flights(12));
    let memory = s.derives(artifact, "12 flights for C01X00T47");
    let second = s.calls(run, "search_flights", r#"{"to":"PDX"}"#);
    let kept = s.result(second, &flights(13));
    let gone = s.derives(kept, "13 flights for C01X00T47");
    for text in [
        "My passport is C01X00T47.",
        &flights(12),
        "13 flights for C01X00T47",
    ] {
        let payload = s.payload(text);
        s.erases(&payload);
    }
    s.says(mia, "Go on.");
    assert_snapshot!(check(
        &s,
        &ask(&s, agent),
        &[
            marker(said, Reason::Erased),
            marker(artifact, Reason::Erased),
            out(memory, Reason::Erased),
            marker(gone, Reason::Erased),
            out(kept, Reason::Compacted),
        ],
    ));
}

#[test]
fn a_result_without_its_call_is_out() {
    let mut s = Story::new("orphan");
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    s.says(mia, "Hello.");
    let orphan = s.orphan("lost_tool", "nobody asked");
    let memory = s.derives(orphan, "nobody asked, in short");
    assert_snapshot!(check(
        &s,
        &ask(&s, agent),
        &[
            out(orphan, Reason::CallOmitted),
            shown(memory, Presentation::Compact, Reason::Permitted),
        ],
    ));
}
