use std::time::Duration;

use serde_json::{Value, json};

use super::code;
use crate::gate::{ADMIN, AGENT, OTHER_USER, TestGate};

#[tokio::test]
async fn a_switch_stops_and_lifting_it_lets_go_on() {
    let gate = TestGate::permissive().await;
    let (_, session) = gate.post("/api/v1/sessions", json!({})).await;
    let session = session["id"].as_str().unwrap().to_owned();
    for (kind, target) in [
        ("tool", "core__get_current_time"),
        ("principal", "user:admin"),
        ("session", session.as_str()),
        ("tenant", "default"),
    ] {
        let call = async || {
            let body = json!({ "input": {}, "session_id": session });
            gate.post("/api/v1/tools/core__get_current_time/invoke", body).await
        };
        assert_eq!(call().await.0, 200, "{kind}");
        let body = json!({ "kind": kind, "target": target, "reason": "a trial" });
        let (status, thrown) = gate.post("/api/v1/kills", body.clone()).await;
        assert_eq!(status, 200, "{thrown}");
        assert_eq!(
            (&thrown["kind"], &thrown["target"], &thrown["by"]),
            (&json!(kind), &json!(target), &json!("user:admin"))
        );
        assert_eq!(gate.post("/api/v1/kills", body).await.1, thrown, "once more changes nothing");
        assert_eq!(thrown["known"], json!(true));
        let mut thrown = thrown;
        thrown.as_object_mut().unwrap().remove("known");
        let (status, stopped) = call().await;
        assert_eq!((status, code(&stopped)), (403, "policy_denied"), "{kind}: {stopped}");
        assert!(stopped["error"]["message"].as_str().unwrap().contains("a trial"), "{stopped}");
        assert_eq!(gate.get("/api/v1/kills").await.1["kills"], json!([thrown]), "managing goes on");
        let path = format!("/api/v1/kills?kind={kind}&target={target}");
        assert_eq!(gate.delete(&path).await.0, 204);
        assert_eq!(gate.delete(&path).await.0, 404);
        assert_eq!(call().await.0, 200, "{kind}");
    }
    gate.verify().await;
}

#[tokio::test]
async fn a_stopped_tenant_is_still_managed() {
    let gate = TestGate::start().await;
    assert_eq!(gate.post("/api/v1/kills", json!({ "kind": "tenant", "reason": "all stop" })).await.0, 200);
    assert_eq!(
        gate.post(
            "/api/v1/kills",
            json!({ "kind": "principal", "target": "user:admin", "reason": "me too" })
        )
        .await
        .0,
        200
    );
    assert_eq!(gate.invoke_as(OTHER_USER, "core__get_current_time", json!({})).await.0, 403);
    assert_eq!(gate.put("/api/v1/toolsets/new", json!({ "tools": ["*"] })).await.0, 200);
    assert_eq!(gate.patch("/api/v1/principals/user:other", json!({ "title": "x" })).await.0, 200);
    assert_eq!(gate.delete("/api/v1/kills?kind=tenant").await.0, 204);
    assert_eq!(gate.invoke_as(OTHER_USER, "core__get_current_time", json!({})).await.0, 200);
}

#[tokio::test]
async fn running_calls_are_asked_to_stop() {
    let gate = TestGate::permissive().await;
    let begin = async |key: &str| {
        let body = json!({ "input": { "milliseconds": 60_000 } });
        let path = "/api/v1/tools/fixture__slow_read/invoke?wait=0";
        let (status, call) = gate.post_as(key, path, body).await;
        assert_eq!(status, 202, "{call}");
        call["call_id"].as_str().unwrap().to_owned()
    };
    let (mine, agents) = (begin(ADMIN).await, begin(AGENT).await);
    let body = json!({ "kind": "principal", "target": "agent:helper", "reason": "went astray" });
    assert_eq!(gate.post("/api/v1/kills", body).await.0, 200);
    let settled =
        async |id: &str| -> Value { gate.get(&format!("/api/v1/invocations/{id}?wait=20")).await.1 };
    let row = settled(&agents).await;
    assert_eq!(row["status"], "cancelled", "{row}");
    assert!(row["reason"].as_str().unwrap_or_default().contains("went astray"), "{row}");
    let (_, row) = gate.get(&format!("/api/v1/invocations/{mine}")).await;
    assert_eq!(
        (&row["status"], &row["cancel_requested"]),
        (&json!("running"), &json!(false)),
        "others go on"
    );
    gate.post("/api/v1/kills", json!({ "kind": "tool", "target": "fixture__slow_read", "reason": "enough" }))
        .await;
    assert_eq!(settled(&mine).await["status"], "cancelled");
    tokio::time::sleep(Duration::from_millis(50)).await;
    gate.verify().await;
}

#[tokio::test]
async fn targets_fit_their_kind() {
    let gate = TestGate::start().await;
    for (kind, target) in [
        ("tool", "no namespace"),
        ("principal", "ada"),
        ("connection", "ses_00000000000000000000000000000000"),
        ("session", "con_00000000000000000000000000000000"),
        ("session", "*"),
        ("moon", "x"),
    ] {
        let (status, answer) =
            gate.post("/api/v1/kills", json!({ "kind": kind, "target": target, "reason": "x" })).await;
        assert_eq!((status, code(&answer)), (400, "bad_request"), "{kind} {target}");
        assert_eq!(
            gate.delete(&format!("/api/v1/kills?kind={kind}&target={}", target.replace(' ', "+"))).await.0,
            400
        );
    }
    for reason in ["", "  ", "a\nb", &"x".repeat(501)] {
        let (status, _) = gate.post("/api/v1/kills", json!({ "kind": "tenant", "reason": reason })).await;
        assert_eq!(status, 400, "{reason:?}");
    }
    assert_eq!(gate.post("/api/v1/kills", json!({ "kind": "tool", "reason": "x" })).await.0, 400);
    let (status, _) =
        gate.post("/api/v1/kills", json!({ "kind": "tenant", "target": "elsewhere", "reason": "x" })).await;
    assert_eq!(status, 404, "only one's own tenant");
    let connection = "con_00000000000000000000000000000000";
    let (status, _) = gate
        .post("/api/v1/kills", json!({ "kind": "connection", "target": connection, "reason": "x" }))
        .await;
    assert_eq!(status, 200);
}

#[tokio::test]
async fn a_switch_for_what_is_not_there_says_so_and_holds_once_it_comes() {
    let gate = TestGate::permissive().await;
    for (kind, target) in [
        ("tool", "crm__no_such"),
        ("principal", "user:late"),
        ("session", "ses_00000000000000000000000000000000"),
        ("connection", "con_00000000000000000000000000000000"),
    ] {
        let body = json!({ "kind": kind, "target": target, "reason": "before it comes" });
        let (status, thrown) = gate.post("/api/v1/kills", body).await;
        assert_eq!((status, &thrown["known"]), (200, &json!(false)), "{thrown}");
    }
    let late = gate.person("user:late", &[], &[]).await;
    let (status, stopped) = gate.invoke_as(&late, "core__get_current_time", json!({})).await;
    assert_eq!((status, code(&stopped)), (403, "policy_denied"), "{stopped}");
}

#[tokio::test]
async fn an_old_name_stops_the_tool_even_while_it_is_off() {
    let gate = TestGate::permissive().await;
    let tool = "/api/v1/registry/fixture__counted_read";
    let (status, off) = gate.put(tool, json!({ "enabled": false })).await;
    assert_eq!(status, 200, "{off}");
    let body = json!({ "kind": "tool", "target": "fixture__count", "reason": "by its old name" });
    let (status, thrown) = gate.post("/api/v1/kills", body).await;
    assert_eq!(status, 200, "{thrown}");
    assert_eq!((&thrown["target"], &thrown["known"]), (&json!("fixture__counted_read"), &json!(true)));
    let (status, on) = gate.put(tool, json!({ "enabled": true })).await;
    assert_eq!(status, 200, "{on}");
    for name in ["fixture__count", "fixture__counted_read"] {
        let (status, stopped) = gate.invoke(name, json!({ "effect_id": "x" })).await;
        assert_eq!((status, code(&stopped)), (403, "policy_denied"), "{stopped}");
    }
    assert_eq!(gate.delete("/api/v1/kills?kind=tool&target=fixture__count").await.0, 204);
}
