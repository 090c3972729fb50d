//! What each command answers on small fixtures.

use crate::sandbox::{HARBOUR, NIGHT_TRAIN, Sandbox, masked};
use insta::assert_snapshot;

#[test]
fn replay_prints_a_table_totals_and_a_verified_line() {
    let sandbox = Sandbox::new();
    let first = sandbox.run(&["replay", NIGHT_TRAIN]).exits(0);
    assert_snapshot!("replay-night-train", first.text());
    // The same again adds nothing and answers the same.
    let again = sandbox.run(&["replay", NIGHT_TRAIN]).exits(0);
    assert_eq!(again.stdout, first.stdout);
    assert!(again.stderr.contains("0 new events"), "{}", again.text());
}

#[test]
fn replay_of_a_session_with_a_child_a_branch_and_a_compaction() {
    let sandbox = Sandbox::new();
    assert_snapshot!(
        "replay-harbour",
        sandbox.run(&["replay", HARBOUR]).exits(0).text()
    );
    let one = sandbox.run(&["replay", NIGHT_TRAIN, HARBOUR]).exits(0);
    assert_snapshot!("replay-both", one.text());
    let all = sandbox.run(&["replay", "--all", "--no-verify"]).exits(0);
    let rows = |text: &str| {
        text.lines()
            .filter(|line| line.starts_with("conv_"))
            .count()
    };
    assert_eq!(rows(&one.stdout), 2);
    assert_eq!(rows(&all.stdout), 2);
    assert!(!all.stdout.contains("verified"), "{}", all.text());
}

#[test]
fn import_counts_what_it_adds() {
    let sandbox = Sandbox::new();
    let first = sandbox.run(&["import", NIGHT_TRAIN, HARBOUR]).exits(0);
    assert_snapshot!("import", first.text());
    let again = sandbox
        .run(&["--json", "import", NIGHT_TRAIN, HARBOUR])
        .exits(0);
    assert_snapshot!("import-again-json", again.text());
    // A folder of subagents stands for its session; a subagent named beside it is no second one.
    let folder = HARBOUR.trim_end_matches(".jsonl");
    let agent = format!("{folder}/subagents/agent-7c01f2.jsonl");
    let again = sandbox.run(&["import", folder, &agent]).exits(0);
    assert!(
        again.stdout.contains("1 conversation, 0 new events"),
        "{}",
        again.text()
    );
}

#[test]
fn import_reads_standard_input() {
    let sandbox = Sandbox::new();
    let file = std::fs::File::open(sandbox.path(NIGHT_TRAIN)).expect("the fixture");
    let output = sandbox
        .command(&["import", "-"])
        .stdin(file)
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("81 new events"), "{text}");
}

#[test]
fn a_file_that_has_grown_adds_what_is_new() {
    let sandbox = Sandbox::new();
    let whole = String::from_utf8(sandbox.read(HARBOUR)).expect("text");
    let start: String = whole.split_inclusive('\n').take(8).collect();
    sandbox.write("grown.jsonl", start);
    let events = |name: &str| {
        let json = sandbox.run(&["--json", "import", name]).exits(0).json();
        let row = &json["conversations"][0];
        (
            row["events"].as_u64().expect("a count"),
            json["already_present"].as_u64().expect("one"),
        )
    };
    let (first, known) = events("grown.jsonl");
    assert!(first > 10 && known == 0, "{first} {known}");
    sandbox.write("grown.jsonl", &whole);
    let (second, known) = events("grown.jsonl");
    assert!(second > 10 && known > 5, "{second} {known}");
    assert_eq!(events("grown.jsonl").0, 0);
    sandbox.run(&["verify"]).exits(0);
}

#[test]
fn conversations_log_graph_and_transcript() {
    let sandbox = Sandbox::replayed(HARBOUR);
    assert_snapshot!(
        "conversations",
        sandbox.run(&["conversations"]).exits(0).text()
    );
    let json = sandbox.run(&["--json", "conversations"]).exits(0);
    assert_snapshot!("conversations-json", json.text());
    assert_snapshot!("log", sandbox.run(&["log"]).exits(0).text());
    let json = sandbox.run(&["--json", "log", "--at", "2"]).exits(0);
    let json = masked(&json.text(), &["\"recorded_at\": ", "\"hash\": "]);
    assert_snapshot!("log-json", json);
    assert_snapshot!(
        "graph",
        sandbox.run(&["graph", "--at", "63"]).exits(0).text()
    );
    let json = sandbox.run(&["--json", "graph", "--at", "20"]).exits(0);
    assert_snapshot!("graph-json", json.text());
    assert_snapshot!("transcript", sandbox.run(&["transcript"]).exits(0).text());
    let branch = sandbox
        .run(&["--json", "transcript", "--branch", "br_e7f4"])
        .exits(0);
    assert_snapshot!("transcript-branch-json", branch.text());
}

#[test]
fn show_follows_a_record_back() {
    let sandbox = Sandbox::replayed(HARBOUR);
    let log = sandbox.run(&["log"]).exits(0);
    let id = |kind: &str, tool: &str| {
        let line = log
            .stdout
            .lines()
            .find(|line| line.contains(kind) && line.contains(tool));
        let mut words = line.expect("such an event").split_whitespace();
        words.nth(2).expect("an id").to_owned()
    };
    let artifact = id("tool-artifact-captured", "Task");
    assert_snapshot!(
        "show-artifact",
        sandbox.run(&["show", &artifact]).exits(0).text()
    );
    let memory = id("tool-memory-derived", &artifact);
    assert_snapshot!(
        "show-memory-json",
        sandbox.run(&["--json", "show", &memory]).exits(0).text()
    );
    for kind in ["conversation-opened", "child-run-started"] {
        assert!(log.stdout.contains(kind), "{}", log.text());
    }
    // A provider's own id of a call is found too.
    let call = sandbox.run(&["show", "toolu_04"]).exits(0);
    assert_snapshot!("show-call", call.text());
    assert_snapshot!(
        "show-child",
        sandbox
            .run(&["show", &id("child-run-started", "")])
            .exits(0)
            .text()
    );
    assert_snapshot!(
        "show-run",
        sandbox
            .run(&["show", &id("model-run-started", "")])
            .exits(0)
            .text()
    );
}

/// Finds the assembly of the last request but so many.
pub(crate) fn assembly(sandbox: &Sandbox, before_last: usize) -> String {
    let json = sandbox.run(&["--json", "replay", "--all"]).exits(0).json();
    let requests = json["requests"].as_array().expect("requests");
    let row = &requests[requests.len() - 1 - before_last];
    row["assembly"].as_str().expect("an id").to_owned()
}

#[test]
fn explain_says_why_each_record_is_in_or_out() {
    let sandbox = Sandbox::replayed(HARBOUR);
    let id = assembly(&sandbox, 1);
    let short: String = id.chars().take("asm_".len() + 8).collect();
    let short = short.as_str();
    assert_snapshot!("explain", sandbox.run(&["explain", short]).exits(0).text());
    let json = sandbox.run(&["--json", "explain", short]).exits(0).json();
    assert_eq!(json["schema"], "foldback.explain/1");
    assert_eq!(json["assembly"], id);
    assert_eq!(json["reproduced"], true);
    let records = json["records"].as_array().expect("records");
    let out = records
        .iter()
        .rev()
        .find(|row| row["kind"] == "artifact" && row["presentation"].is_null())
        .expect("a result is out");
    let out = out["id"].as_str().expect("an id");
    assert_snapshot!(
        "explain-omitted",
        sandbox.run(&["explain", short, out]).exits(0).text()
    );
    let compact = records
        .iter()
        .find(|row| row["presentation"] == "compact")
        .expect("a memory is in");
    let position = format!("#{}", compact["position"]);
    let included = sandbox.run(&["explain", short, &position]).exits(0);
    assert_snapshot!("explain-included", included.text());
    assert!(
        included.stdout.contains("<- artifact"),
        "{}",
        included.text()
    );
    assert!(included.stdout.contains("<- run"), "{}", included.text());
}

#[test]
fn assemble_prints_the_request_of_either_provider() {
    let sandbox = Sandbox::replayed(NIGHT_TRAIN);
    let openai = sandbox.run(&["assemble"]).exits(0);
    let request: serde_json::Value = openai.json();
    assert_eq!(request["model"], "gpt-4o");
    assert_eq!(request["messages"][0]["role"], "system");
    assert!(openai.stderr.contains("assembled "), "{}", openai.text());
    let arguments = [
        "--json",
        "assemble",
        "--provider",
        "anthropic",
        "--model",
        "claude-sonnet-4-5",
    ];
    let report = sandbox.run(&arguments).exits(0).json();
    assert_eq!(report["schema"], "foldback.assemble/1");
    assert_eq!(report["request"]["model"], "claude-sonnet-4-5");
    assert!(report["request"]["system"].is_string() || report["request"]["system"].is_array());
    // The new assembly is recorded: it can be explained, and it verifies.
    let id = report["assembly"].as_str().expect("an id");
    sandbox.run(&["explain", id]).exits(0);
    let verified = sandbox.run(&["verify"]).exits(0);
    assert!(
        verified.stdout.contains("18 of 18 assemblies"),
        "{}",
        verified.text()
    );
}

#[test]
fn assemble_brings_exact_bytes_back() {
    let sandbox = Sandbox::replayed(HARBOUR);
    let id = assembly(&sandbox, 1);
    let json = sandbox.run(&["--json", "explain", &id]).exits(0).json();
    let records = json["records"].as_array().expect("records");
    let out = records
        .iter()
        .find(|row| row["kind"] == "artifact" && row["reason"] == "compacted")
        .expect("a result is out");
    let artifact = out["id"].as_str().expect("an id");
    let report = sandbox
        .run(&["--json", "assemble", "--exact", artifact])
        .exits(0)
        .json();
    let text = report["request"].to_string();
    assert!(text.contains("exact result of"), "{text}");
    assert!(
        text.contains("tide gauge north") || text.contains("berth"),
        "{text}"
    );
}

#[test]
fn policies_are_checked_and_shown() {
    let sandbox = Sandbox::new();
    let shown = sandbox.run(&["policy", "show"]).exits(0);
    sandbox.write("default.toml", &shown.stdout);
    let checked = sandbox.run(&["policy", "check", "default.toml"]).exits(0);
    assert!(
        checked.stdout.starts_with("valid: `default`, "),
        "{}",
        checked.text()
    );
    sandbox.write("typo.toml", shown.stdout.replace("effect = ", "effekt = "));
    let checked = sandbox.run(&["policy", "check", "typo.toml"]).exits(3);
    assert!(
        checked.stdout.contains("did you mean `effect`?"),
        "{}",
        checked.text()
    );
    let json = sandbox
        .run(&["--json", "policy", "check", "typo.toml"])
        .exits(3)
        .json();
    assert_eq!(json["schema"], "foldback.policy-check/1");
    assert_eq!(json["ok"], false);
    assert!(json["errors"][0]["line"].is_u64());
    let open = "schema = 1\nname = \"open\"\n[[gate]]\nid = \"all\"\neffect = \"permit\"\n";
    sandbox.write("open.toml", open);
    let checked = sandbox.run(&["policy", "check", "open.toml"]);
    assert_snapshot!("policy-check", checked.text());
    // The policy in force is the one that a replay was given.
    let replay = ["--json", "replay", NIGHT_TRAIN, "--policy", "default.toml"];
    sandbox.run(&replay).exits(0);
    let force = sandbox
        .run(&["policy", "show", "--conversation", "conv"])
        .exits(0);
    assert_eq!(force.stdout, shown.stdout);
}

#[test]
fn json_reports_carry_the_promised_keys() {
    let sandbox = Sandbox::new();
    let import = sandbox
        .run(&["--json", "import", NIGHT_TRAIN])
        .exits(0)
        .json();
    assert_eq!(import["schema"], "foldback.import/1");
    assert!(import["already_present"].is_u64());
    for key in [
        "id",
        "events",
        "messages",
        "tool_calls",
        "artifacts",
        "memories",
        "findings",
    ] {
        assert!(!import["conversations"][0][key].is_null(), "{key}");
    }
    let replay = sandbox
        .run(&["--format", "json", "replay", "--all"])
        .exits(0)
        .json();
    assert_eq!(replay["schema"], "foldback.replay/1");
    let keys = [
        "assembly",
        "position",
        "replay_tokens",
        "assembled_tokens",
        "included",
        "omitted",
    ];
    for key in keys {
        assert!(!replay["requests"][0][key].is_null(), "{key}");
    }
    for key in ["requests", "replay_tokens", "assembled_tokens"] {
        assert!(replay["totals"][key].is_u64(), "{key}");
    }
    let verify = sandbox.run(&["--json", "verify"]).exits(0).json();
    assert_eq!(verify["ok"], true);
    for key in ["events", "payloads", "assemblies", "reproduced"] {
        assert!(verify[key].is_u64(), "{key}");
    }
    assert_eq!(verify["problems"], serde_json::json!([]));
    assert_eq!(replay["verified"]["events"], verify["events"]);
}

#[test]
fn answers_for_people_fit_sixty_columns() {
    let sandbox = Sandbox::replayed(HARBOUR);
    let id = assembly(&sandbox, 1);
    for arguments in [
        vec!["conversations"],
        vec!["log"],
        vec!["explain", &id],
        vec!["import", HARBOUR],
    ] {
        let ran = sandbox.run(&arguments).exits(0);
        for line in ran.stdout.lines() {
            assert!(
                line.chars().count() <= 60,
                "{} columns: {line}",
                line.chars().count()
            );
        }
    }
}

#[test]
fn colour_is_for_terminals_and_for_those_who_ask() {
    let sandbox = Sandbox::replayed(NIGHT_TRAIN);
    let plain = sandbox.run(&["verify"]).exits(0);
    assert!(!plain.stdout.contains('\u{1b}'));
    let coloured = sandbox.run(&["--color", "always", "verify"]).exits(0);
    assert!(
        coloured.stdout.contains("\u{1b}[32mverified:"),
        "{}",
        coloured.text()
    );
}

#[test]
fn the_environment_names_the_store_and_the_key() {
    let sandbox = Sandbox::new();
    let key = "0123456789abcdef".repeat(4);
    let environment = [
        ("FOLDBACK_STORE", "elsewhere"),
        ("FOLDBACK_MASTER_KEY", key.as_str()),
    ];
    sandbox
        .run_with(&["import", NIGHT_TRAIN], &environment)
        .exits(0);
    assert!(sandbox.path("elsewhere/STORE").exists());
    assert!(!sandbox.path(".foldback").exists());
    let read = sandbox.run_with(&["transcript"], &environment).exits(0);
    assert!(read.stdout.contains("Ines Okafor"));
    let wrong = [
        ("FOLDBACK_STORE", "elsewhere"),
        ("FOLDBACK_MASTER_KEY", &"f".repeat(64)),
    ];
    let wrong = sandbox.run_with(&["transcript"], &wrong).exits(1);
    assert!(!wrong.stdout.contains("Ines Okafor"), "{}", wrong.text());
    assert!(wrong.stderr.contains("does not open"), "{}", wrong.text());
    let log = ("FOLDBACK_LOG", "foldback_store=trace");
    let trace = [environment[0], environment[1], log];
    let trace = sandbox.run_with(&["conversations"], &trace).exits(0);
    assert!(trace.stderr.contains("foldback_store"), "{}", trace.text());
}

#[test]
fn quiet_leaves_the_answer_alone() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["-q", "replay", NIGHT_TRAIN]).exits(0);
    assert_eq!(ran.stderr, "");
    assert!(ran.stdout.contains("verified: "), "{}", ran.text());
}
