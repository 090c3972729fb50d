//! Output of programs, logs, errors, and bytes that are no text.

use crate::extract::{Case, show};
use foldback_event::MediaType;

fn text(result: &str, failed: bool) -> String {
    show(&Case {
        result: result.as_bytes(),
        failed,
        ..Case::default()
    })
}

#[test]
fn test_output_keeps_results_and_failures() {
    let mut result = "   Compiling ledger v0.3.1 (/srv/ledger)\n    Finished test profile in 4.18s\n\
        \x20    Running tests/it/main.rs (target/debug/deps/it-9d2f61a0c4b7e813)\n\nrunning 62 tests\n"
        .to_owned();
    for n in 0..60_u32 {
        result.extend([format!("test balance::case_{n} ... ok\n")]);
    }
    result += "test rules::rounding_is_even ... FAILED\ntest rules::limits_hold ... FAILED\n\nfailures:\n\n\
        ---- rules::rounding_is_even stdout ----\n\
        thread 'rules::rounding_is_even' panicked at crates/ledger/src/rules.rs:118:9:\n\
        assertion `left == right` failed\n  left: 1250\n right: 1251\n\n\
        test result: FAILED. 60 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n\n\
        error: test failed, to rerun pass `-p ledger --test it`\n";
    insta::assert_snapshot!(text(&result, true), @r"
    error 1 | condensed | text | session
    subject -
    omitted 65 lines
    refs /srv/ledger tests/it/main.rs crates/ledger/src/rules.rs:118:9
    fact error = test rules::rounding_is_even ... FAILED
    ---
    79 lines, 2293 bytes, 6 errors
    Compiling ledger v0.3.1 (/srv/ledger)
    Finished test profile in 4.18s
    … test rules::rounding_is_even ... FAILED
    test rules::limits_hold ... FAILED
    … failures:
    … thread 'rules::rounding_is_even' panicked at crates/ledger/src/rules.rs:118:9:
    assertion `left == right` failed
    … test result: FAILED. 60 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out
    … error: test failed, to rerun pass `-p ledger --test it`
    tests/it/main.rs balance::case_0 balance::case_1 balance::case_2 balance::case_3 balance::case_4 balance::case_5 balance::case_6 balance::case_7 balance::case_8 balance::case_9 balance::case_10 balance::case_11 balance::case_12 balance::case_13 balance::case_14 balance::case_15 balance::case_16 balance::case_17 balance::case_18 balance::case_19 balance::case_20 balance::case_21 balance::case_22 balance::case_23
    ");
    // What says whether it failed stands in the text too: told or not, it reads the same.
    let told = Case {
        result: result.as_bytes(),
        failed: true,
        ..Case::default()
    }
    .run();
    let untold = Case {
        result: result.as_bytes(),
        ..Case::default()
    }
    .run();
    assert_eq!((told.extractor, untold.extractor), ("error", "log"));
    assert_eq!(told.summary, untold.summary);
}

#[test]
fn a_server_log_keeps_errors_and_its_end() {
    let mut result = String::new();
    for n in 0..80_u32 {
        result.extend([format!(
            "2025-03-04T09:{n:02}:11Z INFO request id=req_{n} path=/v1/orders status=200\n"
        )]);
        if n == 41 {
            result += "2025-03-04T09:41:12Z ERROR pool exhausted db=orders-eu max=20 trace=5f2e9c1ab77d\n";
        }
    }
    insta::assert_snapshot!(text(&result, false), @r"
    log 1 | condensed | log | session
    subject -
    omitted 77 lines
    refs /v1/orders
    ---
    81 lines, 5751 bytes, 1 errors
    2025-03-04T09:00:11Z INFO request id=req_0 path=/v1/orders status=200
    … 2025-03-04T09:41:12Z ERROR pool exhausted db=orders-eu max=20 trace=5f2e9c1ab77d
    … 2025-03-04T09:78:11Z INFO request id=req_78 path=/v1/orders status=200
    2025-03-04T09:79:11Z INFO request id=req_79 path=/v1/orders status=200
    req_1 req_2 req_3 req_4 req_5 req_6 req_8 req_9 req_10 req_11 req_12 req_13 req_14 req_15 req_16 req_17 req_18 req_19 req_20 req_21 req_22 req_23 req_24 req_25
    ");
}

#[test]
fn a_short_error_stands_whole() {
    insta::assert_snapshot!(text("Error: payment amount does not add up, total price is 1203, but paid 833", true), @r"
    error 1 | lossless | text | session
    subject -
    fact error = Error: payment amount does not add up, total price is 1203, but paid 833
    ---
    Error: payment amount does not add up, total price is 1203, but paid 833
    ");
}

#[test]
fn a_stack_trace_keeps_message_places_and_end() {
    let mut result = "Traceback (most recent call last):\n".to_owned();
    for n in 0..24_u32 {
        result.extend([format!(
            "  File \"/srv/app/handlers/step_{n}.py\", line {}, in handle_{n}\n    return next_step(request, depth={n})\n",
            n * 11 + 5
        )]);
    }
    result += "ValueError: order ord_77120 has no shipping address (customer cus_9911)\n";
    insta::assert_snapshot!(text(&result, true), @r#"
    error 1 | condensed | text | session
    subject -
    omitted 39 lines
    refs /srv/app/handlers/step_0.py /srv/app/handlers/step_1.py /srv/app/handlers/step_2.py /srv/app/handlers/step_3.py /srv/app/handlers/step_4.py /srv/app/handlers/step_5.py /srv/app/handlers/step_6.py /srv/app/handlers/step_7.py /srv/app/handlers/step_8.py /srv/app/handlers/step_9.py /srv/app/handlers/step_10.py /srv/app/handlers/step_11.py /srv/app/handlers/step_12.py /srv/app/handlers/step_13.py /srv/app/handlers/step_14.py /srv/app/handlers/step_15.py /srv/app/handlers/step_16.py /srv/app/handlers/step_17.py /srv/app/handlers/step_18.py /srv/app/handlers/step_19.py /srv/app/handlers/step_20.py /srv/app/handlers/step_21.py /srv/app/handlers/step_22.py /srv/app/handlers/step_23.py
    fact error = ValueError: order ord_77120 has no shipping address (customer cus_9911)
    ---
    Traceback (most recent call last):
      File "/srv/app/handlers/step_0.py", line 5, in handle_0
        return next_step(request, depth=0)
      File "/srv/app/handlers/step_1.py", line 16, in handle_1
        return next_step(request, depth=1)
      File "/srv/app/handlers/step_2.py", line 27, in handle_2
        return next_step(request, depth=2)
      File "/srv/app/handlers/step_3.py", line 38, in handle_3
    … 39 lines more
    at /srv/app/handlers/step_4.py /srv/app/handlers/step_5.py /srv/app/handlers/step_6.py /srv/app/handlers/step_7.py /srv/app/handlers/step_8.py
    File "/srv/app/handlers/step_23.py", line 258, in handle_23
    return next_step(request, depth=23)
    ValueError: order ord_77120 has no shipping address (customer cus_9911)
    /srv/app/handlers/step_9.py /srv/app/handlers/step_10.py /srv/app/handlers/step_11.py /srv/app/handlers/step_12.py handle_4 handle_5 handle_6 handle_7 handle_8 handle_9
    "#);
}

#[test]
fn terminal_codes_and_borders_are_no_content() {
    let out = Case {
        result: b"\x1b[1G\x1b[0K\xe2\xa0\x99\x1b[1G\x1b[0K\x1b[32mok\x1b[0m 12 files\r\nspin 1\rspin 2\rdone\n",
        ..Case::default()
    }
    .run();
    assert_eq!(out.summary, "\u{2819}ok 12 files\ndone");
}

#[test]
fn bytes_that_are_no_text_are_named_and_measured() {
    let mut image = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    image.resize(48_213, 7);
    insta::assert_snapshot!(show(&Case { result: &image, ..Case::default() }), @r"
    binary 1 | condensed | image | durable
    subject -
    omitted 48213 bytes
    ---
    PNG image, 48 KB
    ");
    let encoded = "JVBERi0xLjQKJeLjz9MK".repeat(60);
    insta::assert_snapshot!(text(&encoded, false), @r"
    binary 1 | condensed | document | durable
    subject -
    omitted 1200 bytes
    ---
    PDF document in base64, 1200 bytes
    ");
}

#[test]
fn a_broken_character_is_counted() {
    let out = Case {
        result: b"caf\xe9 is open, table 12 is free today",
        ..Case::default()
    }
    .run();
    assert!(!out.lossless);
    assert_eq!(out.summary, "caf\u{fffd} is open, table 12 is free today");
    assert_eq!(
        out.omitted
            .iter()
            .map(|o| (o.what, o.count))
            .collect::<Vec<_>>(),
        [("broken-bytes", 1)]
    );
}

#[test]
fn an_empty_result_says_so() {
    for result in [&b""[..], b" \n\t\n"] {
        let out = Case {
            result,
            media: MediaType::Json,
            ..Case::default()
        }
        .run();
        assert_eq!((out.summary.as_str(), out.lossless), ("(empty)", true));
    }
}
