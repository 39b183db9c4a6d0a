//! Streams of the handshake era that break off and are taken up again.

use serde_json::{Value, json};

use super::{BOTH, Legacy, Messages, accepted, read};
use crate::gate::{ADMIN, NewCaller, OTHER_USER, TestGate};

fn slow(id: Value, milliseconds: u64, reports: u64) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
        "name": "fixture__slow_read",
        "arguments": { "milliseconds": milliseconds, "reports": reports },
        "_meta": { "progressToken": "p" },
    } })
}

/// Goes on after an event.
fn after(client: &Legacy<'_>, last: &str) -> reqwest::RequestBuilder {
    let gate = client.gate;
    let request = gate.client.get(format!("{}/mcp", gate.url)).bearer_auth(client.key);
    let request = request.header("accept", BOTH).header("mcp-session-id", &client.session);
    request.header("last-event-id", last)
}

async fn calls(gate: &TestGate, tool: &str) -> usize {
    let (_, listed) = gate.get(&format!("/api/v1/invocations?tool={tool}")).await;
    listed["invocations"].as_array().unwrap().len()
}

#[tokio::test]
async fn a_stream_that_broke_off_goes_on_where_it_was() {
    let gate = TestGate::start().await;
    let client = Legacy::open(&gate, ADMIN, json!({})).await;
    let mut broken = Messages::of(client.request(&slow(json!("a"), 1500, 6)).send().await.unwrap());
    let mut progress: Vec<f64> = Vec::new();
    for _ in 0..2 {
        progress.push(broken.next().await.unwrap()["params"]["progress"].as_f64().unwrap());
    }
    let last = broken.last.clone().unwrap();
    drop(broken);
    let mut rest = Messages::of(after(&client, &last).send().await.unwrap());
    let answer = loop {
        let message = rest.next().await.unwrap();
        if message.get("id").is_some() {
            break message;
        }
        assert_eq!(message["params"]["progressToken"], "p");
        progress.push(message["params"]["progress"].as_f64().unwrap());
    };
    assert_eq!(progress.len(), 6, "each report once: {progress:?}");
    assert!(progress.windows(2).all(|pair| pair[0] < pair[1]), "{progress:?}");
    assert_eq!(answer["id"], "a");
    assert_eq!(answer["result"]["structuredContent"]["milliseconds"], 1500, "{answer}");
    assert!(rest.next().await.is_none(), "the answer ends the stream");
    assert_eq!(calls(&gate, "fixture__slow_read").await, 1, "nothing ran twice");
    // Whoever lost the answer itself gets it once more, and nothing from before.
    let again = read(after(&client, &rest.last.unwrap()).send().await.unwrap()).await;
    assert_eq!((again.messages.len(), &again.messages[0]), (1, &answer));
    gate.verify().await;
}

#[tokio::test]
async fn a_quiet_call_says_where_to_go_on() {
    let gate = TestGate::start().await;
    let client = Legacy::open(&gate, ADMIN, json!({})).await;
    let mut broken = Messages::of(client.request(&slow(json!(3), 1000, 0)).send().await.unwrap());
    let mark = broken.mark().await;
    drop(broken);
    let answer = read(after(&client, &mark).send().await.unwrap()).await;
    assert_eq!((answer.messages.len(), &answer.last()["id"]), (1, &json!(3)), "{:?}", answer.messages);
    assert_eq!(answer.result()["structuredContent"]["milliseconds"], 1000);
    // What is over at once is one message and no stream.
    let quick = client.send("tools/call", json!({ "name": "core__get_current_time", "arguments": {} })).await;
    assert_eq!(quick.headers["content-type"], "application/json");
}

#[tokio::test]
async fn clients_that_do_not_know_marks_get_none_without_a_message() {
    let gate = TestGate::start().await;
    let opening = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "old", "version": "1" } } });
    let request = gate.client.post(format!("{}/mcp", gate.url)).bearer_auth(ADMIN).json(&opening);
    let opened = request.send().await.unwrap();
    let session = opened.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let client = Legacy { gate: &gate, key: ADMIN, session, opened: json!(null) };
    let quiet = client.request(&slow(json!(1), 600, 0)).send().await.unwrap();
    assert_eq!(quiet.headers()["content-type"], "application/json", "there was nothing to tell before");
    let told = client.request(&slow(json!(2), 600, 2)).send().await.unwrap().text().await.unwrap();
    let events: Vec<&str> = told.split("\n\n").filter(|block| !block.trim().is_empty()).collect();
    assert_eq!(events.len(), 3, "{told}");
    assert!(events.iter().all(|event| event.contains("data: {")), "{told}");
    assert!(events[0].contains("id: c.1."), "it can go on all the same: {told}");
}

#[tokio::test]
async fn nobody_takes_up_what_is_not_theirs() {
    let gate = TestGate::start().await;
    let client = Legacy::open(&gate, ADMIN, json!({})).await;
    let mut messages = Messages::of(client.request(&slow(json!("a"), 60_000, 100)).send().await.unwrap());
    messages.next().await.unwrap();
    let last = messages.last.clone().unwrap();
    let other_session = Legacy::open(&gate, ADMIN, json!({})).await;
    let other_person = Legacy::open(&gate, OTHER_USER, json!({})).await;
    for (who, what) in [(&other_session, "another session"), (&other_person, "another person")] {
        let refused = read(after(who, &last).send().await.unwrap()).await;
        assert_eq!(refused.error(), (400, -32600, "bad_request"), "{what}");
    }
    let sealed = last.splitn(4, '.').last().unwrap();
    let changed = format!("{last}A");
    let question = format!("c.x.-.{sealed}");
    for forged in ["1", "c.", "c.0.-.", "l.not-a-number", changed.as_str(), question.as_str(), sealed] {
        let refused = read(after(&client, forged).send().await.unwrap()).await;
        assert_eq!(refused.error(), (400, -32600, "bad_request"), "{forged}");
    }
    let thief = Legacy { gate: &gate, key: OTHER_USER, session: client.session.clone(), opened: json!(null) };
    assert_eq!(read(after(&thief, &last).send().await.unwrap()).await.error(), (404, -32600, "not_found"));
    // At an endpoint that the tool is no part of there is no such call.
    let toolset = json!({ "tools": ["core__*"] });
    gate.send(Some(ADMIN), "PUT", "/api/v1/toolsets/core", Some(toolset), &[]).await;
    let elsewhere = gate.client.get(format!("{}/mcp/core", gate.url)).bearer_auth(ADMIN);
    let elsewhere = elsewhere.header("accept", BOTH).header("mcp-session-id", &client.session);
    let refused = read(elsewhere.header("last-event-id", &last).send().await.unwrap()).await;
    assert_eq!(refused.last()["error"]["data"]["code"], "not_found", "{:?}", refused.messages);
    // A session that was ended has no streams.
    let end = gate.client.delete(format!("{}/mcp", gate.url)).bearer_auth(ADMIN);
    assert_eq!(end.header("mcp-session-id", &client.session).send().await.unwrap().status(), 200);
    assert_eq!(read(after(&client, &last).send().await.unwrap()).await.error(), (404, -32600, "not_found"));
}

#[tokio::test]
async fn a_person_is_asked_once_however_often_the_stream_breaks() {
    let gate = TestGate::start().await;
    let ada =
        NewCaller { tenant: "default", principal: "user:ada", roles: &["approver"], ..NewCaller::default() };
    let ada = gate.caller(ada).await;
    let client = Legacy::open(&gate, &ada, json!({ "elicitation": {} })).await;
    let call = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {
        "name": "fixture__transfer", "arguments": { "amount": 3, "to": "ada" } } });
    let mut broken = Messages::of(client.request(&call).send().await.unwrap());
    let before = broken.mark().await;
    let asked = broken.next().await.unwrap();
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    let since = broken.last.clone().unwrap();
    drop(broken);
    // Broken off before the question came through: it is asked again, about the same call.
    let mut lost = Messages::of(after(&client, &before).send().await.unwrap());
    let again = lost.next().await.unwrap();
    assert_eq!((&again["method"], &again["params"]), (&asked["method"], &asked["params"]));
    drop(lost);
    let mut rest = Messages::of(after(&client, &since).send().await.unwrap());
    let answer =
        json!({ "jsonrpc": "2.0", "id": asked["id"], "result": accepted(json!({ "decision": "approve" })) });
    assert_eq!(client.tell(answer).await, 202);
    let done = rest.next().await.unwrap();
    assert_eq!(
        (&done["id"], &done["result"]["structuredContent"]["amount"]),
        (&json!(5), &json!(3)),
        "{done}"
    );
    assert!(rest.next().await.is_none());
    assert_eq!(calls(&gate, "fixture__transfer").await, 1);
    gate.verify().await;
}

#[tokio::test]
async fn what_changed_while_nobody_listened_is_told_at_once() {
    let gate = TestGate::start().await;
    let client = Legacy::open(&gate, ADMIN, json!({})).await;
    let listen = gate.client.get(format!("{}/mcp", gate.url)).bearer_auth(ADMIN).header("accept", BOTH);
    let listen = listen.header("mcp-session-id", &client.session);
    let mut stream = Messages::of(listen.send().await.unwrap());
    let mark = stream.mark().await;
    drop(stream);
    let mut same = Messages::of(after(&client, &mark).send().await.unwrap());
    assert_eq!(same.mark().await, mark, "nothing has changed");
    drop(same);
    let path = "/api/v1/registry/core__calculate_roi";
    gate.send(Some(ADMIN), "PUT", path, Some(json!({ "enabled": false })), &[]).await;
    let mut stream = Messages::of(after(&client, &mark).send().await.unwrap());
    assert_eq!(stream.next().await.unwrap()["method"], "notifications/tools/list_changed");
    assert_ne!(stream.last.unwrap(), mark);
}

#[tokio::test]
async fn a_call_that_waits_for_a_person_is_called_off() {
    let gate = TestGate::start().await;
    let ada =
        NewCaller { tenant: "default", principal: "user:ada", roles: &["approver"], ..NewCaller::default() };
    let ada = gate.caller(ada).await;
    let client = Legacy::open(&gate, &ada, json!({ "elicitation": {} })).await;
    let call = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {
        "name": "fixture__transfer", "arguments": { "amount": 3, "to": "ada" } } });
    let mut messages = Messages::of(client.request(&call).send().await.unwrap());
    assert_eq!(messages.next().await.unwrap()["method"], "elicitation/create");
    let stop = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 5 } });
    assert_eq!(client.tell(stop).await, 202);
    let told = messages.next().await.unwrap();
    assert_eq!(told["result"]["_meta"]["toolgate/error"]["code"], "cancelled", "{told}");
}
