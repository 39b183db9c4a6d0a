//! Sessions and their live events.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::gate::{Gate, serve, toolgate};
use crate::shown;

fn invoke(gate: &Gate, session: &str) {
    let slow = ["tool", "invoke", "fixture__slow_read", "--milliseconds", "20", "--reports", "1"];
    gate.ok(&[&slow[..], &["--session", session]].concat());
}

#[test]
fn a_session_is_followed_to_its_end_so_far() {
    let gate = serve(&[], &[]);
    let session = gate.ok(&["session", "new"]);
    invoke(&gate, &session);
    gate.run(&["tool", "invoke", "fixture__misbehave", "--how", "fail", "--session", &session]);
    shown::run(&gate, "tail", &["session", "tail", &session, "--once"]);
    shown::run(&gate, "tail_after", &["session", "tail", &session, "--once", "--after", "3"]);
    shown::run(&gate, "tail_unknown", &["session", "tail", "ses_1", "--once"]);
    let lines = gate.ok(&["session", "tail", &session, "--once", "--json"]);
    let seqs: Vec<i64> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["seq"].as_i64().unwrap())
        .collect();
    assert_eq!(seqs, (1..=5).collect::<Vec<_>>());
    let new: Value = serde_json::from_str(&gate.ok(&["session", "new", "--json"])).unwrap();
    assert_eq!(new["owner"], "user:admin");
}

#[test]
fn a_broken_connection_is_picked_up_where_it_broke() {
    let mut gate = serve(&[], &[]);
    let session = gate.ok(&["session", "new"]);
    invoke(&gate, &session);
    let mut tail = toolgate()
        .args(["session", "tail", &session, "--json"])
        .env("TOOLGATE_URL", &gate.url)
        .env("TOOLGATE_KEY", &gate.key)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(tail.stdout.take().unwrap()).lines();
    let mut next =
        || serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap()["seq"].as_i64().unwrap();
    assert_eq!([next(), next(), next()], [1, 2, 3]);
    gate.kill();
    gate.restart();
    invoke(&gate, &session);
    assert_eq!([next(), next(), next()], [4, 5, 6]);
    tail.kill().unwrap();
    tail.wait().unwrap();
}
