//! A worker that is stopped past its lease and goes on later does not overwrite an outcome.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_testkit::{CountingReceiver, Gate};

use crate::load::{MUTATE, READ};
use crate::{Engine, settle_and_verify, setup};

async fn wait_for(gate: &Gate, id: &str, fits: impl Fn(&Value) -> bool) -> Value {
    for _ in 0..300 {
        let (_, row) = gate.get(&format!("/api/v1/invocations/{id}")).await;
        if fits(&row) {
            return row;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let (_, row) = gate.get(&format!("/api/v1/invocations/{id}")).await;
    panic!("the call did not get there: {row}");
}

fn kinds(row: &Value) -> Vec<&str> {
    row["events"].as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap()).collect()
}

/// Begins a call on a gate that hangs in the receiver, and stops that gate.
async fn stopped_in_the_middle(tool: &str) -> (CountingReceiver, Gate, Gate, String) {
    let receiver = CountingReceiver::start().await;
    let setup = setup(Engine::Postgres, &receiver).await;
    let first = Gate::start(setup.clone()).await;
    let second = Gate::start(setup).await;
    receiver.hold(true);
    let body = json!({ "input": { "effect_id": "once" } });
    let (status, call) = first.post(&format!("/api/v1/tools/{tool}/invoke?wait=0"), &body).await;
    assert_eq!((status, &call["status"]), (202, &json!("running")), "{call}");
    receiver.arrived(1).await;
    first.signal("STOP");
    (receiver, first, second, call["call_id"].as_str().unwrap().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_write_does_not_overwrite_what_is_in_doubt() {
    let (receiver, first, second, id) = stopped_in_the_middle(MUTATE).await;
    let row = wait_for(&second, &id, |row| row["status"] == "in_doubt").await;
    assert_eq!(kinds(&row), ["tool.started", "tool.in_doubt"]);
    receiver.hold(false);
    first.signal("CONT");
    let row = wait_for(&second, &id, |row| kinds(row).len() == 3).await;
    assert_eq!(kinds(&row), ["tool.started", "tool.in_doubt", "tool.late_result"]);
    assert_eq!(row["status"], "in_doubt");
    assert_eq!(
        row["events"][2]["data"]["output"]["effect_id"], "once",
        "the late result is kept for the person"
    );
    assert_eq!(receiver.counts()["once"], 1);

    // A person who looked settles it, and the effect still happened once.
    let (status, settled) =
        second.post(&format!("/api/v1/invocations/{id}/settle"), &json!({ "outcome": "done" })).await;
    assert_eq!((status, &settled["status"]), (200, &json!("completed")), "{settled}");
    settle_and_verify(&second).await;
    assert_eq!(receiver.counts()["once"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_read_does_not_overwrite_the_second_try() {
    let (receiver, first, second, id) = stopped_in_the_middle(READ).await;
    // The second gate takes the read over and runs it again.
    receiver.arrived(2).await;
    receiver.hold(false);
    let row = wait_for(&second, &id, |row| row["status"] == "completed").await;
    assert_eq!(row["attempt"], 2);
    first.signal("CONT");
    let row = wait_for(&second, &id, |row| kinds(row).len() == 4).await;
    assert_eq!(kinds(&row), ["tool.started", "tool.started", "tool.completed", "tool.late_result"]);
    assert_eq!((&row["status"], &row["attempt"]), (&json!("completed"), &json!(2)));
    settle_and_verify(&second).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_cancelled_from_another_node() {
    let receiver = CountingReceiver::start().await;
    let setup = setup(Engine::Postgres, &receiver).await;
    let first = Gate::start(setup.clone()).await;
    let second = Gate::start(setup).await;
    let body = json!({ "input": { "milliseconds": 60_000 } });
    let (_, call) = first.post("/api/v1/tools/fixture__slow_read/invoke?wait=0", &body).await;
    let id = call["call_id"].as_str().unwrap();
    let (status, _) = second.send("POST", &format!("/api/v1/invocations/{id}/cancel"), None, &[]).await;
    assert_eq!(status, 200);
    let row = wait_for(&second, id, |row| row["status"] == "cancelled").await;
    assert_eq!(kinds(&row), ["tool.started", "tool.cancel_requested", "tool.cancelled"]);
}

/// A call that is alive and reports keeps its lease, however long it takes.
#[tokio::test(flavor = "multi_thread")]
async fn a_long_write_that_reports_is_not_taken_for_dead() {
    let receiver = CountingReceiver::start().await;
    let setup = setup(Engine::Postgres, &receiver).await;
    let first = Gate::start(setup.clone()).await;
    let second = Gate::start(setup).await;
    let input = json!({ "milliseconds": 4_000, "reports": 40 });
    let (status, call) = first.invoke("fixture__slow_mutate", input, &[]).await;
    assert_eq!((status, &call["status"]), (200, &json!("completed")), "{call}");
    settle_and_verify(&second).await;
}

/// What someone wants stopped is not begun again by the next worker.
#[tokio::test(flavor = "multi_thread")]
async fn a_read_that_was_cancelled_is_not_taken_up_again() {
    let (receiver, first, second, id) = stopped_in_the_middle(READ).await;
    let (status, _) = second.send("POST", &format!("/api/v1/invocations/{id}/cancel"), None, &[]).await;
    assert_eq!(status, 200);
    let row = wait_for(&second, &id, |row| row["status"] == "cancelled").await;
    assert_eq!(kinds(&row), ["tool.started", "tool.cancel_requested", "tool.cancelled"]);
    assert_eq!(receiver.counts()["once"], 1);
    drop(first);
}
