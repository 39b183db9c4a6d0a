//! What stands around policy: enablement, assignments, delegation, limits and background work.

use std::time::Duration;

use serde_json::{Value, json};

use crate::gate::{ADMIN, AGENT, NewCaller, OTHER_TENANT, OTHER_USER, TestGate};

fn code(body: &Value) -> &str {
    body["error"]["code"].as_str().unwrap_or("none")
}

async fn put(gate: &TestGate, path: &str, body: Value) -> Value {
    let (status, answer) = gate.send(Some(ADMIN), "PUT", path, Some(body), &[]).await;
    assert_eq!(status, 200, "{path}: {answer}");
    answer
}

#[tokio::test]
async fn an_agent_without_assignments_has_nothing_and_revoking_takes_effect_on_the_next_call() {
    let gate = TestGate::start().await;
    let agent = gate.post("/api/v1/principals", json!({ "id": "agent:new", "title": "New" })).await;
    assert_eq!(agent.0, 201, "{}", agent.1);
    let (_, key) = gate.post("/api/v1/keys", json!({ "principal": "agent:new", "label": "new" })).await;
    let key = key["secret"].as_str().unwrap().to_owned();
    let call = || gate.invoke_as(&key, "core__get_current_time", json!({}));
    let listed = || async {
        let (_, list) = gate.send(Some(&key), "GET", "/api/v1/tools", None, &[]).await;
        list["tools"].as_array().unwrap().len()
    };
    assert_eq!((call().await.0, listed().await), (404, 0));
    put(&gate, "/api/v1/profiles/asks", json!({ "approval": "always_ask" })).await;
    let assignment = json!({ "agent": "agent:new", "tool": "core__get_current_time" });
    put(&gate, "/api/v1/assignments", assignment.clone()).await;
    assert_eq!((call().await.0, listed().await), (200, 1));
    let mut strict = assignment;
    strict["profile"] = json!("asks");
    put(&gate, "/api/v1/assignments", strict).await;
    let (status, asked) = call().await;
    assert_eq!((status, &asked["status"]), (202, &json!("pending")), "the profile asks");
    let path = "/api/v1/assignments?agent=agent:new&tool=core__get_current_time";
    let (status, _) = gate.send(Some(ADMIN), "DELETE", path, None, &[]).await;
    assert!(status == 200 || status == 204);
    assert_eq!((call().await.0, listed().await), (404, 0));
    let approve = format!("/api/v1/invocations/{}/approve", asked["call_id"].as_str().unwrap());
    let (status, ended) = gate.send(Some(ADMIN), "POST", &approve, None, &[]).await;
    assert_eq!((status, code(&ended)), (404, "unavailable"), "revoked while it waited: {ended}");
}

#[tokio::test]
async fn an_agent_for_a_person_is_recorded_with_them_and_stops_with_them() {
    let gate = TestGate::start().await;
    gate.caller(NewCaller { tenant: "default", principal: "user:ada", ..NewCaller::default() }).await;
    let agent = NewCaller {
        tenant: "default",
        principal: "agent:assistant",
        subject: Some("user:ada"),
        acts_for: &["user:ada"],
        ..NewCaller::default()
    };
    let key = gate.caller(agent).await;
    let (status, called) = gate.invoke_as(&key, "core__get_current_time", json!({})).await;
    assert_eq!(status, 200);
    let (_, row) = gate.get(&format!("/api/v1/invocations/{}", called["call_id"].as_str().unwrap())).await;
    assert_eq!((&row["actor"], &row["subject"]), (&json!("agent:assistant"), &json!("user:ada")));
    let (_, me) = gate.send(Some(&key), "GET", "/api/v1/me", None, &[]).await;
    assert_eq!(me["subject"], "user:ada");
    // The agent's side of it is taken back, then given again and the person switched off.
    let patch = |id: &'static str, body: Value| {
        let gate = &gate;
        async move {
            let path = format!("/api/v1/principals/{id}");
            let (status, answer) = gate.send(Some(ADMIN), "PATCH", &path, Some(body), &[]).await;
            assert_eq!(status, 200, "{answer}");
        }
    };
    patch("agent:assistant", json!({ "acts_for": [] })).await;
    assert_eq!(gate.invoke_as(&key, "core__get_current_time", json!({})).await.0, 401);
    patch("agent:assistant", json!({ "acts_for": ["user:*"] })).await;
    assert_eq!(gate.invoke_as(&key, "core__get_current_time", json!({})).await.0, 200);
    patch("user:ada", json!({ "disabled": true })).await;
    assert_eq!(gate.invoke_as(&key, "core__get_current_time", json!({})).await.0, 401);
}

#[tokio::test]
async fn rates_stop_or_ask() {
    let gate = TestGate::start().await;
    let limit = |overrun: &str| json!({ "principals": ["agent:*"], "per": "principal", "rate_per_minute": 2, "on_overrun": overrun });
    put(&gate, "/api/v1/limits/slow-agents", limit("stop")).await;
    let call = |key: &'static str| gate.invoke_as(key, "core__get_current_time", json!({}));
    assert_eq!((call(AGENT).await.0, call(AGENT).await.0), (200, 200));
    let (status, refused) = call(AGENT).await;
    assert_eq!((status, code(&refused)), (429, "rate_limited"));
    assert_eq!(refused["error"]["details"]["rule"], "limit: slow-agents");
    let (_, row) = gate.get(&format!("/api/v1/invocations/{}", refused["call_id"].as_str().unwrap())).await;
    assert_eq!(row["rule"], "limit: slow-agents", "the record names it too");
    assert_eq!(call(OTHER_USER).await.0, 200, "others are not counted");
    put(&gate, "/api/v1/limits/slow-agents", limit("ask")).await;
    let (status, asked) = call(AGENT).await;
    assert_eq!((status, &asked["status"]), (202, &json!("pending")), "{asked}");
    let approve = format!("/api/v1/invocations/{}/approve", asked["call_id"].as_str().unwrap());
    let (status, ran) = gate.send(Some(ADMIN), "POST", &approve, None, &[]).await;
    assert_eq!((status, &ran["status"]), (200, &json!("completed")), "a person let it through: {ran}");
}

#[tokio::test]
async fn budgets_are_spent_by_what_calls_cost_and_survive_a_limit_being_written_anew() {
    let gate = TestGate::start().await;
    put(&gate, "/api/v1/registry/fixture__paid", json!({ "enabled": true })).await;
    let limit = |micros: i64, overrun: &str| json!({ "per": "principal", "cost": { "micros": micros, "every": "month" }, "on_overrun": overrun });
    let pay =
        |key: &'static str, micros: u32| gate.invoke_as(key, "fixture__paid", json!({ "micros": micros }));
    assert_eq!(pay(AGENT, 600).await.0, 200, "before there is a limit");
    put(&gate, "/api/v1/limits/purse", limit(1_000, "stop")).await;
    assert_eq!(pay(AGENT, 500).await.0, 200, "600 of 1000 are spent, as the record says");
    let (status, refused) = pay(AGENT, 1).await;
    assert_eq!((status, code(&refused)), (429, "budget_exceeded"), "{refused}");
    assert_eq!(refused["error"]["details"]["rule"], "limit: purse");
    assert_eq!(pay(OTHER_USER, 999).await.0, 200, "each has a purse of their own");
    put(&gate, "/api/v1/limits/purse", limit(1_000, "ask")).await;
    assert_eq!(pay(AGENT, 1).await.1["status"], "pending");
    put(&gate, "/api/v1/limits/purse", limit(5_000, "stop")).await;
    assert_eq!(pay(AGENT, 1).await.0, 200);
    let (_, free) = gate.invoke_as(AGENT, "core__get_current_time", json!({})).await;
    assert_eq!(free["status"], "completed");
}

#[tokio::test]
async fn places_are_counted_across_tools_and_given_back() {
    let gate = TestGate::start().await;
    put(
        &gate,
        "/api/v1/limits/one-at-a-time",
        json!({ "per": "tenant", "tools": ["fixture__slow_read", "core__*"], "concurrency": 1 }),
    )
    .await;
    let (status, slow) = gate
        .send(
            Some(ADMIN),
            "POST",
            "/api/v1/tools/fixture__slow_read/invoke?wait=0",
            Some(json!({ "input": { "milliseconds": 60_000 } })),
            &[],
        )
        .await;
    assert_eq!(status, 202);
    let (status, refused) = gate.invoke("core__get_current_time", json!({})).await;
    assert_eq!((status, code(&refused)), (429, "budget_exceeded"), "{refused}");
    let cancel = format!("/api/v1/invocations/{}/cancel", slow["call_id"].as_str().unwrap());
    gate.send(Some(ADMIN), "POST", &cancel, None, &[]).await;
    for _ in 0..100 {
        if gate.invoke("core__get_current_time", json!({})).await.0 == 200 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the place was not given back");
}

#[tokio::test]
async fn profiles_bound_arguments() {
    let gate = TestGate::start().await;
    put(
        &gate,
        "/api/v1/profiles/small",
        json!({ "arguments": { "type": "object", "properties": { "amount": { "maximum": 100 } } } }),
    )
    .await;
    put(
        &gate,
        "/api/v1/assignments",
        json!({ "agent": "agent:helper", "tool": "fixture__transfer", "profile": "small" }),
    )
    .await;
    let transfer =
        |amount: i64| gate.invoke_as(AGENT, "fixture__transfer", json!({ "amount": amount, "to": "ada" }));
    assert_eq!(transfer(100).await.0, 202, "within bounds it asks, as policy says");
    let (status, denied) = transfer(101).await;
    assert_eq!((status, code(&denied)), (403, "policy_denied"));
    assert_eq!(denied["error"]["details"]["rule"], "profile: small");
    assert!(!denied["error"].to_string().contains("101"), "messages never repeat arguments");
}

#[tokio::test]
async fn a_waiting_call_is_taken_up_in_its_own_tenant_without_any_request() {
    let gate = TestGate::start().await;
    let (status, waiting) = gate
        .send(
            Some(OTHER_TENANT),
            "POST",
            "/api/v1/tools/fixture__mutate/invoke",
            Some(json!({ "input": { "effect_id": "theirs" } })),
            &[],
        )
        .await;
    assert_eq!(status, 202);
    // Approved in the record alone, as if the node that took the decision had died at once.
    let parts = gate.runner.parts();
    let (tenant, chief) = ("elsewhere".parse().unwrap(), "user:chief".parse().unwrap());
    let id = waiting["call_id"].as_str().unwrap().parse().unwrap();
    let row = parts.store.get(&tenant, id).await.unwrap().unwrap();
    gate.runner.decide(&row, &chief, true, None).await.unwrap();
    for _ in 0..1_000 {
        let row = parts.store.get(&tenant, id).await.unwrap().unwrap();
        if row.status.is_settled() {
            assert_eq!(row.status.as_str(), "completed");
            assert_eq!(row.opened.tenant, tenant);
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("nobody took it up");
}
