//! Secrets that people give.

use serde_json::{Value, json};
use toolgate_core::connection::Owner;
use toolgate_testkit::ProtectedServer;

use super::{gate, list, put};
use crate::browser::Browser;
use crate::gate::{ADMIN, AGENT, NewCaller, TestGate};

async fn give(browser: &mut Browser<'_>, service: &str, body: Value) -> (u16, String) {
    let answer = browser.change("PUT", &format!("/api/v1/connections/{service}"), Some(body)).await;
    assert!(!answer.text.contains("s3cret"), "{}", answer.text);
    (answer.status, answer.text)
}

fn token() -> Value {
    json!({ "kind": "token", "secret": "s3cret" })
}

#[tokio::test]
async fn ones_own_are_seen_by_oneself_and_those_who_manage() {
    let server = ProtectedServer::start().await;
    let gate = gate(&server).await;
    let (mut ada, mut bob, mut eve) = (
        Browser::signed_in(&gate, "ada").await,
        Browser::signed_in(&gate, "bob").await,
        Browser::signed_in(&gate, "eve").await,
    );
    assert_eq!(give(&mut bob, "mcp:server", token()).await.0, 200);
    let own = list(&mut bob).await;
    assert_eq!((own.len(), &own[0]["owner"], &own[0]["state"]), (1, &json!("user:bob"), &json!("ok")));
    assert_eq!(list(&mut eve).await.len(), 0);
    assert_eq!(list(&mut ada).await.len(), 1);
    let remove = "/api/v1/connections/mcp:server";
    assert_eq!(eve.change("DELETE", remove, None).await.status, 404);
    assert_eq!(eve.change("DELETE", &format!("{remove}?owner=user:bob"), None).await.status, 403);
    assert_eq!(bob.change("DELETE", remove, None).await.status, 204);
    assert_eq!(give(&mut bob, "mcp:server", token()).await.0, 200);
    assert_eq!(ada.change("DELETE", &format!("{remove}?owner=user:bob"), None).await.status, 204);
    assert_eq!(list(&mut bob).await.len(), 0);
}

#[tokio::test]
async fn shared_ones_are_for_those_who_manage_connections() {
    let server = ProtectedServer::start().await;
    let gate = gate(&server).await;
    let (mut ada, mut bob) = (Browser::signed_in(&gate, "ada").await, Browser::signed_in(&gate, "bob").await);
    let shared = json!({ "kind": "token", "secret": "s3cret", "shared": true });
    assert_eq!(give(&mut bob, "mcp:server", shared.clone()).await.0, 403);
    assert_eq!(give(&mut ada, "mcp:server", shared).await.0, 200);
    assert_eq!(list(&mut bob).await[0]["owner"], "shared");
    let path = "/api/v1/connections/mcp:server?owner=shared";
    assert_eq!(bob.change("DELETE", path, None).await.status, 403);
    assert_eq!(ada.change("DELETE", path, None).await.status, 204);
}

#[tokio::test]
async fn narrowed_keys_and_agents_leave_peoples_connections_alone() {
    let server = ProtectedServer::start().await;
    let gate = gate(&server).await;
    let caller = |principal, subject, scopes| NewCaller {
        tenant: "default",
        principal,
        subject,
        scopes,
        acts_for: &["user:bob"],
        ..NewCaller::default()
    };
    let narrowed = gate.caller(caller("user:third", None, &["tool:core__*"])).await;
    let for_bob = gate.caller(caller("agent:worker", Some("user:bob"), &[])).await;
    for (key, expected) in [(&narrowed, 403), (&for_bob, 403)] {
        let path = "/api/v1/connections/mcp:server";
        let (status, _) = gate.send(Some(key), "PUT", path, Some(token()), &[]).await;
        assert_eq!(status, expected);
        let (status, _) = gate.send(Some(key), "DELETE", path, None, &[]).await;
        assert_eq!(status, expected);
    }
    assert_eq!(gate.send(Some(&narrowed), "GET", "/api/v1/connections", None, &[]).await.0, 403);
    // An agent can't log in anywhere: there is no person at a browser.
    let path = "/api/v1/connections/mcp:server/connect";
    assert_eq!(gate.send(Some(AGENT), "POST", path, None, &[]).await.0, 403);
}

#[tokio::test]
async fn what_a_service_can_not_take_is_refused() {
    let server = ProtectedServer::start().await;
    let gate = gate(&server).await;
    let mut bob = Browser::signed_in(&gate, "bob").await;
    let header = |name: &str| json!({ "kind": "header", "name": name, "secret": "s3cret" });
    let env = |name: &str| json!({ "kind": "env", "name": name, "secret": "s3cret" });
    for (service, body, expected) in [
        ("mcp:nowhere", token(), 404),
        ("http:server", token(), 404),
        ("nonsense", token(), 404),
        ("mcp:..%2Fserver", token(), 404),
        ("mcp:program", token(), 400),
        ("mcp:program", header("x-api-key"), 400),
        ("mcp:server", env("TOKEN"), 400),
        ("mcp:server", header("host"), 400),
        ("mcp:server", header("Mcp-Session-Id"), 400),
        ("mcp:server", header("x\r\ny"), 400),
        ("mcp:server", json!({ "kind": "oauth", "secret": "s3cret" }), 400),
        ("mcp:server", json!({ "kind": "token", "secret": "s3cret\r\nx: y" }), 400),
        ("mcp:server", json!({ "kind": "token", "secret": "" }), 400),
        ("mcp:server", json!({ "kind": "token", "secret": "s3cret".repeat(4000) }), 400),
        ("mcp:server", json!({ "kind": "token", "secret": "s3cret", "else": 1 }), 400),
        // What makes a program run other code is not for everyone to set.
        ("mcp:program", env("LD_PRELOAD"), 400),
        ("mcp:program", env("PATH"), 400),
        ("mcp:program", env("TOKEN"), 200),
        ("mcp:server", header("x-api-key"), 200),
    ] {
        let (status, text) = give(&mut bob, service, body.clone()).await;
        assert_eq!(status, expected, "{service} {body} {text}");
    }
}

/// Another tenant's connections are not there.
#[tokio::test]
async fn tenants_share_nothing() {
    let server = ProtectedServer::start().await;
    let gate = gate(&server).await;
    let mut bob = Browser::signed_in(&gate, "bob").await;
    give(&mut bob, "mcp:server", token()).await;
    let key = crate::gate::OTHER_TENANT;
    let (_, seen) = gate.send(Some(key), "GET", "/api/v1/connections", None, &[]).await;
    assert_eq!(seen["connections"], json!([]));
    for (method, path) in
        [("PUT", "mcp:server"), ("DELETE", "mcp:server?owner=user:bob"), ("POST", "mcp:server/connect")]
    {
        let body = (method == "PUT").then(token);
        let (status, _) =
            gate.send(Some(key), method, &format!("/api/v1/connections/{path}"), body, &[]).await;
        assert_eq!(status, 404, "{method} {path}");
    }
}

/// The record says who did what to which connection, and holds no secret.
#[tokio::test]
async fn the_record_knows_of_it_and_of_nothing_secret() {
    let server = ProtectedServer::start().await;
    let gate = gate(&server).await;
    let mut bob = Browser::signed_in(&gate, "bob").await;
    give(&mut bob, "mcp:server", token()).await;
    bob.change("DELETE", "/api/v1/connections/mcp:server", None).await;
    let export = exported(&gate).await;
    assert!(export.contains("connection.set") && export.contains("connection.removed"));
    assert!(!export.contains("s3cret"));
    gate.verify().await;
}

/// A server that was written down elsewhere under the same name gets nothing of what was kept for the first.
#[tokio::test]
async fn a_moved_service_has_to_be_connected_again() {
    let (server, other) = (ProtectedServer::start().await, ProtectedServer::start().await);
    let gate = gate(&server).await;
    let mut bob = Browser::signed_in(&gate, "bob").await;
    give(&mut bob, "mcp:server", token()).await;
    let at = json!({ "transport": { "kind": "http", "url": other.url() }, "auth": "per_user" });
    put(&gate, "/api/v1/upstreams/server", at).await;
    let store = &gate.runner.parts().store;
    let owner = Owner::Person("user:bob".parse().unwrap());
    let (kept, _) =
        store.connection(&"default".parse().unwrap(), "mcp:server", &owner).await.unwrap().unwrap();
    assert_eq!(kept.place, format!("http://{}/mcp", server.host()));
    assert_eq!(list(&mut bob).await[0]["place"], json!(kept.place));
}

pub(super) async fn exported(gate: &TestGate) -> String {
    let (status, export) = gate.send(Some(ADMIN), "GET", "/api/v1/audit/export", None, &[]).await;
    assert_eq!(status, 200);
    export.to_string()
}
