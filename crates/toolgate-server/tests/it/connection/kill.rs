//! A kill switch on an account reaches the calls that run through it, wherever it was thrown.

use serde_json::{Value, json};
use toolgate_core::administration::{AdminChange, Write};
use toolgate_core::document::{DocumentKind, Expect};
use toolgate_core::kill::{Kill, KillKind};
use toolgate_core::{JsonText, Timestamp};
use toolgate_server::ServerSettings;

use crate::gate::{ADMIN, PERMISSIVE, TestGate};
use crate::outside::Outside;

const TOOL: &str = "mcp__server__act";

/// A gate with a server that never answers when told so, behind an account that all share.
async fn gate(effect: &str) -> (TestGate, String) {
    let outside = Some(Outside(Vec::new()));
    let gate = TestGate::with_outside(ServerSettings::default(), PERMISSIVE, outside, |app| app).await;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../toolgate-upstream/tests/it/hostile.mjs");
    let transport = json!({ "kind": "stdio", "command": "node", "args": [script, "stdio"] });
    let body = json!({ "transport": transport, "auth": "shared" });
    ok(gate.send(Some(ADMIN), "PUT", "/api/v1/upstreams/server", Some(body), &[]).await);
    let given = json!({ "kind": "env", "name": "KEY", "secret": "s3cret-of-all", "shared": true });
    let made = ok(gate.send(Some(ADMIN), "PUT", "/api/v1/connections/mcp:server", Some(given), &[]).await);
    ok(gate.post("/api/v1/upstreams/server/refresh", json!({})).await);
    let offered = ok(gate.get(&format!("/api/v1/upstream-tools/{TOOL}")).await);
    let decision = json!({ "digest": offered["digest"], "effect": effect, "egress": "none",
                           "redaction_allow": ["*"] });
    ok(gate.post(&format!("/api/v1/upstream-tools/{TOOL}/accept"), decision).await);
    (gate, made["id"].as_str().unwrap().to_owned())
}

fn ok((status, answer): (u16, Value)) -> Value {
    assert_eq!(status, 200, "{answer}");
    answer
}

async fn running(gate: &TestGate) -> String {
    let path = format!("/api/v1/tools/{TOOL}/invoke?wait=0.5");
    let (status, call) = gate.post(&path, json!({ "input": { "do": "mute" } })).await;
    assert_eq!((status, &call["status"]), (202, &json!("running")), "{call}");
    call["call_id"].as_str().unwrap().to_owned()
}

async fn ended(gate: &TestGate, call: &str) -> Value {
    ok(gate.get(&format!("/api/v1/invocations/{call}?wait=60")).await)
}

#[tokio::test]
async fn what_runs_through_a_stopped_account_is_stopped() {
    for (effect, status) in [("read", "cancelled"), ("mutate", "in_doubt")] {
        let (gate, connection) = gate(effect).await;
        let call = running(&gate).await;
        let kill = json!({ "kind": "connection", "target": connection, "reason": "leaked" });
        ok(gate.post("/api/v1/kills", kill).await);
        let ended = ended(&gate, &call).await;
        assert_eq!((&ended["status"], &ended["cancel_requested"]), (&json!(status), &json!(true)), "{ended}");
        assert_eq!(ended["reason"], "kill switch: leaked", "{ended}");
        gate.verify().await;
    }
}

/// Another node writes the switch; this one hears of it.
#[tokio::test]
async fn a_switch_thrown_elsewhere_is_heard_of() {
    let (gate, connection) = gate("read").await;
    let call = running(&gate).await;
    let kill = Kill { kind: KillKind::Connection, target: connection, reason: "leaked".to_owned() };
    let write = Write::PutDocument {
        kind: DocumentKind::Kill,
        name: Kill::document_name(kill.kind, &kill.target),
        body: JsonText::from_value(&serde_json::to_value(&kill).unwrap()),
        expect: Expect::Anything,
    };
    let by = "user:elsewhere".parse().unwrap();
    let at = Timestamp::from_micros(1);
    let change =
        AdminChange::new("default".parse().unwrap(), by, at, &json!({ "action": "test" }), vec![write]);
    gate.app.store().change(change).await.unwrap();
    let ended = ended(&gate, &call).await;
    assert_eq!(
        (&ended["status"], &ended["reason"]),
        (&json!("cancelled"), &json!("kill switch: leaked")),
        "{ended}"
    );
    let events = ended["events"].as_array().unwrap();
    let stopped = events.iter().find(|event| event["type"] == "tool.cancel_requested").unwrap();
    assert_eq!(stopped["actor"], "user:elsewhere");
}
