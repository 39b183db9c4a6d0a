//! Calls that go on as tasks.

use serde_json::{Value, json};

use super::{Modern, accepted};
use crate::gate::{ADMIN, AGENT, NewCaller, OTHER_USER, TestGate};

fn tasks() -> Value {
    json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } })
}

#[tokio::test]
async fn a_call_that_waits_is_a_task_of_its_owner() {
    let gate = TestGate::start().await;
    let client = Modern::new(&gate, AGENT).can(tasks());
    let made = client.call("fixture__transfer", json!({ "amount": 5, "to": "ada" })).await;
    let task = made.result();
    assert_eq!((&task["resultType"], &task["status"]), (&json!("task"), &json!("working")), "{task}");
    let id = task["taskId"].as_str().unwrap();
    let got = client.send("tasks/get", json!({ "taskId": id })).await;
    assert_eq!(got.result()["status"], "working");
    assert!(got.result()["statusMessage"].as_str().unwrap().contains("/approvals?id=inv_"));
    for (key, what) in [(OTHER_USER, "another"), (ADMIN, "the administrator, who may see the call")] {
        let other = Modern::new(&gate, key).can(tasks());
        for method in ["tasks/get", "tasks/cancel"] {
            let refused = other.send(method, json!({ "taskId": id })).await;
            assert_eq!(refused.error(), (200, -32602, "not_found"), "{method} by {what}");
        }
    }
    let without = Modern::new(&gate, AGENT).send("tasks/get", json!({ "taskId": id })).await;
    assert_eq!(without.error().0, 400);
    assert_eq!(without.error().1, -32021);
    let (status, ran) = gate.post(&format!("/api/v1/invocations/{id}/approve"), json!({})).await;
    assert_eq!(status, 200, "{ran}");
    let done = client.send("tasks/get", json!({ "taskId": id })).await;
    assert_eq!(done.result()["status"], "completed", "{}", done.last());
    assert_eq!(done.result()["result"]["structuredContent"]["amount"], 5);
    gate.verify().await;
}

#[tokio::test]
async fn a_person_decides_on_their_task_and_cancels_another() {
    let gate = TestGate::start().await;
    let roles = &["approver"];
    let ada = NewCaller { tenant: "default", principal: "user:ada", roles, ..NewCaller::default() };
    let ada = gate.caller(ada).await;
    let both = json!({ "elicitation": { "form": {} }, "extensions": tasks()["extensions"] });
    // Made by a client that could only be handed a task, answered by one that can show forms.
    let client = Modern::new(&gate, &ada).can(tasks());
    let id = |answer: &super::Answer| answer.result()["taskId"].as_str().unwrap().to_owned();
    let first = id(&client.call("fixture__transfer", json!({ "amount": 5, "to": "ada" })).await);
    let second = id(&client.call("fixture__transfer", json!({ "amount": 6, "to": "ada" })).await);
    let client = Modern::new(&gate, &ada).can(both);
    let got = client.send("tasks/get", json!({ "taskId": first })).await;
    assert_eq!(got.result()["status"], "input_required", "{}", got.last());
    let asked = got.result()["inputRequests"].as_object().unwrap();
    let key = asked.keys().next().unwrap().clone();
    let update = |id: &str, key: &str, said: &str| json!({ "taskId": id, "inputResponses": { key: accepted(json!({ "decision": said })) } });
    let stray = client.send("tasks/update", update(&first, "decision-00000000", "approve")).await;
    assert_eq!(stray.result()["resultType"], "complete", "unknown keys are ignored");
    let crossed = client.send("tasks/update", update(&second, &key, "approve")).await;
    assert_eq!(crossed.result()["resultType"], "complete");
    assert_eq!(
        client.send("tasks/get", json!({ "taskId": second })).await.result()["status"],
        "input_required"
    );
    client.send("tasks/update", update(&first, &key, "approve")).await;
    loop {
        let got = client.send("tasks/get", json!({ "taskId": first })).await;
        match got.result()["status"].as_str().unwrap() {
            "working" => tokio::task::yield_now().await,
            "completed" => break assert_eq!(got.result()["result"]["structuredContent"]["amount"], 5),
            other => panic!("{other}"),
        }
    }
    let ack = client.send("tasks/cancel", json!({ "taskId": second })).await;
    assert_eq!(ack.result()["resultType"], "complete");
    assert_eq!(client.send("tasks/get", json!({ "taskId": second })).await.result()["status"], "cancelled");
    gate.verify().await;
}
