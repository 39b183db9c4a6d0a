//! The record: check it, export it, and see that a change shows.

use serde_json::Value;

use crate::gate::{Gate, finish, serve, toolgate};
use crate::shown;

fn with_calls() -> Gate {
    let gate = serve(&[], &[]);
    gate.ok(&["tool", "invoke", "core__get_current_time"]);
    gate.run(&["tool", "invoke", "fixture__misbehave", "--how", "fail"]);
    gate
}

/// Changes the record behind the gate's back.
fn tamper(gate: &Gate, statements: &str) {
    let connection = rusqlite::Connection::open(gate.data().join("toolgate.db")).unwrap();
    connection.execute_batch(statements).unwrap();
}

#[test]
fn an_untouched_record_verifies_with_and_without_a_server() {
    let mut gate = with_calls();
    let data = gate.data().to_str().unwrap().to_owned();
    shown::run(&gate, "audit_verify", &["audit", "verify"]);
    let report: Value = serde_json::from_str(&gate.ok(&["audit", "verify", "--json"])).unwrap();
    assert_eq!(report["ok"], true);
    // Beside the running gate, then without it.
    gate.ok(&["audit", "verify", "--data", &data]);
    assert!(gate.stop().success());
    let ran = gate.run(&["audit", "verify", "--data", &data]);
    shown::check("audit_verify_offline", "audit verify --data [data]", &ran);
    let mut command = toolgate();
    command.args(["audit", "verify", "--store-from-env", "--json"]).env("TOOLGATE_DATA", &data);
    let report: Value = serde_json::from_str(&finish(command, "").stdout).unwrap();
    assert_eq!(report["ok"], true);
}

#[test]
fn a_changed_event_is_named() {
    let mut gate = with_calls();
    let data = gate.data().to_str().unwrap().to_owned();
    gate.stop();
    tamper(
        &gate,
        "DROP TRIGGER events_no_update;
         UPDATE events SET data = replace(data, 'UTC', 'CET') WHERE kind = 'tool.completed';",
    );
    let ran = gate.run(&["audit", "verify", "--data", &data]);
    shown::check("audit_verify_changed", "audit verify --data [data]", &ran);
    let ran = gate.run(&["audit", "verify", "--data", &data, "--json"]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code, &report["ok"], &report["first_broken"]["seq"]), (1, &false.into(), &2.into()));
    // The gate itself finds the same.
    gate.restart();
    shown::run(&gate, "audit_verify_changed_online", &["audit", "verify"]);
}

#[test]
fn a_removed_session_is_missed() {
    let mut gate = with_calls();
    let data = gate.data().to_str().unwrap().to_owned();
    // Stopping anchors the record.
    gate.stop();
    tamper(
        &gate,
        "DROP TRIGGER events_no_delete; DROP TRIGGER invocations_no_delete;
         DELETE FROM events WHERE session_id = (SELECT min(session_id) FROM events);
         DELETE FROM invocations WHERE id = (SELECT min(id) FROM invocations);
         DELETE FROM sessions WHERE id = (SELECT min(id) FROM sessions);",
    );
    let ran = gate.run(&["audit", "verify", "--data", &data]);
    shown::check("audit_verify_removed", "audit verify --data [data]", &ran);
}

#[test]
fn a_removed_call_is_missed() {
    let mut gate = with_calls();
    let data = gate.data().to_str().unwrap().to_owned();
    gate.stop();
    tamper(
        &gate,
        "DROP TRIGGER invocations_no_delete;
         DELETE FROM invocations WHERE id = (SELECT min(id) FROM invocations);",
    );
    let ran = gate.run(&["audit", "verify", "--data", &data]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(format!("{ran:?}").contains("the row of this call was removed"), "{ran:?}");
}

#[test]
fn a_record_on_postgres_verifies_without_a_server() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let database = runtime.block_on(toolgate_testkit::shared_postgres().create_database());
    let mut gate = serve(&["--database-url", &database], &[]);
    gate.ok(&["tool", "invoke", "core__get_current_time"]);
    gate.ok(&["doctor", "--database-url", &database]);
    gate.ok(&["audit", "verify"]);
    assert!(gate.stop().success());
    let mut command = toolgate();
    command.args(["audit", "verify", "--store-from-env"]).env("TOOLGATE_DATABASE_URL", &database);
    let ran = finish(command, "");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains("invocations  1"), "{ran:?}");
}

#[test]
fn a_store_that_is_not_there_is_said_so() {
    let folder = tempfile::TempDir::new().unwrap();
    let mut command = toolgate();
    command.args(["audit", "verify", "--data"]).arg(folder.path().join("none"));
    shown::check("audit_verify_no_store", "audit verify --data [data]/none", &finish(command, ""));
}

#[test]
fn the_record_is_exported_line_by_line() {
    let gate = with_calls();
    let ran = gate.run(&["audit", "export"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, "5 events\n"));
    for line in ran.stdout.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        assert!(event["hash"].as_str().is_some_and(|hash| hash.len() == 64));
    }
    let file = gate.data().join("audit.jsonl");
    let path = file.to_str().unwrap();
    gate.ok(&["audit", "export", "--output", path]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), ran.stdout);
    shown::check(
        "audit_export_again",
        "audit export --output [file]",
        &gate.run(&["audit", "export", "-o", path]),
    );
}

#[test]
fn the_record_is_listed_and_narrowed() {
    let gate = with_calls();
    shown::run(&gate, "audit_list", &["audit", "list", "--type", "tool.failed", "--type", "tool.started"]);
    let listed: Value = serde_json::from_str(&gate.ok(&["audit", "list", "--all", "--json"])).unwrap();
    let exported = gate.ok(&["audit", "export"]);
    assert_eq!(listed["events"].as_array().unwrap().len(), exported.lines().count());
    let failed =
        gate.ok(&["audit", "list", "--type", "tool.failed", "--tool", "fixture__misbehave", "--json"]);
    let failed: Value = serde_json::from_str(&failed).unwrap();
    assert_eq!(failed["events"].as_array().unwrap().len(), 1);
    let ran = gate.run(&["audit", "list", "--actor", "user:nobody"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", "no event fits\n"));
    shown::run(&gate, "audit_list_unknown_type", &["audit", "list", "--type", "nothing"]);
}

#[test]
fn the_record_is_followed_until_the_reader_goes() {
    use std::io::{BufRead, BufReader};
    let gate = with_calls();
    let mut follower = toolgate()
        .args(["audit", "list", "--type", "admin.", "--limit", "1", "--follow", "--json"])
        .env("TOOLGATE_URL", &gate.url)
        .env("TOOLGATE_KEY", &gate.key)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(follower.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    gate.ok(&["role", "set", "seen", "--description", "as it came"]);
    let came: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(came["data"]["name"], "seen");
    follower.kill().unwrap();
    follower.wait().unwrap();
}
