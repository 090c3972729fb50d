//! Messages, drafts, summaries, skills, facts and participants.

use crate::{fold, graph_of, seen};
use foldback_event::{MessageRole, Privacy, Visibility};
use foldback_testkit::Story;

#[test]
fn a_chat_is_its_messages_in_order() {
    let mut s = Story::new("chat");
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    s.system("You help with flights.");
    s.says(mia, "Hello.\nAre you there?");
    let run = s.run(agent);
    s.answers(run, "Yes.");
    s.finishes(run, "stop");
    insta::assert_snapshot!(graph_of(&s), @r"
    1 conversation account acct_6447447c
    1 branch br_ce403f8b
    2 participant part_9119a9c8 human
    3 participant part_be97d5af model model gpt-4o
    4 message msg_f56331d6 system 5 tok
    5 message msg_0ac81b05 user 6 tok
    6 run run_4128f969 chat by part_be97d5af on br_ce403f8b finished stop
    7 message msg_b1268236 assistant 2 tok generated-by run_4128f969
    ");
    insta::assert_snapshot!(seen(&s), @r"
    #4 system
        You help with flights.
    #5 user Mia
        Hello.
        Are you there?
    #7 assistant agent
        Yes.
    ");
}

#[test]
fn a_draft_changes_until_it_is_final() {
    let mut s = Story::new("drafts");
    let mia = s.human("Mia");
    let kept = s.drafts(mia, "Pleas move");
    s.drafts(mia, "Never mind, but");
    s.finalizes(kept, Some("Please move my flight."), Visibility::Branch);
    insta::assert_snapshot!(graph_of(&s), @r"
    1 conversation account acct_6447447c
    1 branch br_74383f05
    2 participant part_cd0b64c9 human
    3 message msg_bf966693 user 5 tok
    4 message msg_89bfb6ce user draft 4 tok participant-private
    ");
    insta::assert_snapshot!(seen(&s), @r"
    #3 user Mia
        Please move my flight.
    #4 user Mia (draft)
        Never mind, but
    ");
}

#[test]
fn a_final_message_for_the_whole_conversation_is_widely_seen() {
    let mut s = Story::new("wide draft");
    let mia = s.human("Mia");
    let draft = s.drafts(mia, "Announce");
    assert_eq!(fold(&s).wide_newest_first().count(), 0);
    s.finalizes(draft, None, Visibility::Conversation);
    let graph = fold(&s);
    assert_eq!(graph.wide_newest_first().collect::<Vec<_>>(), [3]);
    assert!(!graph.message(&draft).unwrap().draft);
}

#[test]
fn a_summary_stands_for_what_came_before() {
    let mut s = Story::new("summary");
    let mia = s.human("Mia");
    s.system("Be brief.");
    s.says(mia, "one two three four");
    s.summary("numbers");
    s.says(mia, "five");
    let graph = fold(&s);
    let lineage = graph.lineage(&s.main()).unwrap();
    assert_eq!(graph.summary_on(&lineage), Some(5));
    assert_eq!(graph.prompt_on(&lineage), Some(6));
    assert_eq!(graph.instructions_on(&lineage).collect::<Vec<_>>(), [3]);
    // The instruction (3), the summary (1) and what follows it (1).
    assert_eq!(graph.replay_tokens(&lineage), 5);
    insta::assert_snapshot!(graph_of(&s), @r"
    1 conversation account acct_6447447c
    1 branch br_ec44dfda
    2 participant part_a81ba9e2 human
    3 message msg_3197ab52 system 3 tok
    4 message msg_2f45d2bb user 4 tok
    5 message msg_8ef296d3 summary 1 tok
    6 message msg_ea2cd04c user 1 tok
    ");
}

#[test]
fn skills_are_states_and_facts_replace_facts() {
    let mut s = Story::new("skills and facts");
    let mia = s.human("Mia");
    s.skills(&[
        ("rebooking", false, "How to rebook"),
        ("refunds", false, "How to refund"),
    ]);
    s.skills(&[
        ("rebooking", true, "How to rebook"),
        ("refunds", false, "How to refund"),
    ]);
    let old = s.fact(mia, "lives in Lyon");
    s.fact_instead(mia, "lives in Turin", &[old]);
    insta::assert_snapshot!(graph_of(&s), @r"
    1 conversation account acct_6447447c
    1 branch br_b8ad4c6d
    2 participant part_330a85f6 human
    3 skills 0 of 2 loaded
    4 skills 1 of 2 loaded
    5 fact fact_5c6513e8 3 tok superseded-by fact_5824b54c conversation personal
    6 fact fact_5824b54c 3 tok conversation personal
    ");
    insta::assert_snapshot!(seen(&s), @"");
}

#[test]
fn what_is_out_of_the_ordinary_shows() {
    let mut s = Story::new("privacy");
    let mia = s.human("Mia");
    let agent = s.model("agent", "gpt-4o");
    s.privacy(Privacy::SecretAdjacent)
        .private()
        .says(mia, "my key is hunter2");
    s.visibility(Visibility::AuditOnly)
        .says(mia, "for the record");
    s.shared_with(&[agent])
        .privacy(Privacy::Personal)
        .says(mia, "for the agent");
    s.visibility(Visibility::Conversation).says(mia, "for all");
    insta::assert_snapshot!(graph_of(&s), @r"
    1 conversation account acct_6447447c
    1 branch br_3013ba44
    2 participant part_dfc28e12 human
    3 participant part_8b52d0cc model model gpt-4o
    4 message msg_c033f19f user 4 tok participant-private secret-adjacent
    5 message msg_6941a64a user 3 tok audit-only
    6 message msg_c6df858a user 3 tok participant-private personal
    7 message msg_a42f5d32 user 2 tok conversation
    ");
    assert_eq!(fold(&s).wide_newest_first().collect::<Vec<_>>(), [7, 6]);
}

#[test]
fn a_discussion_has_a_moderator_and_notices() {
    let mut s = Story::new("discussion");
    let chair = s.moderator("chair");
    let one = s.model("one", "gpt-4o");
    let two = s.model("two", "claude");
    s.directs(chair, "One, then two.");
    for who in [one, two] {
        let run = s.mode(foldback_event::RuntimeKind::Discussion).run(who);
        s.answers(run, "My view.");
        s.finishes(run, "stop");
    }
    s.notice("The session was interrupted.");
    insta::assert_snapshot!(graph_of(&s), @r"
     1 conversation account acct_6447447c
     1 branch br_01939fe2
     2 participant part_7bb03a16 moderator
     3 participant part_e12df673 model model gpt-4o
     4 participant part_02279a7a model model claude
     5 message msg_a870d179 moderator 5 tok
     6 run run_f52464fa discussion by part_e12df673 on br_01939fe2 finished stop
     7 message msg_8d44a08f assistant 3 tok generated-by run_f52464fa
     9 run run_91214cf7 discussion by part_02279a7a on br_01939fe2 finished stop
    10 message msg_37f2ff50 assistant 3 tok generated-by run_91214cf7
    12 message msg_0fc027d0 notice 5 tok
    ");
    insta::assert_snapshot!(seen(&s), @r"
    #5 moderator chair
        One, then two.
    #7 assistant one
        My view.
    #10 assistant two
        My view.
    #12 notice
        The session was interrupted.
    ");
}

#[test]
fn erased_words_cannot_be_read_and_the_graph_stays() {
    let mut s = Story::new("erasure");
    let mia = s.human("Mia");
    let secret = s.payload("my number is 555");
    s.message(MessageRole::User, Some(mia), None, secret, false);
    s.says(mia, "forget that");
    s.erases(&secret);
    let graph = fold(&s);
    assert!(graph.is_erased(&secret.address));
    assert!(graph.findings().is_empty());
    insta::assert_snapshot!(seen(&s), @r"
    #3 user Mia
        [not readable]
    #4 user Mia
        forget that
    ");
    insta::assert_snapshot!(graph_of(&s), @r"
    1 conversation account acct_6447447c
    1 branch br_07e58379
    2 participant part_7a235baf human
    3 message msg_97c346dd user 4 tok
    4 message msg_7c0a4600 user 2 tok
    ");
}

#[test]
fn an_erased_conversation_says_so_and_what_follows_is_odd() {
    let mut s = Story::new("all erased");
    let mia = s.human("Mia");
    let words = s.payload("gone");
    s.message(MessageRole::User, Some(mia), None, words, false);
    s.erases_conversation();
    assert!(fold(&s).is_erased(&words.address));
    s.says(mia, "too late");
    insta::assert_snapshot!(graph_of(&s), @r"
    1 conversation erased account acct_6447447c
    1 branch br_9766c50c
    2 participant part_40f11c94 human
    3 message msg_11471d8b user 1 tok
    5 message msg_34abe3c5 user 2 tok
    5 ! after-erasure
    ");
}

#[test]
fn erasing_another_account_erases_nothing_here() {
    let mut s = Story::new("other account");
    s.human("Mia");
    let mut t = s.clone();
    s.tell(foldback_event::kind::AccountErased {
        account: foldback_event::AccountId::from_bytes([1; 16]),
        ground: foldback_event::Label::new("user-request").unwrap(),
    });
    assert!(!fold(&s).conversation().unwrap().erased);
    t.erases_account();
    assert!(fold(&t).conversation().unwrap().erased);
}
