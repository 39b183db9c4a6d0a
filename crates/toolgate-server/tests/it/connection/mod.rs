//! Accounts at outside services: who may keep what, and logging in with a browser.

mod kill;
mod login;
mod page;
mod secret;
mod upstream;
mod upstream_login;

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_app::{App, StoredServices};
use toolgate_broker::{BrokerParts, ClientRegistry, Keyring, SecretBroker};
use toolgate_egress::{EgressClient, EgressPolicy};
use toolgate_policy::cedar::Policies;
use toolgate_server::ServerSettings;
use toolgate_testkit::ProtectedServer;

use crate::browser::{Answer, Browser};
use crate::gate::TestGate;
use crate::sign_in::add_user;

const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/// A gate that keeps connections, with an MCP server `server` that wants a login and a program `program`; with an
/// administrator `ada` and members `bob` and `eve`.
async fn gate(server: &ProtectedServer) -> TestGate {
    let policy = EgressPolicy { allow: vec![server.host().parse().unwrap()], ..EgressPolicy::default() };
    let decide = |app: App| {
        let parts = app.runner().parts();
        let broker = SecretBroker::new(BrokerParts {
            store: Arc::clone(&parts.store),
            services: Arc::new(StoredServices::new(Arc::clone(&parts.store))),
            keyring: Keyring::from_texts(KEY, [], "the test").unwrap(),
            egress: EgressClient::new(policy).unwrap(),
            clock: Arc::clone(&parts.clock),
            clients: ClientRegistry::default(),
            public_url: None,
        });
        app.with_broker(Arc::new(broker))
    };
    let gate = TestGate::with_app(ServerSettings::default(), Policies::default_set().0, decide).await;
    let at = json!({ "transport": { "kind": "http", "url": server.url() }, "auth": "per_user" });
    put(&gate, "/api/v1/upstreams/server", at).await;
    let program = json!({ "kind": "stdio", "command": "/nowhere/at/all", "env": { "TOKEN": "" } });
    put(&gate, "/api/v1/upstreams/program", json!({ "transport": program, "auth": "shared" })).await;
    add_user(&gate, "ada", &["admin"]).await;
    add_user(&gate, "bob", &["member"]).await;
    add_user(&gate, "eve", &["member"]).await;
    gate
}

async fn put(gate: &TestGate, path: &str, body: Value) {
    let (status, answer) = gate.send(Some(crate::gate::ADMIN), "PUT", path, Some(body), &[]).await;
    assert_eq!(status, 200, "{answer}");
}

/// Begins a login and returns where the browser is sent.
async fn connect(browser: &mut Browser<'_>, shared: bool) -> Answer {
    let body = json!({ "shared": shared });
    browser.change("POST", "/api/v1/connections/mcp:server/connect", Some(body)).await
}

async fn list(browser: &mut Browser<'_>) -> Vec<Value> {
    let answer = browser.get("/api/v1/connections").await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()["connections"].as_array().unwrap().clone()
}

/// Where a browser comes back to, on this gate.
fn path_of(url: &str) -> String {
    url[url.find("/connections/callback").unwrap()..].to_owned()
}
