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

#[tokio::test]
async fn one_agent_for_two_people_keeps_them_apart() {
    let gate = TestGate::start().await;
    let mut keys = Vec::new();
    for person in ["user:ada", "user:bob"] {
        gate.caller(NewCaller { tenant: "default", principal: person, ..NewCaller::default() }).await;
        let agent = NewCaller {
            tenant: "default",
            principal: "agent:shared",
            subject: Some(person),
            acts_for: &["user:*"],
            ..NewCaller::default()
        };
        keys.push(gate.caller(agent).await);
    }
    let path = "/api/v1/tools/core__get_current_time/invoke";
    let call = |key: String, session: Option<Value>| {
        let gate = &gate;
        async move {
            let once = if session.is_some() { "another" } else { "same" };
            let body = json!({ "input": {}, "session_id": session });
            gate.send(Some(&key), "POST", path, Some(body), &[("idempotency-key", once)]).await
        }
    };
    let (_, for_ada) = call(keys[0].clone(), None).await;
    let (status, for_bob) = call(keys[1].clone(), None).await;
    assert_eq!(status, 200);
    assert_ne!(for_ada["call_id"], for_bob["call_id"], "another person's call is another call");
    let read = format!("/api/v1/invocations/{}", for_ada["call_id"].as_str().unwrap());
    assert_eq!(gate.send(Some(&keys[1]), "GET", &read, None, &[]).await.0, 404);
    assert_eq!(gate.send(Some(&keys[0]), "GET", &read, None, &[]).await.0, 200);
    let (_, list) = gate.send(Some(&keys[1]), "GET", "/api/v1/invocations", None, &[]).await;
    assert_eq!(list["invocations"].as_array().unwrap().len(), 1);
    let (status, _) = call(keys[1].clone(), Some(for_ada["session_id"].clone())).await;
    assert_eq!(status, 404, "nor does it work in the other's session");
    let events = format!("/api/v1/sessions/{}/events", for_ada["session_id"].as_str().unwrap());
    assert_eq!(gate.send(Some(&keys[1]), "GET", &events, None, &[]).await.0, 404);
}

#[tokio::test]
async fn a_narrowed_key_has_no_say_in_what_it_can_not_call() {
    let gate = TestGate::start().await;
    let narrowed = NewCaller {
        tenant: "default",
        principal: "user:admin",
        roles: &["admin"],
        scopes: &["tool:core__get_current_time"],
        ..NewCaller::default()
    };
    let key = gate.caller(narrowed).await;
    let (_, waiting) = gate.invoke("fixture__mutate", json!({ "effect_id": "x" })).await;
    let id = waiting["call_id"].as_str().unwrap();
    for (method, path, body) in [
        ("GET", format!("/api/v1/invocations/{id}"), None),
        ("POST", format!("/api/v1/invocations/{id}/cancel"), None),
        ("POST", format!("/api/v1/invocations/{id}/approve"), None),
        ("POST", format!("/api/v1/invocations/{id}/settle"), Some(json!({ "outcome": "run_again" }))),
    ] {
        let (status, answer) = gate.send(Some(&key), method, &path, body, &[]).await;
        assert!(status == 404 || status == 403, "{method} {path}: {status} {answer}");
    }
    let (_, list) = gate.send(Some(&key), "GET", "/api/v1/invocations", None, &[]).await;
    assert_eq!(list["invocations"], json!([]));
    let (_, clock) = gate.invoke_as(&key, "core__get_current_time", json!({})).await;
    let (_, list) = gate.send(Some(&key), "GET", "/api/v1/invocations", None, &[]).await;
    assert_eq!(list["invocations"][0]["id"], clock["call_id"]);
}

#[tokio::test]
async fn what_a_revoked_key_asked_for_does_not_run() {
    let gate = TestGate::start().await;
    let (_, made) = gate.post("/api/v1/keys", json!({ "principal": "agent:helper", "label": "leaky" })).await;
    let (id, secret) = (made["key"]["id"].as_str().unwrap(), made["secret"].as_str().unwrap());
    let (_, waiting) = gate.invoke_as(secret, "fixture__mutate", json!({ "effect_id": "leaked" })).await;
    let path = format!("/api/v1/invocations/{}", waiting["call_id"].as_str().unwrap());
    let (_, row) = gate.get(&path).await;
    assert_eq!(row["key_id"], id, "the record names the key");
    gate.send(Some(ADMIN), "DELETE", &format!("/api/v1/keys/{id}"), None, &[]).await;
    let (status, ended) = gate.send(Some(ADMIN), "POST", &format!("{path}/approve"), None, &[]).await;
    assert_eq!((status, code(&ended)), (403, "authz_denied"), "{ended}");
    assert!(!gate.receiver.counts().contains_key("leaked"));
}

#[tokio::test]
async fn hard_limits_hold_whatever_a_person_waives() {
    let gate = TestGate::start().await;
    put(&gate, "/api/v1/registry/fixture__paid", json!({ "enabled": true })).await;
    let limit = |micros: i64, overrun: &str| json!({ "per": "principal", "cost": { "micros": micros, "every": "month" }, "on_overrun": overrun });
    put(&gate, "/api/v1/limits/a-soft", limit(100, "ask")).await;
    put(&gate, "/api/v1/limits/b-hard", limit(300, "stop")).await;
    let pay = |micros: u32| gate.invoke_as(AGENT, "fixture__paid", json!({ "micros": micros }));
    assert_eq!(pay(150).await.0, 200);
    let (_, asked) = pay(200).await;
    let (_, asked_too) = pay(1).await;
    assert_eq!((&asked["status"], &asked_too["status"]), (&json!("pending"), &json!("pending")));
    let approve = |call: &Value| format!("/api/v1/invocations/{}/approve", call["call_id"].as_str().unwrap());
    let (status, ran) = gate.send(Some(ADMIN), "POST", &approve(&asked), None, &[]).await;
    assert_eq!((status, &ran["status"]), (200, &json!("completed")), "{ran}");
    let (status, stopped) = gate.send(Some(ADMIN), "POST", &approve(&asked_too), None, &[]).await;
    assert_eq!((status, code(&stopped)), (429, "budget_exceeded"), "350 of 300 are spent: {stopped}");
    let (status, refused) = pay(1).await;
    assert_eq!((status, code(&refused)), (429, "budget_exceeded"));
    assert_eq!(refused["error"]["details"]["rule"], "limit: b-hard");
}

#[tokio::test]
async fn approved_calls_wait_for_their_places() {
    let gate = TestGate::start().await;
    // The rate asks; that a person waives it opens no second place.
    let limit = json!({ "per": "tenant", "tools": ["fixture__slow_mutate"], "concurrency": 1,
        "rate_per_minute": 1, "on_overrun": "ask" });
    put(&gate, "/api/v1/limits/one", limit).await;
    let mut calls = Vec::new();
    for _ in 0..3 {
        let (status, waiting) = gate.invoke("fixture__slow_mutate", json!({ "milliseconds": 300 })).await;
        assert_eq!(status, 202);
        calls.push(waiting["call_id"].as_str().unwrap().to_owned());
    }
    for id in &calls {
        let path = format!("/api/v1/invocations/{id}/approve?wait=0");
        let (status, _) = gate.send(Some(ADMIN), "POST", &path, None, &[]).await;
        assert_eq!(status, 202);
    }
    let (_, running) = gate.get("/api/v1/invocations?status=running").await;
    assert!(running["invocations"].as_array().unwrap().len() <= 1, "one at a time");
    for id in &calls {
        for _ in 0..600 {
            let (_, row) = gate.get(&format!("/api/v1/invocations/{id}")).await;
            if row["status"] == "completed" {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let (_, row) = gate.get(&format!("/api/v1/invocations/{id}")).await;
        assert_eq!(row["status"], "completed", "each gets its turn");
    }
}

#[tokio::test]
async fn approvers_find_what_waits_and_the_stopped_decide_nothing() {
    let gate = TestGate::start().await;
    let approver =
        NewCaller { tenant: "default", principal: "user:boss", roles: &["approver"], ..NewCaller::default() };
    let approver = gate.caller(approver).await;
    let (_, waiting) = gate.invoke_as(OTHER_USER, "fixture__mutate", json!({ "effect_id": "1" })).await;
    let pending = "/api/v1/invocations?status=pending";
    let (_, list) = gate.send(Some(&approver), "GET", pending, None, &[]).await;
    assert_eq!(list["invocations"][0]["id"], waiting["call_id"]);
    let (_, list) = gate.send(Some(AGENT), "GET", pending, None, &[]).await;
    assert_eq!(list["invocations"], json!([]));
    let kill = json!({ "kind": "principal", "target": "user:boss", "reason": "on leave" });
    assert_eq!(gate.post("/api/v1/kills", kill).await.0, 200);
    let approve = format!("/api/v1/invocations/{}/approve", waiting["call_id"].as_str().unwrap());
    let (status, _) = gate.send(Some(&approver), "POST", &approve, None, &[]).await;
    assert!(status == 403 || status == 404);
    assert_eq!(gate.get(&approve.replace("/approve", "")).await.1["status"], "pending");
}

#[tokio::test]
async fn a_forbid_on_approving_reads_labels_and_what_really_runs() {
    let gate = TestGate::start().await;
    let text = format!(
        "{}\n{}",
        toolgate_policy::cedar::Policies::default_set().0,
        r#"@id("untrusted work is not approved")
           forbid (principal, action == Toolgate::Action::"approve", resource)
           when { context.labels.contains("untrusted") };"#
    );
    put(&gate, "/api/v1/policy", json!({ "text": text })).await;
    let (_, session) = gate.post("/api/v1/sessions", json!({ "labels": ["untrusted"] })).await;
    let body = json!({ "input": { "effect_id": "u" }, "session_id": session["id"] });
    let (_, waiting) = gate.post("/api/v1/tools/fixture__mutate/invoke", body).await;
    let approve = format!("/api/v1/invocations/{}/approve", waiting["call_id"].as_str().unwrap());
    let (status, refused) = gate.send(Some(ADMIN), "POST", &approve, None, &[]).await;
    assert_eq!(
        (status, &refused["error"]["details"]["rule"]),
        (403, &json!("untrusted work is not approved"))
    );
}
