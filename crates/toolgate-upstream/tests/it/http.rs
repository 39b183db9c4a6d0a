//! The same over HTTP, in both eras.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolgate_core::contract::Effect;
use toolgate_core::upstream::Transport;
use toolgate_core::{ErrorCode, Status};

use crate::plane::{HttpPeer, Plane, upstream};

async fn plane(modes: &[&str], effect: Effect) -> (HttpPeer, Plane) {
    let peer = HttpPeer::start(modes).await;
    let plane = Plane::new(peer.upstream()).await;
    plane.accept(effect).await;
    (peer, plane)
}

fn methods(seen: &[Value]) -> Vec<&str> {
    seen.iter()
        .filter(|entry| entry["http"] == "POST")
        .filter_map(|entry| entry["body"]["method"].as_str())
        .collect()
}

#[tokio::test]
async fn both_eras_are_spoken_and_remembered() {
    let (peer, plane) = plane(&["modern"], Effect::Read).await;
    assert!(plane.call("act", json!({})).await.ok);
    let seen = peer.seen().await;
    assert_eq!(methods(&seen)[0], "server/discover");
    assert!(!methods(&seen).contains(&"initialize"));
    let call = seen.iter().find(|entry| entry["body"]["method"] == "tools/call").unwrap();
    assert_eq!(call["headers"]["mcp-method"], "tools/call");
    assert_eq!(call["headers"]["mcp-name"], "act");
    assert!(call["headers"].get("authorization").is_none());

    let (peer, plane) = self::plane(&[], Effect::Read).await;
    assert!(plane.call("act", json!({})).await.ok);
    assert_eq!(
        methods(&peer.seen().await)[..3],
        ["server/discover", "initialize", "notifications/initialized"]
    );
}

#[tokio::test]
async fn answers_that_can_not_be_taken_are_coded() {
    for modes in [&["modern"][..], &["modern", "streams"], &[], &["streams"]] {
        let (_peer, plane) = plane(modes, Effect::Read).await;
        plane.error("act", json!({ "do": "big" }), ErrorCode::ResultTooLarge).await;
        plane.error("act", json!({ "do": "deep" }), ErrorCode::UpstreamFailed).await;
        plane.error("act", json!({ "do": "garbled" }), ErrorCode::UpstreamFailed).await;
        plane.error("act", json!({ "do": "question" }), ErrorCode::UpstreamFailed).await;
        assert!(plane.call("act", json!({})).await.ok, "{modes:?}");
    }
}

#[tokio::test]
async fn endless_streams_end() {
    let (_peer, plane) = plane(&["modern", "streams"], Effect::Read).await;
    plane.error("act", json!({ "do": "endless" }), ErrorCode::ResultTooLarge).await;
    assert!(plane.call("act", json!({ "do": "progress" })).await.ok);
    assert!(plane.call("act", json!({ "do": "flood" })).await.ok);
}

#[tokio::test]
async fn what_broke_off_is_in_doubt_if_it_writes() {
    for (modes, input) in [
        (&["modern", "drops"][..], json!({})),
        (&["drops"], json!({})),
        (&["modern", "streams"], json!({ "do": "breaks" })),
        (&["modern", "bad-gateway"], json!({})),
    ] {
        let (_peer, plane) = plane(modes, Effect::Mutate).await;
        let result = plane.call("act", input).await;
        assert_eq!(result.status, Status::InDoubt, "{modes:?}: {:?}", result.error);
    }
}

#[tokio::test]
async fn an_answer_without_sense_is_a_failure() {
    let (_peer, plane) = plane(&["modern", "teapot"], Effect::Mutate).await;
    let error = plane.error("act", json!({}), ErrorCode::UpstreamFailed).await;
    assert!(error.message.contains("HTTP 418"), "{error:?}");
}

#[tokio::test]
async fn nobody_there_is_told_at_once_and_nothing_is_in_doubt() {
    let peer = HttpPeer::start(&["modern"]).await;
    let plane = Plane::new(peer.upstream()).await;
    plane.accept(Effect::Mutate).await;
    drop(peer);
    // Its process ends a moment after it is told to; a call in that moment would be in doubt.
    while plane.list().await.is_ok() {}
    let result = plane.call("act", json!({})).await;
    assert_eq!(result.status, Status::Failed, "{:?}", result.error);
    assert_eq!(result.error.unwrap().code, ErrorCode::UpstreamFailed);
}

#[tokio::test]
async fn a_session_that_was_forgotten_is_begun_again() {
    let (peer, plane) = plane(&["forgets"], Effect::Mutate).await;
    assert!(plane.call("act", json!({})).await.ok);
    let seen = peer.seen().await;
    let sessions: Vec<_> = seen
        .iter()
        .filter(|entry| entry["body"]["method"] == "tools/call")
        .map(|entry| entry["headers"]["mcp-session-id"].clone())
        .collect();
    assert_eq!(sessions, ["s1", "s2"]);
}

#[tokio::test]
async fn addresses_that_are_not_public_are_refused() {
    let allowed = |url: &str| upstream(Transport::Http { url: url.to_owned(), headers: [].into() });
    for url in ["http://169.254.169.254/mcp", "http://10.0.0.1/mcp", "file:///etc/passwd", "http://[::1]/mcp"]
    {
        let plane = Plane::new(allowed(url)).await;
        let error = plane.list().await.unwrap_err();
        assert_eq!(error.code, ErrorCode::UpstreamFailed, "{url}");
    }
    let peer = HttpPeer::start(&["redirects"]).await;
    let plane = Plane::new(peer.upstream()).await;
    let error = plane.list().await.unwrap_err();
    assert!(error.message.contains("not followed"), "{error:?}");
}

#[tokio::test]
async fn nobody_is_asked_in_a_strangers_name() {
    let (_peer, plane) = plane(&[], Effect::Read).await;
    let value = plane.value("act", json!({ "do": "phish" })).await;
    assert_eq!(value["content"][0]["text"], "[-32601,-32601,-32601]");
}

#[tokio::test]
async fn who_leaves_cancels_there() {
    for (modes, told) in [
        (&["modern"][..], json!({ "closed": "tools/call" })),
        (&["modern", "streams"], json!({ "closed": "tools/call" })),
        (&[], json!({ "method": "notifications/cancelled" })),
    ] {
        let peer = HttpPeer::start(modes).await;
        let plane = Plane::new(peer.upstream()).await;
        plane.accept_within(Effect::Read, 300).await;
        plane.error("act", json!({ "do": "mute" }), ErrorCode::Timeout).await;
        let is_told = |entry: &Value| match told.get("closed") {
            Some(closed) => entry["closed"] == *closed,
            None => entry["body"]["method"] == told["method"],
        };
        while !peer.seen().await.iter().any(is_told) {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }
}

#[tokio::test]
async fn a_server_that_calls_us_back_at_once_is_not_obeyed() {
    let peer = HttpPeer::start(&["streams"]).await;
    let plane = Plane::new(peer.upstream()).await;
    plane.accept_within(Effect::Read, 1_000).await;
    // The stream ends and says: come back in no time. It does not take it up again, so the call is lost.
    plane.error("act", json!({ "do": "circles" }), ErrorCode::UpstreamFailed).await;
}

#[tokio::test]
async fn a_certificate_that_is_not_trusted_is_said_to_be() {
    let peer = HttpPeer::start(&["modern", "tls"]).await;
    let mut upstream = peer.upstream();
    upstream.transport = Transport::Http {
        url: format!("{}/mcp", peer.url.replace("http:", "https:")),
        headers: BTreeMap::new(),
    };
    let error = Plane::new(upstream).await.list().await.unwrap_err();
    assert!(error.message.ends_with("its certificate is not trusted here: UnknownIssuer"), "{error:?}");
    assert!(error.hint.unwrap().contains("SSL_CERT_FILE"));
}
