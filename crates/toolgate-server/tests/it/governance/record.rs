//! Every change is in the record, and no secret is.

use serde_json::{Value, json};

use super::code;
use crate::gate::{ADMIN, TestGate};

#[tokio::test]
async fn every_change_leaves_its_event_and_no_secret() {
    let gate = TestGate::start().await;
    let before = gate.changes(ADMIN).await.len();
    let mut secrets = Vec::new();
    gate.post("/api/v1/principals", json!({ "id": "agent:new", "acts_for": ["user:*"] })).await;
    gate.patch("/api/v1/principals/agent:new", json!({ "title": "New" })).await;
    let (id, secret) = gate.mint(json!({ "principal": "agent:new", "label": "one" })).await;
    secrets.push(secret);
    let (_, rotated) =
        gate.post(&format!("/api/v1/keys/{id}/rotate"), json!({ "overlap_seconds": 60 })).await;
    secrets.push(rotated["secret"].as_str().unwrap().to_owned());
    gate.delete(&format!("/api/v1/keys/{id}")).await;
    gate.put("/api/v1/roles/r", json!({ "rules": ["crm.contacts.read"] })).await;
    gate.put("/api/v1/toolsets/t", json!({ "tools": ["core__*"] })).await;
    gate.put("/api/v1/profiles/p", json!({ "rate_per_minute": 5, "description": "long ".repeat(300) })).await;
    gate.put("/api/v1/limits/l", json!({ "per": "tool", "concurrency": 100 })).await;
    gate.put("/api/v1/assignments", json!({ "agent": "agent:new", "toolset": "t", "profile": "p" })).await;
    gate.post("/api/v1/kills", json!({ "kind": "tool", "target": "fixture__misbehave", "reason": "odd" }))
        .await;
    gate.put("/api/v1/registry/fixture__paid", json!({ "enabled": true })).await;
    gate.delete("/api/v1/kills?kind=tool&target=fixture__misbehave").await;
    gate.delete("/api/v1/assignments?agent=agent:new&toolset=t").await;
    for path in ["roles/r", "toolsets/t", "profiles/p", "limits/l", "registry/fixture__paid"] {
        assert_eq!(gate.delete(&format!("/api/v1/{path}")).await.0, 204, "{path}");
    }
    gate.patch("/api/v1/tenants/default", json!({ "title": "Ours" })).await;
    // What is refused or changes nothing leaves none.
    gate.put("/api/v1/profiles/p", json!({ "approval": "auto" })).await;
    gate.delete("/api/v1/toolsets/t").await;

    let changes = gate.changes(ADMIN).await;
    let actions: Vec<&str> =
        changes[before..].iter().map(|event| event["data"]["action"].as_str().unwrap()).collect();
    assert_eq!(
        actions,
        [
            "principal.created",
            "principal.changed",
            "key.created",
            "key.rotated",
            "key.revoked",
            "role.put",
            "toolset.put",
            "profile.put",
            "limit.put",
            "assignment.put",
            "kill.put",
            "tool.put",
            "kill.removed",
            "assignment.removed",
            "role.removed",
            "toolset.removed",
            "profile.removed",
            "limit.removed",
            "tool.removed",
            "tenant.changed",
        ]
    );
    assert!(changes[before..].iter().all(|event| event["actor"] == "user:admin"));
    let text = json!(changes).to_string();
    for secret in &secrets {
        assert!(!text.contains(secret) && !text.contains(&secret[4..]));
    }
    assert!(!text.contains("tgk_"));
    gate.verify().await;
}

#[tokio::test]
async fn only_those_who_may_read_the_record_see_the_changes() {
    let gate = TestGate::start().await;
    let plain = gate.person("user:plain", &["member"], &[]).await;
    let (status, body): (u16, Value) = gate.get_as(&plain, "/api/v1/audit/export").await;
    assert_eq!((status, code(&body)), (403, "forbidden"));
}
