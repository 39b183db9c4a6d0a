//! Policies as those who keep them meet them: saved, checked, compared, explained, tried, and in force.

use serde_json::{Value, json};
use toolgate_policy::cedar::Policies;

use crate::gate::{ADMIN, AGENT, NewCaller, OTHER_TENANT, OTHER_USER, TestGate};

fn code(body: &Value) -> &str {
    body["error"]["code"].as_str().unwrap_or("none")
}

/// The default policies and these.
fn beside_the_default(more: &str) -> String {
    format!("{}\n{more}", Policies::default_set().0)
}

async fn save(gate: &TestGate, text: &str) -> Value {
    let (status, saved) =
        gate.send(Some(ADMIN), "PUT", "/api/v1/policy", Some(json!({ "text": text })), &[]).await;
    assert_eq!(status, 200, "{saved}");
    saved
}

#[tokio::test]
async fn a_saved_policy_is_in_force_on_the_next_call() {
    let gate = TestGate::start().await;
    let (_, before) = gate.get("/api/v1/policy").await;
    assert_eq!(before["version"], 0);
    assert_eq!(before["text"], Policies::default_set().0);
    let saved = save(
        &gate,
        &beside_the_default(
            r#"@id("no clocks for agents")
               forbid (principal is Toolgate::Agent, action == Toolgate::Action::"call",
                       resource == Toolgate::Tool::"core__get_current_time");"#,
        ),
    )
    .await;
    assert_eq!((&saved["version"], &saved["saved_by"]), (&json!(1), &json!("user:admin")));
    let (status, denied) = gate.invoke_as(AGENT, "core__get_current_time", json!({})).await;
    assert_eq!((status, code(&denied)), (403, "policy_denied"));
    assert_eq!(denied["error"]["details"]["rule"], "no clocks for agents");
    assert!(denied["error"]["hint"].as_str().unwrap().contains("no clocks for agents"));
    let (_, list) = gate.send(Some(AGENT), "GET", "/api/v1/tools", None, &[]).await;
    assert!(!list.to_string().contains("core__get_current_time"), "what can't be called is not listed");
    assert_eq!(gate.invoke("core__get_current_time", json!({})).await.0, 200);
    let (status, _) = gate.invoke_as(OTHER_TENANT, "core__get_current_time", json!({})).await;
    assert_eq!(status, 200, "another tenant keeps its own");
}

#[tokio::test]
async fn what_is_wrong_with_a_text_is_said_with_line_and_column() {
    let gate = TestGate::start().await;
    for (text, told) in [
        ("permit (", "line"),
        ("permit (principal, action, resource);", "@id"),
        (r#"@id("a") permit (principal == Toolgate::Robot::"x", action, resource);"#, "Robot"),
        (
            r#"@id("a") permit (principal, action == Toolgate::Action::"call", resource) when { context.input.amount > 1 };"#,
            "resource ==",
        ),
        (
            r#"@id("a") permit (principal, action == Toolgate::Action::"call", resource == Toolgate::Tool::"fixture__transfer")
               when { context.input.amount > "many" };"#,
            "fixture__transfer",
        ),
        (
            r#"@id("a") permit (principal, action, resource); @id("a") forbid (principal, action, resource);"#,
            "a",
        ),
    ] {
        let body = json!({ "text": text });
        let (status, refused) =
            gate.send(Some(ADMIN), "PUT", "/api/v1/policy", Some(body.clone()), &[]).await;
        assert_eq!((status, code(&refused)), (422, "policy_invalid"), "{text}");
        let problem = &refused["error"]["details"]["problems"][0];
        assert!(problem["line"].as_u64().unwrap() >= 1 && problem["column"].as_u64().unwrap() >= 1);
        let (status, checked) = gate.post("/api/v1/policy/validate", body).await;
        assert_eq!((status, &checked["ok"]), (200, &json!(false)));
        assert!(
            told == "line" || told == "fixture__transfer" || checked.to_string().contains(told),
            "{text}: {checked}"
        );
    }
    assert_eq!(gate.get("/api/v1/policy").await.1["version"], 0, "nothing was saved");
}

#[tokio::test]
async fn texts_made_to_hurt_are_refused_in_time() {
    let gate = TestGate::start().await;
    let nested = |open: &str, close: &str, times: usize| {
        format!(
            r#"@id("deep") permit (principal, action, resource) when {{ {}true{} }};"#,
            open.repeat(times),
            close.repeat(times)
        )
    };
    for text in [
        nested("(", ")", 20_000),
        nested("!", "", 20_000),
        nested("[", "]", 20_000),
        nested("true && ", "", 40_000),
        nested("if true then ", " else true", 5_000),
        "a".repeat(600 * 1024),
        (0..6_000)
            .map(|n| format!("@id(\"p{n}\") permit (principal, action, resource);"))
            .collect::<Vec<_>>()
            .join("\n"),
        "@id(\"\u{202e}evil\") permit (principal, action, resource);".to_owned(),
        "permit (principal == ?principal, action, resource);".to_owned(),
        "\0".to_owned(),
    ] {
        let (status, body) = gate.post("/api/v1/policy/validate", json!({ "text": text })).await;
        let fine = status == 413 || (status == 200 && body["ok"] == json!(false));
        assert!(fine, "{status} {} for {:.40}", body.to_string().chars().take(200).collect::<String>(), text);
    }
    assert_eq!(gate.invoke("core__get_current_time", json!({})).await.0, 200, "and the gate is well");
}

#[tokio::test]
async fn nobody_locks_themselves_out_or_overwrites_what_they_did_not_see() {
    let gate = TestGate::start().await;
    let put = |body: Value| gate.send(Some(ADMIN), "PUT", "/api/v1/policy", Some(body), &[]);
    let shut = r#"@id("calls only") permit (principal, action == Toolgate::Action::"call", resource);"#;
    let (status, refused) = put(json!({ "text": shut })).await;
    assert_eq!((status, code(&refused)), (400, "bad_request"));
    assert!(refused["error"]["message"].as_str().unwrap().contains("could no longer manage policies"));

    let text = Policies::default_set().0;
    assert_eq!(put(json!({ "text": text, "version": 0 })).await.0, 200);
    assert_eq!(put(json!({ "text": text, "version": 0 })).await.0, 409, "there is a first one by now");
    assert_eq!(put(json!({ "text": text, "version": 1 })).await.0, 200);
    assert_eq!(put(json!({ "text": text, "version": 1 })).await.0, 409);
    assert_eq!(gate.get("/api/v1/policy").await.1["version"], 2);
}

#[tokio::test]
async fn versions_are_kept_compared_and_gone_back_to() {
    let gate = TestGate::start().await;
    save(
        &gate,
        &beside_the_default("@id(\"one\") forbid (principal in Toolgate::Role::\"one\", action, resource);"),
    )
    .await;
    save(
        &gate,
        &beside_the_default("@id(\"two\") forbid (principal in Toolgate::Role::\"two\", action, resource);"),
    )
    .await;
    let (_, versions) = gate.get("/api/v1/policy/versions?limit=1").await;
    assert_eq!(versions["versions"][0]["version"], 2);
    assert!(versions["versions"][0].get("text").is_none());
    let next = versions["next_cursor"].as_str().unwrap();
    let (_, older) = gate.get(&format!("/api/v1/policy/versions?cursor={next}")).await;
    assert_eq!(older["versions"][0]["version"], 1);
    let (_, diff) = gate.get("/api/v1/policy/diff?from=1&to=2").await;
    let diff = diff["diff"].as_str().unwrap();
    assert!(diff.contains("-@id(\"one\")") && diff.contains("+@id(\"two\")"), "{diff}");
    let (status, back) = gate.post("/api/v1/policy/rollback", json!({ "version": 1 })).await;
    assert_eq!((status, &back["version"], &back["note"]), (200, &json!(3), &json!("back to version 1")));
    assert!(back["text"].as_str().unwrap().contains("@id(\"one\")"));
    let (_, same) = gate.get("/api/v1/policy/diff?from=1").await;
    assert_eq!(same["diff"], "");
    for path in [
        "/api/v1/policy/versions/9",
        "/api/v1/policy/versions/x",
        "/api/v1/policy/versions/18446744073709551615",
    ] {
        assert_eq!(gate.get(path).await.0, 404, "{path}");
    }
    assert_eq!(gate.post("/api/v1/policy/rollback", json!({ "version": 9 })).await.0, 404);
    gate.verify().await;
}

#[tokio::test]
async fn arguments_decide_where_policy_reads_them() {
    let gate = TestGate::start().await;
    save(
        &gate,
        &beside_the_default(
            r#"@id("small transfers run")
               permit (principal, action == Toolgate::Action::"call_unattended", resource == Toolgate::Tool::"fixture__transfer")
               when { context.input.amount <= 100 };
               @id("large transfers never")
               forbid (principal, action == Toolgate::Action::"call", resource == Toolgate::Tool::"fixture__transfer")
               when { context.input.amount > 10000 || context.input.to like "*@evil.example" };"#,
        ),
    )
    .await;
    let transfer = |amount: i64, to: &'static str| {
        let gate = &gate;
        async move { gate.invoke("fixture__transfer", json!({ "amount": amount, "to": to })).await }
    };
    assert_eq!(transfer(100, "ada").await.0, 200);
    let (status, asked) = transfer(101, "ada").await;
    assert_eq!((status, &asked["status"]), (202, &json!("pending")));
    for (amount, to) in [(10_001, "ada"), (1, "mallory@evil.example"), (i64::MAX, "ada")] {
        let (status, denied) = transfer(amount, to).await;
        assert_eq!((status, code(&denied)), (403, "policy_denied"), "{amount} {to}");
        assert_eq!(denied["error"]["details"]["rule"], "large transfers never");
    }
    let (_, list) = gate.get("/api/v1/tools").await;
    assert!(list.to_string().contains("fixture__transfer"), "some arguments may run, so it is listed");
    let (status, huge) = gate
        .send(
            Some(ADMIN),
            "POST",
            "/api/v1/tools/fixture__transfer/invoke",
            Some(serde_json::from_str(r#"{"input":{"amount":1e30,"to":"ada"}}"#).unwrap()),
            &[],
        )
        .await;
    assert!(status == 403 || code(&huge) == "validation", "{status} {huge}");
}

#[tokio::test]
async fn session_labels_are_known_to_policy_and_never_change() {
    let gate = TestGate::start().await;
    save(
        &gate,
        &beside_the_default(
            r#"@id("untrusted sessions only look at the clock")
               forbid (principal, action == Toolgate::Action::"call", resource)
               when { context.labels.contains("untrusted") }
               unless { resource == Toolgate::Tool::"core__get_current_time" };"#,
        ),
    )
    .await;
    let (status, session) = gate.post("/api/v1/sessions", json!({ "labels": ["untrusted"] })).await;
    assert_eq!((status, &session["labels"]), (201, &json!(["untrusted"])));
    let call = |tool: &'static str, input: Value, session: Value| {
        let gate = &gate;
        async move {
            gate.post(
                &format!("/api/v1/tools/{tool}/invoke"),
                json!({ "input": input, "session_id": session }),
            )
            .await
        }
    };
    assert_eq!(call("core__get_current_time", json!({}), session["id"].clone()).await.0, 200);
    let (status, denied) =
        call("fixture__misbehave", json!({ "how": "nothing" }), session["id"].clone()).await;
    assert_eq!((status, code(&denied)), (403, "policy_denied"));
    let (_, plain) = gate.post("/api/v1/sessions", json!({})).await;
    assert_eq!(call("fixture__misbehave", json!({ "how": "nothing" }), plain["id"].clone()).await.0, 200);
    for labels in [json!(["Loud"]), json!(vec!["a"; 21]), json!(["a b"])] {
        assert_eq!(gate.post("/api/v1/sessions", json!({ "labels": labels })).await.0, 400);
    }
}

#[tokio::test]
async fn an_explanation_says_what_a_call_then_does() {
    let gate = TestGate::start().await;
    gate.caller(NewCaller { tenant: "default", principal: "agent:idle", ..NewCaller::default() }).await;
    for (principal, key, tool, input) in [
        ("user:admin", ADMIN, "core__get_current_time", json!({})),
        ("user:admin", ADMIN, "fixture__mutate", json!({ "effect_id": "x" })),
        ("user:other", OTHER_USER, "fixture__misbehave", json!({ "how": "nothing" })),
        ("agent:helper", AGENT, "fixture__destroy", json!({ "effect_id": "y" })),
        ("agent:helper", AGENT, "fixture__internal", json!({})),
        ("user:admin", ADMIN, "fixture__paid", json!({ "micros": 1 })),
    ] {
        let body = json!({ "principal": principal, "tool": tool, "input": input });
        let (status, explained) = gate.post("/api/v1/policy/explain", body).await;
        assert_eq!(status, 200, "{explained}");
        let (status, called) = gate.invoke_as(key, tool, input).await;
        let came_out = match (status, code(&called)) {
            (200, _) => "allow",
            (202, _) => "ask",
            (404, "unavailable") => "hide",
            (403, _) => "deny",
            other => panic!("{tool}: {other:?}"),
        };
        assert_eq!(explained["verdict"], came_out, "{principal} {tool}: {explained}");
        for step in explained["steps"].as_array().unwrap() {
            assert!(!step["reason"].as_str().unwrap().is_empty());
        }
    }
    let (_, idle) = gate.get("/api/v1/policy/explain?tool=core__get_current_time&principal=agent:idle").await;
    assert_eq!(idle["verdict"], "allow", "the test gate assigns all tools: {idle}");
    let own = gate
        .send(Some(OTHER_USER), "GET", "/api/v1/policy/explain?tool=core__get_current_time", None, &[])
        .await;
    assert_eq!((own.0, &own.1["verdict"]), (200, &json!("allow")));
    let others = "/api/v1/policy/explain?tool=core__get_current_time&principal=user:admin";
    assert_eq!(gate.send(Some(OTHER_USER), "GET", others, None, &[]).await.0, 403);
    let hidden = "/api/v1/policy/explain?tool=fixture__paid";
    assert_eq!(
        gate.send(Some(OTHER_USER), "GET", hidden, None, &[]).await.0,
        404,
        "what is hidden stays hidden"
    );
    assert_eq!(gate.get("/api/v1/policy/explain?tool=core__nothing").await.0, 404);
    assert_eq!(gate.get(&format!("{hidden}&principal=user:nobody")).await.0, 404);
}

#[tokio::test]
async fn an_explanation_takes_labels_and_time() {
    let gate = TestGate::start().await;
    save(
        &gate,
        &beside_the_default(
            r#"@id("not at night")
               forbid (principal, action == Toolgate::Action::"call", resource) when { context.hour < 6 };
               @id("not when untrusted")
               forbid (principal, action == Toolgate::Action::"call", resource)
               when { context.labels.contains("untrusted") };"#,
        ),
    )
    .await;
    let explain = |labels: Value, at: &'static str| {
        let gate = &gate;
        async move {
            let body = json!({ "tool": "core__get_current_time", "labels": labels, "at": at });
            gate.post("/api/v1/policy/explain", body).await.1
        }
    };
    assert_eq!(explain(json!([]), "2026-11-15T12:00:00Z").await["verdict"], "allow");
    assert_eq!(explain(json!([]), "2026-11-15T03:00:00Z").await["rule"], "not at night");
    assert_eq!(explain(json!(["untrusted"]), "2026-11-15T12:00:00Z").await["rule"], "not when untrusted");
    assert_eq!(code(&explain(json!([]), "noon").await), "bad_request");
}

#[tokio::test]
async fn a_draft_is_tried_on_recorded_calls_and_changes_nothing() {
    let gate = TestGate::start().await;
    for _ in 0..3 {
        gate.invoke_as(AGENT, "core__get_current_time", json!({})).await;
    }
    gate.invoke("fixture__transfer", json!({ "amount": 50, "to": "ada" })).await;
    gate.invoke("core__get_current_time", json!({})).await;
    let draft = beside_the_default(
        r#"@id("agents stay out") forbid (principal is Toolgate::Agent, action == Toolgate::Action::"call", resource);
           @id("small transfers run")
           permit (principal, action == Toolgate::Action::"call_unattended", resource == Toolgate::Tool::"fixture__transfer")
           when { context.input.amount < 100 };"#,
    );
    let (status, trial) = gate.post("/api/v1/policy/try", json!({ "text": draft })).await;
    assert_eq!(status, 200, "{trial}");
    assert_eq!(
        json!([trial["calls"], trial["same"], trial["now_denied"], trial["now_allowed"], trial["skipped"]]),
        json!([5, 1, 3, 1, 0])
    );
    let changed = trial["changed"].as_array().unwrap();
    assert_eq!(changed.len(), 4);
    assert_eq!(changed[0]["after"], json!({ "verdict": "allow", "rule": "small transfers run" }));
    assert_eq!(changed[1]["after"], json!({ "verdict": "deny", "rule": "agents stay out" }));
    let (_, one) = gate
        .post("/api/v1/policy/try", json!({ "text": draft, "tool": "fixture__transfer", "limit": 10 }))
        .await;
    assert_eq!(one["calls"], 1);
    assert_eq!(gate.get("/api/v1/policy").await.1["version"], 0, "nothing was saved");
    assert_eq!(gate.invoke_as(AGENT, "core__get_current_time", json!({})).await.0, 200);
    let (status, refused) = gate.post("/api/v1/policy/try", json!({ "text": "permit (" })).await;
    assert_eq!((status, code(&refused)), (422, "policy_invalid"));
}

#[tokio::test]
async fn approving_is_policy_too() {
    let gate = TestGate::start().await;
    let approver =
        NewCaller { tenant: "default", principal: "user:boss", roles: &["approver"], ..NewCaller::default() };
    let approver = gate.caller(approver).await;
    let (_, call) = gate.invoke_as(OTHER_USER, "fixture__mutate", json!({ "effect_id": "1" })).await;
    let path = format!("/api/v1/invocations/{}/approve", call["call_id"].as_str().unwrap());
    assert_eq!(gate.send(Some(AGENT), "POST", &path, None, &[]).await.0, 404, "not its to see");
    let (status, ran) = gate.send(Some(&approver), "POST", &path, None, &[]).await;
    assert_eq!((status, &ran["status"]), (200, &json!("completed")), "{ran}");
    save(
        &gate,
        &beside_the_default(
            r#"@id("four eyes")
               forbid (principal, action == Toolgate::Action::"approve", resource) when { context.own };"#,
        ),
    )
    .await;
    let (_, mine) = gate.invoke("fixture__mutate", json!({ "effect_id": "2" })).await;
    let path = format!("/api/v1/invocations/{}/approve", mine["call_id"].as_str().unwrap());
    let (status, refused) = gate.send(Some(ADMIN), "POST", &path, None, &[]).await;
    assert_eq!((status, &refused["error"]["details"]["rule"]), (403, &json!("four eyes")));
    assert_eq!(gate.send(Some(&approver), "POST", &path, None, &[]).await.0, 200);
}

#[tokio::test]
async fn what_was_approved_under_other_policies_is_decided_again() {
    let gate = TestGate::start().await;
    let (_, call) = gate.invoke_as(OTHER_USER, "fixture__mutate", json!({ "effect_id": "late" })).await;
    save(
        &gate,
        &beside_the_default(
            r#"@id("closed") forbid (principal == Toolgate::User::"user:other", action == Toolgate::Action::"call", resource);"#,
        ),
    )
    .await;
    let path = format!("/api/v1/invocations/{}/approve", call["call_id"].as_str().unwrap());
    let (status, ended) = gate.send(Some(ADMIN), "POST", &path, None, &[]).await;
    assert_eq!((status, code(&ended)), (403, "policy_denied"), "{ended}");
    assert_eq!(gate.receiver.counts().get("late").copied().unwrap_or_default(), 0);
}
