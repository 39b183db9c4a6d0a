//! Streams that tell of change, and only of change.

use serde_json::{Value, json};

use super::{BOTH, Legacy, Messages, Modern};
use crate::gate::{ADMIN, AGENT, OTHER_USER, TestGate};

fn listen(client: &Modern<'_>, id: Value) -> reqwest::RequestBuilder {
    let filter = json!({ "notifications": { "toolsListChanged": true } });
    client.request(&client.body(id, "subscriptions/listen", filter))
}

async fn switch(gate: &TestGate, tool: &str, enabled: bool) {
    let path = format!("/api/v1/registry/{tool}");
    let (status, body) = gate.send(Some(ADMIN), "PUT", &path, Some(json!({ "enabled": enabled })), &[]).await;
    assert_eq!(status, 200, "{body}");
}

#[tokio::test]
async fn a_stream_tells_when_the_list_really_changed() {
    let gate = TestGate::start().await;
    let modern = Modern::new(&gate, OTHER_USER);
    let mut messages = Messages::of(listen(&modern, json!("sub")).send().await.unwrap());
    let first = messages.next().await.unwrap();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(first["params"]["notifications"], json!({ "toolsListChanged": true }));
    let legacy = Legacy::open(&gate, OTHER_USER, json!({})).await;
    let stream = gate
        .client
        .get(format!("{}/mcp", gate.url))
        .bearer_auth(OTHER_USER)
        .header("accept", BOTH)
        .header("mcp-session-id", &legacy.session);
    let mut old = Messages::of(stream.send().await.unwrap());
    // This moves the tenant on and changes nothing for this caller.
    let quiet = json!({ "tools": ["core__*"] });
    gate.send(Some(ADMIN), "PUT", "/api/v1/toolsets/quiet", Some(quiet), &[]).await;
    switch(&gate, "core__calculate_roi", false).await;
    let told = messages.next().await.unwrap();
    assert_eq!(told["method"], "notifications/tools/list_changed");
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "sub");
    assert!(!modern.names().await.contains(&"core__calculate_roi".to_owned()));
    assert_eq!(old.next().await.unwrap()["method"], "notifications/tools/list_changed");
    switch(&gate, "core__calculate_roi", true).await;
    assert_eq!(messages.next().await.unwrap()["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn a_task_is_followed_to_its_end_and_no_further() {
    let gate = TestGate::start().await;
    let tasks = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let client = Modern::new(&gate, AGENT).can(tasks);
    let made = client.call("fixture__transfer", json!({ "amount": 5, "to": "ada" })).await;
    let id = made.result()["taskId"].as_str().unwrap().to_owned();
    let filter =
        json!({ "notifications": { "toolsListChanged": true, "taskIds": [id, "inv_no", "inv_00"] } });
    let request = client.request(&client.body(json!("sub"), "subscriptions/listen", filter));
    let mut messages = Messages::of(request.send().await.unwrap());
    let agreed = messages.next().await.unwrap();
    assert_eq!(agreed["params"]["notifications"]["taskIds"], json!([id]), "{agreed}");
    let (status, ran) = gate.post(&format!("/api/v1/invocations/{id}/approve"), json!({})).await;
    assert_eq!(status, 200, "{ran}");
    loop {
        let told = messages.next().await.unwrap();
        assert_eq!((&told["method"], &told["params"]["taskId"]), (&json!("notifications/tasks"), &json!(id)));
        if told["params"]["status"] == "completed" {
            break assert_eq!(told["params"]["result"]["structuredContent"]["amount"], 5);
        }
    }
    let reads = || gate.losing.reads.load(std::sync::atomic::Ordering::SeqCst);
    let before = reads();
    // Each is told after another look around.
    for enabled in [false, true, false] {
        switch(&gate, "core__calculate_roi", enabled).await;
        assert_eq!(messages.next().await.unwrap()["method"], "notifications/tools/list_changed");
    }
    assert_eq!(reads(), before, "what is over is not read again");
}

#[tokio::test]
async fn one_caller_has_so_many_streams_and_no_more() {
    let gate = TestGate::start().await;
    let client = Modern::new(&gate, OTHER_USER);
    let mut open = Vec::new();
    for n in 0..16 {
        let mut messages = Messages::of(listen(&client, json!(n)).send().await.unwrap());
        assert!(messages.next().await.is_some());
        open.push(messages);
    }
    let refused = super::read(listen(&client, json!(99)).send().await.unwrap()).await;
    assert_eq!((refused.status, refused.error().2), (429, "rate_limited"));
    let other = Modern::new(&gate, ADMIN);
    assert_eq!(listen(&other, json!(1)).send().await.unwrap().status(), 200, "others have their own");
    open.clear();
    let freed = async {
        loop {
            if listen(&client, json!(1)).send().await.unwrap().status() == 200 {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), freed).await.expect("places are given back");
}
