//! From nothing to a token and on, as a client would.

use serde_json::json;
use toolgate_app::OauthSettings;
use toolgate_core::Credential;

use super::*;
use crate::browser::PASSWORD;

#[tokio::test]
async fn a_person_without_a_session_signs_in_reads_and_lets_it_in() {
    let gate = gate(OauthSettings::default()).await;
    let mut browser = Browser::new(&gate);
    let query = asking(&gate, &[]);

    let sent = browser.get(&format!("/oauth/authorize?{query}")).await;
    assert_eq!(sent.status, 302);
    let sign_in = browser.get(&sent.location()).await;
    let return_to = hidden(&sign_in, "return_to");
    assert_eq!(return_to, format!("/oauth/authorize?{query}"));
    let fields =
        [("tenant", "default"), ("login", "bob"), ("password", PASSWORD), ("return_to", return_to.as_str())];
    let signed_in = browser.form("/sign-in", &fields).await;
    assert_eq!((signed_in.status, signed_in.location()), (303, return_to.clone()));

    let page = browser.get(&return_to).await;
    assert_eq!(page.status, 200);
    assert!(page.text.contains("My &lt;Editor&gt;") && !page.text.contains("My <Editor>"), "{}", page.text);
    for shown in ["<strong>bob</strong>", "127.0.0.1", "editor", "/mcp"] {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.contains("form-action 'self' http://127.0.0.1:7777;"), "{policy}");
    assert!(policy.contains("frame-ancestors 'none'") && !page.text.contains("<script"));

    let (csrf, request) = (hidden(&page, "csrf"), hidden(&page, "request"));
    let fields = [("csrf", csrf.as_str()), ("request", &request), ("scope", "tools"), ("decision", "allow")];
    let back = sent_back(&browser.form("/oauth/authorize", &fields).await);
    assert_eq!((back["state"].as_str(), &back["iss"]), ("x y&z", &gate.url));

    let (status, tokens) = exchange(&gate, &back["code"]).await;
    assert_eq!(status, 200, "{tokens}");
    assert_eq!(
        (&tokens["token_type"], &tokens["expires_in"], &tokens["scope"]),
        (&json!("Bearer"), &json!(3600), &json!("tools"))
    );
    let access = tokens["access_token"].as_str().unwrap();
    assert!(access.starts_with("tgo_") && tokens["refresh_token"].as_str().unwrap().starts_with("tgr_"));
    let actor = actor_at(&gate, access, "/mcp").await.unwrap();
    assert_eq!(actor.principal.as_str(), "user:bob");
    assert!(matches!(actor.credential, Credential::Token(_)));
    assert_eq!(serde_json::to_value(&*actor.scopes).unwrap(), json!(["tool:*"]));
    gate.verify().await;
}

#[tokio::test]
async fn each_refresh_token_works_once_and_the_access_tokens_go_on() {
    let gate = gate(OauthSettings::default()).await;
    let (first, token) = tokens(&gate, "bob", &[]).await;
    let (status, next) = refresh(&gate, &token).await;
    assert_eq!(status, 200, "{next}");
    let (second, token) =
        (next["access_token"].as_str().unwrap(), next["refresh_token"].as_str().unwrap().to_owned());
    assert_ne!(first, second);
    for access in [first.as_str(), second] {
        assert!(actor_at(&gate, access, "/mcp").await.is_some());
    }
    assert_eq!(refresh(&gate, &token).await.0, 200);
}

#[tokio::test]
async fn what_a_person_unticks_is_not_allowed() {
    let gate = gate(OauthSettings::default()).await;
    let mut browser = Browser::signed_in(&gate, "ada").await;
    let query = asking(&gate, &[("scope", "tools approve")]);
    for (ticked, scope) in [
        (&[("scope", "tools"), ("decision", "allow")][..], "tools"),
        (&[("scope", "tools"), ("only_reads", "yes"), ("decision", "allow")], "tools:read"),
        (&[("scope", "approve"), ("decision", "allow")], "approve"),
        (&[("scope", "approve"), ("scope", "tools"), ("decision", "allow")], "tools approve"),
    ] {
        let back = sent_back(&decide(&mut browser, &query, ticked).await);
        let (_, tokens) = exchange(&gate, &back["code"]).await;
        assert_eq!(tokens["scope"], scope, "{tokens}");
    }
    // What was not asked for can't be ticked.
    let read = asking(&gate, &[("scope", "tools:read")]);
    let more = [("scope", "tools:read"), ("scope", "approve"), ("scope", "tools"), ("decision", "allow")];
    let back = sent_back(&decide(&mut browser, &read, &more).await);
    assert_eq!(exchange(&gate, &back["code"]).await.1["scope"], "tools:read");
    // Nothing at all is not everything.
    let nothing = decide(&mut browser, &query, &[("decision", "allow")]).await;
    assert_eq!(nothing.status, 200);
    assert!(nothing.text.contains("Nothing is allowed"), "{}", nothing.text);
    let denied = sent_back(&decide(&mut browser, &query, &[("scope", "tools"), ("decision", "deny")]).await);
    assert_eq!((denied["error"].as_str(), denied.get("code")), ("access_denied", None));
    assert_eq!((&denied["iss"], denied["state"].as_str()), (&gate.url, "x y&z"));
}

#[tokio::test]
async fn a_token_does_what_the_person_may_and_its_scopes_leave() {
    let gate = gate(OauthSettings::default()).await;
    let root = [("resource", gate.url.as_str()), ("scope", "tools:read")];
    let mut browser = Browser::signed_in(&gate, "ada").await;
    let ticked = [("scope", "tools:read"), ("decision", "allow")];
    let back = sent_back(&decide(&mut browser, &asking(&gate, &root), &ticked).await);
    let (_, tokens) = exchange(&gate, &back["code"]).await;
    let access = tokens["access_token"].as_str().unwrap();
    let send = async |method: &str, path: &str| gate.send(Some(access), method, path, None, &[]).await;
    let (status, me) = send("GET", "/api/v1/me").await;
    assert_eq!((status, &me["principal"]), (200, &json!("user:ada")));
    assert_eq!(gate.invoke_as(access, "core__get_current_time", json!({})).await.0, 200);
    let (status, _) = gate.invoke_as(access, "fixture__mutate", json!({ "effect_id": "x" })).await;
    assert_eq!(status, 404, "a tool that changes things is not even there");
    // An administrator's token manages nothing, makes no keys, and does not look after grants.
    for path in ["/api/v1/principals", "/api/v1/keys", "/api/v1/oauth/clients", "/api/v1/oauth/grants"] {
        assert_eq!(send("GET", path).await.0, 403, "{path}");
    }
}

#[tokio::test]
async fn a_confidential_application_proves_itself_either_way() {
    let gate = gate(OauthSettings::default()).await;
    let named = json!({ "id": "service", "name": "Service", "redirect_uris": [BACK], "confidential": true });
    let secret = register(&gate, named).await.unwrap();
    let of_service = [("client_id", "service")];
    let fields = |code: &str| {
        vec![
            ("grant_type".to_owned(), "authorization_code".to_owned()),
            ("code".to_owned(), code.to_owned()),
            ("code_verifier".to_owned(), VERIFIER.to_owned()),
        ]
    };
    let send = async |fields: Vec<(String, String)>, basic: Option<(&str, &str)>| {
        let fields: Vec<(&str, &str)> = fields.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        post_with(&gate, "/oauth/token", &fields, basic).await
    };
    let first = code(&gate, "bob", &of_service).await;
    let wrong = send(fields(&first), Some(("service", "wrong"))).await;
    assert_eq!((wrong.0, &wrong.1["error"]), (401, &json!("invalid_client")));
    let mut none = fields(&first);
    none.push(("client_id".to_owned(), "service".to_owned()));
    assert_eq!(send(none, None).await.0, 401);
    assert_eq!(send(fields(&first), Some(("service", &secret))).await.0, 200);
    let mut in_body = fields(&code(&gate, "bob", &of_service).await);
    in_body.push(("client_id".to_owned(), "service".to_owned()));
    in_body.push(("client_secret".to_owned(), secret));
    assert_eq!(send(in_body, None).await.0, 200);
}

#[tokio::test]
async fn the_server_says_where_everything_is() {
    let gate = gate(OauthSettings::default()).await;
    let url = &gate.url;
    let (status, server) = gate.send(None, "GET", "/.well-known/oauth-authorization-server", None, &[]).await;
    assert_eq!((status, &server["issuer"]), (200, &json!(url)));
    assert_eq!(server["token_endpoint"], format!("{url}/oauth/token"));
    assert_eq!(server["code_challenge_methods_supported"], json!(["S256"]));
    assert_eq!(server["authorization_response_iss_parameter_supported"], true);
    assert_eq!(server["registration_endpoint"], format!("{url}/oauth/register"));
    let alias = gate.send(None, "GET", "/.well-known/openid-configuration", None, &[]).await;
    assert_eq!(alias, (200, server), "the same at the other address that clients know");
    for (path, resource) in [("", ""), ("/mcp", "/mcp"), ("/mcp/sales", "/mcp/sales")] {
        let path = format!("/.well-known/oauth-protected-resource{path}");
        let (status, about) = gate.send(None, "GET", &path, None, &[]).await;
        assert_eq!(status, 200, "{path}");
        assert_eq!(about["resource"], format!("{url}{resource}"));
        assert_eq!(about["authorization_servers"], json!([url]));
        assert_eq!(about["scopes_supported"], json!(["tools", "tools:read", "approve"]));
    }
    let (status, _) =
        gate.send(None, "GET", "/.well-known/oauth-protected-resource/mcp/Not%20One", None, &[]).await;
    assert_eq!(status, 404);
    let off = super::gate(OauthSettings { built_in: false, ..OauthSettings::default() }).await;
    for path in [
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
        "/oauth/authorize?client_id=editor",
    ] {
        assert_eq!(off.send(None, "GET", path, None, &[]).await.0, 404, "{path}");
    }
    assert_eq!(exchange(&off, "x").await.0, 404);
}
