//! Tools: list, show, call.

use serde_json::Value;

use crate::gate::{finish, serve, toolgate};
use crate::shown;

#[test]
fn tools_are_listed_and_shown() {
    let gate = serve(&[], &[]);
    shown::run(&gate, "tool_list", &["tool", "list"]);
    shown::run(&gate, "tool_show", &["tool", "show", "core__get_current_time"]);
    shown::run(&gate, "tool_show_nested", &["tool", "show", "core__quick_score"]);
    shown::run(&gate, "tool_show_unknown", &["tool", "show", "core__nothing"]);
    let list: Value = serde_json::from_str(&gate.ok(&["tool", "list", "--json"])).unwrap();
    assert!(list["tools"].as_array().unwrap().iter().any(|tool| tool["id"] == "core__get_current_time"));
    let tool: Value =
        serde_json::from_str(&gate.ok(&["--json", "tool", "show", "core__quick_score"])).unwrap();
    assert_eq!(tool["input_schema"]["type"], "object");
}

#[test]
fn long_lists_are_paged_through() {
    let gate = serve(&["--fixture-copies", "450"], &[]);
    let list: Value = serde_json::from_str(&gate.ok(&["tool", "list", "--json"])).unwrap();
    assert!(list["tools"].as_array().unwrap().len() > 450);
    assert!(gate.ok(&["tool", "list"]).contains("fixture__copy_449"));
}

#[test]
fn a_call_takes_flags_from_the_schema() {
    let gate = serve(&[], &[]);
    let clock = "core__get_current_time";
    shown::run(&gate, "invoke", &["tool", "invoke", clock]);
    shown::run(&gate, "invoke_flag", &["tool", "invoke", clock, "--timezone", "etc/utc", "--quiet"]);
    shown::run(&gate, "invoke_help", &["tool", "invoke", clock, "--help"]);
    shown::run(&gate, "invoke_help_choices", &["tool", "invoke", "fixture__misbehave", "-h"]);
    shown::run(&gate, "invoke_json", &["tool", "invoke", clock, "--json"]);
    shown::run(&gate, "invoke_verbose", &["-v", "tool", "invoke", clock, "-q"]);
    shown::run(
        &gate,
        "invoke_dry_run",
        &["tool", "invoke", clock, "--timezone=UTC", "--session", "s", "--dry-run"],
    );
    let json: Value = serde_json::from_str(&gate.ok(&["--json", "tool", "invoke", clock])).unwrap();
    assert_eq!(json["value"]["timezone"], "UTC");
}

#[test]
fn the_address_may_stand_behind_the_id() {
    let gate = serve(&[], &[]);
    let mut command = toolgate();
    command.args(["tool", "invoke", "core__get_current_time", "--url", &gate.url, "--timezone", "UTC"]);
    command.env("TOOLGATE_KEY", &gate.key);
    assert_eq!(finish(command, "").code, 0);
}

#[test]
fn results_are_drawn_as_their_sections_say() {
    let gate = serve(&[], &[]);
    let years = r#"[{"benefit": 700}]"#;
    let roi = ["tool", "invoke", "core__calculate_roi", "--initial-cost", "1000", "--years", years];
    shown::run(&gate, "invoke_sections", &[&roi[..], &["--horizon-years", "3"]].concat());
}

#[test]
fn input_comes_as_text_file_or_stdin_and_flags_win() {
    let gate = serve(&[], &[]);
    let invoke = |input: &str, more: &[&str], stdin: &str| {
        let args = [&["tool", "invoke", "fixture__slow_read", "--json", "--input", input], more].concat();
        let ran = gate.run_with(&args, stdin);
        serde_json::from_str::<Value>(&ran.stdout).unwrap_or_default()["value"]["milliseconds"].clone()
    };
    let path = gate.data().join("input.json");
    std::fs::write(&path, r#"{"milliseconds": 2}"#).unwrap();
    assert_eq!(invoke(r#"{"milliseconds": 1}"#, &[], ""), 1);
    assert_eq!(invoke(&format!("@{}", path.display()), &[], ""), 2);
    assert_eq!(invoke("-", &[], r#"{"milliseconds": 3}"#), 3);
    assert_eq!(invoke("-", &["--milliseconds", "4"], r#"{"milliseconds": 3}"#), 4);
    shown::run(&gate, "invoke_input_not_json", &["tool", "invoke", "fixture__slow_read", "--input", "{"]);
    shown::run(&gate, "invoke_input_not_object", &["tool", "invoke", "fixture__slow_read", "--input", "[]"]);
    shown::run(&gate, "invoke_input_no_file", &["tool", "invoke", "fixture__slow_read", "--input", "@/none"]);
}

#[test]
fn a_repeat_with_the_same_key_is_the_first_call() {
    let gate = serve(&[], &[]);
    let args = ["tool", "invoke", "core__get_current_time", "--idempotency-key", "k1", "--json"];
    let id = |text: String| serde_json::from_str::<Value>(&text).unwrap()["call_id"].clone();
    assert_eq!(id(gate.ok(&args)), id(gate.ok(&args)));
    shown::run(&gate, "invoke_key_reused", &[&args[..5], &["--timezone", "Europe/Berlin"]].concat());
}

#[test]
fn what_is_wrong_is_said_with_a_hint() {
    let gate = serve(&[], &[]);
    shown::run(&gate, "invoke_missing_flag", &["tool", "invoke", "fixture__slow_read"]);
    shown::run(&gate, "invoke_unknown_flag", &["tool", "invoke", "fixture__slow_read", "--speed", "1"]);
    shown::run(&gate, "invoke_wrong_choice", &["tool", "invoke", "fixture__misbehave", "--how", "well"]);
    shown::run(&gate, "invoke_wrong_wait", &["tool", "invoke", "fixture__misbehave", "--wait", "long"]);
    shown::run(&gate, "invoke_no_id", &["tool", "invoke", "--speed", "1"]);
    shown::run(&gate, "invoke_invalid", &["tool", "invoke", "core__get_current_time", "--timezone="]);
    shown::run(
        &gate,
        "invoke_invalid_twice",
        &["tool", "invoke", "fixture__slow_read", "--input", r#"{"a":1}"#],
    );
    shown::run(&gate, "invoke_failed", &["tool", "invoke", "fixture__misbehave", "--how", "fail"]);
    shown::run(
        &gate,
        "invoke_failed_json",
        &["tool", "invoke", "fixture__misbehave", "--how", "fail", "--json"],
    );
    shown::run(&gate, "invoke_unknown_tool", &["tool", "invoke", "core__nothing", "--x", "1"]);
    shown::run(&gate, "invoke_unknown_tool_help", &["tool", "invoke", "core__nothing", "--help"]);
    shown::run(
        &gate,
        "invoke_unknown_session",
        &["tool", "invoke", "core__get_current_time", "--session", "ses_1"],
    );
}

#[test]
fn a_denial_has_its_own_exit_code() {
    let folder = tempfile::TempDir::new().unwrap();
    let (config, policies) = (folder.path().join("toolgate.toml"), folder.path().join("policies.cedar"));
    let text = r#"
        @id("all may look") permit (principal, action == Toolgate::Action::"see", resource);
        @id("reads run") permit (principal, action, resource is Toolgate::Tool) when { resource.effect == "read" };
        @id("nothing is destroyed") forbid (principal, action == Toolgate::Action::"call", resource)
        when { resource.effect == "destructive" };"#;
    std::fs::write(&policies, text).unwrap();
    std::fs::write(&config, format!("[policy]\ndefault_file = {:?}\n", policies.display().to_string()))
        .unwrap();
    let mut gate = serve(&["--config", config.to_str().unwrap()], &[]);
    shown::run(&gate, "invoke_denied", &["tool", "invoke", "fixture__destroy", "--effect-id", "x"]);
    shown::run(&gate, "invoke_denied_by_default", &["tool", "invoke", "fixture__mutate", "--effect-id", "x"]);
    shown::run(&gate, "invoke_internal", &["tool", "invoke", "fixture__internal", "--how", "nothing"]);
    shown::run(
        &gate,
        "invoke_denied_json",
        &["tool", "invoke", "fixture__destroy", "--effect-id", "x", "--json"],
    );
    gate.key = "not-a-key-that-anyone-ever-made-here".to_owned();
    shown::run(&gate, "unknown_key", &["tool", "list"]);
    shown::run(&gate, "unknown_key_json", &["tool", "list", "--json"]);
    gate.key = String::new();
    shown::run(&gate, "no_key", &["tool", "list"]);
    gate.key = "two\nlines".to_owned();
    shown::run(&gate, "bad_key", &["tool", "list"]);
}

#[test]
fn what_waits_for_an_answer_says_where_it_is_given() {
    let gate = serve(&[], &[]);
    shown::run(
        &gate,
        "invoke_request_input",
        &[
            "tool",
            "invoke",
            "core__request_input",
            "--input",
            r#"{"title":"Ship it?","approve":{"statement":"Now?"}}"#,
        ],
    );
    shown::run(
        &gate,
        "invoke_handed_on",
        &["tool", "invoke", "fixture__ask_service", "--question", "how many?"],
    );
}

#[test]
fn the_key_may_come_by_stdin() {
    let gate = serve(&[], &[]);
    let run = |args: &[&str]| {
        let mut command = toolgate();
        command.args(args).args(["--key-stdin", "--url", &gate.url]);
        finish(command, &format!("{}\n", gate.key))
    };
    assert_eq!(run(&["tool", "list"]).code, 0);
    assert_eq!(run(&["tool", "invoke", "core__get_current_time"]).code, 0);
    let both = ["tool", "invoke", "core__get_current_time", "--input", "-"];
    shown::check("key_and_input_by_stdin", &both.join(" "), &run(&both));
}

#[test]
fn a_gate_that_is_not_there_is_said_so() {
    let mut gate = serve(&[], &[]);
    gate.kill();
    shown::run(&gate, "unreachable", &["tool", "list"]);
    gate.url = "127.0.0.1:8787".to_owned();
    shown::run(&gate, "bad_address", &["tool", "list"]);
}

#[test]
fn a_reader_that_goes_away_is_no_trouble() {
    let gate = serve(&[], &[]);
    let mut command = toolgate();
    command.args(["tool", "list"]).env("TOOLGATE_URL", &gate.url).env("TOOLGATE_KEY", &gate.key);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = command.stdout(writer).stderr(std::process::Stdio::piped()).output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}
