//! Tools that their server runs only as tasks.

use std::time::Duration;

use serde_json::json;
use toolgate_core::contract::Effect;
use toolgate_core::{ErrorCode, Status};

use crate::plane::{HttpPeer, Plane, hostile};

async fn check(plane: &Plane) {
    let value = plane.value("research", json!({})).await;
    assert_eq!(value, json!({ "content": [{ "type": "text", "text": "completed after 2" }] }));
    let failed = plane.error("research", json!({ "is": "failing" }), ErrorCode::Execution).await;
    assert!(failed.message.contains("failed after 2"), "{failed:?}");
    // Others of the same server are called as ever.
    assert!(plane.call("act", json!({})).await.ok);
}

#[tokio::test]
async fn they_are_begun_asked_after_and_fetched() {
    let plane = Plane::new(hostile(&["tasks"])).await;
    plane.accept(Effect::Read).await;
    check(&plane).await;
}

#[tokio::test]
async fn over_http_too_and_what_is_out_of_time_is_cancelled() {
    for modes in [&["tasks"][..], &["tasks", "streams"]] {
        let peer = HttpPeer::start(modes).await;
        let plane = Plane::new(peer.upstream()).await;
        plane.accept(Effect::Read).await;
        check(&plane).await;
        plane.accept_within(Effect::Read, 300).await;
        plane.error("research", json!({ "is": "endless" }), ErrorCode::Timeout).await;
        let cancelled = async || {
            let seen = peer.seen().await;
            seen.iter().any(|entry| entry["body"]["method"] == "tasks/cancel")
        };
        let mut looks = 0;
        while !cancelled().await {
            looks += 1;
            assert!(looks < 500, "the task was not cancelled");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

#[tokio::test]
async fn a_task_that_was_lost_may_have_had_its_effect() {
    let plane = Plane::new(hostile(&["tasks"])).await;
    plane.accept(Effect::Mutate).await;
    for is in ["forgotten", "nameless", "again"] {
        let lost = plane.call("research", json!({ "is": is })).await;
        assert_eq!(lost.status, Status::InDoubt, "{is}: {lost:?}");
    }
}
