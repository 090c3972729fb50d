//! From what a person types to a record.

use crate::fold;
use foldback_graph::{ResolveError, Resolved};
use foldback_testkit::Story;

#[test]
fn a_prefix_with_or_without_its_tag_finds_its_record() {
    let mut s = Story::new("resolve");
    let mia = s.human("Mia");
    let message = s.says(mia, "Hello.");
    let graph = fold(&s);
    let whole = message.to_string();
    for text in [
        &whole,
        &message.short(),
        &message.hex(),
        message.hex().get(..8).unwrap(),
    ] {
        assert_eq!(
            graph.resolve(text),
            Ok(Resolved::Message(message)),
            "{text}"
        );
    }
}

#[test]
fn nothing_and_too_much_are_told_apart() {
    let mut s = Story::new("resolve errors");
    let mia = s.human("Mia");
    s.says(mia, "one");
    s.says(mia, "two");
    let graph = fold(&s);
    assert!(matches!(
        graph.resolve(""),
        Err(ResolveError::Unknown { .. })
    ));
    let unknown = graph.resolve("msg_zz").unwrap_err();
    assert_eq!(unknown.to_string(), "no record's id starts with `msg_zz`");
    let Err(ResolveError::Ambiguous { candidates, .. }) = graph.resolve("msg_") else {
        panic!("two messages start with the tag");
    };
    assert_eq!(candidates.len(), 2);
}

#[test]
fn an_ambiguity_names_a_handful_of_candidates() {
    let mut s = Story::new("many");
    let mia = s.human("Mia");
    for n in 0..20 {
        s.says(mia, &n.to_string());
    }
    let Err(ResolveError::Ambiguous { candidates, .. }) = fold(&s).resolve("msg_") else {
        panic!("twenty messages start with the tag");
    };
    assert_eq!(candidates.len(), 6);
}

#[test]
fn a_providers_own_call_id_finds_the_call() {
    let mut s = Story::new("source id");
    let agent = s.model("agent", "gpt-4o");
    let run = s.run(agent);
    let call = s.source_id("toolu_01A").calls(run, "read_file", "{}");
    assert_eq!(fold(&s).resolve("toolu_01A"), Ok(Resolved::Call(call)));
    assert!(
        fold(&s).resolve("toolu_01").is_err(),
        "a foreign id is found whole or not at all"
    );
}

/// A provider's id may recur; the answer must say which calls it could be.
#[test]
fn a_providers_id_that_recurs_names_the_calls() {
    let mut s = Story::new("source id twice");
    let agent = s.model("agent", "gpt-4o");
    let run = s.run(agent);
    let one = s.source_id("call_0").calls(run, "read_file", "{}");
    let two = s.source_id("call_0").calls(run, "read_file", "{}");
    let Err(ResolveError::Ambiguous { mut candidates, .. }) = fold(&s).resolve("call_0") else {
        panic!("two calls have the id");
    };
    candidates.sort();
    let mut wanted = [one.to_string(), two.to_string()];
    wanted.sort();
    assert_eq!(candidates, wanted);
}
