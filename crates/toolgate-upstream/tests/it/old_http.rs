//! The HTTP transport of before 2025.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_core::contract::Effect;
use toolgate_core::port::connection::{Presented, Whose};
use toolgate_core::port::upstream::Upstreams;
use toolgate_core::upstream::UpstreamAuth;
use toolgate_core::{ErrorCode, Status};
use toolgate_upstream::Settings;

use crate::plane::{Given, HttpPeer, Plane, name, secret, tenant};

async fn plane(modes: &[&str], effect: Effect) -> (HttpPeer, Plane) {
    let peer = HttpPeer::start(modes).await;
    let plane = Plane::new(peer.upstream()).await;
    plane.accept(effect).await;
    (peer, plane)
}

fn tried(seen: &[Value], http: &str) -> usize {
    seen.iter().filter(|entry| entry["http"] == http && entry["body"]["method"] != "tools/call").count()
}

#[tokio::test]
async fn it_is_spoken_where_nothing_else_is() {
    let (peer, plane) = plane(&["old"], Effect::Read).await;
    let done = json!({ "content": [{ "type": "text", "text": "done" }] });
    assert_eq!(plane.value("act", json!({})).await, done);
    assert_eq!(plane.value("act", json!({ "do": "progress" })).await, done);
    plane.error("act", json!({ "do": "fail" }), ErrorCode::Execution).await;
    plane.error("act", json!({ "do": "refuse" }), ErrorCode::Execution).await;
    assert_eq!(tried(&peer.seen().await, "GET"), 1);
}

#[tokio::test]
async fn which_it_is_is_remembered_and_a_stream_that_broke_is_opened_anew() {
    let (peer, plane) = plane(&["old"], Effect::Read).await;
    let greeted =
        |seen: &[Value]| seen.iter().filter(|entry| entry["body"]["method"] == "server/discover").count();
    assert_eq!(greeted(&peer.seen().await), 1);
    plane.error("act", json!({ "do": "breaks" }), ErrorCode::UpstreamFailed).await;
    assert!(plane.call("act", json!({})).await.ok);
    let seen = peer.seen().await;
    assert_eq!((tried(&seen, "GET"), greeted(&seen)), (2, 1), "the other way was not tried again");
}

#[tokio::test]
async fn answers_have_the_same_bounds() {
    let (_peer, plane) = plane(&["old"], Effect::Read).await;
    plane.error("act", json!({ "do": "deep" }), ErrorCode::UpstreamFailed).await;
    plane.error("act", json!({ "do": "big" }), ErrorCode::ResultTooLarge).await;
    assert!(plane.call("act", json!({})).await.ok, "it is reached anew");
}

#[tokio::test]
async fn a_write_that_was_not_answered_is_in_doubt_and_one_refused_is_not() {
    let (_peer, plane) = plane(&["old"], Effect::Mutate).await;
    assert_eq!(plane.call("act", json!({ "do": "breaks" })).await.status, Status::InDoubt);
    let (_peer, refusing) = self::plane(&["old", "teapot"], Effect::Mutate).await;
    assert_eq!(refusing.call("act", json!({})).await.status, Status::Failed);
}

#[tokio::test]
async fn only_its_own_origin_is_told_anything() {
    let peer = HttpPeer::start(&["old", "elsewhere"]).await;
    let error = Plane::new(peer.upstream()).await.list().await.unwrap_err();
    assert!(error.message.contains("another origin, which is not done"), "{error:?}");
}

#[tokio::test]
async fn it_is_told_who_calls_and_its_health_says_how_it_does() {
    let peer = HttpPeer::start(&["old", "closed"]).await;
    let mut upstream = peer.upstream();
    upstream.auth = UpstreamAuth::Shared;
    let key = |_: &str, _: Whose<'_>| Presented::Bearer(secret("good"));
    let plane = Plane::with(upstream, Settings::default(), Arc::new(Given(key))).await;
    plane.accept(Effect::Read).await;
    assert!(plane.call("act", json!({})).await.ok);
    let health = plane.pool.health(&tenant(), &name()).unwrap();
    assert_eq!((health.connected, health.last_error), (true, None));
    let seen = peer.seen().await;
    assert!(
        seen.iter()
            .all(|entry| entry["http"].is_null() || entry["headers"]["authorization"] == "Bearer good")
    );
}

#[tokio::test]
async fn an_address_without_either_is_said_to_be_one() {
    let peer = HttpPeer::start(&["old"]).await;
    let mut upstream = peer.upstream();
    let url = format!("{}/seen", peer.url);
    upstream.transport = toolgate_core::upstream::Transport::Http { url, headers: [].into() };
    // What is there answers everything, with something else.
    assert_eq!(Plane::new(upstream).await.list().await.unwrap_err().code, ErrorCode::UpstreamFailed);
}
