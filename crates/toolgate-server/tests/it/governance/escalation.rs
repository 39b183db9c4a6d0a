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

/// A gate where the role `office` manages people, and a policy gives something to `user:carol` by this condition.
async fn with_named(condition: &str) -> TestGate {
    let policy = format!(
        "{}\n{}\n@id(\"for carol\") permit (principal, action == Toolgate::Action::\"approve\", resource) \
         when {{ {condition} }};",
        toolgate_policy::cedar::Policies::default_set().0,
        super::OFFICE
    );
    let gate = TestGate::with(toolgate_server::ServerSettings::default(), &policy).await;
    assert_eq!(gate.put("/api/v1/roles/office", json!({})).await.0, 200);
    gate
}

#[tokio::test]
async fn what_policy_gives_by_id_is_not_to_be_had_by_managing() {
    let gate = with_named("principal == Toolgate::User::\"user:carol\"").await;
    let carol = gate.person("user:carol", &[], &[]).await;
    gate.person("user:dave", &[], &[]).await;
    let office = gate.person("user:kim", &["office"], &[]).await;
    let (_, list) = gate.get("/api/v1/keys?principal=user:carol").await;
    let key = list["keys"][0]["id"].as_str().unwrap().to_owned();
    let carols = json!({ "principal": "user:carol", "label": "x" });
    refused(&gate, &office, "POST", "/api/v1/keys", carols.clone()).await;
    let narrow = json!({ "principal": "user:carol", "label": "x", "scopes": ["approve"] });
    refused(&gate, &office, "POST", "/api/v1/keys", narrow).await;
    refused(&gate, &office, "POST", &format!("/api/v1/keys/{key}/rotate"), json!({})).await;
    refused(&gate, &office, "POST", "/api/v1/principals/user:carol/invite", json!({})).await;
    for change in [json!({ "roles": ["office"] }), json!({ "roles": [], "rules": [], "disabled": false })] {
        let gives = change != json!({ "roles": [], "rules": [], "disabled": false });
        let path = "/api/v1/principals/user:carol";
        let (status, answer) = gate.send(Some(&office), "PATCH", path, Some(change), &[]).await;
        assert_eq!(status, if gives { 403 } else { 200 }, "{answer}");
    }
    // Others are like all others, and one's own keys are one's own.
    for id in ["user:dave", "agent:helper"] {
        if id == "agent:helper" {
            gate.patch("/api/v1/principals/agent:helper", json!({ "rules": [] })).await;
        }
        let body = json!({ "principal": id, "label": "x" });
        let (status, made) = gate.post_as(&office, "/api/v1/keys", body).await;
        assert_eq!(status, 201, "{made}");
    }
    assert_eq!(gate.post_as(&carol, "/api/v1/keys", json!({ "label": "mine" })).await.0, 201);
    // A whole administrator may; taking away is free.
    assert_eq!(gate.post("/api/v1/keys", carols).await.0, 201);
    let revoked = gate.send(Some(&office), "DELETE", &format!("/api/v1/keys/{key}"), None, &[]).await;
    assert_eq!(revoked.0, 200, "{}", revoked.1);
    let patch = async |change: Value| {
        gate.send(Some(&office), "PATCH", "/api/v1/principals/user:carol", Some(change), &[]).await.0
    };
    assert_eq!(patch(json!({ "title": "Carol" })).await, 200);
    assert_eq!(patch(json!({ "disabled": true })).await, 200);
    assert_eq!(patch(json!({ "disabled": false })).await, 403, "letting her in again is giving");
    // Nor is a name that a policy waits for to be taken.
    let gate = with_named("[Toolgate::User::\"user:erin\"].contains(principal)").await;
    let office = gate.person("user:kim", &["office"], &[]).await;
    refused(&gate, &office, "POST", "/api/v1/principals", json!({ "id": "user:erin" })).await;
    let (status, made) = gate.post_as(&office, "/api/v1/principals", json!({ "id": "user:frank" })).await;
    assert_eq!(status, 201, "{made}");
}

#[tokio::test]
async fn a_policy_that_reads_names_names_everyone() {
    let gate = with_named("principal.name == \"carol\"").await;
    gate.person("user:dave", &[], &[]).await;
    let office = gate.person("user:kim", &["office"], &[]).await;
    let body = json!({ "principal": "user:dave", "label": "x" });
    refused(&gate, &office, "POST", "/api/v1/keys", body.clone()).await;
    refused(&gate, &office, "POST", "/api/v1/principals", json!({ "id": "user:carol" })).await;
    assert_eq!(gate.post("/api/v1/keys", body).await.0, 201);
    assert_eq!(gate.post_as(&office, "/api/v1/keys", json!({ "label": "mine" })).await.0, 201);
}

#[tokio::test]
async fn an_invitation_ends_when_a_policy_comes_to_name_its_user() {
    let gate = with_named("false").await;
    gate.person("user:carol", &[], &[]).await;
    let office = gate.person("user:kim", &["office"], &[]).await;
    let (status, link) = gate.post_as(&office, "/api/v1/principals/user:carol/invite", json!({})).await;
    assert_eq!(status, 201, "{link}");
    let (_, policy) = gate.get("/api/v1/policy").await;
    let text = format!(
        "{}\n@id(\"named\") permit (principal == Toolgate::User::\"user:carol\", action, resource);",
        policy["text"].as_str().unwrap()
    );
    let (status, saved) = gate.put("/api/v1/policy", json!({ "text": text })).await;
    assert_eq!(status, 200, "{saved}");
    let token = link["url"].as_str().unwrap().split_once("token=").unwrap().1;
    let body = json!({ "token": token, "password": crate::browser::PASSWORD });
    let answer =
        crate::browser::Browser::new(&gate).send("POST", "/api/v1/auth/accept", Some(body), &[]).await;
    assert_eq!(answer.code(), "token_invalid");
}
