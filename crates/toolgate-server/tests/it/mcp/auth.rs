//! Who gets in.

use serde_json::json;

use super::{BOTH, Modern, read};
use crate::gate::{ADMIN, NewCaller, TestGate};

#[tokio::test]
async fn whoever_has_no_valid_token_is_told_where_to_get_one() {
    let gate = TestGate::start().await;
    let client = Modern::new(&gate, "none");
    let body = client.body(json!(1), "tools/list", json!({}));
    for (path, key, error) in [
        ("/mcp", None, false),
        ("/mcp", Some("tgk_0000"), true),
        ("/mcp/no-such", None, false),
        ("/mcp/no-such", Some("tgo_0000"), true),
    ] {
        for method in ["POST", "GET", "DELETE"] {
            let mut request = gate.client.request(method.parse().unwrap(), format!("{}{path}", gate.url));
            if let Some(key) = key {
                request = request.bearer_auth(key);
            }
            let answer = request.header("accept", BOTH).json(&body).send().await.unwrap();
            assert_eq!(answer.status(), 401, "{method} {path}");
            let challenge = answer.headers()["www-authenticate"].to_str().unwrap().to_owned();
            let metadata =
                format!("resource_metadata=\"{}/.well-known/oauth-protected-resource{path}\"", gate.url);
            assert!(challenge.starts_with("Bearer ") && challenge.contains(&metadata), "{challenge}");
            assert_eq!(challenge.contains("invalid_token"), error, "{challenge}");
        }
    }
}

#[tokio::test]
async fn a_cookie_opens_nothing_here() {
    let gate = TestGate::start().await;
    let body = Modern::new(&gate, "").body(json!(1), "tools/list", json!({}));
    for kind in ["text/plain", "application/json", "application/x-www-form-urlencoded"] {
        let answer = gate
            .client
            .post(format!("{}/mcp", gate.url))
            .header("cookie", "__Host-toolgate=anything; toolgate=anything")
            .header("content-type", kind)
            .body(body.to_string())
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status(), 401, "{kind}");
    }
}

#[tokio::test]
async fn other_hosts_and_origins_are_refused() {
    let gate = TestGate::start().await;
    let client = Modern::new(&gate, ADMIN);
    let body = client.body(json!(1), "tools/list", json!({}));
    for (name, value) in [("host", "evil.example"), ("origin", "http://evil.example"), ("origin", "null")] {
        let answer = client.request(&body).header(name, value).send().await.unwrap();
        assert_eq!(answer.status(), 403, "{name}: {value}");
        assert!(answer.headers().get("access-control-allow-origin").is_none());
        let preflight = gate
            .client
            .request(reqwest::Method::OPTIONS, format!("{}/mcp", gate.url))
            .header(name, value)
            .send()
            .await
            .unwrap();
        assert_eq!(preflight.status(), 403, "{name}: {value}");
    }
}

#[tokio::test]
async fn the_operators_origins_may_read_and_no_others() {
    let settings = toolgate_server::ServerSettings {
        origins: vec!["https://app.example".to_owned()],
        ..toolgate_server::ServerSettings::default()
    };
    let gate = TestGate::with(settings, crate::gate::PERMISSIVE).await;
    let client = Modern::new(&gate, ADMIN);
    let body = client.body(json!(1), "tools/list", json!({}));
    let answer = client.request(&body).header("origin", "https://app.example").send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["access-control-allow-origin"], "https://app.example");
    // A tool's own headers are let through by name, and nothing else that a page asks for.
    let asked = "authorization, mcp-param-region, Mcp-Param-Size, cookie, x-forwarded-for";
    let preflight = gate
        .client
        .request(reqwest::Method::OPTIONS, format!("{}/mcp", gate.url))
        .header("origin", "https://app.example")
        .header("access-control-request-headers", asked)
        .send()
        .await
        .unwrap();
    assert_eq!(preflight.status(), 204);
    let allowed = preflight.headers()["access-control-allow-headers"].to_str().unwrap();
    assert!(allowed.ends_with("idempotency-key, mcp-param-region, mcp-param-size"), "{allowed}");
    let elsewhere = gate
        .client
        .get(format!("{}/api/v1/tools", gate.url))
        .bearer_auth(ADMIN)
        .header("origin", "https://app.example")
        .send()
        .await
        .unwrap();
    assert_eq!(elsewhere.status(), 403, "the MCP door and nothing else");
}

#[tokio::test]
async fn a_list_is_the_callers_own() {
    let gate = TestGate::start().await;
    let narrow = gate
        .caller(NewCaller {
            tenant: "default",
            principal: "user:narrow",
            scopes: &["tool:core__get_current_time"],
            ..NewCaller::default()
        })
        .await;
    let all = Modern::new(&gate, ADMIN).names().await;
    assert!(all.contains(&"core__get_current_time".to_owned()) && all.len() > 5, "{all:?}");
    assert!(!all.contains(&"fixture__internal".to_owned()), "internal tools never reach MCP");
    assert!(all.is_sorted(), "{all:?}");
    let client = Modern::new(&gate, &narrow);
    assert_eq!(client.names().await, ["core__get_current_time"]);
    // What is not listed can't be called by its exact name, nor read, nor completed.
    for hidden in ["core__calculate_roi", "fixture__internal", "fixture__mutate", "no__such", "../x", ""] {
        let refused = client.call(hidden, json!({})).await;
        assert_eq!(refused.error(), (200, -32602, "unavailable"), "{hidden} {}", refused.last());
        let uri = format!("toolgate://tools/{hidden}");
        let refused = client.send("resources/read", json!({ "uri": uri })).await;
        assert_eq!((refused.error().1, &refused.last()["error"]["data"]["uri"]), (-32602, &json!(uri)));
    }
    let (_, tried) = gate.get("/api/v1/invocations?tool=core__calculate_roi").await;
    let tried = &tried["invocations"][0];
    assert_eq!(
        (&tried["status"], &tried["actor"]),
        (&json!("failed"), &json!("user:narrow")),
        "recorded: {tried}"
    );
    let completed = client
        .send(
            "completion/complete",
            json!({
                "ref": { "type": "ref/prompt", "name": "use_tool" },
                "argument": { "name": "tool", "value": "core__" },
            }),
        )
        .await;
    assert_eq!(completed.result()["completion"]["values"], json!(["core__get_current_time"]));
}

#[tokio::test]
async fn a_revoked_key_ends_an_open_stream() {
    let gate = TestGate::start().await;
    let (_, made) =
        gate.post("/api/v1/keys", json!({ "principal": "user:other", "label": "to be revoked" })).await;
    let key = made["secret"].as_str().or(made["key"].as_str()).unwrap_or_else(|| panic!("{made}")).to_owned();
    let client = Modern::new(&gate, &key);
    let body = client.body(
        json!(1),
        "subscriptions/listen",
        json!({ "notifications": { "toolsListChanged": true } }),
    );
    let mut messages = super::Messages::of(client.request(&body).send().await.unwrap());
    assert_eq!(messages.next().await.unwrap()["method"], "notifications/subscriptions/acknowledged");
    let id = made["id"].as_str().or(made["key"]["id"].as_str()).unwrap_or_else(|| panic!("{made}"));
    let (status, gone) = gate.send(Some(ADMIN), "DELETE", &format!("/api/v1/keys/{id}"), None, &[]).await;
    assert!(status < 300, "{gone}");
    let last = messages.next().await.unwrap();
    assert_eq!((&last["id"], &last["result"]["resultType"]), (&json!(1), &json!("complete")), "{last}");
    assert!(messages.next().await.is_none());
    assert_eq!(read(client.request(&body).send().await.unwrap()).await.status, 401);
}
