//! Streams that tell of change, and only of change.

use serde_json::{Value, json};

use super::{BOTH, Legacy, Messages, Modern};
use crate::gate::{ADMIN, OTHER_USER, TestGate};

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
