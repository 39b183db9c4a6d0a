//! `toolgate doctor` on setups that work and on setups that do not.

use serde_json::Value;

use crate::gate::{finish, serve, toolgate};
use crate::shown;

#[test]
fn a_good_setup_passes() {
    let gate = serve(&[], &[]);
    let data = gate.data().to_str().unwrap().to_owned();
    shown::check("doctor", "doctor --data [data]", &gate.run(&["doctor", "--data", &data]));
    let report: Value = serde_json::from_str(&gate.ok(&["doctor", "--json"])).unwrap();
    assert_eq!(report["ok"], true);
}

#[test]
fn what_waits_for_a_person_is_a_warning() {
    let gate = serve(&[], &[]);
    gate.run(&["tool", "invoke", "fixture__always_ask", "--effect-id", "x"]);
    shown::run(&gate, "doctor_pending", &["doctor"]);
}

#[test]
fn a_wrong_key_fails() {
    let mut gate = serve(&[], &[]);
    gate.key = "not-a-key-that-anyone-ever-made-here".to_owned();
    shown::run(&gate, "doctor_wrong_key", &["doctor"]);
    gate.key = String::new();
    shown::run(&gate, "doctor_no_key", &["doctor"]);
}

#[test]
fn a_gate_that_is_not_there_fails() {
    let mut gate = serve(&[], &[]);
    gate.kill();
    shown::run(&gate, "doctor_unreachable", &["doctor"]);
    let ran = gate.run(&["doctor", "--json"]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code, &report["ok"]), (1, &false.into()));
}

#[test]
fn a_database_that_is_not_there_fails() {
    let gate = serve(&[], &[]);
    let mut command = toolgate();
    command.args(["doctor", "--database-url", "postgres://nobody@127.0.0.1:1/none"]);
    command.env("TOOLGATE_URL", &gate.url).env("TOOLGATE_KEY", &gate.key);
    let ran = finish(command, "");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stdout.contains("fail  store"), "{ran:?}");
}
