//! What belongs to another tenant is not there.

use serde_json::{Value, json};

use super::code;
use crate::gate::{OTHER_TENANT, TestGate};

#[tokio::test]
async fn another_tenants_ids_find_nothing() {
    let gate = TestGate::start().await;
    for (noun, body) in [
        ("roles", json!({ "rules": [] })),
        ("toolsets", json!({ "tools": ["*"] })),
        ("profiles", json!({ "approval": "always_ask" })),
        ("limits", json!({ "per": "tenant", "concurrency": 9 })),
    ] {
        assert_eq!(gate.put(&format!("/api/v1/{noun}/ours"), body).await.0, 200);
    }
    gate.post("/api/v1/kills", json!({ "kind": "tool", "target": "fixture__misbehave", "reason": "ours" }))
        .await;
    gate.put("/api/v1/registry/core__get_current_time", json!({ "approval": "always_ask" })).await;
    let (key, _) = gate.mint(json!({ "label": "ours" })).await;
    let agent = "agent=agent:helper&toolset=everything";
    let tries: Vec<(&str, String, Option<Value>)> = vec![
        ("GET", "/api/v1/tenants/default".into(), None),
        ("PATCH", "/api/v1/tenants/default".into(), Some(json!({ "title": "x" }))),
        ("GET", "/api/v1/principals/user:admin".into(), None),
        ("PATCH", "/api/v1/principals/user:admin".into(), Some(json!({ "disabled": true }))),
        ("PATCH", "/api/v1/principals/agent:helper".into(), Some(json!({ "rules": ["*"] }))),
        ("GET", format!("/api/v1/keys/{key}"), None),
        ("DELETE", format!("/api/v1/keys/{key}"), None),
        ("POST", format!("/api/v1/keys/{key}/rotate"), Some(json!({}))),
        ("POST", "/api/v1/keys".into(), Some(json!({ "principal": "user:admin", "label": "x" }))),
        ("POST", "/api/v1/keys".into(), Some(json!({ "principal": "agent:helper", "label": "x" }))),
        ("GET", "/api/v1/roles/ours".into(), None),
        ("DELETE", "/api/v1/roles/ours".into(), None),
        ("GET", "/api/v1/toolsets/ours".into(), None),
        ("DELETE", "/api/v1/toolsets/ours".into(), None),
        ("GET", "/api/v1/profiles/ours".into(), None),
        ("DELETE", "/api/v1/profiles/ours".into(), None),
        ("GET", "/api/v1/limits/ours".into(), None),
        ("DELETE", "/api/v1/limits/ours".into(), None),
        ("DELETE", format!("/api/v1/assignments?{agent}"), None),
        ("DELETE", "/api/v1/kills?kind=tool&target=fixture__misbehave".into(), None),
        (
            "POST",
            "/api/v1/kills".into(),
            Some(json!({ "kind": "tenant", "target": "default", "reason": "x" })),
        ),
        ("DELETE", "/api/v1/kills?kind=tenant&target=default".into(), None),
        ("DELETE", "/api/v1/registry/core__get_current_time".into(), None),
    ];
    for (method, path, body) in tries {
        let (status, answer) = gate.send(Some(OTHER_TENANT), method, &path, body, &[]).await;
        assert_eq!((status, code(&answer)), (404, "not_found"), "{method} {path}: {answer}");
    }
    // Naming what is there, in a body, finds nothing either.
    for body in [
        json!({ "agent": "agent:helper", "tool": "core__get_current_time" }),
        json!({ "agent": "agent:helper", "toolset": "ours" }),
    ] {
        let (status, answer) =
            gate.send(Some(OTHER_TENANT), "PUT", "/api/v1/assignments", Some(body), &[]).await;
        assert_eq!((status, code(&answer)), (400, "bad_request"), "{answer}");
    }
    let servant = json!({ "principal": "agent:helper", "label": "x", "on_behalf": true });
    assert_eq!(gate.post_as(OTHER_TENANT, "/api/v1/keys", servant).await.0, 403);
    for (noun, path) in [
        ("keys", "/api/v1/keys?principal=user:admin"),
        ("assignments", "/api/v1/assignments?agent=agent:helper"),
        ("toolsets", "/api/v1/toolsets"),
        ("profiles", "/api/v1/profiles"),
        ("limits", "/api/v1/limits"),
        ("kills", "/api/v1/kills"),
    ] {
        assert_eq!(gate.get_as(OTHER_TENANT, path).await.1[noun], json!([]), "{path}");
    }
    let (_, roles) = gate.get_as(OTHER_TENANT, "/api/v1/roles").await;
    assert!(!roles.to_string().contains("ours"));
    let (_, people) = gate.get_as(OTHER_TENANT, "/api/v1/principals").await;
    assert_eq!(people["principals"].as_array().unwrap().len(), 1, "{people}");
    // And all of it is still there.
    for path in ["roles/ours", "toolsets/ours", "profiles/ours", "limits/ours", &format!("keys/{key}")] {
        assert_eq!(gate.get(&format!("/api/v1/{path}")).await.0, 200, "{path}");
    }
    // A name of one's own is one's own.
    let (_, theirs) = gate
        .send(Some(OTHER_TENANT), "PUT", "/api/v1/toolsets/ours", Some(json!({ "tools": ["core__*"] })), &[])
        .await;
    assert_eq!(theirs["revision"], 1);
    assert_eq!(gate.get("/api/v1/toolsets/ours").await.1["tools"], json!(["*"]));
}
