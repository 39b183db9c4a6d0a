//! Applications that nobody registered: by a document at their own address, or by naming themselves.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use serde_json::json;
use toolgate_app::{DynamicRegistration, OauthSettings};
use toolgate_core::port::oauth::ClientDocuments;

use super::*;

/// Documents by address, and how often one was asked for.
#[derive(Default)]
struct Documents {
    texts: BTreeMap<&'static str, String>,
    asked: AtomicU32,
}

#[async_trait]
impl ClientDocuments for Documents {
    async fn fetch(&self, url: &str) -> Result<String, String> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.texts.get(url).cloned().ok_or_else(|| "`app.example` can't be reached".to_owned())
    }
}

const ID: &str = "https://app.example/client.json";
const SITE: &str = "https://app.example/back";

#[tokio::test]
async fn an_application_is_known_by_its_document() {
    let document = json!({ "client_id": ID, "client_name": "De\u{200b}sk\u{202e}top\u{2066}\u{feff}", "redirect_uris": ["http://127.0.0.1/back", SITE] });
    let stolen =
        json!({ "client_id": ID, "client_name": "Desktop", "redirect_uris": ["https://evil.example/"] });
    let documents = Arc::new(Documents {
        texts: BTreeMap::from([
            (ID, document.to_string()),
            ("https://evil.example/client.json", stolen.to_string()),
        ]),
        ..Documents::default()
    });
    let settings = OauthSettings { documents: Some(Arc::clone(&documents) as _), ..OauthSettings::default() };
    let gate = gate(settings).await;
    let (_, server) = gate.send(None, "GET", "/.well-known/oauth-authorization-server", None, &[]).await;
    assert_eq!(server["client_id_metadata_document_supported"], true);

    let mut browser = Browser::signed_in(&gate, "bob").await;
    let query = asking(&gate, &[("client_id", ID)]);
    let page = browser.get(&format!("/oauth/authorize?{query}")).await;
    assert!(page.text.contains("Desktop") && page.text.contains("app.example"), "{}", page.text);
    let back = sent_back(&decide(&mut browser, &query, ALLOW).await);
    assert_eq!(documents.asked.load(Ordering::SeqCst), 1, "it is remembered for a while");
    let fields = [
        ("grant_type", "authorization_code"),
        ("client_id", ID),
        ("code", &back["code"]),
        ("code_verifier", VERIFIER),
        ("redirect_uri", BACK),
    ];
    let (status, tokens) = post(&gate, "/oauth/token", &fields).await;
    assert_eq!(status, 200, "{tokens}");
    assert!(actor_at(&gate, tokens["access_token"].as_str().unwrap(), "/mcp").await.is_some());

    // Nobody is sent on by an application that anyone can make, before they decided anything.
    let wrongly =
        |back| asking(&gate, &[("client_id", ID), ("response_type", "token"), ("redirect_uri", back)]);
    let answer = browser.get(&format!("/oauth/authorize?{}", wrongly(SITE))).await;
    assert_eq!((answer.status, answer.headers.get("location")), (400, None));
    // On the person's own machine it is told what was wrong, so that it need not wait.
    let answer = browser.get(&format!("/oauth/authorize?{}", wrongly(BACK))).await;
    let told = answer.headers["location"].to_str().unwrap();
    assert_eq!(answer.status, 303);
    assert!(told.starts_with(BACK) && told.contains("error=unsupported_response_type"), "{told}");

    for wrong in [
        "https://evil.example/client.json",
        "https://app.example/none.json",
        "https://app.example/",
        "https://app.example/a/../client.json",
        "http://app.example/client.json",
    ] {
        let query = asking(&gate, &[("client_id", wrong), ("redirect_uri", "https://evil.example/")]);
        let answer = browser.get(&format!("/oauth/authorize?{query}")).await;
        assert_eq!(answer.status, 400, "{wrong}");
    }
}

#[tokio::test]
async fn addresses_are_no_ids_where_documents_are_not_fetched() {
    let gate = gate(OauthSettings::default()).await;
    let mut browser = Browser::signed_in(&gate, "bob").await;
    let query = asking(&gate, &[("client_id", ID)]);
    assert_eq!(browser.get(&format!("/oauth/authorize?{query}")).await.status, 400);
}

#[tokio::test]
async fn applications_name_themselves_only_where_they_may() {
    let body = json!({ "client_name": "Inspector", "redirect_uris": [BACK] });
    let naming = |dynamic_registration| OauthSettings { dynamic_registration, ..OauthSettings::default() };
    let closed = gate(naming(DynamicRegistration::Off)).await;
    assert_eq!(closed.send(None, "POST", "/oauth/register", Some(body.clone()), &[]).await.0, 404);

    let local = gate(OauthSettings::default()).await;
    let register = async |uris: Value| {
        local.send(None, "POST", "/oauth/register", Some(json!({ "redirect_uris": uris })), &[]).await
    };
    let (status, made) = register(json!(["https://app.example/back", BACK, "com.example.app:/back"])).await;
    assert_eq!((status, &made["redirect_uris"]), (201, &json!([BACK, "com.example.app:/back"])), "{made}");
    let (status, refused) = register(json!(["https://app.example/back"])).await;
    assert_eq!((status, &refused["error"]), (400, &json!("invalid_redirect_uri")), "{refused}");

    let gate = super::gate(naming(DynamicRegistration::Any)).await;
    let (_, server) = gate.send(None, "GET", "/.well-known/oauth-authorization-server", None, &[]).await;
    assert_eq!(server["registration_endpoint"], format!("{}/oauth/register", gate.url));
    let register = async |body: Value| gate.send(None, "POST", "/oauth/register", Some(body), &[]).await;
    let (status, made) = register(body).await;
    assert_eq!(status, 201, "{made}");
    assert_eq!(made["token_endpoint_auth_method"], "none");
    let id = made["client_id"].as_str().unwrap();
    let mut browser = Browser::signed_in(&gate, "bob").await;
    let query = asking(&gate, &[("client_id", id)]);
    let page = browser.get(&format!("/oauth/authorize?{query}")).await;
    assert!(page.text.contains("Anyone can choose such a name"), "{}", page.text);
    let back = sent_back(&decide(&mut browser, &query, ALLOW).await);
    let fields = [
        ("grant_type", "authorization_code"),
        ("client_id", id),
        ("code", &back["code"]),
        ("code_verifier", VERIFIER),
    ];
    assert_eq!(post(&gate, "/oauth/token", &fields).await.0, 200);

    let (_, secret) =
        register(json!({ "redirect_uris": [BACK], "token_endpoint_auth_method": "client_secret_post" }))
            .await;
    assert!(secret["client_secret"].as_str().is_some_and(|secret| secret.len() == 64), "{secret}");
    for (body, error) in [
        (json!({ "client_name": "x" }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": ["http://evil.example/"] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": ["javascript:alert(1)"] }), "invalid_redirect_uri"),
        (
            json!({ "redirect_uris": [BACK], "token_endpoint_auth_method": "private_key_jwt" }),
            "invalid_client_metadata",
        ),
        (json!({ "redirect_uris": 7 }), "invalid_request"),
    ] {
        let (status, refused) = register(body).await;
        assert_eq!((status, &refused["error"]), (400, &json!(error)), "{refused}");
    }
    let mut last = 0;
    for _ in 0..12 {
        last = register(json!({ "redirect_uris": [BACK] })).await.0;
    }
    assert_eq!(last, 429);
}

#[tokio::test]
async fn what_managers_name_is_checked() {
    let gate = gate(OauthSettings::default()).await;
    let create = async |body: Value| gate.post("/api/v1/oauth/clients", body).await;
    for (body, status) in [
        (json!({ "id": "editor", "name": "Again", "redirect_uris": [BACK] }), 409),
        (json!({ "id": "dyn_x", "name": "x", "redirect_uris": [BACK] }), 400),
        (json!({ "id": "Not One", "name": "x", "redirect_uris": [BACK] }), 400),
        (json!({ "id": "x", "name": "", "redirect_uris": [BACK] }), 400),
        (json!({ "id": "x", "name": "x", "redirect_uris": [] }), 400),
        (json!({ "id": "x", "name": "x", "redirect_uris": ["http://evil.example/"] }), 400),
        (json!({ "id": "x", "name": "x", "redirect_uris": [BACK], "scopes": ["manage"] }), 400),
    ] {
        assert_eq!(create(body.clone()).await.0, status, "{body}");
    }
    let reader =
        json!({ "id": "reader", "name": "Reader", "redirect_uris": [BACK], "scopes": ["tools:read"] });
    assert_eq!(create(reader).await.0, 201);
    let mut browser = Browser::signed_in(&gate, "bob").await;
    let query = asking(&gate, &[("client_id", "reader"), ("scope", "tools")]);
    let back = sent_back(&browser.get(&format!("/oauth/authorize?{query}")).await);
    assert_eq!(back["error"], "invalid_scope");
    let (_, list) = gate.get("/api/v1/oauth/clients?limit=1").await;
    assert_eq!((&list["clients"][0]["id"], &list["next_cursor"]), (&json!("editor"), &json!("editor")));
    assert!(!list.to_string().contains("secret_hash"));
}
