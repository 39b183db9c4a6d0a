//! Nobody gives what they do not have.

use serde_json::{Value, json};

use super::{code, with_office};
use crate::gate::{NewCaller, TestGate};

async fn refused(gate: &TestGate, key: &str, method: &str, path: &str, body: Value) {
    let (status, answer) = gate.send(Some(key), method, path, Some(body.clone()), &[]).await;
    assert_eq!((status, code(&answer)), (403, "forbidden"), "{method} {path} {body}: {answer}");
    assert!(answer["error"]["details"]["rule"].is_string(), "{answer}");
}

#[tokio::test]
async fn a_manager_gives_only_what_it_holds() {
    let gate = with_office().await;
    gate.put("/api/v1/roles/sales", json!({ "rules": ["crm.contacts.read"] })).await;
    gate.put("/api/v1/roles/boss", json!({ "rules": ["*"] })).await;
    gate.put("/api/v1/roles/mute", json!({ "rules": [] })).await;
    let office = gate.person("user:kim", &["office", "sales"], &["crm.contacts.write"]).await;

    let new = |roles: Value, rules: Value| json!({ "id": "user:new", "roles": roles, "rules": rules });
    for bad in [
        new(json!([]), json!(["*"])),
        new(json!(["admin"]), json!([])),
        new(json!(["boss"]), json!([])),
        // Its rules are none, but policies can speak of it.
        new(json!(["mute"]), json!([])),
        new(json!(["approver"]), json!([])),
        new(json!([]), json!(["crm.contacts.read", "crm.contacts.delete"])),
    ] {
        refused(&gate, &office, "POST", "/api/v1/principals", bad).await;
    }
    assert_eq!(gate.get("/api/v1/principals/user:new").await.0, 404);
    let fine = new(json!(["sales", "office"]), json!(["crm.contacts.write"]));
    let (status, made) = gate.post_as(&office, "/api/v1/principals", fine).await;
    assert_eq!(status, 201, "{made}");
    for bad in [
        json!({ "rules": ["*"] }),
        json!({ "roles": ["admin"] }),
        json!({ "rules": ["crm.contacts.delete"] }),
    ] {
        refused(&gate, &office, "PATCH", "/api/v1/principals/user:new", bad).await;
    }
}

#[tokio::test]
async fn nobody_promotes_themselves() {
    let gate = with_office().await;
    gate.put("/api/v1/roles/plain", json!({ "rules": ["crm.contacts.read"] })).await;
    let office = gate.person("user:kim", &["office", "plain"], &[]).await;
    let own = "/api/v1/principals/user:kim";
    for bad in [
        json!({ "rules": ["*"] }),
        json!({ "roles": ["office", "plain", "admin"] }),
        json!({ "rules": ["crm.contacts.write"] }),
    ] {
        refused(&gate, &office, "PATCH", own, bad).await;
    }
    // Nor by way of a role one has.
    for rules in [json!(["*"]), json!(["crm.contacts.read", "crm.contacts.write"])] {
        refused(&gate, &office, "PUT", "/api/v1/roles/plain", json!({ "rules": rules.clone() })).await;
        refused(&gate, &office, "PUT", "/api/v1/roles/brand-new", json!({ "rules": rules })).await;
    }
    let (_, me) = gate.get_as(&office, "/api/v1/me").await;
    assert_eq!(me["rules"], json!(["crm.contacts.read"]));
    // What one has one may keep, and give up.
    let same = json!({ "roles": ["office", "plain"], "title": "Kim" });
    assert_eq!(gate.send(Some(&office), "PATCH", own, Some(same), &[]).await.0, 200);
    assert_eq!(
        gate.send(Some(&office), "PATCH", own, Some(json!({ "roles": ["office"] })), &[]).await.0,
        200
    );
    refused(&gate, &office, "PATCH", own, json!({ "roles": ["office", "plain"] })).await;
}

#[tokio::test]
async fn the_weak_do_not_touch_the_strong() {
    let gate = with_office().await;
    gate.put("/api/v1/roles/boss", json!({ "rules": ["*"] })).await;
    let office = gate.person("user:kim", &["office"], &[]).await;
    for bad in [json!({ "disabled": true }), json!({ "rules": [], "roles": [] }), json!({ "title": "x" })] {
        refused(&gate, &office, "PATCH", "/api/v1/principals/user:admin", bad).await;
    }
    refused(&gate, &office, "PUT", "/api/v1/roles/boss", json!({ "rules": [] })).await;
    let (status, answer) = gate.send(Some(&office), "DELETE", "/api/v1/roles/boss", None, &[]).await;
    assert_eq!((status, code(&answer)), (403, "forbidden"));
}

#[tokio::test]
async fn keys_are_not_minted_for_someone_stronger() {
    let gate = with_office().await;
    gate.put("/api/v1/roles/keeper", json!({ "rules": [] })).await;
    gate.person("service:robot", &[], &["*"]).await;
    gate.person("agent:rich", &[], &["bank.account.write"]).await;
    gate.person("user:keeper", &["keeper"], &[]).await;
    let office = gate.person("user:kim", &["office"], &["plain.thing.read"]).await;
    for stronger in ["user:admin", "service:robot", "agent:rich", "user:keeper"] {
        refused(&gate, &office, "POST", "/api/v1/keys", json!({ "principal": stronger, "label": "x" })).await;
    }
    // Scopes do not hide it.
    let narrow = json!({ "principal": "user:admin", "label": "x", "scopes": ["manage:keys"] });
    refused(&gate, &office, "POST", "/api/v1/keys", narrow).await;
    let (status, made) =
        gate.post_as(&office, "/api/v1/keys", json!({ "principal": "agent:helper", "label": "x" })).await;
    assert_eq!(status, 201, "{made}");

    // Rotating is making too. Ending a key is a brake, and everyone who manages keys may pull it.
    let (id, key) = gate.mint(json!({ "label": "the administrator's" })).await;
    refused(&gate, &office, "POST", &format!("/api/v1/keys/{id}/rotate"), json!({})).await;
    assert!(gate.works(&key).await);
    assert_eq!(gate.send(Some(&office), "DELETE", &format!("/api/v1/keys/{id}"), None, &[]).await.0, 200);
    assert!(!gate.works(&key).await);
}

#[tokio::test]
async fn a_narrowed_key_makes_no_wider_one() {
    let gate = TestGate::start().await;
    let narrowed = async |scopes: &[&str]| gate.mint(json!({ "label": "narrow", "scopes": scopes })).await.1;
    let key = narrowed(&["manage:keys", "tool:core__*"]).await;
    for wider in [
        json!([]),
        json!(["manage"]),
        json!(["manage:principals"]),
        json!(["tool:*"]),
        json!(["tool:fixture__*"]),
        json!(["approve"]),
        json!(["effect:read"]),
        json!(["rule:*"]),
    ] {
        refused(&gate, &key, "POST", "/api/v1/keys", json!({ "label": "wide", "scopes": wider })).await;
    }
    let within = json!({ "label": "narrower", "scopes": ["tool:core__get_*"] });
    let (status, made) = gate.post_as(&key, "/api/v1/keys", within).await;
    assert_eq!(status, 201, "{made}");
    // A whole key is not to be had by rotating one either.
    let (id, _) = gate.mint(json!({ "label": "whole" })).await;
    refused(&gate, &key, "POST", &format!("/api/v1/keys/{id}/rotate"), json!({})).await;
    // And without the scope there are no keys at all.
    let key = narrowed(&["tool:*"]).await;
    refused(&gate, &key, "POST", "/api/v1/keys", json!({ "label": "x", "scopes": ["tool:*"] })).await;
}

#[tokio::test]
async fn a_narrowed_administrator_makes_no_whole_one() {
    let gate = TestGate::start().await;
    let (_, key) =
        gate.mint(json!({ "label": "people only", "scopes": ["manage:principals", "manage:roles"] })).await;
    for bad in [json!({ "id": "user:x", "rules": ["*"] }), json!({ "id": "user:x", "roles": ["admin"] })] {
        refused(&gate, &key, "POST", "/api/v1/principals", bad).await;
    }
    refused(&gate, &key, "PUT", "/api/v1/roles/x", json!({ "rules": ["*"] })).await;
    refused(&gate, &key, "PATCH", "/api/v1/principals/user:other", json!({ "roles": ["admin"] })).await;
    let fine = json!({ "id": "user:x", "roles": ["member"], "rules": ["crm.contacts.read"] });
    let (status, made) = gate.post_as(&key, "/api/v1/principals", fine).await;
    assert_eq!(status, 201, "{made}");
    let (status, _) = gate.get_as(&key, "/api/v1/toolsets").await;
    assert_eq!(status, 403, "what the scopes leave out");
}

#[tokio::test]
async fn an_agent_that_manages_is_no_back_door() {
    let gate = TestGate::start().await;
    let robot = NewCaller {
        tenant: "default",
        principal: "service:robot",
        rules: &["*"],
        acts_for: &["user:*"],
        ..NewCaller::default()
    };
    gate.caller(robot).await;
    let plain = gate.person("user:plain", &[], &[]).await;
    let wish = |scopes: Value| json!({ "principal": "service:robot", "label": "x", "on_behalf": true, "scopes": scopes });
    refused(&gate, &plain, "POST", "/api/v1/keys", wish(json!([]))).await;
    refused(&gate, &plain, "POST", "/api/v1/keys", wish(json!(["manage"]))).await;
    let (status, made) = gate.post_as(&plain, "/api/v1/keys", wish(json!(["tool:*"]))).await;
    assert_eq!(status, 201, "for calls it asks both: {made}");
}
