//! Claude Code sessions with child agents.

use crate::claude::{answered, file, result, said, text, tool, with};
use crate::outline::{findings, one, outline};
use foldback_trace::{Format, SourceConversation, SourceFile, read};
use serde_json::{Value, json};

fn side(line: Value) -> Value {
    with(line, "isSidechain", json!(true))
}

#[test]
fn a_side_chain_belongs_to_the_call_that_asks_for_it() {
    let tasks = json!([
        tool("t1", "Task", json!({"prompt": "count"})),
        tool("t2", "Task", json!({"prompt": "sum"})),
    ]);
    let lines = [
        said("u1", None, "go"),
        answered("a1", "u1", "msg_1", tasks),
        side(said("s1", None, "sum")),
        side(answered(
            "s2",
            "s1",
            "msg_s",
            json!([tool("x1", "Read", json!({}))]),
        )),
        side(result("s3", "s2", "x1", json!("data"))),
        side(answered("s4", "s3", "msg_t", json!([text("3")]))),
        result("r2", "a1", "t2", json!("3")),
        side(said("w1", None, "warm up")),
        result("r1", "a1", "t1", json!("7")),
        answered("a2", "r1", "msg_2", json!([text("10")])),
    ];
    let read = one("s.jsonl", file(&lines).as_bytes());
    insta::assert_snapshot!(outline(&read), @r#"
    0/user: user "go"
    0/assistant: run started m
    0/assistant: call Task json {"prompt":"count"} [a1:0]
    0/assistant: call Task json {"prompt":"sum"} [a1:1]
    0/assistant: run finished - 10+1
    0/assistant: child 1 started [a1:1]
    1/assistant: user "sum"
    1/sidechain:s1: run started m
    1/sidechain:s1: call Read json {} [s2:0]
    1/sidechain:s1: run finished - 10+1
    1/sidechain:s1: result succeeded text data [s2:0]
    1/sidechain:s1: run started m
    1/sidechain:s1: assistant "3"
    1/sidechain:s1: run finished - 10+1
    0/assistant: child 1 finished succeeded
    0/assistant: result succeeded text 3 [a1:1]
    0/assistant: child 2 started [-]
    2/assistant: user "warm up"
    0/assistant: result succeeded text 7 [a1:0]
    0/assistant: run started m
    0/assistant: assistant "10"
    0/assistant: run finished - 10+1
    "#);
    assert_eq!(findings(&read), ["unlinked-sidechain line 8"]);
    assert!(read.branches[1].sidechain && read.branches[1].parent.is_none());
}

fn agent(name: &str, lines: &[Value]) -> String {
    let lines: Vec<Value> = lines
        .iter()
        .map(|line| side(with(line.clone(), "agentId", json!(name))))
        .collect();
    file(&lines)
}

fn with_beside(main: &str, beside: &[(&str, String)]) -> Vec<SourceConversation> {
    let mut files = vec![SourceFile {
        name: "s1.jsonl",
        bytes: main.as_bytes(),
        companion: false,
    }];
    files.extend(beside.iter().map(|(name, text)| SourceFile {
        name,
        bytes: text.as_bytes(),
        companion: true,
    }));
    read(Format::ClaudeCode, &files).unwrap()
}

#[test]
fn files_beside_a_session_stand_before_the_results_of_their_calls() {
    let by_id = with(
        result("r1", "a1", "t1", json!("seven")),
        "toolUseResult",
        json!({"agentId": "aa1", "status": "completed"}),
    );
    let main = file(&[
        said("u1", None, "go"),
        answered(
            "a1",
            "u1",
            "msg_1",
            json!([
                tool("t1", "Task", json!({"prompt": "count"})),
                tool("t2", "Agent", json!({"prompt": "sum"})),
            ]),
        ),
        by_id,
        answered("a2", "r1", "msg_2", json!([text("wait")])),
    ]);
    let beside = [
        (
            "s1/subagents/agent-aa1.jsonl",
            agent(
                "aa1",
                &[
                    said("c1", None, "not what was asked"),
                    answered("c2", "c1", "msg_c", json!([text("seven")])),
                ],
            ),
        ),
        (
            "s1/subagents/agent-bb2.jsonl",
            agent("bb2", &[said("d1", None, "sum")]),
        ),
        (
            "s1/subagents/agent-cc3.jsonl",
            agent("cc3", &[said("e1", None, "nobody asked")]),
        ),
    ];
    let all = with_beside(&main, &beside);
    assert_eq!(all.len(), 1);
    insta::assert_snapshot!(outline(&all[0]), @r#"
    0/user: user "go"
    0/assistant: run started m
    0/assistant: call Task json {"prompt":"count"} [a1:0]
    0/assistant: call Agent json {"prompt":"sum"} [a1:1]
    0/assistant: run finished - 10+1
    0/assistant: child 1 started [a1:0]
    1/assistant: user "not what was asked"
    1/sidechain:aa1: run started m
    1/sidechain:aa1: assistant "seven"
    1/sidechain:aa1: run finished - 10+1
    0/assistant: child 1 finished succeeded
    0/assistant: result succeeded text seven + {"agentId":"aa1","status":"completed"} [a1:0]
    0/assistant: run started m
    0/assistant: assistant "wait"
    0/assistant: run finished - 10+1
    0/assistant: child 2 started [a1:1]
    2/assistant: user "sum"
    0/assistant: child 3 started [-]
    3/assistant: user "nobody asked"
    "#);
    let codes: Vec<&str> = all[0].findings.iter().map(|one| one.code).collect();
    assert_eq!(codes, ["unlinked-sidechain", "unanswered-call"]);
}

#[test]
fn an_agents_file_by_itself_is_a_conversation_of_its_own() {
    let text = agent(
        "aa1",
        &[
            said("c1", None, "count"),
            answered("c2", "c1", "msg_c", json!([text("seven")])),
        ],
    );
    let read = one("agent-aa1.jsonl", text.as_bytes());
    assert_eq!(read.key, "s1/agent-aa1");
    assert!(read.branches.len() == 1 && read.branches[0].sidechain);
    insta::assert_snapshot!(outline(&read), @r#"
    0/user: user "count"
    0/assistant: run started m
    0/assistant: assistant "seven"
    0/assistant: run finished - 10+1
    "#);
    let elsewhere = file(&[with(said("u1", None, "hi"), "sessionId", json!("other"))]);
    let all = with_beside(&elsewhere, &[("s1/subagents/agent-aa1.jsonl", text)]);
    let keys: Vec<&str> = all.iter().map(|one| one.key.as_str()).collect();
    assert_eq!(keys, ["other", "s1/agent-aa1"]);
}
