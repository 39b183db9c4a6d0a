use serde_json::{Value, json};

use super::code;
use crate::gate::{ADMIN, OTHER_TENANT, OTHER_USER, TestGate};

async fn entry(gate: &TestGate, key: &str, tool: &str) -> Value {
    let (_, list) = gate.get_as(key, "/api/v1/registry?limit=1000").await;
    list["tools"].as_array().unwrap().iter().find(|entry| entry["id"] == tool).cloned().unwrap_or(Value::Null)
}

#[tokio::test]
async fn a_system_tool_is_switched_on_and_a_custom_tool_off() {
    let gate = TestGate::permissive().await;
    let (paid, time) = ("fixture__paid", "core__get_current_time");
    let before = entry(&gate, OTHER_TENANT, paid).await;
    assert_eq!(
        (&before["origin"], &before["enabled"], &before["enablement"]),
        (&json!("system"), &json!(false), &json!("off_by_default"))
    );
    assert_eq!(entry(&gate, OTHER_TENANT, time).await["enablement"], "on_by_default");

    let put = async |key: &str, tool: &str, body: Value| {
        gate.send(Some(key), "PUT", &format!("/api/v1/registry/{tool}"), Some(body), &[]).await
    };
    let call = async |key: &str| gate.invoke_as(key, paid, json!({ "micros": 1 })).await.0;
    assert_eq!(call(OTHER_TENANT).await, 404);
    let (status, on) = put(OTHER_TENANT, paid, json!({ "enabled": true })).await;
    assert_eq!(
        (status, &on["enablement"], &on["setting"]),
        (200, &json!("on_by_tenant"), &json!({ "enabled": true })),
        "{on}"
    );
    assert_eq!(call(OTHER_TENANT).await, 200);
    assert_eq!(call(ADMIN).await, 404, "only there");

    // The default tenant switches for all, and off is final.
    put(ADMIN, paid, json!({ "enabled": false })).await;
    let entry_there = entry(&gate, OTHER_TENANT, paid).await;
    assert_eq!(
        (&entry_there["enablement"], &entry_there["default_setting"]),
        (&json!("off_for_all"), &json!({ "enabled": false }))
    );
    assert_eq!(call(OTHER_TENANT).await, 404);
    put(ADMIN, paid, json!({ "enabled": true })).await;
    assert_eq!((call(OTHER_TENANT).await, call(ADMIN).await), (200, 200));
    assert_eq!(gate.delete("/api/v1/registry/fixture__paid").await.0, 204);
    assert_eq!(gate.delete("/api/v1/registry/fixture__paid").await.0, 404);

    put(OTHER_TENANT, time, json!({ "enabled": false })).await;
    let off =
        async || gate.get_as(OTHER_TENANT, "/api/v1/registry?enabled=false&limit=1000").await.1.to_string();
    assert!(off().await.contains(time));
    assert_eq!(gate.invoke_as(OTHER_TENANT, time, json!({})).await.0, 404);
    assert_eq!(
        gate.send(Some(OTHER_TENANT), "DELETE", &format!("/api/v1/registry/{time}"), None, &[]).await.0,
        204
    );
    assert!(!off().await.contains(time));
    assert_eq!(gate.invoke_as(OTHER_TENANT, time, json!({})).await.0, 200);
}

#[tokio::test]
async fn a_setting_can_have_every_call_ask() {
    let gate = TestGate::permissive().await;
    let path = "/api/v1/registry/core__get_current_time";
    let (_, asks) = gate.put(path, json!({ "approval": "always_ask" })).await;
    assert_eq!((&asks["requires_approval"], &asks["enabled"]), (&json!(true), &json!(true)));
    assert_eq!(gate.invoke("core__get_current_time", json!({})).await.0, 202);
    for bad in [json!({ "approval": "auto" }), json!({}), json!({ "enabled": "yes" }), json!({ "on": true })]
    {
        let (status, answer) = gate.put(path, bad.clone()).await;
        assert_eq!((status, code(&answer)), (400, "bad_request"), "{bad}");
    }
    gate.delete(path).await;
    assert_eq!(gate.invoke("core__get_current_time", json!({})).await.0, 200);
}

#[tokio::test]
async fn what_a_tenant_can_not_have_is_not_there() {
    let gate = TestGate::start().await;
    for tool in ["fixture__elsewhere", "core__no_such", "nonsense"] {
        for (method, body) in [("PUT", Some(json!({ "enabled": true }))), ("DELETE", None)] {
            let (status, answer) =
                gate.send(Some(ADMIN), method, &format!("/api/v1/registry/{tool}"), body, &[]).await;
            assert_eq!((status, code(&answer)), (404, "not_found"), "{method} {tool}");
        }
    }
    assert_eq!(entry(&gate, ADMIN, "fixture__elsewhere").await, Value::Null);
    assert_eq!(entry(&gate, OTHER_TENANT, "fixture__elsewhere").await["enabled"], true);
    assert_eq!(gate.get_as(OTHER_USER, "/api/v1/registry").await.0, 403);
}

#[tokio::test]
async fn the_registry_comes_in_pages() {
    let gate = TestGate::start().await;
    let (mut ids, mut cursor) = (Vec::new(), String::new());
    loop {
        let (_, page) = gate.get(&format!("/api/v1/registry?limit=3{cursor}")).await;
        ids.extend(
            page["tools"].as_array().unwrap().iter().map(|tool| tool["id"].as_str().unwrap().to_owned()),
        );
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    let (_, all) = gate.get("/api/v1/registry?limit=1000").await;
    assert_eq!(ids.len(), all["tools"].as_array().unwrap().len());
    assert!(ids.is_sorted() && ids.len() > 3);
}
