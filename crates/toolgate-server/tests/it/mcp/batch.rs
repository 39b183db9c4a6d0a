//! Several messages in one body: protocol 2025-03-26 has them, and no other.

use serde_json::{Value, json};

use super::{BOTH, Legacy, Messages, read};
use crate::gate::{ADMIN, OTHER_USER, TestGate};

const VERSION: &str = "2025-03-26";

/// A session of this version.
async fn open(gate: &TestGate, version: &str) -> String {
    let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } });
    let request = gate.client.post(format!("{}/mcp", gate.url)).bearer_auth(ADMIN).json(&body);
    let opened = read(request.header("accept", BOTH).send().await.unwrap()).await;
    assert_eq!(opened.result()["protocolVersion"], version);
    opened.headers["mcp-session-id"].to_str().unwrap().to_owned()
}

fn post(gate: &TestGate, session: &str, accept: &str, body: &Value) -> reqwest::RequestBuilder {
    let request = gate.client.post(format!("{}/mcp", gate.url)).bearer_auth(ADMIN).json(body);
    request.header("accept", accept).header("mcp-session-id", session)
}

fn request(id: i64, method: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method })
}

fn call(id: i64, tool: &str, arguments: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": { "name": tool, "arguments": arguments } })
}

/// The answers by id.
fn by_id(answers: &Value) -> std::collections::BTreeMap<String, &Value> {
    let all = answers.as_array().unwrap_or_else(|| panic!("{answers}"));
    let found: std::collections::BTreeMap<_, _> =
        all.iter().map(|one| (one["id"].to_string(), one)).collect();
    assert_eq!(found.len(), all.len(), "one answer for each: {answers}");
    found
}

#[tokio::test]
async fn every_request_of_a_batch_is_answered_in_one_array() {
    let gate = TestGate::start().await;
    let session = open(&gate, VERSION).await;
    let batch = json!([
        { "jsonrpc": "2.0", "method": "notifications/initialized" },
        request(1, "ping"),
        call(2, "core__get_current_time", json!({})),
        call(3, "core__nothing", json!({})),
        request(4, "initialize"),
        7,
    ]);
    let answer = read(post(&gate, &session, BOTH, &batch).send().await.unwrap()).await;
    assert_eq!(
        (answer.status, &answer.headers["content-type"].to_str().unwrap()),
        (200, &"application/json")
    );
    let found = by_id(answer.last());
    assert_eq!(found["1"]["result"], json!({}));
    assert_eq!(found["2"]["result"]["structuredContent"]["timezone"], "UTC");
    assert_eq!(found["3"]["error"]["code"], -32602);
    assert_eq!(found["4"]["error"]["message"], "`initialize` comes alone");
    assert_eq!(found["null"]["error"]["code"], -32600, "what is no message is told of in its place");
    assert_eq!(found.len(), 5);

    let twice = json!([request(1, "ping"), request(1, "ping")]);
    let answer = read(post(&gate, &session, "application/json", &twice).send().await.unwrap()).await;
    let answers = answer.last().as_array().unwrap();
    assert_eq!(answers.len(), 2);
    assert_eq!(answers.iter().filter(|one| one.get("result").is_some()).count(), 1);
}

#[tokio::test]
async fn what_is_cancelled_before_it_is_asked_for_runs_all_the_same() {
    let gate = TestGate::start().await;
    let session = open(&gate, VERSION).await;
    let cancel = |id: i64| json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
    // Long enough to be known as open, which is when a cancelled request is stopped.
    let slow =
        |id: i64, milliseconds: u64| call(id, "fixture__slow_read", json!({ "milliseconds": milliseconds }));
    let batch = json!([cancel(1), slow(1, 4_000), slow(2, 50_000), cancel(2)]);
    let answer = read(post(&gate, &session, "application/json", &batch).send().await.unwrap()).await;
    let found = by_id(answer.last());
    assert_ne!(found["1"]["result"]["isError"], true, "{found:?}");
    assert!(
        found.get("2").is_none_or(|two| two["result"]["isError"] == true || two.get("error").is_some()),
        "{found:?}"
    );
}

#[tokio::test]
async fn large_answers_are_not_held_back_for_an_array() {
    let gate = TestGate::start().await;
    let session = open(&gate, VERSION).await;
    let lists: Vec<Value> = (1..=50).map(|id| request(id, "tools/list")).collect();
    let whole = read(post(&gate, &session, "application/json", &json!(lists)).send().await.unwrap()).await;
    assert!(whole.last().to_string().len() > 1024 * 1024, "they are large");
    let answer = read(post(&gate, &session, BOTH, &json!(lists)).send().await.unwrap()).await;
    assert_eq!(answer.headers["content-type"], "text/event-stream");
}

#[tokio::test]
async fn what_wants_no_answer_gets_none() {
    let gate = TestGate::start().await;
    let session = open(&gate, VERSION).await;
    let quiet = json!([{ "jsonrpc": "2.0", "method": "notifications/initialized" },
        { "jsonrpc": "2.0", "id": 9, "result": {} }]);
    let response = post(&gate, &session, BOTH, &quiet).send().await.unwrap();
    assert_eq!(response.status(), 202);
    assert_eq!(response.text().await.unwrap(), "");
}

#[tokio::test]
async fn what_is_said_before_the_answers_makes_it_a_stream() {
    let gate = TestGate::start().await;
    let session = open(&gate, VERSION).await;
    let mut slow = call(1, "fixture__slow_read", json!({ "milliseconds": 60_000, "reports": 100 }));
    slow["params"]["_meta"] = json!({ "progressToken": "p" });
    let batch = json!([slow, request(2, "ping")]);
    let mut messages = Messages::of(post(&gate, &session, BOTH, &batch).send().await.unwrap());
    let mut seen = Vec::new();
    while !seen.iter().any(|one: &Value| one["id"] == 2)
        || !seen.iter().any(|one| one["method"] == "notifications/progress")
    {
        seen.push(messages.next().await.unwrap());
    }
    assert!(messages.last.is_none(), "a stream of several can't be taken up");
    // A word in another batch stops a call of this one.
    let stop =
        json!([{ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }]);
    assert_eq!(post(&gate, &session, BOTH, &stop).send().await.unwrap().status(), 202);
    let last = loop {
        let message = messages.next().await.unwrap();
        if message["id"] == 1 {
            break message;
        }
    };
    assert_eq!(last["result"]["_meta"]["toolgate/error"]["code"], "cancelled", "{last}");
    assert!(messages.next().await.is_none(), "the stream ends with the last answer");

    let events = "text/event-stream";
    let streamed =
        read(post(&gate, &session, events, &json!([request(5, "ping")])).send().await.unwrap()).await;
    assert_eq!(streamed.headers["content-type"], events);
    assert_eq!(streamed.messages, [json!({ "jsonrpc": "2.0", "id": 5, "result": {} })]);
}

#[tokio::test]
async fn other_versions_and_strangers_have_no_batches() {
    let gate = TestGate::start().await;
    let batch = json!([request(1, "ping")]);
    for version in ["2025-11-25", "2025-06-18", "2024-11-05"] {
        let session = open(&gate, version).await;
        let answer = read(post(&gate, &session, BOTH, &batch).send().await.unwrap()).await;
        assert_eq!(answer.error(), (400, -32600, "bad_request"), "{version}");
        assert_eq!(answer.last()["error"]["message"], "batches are not taken");
    }
    let bare = gate.client.post(format!("{}/mcp", gate.url)).bearer_auth(ADMIN).header("accept", BOTH);
    let answer = read(bare.json(&batch).send().await.unwrap()).await;
    assert_eq!(answer.error(), (400, -32600, "bad_request"), "no session agreed on anything");
    let session = open(&gate, VERSION).await;
    let thief = Legacy { gate: &gate, key: OTHER_USER, session: session.clone(), opened: json!(null) };
    assert_eq!(thief.tell(batch.clone()).await, 404);
    let answer = read(post(&gate, &session, BOTH, &json!([])).send().await.unwrap()).await;
    assert_eq!(answer.error(), (400, -32600, "bad_request"));
    let many = Value::Array((0..51).map(|id| request(id, "ping")).collect());
    let answer = read(post(&gate, &session, BOTH, &many).send().await.unwrap()).await;
    assert_eq!(answer.error(), (400, -32600, "bad_request"));
    let keyed = post(&gate, &session, BOTH, &batch).header("idempotency-key", "k");
    assert_eq!(read(keyed.send().await.unwrap()).await.error(), (400, -32600, "bad_request"));
}

#[tokio::test]
async fn a_batch_is_limited_as_its_calls_would_be_one_by_one() {
    let gate = TestGate::start().await;
    let session = open(&gate, VERSION).await;
    let limit = json!({ "per": "tenant", "tools": ["core__get_current_time"], "rate_per_minute": 3 });
    let (status, body) = gate.send(Some(ADMIN), "PUT", "/api/v1/limits/few", Some(limit), &[]).await;
    assert!(status < 300, "{body}");
    let batch = Value::Array((0..20).map(|id| call(id, "core__get_current_time", json!({}))).collect());
    let answer = read(post(&gate, &session, BOTH, &batch).send().await.unwrap()).await;
    let codes: Vec<_> = by_id(answer.last())
        .values()
        .map(|one| one["result"]["_meta"]["toolgate/error"]["code"].as_str().unwrap_or("none").to_owned())
        .collect();
    assert_eq!(codes.iter().filter(|code| *code == "none").count(), 3, "{codes:?}");
    assert!(codes.iter().all(|code| code == "none" || code == "rate_limited"), "{codes:?}");
}
