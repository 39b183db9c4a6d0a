//! Requests of the handshake era that their clients give up before anyone knows which call they lead to.

use serde_json::json;
use toolgate_core::id::InvocationId;
use toolgate_core::json::digest;
use toolgate_core::{Actor, Timestamp};

use super::{Legacy, read};
use crate::gate::{ADMIN, TestGate};

async fn caller(gate: &TestGate, who: &str) -> Actor {
    gate.app.local_caller(&who.parse().unwrap()).await.unwrap().unwrap()
}

fn now(gate: &TestGate) -> Timestamp {
    gate.runner.parts().clock.now()
}

#[tokio::test]
async fn a_word_does_not_stop_a_request_that_came_after_it() {
    let gate = TestGate::start().await;
    let client = Legacy::open(&gate, ADMIN, json!({})).await;
    let stop =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "a" } });
    assert_eq!(client.tell(stop).await, 202);
    let call = json!({ "jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {
        "name": "fixture__slow_read", "arguments": { "milliseconds": 700, "reports": 0 } } });
    let answer = read(client.request(&call).send().await.unwrap()).await;
    assert_eq!(answer.result()["structuredContent"]["milliseconds"], 700, "{}", answer.last());
}

#[tokio::test]
async fn a_wish_is_heard_once_by_the_request_it_is_about() {
    let gate = TestGate::start().await;
    let (admin, other) = (caller(&gate, "user:admin").await, caller(&gate, "user:other").await);
    let (key, call) = (digest(b"one"), InvocationId::generate());
    let began = now(&gate);
    assert_eq!(gate.app.give_up_mcp_request(&admin, key).await.unwrap(), None, "no call is known yet");
    assert!(!gate.app.note_mcp_request(&other, key, call, began).await.unwrap(), "it is nobody else's word");
    assert!(gate.app.note_mcp_request(&admin, key, call, began).await.unwrap());
    assert!(!gate.app.note_mcp_request(&admin, key, call, began).await.unwrap(), "it was heard");
    assert_eq!(gate.app.give_up_mcp_request(&admin, key).await.unwrap(), Some(call), "it is known by now");
    assert!(!gate.app.note_mcp_request(&admin, key, call, began).await.unwrap(), "no wish is left behind");
}

#[tokio::test]
async fn wishes_of_one_caller_are_few_and_leave_those_of_others() {
    let gate = TestGate::start().await;
    let (admin, other) = (caller(&gate, "user:admin").await, caller(&gate, "user:other").await);
    let (began, call) = (now(&gate), InvocationId::generate());
    let theirs = digest(b"theirs");
    gate.app.give_up_mcp_request(&other, theirs).await.unwrap();
    let keys: Vec<_> = (0..300_u32).map(|number| digest(&number.to_le_bytes())).collect();
    for key in &keys {
        gate.app.give_up_mcp_request(&admin, *key).await.unwrap();
    }
    let mut kept = 0;
    for key in &keys {
        kept += usize::from(gate.app.note_mcp_request(&admin, *key, call, began).await.unwrap());
    }
    assert!((1..=32).contains(&kept), "{kept} wishes were kept");
    assert!(gate.app.note_mcp_request(&other, theirs, call, began).await.unwrap());
}
