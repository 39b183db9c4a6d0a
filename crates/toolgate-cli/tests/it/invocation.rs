//! Calls: list, show, cancel, decide, settle.

use serde_json::Value;

use crate::gate::{Gate, serve};
use crate::shown;

/// A call that waits for a person.
fn ask(gate: &Gate, milliseconds: &str) -> String {
    let ran = gate.run(&["tool", "invoke", "fixture__slow_mutate", "--milliseconds", milliseconds]);
    assert_eq!(ran.code, 4, "{ran:?}");
    ran.stdout.trim().to_owned()
}

fn show(gate: &Gate, id: &str, more: &[&str]) -> Value {
    let args = [&["invocation", "show", id, "--json"], more].concat();
    serde_json::from_str(&gate.ok(&args)).unwrap()
}

#[test]
fn a_waiting_call_is_approved_and_runs() {
    let gate = serve(&[], &[]);
    shown::run(&gate, "invoke_pending", &["tool", "invoke", "fixture__slow_mutate", "--milliseconds", "1"]);
    shown::run(
        &gate,
        "invoke_pending_json",
        &["tool", "invoke", "fixture__slow_mutate", "--milliseconds", "1", "--json"],
    );
    let id = ask(&gate, "2");
    shown::run(&gate, "show_pending", &["invocation", "show", &id]);
    shown::run(&gate, "approve", &["invocation", "approve", &id, "--reason", "as agreed"]);
    shown::run(&gate, "approve_again", &["invocation", "approve", &id]);
    shown::run(&gate, "show_approved", &["invocation", "show", &id]);
}

#[test]
fn a_waiting_call_is_rejected() {
    let gate = serve(&[], &[]);
    let id = ask(&gate, "1");
    shown::run(&gate, "reject_without_reason", &["invocation", "reject", &id]);
    shown::run(&gate, "reject", &["invocation", "reject", &id, "--reason", "not today"]);
    shown::run(&gate, "show_rejected", &["invocation", "show", &id]);
    assert_eq!(show(&gate, &id, &[])["status"], "rejected");
}

#[test]
fn a_running_call_is_cancelled() {
    let gate = serve(&[], &[]);
    let slow = ["tool", "invoke", "fixture__slow_read", "--milliseconds", "600000", "--wait", "0"];
    let ran = shown::run(&gate, "invoke_without_waiting", &slow);
    let id = ran.stdout.trim();
    let ran = gate.run(&["invocation", "cancel", id, "--reason", "too slow", "--yes"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(show(&gate, id, &["--wait", "20"])["status"], "cancelled");
    shown::run(&gate, "show_cancelled", &["invocation", "show", id]);
    shown::run(&gate, "cancel_again", &["invocation", "cancel", id]);
    let id = ask(&gate, "1");
    shown::run(&gate, "cancel_pending", &["invocation", "cancel", &id]);
    let id = ask(&gate, "1");
    let cancelled = gate.ok(&["invocation", "cancel", &id, "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&cancelled).unwrap()["status"], "cancelled");
}

#[test]
fn a_call_in_doubt_is_settled() {
    let mut gate = serve(&[], &[]);
    let ids = ["600000", "599999", "5"].map(|milliseconds| ask(&gate, milliseconds));
    for id in &ids[..2] {
        assert_eq!(gate.ok(&["invocation", "approve", id, "--wait", "0"]), *id);
    }
    shown::run(&gate, "settle_too_early", &["invocation", "settle", &ids[2], "--outcome", "done"]);
    gate.kill();
    gate.restart();
    gate.wait_until("in doubt", || ids[..2].iter().all(|id| show(&gate, id, &[])["status"] == "in_doubt"));
    shown::run(&gate, "list_in_doubt", &["invocation", "list", "--status", "in_doubt"]);
    shown::run(&gate, "settle_failed", &["invocation", "settle", &ids[0], "--outcome", "failed", "--yes"]);
    assert_eq!(show(&gate, &ids[0], &[])["status"], "failed");
    shown::run(&gate, "settle_done", &["invocation", "settle", &ids[1], "--outcome", "done"]);
    assert_eq!(show(&gate, &ids[1], &[])["status"], "completed");
}

#[test]
fn calls_are_listed_by_what_one_asks_for() {
    let gate = serve(&[], &[]);
    shown::run(&gate, "list_empty", &["invocation", "list"]);
    let session = gate.ok(&["session", "new"]);
    gate.ok(&["tool", "invoke", "core__get_current_time", "--session", &session]);
    gate.ok(&["tool", "invoke", "core__get_current_time"]);
    gate.ok(&["tool", "invoke", "fixture__misbehave", "--how", "nothing"]);
    let count = |args: &[&str]| {
        let all = [&["invocation", "list", "--json"], args].concat();
        serde_json::from_str::<Value>(&gate.ok(&all)).unwrap()["invocations"].as_array().unwrap().len()
    };
    assert_eq!(count(&[]), 3);
    assert_eq!(count(&["--tool", "core__get_current_time"]), 2);
    assert_eq!(count(&["--session", &session]), 1);
    assert_eq!(count(&["--status", "failed"]), 0);
    assert_eq!(count(&["--actor", "user:admin"]), 3);
    assert_eq!(count(&["--actor", "agent:other"]), 0);
    assert_eq!(count(&["--since", "1h"]), 3);
    assert_eq!(count(&["--until", "1h"]), 0);
    assert_eq!(count(&["--limit", "2"]), 2);
    assert_eq!(count(&["--all"]), 3);
    shown::run(&gate, "list", &["invocation", "list"]);
    shown::run(&gate, "list_limited", &["invocation", "list", "--limit", "1"]);
    shown::run(&gate, "list_wrong_status", &["invocation", "list", "--status", "odd"]);
    shown::run(&gate, "list_wrong_moment", &["invocation", "list", "--since", "yesterday"]);
    shown::run(&gate, "show_unknown", &["invocation", "show", "inv_1"]);
}

#[test]
fn a_run_is_shown_by_a_link_and_taken_back() {
    let gate = serve(&[], &[]);
    let ran = gate.run(&["tool", "invoke", "core__get_current_time", "--json"]);
    let call: Value = serde_json::from_str(&ran.stdout).unwrap();
    let id = call["call_id"].as_str().unwrap();
    let ran = gate.run(&["invocation", "share", id, "--for", "2h"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains("/share/") && ran.stdout.trim().lines().count() == 1, "{ran:?}");
    assert!(ran.stderr.contains("toolgate invocation unshare shr_"), "{ran:?}");
    let listed = gate.ok(&["invocation", "shares", id]);
    let share = listed.split_whitespace().find(|word| word.starts_with("shr_")).unwrap().to_owned();
    gate.ok(&["invocation", "unshare", &share, "--yes"]);
    let ran = gate.run(&["invocation", "shares", id]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", "no link to this run works\n"));
    let ran = gate.run(&["invocation", "share", id, "--for", "40d"]);
    assert_eq!(ran.code, 1, "{ran:?}");
}

#[test]
fn a_new_address_is_made_for_whoever_is_to_answer() {
    let gate = serve(&[], &[]);
    let input = r#"{"title":"t","questions":[{"id":"name","label":"Your name"}]}"#;
    let ran = gate.run(&["tool", "invoke", "core__request_input", "--input", input, "--wait", "0", "--json"]);
    let call: Value = serde_json::from_str(&ran.stdout).unwrap();
    let id = call["call_id"].as_str().unwrap();
    gate.wait_until("waiting", || show(&gate, id, &[])["status"] == "waiting");
    let shown = gate.run(&["invocation", "show", id]);
    assert!(shown.stderr.contains(&format!("toolgate invocation links {id}")), "{shown:?}");
    let made = gate.run(&["invocation", "links", id]);
    assert_eq!(made.code, 0, "{made:?}");
    assert!(made.stdout.starts_with(&format!("{}/embed/v/", gate.url)), "{made:?}");
    assert!(made.stderr.contains("a person answers there, once"), "{made:?}");
    let again: Value = serde_json::from_str(&gate.ok(&["invocation", "links", id, "--json"])).unwrap();
    assert_ne!(again["share_url"].as_str().unwrap(), made.stdout.trim(), "each is its own");
}
