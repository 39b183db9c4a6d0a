//! What strangers try.

use serde_json::{Value, json};

use super::{BOTH, MODERN, Modern, read};
use crate::gate::{ADMIN, TestGate};

async fn raw(gate: &TestGate, kind: &str, body: impl Into<reqwest::Body>) -> super::Answer {
    let request = gate
        .client
        .post(format!("{}/mcp", gate.url))
        .bearer_auth(ADMIN)
        .header("accept", BOTH)
        .header("content-type", kind);
    read(request.body(body).send().await.unwrap()).await
}

#[tokio::test]
async fn what_is_no_message_is_refused_with_a_code() {
    let gate = TestGate::start().await;
    let deep = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{{\"a\":{}",
        "[".repeat(100_000)
    );
    for (body, expected) in [
        ("{".to_owned(), (400, -32700, "invalid_json")),
        (String::new(), (400, -32700, "invalid_json")),
        ("\u{0}".to_owned(), (400, -32700, "invalid_json")),
        ("[]".to_owned(), (400, -32600, "bad_request")),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#.to_owned(), (400, -32600, "bad_request")),
        ("null".to_owned(), (400, -32600, "bad_request")),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#.to_owned(), (400, -32600, "bad_request")),
        (deep, (400, -32700, "invalid_json")),
    ] {
        let answer = raw(&gate, "application/json", body.clone()).await;
        assert_eq!(answer.error(), expected, "{}", &body[..body.len().min(80)]);
        assert!(answer.last()["error"]["data"]["hint"].is_string());
    }
    let invalid = raw(&gate, "application/json", vec![b'"', 0xff, 0xfe, b'"']).await;
    assert_eq!(invalid.error(), (400, -32700, "invalid_json"));
    let plain = raw(&gate, "text/plain", r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await;
    assert_eq!(plain.error(), (415, -32600, "unsupported_media_type"));
    let other = raw(&gate, "application/json; charset=utf-16", "{}").await;
    assert_eq!(other.error(), (415, -32600, "unsupported_media_type"));
    let twice =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":1,"a":2}}}"#;
    let twice = raw(&gate, "application/json", twice).await;
    assert_eq!((twice.error(), &twice.last()["id"]), ((200, -32602, "validation"), &json!(1)));
    assert_eq!(twice.last()["error"]["message"], "the message says `a` twice");
    let large = raw(&gate, "application/json", " ".repeat(2 << 20)).await;
    assert_eq!(large.error(), (413, -32600, "payload_too_large"));
    let answer = gate
        .client
        .post(format!("{}/mcp", gate.url))
        .bearer_auth(ADMIN)
        .header("accept", "image/png")
        .json(&json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }));
    assert_eq!(answer.send().await.unwrap().status(), 406);
}

#[tokio::test]
async fn who_takes_only_a_stream_gets_one() {
    let gate = TestGate::start().await;
    let ask = |body: Value| {
        let request = gate.client.post(format!("{}/mcp", gate.url)).bearer_auth(ADMIN);
        async move {
            let sent = request.header("accept", "text/event-stream").json(&body).send().await.unwrap();
            read(sent).await
        }
    };
    let opened = ask(json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } }))
    .await;
    assert_eq!(opened.headers["content-type"], "text/event-stream");
    assert_eq!(opened.result()["protocolVersion"], "2025-06-18");
    assert!(opened.headers.contains_key("mcp-session-id"));
    let listed = ask(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" })).await;
    assert_eq!(listed.headers["content-type"], "text/event-stream");
    assert!(listed.result()["tools"].is_array());
}

#[tokio::test]
async fn headers_say_what_the_body_says() {
    let gate = TestGate::start().await;
    let client = Modern::new(&gate, ADMIN);
    let send = |headers: &[(&'static str, &'static str)], body: &Value| {
        let mut request = gate
            .client
            .post(format!("{}/mcp", gate.url))
            .bearer_auth(ADMIN)
            .header("accept", BOTH)
            .json(body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        async move { read(request.send().await.unwrap()).await }
    };
    let call =
        client.body(json!(5), "tools/call", json!({ "name": "core__get_current_time", "arguments": {} }));
    let (version, method) = (("mcp-protocol-version", MODERN), ("mcp-method", "tools/call"));
    let name = ("mcp-name", "core__get_current_time");
    let encoded = ("mcp-name", "=?base64?Y29yZV9fZ2V0X2N1cnJlbnRfdGltZQ==?=");
    assert_eq!(send(&[version, method, name], &call).await.status, 200);
    assert_eq!(send(&[version, method, encoded], &call).await.status, 200);
    for headers in [
        vec![method, name],
        vec![version, name],
        vec![version, method],
        vec![version, method, ("mcp-name", "core__calculate_roi")],
        vec![version, method, ("mcp-name", "CORE__GET_CURRENT_TIME")],
        vec![version, ("mcp-method", "tools/list"), name],
        vec![("mcp-protocol-version", "2025-11-25"), method, name],
    ] {
        let refused = send(&headers, &call).await;
        assert_eq!(refused.error(), (400, -32020, "bad_request"), "{headers:?}");
        assert_eq!(refused.last()["id"], 5);
    }
    let mut bare = call.clone();
    bare["params"].as_object_mut().unwrap().remove("_meta");
    assert_eq!(send(&[version, method, name], &bare).await.error(), (400, -32602, "bad_request"));
    let mut other = call.clone();
    other["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2099-01-01".into();
    let refused = send(&[("mcp-protocol-version", "2099-01-01"), method, name], &other).await;
    assert_eq!(refused.error(), (400, -32022, "bad_request"));
    assert!(refused.last()["error"]["data"]["supported"].as_array().unwrap().contains(&json!(MODERN)));
}

#[tokio::test]
async fn pages_can_be_asked_for_only_with_a_cursor_of_ours() {
    let gate = TestGate::start().await;
    let client = Modern::new(&gate, ADMIN);
    for cursor in [json!("%%%"), json!(7), json!("x".repeat(5000))] {
        let answer = client.send("tools/list", json!({ "cursor": cursor })).await;
        assert_eq!(answer.error(), (200, -32602, "bad_request"), "{cursor}");
    }
    let unknown = client.send("tools/list", json!({ "no_such_field": { "a": [1] } })).await;
    assert_eq!(unknown.status, 200, "fields of another day are no reason to refuse");
}
