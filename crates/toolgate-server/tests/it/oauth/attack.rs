//! What must not work.

use serde_json::json;
use toolgate_app::{OauthSettings, hash_key};
use toolgate_core::Timestamp;

use super::*;
use crate::browser::COOKIE;
use crate::gate::OTHER_TENANT;

#[tokio::test]
async fn a_code_works_once_and_its_replay_ends_everything() {
    let gate = gate(OauthSettings::default()).await;
    let code = code(&gate, "bob", &[]).await;
    let (_, tokens) = exchange(&gate, &code).await;
    let access = tokens["access_token"].as_str().unwrap();
    assert!(actor_at(&gate, access, "/mcp").await.is_some());
    let (status, replayed) = exchange(&gate, &code).await;
    assert_eq!((status, &replayed["error"]), (400, &json!("invalid_grant")));
    assert!(actor_at(&gate, access, "/mcp").await.is_none());
    assert_eq!(refresh(&gate, tokens["refresh_token"].as_str().unwrap()).await.0, 400);
    assert!(grants(&gate, "?all=true").await.is_empty());
}

#[tokio::test]
async fn a_used_refresh_token_ends_the_whole_grant() {
    let gate = gate(OauthSettings::default()).await;
    let (first, token) = tokens(&gate, "bob", &[]).await;
    let (_, next) = refresh(&gate, &token).await;
    let second = next["access_token"].as_str().unwrap();
    let (_, next) = refresh(&gate, next["refresh_token"].as_str().unwrap()).await;
    let newest = next["refresh_token"].as_str().unwrap();
    // However soon it comes: what took its place is in use already.
    assert_eq!(refresh(&gate, &token).await.1["error"], "invalid_grant");
    for access in [first.as_str(), second] {
        assert!(actor_at(&gate, access, "/mcp").await.is_none());
    }
    assert_eq!(refresh(&gate, newest).await.1["error"], "invalid_grant");
    gate.verify().await;
}

#[tokio::test]
async fn an_application_that_asks_twice_at_once_keeps_its_grant() {
    let gate = gate(OauthSettings::default()).await;
    let (_, token) = tokens(&gate, "bob", &[]).await;
    let both = futures::future::join_all((0..8).map(|_| refresh(&gate, &token))).await;
    for (status, next) in &both {
        assert_eq!((*status, next), (200, &both[0].1), "all get the same");
    }
    assert!(actor_at(&gate, both[0].1["access_token"].as_str().unwrap(), "/mcp").await.is_some());
    // An answer that was lost can be had again, for as much as was asked for and no more.
    assert_eq!(refresh(&gate, &token).await.1, both[0].1);
    let newest = both[0].1["refresh_token"].as_str().unwrap();
    let (status, next) = refresh(&gate, newest).await;
    assert_eq!(status, 200, "{next}");
    assert_ne!(next["refresh_token"], newest);
    assert_eq!(grants(&gate, "?all=true").await.len(), 1);
    gate.verify().await;
}

#[tokio::test]
async fn a_used_refresh_token_is_no_use_to_others_and_not_for_more() {
    let gate = gate(OauthSettings::default()).await;
    register(&gate, json!({ "id": "other", "name": "Other", "redirect_uris": [BACK] })).await;
    let (_, token) = tokens(&gate, "bob", &[]).await;
    let (_, next) = refresh(&gate, &token).await;
    let again = |changes: &[(&'static str, &'static str)]| {
        let mut fields = vec![
            ("grant_type".to_owned(), "refresh_token".to_owned()),
            ("refresh_token".to_owned(), token.clone()),
        ];
        fields.extend(changes.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        fields
    };
    let send = async |fields: Vec<(String, String)>| {
        let fields: Vec<(&str, &str)> = fields.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        post(&gate, "/oauth/token", &fields).await
    };
    // Another application neither gets anything nor ends anything.
    assert_eq!(send(again(&[("client_id", "other")])).await.1["error"], "invalid_grant");
    let access = next["access_token"].as_str().unwrap();
    assert!(actor_at(&gate, access, "/mcp").await.is_some());
    // The same application with another wish is not the same request come twice.
    let narrower = send(again(&[("client_id", "editor"), ("scope", "tools:read")])).await;
    assert_eq!(narrower.1["error"], "invalid_grant");
    assert!(actor_at(&gate, access, "/mcp").await.is_none(), "the grant has ended");
}

#[tokio::test]
async fn a_refresh_token_that_comes_again_later_ends_the_grant() {
    let gate = gate(OauthSettings::default()).await;
    let (access, token) = tokens(&gate, "bob", &[]).await;
    // Used half a minute ago.
    let then = Timestamp::from_micros(gate.runner.parts().clock.now().as_micros() - 30_000_000);
    let store = gate.app.store();
    store.exchange_oauth_token(&hash_key(&token), then, vec![], then).await.unwrap();
    assert!(actor_at(&gate, &access, "/mcp").await.is_some());
    assert_eq!(refresh(&gate, &token).await.1["error"], "invalid_grant");
    assert!(actor_at(&gate, &access, "/mcp").await.is_none());
    assert!(grants(&gate, "?all=true").await.is_empty());
}

#[tokio::test]
async fn a_code_is_bound_to_its_verifier_application_and_way_back() {
    let gate = gate(OauthSettings::default()).await;
    register(&gate, json!({ "id": "other", "name": "Other", "redirect_uris": [BACK] })).await;
    let first = code(&gate, "bob", &[]).await;
    let long = "x".repeat(129);
    let fields = |changes: &[(&'static str, &'static str)]| {
        let mut fields = vec![
            ("grant_type", "authorization_code"),
            ("client_id", "editor"),
            ("code_verifier", VERIFIER),
            ("redirect_uri", BACK),
        ];
        for (name, value) in changes {
            fields.retain(|(known, _)| known != name);
            if !value.is_empty() {
                fields.push((name, value));
            }
        }
        fields
    };
    for (changes, error) in [
        (&[("code_verifier", "")][..], "invalid_request"),
        (&[("client_id", "other")], "invalid_grant"),
        (&[("client_id", "nobody")], "invalid_grant"),
        (&[("client_id", "")], "invalid_client"),
        (&[("resource", "https://elsewhere.example/mcp")], "invalid_target"),
        (&[("scope", "tools approve")], "invalid_scope"),
        (&[("grant_type", "password")], "unsupported_grant_type"),
        (&[("grant_type", "")], "unsupported_grant_type"),
    ] {
        let mut fields = fields(changes);
        fields.push(("code", &first));
        let (status, refused) = post(&gate, "/oauth/token", &fields).await;
        assert_eq!(refused["error"], error, "{status} {changes:?} {refused}");
    }
    for wrong in ["", "x", &"0".repeat(64), &long] {
        let mut fields = fields(&[]);
        fields.push(("code", wrong));
        assert_eq!(post(&gate, "/oauth/token", &fields).await.0, 400, "{wrong}");
    }
    // None of that spent it.
    assert_eq!(exchange(&gate, &first).await.0, 200);
    // Whoever has the code and not what belongs to it spends it: there is nothing to guess.
    for changes in [
        ("code_verifier", CHALLENGE),
        ("code_verifier", "wrong-wrong-wrong-wrong-wrong-wrong-wrong-wrong"),
        ("redirect_uri", "http://127.0.0.1:7777/other"),
    ] {
        let code = code(&gate, "bob", &[]).await;
        let mut wrong = fields(&[changes]);
        wrong.push(("code", &code));
        assert_eq!(post(&gate, "/oauth/token", &wrong).await.1["error"], "invalid_grant", "{changes:?}");
        let (status, refused) = exchange(&gate, &code).await;
        assert_eq!((status, &refused["error"]), (400, &json!("invalid_grant")), "{changes:?}");
    }
    assert_eq!(grants(&gate, "?all=true").await.len(), 1, "nothing of it is left but the first");
    gate.verify().await;
}

#[tokio::test]
async fn a_token_opens_only_what_it_is_for() {
    let gate = gate(OauthSettings::default()).await;
    let (access, token) = tokens(&gate, "bob", &[]).await;
    assert!(actor_at(&gate, &access, "/mcp/sales").await.is_some());
    assert!(actor_at(&gate, &access, "/api/v1/tools").await.is_none());
    let (status, refused) = gate.send(Some(&access), "GET", "/api/v1/tools", None, &[]).await;
    assert_eq!((status, &refused["error"]["code"]), (401, &json!("unauthenticated")));
    // A key's way in does not take it either, however often it worked elsewhere.
    assert!(gate.app.authenticate(&access).await.unwrap().is_none());
    // Another server of the same name is another place.
    let elsewhere = Address { base: "https://elsewhere.example", path: "/mcp" };
    let found = gate.app.authenticate_at(&access, [127, 0, 0, 9].into(), elsewhere).await.unwrap();
    assert!(found.is_none());
    let narrow = format!("{}/mcp/sales", gate.url);
    let (narrow, _) = tokens(&gate, "bob", &[("resource", &narrow)]).await;
    assert!(actor_at(&gate, &narrow, "/mcp/sales").await.is_some());
    assert!(actor_at(&gate, &narrow, "/mcp").await.is_none());
    // Only access tokens open anything.
    assert!(actor_at(&gate, &token, "/mcp").await.is_none());
    assert!(actor_at(&gate, &access.replace("tgo_", "tgr_"), "/mcp").await.is_none());
}

#[tokio::test]
async fn nobody_is_sent_back_to_an_address_that_was_not_named() {
    let gate = gate(OauthSettings::default()).await;
    let mut browser = Browser::signed_in(&gate, "bob").await;
    for wrong in [
        "",
        "http://127.0.0.1:7777/other",
        "http://127.0.0.1:7777/back?x=1",
        "http://127.0.0.1:7777/back/../other",
        "https://evil.example/back",
        "http://127.0.0.1:7777@evil.example/back",
        "javascript:alert(1)",
    ] {
        let query = asking(&gate, &[("redirect_uri", wrong)]);
        let answer = browser.get(&format!("/oauth/authorize?{query}")).await;
        assert_eq!(answer.status, 400, "{wrong}");
        assert!(answer.headers.get("location").is_none() && !answer.text.contains("<form"), "{wrong}");
    }
    // On one's own machine the port is free.
    let query = asking(&gate, &[("redirect_uri", "http://127.0.0.1:50123/back")]);
    assert_eq!(browser.get(&format!("/oauth/authorize?{query}")).await.status, 200);
    let unknown = asking(&gate, &[("client_id", "nobody")]);
    assert_eq!(browser.get(&format!("/oauth/authorize?{unknown}")).await.status, 400);
}

#[tokio::test]
async fn what_is_asked_wrongly_goes_back_with_a_reason() {
    let gate = gate(OauthSettings::default()).await;
    let mut browser = Browser::signed_in(&gate, "bob").await;
    for (changes, error) in [
        (&[("code_challenge", "")][..], "invalid_request"),
        (&[("code_challenge_method", "")], "invalid_request"),
        (&[("code_challenge_method", "plain")], "invalid_request"),
        (&[("code_challenge", "short")], "invalid_request"),
        (&[("response_type", "token")], "unsupported_response_type"),
        (&[("scope", "openid profile")], "invalid_scope"),
        (&[("resource", "https://elsewhere.example/mcp")], "invalid_target"),
        (&[("resource", "http://127.0.0.1/api/v1")], "invalid_target"),
    ] {
        let answer = browser.get(&format!("/oauth/authorize?{}", asking(&gate, changes))).await;
        let back = sent_back(&answer);
        assert_eq!((back["error"].as_str(), &back["iss"]), (error, &gate.url), "{changes:?}");
        assert_eq!(back["state"], "x y&z");
    }
    let twice = format!("{}&scope=approve", asking(&gate, &[]));
    assert_eq!(browser.get(&format!("/oauth/authorize?{twice}")).await.status, 400);
}

#[tokio::test]
async fn nobody_decides_for_someone_else() {
    let gate = gate(OauthSettings::default()).await;
    let mut browser = Browser::signed_in(&gate, "bob").await;
    let query = asking(&gate, &[]);
    let page = browser.get(&format!("/oauth/authorize?{query}")).await;
    let (csrf, request) = (hidden(&page, "csrf"), hidden(&page, "request"));
    let allow = |csrf: &str| {
        vec![
            ("csrf".to_owned(), csrf.to_owned()),
            ("request".to_owned(), request.clone()),
            ("scope".to_owned(), "tools".to_owned()),
            ("decision".to_owned(), "allow".to_owned()),
        ]
    };
    let send = async |browser: &mut Browser<'_>, fields: Vec<(String, String)>| {
        let fields: Vec<(&str, &str)> = fields.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        browser.form("/oauth/authorize", &fields).await
    };
    for wrong in ["", "x", &"0".repeat(64)] {
        assert_eq!(send(&mut browser, allow(wrong)).await.status, 403, "{wrong}");
    }
    // Another person's page does not speak for this one.
    let mut ada = Browser::signed_in(&gate, "ada").await;
    assert_eq!(send(&mut ada, allow(&csrf)).await.status, 403);
    // Another site's page does not speak for anyone.
    let body = serde_urlencoded::to_string(allow(&csrf)).unwrap();
    let cookie = format!("{COOKIE}={}", browser.cookies[COOKIE]);
    let from = |headers: Vec<(&'static str, String)>| {
        let mut request = gate.client.post(format!("{}/oauth/authorize", gate.url)).body(body.clone());
        request =
            request.header("content-type", "application/x-www-form-urlencoded").header("cookie", &cookie);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        async { request.send().await.unwrap().status().as_u16() }
    };
    assert_eq!(from(vec![("origin", "https://evil.example".into())]).await, 403);
    assert_eq!(from(vec![("sec-fetch-site", "cross-site".into())]).await, 403);
    assert_eq!(from(vec![]).await, 403);
    // By GET nothing is decided.
    let path = format!("/oauth/authorize?{query}&decision=allow&csrf={csrf}");
    assert_eq!(browser.get(&path).await.status, 200);
    assert!(grants(&gate, "?all=true").await.is_empty());
    assert_eq!(send(&mut browser, allow(&csrf)).await.status, 303);
}

#[tokio::test]
async fn an_application_belongs_to_its_tenant_and_so_do_tokens() {
    let gate = gate(OauthSettings::default()).await;
    let (access, _) = tokens(&gate, "bob", &[]).await;
    assert_eq!(actor_at(&gate, &access, "/mcp").await.unwrap().tenant.as_str(), "default");
    let theirs = |path: &'static str, method: &'static str| {
        let gate = &gate;
        async move { gate.send(Some(OTHER_TENANT), method, path, None, &[]).await }
    };
    assert_eq!(theirs("/api/v1/oauth/clients", "GET").await.1["clients"], json!([]));
    assert_eq!(theirs("/api/v1/oauth/clients/editor", "GET").await.0, 404);
    assert_eq!(theirs("/api/v1/oauth/clients/editor", "DELETE").await.0, 404);
    assert_eq!(theirs("/api/v1/oauth/grants?all=true", "GET").await.1["grants"], json!([]));
    let id = grants(&gate, "?all=true").await[0]["id"].as_str().unwrap().to_owned();
    let (status, _) =
        gate.send(Some(OTHER_TENANT), "DELETE", &format!("/api/v1/oauth/grants/{id}"), None, &[]).await;
    assert_eq!(status, 404);
    assert!(actor_at(&gate, &access, "/mcp").await.is_some());
}

#[tokio::test]
async fn guessing_at_the_token_endpoint_is_slowed_down() {
    let gate = gate(OauthSettings::default()).await;
    let mut last = (0, Value::Null);
    for number in 0..40 {
        last = exchange(&gate, &format!("{number:064}")).await;
        if last.0 == 429 {
            break;
        }
        assert_eq!(last.0, 400);
    }
    assert_eq!((last.0, &last.1["error"]), (429, &json!("temporarily_unavailable")));
}

#[tokio::test]
async fn secrets_are_in_no_record() {
    let gate = gate(OauthSettings::default()).await;
    let code = code(&gate, "bob", &[]).await;
    let (_, tokens) = exchange(&gate, &code).await;
    let (_, export) = gate.get("/api/v1/audit/export").await;
    let export = export.to_string();
    assert!(export.contains("oauth.granted") && export.contains("oauth_client.created"), "{export}");
    for secret in [code.as_str(), tokens["access_token"].as_str().unwrap(), "secret_hash", CHALLENGE] {
        assert!(!export.contains(secret), "{secret}");
    }
}
