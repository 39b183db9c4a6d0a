//! People see what they let in, and take it back.

use serde_json::json;
use toolgate_app::OauthSettings;

use super::*;
use crate::sign_in::switch_off;

#[tokio::test]
async fn people_see_and_take_back_their_own() {
    let gate = gate(OauthSettings::default()).await;
    let (access, token) = tokens(&gate, "bob", &[]).await;
    let (others, _) = tokens(&gate, "ada", &[]).await;
    let mut bob = Browser::signed_in(&gate, "bob").await;
    let list = bob.get("/api/v1/oauth/grants").await.json();
    let mine = list["grants"].as_array().unwrap();
    assert_eq!(mine.len(), 1, "{list}");
    assert_eq!(
        (&mine[0]["principal"], &mine[0]["client_name"], &mine[0]["scopes"]),
        (&json!("user:bob"), &json!("My <Editor>"), &json!(["tools"]))
    );
    assert_eq!(bob.get("/api/v1/oauth/grants?all=true").await.status, 403);
    assert_eq!(bob.get("/api/v1/oauth/grants?principal=user:ada").await.status, 403);
    let theirs = grants(&gate, "?principal=user:ada").await[0]["id"].as_str().unwrap().to_owned();
    let path = |id: &str| format!("/api/v1/oauth/grants/{id}");
    assert_eq!(bob.change("DELETE", &path(&theirs), None).await.status, 404);
    assert!(actor_at(&gate, &access, "/mcp").await.is_some());
    let own = mine[0]["id"].as_str().unwrap();
    assert_eq!(bob.change("DELETE", &path(own), None).await.status, 204);
    assert!(actor_at(&gate, &access, "/mcp").await.is_none());
    assert_eq!(refresh(&gate, &token).await.0, 400);
    assert!(actor_at(&gate, &others, "/mcp").await.is_some());
    // Managers of applications take back anyone's.
    let (status, _) = gate.send(Some(ADMIN), "DELETE", &path(&theirs), None, &[]).await;
    assert_eq!(status, 204);
    assert!(actor_at(&gate, &others, "/mcp").await.is_none());
}

#[tokio::test]
async fn an_application_gives_its_token_back() {
    let gate = gate(OauthSettings::default()).await;
    for (from_refresh, client) in [(true, "editor"), (false, "editor")] {
        let (access, token) = tokens(&gate, "bob", &[]).await;
        let shown = if from_refresh { &token } else { &access };
        let (status, refused) =
            post(&gate, "/oauth/revoke", &[("token", shown), ("client_id", "other")]).await;
        assert_eq!((status, &refused["error"]), (400, &json!("invalid_grant")));
        assert_eq!(post(&gate, "/oauth/revoke", &[("token", shown)]).await.0, 401);
        assert!(actor_at(&gate, &access, "/mcp").await.is_some());
        assert_eq!(post(&gate, "/oauth/revoke", &[("token", shown), ("client_id", client)]).await.0, 200);
        assert!(actor_at(&gate, &access, "/mcp").await.is_none());
        assert_eq!(refresh(&gate, &token).await.0, 400);
    }
    assert_eq!(post(&gate, "/oauth/revoke", &[("token", "unknown"), ("client_id", "editor")]).await.0, 200);
    assert_eq!(post(&gate, "/oauth/revoke", &[("client_id", "editor")]).await.0, 400);
}

#[tokio::test]
async fn what_goes_away_takes_its_tokens_along() {
    let gate = gate(OauthSettings::default()).await;
    let (access, token) = tokens(&gate, "bob", &[]).await;
    let (status, _) = gate.send(Some(ADMIN), "DELETE", "/api/v1/oauth/clients/editor", None, &[]).await;
    assert_eq!(status, 204);
    assert!(actor_at(&gate, &access, "/mcp").await.is_none());
    assert_eq!(refresh(&gate, &token).await.0, 401);

    register(&gate, json!({ "id": "editor", "name": "Again", "redirect_uris": [BACK] })).await;
    assert!(
        actor_at(&gate, &access, "/mcp").await.is_none(),
        "a new one of the same name brings nothing back"
    );
    let (access, token) = tokens(&gate, "bob", &[]).await;
    switch_off(&gate, "bob").await;
    assert!(actor_at(&gate, &access, "/mcp").await.is_none());
    assert_eq!(refresh(&gate, &token).await.1["error"], "invalid_grant");
}

#[tokio::test]
async fn a_use_is_noted() {
    let gate = gate(OauthSettings::default()).await;
    let (access, _) = tokens(&gate, "bob", &[]).await;
    assert!(actor_at(&gate, &access, "/mcp").await.is_some());
    gate.app.record_key_uses().await.unwrap();
    assert!(grants(&gate, "?all=true").await[0]["last_used_at"].is_string());
}
