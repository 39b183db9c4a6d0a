//! What one tenant does, or what is broken in it, leaves the others and the node standing.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolgate_core::JsonText;
use toolgate_core::administration::{AdminChange, Write};
use toolgate_core::document::{DocumentKind, Expect};
use toolgate_core::id::TenantId;
use toolgate_core::port::store::AdminStore;

use super::code;
use crate::gate::{ADMIN, AGENT, NewCaller, OTHER_TENANT, TestGate};

const CLOCK: &str = "core__get_current_time";

/// Writes a document past all checks, as another node would, or one of a later release.
async fn write(gate: &TestGate, tenant: &str, kind: DocumentKind, name: &str, body: Value) {
    let write = Write::PutDocument {
        kind,
        name: name.to_owned(),
        body: JsonText::from_value(&body),
        expect: Expect::Anything,
    };
    let (by, at) = ("service:test".parse().unwrap(), toolgate_core::Timestamp::from_micros(1));
    let change = AdminChange::new(tenant.parse().unwrap(), by, at, &json!({ "action": "test" }), vec![write]);
    gate.losing.change(change).await.unwrap();
}

async fn take_away(gate: &TestGate, tenant: &str, kind: DocumentKind, name: &str) {
    let write = Write::RemoveDocument { kind, name: name.to_owned(), expect: Expect::Anything };
    let (by, at) = ("service:test".parse().unwrap(), toolgate_core::Timestamp::from_micros(1));
    let change = AdminChange::new(tenant.parse().unwrap(), by, at, &json!({ "action": "test" }), vec![write]);
    gate.losing.change(change).await.unwrap();
    gate.snapshots.reload(&tenant.parse().unwrap()).await.unwrap();
}

/// Waits until a call of the clock with this key answers like this.
async fn until(gate: &TestGate, key: &str, status: u16) -> Value {
    let asking = async {
        loop {
            let (answered, body) = gate.invoke_as(key, CLOCK, json!({})).await;
            if answered == status {
                return body;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), asking).await.unwrap_or_else(|_| panic!("never {status}"))
}

fn kill(tenant: &str) -> Value {
    json!({ "kind": "tenant", "target": tenant, "reason": "a test" })
}

#[tokio::test]
async fn an_unreadable_tenant_blinds_nobody_else_and_does_not_go_on_for_ever() {
    let gate = TestGate::permissive().await;
    let mut keys = Vec::new();
    for tenant in ["aaa", "zzz"] {
        let caller = NewCaller { tenant, principal: "user:a", rules: &["*"], ..NewCaller::default() };
        keys.push(gate.caller(caller).await);
        assert_eq!(gate.invoke_as(keys.last().unwrap(), CLOCK, json!({})).await.0, 200);
    }
    gate.losing.break_documents_of(Some("aaa"));
    for tenant in ["aaa", "zzz"] {
        write(&gate, tenant, DocumentKind::Kill, &format!("tenant:{tenant}"), kill(tenant)).await;
    }
    // The others hear of what concerns them, and the broken one is shut when patience is over.
    until(&gate, &keys[1], 403).await;
    let shut = until(&gate, &keys[0], 503).await;
    assert_eq!(code(&shut), "store_unavailable");
    assert_eq!(gate.invoke(CLOCK, json!({})).await.0, 200);
    // It comes back with what was written meanwhile.
    gate.losing.break_documents_of(None);
    let stopped = until(&gate, &keys[0], 403).await;
    assert_eq!(stopped["error"]["details"]["rule"], "kill switch: tenant aaa");
}

#[tokio::test]
async fn an_unreadable_default_tenant_lets_the_others_hear_of_theirs_for_a_while() {
    let gate = TestGate::permissive().await;
    assert_eq!(gate.invoke(CLOCK, json!({})).await.0, 200);
    assert_eq!(gate.invoke_as(OTHER_TENANT, CLOCK, json!({})).await.0, 200);
    gate.losing.break_documents_of(Some("default"));
    write(&gate, "default", DocumentKind::Tool, CLOCK, json!({ "enabled": false })).await;
    write(&gate, "elsewhere", DocumentKind::Kill, "tenant:elsewhere", kill("elsewhere")).await;
    until(&gate, OTHER_TENANT, 403).await;
    // What it switched off for all can't be known: nobody goes on with it.
    until(&gate, OTHER_TENANT, 503).await;
    until(&gate, ADMIN, 503).await;
    gate.losing.break_documents_of(None);
    until(&gate, ADMIN, 404).await;
    until(&gate, OTHER_TENANT, 404).await;
}

#[tokio::test]
async fn a_change_that_is_made_is_answered_although_it_is_not_read_back() {
    let gate = TestGate::start().await;
    assert!(gate.works(ADMIN).await && gate.works(OTHER_TENANT).await);
    gate.losing.break_documents_of(Some("default"));
    let (status, made) = gate.post("/api/v1/keys", json!({ "label": "made in between" })).await;
    assert_eq!(status, 201, "{made}");
    let (status, tenant) = gate.post("/api/v1/tenants", json!({ "id": "acme" })).await;
    assert_eq!(status, 201, "{tenant}");
    gate.losing.break_documents_of(None);
    gate.snapshots.refresh().await.unwrap();
    assert!(gate.works(made["secret"].as_str().unwrap()).await);
    assert!(gate.works(tenant["admin_key"].as_str().unwrap()).await);
}

#[tokio::test]
async fn what_can_not_be_read_stops_what_it_could_have_stopped() {
    let gate = TestGate::permissive().await;
    let odd = || json!({ "of a later release": true });
    // What a document of this kind stops: an agent's call, a person's call, and the rule that is named.
    for (kind, name, agent, person, rule) in [
        (DocumentKind::Kill, "tool:core__quick_score", 403, 403, "kill switch: tenant default"),
        (DocumentKind::Toolset, "dangerous", 403, 403, "kill switch: tenant default"),
        (DocumentKind::ApprovalRule, "four-eyes", 403, 403, "kill switch: tenant default"),
        (DocumentKind::Limit, "purse", 429, 429, "limit: purse can't be read"),
        (DocumentKind::Tool, CLOCK, 404, 404, ""),
        (DocumentKind::Assignment, "agent:helper toolset:other", 404, 200, ""),
        (DocumentKind::Assignment, "of nobody", 404, 200, ""),
        (DocumentKind::Profile, "unused", 200, 200, ""),
        (DocumentKind::Grant, "unused", 200, 200, ""),
        (DocumentKind::Role, "unused", 200, 200, ""),
    ] {
        write(&gate, "default", kind, name, odd()).await;
        gate.snapshots.reload(&TenantId::default_tenant()).await.unwrap();
        for (key, status) in [(AGENT, agent), (ADMIN, person)] {
            let (answered, body) = gate.invoke_as(key, CLOCK, json!({})).await;
            assert_eq!(answered, status, "{kind:?} {name}: {body}");
            if !rule.is_empty() {
                assert_eq!(body["error"]["details"]["rule"], rule, "{body}");
                assert!(body["error"]["message"].as_str().unwrap().contains("can't be read"), "{body}");
            }
        }
        assert_eq!(gate.get("/api/v1/principals").await.0, 200, "managing goes on");
        take_away(&gate, "default", kind, name).await;
        assert_eq!(gate.invoke_as(AGENT, CLOCK, json!({})).await.0, 200, "{kind:?} {name}");
    }
    // An assignment with a profile that can't be read is no assignment.
    write(&gate, "default", DocumentKind::Profile, "careful", odd()).await;
    let body =
        json!({ "agent": "agent:helper", "target": { "toolset": "everything" }, "profile": "careful" });
    let name = "agent:helper toolset:everything";
    write(&gate, "default", DocumentKind::Assignment, name, body).await;
    gate.snapshots.reload(&TenantId::default_tenant()).await.unwrap();
    let (status, denied) = gate.invoke_as(AGENT, CLOCK, json!({})).await;
    assert_eq!((status, &denied["error"]["details"]["rule"]), (403, &json!("profile: careful")), "{denied}");
}

#[tokio::test]
async fn only_the_default_tenants_word_on_tools_concerns_others() {
    let gate = TestGate::permissive().await;
    assert!(gate.works(ADMIN).await && gate.works(OTHER_TENANT).await);
    let elsewhere: TenantId = "elsewhere".parse().unwrap();
    let before = gate.snapshots.get(&elsewhere).unwrap();
    for number in 0..3 {
        gate.put(&format!("/api/v1/roles/role-{number}"), json!({ "rules": [] })).await;
        write(&gate, "default", DocumentKind::Role, "from-another-node", json!({ "rules": [] })).await;
        gate.snapshots.refresh().await.unwrap();
    }
    let after = gate.snapshots.get(&elsewhere).unwrap();
    assert!(Arc::ptr_eq(&before, &after), "nothing was made anew");
    write(&gate, "default", DocumentKind::Tool, CLOCK, json!({ "enabled": false })).await;
    until(&gate, OTHER_TENANT, 404).await;
    assert!(!Arc::ptr_eq(&before, &gate.snapshots.get(&elsewhere).unwrap()));
}

fn many_policies(count: usize) -> String {
    let more = (0..count).map(|number| {
        format!("@id(\"r{number}\") forbid (principal == Toolgate::Agent::\"agent:a{number}\", action, resource);\n")
    });
    format!("{}{}", crate::gate::PERMISSIVE, more.collect::<String>())
}

#[tokio::test]
async fn calls_are_answered_while_long_policies_are_checked() {
    let gate = TestGate::permissive().await;
    assert_eq!(gate.invoke_as(OTHER_TENANT, CLOCK, json!({})).await.0, 200);
    let text = many_policies(4_900);
    let checked = async {
        let check = || gate.post("/api/v1/policy/validate", json!({ "text": text }));
        let checks = tokio::join!(check(), check(), check(), check());
        [checks.0, checks.1, checks.2, checks.3]
    };
    let mut checked = std::pin::pin!(checked);
    // Sent first, and all under way by the time the call is made.
    tokio::select! {
        checks = &mut checked => panic!("not long enough: {checks:?}"),
        () = tokio::time::sleep(Duration::from_millis(50)) => {}
    }
    tokio::select! {
        biased;
        checks = &mut checked => panic!("the call had to wait: {:?}", checks[0].0),
        (status, body) = gate.invoke_as(OTHER_TENANT, CLOCK, json!({})) => assert_eq!(status, 200, "{body}"),
    }
    for (status, body) in checked.await {
        // Those whose turn does not come are told to come back.
        match status {
            200 => assert_eq!(body["ok"], true, "{body}"),
            _ => assert_eq!((status, code(&body)), (429, "too_many_attempts")),
        }
    }
}

#[tokio::test]
async fn very_different_texts_are_compared_all_the_same() {
    let gate = TestGate::permissive().await;
    let text = |word: &str| -> String {
        let lines = (0..20_000).map(|number| format!("// {word}{}\n", number * 7 % 19_997));
        lines.chain([crate::gate::PERMISSIVE.to_owned()]).collect()
    };
    for word in ["a", "b"] {
        let (status, saved) = gate.put("/api/v1/policy", json!({ "text": text(word) })).await;
        assert_eq!(status, 200, "{saved}");
    }
    let (status, diff) = gate.get("/api/v1/policy/diff?from=1&to=2").await;
    assert_eq!(status, 200, "{diff}");
    let diff = diff["diff"].as_str().unwrap();
    assert!(diff.starts_with("--- version 1") && diff.contains("\n-// a0") && diff.contains("\n+// b0"));
}
