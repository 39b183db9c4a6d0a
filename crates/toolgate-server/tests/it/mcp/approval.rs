//! Calls that a person has to decide on, asked through their client.

use serde_json::{Value, json};

use super::{Legacy, Messages, Modern, accepted};
use crate::gate::{ADMIN, AGENT, NewCaller, TestGate};

fn form() -> Value {
    json!({ "elicitation": { "form": {} } })
}

fn transfer() -> Value {
    json!({ "amount": 70, "to": "ada" })
}

async fn person(gate: &TestGate) -> String {
    let roles = &["approver"];
    gate.caller(NewCaller { tenant: "default", principal: "user:ada", roles, ..NewCaller::default() }).await
}

/// Asks for the transfer and returns what the client got back.
async fn asked(client: &Modern<'_>) -> (Value, String) {
    let answer = client.call("fixture__transfer", transfer()).await;
    let result = answer.result();
    assert_eq!(result["resultType"], "input_required", "{result}");
    let request = result["inputRequests"]["decision"].clone();
    (request, result["requestState"].as_str().unwrap().to_owned())
}

async fn again(client: &Modern<'_>, state: &str, response: Value) -> super::Answer {
    let params = json!({
        "name": "fixture__transfer", "arguments": transfer(),
        "requestState": state, "inputResponses": { "decision": response },
    });
    client.send("tools/call", params).await
}

async fn transfers(gate: &TestGate) -> Vec<Value> {
    let (_, calls) = gate.get("/api/v1/invocations?tool=fixture__transfer").await;
    calls["invocations"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_person_confirms_their_own_call_in_their_client() {
    let gate = TestGate::start().await;
    let ada = person(&gate).await;
    let client = Modern::new(&gate, &ada).can(form());
    let (request, state) = asked(&client).await;
    assert_eq!(request["method"], "elicitation/create");
    let message = request["params"]["message"].as_str().unwrap();
    for said in ["fixture__transfer", "moves 70 to ada", "changes something"] {
        assert!(message.contains(said), "{message}");
    }
    assert_eq!(request["params"]["requestedSchema"]["required"], json!(["decision"]));
    assert!(!state.contains("ada"), "sealed");
    let done = again(&client, &state, accepted(json!({ "decision": "approve", "reason": "fine" }))).await;
    assert_eq!(done.result()["structuredContent"]["amount"], 70, "{}", done.last());
    let calls = transfers(&gate).await;
    assert_eq!((calls.len(), &calls[0]["status"]), (1, &json!("completed")));
    gate.verify().await;
}

#[tokio::test]
async fn a_decision_is_taken_once_and_a_replay_only_tells() {
    let gate = TestGate::start().await;
    let ada = person(&gate).await;
    let client = Modern::new(&gate, &ada).can(form());
    let (_, state) = asked(&client).await;
    let said = accepted(json!({ "decision": "reject", "reason": "not today" }));
    let refused = again(&client, &state, said).await;
    assert_eq!(refused.result()["_meta"]["toolgate/error"]["code"], "rejected", "{}", refused.last());
    // The same state, now with a yes: the call stays refused.
    for _ in 0..3 {
        let replayed = again(&client, &state, accepted(json!({ "decision": "approve" }))).await;
        assert_eq!(replayed.result()["_meta"]["toolgate/error"]["code"], "rejected", "{}", replayed.last());
    }
    let calls = transfers(&gate).await;
    assert_eq!((calls.len(), &calls[0]["status"]), (1, &json!("rejected")));
}

#[tokio::test]
async fn a_state_is_for_its_caller_and_its_arguments() {
    let gate = TestGate::start().await;
    let ada = person(&gate).await;
    let roles = &["approver"];
    let bob = NewCaller { tenant: "default", principal: "user:bob", roles, ..NewCaller::default() };
    let bob = gate.caller(bob).await;
    let client = Modern::new(&gate, &ada).can(form());
    let (_, state) = asked(&client).await;
    let yes = || json!({ "decision": accepted(json!({ "decision": "approve" })) });
    let other = Modern::new(&gate, &bob).can(form());
    let stolen = again(&other, &state, yes()["decision"].clone()).await;
    assert_eq!(stolen.error(), (200, -32602, "bad_request"), "another's state");
    for (name, arguments, state) in [
        ("fixture__transfer", json!({ "amount": 71, "to": "ada" }), state.clone()),
        ("fixture__mutate", transfer(), state.clone()),
        ("fixture__transfer", transfer(), format!("{state}x")),
        ("fixture__transfer", transfer(), String::new()),
        ("fixture__transfer", transfer(), client_session(&gate, &ada).await),
    ] {
        let params =
            json!({ "name": name, "arguments": arguments, "requestState": state, "inputResponses": yes() });
        let refused = client.send("tools/call", params).await;
        assert_eq!(refused.error(), (200, -32602, "bad_request"), "{name} {}", refused.last());
    }
    let calls = transfers(&gate).await;
    assert_eq!((calls.len(), &calls[0]["status"]), (1, &json!("pending")), "nothing was decided");
}

/// Something that we sealed for another purpose.
async fn client_session(gate: &TestGate, key: &str) -> String {
    Legacy::open(gate, key, json!({})).await.session
}

#[tokio::test]
async fn nobody_else_is_asked_and_nobody_without_a_form() {
    let gate = TestGate::start().await;
    let ada = person(&gate).await;
    let waits = |answer: &super::Answer| {
        let result = answer.result();
        assert_eq!(result["resultType"], "complete", "{result}");
        let pending = &result["_meta"]["toolgate/pending"];
        assert_eq!((&result["isError"], &pending["status"]), (&json!(true), &json!("pending")));
        let link = pending["link"].as_str().unwrap().to_owned();
        let call = pending["call_id"].as_str().unwrap();
        assert_eq!(link, format!("{}/approvals?id={call}", gate.url));
        assert!(result["content"][0]["text"].as_str().unwrap().contains(&link));
        link
    };
    // An agent never confirms its own call, whatever its client can show.
    waits(&Modern::new(&gate, AGENT).can(form()).call("fixture__transfer", transfer()).await);
    waits(&Modern::new(&gate, &ada).call("fixture__transfer", transfer()).await);
    // Two people must decide: whoever asks is none of them.
    let rule = json!({ "tools": ["fixture__transfer"], "needed": 2 });
    let (status, body) = gate.send(Some(ADMIN), "PUT", "/api/v1/approval-rules/two", Some(rule), &[]).await;
    assert_eq!(status, 200, "{body}");
    waits(&Modern::new(&gate, &ada).can(form()).call("fixture__transfer", transfer()).await);
    // A page to open, where the client can.
    let url = Modern::new(&gate, AGENT).can(json!({ "elicitation": { "url": {} } }));
    let answer = url.call("fixture__transfer", transfer()).await;
    let asked = &answer.result()["inputRequests"]["decision"]["params"];
    assert_eq!(asked["mode"], "url");
    assert!(asked["url"].as_str().unwrap().starts_with(&format!("{}/approvals?id=", gate.url)));
    assert!(gate.receiver.counts().is_empty());
}

#[tokio::test]
async fn what_destroys_wants_the_tools_name_typed() {
    let gate = TestGate::start().await;
    let ada = person(&gate).await;
    let client = Modern::new(&gate, &ada).can(form());
    let call = |extra: Value| {
        let mut params = json!({ "name": "fixture__destroy", "arguments": { "effect_id": "gone" } });
        for (key, value) in extra.as_object().unwrap() {
            params[key] = value.clone();
        }
        params
    };
    let first = client.send("tools/call", call(json!({}))).await;
    let schema = &first.result()["inputRequests"]["decision"]["params"]["requestedSchema"];
    assert!(schema["properties"]["confirm"].is_object(), "{schema}");
    let state = first.result()["requestState"].clone();
    let wrong = accepted(json!({ "decision": "approve", "confirm": "something" }));
    let asked = client
        .send("tools/call", call(json!({ "requestState": state, "inputResponses": { "decision": wrong } })))
        .await;
    assert_eq!(asked.result()["resultType"], "input_required", "asked again: {}", asked.last());
    assert!(gate.receiver.counts().is_empty());
    let state = asked.result()["requestState"].clone();
    let right = accepted(json!({ "decision": "approve", "confirm": "fixture__destroy" }));
    let done = client
        .send("tools/call", call(json!({ "requestState": state, "inputResponses": { "decision": right } })))
        .await;
    assert_eq!(done.result()["isError"], Value::Null, "{}", done.last());
    assert_eq!(gate.receiver.counts().get("gone"), Some(&1));
}

#[tokio::test]
async fn a_client_of_the_handshake_era_is_asked_on_its_stream() {
    let gate = TestGate::start().await;
    let ada = person(&gate).await;
    let client = Legacy::open(&gate, &ada, json!({ "elicitation": {} })).await;
    let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": { "name": "fixture__transfer", "arguments": transfer() } });
    let mut messages = Messages::of(client.request(&call).send().await.unwrap());
    let asked = messages.next().await.unwrap();
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    // Someone else's word under the same id is nobody's.
    let roles = &["approver"];
    let bob = NewCaller { tenant: "default", principal: "user:bob", roles, ..NewCaller::default() };
    let bob = gate.caller(bob).await;
    let other = Legacy::open(&gate, &bob, json!({})).await;
    let answer =
        json!({ "jsonrpc": "2.0", "id": asked["id"], "result": accepted(json!({ "decision": "approve" })) });
    assert_eq!(other.tell(answer.clone()).await, 202);
    assert_eq!(transfers(&gate).await[0]["status"], "pending");
    assert_eq!(client.tell(answer.clone()).await, 202);
    let done = messages.next().await.unwrap();
    assert_eq!(
        (&done["id"], &done["result"]["structuredContent"]["amount"]),
        (&json!(7), &json!(70)),
        "{done}"
    );
    assert_eq!(client.tell(answer).await, 202, "a second answer changes nothing");
    assert_eq!(transfers(&gate).await.len(), 1);
    gate.verify().await;
}

#[tokio::test]
async fn whoever_closes_the_form_has_decided_nothing() {
    let gate = TestGate::start().await;
    let ada = person(&gate).await;
    let modern = Modern::new(&gate, &ada).can(form());
    let (_, state) = asked(&modern).await;
    let answer = again(&modern, &state, json!({ "action": "cancel" })).await;
    assert_eq!(answer.result()["_meta"]["toolgate/pending"]["status"], "pending");
    let client = Legacy::open(&gate, &ada, json!({ "elicitation": {} })).await;
    let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": { "name": "fixture__transfer", "arguments": transfer() } });
    let mut messages = Messages::of(client.request(&call).send().await.unwrap());
    let asked = messages.next().await.unwrap();
    let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "action": "cancel" } });
    assert_eq!(client.tell(answer).await, 202);
    let told = messages.next().await.unwrap();
    assert_eq!(told["result"]["_meta"]["toolgate/pending"]["status"], "pending", "{told}");
    assert!(transfers(&gate).await.iter().all(|call| call["status"] == "pending"));
}

#[tokio::test]
async fn nobody_decides_on_what_a_form_can_not_show_whole() {
    let gate = TestGate::start().await;
    let ada = person(&gate).await;
    let client = Modern::new(&gate, &ada).can(form());
    let long = json!({ "amount": 70, "to": "x".repeat(5_000) });
    let answer = client.call("fixture__transfer", long).await;
    assert_ne!(answer.result()["resultType"], "input_required", "{}", answer.last());
    let pending = &answer.result()["_meta"]["toolgate/pending"];
    assert!(pending["link"].as_str().unwrap().contains("/approvals?id=inv_"), "{}", answer.last());
}
