//! The handshake era: sessions that stand in their id.

use serde_json::json;

use super::{BOTH, Legacy, Messages, Modern, read};
use crate::gate::{ADMIN, OTHER_TENANT, OTHER_USER, TestGate};

#[tokio::test]
async fn a_session_serves_whoever_began_it_and_nobody_else() {
    let gate = TestGate::start().await;
    let client = Legacy::open(&gate, ADMIN, json!({})).await;
    assert_eq!(client.opened["protocolVersion"], "2025-11-25");
    assert_eq!(client.send("ping", json!({})).await.result(), &json!({}));
    assert!(client.session.bytes().all(|b| b.is_ascii_graphic()));
    for key in [OTHER_USER, OTHER_TENANT] {
        let thief = Legacy { gate: &gate, key, session: client.session.clone(), opened: json!(null) };
        let refused = thief.send("tools/list", json!({})).await;
        assert_eq!(refused.error(), (404, -32600, "not_found"));
        assert_eq!(thief.tell(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await, 404);
        let stream = gate.client.get(format!("{}/mcp", gate.url)).bearer_auth(key).header("accept", BOTH);
        assert_eq!(stream.header("mcp-session-id", &client.session).send().await.unwrap().status(), 404);
        let end = gate.client.delete(format!("{}/mcp", gate.url)).bearer_auth(key);
        assert_eq!(end.header("mcp-session-id", &client.session).send().await.unwrap().status(), 404);
    }
    for forged in ["x", "0.AAAA", &format!("{}A", client.session)] {
        let other = Legacy { gate: &gate, key: ADMIN, session: forged.to_owned(), opened: json!(null) };
        assert_eq!(other.send("tools/list", json!({})).await.error(), (404, -32600, "not_found"));
    }
    assert_eq!(client.send("tools/list", json!({})).await.status, 200, "it goes on for its owner");
}

#[tokio::test]
async fn a_session_that_was_ended_is_over() {
    let gate = TestGate::start().await;
    let client = Legacy::open(&gate, ADMIN, json!({})).await;
    let other = Legacy::open(&gate, ADMIN, json!({})).await;
    let end = || gate.client.delete(format!("{}/mcp", gate.url)).bearer_auth(ADMIN);
    assert_eq!(end().send().await.unwrap().status(), 405, "nothing is named");
    assert_eq!(end().header("mcp-session-id", &client.session).send().await.unwrap().status(), 200);
    assert_eq!(client.send("tools/list", json!({})).await.error(), (404, -32600, "not_found"));
    assert_eq!(end().header("mcp-session-id", &client.session).send().await.unwrap().status(), 404);
    assert_eq!(other.send("tools/list", json!({})).await.status, 200);
}

#[tokio::test]
async fn versions_are_agreed_on() {
    let gate = TestGate::start().await;
    let open = |version: &'static str| {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": { "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } });
        let request = gate.client.post(format!("{}/mcp", gate.url)).bearer_auth(ADMIN).json(&body);
        async move { read(request.send().await.unwrap()).await.result()["protocolVersion"].clone() }
    };
    for (asked, agreed) in [
        ("2025-06-18", "2025-06-18"),
        ("2024-11-05", "2024-11-05"),
        ("1999-01-01", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
    ] {
        assert_eq!(open(asked).await, agreed);
    }
    let client = Legacy::open(&gate, ADMIN, json!({})).await;
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let odd = gate.client.post(format!("{}/mcp", gate.url)).bearer_auth(ADMIN).json(&body);
    let odd = read(odd.header("mcp-protocol-version", "1999-01-01").send().await.unwrap()).await;
    assert_eq!((odd.error().0, odd.error().1), (400, -32022));
    assert_eq!(odd.last()["error"]["data"]["requested"], "1999-01-01");
    // What wants no answer says a version that is spoken, too.
    let notice = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    for (version, status) in [("1999-01-01", 400), ("2025-06-18", 202), ("2026-07-28", 202)] {
        let told = gate.client.post(format!("{}/mcp", gate.url)).bearer_auth(ADMIN).json(&notice);
        let told = told.header("accept", BOTH).header("mcp-protocol-version", version);
        let told = told.header("mcp-session-id", &client.session).send().await.unwrap();
        assert_eq!(told.status(), status, "{version}");
        assert_eq!(told.text().await.unwrap().is_empty(), status == 202, "{version}");
    }
}

#[tokio::test]
async fn a_word_that_stops_nothing_is_taken_and_ignored() {
    let gate = TestGate::start().await;
    let client = Legacy::open(&gate, ADMIN, json!({})).await;
    for request in [json!("never"), json!(99), json!(null), json!({ "id": 1 }), json!("x".repeat(5000))] {
        let stop = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": request } });
        assert_eq!(client.tell(stop).await, 202);
    }
    assert_eq!(client.tell(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled" })).await, 202);
    assert_eq!(client.tell(json!({ "jsonrpc": "2.0", "method": "notifications/unheard/of" })).await, 202);
    assert!(client.send("tools/list", json!({})).await.result()["tools"].is_array());
}

#[tokio::test]
async fn a_call_is_cancelled_by_its_clients_word() {
    let gate = TestGate::start().await;
    let client = Legacy::open(&gate, ADMIN, json!({})).await;
    let call = json!({ "jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": {
        "name": "fixture__slow_read", "arguments": { "milliseconds": 60_000, "reports": 100 },
        "_meta": { "progressToken": 1 } } });
    let mut messages = Messages::of(client.request(&call).send().await.unwrap());
    assert_eq!(messages.next().await.unwrap()["method"], "notifications/progress");
    let stop = |id: &str| json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
    // Another session of the same caller has its own requests.
    let other = Legacy::open(&gate, ADMIN, json!({})).await;
    assert_eq!(other.tell(stop("slow")).await, 202);
    assert_eq!(messages.next().await.unwrap()["method"], "notifications/progress");
    assert_eq!(client.tell(stop("slow")).await, 202);
    let last = loop {
        let message = messages.next().await.unwrap();
        if message.get("result").is_some() {
            break message;
        }
    };
    assert_eq!(last["result"]["_meta"]["toolgate/error"]["code"], "cancelled", "{last}");
}

#[tokio::test]
async fn without_a_session_there_is_no_stream() {
    let gate = TestGate::start().await;
    let get = gate.client.get(format!("{}/mcp", gate.url)).bearer_auth(ADMIN).header("accept", BOTH);
    let answer = get.send().await.unwrap();
    assert_eq!((answer.status().as_u16(), answer.headers()["allow"].to_str().unwrap()), (405, "POST"));
    let put = gate.client.put(format!("{}/mcp", gate.url)).bearer_auth(ADMIN).send().await.unwrap();
    assert_eq!(put.status(), 405);
}

#[tokio::test]
async fn each_era_has_its_own_methods() {
    let gate = TestGate::start().await;
    let legacy = Legacy::open(&gate, ADMIN, json!({})).await;
    for method in ["server/discover", "tasks/get", "subscriptions/listen", "no/such", "logging/setLevel"] {
        let answer = legacy.send(method, json!({})).await;
        assert_eq!(answer.error(), (200, -32601, "not_found"), "{method}");
    }
    let modern = Modern::new(&gate, ADMIN);
    for method in ["initialize", "ping", "logging/setLevel", "resources/subscribe", "tasks/list", "no/such"] {
        let answer = modern.send(method, json!({})).await;
        assert_eq!(answer.error(), (404, -32601, "not_found"), "{method}");
    }
}
