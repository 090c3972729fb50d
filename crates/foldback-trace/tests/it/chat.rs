//! OpenAI chats and tau-bench trajectories.

use crate::outline::{findings, one, outline, try_read};
use foldback_trace::{SourceBody, SourceConversation};

const CHAT: &str = r#"{
 "model": "gpt-4o", "temperature": 0.50, "tools": [],
 "messages": [
  {"role":"system","content":"Be kind."},
  {"role":"user","name":"ada","content":[{"type":"text","text":"Look"},{"type":"image_url","image_url":{"url":"https://x.test/a.png"}}]},
  {"role":"assistant","content":null,"tool_calls":[
    {"id":"c1","type":"function","function":{"name":"find","arguments":"{\"q\": 1.50}"}},
    {"id":"c1","type":"function","function":{"name":"find","arguments":"{\"q\": 2}"}},
    {"id":"c2","type":"function","function":{"name":"note","arguments":"{broken"}}]},
  {"role":"tool","tool_call_id":"c1","content":"Error: none"},
  {"role":"tool","tool_call_id":"c1","content":"[1]"},
  {"role":"tool","tool_call_id":"c9","content":"lost"},
  {"role":"tool","tool_call_id":"c1","content":"late"},
  {"role":"assistant","content":"","function_call":{"name":"old","arguments":""},"refusal":null,"audio":{"id":"a"}},
  {"role":"function","name":"old","content":""},
  {"role":"assistant","content":"Done.","refusal":"no more"},
  {"role":"narrator","content":"?"},
  7
 ]}"#;

#[test]
fn a_chat_is_read_with_all_its_oddities() {
    let chat = one("f", CHAT.as_bytes());
    let keys: Vec<&str> = chat
        .records
        .iter()
        .map(|r| r.key.split_once('-').map_or("", |(m, _)| m))
        .collect();
    assert_eq!(keys[1..4], ["m0", "m1", "m2"]);
    let text = outline(&chat);
    // Keys end in digests; here they only need to agree with each other.
    let text = chat
        .records
        .iter()
        .filter(|r| r.key.starts_with('m'))
        .fold(text, |text, r| {
            let (head, tail) = r.key.split_once('-').unwrap();
            let rest = tail
                .split_once(':')
                .map_or(String::new(), |(_, rest)| format!(":{rest}"));
            text.replace(&r.key, &format!("{head}{rest}"))
        });
    insta::assert_snapshot!(text, @r#"
    0/user: kept request-fields {"model":"gpt-4o","temperature":0.50}
    0/user: system "Be kind."
    0/user:ada: user <"Look", image {"type":"image_url","image_url":{"url":"https://x.test/a.png"}}>
    0/assistant: run started gpt-4o
    0/assistant: call find json {"q": 1.50} [m2:c0]
    0/assistant: call find json {"q": 2} [m2:c1]
    0/assistant: call note text {broken [m2:c2]
    0/assistant: run finished - -
    0/assistant: result failed text Error: none [m2:c0]
    0/assistant: result succeeded json [1] [m2:c1]
    0/assistant: result succeeded text lost [orphan]
    0/assistant: result succeeded text late [orphan]
    0/assistant: run started gpt-4o
    0/assistant: call old text  [m7:f]
    0/assistant: run finished - -
    0/assistant: kept message-fields {"audio":{"id":"a"}}
    0/assistant: result succeeded text  [m7:f]
    0/assistant: run started gpt-4o
    0/assistant: assistant <"Done.", other {"type":"refusal","refusal":"no more"}>
    0/assistant: run finished - -
    0/user: kept unknown-role {"role":"narrator","content":"?"}
    0/user: kept not-an-object 7
    "#);
    assert_eq!(
        findings(&chat),
        [
            "call-id-reused /messages/2",
            "malformed-arguments /messages/2",
            "orphan-result /messages/5",
            "duplicate-result /messages/6",
            "unknown-role /messages/10",
            "not-an-object /messages/11",
            "unanswered-call /messages/2",
        ]
    );
    assert_eq!(chat.title.as_deref(), Some("Look"));
}

#[test]
fn a_reused_id_is_answered_by_the_nearest_call_without_an_answer() {
    let call = |args: &str| {
        format!(
            r#"{{"role":"assistant","tool_calls":[{{"id":"x","function":{{"name":"t","arguments":"{args}"}}}}]}}"#
        )
    };
    let text = format!(
        r#"[{{"role":"user","content":"go"}},{},{},{{"role":"tool","tool_call_id":"x","content":"second"}},{{"role":"tool","tool_call_id":"x","content":"first"}}]"#,
        call("1"),
        call("2")
    );
    let chat = one("f", text.as_bytes());
    let mut calls = Vec::new();
    let mut results = Vec::new();
    for record in &chat.records {
        match &record.body {
            SourceBody::CallRequested { call, .. } => calls.push(call.clone()),
            SourceBody::Result { call, content, .. } => {
                results.push((
                    call.clone().unwrap(),
                    String::from_utf8_lossy(content).into_owned(),
                ));
            }
            _ => {}
        }
    }
    assert_eq!(
        results,
        [
            (calls[1].clone(), "second".to_owned()),
            (calls[0].clone(), "first".to_owned())
        ]
    );
}

#[test]
fn lines_of_requests_are_conversations_and_what_is_between_them_is_kept() {
    let row = r#"{"messages":[{"role":"user","content":"same"}],"id":4}"#;
    let file = format!("{row}\n{row}\n[1]\nnonsense\n{row}\n{{\"messages\":[{{");
    let all = try_read("f", file.as_bytes()).unwrap();
    let keys: Vec<&String> = all.iter().map(|one| &one.key).collect();
    assert_eq!(all.len(), 3);
    assert_eq!(*keys[1], format!("{}#2", keys[0]));
    assert_eq!(*keys[2], format!("{}#3", keys[0]));
    assert_eq!(
        findings(&all[0]),
        [
            "no-messages line 3",
            "invalid-json line 4",
            "truncated-line line 6"
        ]
    );
    let kept = |one: &SourceConversation| {
        one.records
            .iter()
            .filter(|r| matches!(r.body, SourceBody::Kept { .. }))
            .count()
    };
    assert_eq!(all.iter().map(kept).collect::<Vec<_>>(), [3, 1, 1]);
}

#[test]
fn trials_of_one_task_are_apart_and_their_facts_are_kept() {
    let traj = r#"[{"role":"user","content":"hi"},{"role":"assistant","content":"yes"}]"#;
    let file = format!(
        r#"[{{"task_id":3,"trial":0,"reward":1.0,"traj":{traj}}},{{"task_id":3,"trial":1,"reward":0.0,"traj":{traj}}},{{"task_id":3,"trial":1,"traj":{traj}}},{{"task_id":4,"trial":0,"traj":[]}}]"#
    );
    let all = try_read("f", file.as_bytes()).unwrap();
    let keys: Vec<&str> = all.iter().map(|one| one.key.as_str()).collect();
    assert!(
        keys[0].starts_with("tau:3:0:") && keys[1].starts_with("tau:3:1:"),
        "{keys:?}"
    );
    assert_eq!(keys[2], format!("{}#2", keys[1]));
    assert_eq!(all[0].title.as_deref(), Some("task 3, trial 0"));
    insta::assert_snapshot!(outline(&all[0]), @r#"
    0/user: kept trajectory-fields {"task_id":3,"trial":0,"reward":1.0}
    0/user: user "hi"
    0/assistant: run started -
    0/assistant: assistant "yes"
    0/assistant: run finished - -
    "#);
    assert_eq!(findings(&all[3]), ["no-message /3/traj"]);
}

#[test]
fn a_rendered_chat_is_one_notice() {
    let file = "{\"messages_display\":\"user: hi\\nassistant: None\"}\n";
    let row = one("f", file.as_bytes());
    insta::assert_snapshot!(outline(&row), @r#"0/user: notice by the client "user: hi\nassistant: None""#);
    assert_eq!(findings(&row), ["rendered-chat line 1"]);
}

#[test]
fn half_a_character_is_replaced_and_its_bytes_are_kept() {
    let chat = "\u{feff} [{\"role\":\"user\",\"content\":\"fine\"},{\"role\":\"user\",\"content\":\"x\\ud83d\"}]";
    let read = one("f", chat.as_bytes());
    insta::assert_snapshot!(outline(&read), @r#"
    0/user: user "fine"
    0/user: kept lone-surrogate {"role":"user","content":"x\ud83d"}
    0/user: user "x�"
    "#);
    assert_eq!(findings(&read), ["lone-surrogate /1"]);
}
