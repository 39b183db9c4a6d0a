//! Accounts that calls of MCP servers' tools go through: policy and kill switches reach them before anything is opened.

use serde_json::{Value, json};
use toolgate_policy::cedar::Policies;
use toolgate_server::ServerSettings;
use toolgate_testkit::TestResource;

use crate::browser::{Answer, Browser};
use crate::gate::{ADMIN, NewCaller, TestGate};
use crate::outside::Outside;
use crate::sign_in::add_user;

pub(super) const TOOL: &str = "mcp__server__whoami";

/// A gate that may reach the MCP server `server`, with its one tool accepted; with `ada` who manages and the members
/// `bob` and `eve`.
pub(super) async fn gate(server: &TestResource, auth: &str) -> TestGate {
    let outside = Outside(server.hosts().map(str::to_owned).to_vec());
    let gate =
        TestGate::with_outside(ServerSettings::default(), Policies::default_set().0, Some(outside), |app| {
            app
        })
        .await;
    for (login, role) in [("ada", "admin"), ("bob", "member"), ("eve", "member")] {
        add_user(&gate, login, &[role]).await;
    }
    server.accept("s3cret-of-the-admin", "admin").await;
    let at = json!({ "transport": { "kind": "http", "url": server.url() }, "auth": auth });
    ok(gate.send(Some(ADMIN), "PUT", "/api/v1/upstreams/server", Some(at), &[]).await);
    // Whoever looks at its tools needs an account too.
    let given = json!({ "kind": "token", "secret": "s3cret-of-the-admin", "shared": auth == "shared" });
    ok(gate.send(Some(ADMIN), "PUT", "/api/v1/connections/mcp:server", Some(given), &[]).await);
    ok(gate.send(Some(ADMIN), "POST", "/api/v1/upstreams/server/refresh", None, &[]).await);
    let offered = ok(gate.get(&format!("/api/v1/upstream-tools/{TOOL}")).await);
    let decision = json!({ "digest": offered["digest"], "effect": "read", "egress": "read_only",
                           "redaction_allow": ["*"] });
    ok(gate.post(&format!("/api/v1/upstream-tools/{TOOL}/accept"), decision).await);
    gate
}

pub(super) fn ok((status, answer): (u16, Value)) -> Value {
    assert_eq!(status, 200, "{answer}");
    answer
}

pub(super) async fn call(browser: &mut Browser<'_>) -> Answer {
    let path = format!("/api/v1/tools/{TOOL}/invoke");
    browser.change("POST", &path, Some(json!({ "input": {} }))).await
}

async fn give(browser: &mut Browser<'_>, secret: &str) -> u16 {
    let body = json!({ "kind": "token", "secret": secret });
    browser.change("PUT", "/api/v1/connections/mcp:server", Some(body)).await.status
}

/// Bob and Eve with an account each.
async fn connected<'a>(gate: &'a TestGate, server: &TestResource) -> (Browser<'a>, Browser<'a>) {
    let (mut bob, mut eve) = (Browser::signed_in(gate, "bob").await, Browser::signed_in(gate, "eve").await);
    for (browser, token, sub) in [(&mut bob, "s3cret-of-bob", "bob"), (&mut eve, "s3cret-of-eve", "eve")] {
        server.accept(token, sub).await;
        assert_eq!(give(browser, token).await, 200);
    }
    (bob, eve)
}

async fn id_of(gate: &TestGate, owner: &str) -> String {
    let (_, list) = gate.get("/api/v1/connections").await;
    let all = list["connections"].as_array().unwrap().clone();
    let found = all.iter().find(|connection| connection["owner"] == owner).unwrap();
    found["id"].as_str().unwrap().to_owned()
}

async fn save(gate: &TestGate, more: &str) {
    let text = format!("{}\n{more}", Policies::default_set().0);
    ok(gate.send(Some(ADMIN), "PUT", "/api/v1/policy", Some(json!({ "text": text })), &[]).await);
}

async fn calls_seen(server: &TestResource) -> usize {
    let (requests, _) = server.seen().await;
    requests.iter().filter(|request| request["method"] == "tools/call").count()
}

fn refused_by(answer: &Answer, rule: &str) {
    assert_eq!((answer.status, answer.code().as_str()), (403, "policy_denied"), "{}", answer.text);
    assert_eq!(answer.json()["error"]["details"]["rule"], rule, "{}", answer.text);
}

#[tokio::test]
async fn policy_decides_on_each_persons_account() {
    let server = TestResource::start().await;
    let gate = gate(&server, "per_user").await;
    let (mut bob, mut eve) = connected(&gate, &server).await;
    for (browser, sub) in [(&mut bob, "bob"), (&mut eve, "eve")] {
        let answer = call(browser).await;
        assert_eq!((answer.status, &answer.json()["value"]["sub"]), (200, &json!(sub)), "{}", answer.text);
    }
    let before = calls_seen(&server).await;
    save(
        &gate,
        r#"@id("no accounts for bob") forbid (principal == Toolgate::User::"user:bob",
               action == Toolgate::Action::"use_connection", resource) when { resource.provider == "mcp:server" };"#,
    )
    .await;
    refused_by(&call(&mut bob).await, "no accounts for bob");
    assert_eq!(calls_seen(&server).await, before, "nothing was sent");
    assert_eq!(call(&mut eve).await.status, 200);
    // The record names the rule, and so does the explanation.
    let (_, runs) = gate.get("/api/v1/invocations?actor=user:bob&limit=1").await;
    assert_eq!(runs["invocations"][0]["rule"], "no accounts for bob", "{runs}");
    let explained = ok(gate.get(&format!("/api/v1/policy/explain?tool={TOOL}&principal=user:bob")).await);
    assert_eq!(
        (&explained["verdict"], &explained["rule"]),
        (&json!("deny"), &json!("no accounts for bob")),
        "{explained}"
    );
    let hers = ok(gate.get(&format!("/api/v1/policy/explain?tool={TOOL}&principal=user:eve")).await);
    assert_eq!(hers["verdict"], "allow", "{hers}");
    let step = hers["steps"].as_array().unwrap().iter().find(|step| step["gate"] == "connection").unwrap();
    assert_eq!(step["verdict"], "pass");
    gate.verify().await;
}

#[tokio::test]
async fn policy_may_name_one_account() {
    let server = TestResource::start().await;
    let gate = gate(&server, "per_user").await;
    let (mut bob, mut eve) = connected(&gate, &server).await;
    let forbid = format!(
        r#"@id("not that one") forbid (principal, action == Toolgate::Action::"use_connection",
               resource == Toolgate::Connection::"{}");"#,
        id_of(&gate, "user:eve").await
    );
    save(&gate, &forbid).await;
    assert_eq!(call(&mut bob).await.status, 200);
    refused_by(&call(&mut eve).await, "not that one");
}

/// Neither an agent nor the person behind it lends the other what it may not use itself.
#[tokio::test]
async fn an_agent_uses_its_persons_account_within_what_both_may() {
    let server = TestResource::start().await;
    let gate = gate(&server, "per_user").await;
    let _connected = connected(&gate, &server).await;
    let worker = NewCaller {
        tenant: "default",
        principal: "agent:worker",
        subject: Some("user:bob"),
        acts_for: &["user:bob"],
        ..NewCaller::default()
    };
    let key = gate.caller(worker).await;
    let call = async || gate.invoke_as(&key, TOOL, json!({})).await;
    assert_eq!(ok(call().await)["value"]["sub"], "bob", "on whose behalf");
    for (who, rule) in [(r#"Agent::"agent:worker""#, "no agent"), (r#"User::"user:bob""#, "no bob")] {
        let forbid = format!(
            r#"@id("{rule}") forbid (principal == Toolgate::{who}, action == Toolgate::Action::"use_connection",
                   resource);"#
        );
        save(&gate, &forbid).await;
        let (status, denied) = call().await;
        assert_eq!((status, &denied["error"]["details"]["rule"]), (403, &json!(rule)), "{denied}");
    }
    let alone = NewCaller { tenant: "default", principal: "agent:alone", ..NewCaller::default() };
    let alone = gate.caller(alone).await;
    let (status, needed) = gate.invoke_as(&alone, TOOL, json!({})).await;
    assert_eq!((status, &needed["error"]["code"]), (409, &json!("connection_needed")), "{needed}");
}

#[tokio::test]
async fn a_kill_switch_stops_one_account_and_no_way_leads_around_it() {
    let server = TestResource::start().await;
    let gate = gate(&server, "per_user").await;
    let (mut bob, mut eve) = connected(&gate, &server).await;
    assert_eq!(call(&mut bob).await.status, 200);
    let id = id_of(&gate, "user:bob").await;
    let thrown = ok(gate
        .post("/api/v1/kills", json!({ "kind": "connection", "target": id, "reason": "leaked" }))
        .await);
    assert_eq!(thrown["known"], true);
    let before = server.seen().await.0.len();
    let rule = format!("kill switch: connection {id}");
    let answer = call(&mut bob).await;
    refused_by(&answer, &rule);
    assert!(answer.text.contains("leaked"), "{}", answer.text);
    // Its owner gets around it neither by another secret, nor by another login, nor by removing it.
    let remove = "/api/v1/connections/mcp:server";
    assert_eq!(give(&mut bob, "s3cret-of-bob").await, 403);
    refused_by(&bob.change("DELETE", remove, None).await, &rule);
    assert_eq!(server.seen().await.0.len(), before, "nothing was sent");
    let explained = ok(gate.get(&format!("/api/v1/policy/explain?tool={TOOL}&principal=user:bob")).await);
    assert_eq!(explained["rule"], json!(rule));
    assert_eq!(call(&mut eve).await.status, 200, "another's goes on");
    let path = format!("/api/v1/kills?kind=connection&target={id}");
    assert_eq!(gate.send(Some(ADMIN), "DELETE", &path, None, &[]).await.0, 204);
    assert_eq!(call(&mut bob).await.status, 200);
    let nothing = json!({ "kind": "connection", "target": format!("con_{}", "0".repeat(32)), "reason": "x" });
    assert_eq!(ok(gate.post("/api/v1/kills", nothing).await)["known"], false);
}

#[tokio::test]
async fn a_shared_account_is_under_the_same_rules() {
    let server = TestResource::start().await;
    let gate = gate(&server, "shared").await;
    let mut bob = Browser::signed_in(&gate, "bob").await;
    let answer = call(&mut bob).await;
    assert_eq!((answer.status, &answer.json()["value"]["sub"]), (200, &json!("admin")), "{}", answer.text);
    save(
        &gate,
        r#"@id("ours is not for members") forbid (principal in Toolgate::Role::"member",
               action == Toolgate::Action::"use_connection", resource);"#,
    )
    .await;
    refused_by(&call(&mut bob).await, "ours is not for members");
    assert_eq!(gate.invoke(TOOL, json!({})).await.0, 200);
    save(&gate, "").await;
    let id = id_of(&gate, "shared").await;
    ok(gate.post("/api/v1/kills", json!({ "kind": "connection", "target": id, "reason": "leaked" })).await);
    let before = server.seen().await.0.len();
    let rule = format!("kill switch: connection {id}");
    refused_by(&call(&mut bob).await, &rule);
    // Nor are the server's tools looked at with it.
    let (status, refused) = gate.send(Some(ADMIN), "POST", "/api/v1/upstreams/server/test", None, &[]).await;
    assert_eq!((status, &refused["error"]["details"]["rule"]), (403, &json!(rule)), "{refused}");
    assert_eq!(server.seen().await.0.len(), before, "nothing was sent");
    // Who may lift the switch may also put another account in its place.
    server.accept("s3cret-fresh", "fresh").await;
    let fresh = json!({ "kind": "token", "secret": "s3cret-fresh", "shared": true });
    ok(gate.send(Some(ADMIN), "PUT", "/api/v1/connections/mcp:server", Some(fresh), &[]).await);
    assert_eq!(call(&mut bob).await.json()["value"]["sub"], "fresh");
}

/// A call that waits for a person is bound to the account it was made with.
#[tokio::test]
async fn an_approved_call_runs_with_the_account_it_was_approved_with() {
    let server = TestResource::start().await;
    let gate = gate(&server, "per_user").await;
    let (mut bob, _eve) = connected(&gate, &server).await;
    save(
        &gate,
        r#"@id("ask first") forbid (principal == Toolgate::User::"user:bob",
               action == Toolgate::Action::"call_unattended", resource);"#,
    )
    .await;
    let approve = async |waiting: &Value| {
        let id = waiting["call_id"].as_str().unwrap();
        let (_, answer) = gate.post(&format!("/api/v1/invocations/{id}/approve?wait=20"), json!({})).await;
        answer
    };
    let waiting = call(&mut bob).await;
    assert_eq!(waiting.status, 202, "{}", waiting.text);
    let ran = approve(&waiting.json()).await;
    assert_eq!(ran["value"]["sub"], "bob", "{ran}");
    let waiting = call(&mut bob).await.json();
    server.accept("s3cret-of-another", "another").await;
    assert_eq!(give(&mut bob, "s3cret-of-another").await, 200);
    let before = calls_seen(&server).await;
    let refused = approve(&waiting).await;
    assert_eq!(refused["error"]["code"], "policy_denied", "{refused}");
    assert_eq!(calls_seen(&server).await, before, "nothing was sent");
}

#[tokio::test]
async fn an_agent_that_acts_for_nobody_is_told_what_it_needs() {
    let server = TestResource::start().await;
    let gate = gate(&server, "per_user").await;
    let (status, refused) = gate.invoke_as(crate::gate::AGENT, TOOL, json!({})).await;
    let error = &refused["error"];
    assert_eq!((status, &error["code"]), (409, &json!("connection_needed")), "{refused}");
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.contains("acts for a person"), "{hint}");
    assert!(hint.contains("`toolgate upstream set server --auth shared`"), "{hint}");
    // Whoever opened a page to connect would connect their own account, and not the agent's.
    assert_eq!(error["details"].get("link"), None, "{refused}");
}
