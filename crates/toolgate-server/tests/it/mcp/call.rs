//! Calls: results, failures, progress, deadlines, repeats.

use futures::future::join_all;
use serde_json::json;

use super::{Messages, Modern, read};
use crate::gate::{ADMIN, TestGate};

#[tokio::test]
async fn a_result_is_structured_and_told_as_text() {
    let gate = TestGate::start().await;
    let client = Modern::new(&gate, ADMIN);
    let answer = client.call("core__get_current_time", json!({})).await;
    let result = answer.result();
    let text = result["content"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(text).unwrap(), result["structuredContent"]);
    assert_eq!(result["resultType"], "complete");
    assert!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["version"].is_string());
    let call = result["_meta"]["toolgate/call_id"].as_str().unwrap();
    let (_, row) = gate.get(&format!("/api/v1/invocations/{call}")).await;
    assert_eq!((&row["source"], &row["status"]), (&json!("mcp"), &json!("completed")), "{row}");
    assert_eq!(answer.headers["content-type"], "application/json");
    let read = client.send("resources/read", json!({ "uri": format!("toolgate://calls/{call}") })).await;
    let shown = read.result()["contents"][0]["text"].as_str().unwrap();
    assert!(shown.contains("\"status\":\"completed\"") && shown.contains("core__get_current_time"));
}

#[tokio::test]
async fn what_a_model_can_mend_is_a_result_and_not_an_error() {
    let gate = TestGate::start().await;
    let client = Modern::new(&gate, ADMIN);
    for (arguments, code) in [
        (json!({ "timezone": "Mars/Olympus" }), None),
        (json!({ "no_such": 1 }), Some("validation")),
        (json!({ "timezone": 7 }), Some("validation")),
    ] {
        let answer = client.call("core__get_current_time", arguments.clone()).await;
        let result = answer.result();
        assert_eq!(result["isError"], true, "{arguments} {result}");
        assert!(result["_meta"]["toolgate/call_id"].is_string());
        if let Some(code) = code {
            assert_eq!(result["_meta"]["toolgate/error"]["code"], code);
        }
        assert!(!result["content"][0]["text"].as_str().unwrap().is_empty());
    }
    let refused =
        client.send("tools/call", json!({ "name": "core__get_current_time", "arguments": [] })).await;
    assert_eq!(refused.error(), (200, -32602, "bad_request"));
    let refused = client.send("tools/call", json!({ "arguments": {} })).await;
    assert_eq!(refused.error(), (200, -32602, "bad_request"));
}

#[tokio::test]
async fn progress_goes_up_and_comes_before_the_result() {
    let gate = TestGate::start().await;
    let client = Modern::new(&gate, ADMIN);
    let params = json!({
        "name": "fixture__slow_read",
        "arguments": { "milliseconds": 300, "reports": 3 },
        "_meta": { "progressToken": "p" },
    });
    let answer = client.send("tools/call", params).await;
    assert_eq!(answer.headers["content-type"], "text/event-stream");
    let (last, told) = answer.messages.split_last().unwrap();
    let progress: Vec<f64> = told.iter().map(|m| m["params"]["progress"].as_f64().unwrap()).collect();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told.iter().all(|m| m["params"]["progressToken"] == "p"));
    assert!(progress.windows(2).all(|pair| pair[0] < pair[1]), "{progress:?}");
    assert_eq!(last["result"]["structuredContent"]["milliseconds"], 300);
    let silent = client.call("fixture__slow_read", json!({ "milliseconds": 300, "reports": 3 })).await;
    assert_eq!(silent.messages.len(), 1, "without a token nothing is told");
}

#[tokio::test]
async fn whoever_closes_the_stream_wants_the_answer_no_more() {
    let gate = TestGate::start().await;
    let client = Modern::new(&gate, ADMIN);
    let params = json!({
        "name": "fixture__slow_read",
        "arguments": { "milliseconds": 60_000, "reports": 100 },
        "_meta": { "progressToken": 1 },
    });
    let mut messages =
        Messages::of(client.request(&client.body(json!(1), "tools/call", params)).send().await.unwrap());
    assert_eq!(messages.next().await.unwrap()["method"], "notifications/progress");
    drop(messages);
    let cancelled = async {
        loop {
            let (_, calls) = gate.get("/api/v1/invocations?tool=fixture__slow_read").await;
            if calls["invocations"][0]["status"] == "cancelled" {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), cancelled).await.expect("it stops");
}

#[tokio::test]
async fn a_call_that_outlives_its_clients_patience_goes_on() {
    let gate = TestGate::start().await;
    let slow = |wait: serde_json::Value| {
        json!({
            "name": "fixture__slow_read",
            "arguments": { "milliseconds": 60_000 },
            "_meta": { "toolgate/wait_seconds": wait },
        })
    };
    let client = Modern::new(&gate, ADMIN);
    let told = client.send("tools/call", slow(json!(0))).await;
    let pending = &told.result()["_meta"]["toolgate/pending"];
    assert_eq!(pending["status"], "running", "{}", told.last());
    let call = pending["call_id"].as_str().unwrap();
    assert!(
        told.result()["content"][0]["text"].as_str().unwrap().contains(&format!("toolgate://calls/{call}"))
    );
    let (_, row) = gate.get(&format!("/api/v1/invocations/{call}")).await;
    assert_eq!(row["status"], "running", "the end of the answer is not the end of the call");
    let tasks =
        Modern::new(&gate, ADMIN).can(json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } }));
    let made = tasks.send("tools/call", slow(json!(0))).await;
    assert_eq!((&made.result()["resultType"], &made.result()["status"]), (&json!("task"), &json!("working")));
    let task = json!({ "taskId": made.result()["taskId"] });
    tasks.send("tasks/cancel", task.clone()).await;
    loop {
        let got = tasks.send("tasks/get", task.clone()).await;
        match got.result()["status"].as_str().unwrap() {
            "working" => tokio::task::yield_now().await,
            other => break assert_eq!(other, "cancelled"),
        }
    }
    for bad in [json!(-1), json!(301), json!("5")] {
        assert_eq!(client.send("tools/call", slow(bad)).await.error(), (200, -32602, "bad_request"));
    }
}

#[tokio::test]
async fn a_key_makes_a_repeat_return_the_first_result() {
    let gate = TestGate::permissive().await;
    let client = Modern::new(&gate, ADMIN);
    let call = |effect: &str| {
        json!({
            "name": "fixture__mutate",
            "arguments": { "effect_id": effect },
            "_meta": { "toolgate/idempotency_key": "k" },
        })
    };
    let first = client.send("tools/call", call("once")).await;
    let again = client.send("tools/call", call("once")).await;
    assert_eq!(first.result()["_meta"]["toolgate/call_id"], again.result()["_meta"]["toolgate/call_id"]);
    assert_eq!(gate.receiver.counts().get("once"), Some(&1));
    let other = client.send("tools/call", call("twice")).await;
    assert_eq!(other.result()["_meta"]["toolgate/error"]["code"], "idempotency_conflict", "{}", other.last());
    let by_header = client
        .request(&client.body(
            json!(2),
            "tools/call",
            json!({ "name": "fixture__mutate", "arguments": { "effect_id": "once" } }),
        ))
        .header("idempotency-key", "k");
    let by_header = read(by_header.send().await.unwrap()).await;
    assert_eq!(by_header.result()["_meta"]["toolgate/call_id"], first.result()["_meta"]["toolgate/call_id"]);
}

#[tokio::test]
async fn a_hundred_clients_with_one_id_get_their_own_answers() {
    let gate = TestGate::start().await;
    let client = Modern::new(&gate, ADMIN);
    let calls = (0..100).map(|n| {
        let client = &client;
        async move {
            let params = json!({
                "name": "fixture__slow_read",
                "arguments": { "milliseconds": 50 + n, "reports": 2 },
                "_meta": { "progressToken": format!("token-{n}") },
            });
            let body = client.body(json!("same"), "tools/call", params);
            (n, read(client.request(&body).send().await.unwrap()).await)
        }
    });
    for (n, answer) in join_all(calls).await {
        assert_eq!(answer.last()["id"], "same");
        assert_eq!(answer.result()["structuredContent"]["milliseconds"], 50 + n);
        for told in &answer.messages[..answer.messages.len() - 1] {
            assert_eq!(told["params"]["progressToken"], format!("token-{n}"));
        }
    }
    gate.verify().await;
}
