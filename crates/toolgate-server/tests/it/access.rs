//! Who may do what: every route as each kind of caller.

use serde_json::{Value, json};

use crate::gate::{ADMIN, AGENT, OTHER_TENANT, OTHER_USER, TestGate};

/// Every route of the document, with a body where it takes one. `{call}` and `{session}` are the administrator's own.
const ROUTES: &[(&str, &str, &str, &str)] = &[
    ("GET", "/api/v1/tools", "/api/v1/tools", ""),
    ("GET", "/api/v1/tools/{id}", "/api/v1/tools/core__get_current_time", ""),
    ("POST", "/api/v1/tools/{id}/invoke", "/api/v1/tools/core__get_current_time/invoke", r#"{"input":{}}"#),
    ("GET", "/api/v1/invocations", "/api/v1/invocations", ""),
    ("GET", "/api/v1/invocations/{id}", "/api/v1/invocations/{call}", ""),
    ("POST", "/api/v1/invocations/{id}/cancel", "/api/v1/invocations/{call}/cancel", ""),
    ("POST", "/api/v1/invocations/{id}/approve", "/api/v1/invocations/{call}/approve", ""),
    ("POST", "/api/v1/invocations/{id}/reject", "/api/v1/invocations/{call}/reject", r#"{"reason":"no"}"#),
    ("POST", "/api/v1/invocations/{id}/settle", "/api/v1/invocations/{call}/settle", r#"{"outcome":"done"}"#),
    ("POST", "/api/v1/sessions", "/api/v1/sessions", ""),
    ("GET", "/api/v1/sessions/{id}", "/api/v1/sessions/{session}", ""),
    ("POST", "/api/v1/audit/verify", "/api/v1/audit/verify", ""),
    ("GET", "/api/v1/audit/export", "/api/v1/audit/export", ""),
    ("GET", "/api/v1/me", "/api/v1/me", ""),
];

#[tokio::test]
async fn every_route_as_each_kind_of_caller() {
    let gate = TestGate::start().await;
    let (_, call) = gate.invoke("fixture__mutate", json!({ "effect_id": "mine" })).await;
    let mut table = String::new();
    for (method, route, path, body) in ROUTES {
        let path = path
            .replace("{call}", call["call_id"].as_str().unwrap())
            .replace("{session}", call["session_id"].as_str().unwrap());
        let body: Option<Value> = (!body.is_empty()).then(|| serde_json::from_str(body).unwrap());
        let mut line = format!("{method:5}{route:36}");
        for (who, key) in [
            ("anonymous", None),
            ("wrong key", Some("wrong-key-0123456789abcdef0123456789abcdef01234567")),
            ("agent", Some(AGENT)),
            ("other user", Some(OTHER_USER)),
            ("other tenant", Some(OTHER_TENANT)),
        ] {
            let (status, _) = gate.send(key, method, &path, body.clone(), &[]).await;
            line.push_str(&format!("  {who} {status}"));
        }
        table.push_str(line.trim_end());
        table.push('\n');
    }
    let document = serde_json::to_value(toolgate_server::rest::document()).unwrap();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            let tried = ROUTES.iter().any(|(m, route, ..)| m.eq_ignore_ascii_case(method) && route == path);
            if !tried {
                table.push_str(&format!("not tried here: {} {path}\n", method.to_uppercase()));
            }
        }
    }
    insta::assert_snapshot!(table);
    let (_, row) = gate.get(&format!("/api/v1/invocations/{}", call["call_id"].as_str().unwrap())).await;
    assert_eq!(row["status"], "pending", "nobody else moved it");
}

#[tokio::test]
async fn lists_and_streams_show_only_ones_own() {
    let gate = TestGate::start().await;
    let (_, mine) = gate.invoke("core__get_current_time", json!({})).await;
    let (_, agents) = gate.invoke_as(AGENT, "core__get_current_time", json!({})).await;
    let ids = |list: &Value| -> Vec<String> {
        list["invocations"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let list = |key: &'static str| {
        let gate = &gate;
        async move { gate.send(Some(key), "GET", "/api/v1/invocations", None, &[]).await.1 }
    };
    assert_eq!(ids(&list(AGENT).await), [agents["call_id"].as_str().unwrap()]);
    assert!(ids(&list(OTHER_TENANT).await).is_empty());
    assert_eq!(ids(&list(ADMIN).await).len(), 2);
    let events = format!("/api/v1/sessions/{}/events", mine["session_id"].as_str().unwrap());
    for key in [AGENT, OTHER_USER, OTHER_TENANT] {
        assert_eq!(gate.send(Some(key), "GET", &events, None, &[]).await.0, 404);
    }
    let (_, export) = gate.send(Some(OTHER_TENANT), "GET", "/api/v1/audit/export", None, &[]).await;
    assert_eq!(export, json!(""), "another tenant's record is not exported");
}

#[tokio::test]
async fn nobody_sets_a_subject_or_a_tenant_from_outside() {
    let gate = TestGate::start().await;
    for body in [
        json!({ "input": {}, "subject": "user:admin" }),
        json!({ "input": {}, "tenant": "elsewhere" }),
        json!({ "input": {}, "actor": "user:admin" }),
    ] {
        let (status, _) = gate
            .send(Some(AGENT), "POST", "/api/v1/tools/core__get_current_time/invoke", Some(body), &[])
            .await;
        assert_eq!(status, 400);
    }
}
