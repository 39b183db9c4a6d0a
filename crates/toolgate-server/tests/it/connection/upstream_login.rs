//! A tool of an MCP server behind a real authorization server: everyone logs in for themselves, and is themselves there.

use serde_json::{Value, json};
use toolgate_testkit::TestResource;

use super::path_of;
use super::secret::exported;
use super::upstream::{call, gate};
use crate::browser::Browser;

/// Follows the link that a call was answered with, as a browser would: to the page here, to the login there, and back.
async fn connect_by_link(browser: &mut Browser<'_>, needed: &Value, server: &TestResource, sub: &str) -> u16 {
    let details = &needed["error"]["details"];
    assert_eq!(
        (&details["service"], &details["whose"]),
        (&json!("mcp:server"), &json!("person")),
        "{needed}"
    );
    let link = details["link"].as_str().unwrap();
    // Whole, by the address the caller found this gate at.
    assert!(link.starts_with("http://127.0.0.1:"), "{needed}");
    assert_eq!(needed["error"]["hint"], json!(format!("connect your account at {link}")));
    let page = browser.get(link).await;
    assert_eq!(page.status, 200, "{}", page.text);
    let answer = browser.change("POST", "/api/v1/connections/mcp:server/connect", None).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let back = server.visit(answer.json()["authorize_url"].as_str().unwrap(), sub).await;
    browser.get(&path_of(&back)).await.status
}

#[tokio::test]
async fn everyone_is_themselves_and_nobodys_token_goes_elsewhere() {
    let server = TestResource::start().await;
    let gate = gate(&server, "per_user").await;
    let (mut bob, mut eve) = (Browser::signed_in(&gate, "bob").await, Browser::signed_in(&gate, "eve").await);
    for (browser, sub) in [(&mut bob, "bob-there"), (&mut eve, "eve-there")] {
        let needed = call(browser).await;
        assert_eq!((needed.status, needed.code().as_str()), (409, "connection_needed"), "{}", needed.text);
        // The record is read with the same link.
        let list = browser.get("/api/v1/invocations?limit=1").await.json();
        let link = &needed.json()["error"]["details"]["link"];
        assert_eq!(list["invocations"][0]["error"]["details"]["link"], *link, "{list}");
        let id = list["invocations"][0]["id"].as_str().unwrap();
        let read = browser.get(&format!("/api/v1/invocations/{id}")).await.json();
        assert_eq!(read["error"]["details"]["link"], *link, "{read}");
        assert_eq!(connect_by_link(browser, &needed.json(), &server, sub).await, 200);
        let answer = call(browser).await;
        assert_eq!((answer.status, &answer.json()["value"]["sub"]), (200, &json!(sub)), "{}", answer.text);
    }
    // Whoever manages servers and has no account is led to connect one, too.
    let mut ada = Browser::signed_in(&gate, "ada").await;
    let tested = ada.change("POST", "/api/v1/upstreams/server/test", None).await;
    assert_eq!(tested.code(), "connection_needed", "{}", tested.text);
    let link = tested.json()["error"]["details"]["link"].as_str().unwrap().to_owned();
    assert!(link.starts_with("http://127.0.0.1:"), "{link}");
    // One after the other over connections that stay open: nobody comes as the one before.
    for _ in 0..2 {
        assert_eq!(call(&mut bob).await.json()["value"]["sub"], "bob-there");
        assert_eq!(call(&mut eve).await.json()["value"]["sub"], "eve-there");
    }
    // What the callers came with never left: neither cookies, nor keys, nor who they are here.
    let (requests, _) = server.seen().await;
    let ours: Vec<&str> = bob.cookies.values().chain(eve.cookies.values()).map(String::as_str).collect();
    let mut tokens = Vec::new();
    for request in &requests {
        let text = request.to_string();
        for secret in ours.iter().chain(&[crate::gate::ADMIN, "user:bob", "user:eve"]) {
            assert!(!text.contains(secret), "{request}");
        }
        assert!(request["headers"].get("cookie").is_none(), "{request}");
        tokens.extend(request["headers"]["authorization"].as_str().map(str::to_owned));
    }
    tokens.sort();
    tokens.dedup();
    assert_eq!(tokens.len(), 3, "one token for each who is connected: bob, eve and the administrator");
    // What opens the accounts is in no answer and no record.
    let record = exported(&gate).await;
    for token in tokens {
        let token = token.trim_start_matches("Bearer ");
        assert!(!record.contains(token));
    }
    gate.verify().await;
}

#[tokio::test]
async fn tokens_that_are_over_are_refreshed_and_ended_ones_asked_for_again() {
    let server = TestResource::start().await;
    let gate = gate(&server, "per_user").await;
    let mut bob = Browser::signed_in(&gate, "bob").await;
    // Shorter than what is thought too short to be sent: each call needs a new one.
    server.tokens_last(5).await;
    let needed = call(&mut bob).await.json();
    assert_eq!(connect_by_link(&mut bob, &needed, &server, "bob-there").await, 200);
    let (_, before) = server.seen().await;
    for _ in 0..2 {
        assert_eq!(call(&mut bob).await.json()["value"]["sub"], "bob-there");
    }
    let (_, after) = server.seen().await;
    assert!(after > before, "{before} {after}");
    server.revoke_all().await;
    let needed = call(&mut bob).await;
    assert_eq!((needed.status, needed.code().as_str()), (409, "connection_needed"), "{}", needed.text);
    let listed = super::list(&mut bob).await;
    assert_eq!(listed[0]["state"], "needs_login", "{listed:?}");
    server.tokens_last(3600).await;
    assert_eq!(connect_by_link(&mut bob, &needed.json(), &server, "bob-there").await, 200);
    assert_eq!(call(&mut bob).await.json()["value"]["sub"], "bob-there");
}

#[tokio::test]
async fn who_says_no_there_is_not_connected_here() {
    let server = TestResource::start().await;
    let gate = gate(&server, "per_user").await;
    let mut bob = Browser::signed_in(&gate, "bob").await;
    let needed = call(&mut bob).await.json();
    assert_eq!(connect_by_link(&mut bob, &needed, &server, "cancel").await, 409);
    assert_eq!(call(&mut bob).await.code(), "connection_needed");
}
