//! Every way a call can go, and what is recorded of it.

use serde_json::{Value, json};

use crate::gate::{ADMIN, AGENT, OTHER_USER, TestGate};

fn code(body: &Value) -> &str {
    body["error"]["code"].as_str().unwrap_or("none")
}

#[tokio::test]
async fn every_stage_stops_with_its_code() {
    let gate = TestGate::permissive().await;
    for (tool, input, status, expected) in [
        ("core__no_such_tool", json!({}), 404, "unavailable"),
        ("core__get_current_time", json!({ "timezone": 5 }), 422, "validation"),
        ("core__get_current_time", json!({ "zone": "UTC" }), 422, "validation"),
        ("core__get_current_time", json!([]), 422, "validation"),
        ("core__get_current_time", json!(null), 422, "validation"),
        ("core__get_current_time", json!({ "timezone": "Not/AZone" }), 422, "execution"),
        ("fixture__misbehave", json!({ "how": "fail" }), 422, "execution"),
        ("fixture__misbehave", json!({ "how": "panic" }), 422, "execution"),
        ("fixture__misbehave", json!({ "how": "break_schema" }), 502, "output_invalid"),
        ("fixture__misbehave", json!({ "how": "too_large" }), 502, "result_too_large"),
        ("fixture__misbehave", json!({ "how": "too_deep" }), 502, "result_too_large"),
        ("fixture__internal", json!({ "how": "nothing" }), 404, "unavailable"),
        ("fixture__hurried", json!({ "milliseconds": 5000 }), 504, "timeout"),
    ] {
        let (got, body) = gate.invoke(tool, input.clone()).await;
        assert_eq!((got, code(&body)), (status, expected), "{tool} {input}: {body}");
        assert_eq!(body["ok"], false);
        // Stopped or not, it is in the record, and its events end with the same word.
        let events = gate.events(&body).await;
        assert_eq!(events.last().unwrap(), "tool.failed", "{tool} {input}");
    }
    gate.verify().await;
}

#[tokio::test]
async fn policy_denies_by_default_and_names_the_rule() {
    let policy = r#"@id("all may look") permit (principal, action == Toolgate::Action::"see", resource);"#;
    let gate = TestGate::with(toolgate_server::ServerSettings::default(), policy).await;
    let (status, body) = gate.invoke("core__get_current_time", json!({})).await;
    assert_eq!((status, code(&body)), (403, "policy_denied"));
    assert_eq!(body["error"]["details"]["rule"], "deny by default");
    assert!(body["error"]["hint"].is_string());
    let (_, list) = gate.get("/api/v1/tools").await;
    assert_eq!(list["tools"], json!([]), "what may not be called is not listed");

    let gate = TestGate::with(toolgate_server::ServerSettings::default(), "").await;
    let (status, body) = gate.invoke("core__get_current_time", json!({})).await;
    assert_eq!((status, code(&body)), (404, "unavailable"), "what may not be seen looks absent");
    let (_, absent) = gate.invoke("core__get_current_day", json!({})).await;
    let told = |body: &serde_json::Value| body["error"].to_string().replace("_day", "_time");
    assert_eq!(told(&body), told(&absent), "to the letter");
}

#[tokio::test]
async fn redacted_fields_are_nowhere() {
    let gate = TestGate::start().await;
    let (status, body) = gate.invoke("fixture__misbehave", json!({ "how": "nothing" })).await;
    assert_eq!((status, &body["value"]), (200, &json!({ "shown": 1 })));
    let (_, row) = gate.get(&format!("/api/v1/invocations/{}", body["call_id"].as_str().unwrap())).await;
    assert!(!row.to_string().contains("eyes"), "{row}");
}

#[tokio::test]
async fn messages_never_repeat_arguments() {
    let gate = TestGate::start().await;
    let planted = "sk-planted-5f1c7e";
    for input in [
        json!({ "timezone": planted, "x": planted }),
        json!({ "timezone": { "deep": planted } }),
        json!({ "timezone": planted }),
        json!(planted),
    ] {
        let (_, body) = gate.invoke("core__get_current_time", input.clone()).await;
        assert!(!body.to_string().contains(planted), "{input}: {body}");
    }
}

#[tokio::test]
async fn the_same_key_returns_the_first_result() {
    let gate = TestGate::permissive().await;
    let path = "/api/v1/tools/fixture__mutate/invoke";
    let body = json!({ "input": { "effect_id": "one" } });
    let key = [("idempotency-key", "k-1")];
    let (_, first) = gate.send(Some(ADMIN), "POST", path, Some(body.clone()), &key).await;
    let (status, again) = gate.send(Some(ADMIN), "POST", path, Some(body.clone()), &key).await;
    assert_eq!((status, &again["call_id"], &again["value"]), (200, &first["call_id"], &first["value"]));
    assert_eq!(again["repeated"], true);
    let other = json!({ "input": { "effect_id": "two" } });
    let (status, conflict) = gate.send(Some(ADMIN), "POST", path, Some(other), &key).await;
    assert_eq!((status, code(&conflict)), (409, "idempotency_conflict"));
    assert_eq!(conflict["error"]["details"]["first_call_id"], first["call_id"]);
    // A key belongs to a principal and a tool: for another one it is fresh.
    let (_, others) = gate.send(Some(OTHER_USER), "POST", path, Some(body), &key).await;
    assert_ne!(others["call_id"], first["call_id"]);
    assert_eq!(gate.receiver.counts()["one"], 2);
    for bad in ["", "with space", &"x".repeat(256)] {
        let (status, _) =
            gate.send(Some(ADMIN), "POST", path, Some(json!({})), &[("idempotency-key", bad)]).await;
        assert_eq!(status, 400, "{bad:?}");
    }
}

#[tokio::test]
async fn a_hundred_calls_with_one_key_have_one_effect() {
    let gate = TestGate::permissive().await;
    let body = json!({ "input": { "effect_id": "race" } });
    let calls = (0..100).map(|_| {
        gate.send(
            Some(ADMIN),
            "POST",
            "/api/v1/tools/fixture__mutate/invoke",
            Some(body.clone()),
            &[("idempotency-key", "race")],
        )
    });
    let answers = futures::future::join_all(calls).await;
    assert_eq!(gate.receiver.counts()["race"], 1);
    let first = &answers[0].1["call_id"];
    assert!(answers.iter().all(|(_, body)| body["call_id"] == *first));
    gate.verify().await;
}

#[tokio::test]
async fn a_stopped_call_leaves_its_key_free() {
    let gate = TestGate::start().await;
    let path = "/api/v1/tools/core__get_current_time/invoke";
    let key = [("idempotency-key", "mend")];
    let (status, _) =
        gate.send(Some(ADMIN), "POST", path, Some(json!({ "input": { "timezone": 1 } })), &key).await;
    assert_eq!(status, 422);
    let (status, _) = gate.send(Some(ADMIN), "POST", path, Some(json!({ "input": {} })), &key).await;
    assert_eq!(status, 200);
}

#[tokio::test]
async fn what_changes_something_waits_for_a_person() {
    let gate = TestGate::start().await;
    let (status, call) = gate.invoke_as(AGENT, "fixture__mutate", json!({ "effect_id": "asked" })).await;
    assert_eq!((status, &call["status"], &call["ok"]), (202, &json!("pending"), &json!(false)));
    assert!(gate.receiver.counts().is_empty(), "nothing happens before a person decides");
    let repeat = json!({ "input": { "effect_id": "kept" } });
    let send = || {
        let key = &[("idempotency-key", "parked")];
        gate.send(
            Some(AGENT),
            "POST",
            "/api/v1/tools/fixture__mutate/invoke?wait=20",
            Some(repeat.clone()),
            key,
        )
    };
    let first = send().await;
    let again = tokio::time::timeout(std::time::Duration::from_secs(5), send()).await;
    assert_eq!(
        again.unwrap().1["call_id"],
        first.1["call_id"],
        "a repeat of a parked call does not wait either"
    );
    let path = format!("/api/v1/invocations/{}", call["call_id"].as_str().unwrap());

    let (status, refused) = gate.send(Some(AGENT), "POST", &format!("{path}/approve"), None, &[]).await;
    assert_eq!((status, code(&refused)), (403, "forbidden"), "an agent never approves its own call");
    let (status, _) = gate.send(Some(OTHER_USER), "POST", &format!("{path}/approve"), None, &[]).await;
    assert_eq!(status, 404, "a stranger does not even see it");

    let (status, done) = gate.post(&format!("{path}/approve"), json!({ "reason": "looks fine" })).await;
    assert_eq!(
        (status, &done["status"], &done["call_id"]),
        (200, &json!("completed"), &call["call_id"]),
        "{done}"
    );
    assert_eq!(gate.receiver.counts()["asked"], 1);
    let (status, again) = gate.send(Some(ADMIN), "POST", &format!("{path}/approve"), None, &[]).await;
    assert_eq!((status, code(&again)), (409, "conflict"), "a decision is made once");
    let (_, row) = gate.get(&path).await;
    assert_eq!(
        (&row["approval"], &row["decided_by"], &row["reason"]),
        (&json!("approved"), &json!("user:admin"), &json!("looks fine"))
    );
    assert_eq!(row["cost_micros"], 1_500, "what the tool says it cost is recorded");
    assert_eq!(
        gate.events(&call).await,
        ["tool.needs_approval", "tool.approved", "tool.started", "tool.completed"]
    );
    gate.verify().await;
}

#[tokio::test]
async fn a_person_may_refuse_with_a_reason() {
    let gate = TestGate::start().await;
    let (_, call) = gate.invoke("fixture__mutate", json!({ "effect_id": "no" })).await;
    let path = format!("/api/v1/invocations/{}/reject", call["call_id"].as_str().unwrap());
    let (status, _) = gate.post(&path, json!({})).await;
    assert_eq!(status, 400, "a refusal needs a reason");
    let (status, row) = gate.post(&path, json!({ "reason": "too risky" })).await;
    assert_eq!((status, &row["status"], &row["reason"]), (200, &json!("rejected"), &json!("too risky")));
    assert!(gate.receiver.counts().is_empty());
    gate.verify().await;
}

#[tokio::test]
async fn writes_outside_and_destruction_ask_whatever_policy_says() {
    let gate = TestGate::permissive().await;
    for (key, tool, expected) in [
        (ADMIN, "fixture__write_outside", "pending"),
        (AGENT, "fixture__write_outside", "pending"),
        (AGENT, "fixture__destroy", "pending"),
        (ADMIN, "fixture__destroy", "completed"),
        (ADMIN, "fixture__always_ask", "pending"),
        (AGENT, "fixture__mutate", "completed"),
    ] {
        let (_, call) = gate.invoke_as(key, tool, json!({ "effect_id": format!("{tool}{key}") })).await;
        assert_eq!(call["status"], expected, "{tool}: {call}");
    }
    gate.verify().await;
}

#[tokio::test]
async fn slow_calls_give_a_handle_and_report() {
    let gate = TestGate::start().await;
    let body = json!({ "input": { "milliseconds": 600, "reports": 3 } });
    let (status, call) = gate.post("/api/v1/tools/fixture__slow_read/invoke?wait=0", body).await;
    assert_eq!((status, &call["status"]), (202, &json!("running")));
    let path = format!("/api/v1/invocations/{}", call["call_id"].as_str().unwrap());
    let (_, row) = gate.get(&format!("{path}?wait=20")).await;
    assert_eq!((&row["status"], &row["output"]), (&json!("completed"), &json!({ "milliseconds": 600 })));
    let kinds = gate.events(&call).await;
    let part = "tool.output_appended";
    assert_eq!(kinds, ["tool.started", part, part, part, "tool.completed"]);
    assert_eq!(row["events"][1]["data"]["chunk"], json!({ "part": 1, "of": 3 }));
    gate.verify().await;
}

#[tokio::test]
async fn too_much_progress_is_left_out_and_the_call_goes_on() {
    let gate = TestGate::permissive().await;
    for tool in ["fixture__slow_read", "fixture__slow_mutate"] {
        let (_, call) = gate.invoke(tool, json!({ "milliseconds": 0, "reports": 300 })).await;
        assert_eq!(call["status"], "completed", "{call}");
        assert_eq!(gate.events(&call).await.len(), 252);
    }
}

#[tokio::test]
async fn running_and_waiting_calls_can_be_cancelled() {
    let gate = TestGate::permissive().await;
    let body = json!({ "input": { "milliseconds": 60_000 } });
    for tool in ["fixture__slow_read", "fixture__slow_mutate"] {
        let (_, call) = gate.post(&format!("/api/v1/tools/{tool}/invoke?wait=0"), body.clone()).await;
        let path = format!("/api/v1/invocations/{}", call["call_id"].as_str().unwrap());
        let (status, _) = gate.post(&format!("{path}/cancel"), json!({ "reason": "enough" })).await;
        assert_eq!(status, 200);
        let (_, row) = gate.get(&format!("{path}?wait=20")).await;
        assert_eq!((&row["status"], &row["reason"]), (&json!("cancelled"), &json!("enough")), "{row}");
        let (status, over) = gate.send(Some(ADMIN), "POST", &format!("{path}/cancel"), None, &[]).await;
        assert_eq!((status, code(&over)), (409, "conflict"));
    }
    let (_, waiting) = gate.invoke("fixture__always_ask", json!({ "effect_id": "x" })).await;
    let path = format!("/api/v1/invocations/{}", waiting["call_id"].as_str().unwrap());
    let (_, row) = gate.send(Some(ADMIN), "POST", &format!("{path}/cancel"), None, &[]).await;
    assert_eq!(row["status"], "cancelled");
    gate.verify().await;
}

#[tokio::test]
async fn heavy_tools_share_a_few_places() {
    let gate = TestGate::permissive().await;
    let places = std::thread::available_parallelism().map_or(1, |cores| cores.get() / 2).max(1);
    // The first report says that one has its place.
    let body = json!({ "input": { "milliseconds": 600_000, "reports": 2000 } });
    let mut holders = Vec::new();
    for _ in 0..places {
        let (_, call) = gate.post("/api/v1/tools/fixture__heavy/invoke?wait=0", body.clone()).await;
        while gate.events(&call).await.len() < 3 {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        holders.push(format!("/api/v1/invocations/{}", call["call_id"].as_str().unwrap()));
    }
    let hurried = || gate.invoke("fixture__heavy_hurried", json!({ "milliseconds": 0 }));
    let (status, refused) = hurried().await;
    assert_eq!((status, code(&refused)), (429, "budget_exceeded"), "{refused}");
    // Whatever is not heavy has its turn all the same.
    assert_eq!(gate.invoke("fixture__slow_read", json!({ "milliseconds": 0 })).await.0, 200);
    for holder in holders {
        gate.post(&format!("{holder}/cancel"), json!({ "reason": "enough" })).await;
        assert_eq!(gate.get(&format!("{holder}?wait=20")).await.1["status"], "cancelled");
    }
    let (status, done) = hurried().await;
    assert_eq!((status, &done["status"]), (200, &json!("completed")), "{done}");
}

#[tokio::test]
async fn a_write_that_is_broken_off_is_in_doubt_until_a_person_settles_it() {
    let gate = TestGate::permissive().await;
    let (status, call) = gate.invoke("fixture__stubborn", json!({ "milliseconds": 60_000 })).await;
    assert_eq!((status, &call["status"], code(&call)), (409, &json!("in_doubt"), "timeout"));
    let path = format!("/api/v1/invocations/{}", call["call_id"].as_str().unwrap());
    let (_, refused) = gate.send(Some(AGENT), "POST", &format!("{path}/settle"), None, &[]).await;
    assert_ne!(refused["status"], "completed");
    let (status, settled) = gate.post(&format!("{path}/settle"), json!({ "outcome": "failed" })).await;
    assert_eq!((status, &settled["status"]), (422, &json!("failed")));
    let (status, _) = gate.post(&format!("{path}/settle"), json!({ "outcome": "done" })).await;
    assert_eq!(status, 409);

    let (_, call) = gate.invoke_as(AGENT, "fixture__stubborn", json!({ "milliseconds": 60_000 })).await;
    let path = format!("/api/v1/invocations/{}", call["call_id"].as_str().unwrap());
    let (_, again) = gate.post(&format!("{path}/settle"), json!({ "outcome": "run_again" })).await;
    assert_eq!(again["status"], "in_doubt", "it is as stubborn as before");
    let (_, row) = gate.get(&path).await;
    let starts: Vec<&Value> =
        row["events"].as_array().unwrap().iter().filter(|e| e["type"] == "tool.started").collect();
    assert_eq!((&starts[0]["actor"], &starts[1]["actor"]), (&json!("agent:helper"), &json!("user:admin")));
    assert_eq!(row["attempt"], 2);
    gate.verify().await;
}

#[tokio::test]
async fn rate_and_concurrency_are_limited_per_tool() {
    let gate = TestGate::start().await;
    let slow = gate
        .post("/api/v1/tools/fixture__hurried/invoke?wait=0", json!({ "input": { "milliseconds": 400 } }));
    assert_eq!(slow.await.0, 202);
    let (status, busy) = gate.invoke("fixture__hurried", json!({ "milliseconds": 0 })).await;
    assert_eq!((status, code(&busy)), (429, "budget_exceeded"));
    tokio::time::sleep(std::time::Duration::from_millis(600)).await;
    let mut codes = Vec::new();
    for _ in 0..12 {
        codes.push(gate.invoke("fixture__hurried", json!({ "milliseconds": 0 })).await);
    }
    let (status, limited) = codes.last().unwrap();
    assert_eq!((*status, code(limited)), (429, "rate_limited"));
    assert!(limited["error"]["details"]["retry_after_seconds"].as_f64().unwrap() >= 1.0);
}

#[tokio::test]
async fn sessions_thread_calls_and_parents_are_checked() {
    let gate = TestGate::start().await;
    let (status, session) = gate.send(Some(AGENT), "POST", "/api/v1/sessions", None, &[]).await;
    assert_eq!(status, 201);
    let path = "/api/v1/tools/core__get_current_time/invoke";
    let body = json!({ "input": {}, "session_id": session["id"] });
    let (_, first) = gate.send(Some(AGENT), "POST", path, Some(body.clone()), &[]).await;
    assert_eq!(first["session_id"], session["id"]);
    let child = json!({ "input": {}, "session_id": session["id"], "parent_call_id": first["call_id"] });
    let (_, second) = gate.send(Some(AGENT), "POST", path, Some(child), &[]).await;
    let (_, row) = gate.get(&format!("/api/v1/invocations/{}", second["call_id"].as_str().unwrap())).await;
    assert_eq!((&row["parent_call_id"], &row["events"][0]["seq"]), (&first["call_id"], &json!(3)));

    let (status, _) = gate.send(Some(OTHER_USER), "POST", path, Some(body), &[]).await;
    assert_eq!(status, 404, "someone else's session is not found");
    let (status, _) = gate
        .send(
            Some(OTHER_USER),
            "POST",
            path,
            Some(json!({ "input": {}, "parent_call_id": first["call_id"] })),
            &[],
        )
        .await;
    assert_eq!(status, 404, "someone else's call is no parent");
    let unknown = json!({ "input": {}, "session_id": "ses_00000000000000000000000000000000" });
    assert_eq!(gate.post(path, unknown).await.0, 404);
    gate.verify().await;
}

#[tokio::test]
async fn a_caller_who_goes_away_does_not_take_the_call_along() {
    let gate = TestGate::permissive().await;
    gate.receiver.hold(true);
    let request = gate
        .client
        .post(format!("{}/api/v1/tools/fixture__mutate/invoke", gate.url))
        .bearer_auth(ADMIN)
        .json(&json!({ "input": { "effect_id": "gone" } }))
        .timeout(std::time::Duration::from_millis(300));
    assert!(request.send().await.is_err());
    gate.receiver.hold(false);
    let (_, list) = gate.get("/api/v1/invocations?tool=fixture__mutate").await;
    let path = format!("/api/v1/invocations/{}?wait=10", list["invocations"][0]["id"].as_str().unwrap());
    assert_eq!(gate.get(&path).await.1["status"], "completed");
}

#[tokio::test]
async fn draining_finishes_what_runs_and_takes_nothing_new() {
    let gate = TestGate::start().await;
    let body = json!({ "input": { "milliseconds": 400 } });
    let (_, call) = gate.post("/api/v1/tools/fixture__slow_read/invoke?wait=0", body).await;
    let runner = gate.runner.clone();
    let drained = tokio::spawn(async move { runner.drain(std::time::Duration::from_secs(10)).await });
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    let (status, refused) = gate.invoke("core__get_current_time", json!({})).await;
    assert_eq!((status, code(&refused)), (503, "shutting_down"));
    assert!(drained.await.unwrap());
    let (_, row) = gate.get(&format!("/api/v1/invocations/{}", call["call_id"].as_str().unwrap())).await;
    assert_eq!(row["status"], "completed");
}
