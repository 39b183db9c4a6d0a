//! Logging in at a service, and attackers who try to have others do it.

use serde_json::json;
use toolgate_testkit::ProtectedServer;

use super::secret::exported;
use super::{connect, gate, list, path_of};
use crate::browser::Browser;

async fn begun(browser: &mut Browser<'_>, server: &ProtectedServer, shared: bool) -> String {
    let answer = connect(browser, shared).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    path_of(&server.consent(answer.json()["authorize_url"].as_str().unwrap()))
}

#[tokio::test]
async fn a_person_goes_there_and_comes_back_connected() {
    let server = ProtectedServer::start().await;
    let gate = gate(&server).await;
    let mut bob = Browser::signed_in(&gate, "bob").await;
    let back = begun(&mut bob, &server, false).await;
    let page = bob.get(&back).await;
    assert_eq!(page.status, 200, "{}", page.text);
    assert!(page.text.contains("mcp:server"));
    let own = list(&mut bob).await;
    assert_eq!((own.len(), &own[0]["kind"], &own[0]["scopes"]), (1, &json!("oauth"), &json!(["tools"])));
    let everything = format!("{} {own:?} {}", page.text, exported(&gate).await);
    for secret in server.secrets() {
        assert!(!everything.contains(&secret));
    }
    gate.verify().await;
}

#[tokio::test]
async fn a_state_works_once() {
    let server = ProtectedServer::start().await;
    let gate = gate(&server).await;
    let mut bob = Browser::signed_in(&gate, "bob").await;
    let back = begun(&mut bob, &server, false).await;
    assert_eq!(bob.get(&back).await.status, 200);
    assert_eq!(bob.get(&back).await.status, 404);
    let forged = format!("/connections/callback?code=code-1&state={}", "0".repeat(64));
    assert_eq!(bob.get(&forged).await.status, 404);
    assert_eq!(bob.get("/connections/callback").await.status, 404);
    assert_eq!(bob.get("/connections/callback?state=x&state=y").await.status, 400);
}

/// Eve begins a login and has Bob end it: with his browser, the account at the service would be his and the connection
/// hers.
#[tokio::test]
async fn nobody_logs_in_for_another() {
    let server = ProtectedServer::start().await;
    let gate = gate(&server).await;
    let (mut bob, mut eve) = (Browser::signed_in(&gate, "bob").await, Browser::signed_in(&gate, "eve").await);
    let hers = begun(&mut eve, &server, false).await;
    assert_eq!(bob.get(&hers).await.status, 404);
    let mut nobody = Browser::new(&gate);
    let answer = nobody.get(&hers).await;
    assert_eq!(answer.status, 303);
    assert!(answer.location().starts_with("/sign-in?return_to=%2Fconnections%2Fcallback%3F"));
    assert!(list(&mut bob).await.is_empty() && list(&mut eve).await.is_empty());
    assert_eq!(eve.get(&hers).await.status, 200, "it was not used up");
}

#[tokio::test]
async fn who_may_not_manage_connections_any_more_ends_no_shared_login() {
    let server = ProtectedServer::start().await;
    let gate = gate(&server).await;
    let (mut ada, mut bob) = (Browser::signed_in(&gate, "ada").await, Browser::signed_in(&gate, "bob").await);
    assert_eq!(connect(&mut bob, true).await.status, 403);
    let back = begun(&mut ada, &server, true).await;
    let path = "/api/v1/principals/user:ada";
    let demoted =
        gate.send(Some(crate::gate::ADMIN), "PATCH", path, Some(json!({ "roles": ["member"] })), &[]).await;
    assert_eq!(demoted.0, 200, "{}", demoted.1);
    assert_eq!(ada.get(&back).await.status, 403);
    assert!(list(&mut bob).await.is_empty());
}

/// Another server's answer, and one that says no.
#[tokio::test]
async fn answers_of_others_and_refusals_connect_nothing() {
    let server = ProtectedServer::start().await;
    let gate = gate(&server).await;
    let mut bob = Browser::signed_in(&gate, "bob").await;
    let back = begun(&mut bob, &server, false).await;
    let mixed_up = format!("{}&iss=https%3A%2F%2Fevil.example", back.split("&iss=").next().unwrap());
    assert_eq!(bob.get(&mixed_up).await.status, 409);
    let back = begun(&mut bob, &server, false).await;
    let state = back.split("state=").nth(1).unwrap().split('&').next().unwrap();
    let iss = back.split("&iss=").nth(1).unwrap();
    let refused = format!(
        "/connections/callback?error=access_denied&error_description=%3Cb%3E&state={state}&iss={iss}"
    );
    let page = bob.get(&refused).await;
    assert_eq!(page.status, 409);
    assert!(!page.text.contains("<b>"), "{}", page.text);
    assert!(list(&mut bob).await.is_empty());
}

#[tokio::test]
async fn servers_inside_are_not_asked() {
    let server = ProtectedServer::start().await;
    let gate = gate(&server).await;
    let mut bob = Browser::signed_in(&gate, "bob").await;
    server.faults(|faults| faults.token_endpoint = Some("http://169.254.169.254/token".to_owned()));
    let answer = connect(&mut bob, false).await;
    assert_eq!((answer.status, answer.code().as_str()), (502, "upstream_failed"), "{}", answer.text);
    let inside = json!({ "transport": { "kind": "http", "url": "http://127.0.0.1:1/mcp" } });
    super::put(&gate, "/api/v1/upstreams/inside", inside).await;
    let answer = bob.change("POST", "/api/v1/connections/mcp:inside/connect", None).await;
    assert_eq!((answer.status, answer.code().as_str()), (502, "upstream_failed"), "{}", answer.text);
    let answer = bob.change("POST", "/api/v1/connections/mcp:program/connect", None).await;
    assert_eq!(answer.status, 502, "{}", answer.text);
}
