//! Calls whose results come from outside: reported by call id or by a callback address, once, checked, in time.

use serde_json::{Value, json};

use crate::gate::{ADMIN, AGENT, OTHER_TENANT, OTHER_USER, TestGate};

fn code(body: &Value) -> &str {
    body["error"]["code"].as_str().unwrap_or("none")
}

async fn ask(gate: &TestGate, key: &str) -> Value {
    let (status, call) =
        gate.invoke_as(key, "fixture__ask_service", json!({ "question": "how many?" })).await;
    assert_eq!((status, &call["status"]), (202, &json!("pending")), "{call}");
    call
}

async fn report(gate: &TestGate, key: &str, run: &Value, body: Value) -> (u16, Value) {
    let path = format!("/api/v1/runs/{}/tool-results", run.as_str().unwrap());
    gate.send(Some(key), "POST", &path, Some(body), &[]).await
}

async fn row(gate: &TestGate, call: &Value) -> Value {
    gate.get(&format!("/api/v1/invocations/{}", call["call_id"].as_str().unwrap())).await.1
}

#[tokio::test]
async fn a_result_is_checked_redacted_and_taken_once() {
    let gate = TestGate::start().await;
    let call = ask(&gate, AGENT).await;
    assert_eq!(row(&gate, &call).await["status"], "waiting");
    let result = |result: Value| json!({ "callId": call["call_id"], "result": result });
    for bad in [json!({}), json!({ "answer": 5 }), json!([]), json!({ "answer": "x".repeat(2 << 20) })] {
        let (status, refused) = report(&gate, AGENT, &call["session_id"], result(bad)).await;
        assert!(
            matches!((status, code(&refused)), (502, "output_invalid" | "result_too_large") | (413, _)),
            "{refused}"
        );
    }
    assert_eq!(row(&gate, &call).await["status"], "waiting", "what does not fit can be mended");
    let mut body = result(json!({ "answer": "seven", "aside": "hush" }));
    body["cost_micros"] = json!(25);
    let (status, taken) = report(&gate, AGENT, &call["session_id"], body).await;
    assert_eq!((status, &taken["taken"]), (200, &json!(true)), "{taken}");
    let done = row(&gate, &call).await;
    assert_eq!(
        (&done["status"], &done["output"], &done["cost_micros"]),
        (&json!("completed"), &json!({ "answer": "seven" }), &json!(25))
    );
    assert!(!done.to_string().contains("hush"));
    let (status, late) =
        report(&gate, AGENT, &call["session_id"], result(json!({ "answer": "eight" }))).await;
    assert_eq!((status, &late["taken"]), (200, &json!(false)));
    let done = row(&gate, &call).await;
    assert_eq!(done["output"], json!({ "answer": "seven" }), "a late result overwrites nothing");
    assert_eq!(done["events"].as_array().unwrap().last().unwrap()["type"], "tool.late_result");
    gate.verify().await;
}

#[tokio::test]
async fn nobody_reports_for_anothers_call() {
    let gate = TestGate::start().await;
    let (call, other) = (ask(&gate, AGENT).await, ask(&gate, AGENT).await);
    let body = json!({ "callId": call["call_id"], "result": { "answer": "forged" } });
    for key in [OTHER_USER, OTHER_TENANT] {
        assert_eq!(report(&gate, key, &call["session_id"], body.clone()).await.0, 404);
    }
    assert_eq!(report(&gate, AGENT, &other["session_id"], body.clone()).await.0, 404, "another run's call");
    let (_, ran) = gate.invoke_as(AGENT, "core__get_current_time", json!({})).await;
    let native = json!({ "callId": ran["call_id"], "result": { "answer": "late" } });
    let (status, _) = report(&gate, AGENT, &ran["session_id"], native).await;
    assert_eq!(status, 409, "a call that ran here takes no result from outside");
    for bad in [
        json!({ "callId": call["call_id"] }),
        json!({ "callId": call["call_id"], "result": {}, "error": "both" }),
        json!({ "result": { "answer": "x" } }),
        json!({ "callId": call["call_id"], "result": { "answer": "x" }, "cost_micros": -1 }),
        json!({ "callId": call["call_id"], "error": "x".repeat(2_001) }),
    ] {
        assert_eq!(report(&gate, AGENT, &call["session_id"], bad.clone()).await.0, 400, "{bad}");
    }
    assert_eq!(row(&gate, &call).await["status"], "waiting");
    let failed = json!({ "callId": call["call_id"], "error": "the service is closed" });
    assert_eq!(report(&gate, AGENT, &call["session_id"], failed).await.0, 200);
    let done = row(&gate, &call).await;
    assert_eq!(
        (&done["status"], &done["error"]["message"]),
        (&json!("failed"), &json!("the service is closed"))
    );
}

#[tokio::test]
async fn a_callback_address_works_once_and_tells_nothing() {
    let gate = TestGate::start().await;
    let call = ask(&gate, AGENT).await;
    let url = call["callback_url"].as_str().unwrap().strip_prefix(&gate.url).unwrap().to_owned();
    let post = |path: String, body: Value| {
        let gate = &gate;
        async move { gate.send(None, "POST", &path, Some(body), &[]).await }
    };
    let answer = json!({ "result": { "answer": "seven" } });
    for path in [format!("{}0", &url[..url.len() - 1]), "/api/v1/callbacks/x".to_owned()] {
        if path != url {
            let (status, refused) = post(path, answer.clone()).await;
            assert_eq!((status, code(&refused)), (404, "token_invalid"));
        }
    }
    let (status, refused) = post(url.clone(), json!({ "result": { "answer": 1 } })).await;
    assert_eq!((status, code(&refused)), (502, "output_invalid"), "{refused}");
    let (first, second) = tokio::join!(post(url.clone(), answer.clone()), post(url.clone(), answer.clone()));
    let mut statuses = [first.0, second.0];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 404], "one of two wins");
    let shown = if first.0 == 200 { first.1 } else { second.1 };
    assert_eq!((&shown["taken"], &shown["invocation"]["input"]), (&json!(true), &Value::Null));
    assert_eq!(post(url, answer).await.0, 404, "used");
    assert_eq!(row(&gate, &call).await["status"], "completed");
    let (_, again) = gate.send(Some(ADMIN), "GET", "/api/v1/audit/export", None, &[]).await;
    assert!(!again.to_string().contains("callbacks/"), "the address is nowhere in the record");
}

#[tokio::test]
async fn what_nobody_answers_expires_and_what_is_cancelled_takes_no_result() {
    let gate = TestGate::start().await;
    let call = ask(&gate, AGENT).await;
    let cancel = format!("/api/v1/invocations/{}/cancel", call["call_id"].as_str().unwrap());
    assert_eq!(gate.send(Some(AGENT), "POST", &cancel, None, &[]).await.0, 200);
    let body = json!({ "callId": call["call_id"], "result": { "answer": "late" } });
    let (status, late) = report(&gate, AGENT, &call["session_id"], body).await;
    assert_eq!((status, &late["taken"]), (200, &json!(false)));
    let done = row(&gate, &call).await;
    assert_eq!((&done["status"], done.get("output")), (&json!("cancelled"), None));
    let (_, space) = gate.invoke_as(AGENT, "fixture__ask_space", json!({ "question": "yes?" })).await;
    assert_eq!(space["status"], "pending");
    let waiting = row(&gate, &space).await;
    assert_eq!(waiting["status"], "waiting");
    // A key makes a repeat return the first call's state, without a second address.
    let path = "/api/v1/tools/fixture__ask_service/invoke";
    let input = json!({ "input": { "question": "once" } });
    let (_, one) =
        gate.send(Some(AGENT), "POST", path, Some(input.clone()), &[("idempotency-key", "k")]).await;
    let (_, two) = gate
        .send(Some(AGENT), "POST", &format!("{path}?wait=0"), Some(input), &[("idempotency-key", "k")])
        .await;
    assert_eq!(one["call_id"], two["call_id"]);
    assert!(one.get("callback_url").is_some() && two.get("callback_url").is_none());
}

#[tokio::test]
async fn late_results_are_few_and_callers_who_are_gone_have_no_callbacks() {
    let gate = TestGate::start().await;
    let call = ask(&gate, AGENT).await;
    let body = json!({ "callId": call["call_id"], "result": { "answer": "x" } });
    for _ in 0..10 {
        assert_eq!(report(&gate, AGENT, &call["session_id"], body.clone()).await.0, 200);
    }
    let events = row(&gate, &call).await["events"].as_array().unwrap().len();
    assert!(events <= 6, "{events} events");
    let call = ask(&gate, AGENT).await;
    let (status, links) = gate
        .send(
            Some(AGENT),
            "POST",
            &format!("/api/v1/invocations/{}/links", call["call_id"].as_str().unwrap()),
            None,
            &[],
        )
        .await;
    assert_eq!(status, 201, "a new address for whoever lost the first");
    let off = json!({ "disabled": true });
    gate.send(Some(ADMIN), "PATCH", "/api/v1/principals/agent:helper", Some(off), &[]).await;
    let path = links["callback_url"].as_str().unwrap().strip_prefix(&gate.url).unwrap().to_owned();
    let (status, _) = gate.send(None, "POST", &path, Some(json!({ "result": { "answer": "x" } })), &[]).await;
    assert_eq!(status, 404);
}
