//! Tokens at the MCP door: what a client is told, and what its token opens.

use serde_json::json;
use toolgate_app::OauthSettings;

use super::*;

/// The status and the challenge that a client's first message gets.
async fn knock(gate: &TestGate, token: Option<&str>, path: &str) -> (u16, String) {
    let message = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } },
    });
    let mut request = gate
        .client
        .post(format!("{}{path}", gate.url))
        .header("accept", "application/json, text/event-stream")
        .json(&message);
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    let answer = request.send().await.unwrap();
    let challenge = answer.headers().get("www-authenticate").map(|value| value.to_str().unwrap().to_owned());
    (answer.status().as_u16(), challenge.unwrap_or_default())
}

#[tokio::test]
async fn a_client_is_told_where_to_begin() {
    let gate = gate(OauthSettings::default()).await;
    let (status, challenge) = knock(&gate, None, "/mcp").await;
    let metadata = format!("resource_metadata=\"{}/.well-known/oauth-protected-resource/mcp\"", gate.url);
    assert_eq!((status, challenge.as_str()), (401, format!("Bearer {metadata}, scope=\"tools\"").as_str()));
    let wrong = format!("tgo_{}", "0".repeat(64));
    let (status, challenge) = knock(&gate, Some(&wrong), "/mcp/sales").await;
    assert_eq!(status, 401);
    assert!(challenge.starts_with("Bearer error=\"invalid_token\", resource_metadata="), "{challenge}");
    assert!(challenge.contains("/.well-known/oauth-protected-resource/mcp/sales\""), "{challenge}");
}

#[tokio::test]
async fn a_token_opens_the_door_it_is_for() {
    let gate = gate(OauthSettings::default()).await;
    let (access, _) = tokens(&gate, "ada", &[]).await;
    assert_eq!(knock(&gate, Some(&access), "/mcp").await.0, 200);
    let (narrow, _) = tokens(&gate, "ada", &[("resource", &format!("{}/mcp/sales", gate.url))]).await;
    let (status, challenge) = knock(&gate, Some(&narrow), "/mcp").await;
    assert_eq!(status, 401);
    assert!(challenge.contains("invalid_token"), "{challenge}");
}

#[tokio::test]
async fn a_token_for_elsewhere_is_called_invalid_at_rest() {
    let gate = gate(OauthSettings::default()).await;
    let (access, _) = tokens(&gate, "ada", &[("resource", &format!("{}/mcp", gate.url))]).await;
    let answer =
        gate.client.get(format!("{}/api/v1/me", gate.url)).bearer_auth(&access).send().await.unwrap();
    assert_eq!(answer.status(), 401);
    assert_eq!(answer.headers()["www-authenticate"], "Bearer error=\"invalid_token\"");
    let body: serde_json::Value = answer.json().await.unwrap();
    assert!(
        body["error"]["hint"].as_str().unwrap().starts_with("a token works at the address it is for"),
        "{body}"
    );
    let nobody = gate.client.get(format!("{}/api/v1/me", gate.url)).send().await.unwrap();
    assert_eq!(nobody.headers()["www-authenticate"], "Bearer");
}

#[tokio::test]
async fn a_token_without_tools_is_told_what_would_do() {
    let gate = gate(OauthSettings::default()).await;
    let mut browser = Browser::signed_in(&gate, "ada").await;
    let query = asking(&gate, &[("scope", "approve")]);
    let back = sent_back(&decide(&mut browser, &query, &[("scope", "approve"), ("decision", "allow")]).await);
    let (_, tokens) = exchange(&gate, &back["code"]).await;
    let (status, challenge) = knock(&gate, tokens["access_token"].as_str(), "/mcp").await;
    assert_eq!(status, 403);
    assert!(challenge.starts_with("Bearer error=\"insufficient_scope\", scope=\"tools\""), "{challenge}");
}
