//! Access tokens of another server, good and forged.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::json;
use toolgate_app::{ConnectedIssuer, ConnectedProvider, OauthSettings, TokensOnly};
use toolgate_core::oauth::OauthScope;
use toolgate_oidc::{IssuerSettings, TokenIssuer};

use super::*;
use crate::sign_in::switch_off;

/// An issuer on a port of its own, whose key can be changed.
struct Issuer {
    url: String,
    published: Arc<Published>,
}

#[derive(Default)]
struct Published {
    url: Mutex<String>,
    keys: Mutex<Vec<Value>>,
    asked: AtomicU32,
}

/// A key made from one byte, and what it is called.
fn key(seed: u8) -> EncodingKey {
    let mut der =
        vec![0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
    der.extend([seed; 32]);
    EncodingKey::from_ed_der(&der)
}

fn published(seed: u8) -> Value {
    let mut jwk = Jwk::from_encoding_key(&key(seed), Algorithm::EdDSA).unwrap();
    jwk.common.key_id = Some(format!("key-{seed}"));
    serde_json::to_value(jwk).unwrap()
}

impl Issuer {
    async fn start() -> Self {
        let state = Arc::new(Published::default());
        let router = Router::new()
            .route("/.well-known/oauth-authorization-server", get(about))
            .route("/keys", get(keys))
            .with_state(Arc::clone(&state));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        state.url.lock().unwrap().clone_from(&url);
        state.keys.lock().unwrap().push(published(1));
        let settings = ServerSettings::default();
        let (stop, patience) = (tokio_util::sync::CancellationToken::new(), std::time::Duration::ZERO);
        tokio::spawn(toolgate_server::serve(listener, router, settings, stop, patience));
        Self { url, published: state }
    }

    /// A token by this key, with some claims changed; `null` leaves one out.
    fn token(&self, seed: u8, changes: Value) -> String {
        let now = jiff::Timestamp::now().as_second();
        let mut claims = json!({
            "iss": self.url, "aud": ["other", "toolgate"], "sub": "person-1", "exp": now + 300, "iat": now,
            "preferred_username": "carol", "name": "Carol", "groups": ["staff"],
        });
        for (name, value) in changes.as_object().unwrap() {
            claims[name] = value.clone();
        }
        claims.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        let mut header = Header::new(Algorithm::EdDSA);
        header.kid = Some(format!("key-{seed}"));
        encode(&header, &claims, &key(seed)).unwrap()
    }
}

async fn about(State(state): State<Arc<Published>>) -> Json<Value> {
    let url = state.url.lock().unwrap().clone();
    Json(json!({ "issuer": url, "jwks_uri": format!("{url}/keys") }))
}

async fn keys(State(state): State<Arc<Published>>) -> Json<Value> {
    state.asked.fetch_add(1, Ordering::SeqCst);
    Json(json!({ "keys": *state.keys.lock().unwrap() }))
}

/// A gate that takes this issuer's tokens, and makes its people users.
async fn gate_of(issuer: &Issuer, audience: &str) -> TestGate {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let verifier = TokenIssuer::new(IssuerSettings {
        issuer: issuer.url.clone(),
        audience: audience.to_owned(),
        principal_claim: "sub".to_owned(),
        group_claim: Some("groups".to_owned()),
    })
    .unwrap();
    let people = ConnectedProvider {
        name: "elsewhere".to_owned(),
        title: "Elsewhere".to_owned(),
        tenant: "default".parse().unwrap(),
        create_users: true,
        link_by_email: false,
        default_roles: vec!["member".parse().unwrap()],
        roles: [("staff".to_owned(), vec!["approver".parse().unwrap()])].into(),
        provider: Arc::new(TokensOnly),
    };
    let connected = ConnectedIssuer {
        issuer: issuer.url.clone(),
        audience: audience.to_owned(),
        scopes: vec![OauthScope::Tools],
        people,
        verifier: Arc::new(verifier),
    };
    gate(OauthSettings { issuers: vec![connected], ..OauthSettings::default() }).await
}

#[tokio::test]
async fn a_person_of_another_server_is_a_person_here() {
    let issuer = Issuer::start().await;
    let gate = gate_of(&issuer, "toolgate").await;
    let (_, about) = gate.send(None, "GET", "/.well-known/oauth-protected-resource/mcp", None, &[]).await;
    assert_eq!(about["authorization_servers"], json!([gate.url, issuer.url]));
    let token = issuer.token(1, json!({}));
    let actor = actor_at(&gate, &token, "/mcp").await.unwrap();
    assert_eq!((actor.principal.as_str(), actor.tenant.as_str()), ("user:carol", "default"));
    assert_eq!(actor.roles.to_vec(), ["approver", "member"]);
    assert_eq!(serde_json::to_value(&*actor.scopes).unwrap(), json!(["tool:*"]));
    // Its audience is no address of ours: it works at `/mcp` and nowhere else.
    assert!(actor_at(&gate, &token, "/mcp/sales").await.is_some());
    assert!(actor_at(&gate, &token, "/api/v1/tools").await.is_none());
    // Words of ours in it narrow.
    let narrow = issuer.token(1, json!({ "scope": "openid tools:read" }));
    let actor = actor_at(&gate, &narrow, "/mcp").await.unwrap();
    assert_eq!(serde_json::to_value(&*actor.scopes).unwrap(), json!(["effect:read"]));
    // The same person stays the same person, whatever they are called now.
    let renamed = issuer.token(1, json!({ "preferred_username": "ada" }));
    assert_eq!(actor_at(&gate, &renamed, "/mcp").await.unwrap().principal.as_str(), "user:carol");
    // Whoever is switched off here is out, whatever is said there.
    switch_off(&gate, "carol").await;
    assert!(actor_at(&gate, &token, "/mcp").await.is_none());
    gate.verify().await;
}

#[tokio::test]
async fn forged_and_foreign_tokens_open_nothing() {
    let issuer = Issuer::start().await;
    let gate = gate_of(&issuer, "toolgate").await;
    let now = jiff::Timestamp::now().as_second();
    let unsigned = |header: Value, claims: &str| {
        let part = |text: &str| BASE64_URL_SAFE_NO_PAD.encode(text);
        format!("{}.{}.", part(&header.to_string()), claims)
    };
    let good = issuer.token(1, json!({}));
    let claims = good.split('.').nth(1).unwrap().to_owned();
    // The published key taken for a secret.
    let secret = EncodingKey::from_secret(published(1)["x"].as_str().unwrap().as_bytes());
    let mut header = Header::new(Algorithm::HS256);
    header.kid = Some("key-1".to_owned());
    let body: Value = serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(&claims).unwrap()).unwrap();
    let confused = encode(&header, &body, &secret).unwrap();
    let mut id_token = Header::new(Algorithm::EdDSA);
    (id_token.kid, id_token.typ) = (Some("key-1".to_owned()), Some("logout+jwt".to_owned()));
    let forged = [
        ("no signature", unsigned(json!({ "alg": "none" }), &claims)),
        ("no signature, spelled otherwise", unsigned(json!({ "alg": "None", "typ": "JWT" }), &claims)),
        ("signature cut off", unsigned(json!({ "alg": "EdDSA", "kid": "key-1" }), &claims)),
        ("the public key as a secret", confused),
        ("another kind of token", encode(&id_token, &body, &key(1)).unwrap()),
        ("another audience", issuer.token(1, json!({ "aud": "other" }))),
        ("no audience", issuer.token(1, json!({ "aud": null }))),
        ("another issuer", issuer.token(1, json!({ "iss": "https://evil.example" }))),
        ("several issuers", issuer.token(1, json!({ "iss": [issuer.url, "https://evil.example"] }))),
        ("no issuer", issuer.token(1, json!({ "iss": null }))),
        ("over", issuer.token(1, json!({ "exp": now - 300 }))),
        ("without end", issuer.token(1, json!({ "exp": null }))),
        ("not yet", issuer.token(1, json!({ "nbf": now + 300 }))),
        ("nobody", issuer.token(1, json!({ "sub": null }))),
        ("without groups", issuer.token(1, json!({ "groups": null }))),
        ("another's key", issuer.token(2, json!({}))),
        (
            "changed",
            good.replacen(&claims, issuer.token(1, json!({ "sub": "x" })).split('.').nth(1).unwrap(), 1),
        ),
        ("too long", format!("{good}{}", "x".repeat(10_000))),
    ];
    for (what, token) in forged {
        assert!(actor_at(&gate, &token, "/mcp").await.is_none(), "{what}");
    }
    assert!(issuer.published.asked.load(Ordering::SeqCst) <= 2, "forged tokens do not make us ask and ask");
    assert!(actor_at(&gate, &good, "/mcp").await.is_some());
    // A name that is taken here is not theirs for saying it.
    let taken = issuer.token(1, json!({ "sub": "person-2", "preferred_username": "ada" }));
    assert!(actor_at(&gate, &taken, "/mcp").await.is_none());
}

#[tokio::test]
async fn a_new_key_of_the_issuer_is_learnt() {
    let issuer = Issuer::start().await;
    let gate = gate_of(&issuer, "toolgate").await;
    assert!(actor_at(&gate, &issuer.token(1, json!({})), "/mcp").await.is_some());
    issuer.published.keys.lock().unwrap().push(published(2));
    assert!(actor_at(&gate, &issuer.token(2, json!({})), "/mcp").await.is_some());
    assert_eq!(issuer.published.asked.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn an_audience_that_is_an_address_says_where_tokens_work() {
    let issuer = Issuer::start().await;
    let gate = gate_of(&issuer, "https://gate.example").await;
    let token = issuer.token(1, json!({ "aud": "https://gate.example" }));
    let at = async |base: &str, path: &str| {
        let address = Address { base, path };
        gate.app.authenticate_at(&token, [127, 0, 0, 9].into(), address).await.unwrap().is_some()
    };
    assert!(at("https://gate.example", "/api/v1/tools").await);
    assert!(at("https://gate.example", "/mcp").await);
    assert!(!at("https://other.example", "/mcp").await);
}
