//! Whose request it is decides what enters: participants, children, branches, routes.

use crate::assembly::{
    ask, beside, check, check_under, compact, flights, marker, out, policy, raw, shown, skills_of,
    via,
};
use foldback_event::kind::ChildStatus;
use foldback_event::{
    ArtifactId, CallId, MemoryId, MessageRole, ParticipantId, Presentation, Privacy, Reason,
    RuntimeKind, Visibility,
};
use foldback_testkit::Story;
use insta::assert_snapshot;

/// One call of a participant with its result and memory, each as the class says.
fn reads(
    s: &mut Story,
    who: ParticipantId,
    class: Privacy,
    private: bool,
) -> (CallId, ArtifactId, MemoryId) {
    let run = s.run(who);
    let seen_by = if private {
        Visibility::ParticipantPrivate
    } else {
        Visibility::Branch
    };
    s.privacy(class).visibility(seen_by);
    let call = s.calls(run, "read_mail", r#"{"id":"m7"}"#);
    s.privacy(class).visibility(seen_by);
    let artifact = s.result(call, &flights(12));
    s.privacy(class).visibility(seen_by);
    let memory = s.derives(artifact, "a mail on 12 flights");
    s.finishes(run, "tool_calls");
    (call, artifact, memory)
}

#[test]
fn another_participants_scratch_is_out_and_what_it_said_is_in() {
    let mut s = Story::new("two models");
    let mia = s.human("Mia");
    let one = s.model("one", "gpt-4o");
    let two = s.model("two", "claude");
    s.mode(RuntimeKind::MultiModel).says(mia, "Compare.");
    let (call, artifact, memory) = reads(&mut s, one, Privacy::Internal, true);
    let run = s.run(one);
    let scratch = s.private().answers(run, "HAT104 may be wrong");
    let failing = s.private().calls(run, "search_flights", "{}");
    let error = s.private().fails(failing, "timed out", true);
    let said = s.answers(run, "I would take HAT104.");
    s.finishes(run, "stop");
    let draft = s.drafts(mia, "Maybe I should");
    let others = check(
        &s,
        &ask(&s, two),
        &[
            out(call, Reason::ParticipantPrivate),
            out(artifact, Reason::ParticipantPrivate),
            out(memory, Reason::ParticipantPrivate),
            out(scratch, Reason::ParticipantPrivate),
            out(failing, Reason::ParticipantPrivate),
            out(error, Reason::ParticipantPrivate),
            raw(said, Reason::Permitted),
            out(draft, Reason::ParticipantPrivate),
        ],
    );
    let own = check(
        &s,
        &ask(&s, one),
        &[
            raw(call, Reason::Permitted),
            raw(scratch, Reason::Permitted),
            raw(failing, Reason::Recovery),
        ],
    );
    assert_snapshot!(format!("{others}\n{own}"));
}

#[test]
fn a_draft_that_all_may_read_is_still_nobodys_context() {
    let mut s = Story::new("draft");
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    let asked = s.says(mia, "Book it.");
    let words = s.payload("No, do not");
    let draft = s.message(MessageRole::User, Some(mia), None, words, true);
    let hidden = s.drafts(mia, "Or perhaps");
    let mut request = ask(&s, agent);
    // Neither draft is the newest message that the floor keeps.
    request.budget_tokens = Some(3);
    assert_snapshot!(check(
        &s,
        &request,
        &[
            raw(asked, Reason::Permitted),
            out(draft, Reason::Draft),
            out(hidden, Reason::ParticipantPrivate),
        ],
    ));
    s.finalizes(draft, None, Visibility::Branch);
    check(&s, &ask(&s, agent), &[raw(draft, Reason::Permitted)]);
}

#[test]
fn a_memory_that_is_shared_enters_without_its_private_call() {
    let mut s = Story::new("shared memory");
    let mia = s.human("Mia");
    let one = s.model("one", "gpt-4o");
    let two = s.model("two", "claude");
    s.says(mia, "Compare.");
    let (call, artifact, memory) = reads(&mut s, one, Privacy::Internal, true);
    s.promotes_to(memory, Visibility::ParticipantPrivate, &[two], "finding");
    assert_snapshot!(check(
        &s,
        &ask(&s, two),
        &[
            out(call, Reason::ParticipantPrivate),
            out(artifact, Reason::ParticipantPrivate),
            compact(memory, Reason::Permitted),
        ],
    ));
}

#[test]
fn a_childs_scratch_is_out_its_report_and_what_it_promoted_are_in() {
    let mut s = Story::new("child");
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    s.says(mia, "Research this.");
    let run = s.run(agent);
    let delegates = s.calls(run, "delegate", r#"{"task":"flights"}"#);
    let child = s.child(agent, "scout", Some(delegates));
    let inner = s.run(child.participant);
    let call = s.calls(inner, "search_flights", r#"{"to":"SEA"}"#);
    let artifact = s.result(call, &flights(12));
    let memory = s.derives(artifact, "12 flights");
    let other = s.calls(inner, "read_mail", "{}");
    let kept = s.result(other, &flights(13));
    let private = s.derives(kept, "13 flights");
    let note = s.answers(inner, "HAT104 looks good");
    s.promotes_to(memory, Visibility::Conversation, &[], "finding");
    s.child_ends(child, ChildStatus::Succeeded, "Take HAT104.");
    let mut request = ask(&s, agent);
    request.runtime_kind = RuntimeKind::ParentResume;
    let resumed = check(
        &s,
        &request,
        &[
            raw(delegates, Reason::Recovery),
            beside(call),
            beside(artifact),
            beside(private),
            beside(note),
            compact(memory, Reason::Permitted),
            raw(child.run, Reason::Permitted),
        ],
    );
    // Once its call returned the report, it is not told twice.
    s.result(delegates, "Take HAT104.");
    check(
        &s,
        &request_now(&s, agent),
        &[out(child.run, Reason::Replaced)],
    );
    // Everything the child did was promoted: only what has its call here can stand in the history.
    s.promotes_to(call, Visibility::Conversation, &[], "finding");
    s.promotes_to(artifact, Visibility::Conversation, &[], "finding");
    let all = check(
        &s,
        &request_now(&s, agent),
        &[
            out(call, Reason::BranchExcluded),
            out(artifact, Reason::CallOmitted),
            compact(memory, Reason::Permitted),
        ],
    );
    assert_snapshot!(format!("{resumed}\n{all}"));
}

fn request_now(s: &Story, who: ParticipantId) -> foldback_event::kind::AssemblyRequest {
    let mut request = ask(s, who);
    request.runtime_kind = RuntimeKind::ParentResume;
    request
}

#[test]
fn a_sibling_branch_is_counted_and_a_fork_inherits() {
    let mut s = Story::new("branches");
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    let asked = s.says(mia, "Find flights.");
    let fork = s.fork(s.main(), s.position());
    let (call, artifact, memory) = reads(&mut s, agent, Privacy::Internal, false);
    let there = s.says(mia, "On the main branch.");
    s.on(fork);
    let here = s.says(mia, "On the fork.");
    let text = check(
        &s,
        &ask(&s, agent),
        &[
            raw(asked, Reason::Permitted),
            raw(here, Reason::Permitted),
            beside(call),
            beside(artifact),
            beside(memory),
            beside(there),
        ],
    );
    assert!(text.contains("out: 4 branch-excluded"), "{text}");
    s.on(s.main());
    check(
        &s,
        &ask(&s, agent),
        &[raw(there, Reason::Permitted), beside(here)],
    );
    assert_snapshot!(text);
}

#[test]
fn what_the_whole_conversation_may_see_crosses_into_the_tail() {
    let mut s = Story::new("conversation wide");
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    s.says(mia, "Find flights.");
    let fork = s.fork(s.main(), s.position());
    let (call, _, memory) = reads(&mut s, agent, Privacy::Internal, false);
    s.promotes(memory, Visibility::Conversation);
    let told = s
        .visibility(Visibility::Conversation)
        .says(mia, "For all: aisle seats.");
    s.on(fork);
    s.says(mia, "Go on here.");
    let text = check(
        &s,
        &ask(&s, agent),
        &[
            beside(call),
            compact(memory, Reason::Permitted),
            raw(told, Reason::Permitted),
        ],
    );
    assert_snapshot!(text);
    // A summary of this branch cannot tell what was said beside it.
    s.summary("Mia wants flights.");
    check(
        &s,
        &ask(&s, agent),
        &[
            compact(memory, Reason::Permitted),
            raw(told, Reason::Permitted),
        ],
    );
}

#[test]
fn a_summary_cuts_what_is_before_it_but_the_instructions() {
    let mut s = Story::new("summary");
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    let rules = s.system("Be brief.");
    let asked = s.says(mia, "Find flights.");
    let (call, artifact, memory) = reads(&mut s, agent, Privacy::Internal, false);
    let summary = s.summary("Mia looks for flights; 12 were found.");
    let next = s.says(mia, "Take the first.");
    let cut = || {
        [
            raw(rules, Reason::Permitted),
            out(asked, Reason::Summarized),
            out(call, Reason::Summarized),
            out(artifact, Reason::Summarized),
            out(memory, Reason::Summarized),
            raw(summary, Reason::Permitted),
            raw(next, Reason::Permitted),
        ]
    };
    assert_snapshot!(check(&s, &ask(&s, agent), &cut()));
}

#[test]
fn a_summary_that_the_requester_may_not_see_cuts_nothing() {
    let mut s = Story::new("hidden summary");
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    let asked = s.says(mia, "Find flights.");
    let hidden = s
        .visibility(Visibility::AuditOnly)
        .summary("Kept for auditors.");
    s.says(mia, "Well?");
    check(
        &s,
        &ask(&s, agent),
        &[
            raw(asked, Reason::Permitted),
            out(hidden, Reason::AuditOnly),
        ],
    );
}

#[test]
fn what_is_kept_for_auditors_is_out() {
    let mut s = Story::new("audit");
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    s.says(mia, "Hello.");
    let note = s
        .visibility(Visibility::AuditOnly)
        .notice("flagged by review");
    assert_snapshot!(check(&s, &ask(&s, agent), &[out(note, Reason::AuditOnly)]));
}

#[test]
fn a_route_decides_on_what_was_fetched_with_a_grant() {
    let mut s = Story::new("google");
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    s.says(mia, "Read my mail.");
    let run = s.run(agent);
    let call = s.calls(run, "read_mail", r#"{"id":"m7"}"#);
    let class = Privacy::GoogleDerived;
    let artifact = s.privacy(class).result(call, &flights(12));
    let bare = s.calls(run, "list_mail", "{}");
    let listed = s.privacy(class).result(bare, &flights(3));
    let memory = s.privacy(class).derives(artifact, "a mail on 12 flights");
    s.finishes(run, "tool_calls");
    let over = |provider: &str| {
        let mut request = ask(&s, agent);
        request.route = via(provider);
        request
    };
    let standard = check(
        &s,
        &over("openai"),
        &[
            raw(call, Reason::Permitted),
            out(artifact, Reason::PrivacyRoute),
            compact(memory, Reason::Permitted),
            marker(listed, Reason::PrivacyRoute),
        ],
    );
    let trusted = check(
        &s,
        &over("vault"),
        &[
            raw(artifact, Reason::FreshRaw),
            raw(listed, Reason::Permitted),
        ],
    );
    let untrusted = check(
        &s,
        &over("plaza"),
        &[
            raw(call, Reason::Permitted),
            marker(artifact, Reason::PrivacyRoute),
            out(memory, Reason::PrivacyRoute),
            marker(listed, Reason::PrivacyRoute),
        ],
    );
    assert_snapshot!(format!("{standard}\n{trusted}\n{untrusted}"));
}

#[test]
fn a_compact_form_that_keeps_every_value_needs_the_permission_of_the_bytes() {
    let mut s = Story::new("lossless and bound");
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    s.says(mia, "Which flights are in my calendar?");
    let run = s.run(agent);
    let call = s.calls(run, "read_calendar", "{}");
    let class = Privacy::GoogleDerived;
    let artifact = s.privacy(class).result(call, &flights(12));
    let memory = s
        .structured()
        .privacy(class)
        .derives(artifact, "all twelve flights, value by value");
    s.finishes(run, "tool_calls");
    let mut request = ask(&s, agent);
    request.route = via("openai");
    let bound = [
        marker(artifact, Reason::PrivacyRoute),
        out(memory, Reason::PrivacyRoute),
    ];
    check(&s, &request, &bound);
    request.route = via("vault");
    check(&s, &request, &[compact(memory, Reason::Permitted)]);
}

#[test]
fn what_stands_near_a_secret_never_leaves_raw() {
    let mut s = Story::new("secret");
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    s.says(mia, "Read the settings.");
    let run = s.run(agent);
    let call = s.calls(run, "read_file", r#"{"path":".env"}"#);
    let class = Privacy::SecretAdjacent;
    let artifact = s.privacy(class).result(call, &flights(12));
    let memory = s.privacy(class).derives(artifact, "settings with one key");
    s.finishes(run, "tool_calls");
    let standard = check(
        &s,
        &ask(&s, agent),
        &[
            marker(artifact, Reason::PrivacyRoute),
            out(memory, Reason::PrivacyRoute),
        ],
    );
    let mut request = ask(&s, agent);
    request.route = via("vault");
    request.exact = vec![artifact];
    let trusted = check(
        &s,
        &request,
        &[
            out(artifact, Reason::PrivacyRoute),
            compact(memory, Reason::Permitted),
        ],
    );
    assert_snapshot!(format!("{standard}\n{trusted}"));
}

#[test]
fn skills_stay_in_force_however_long_ago_they_were_set() {
    let mut s = Story::new("old skills");
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    s.skills(&[("booking", true, "How to book a flight, step by step.")]);
    let skills = skills_of(&s);
    for n in 0..40 {
        s.says(mia, &format!("And flight {n}?"));
    }
    let few = policy(&[("candidates = 4096", "candidates = 8")]);
    check_under(&few, &s, &ask(&s, agent), &[raw(skills, Reason::Permitted)]);
}

#[test]
fn the_newest_skills_and_facts_are_in_force() {
    let mut s = Story::new("skills and facts");
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    s.says(mia, "Hello.");
    s.skills(&[("booking", true, "How to book a flight, step by step.")]);
    let old_skills = skills_of(&s);
    let old = s.fact(mia, "Mia sits at the window.");
    let new = s.fact_instead(mia, "Mia sits at the aisle.", &[old]);
    s.skills(&[
        ("booking", true, "How to book a flight, step by step."),
        ("refunds", false, "How to ask for money back."),
    ]);
    let new_skills = skills_of(&s);
    assert_snapshot!(check(
        &s,
        &ask(&s, agent),
        &[
            out(old_skills, Reason::Inactive),
            raw(new_skills, Reason::Permitted),
            out(old, Reason::Superseded),
            raw(new, Reason::Permitted),
        ],
    ));
}

#[test]
fn a_parent_that_resumes_is_told_of_its_checkpoint() {
    let mut s = Story::new("checkpoint");
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    s.says(mia, "Hello.");
    let run = s.run(agent);
    let checkpoint = s.checkpoint(run, "state");
    s.restores(checkpoint, run);
    check(&s, &ask(&s, agent), &[out(checkpoint, Reason::Inactive)]);
    assert_snapshot!(check(
        &s,
        &request_now(&s, agent),
        &[shown(checkpoint, Presentation::Reference, Reason::Recovery)],
    ));
}
