//! How servers are told who calls: with what the broker hands out, and never with the caller's own token.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::json;
use toolgate_core::actor::Subject;
use toolgate_core::contract::Effect;
use toolgate_core::id::{ConnectionId, TenantId};
use toolgate_core::port::connection::{Credentials, Presented, Whose};
use toolgate_core::upstream::UpstreamAuth;
use toolgate_core::{AccessRules, CallError, ErrorCode};
use toolgate_upstream::Settings;

use crate::plane::{Given, HttpPeer, Nobody, Plane, actor, hostile, secret};

/// A broker with an old token, and a new one once the old one was refused.
#[derive(Default)]
struct Turning {
    refused: AtomicUsize,
    asked: Mutex<Vec<String>>,
    never: bool,
}

#[async_trait]
impl Credentials for Turning {
    async fn find(&self, _: &TenantId, _: &str, _: Whose<'_>) -> Result<ConnectionId, CallError> {
        Ok(ConnectionId::generate())
    }

    async fn present(
        &self,
        _: &TenantId,
        service: &str,
        whose: Whose<'_>,
    ) -> Result<Vec<Presented>, CallError> {
        self.asked.lock().unwrap().push(format!("{service} {whose:?}"));
        let good = self.refused.load(Ordering::Relaxed) > 0 && !self.never;
        Ok(vec![Presented::Bearer(secret(if good { "good" } else { "old" }))])
    }

    async fn refused(&self, _: &TenantId, _: &str, _: Whose<'_>) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }
}

async fn closed(auth: UpstreamAuth, keys: Arc<dyn Credentials>) -> (HttpPeer, Plane) {
    let peer = HttpPeer::start(&["modern", "closed"]).await;
    let mut upstream = peer.upstream();
    upstream.auth = auth;
    let plane = Plane::with(upstream, Settings::default(), keys).await;
    (peer, plane)
}

#[tokio::test]
async fn a_refused_token_is_renewed_once() {
    let keys = Arc::new(Turning::default());
    let (_peer, plane) = closed(UpstreamAuth::Shared, Arc::clone(&keys) as _).await;
    plane.accept(Effect::Mutate).await;
    assert!(plane.call("act", json!({})).await.ok);
    assert_eq!(keys.refused.load(Ordering::Relaxed), 1);
    assert!(keys.asked.lock().unwrap().iter().all(|asked| asked == "mcp:peer Shared"));
}

#[tokio::test]
async fn a_token_that_is_refused_again_needs_a_person() {
    let keys = Arc::new(Turning { never: true, ..Turning::default() });
    let (_peer, plane) = closed(UpstreamAuth::Shared, Arc::clone(&keys) as _).await;
    let error = plane.list().await.unwrap_err();
    assert_eq!(error.code, ErrorCode::ConnectionNeeded, "{error:?}");
    plane.take_unseen("act", Effect::Mutate);
    // However often it is refused, that is no fault of the server: it does not rest.
    for _ in 0..5 {
        let error = plane.error("act", json!({}), ErrorCode::ConnectionNeeded).await;
        assert!(!format!("{error:?}").contains("old"), "{error:?}");
    }
}

#[tokio::test]
async fn each_person_has_a_connection_of_their_own() {
    let keys = Arc::new(Turning::default());
    keys.refused.store(1, Ordering::Relaxed);
    let (_peer, plane) = closed(UpstreamAuth::PerUser, Arc::clone(&keys) as _).await;
    plane.accept(Effect::Read).await;
    keys.asked.lock().unwrap().clear();
    let mut agent = actor();
    agent.principal = "agent:helper".parse().unwrap();
    let subject = "user:bob".parse().unwrap();
    agent.subject = Some(Subject { principal: subject, rules: AccessRules::all(), roles: Arc::default() });
    assert!(plane.call_as(agent, "act", json!({})).await.ok);
    let asked = keys.asked.lock().unwrap().clone();
    assert!(!asked.is_empty() && asked.iter().all(|asked| asked.contains("user:bob")), "{asked:?}");
}

#[tokio::test]
async fn without_a_connection_the_tool_says_so() {
    let (peer, plane) = closed(UpstreamAuth::PerUser, Arc::new(Nobody)).await;
    plane.take_unseen("act", Effect::Mutate);
    plane.error("act", json!({}), ErrorCode::ConnectionNeeded).await;
    assert!(peer.seen().await.is_empty(), "nothing was sent");
}

#[tokio::test]
async fn a_server_that_wants_to_know_is_told_nothing_unasked() {
    let (peer, plane) = closed(UpstreamAuth::None, Arc::new(Nobody)).await;
    let error = plane.list().await.unwrap_err();
    assert_eq!(error.code, ErrorCode::UpstreamFailed);
    assert!(error.message.contains("wants to know who calls"), "{error:?}");
    assert!(peer.seen().await.iter().all(|entry| entry["headers"].get("authorization").is_none()));
}

#[tokio::test]
async fn rights_that_are_missing_are_not_asked_for_again_and_again() {
    let peer = HttpPeer::start(&["modern", "forbidding"]).await;
    let mut upstream = peer.upstream();
    upstream.auth = UpstreamAuth::Shared;
    let keys = Arc::new(Turning::default());
    let plane = Plane::with(upstream, Settings::default(), Arc::clone(&keys) as _).await;
    let error = plane.list().await.unwrap_err();
    assert_eq!(error.code, ErrorCode::ConnectionNeeded, "{error:?}");
    assert_eq!(keys.refused.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn arguments_hold_what_the_connection_holds_and_nobody_sees_it() {
    let start = |argument: &'static str| {
        let mut upstream = hostile(&[argument]);
        upstream.auth = UpstreamAuth::Shared;
        let held = |_: &str, _: Whose<'_>| Presented::Env("PG_URL".to_owned(), secret("postgres://a:b@c/d"));
        Plane::with(upstream, Settings::default(), Arc::new(Given(held)))
    };
    let plane = start("--at=${PG_URL}").await;
    plane.accept(Effect::Read).await;
    let told = plane.value("act", json!({ "do": "who" })).await.to_string();
    // It was there: a server that says it back is not repeated.
    assert!(
        told.contains("--at=***") && !told.contains("postgres://") && !told.contains("{PG_URL}"),
        "{told}"
    );

    let unknown = start("${OTHER}").await.list().await.unwrap_err();
    assert_eq!(unknown.code, ErrorCode::UpstreamFailed);
    assert!(unknown.message.contains("`${OTHER}`, which the connection to it does not hold"), "{unknown:?}");
    assert!(unknown.hint.unwrap().contains("toolgate connection set"));
}
