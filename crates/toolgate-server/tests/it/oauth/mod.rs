//! Applications are let in by people, and attackers try to be.

mod attack;
mod client;
mod door;
mod flow;
mod grant;
mod issuer;

use serde_json::{Value, json};
use toolgate_app::{Address, OauthSettings};
use toolgate_core::Actor;
use toolgate_policy::cedar::Policies;
use toolgate_server::ServerSettings;

use crate::browser::{Answer, Browser};
use crate::gate::{ADMIN, TestGate};
use crate::sign_in::add_user;

pub(crate) const BACK: &str = "http://127.0.0.1:7777/back";
/// A verifier and its challenge (RFC 7636, appendix B).
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// A gate with two people, an administrator `ada` and a member `bob`, and an application `editor`.
pub(crate) async fn gate(oauth: OauthSettings) -> TestGate {
    let policy = Policies::default_set().0;
    let gate = TestGate::with_app(ServerSettings::default(), policy, |app| app.with_oauth(oauth)).await;
    add_user(&gate, "ada", &["admin"]).await;
    add_user(&gate, "bob", &["member"]).await;
    register(&gate, json!({ "id": "editor", "name": "My <Editor>", "redirect_uris": [BACK] })).await;
    gate
}

/// Names an application, and returns its secret if it has one.
async fn register(gate: &TestGate, body: Value) -> Option<String> {
    let (status, made) = gate.post("/api/v1/oauth/clients", body).await;
    assert_eq!(status, 201, "{made}");
    made["secret"].as_str().map(str::to_owned)
}

/// What an application asks for, with some of it changed; an empty value leaves it out.
fn asking(gate: &TestGate, changes: &[(&str, &str)]) -> String {
    let mcp = format!("{}/mcp", gate.url);
    let mut fields = vec![
        ("client_id", "editor"),
        ("redirect_uri", BACK),
        ("response_type", "code"),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
        ("scope", "tools"),
        ("state", "x y&z"),
        ("resource", &mcp),
    ];
    for (name, value) in changes {
        fields.retain(|(known, _)| known != name);
        fields.push((name, value));
    }
    fields.retain(|(_, value)| !value.is_empty());
    serde_urlencoded::to_string(fields).unwrap()
}

/// The value of a hidden field.
fn hidden(page: &Answer, name: &str) -> String {
    let start = format!("name=\"{name}\" value=\"");
    let at = page.text.find(&start).unwrap_or_else(|| panic!("no {name} in {}", page.text)) + start.len();
    let value = &page.text[at..at + page.text[at..].find('"').unwrap()];
    value
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

/// Opens the consent page and decides as its form would.
async fn decide(browser: &mut Browser<'_>, query: &str, decision: &[(&str, &str)]) -> Answer {
    let page = browser.get(&format!("/oauth/authorize?{query}")).await;
    assert_eq!(page.status, 200, "{}", page.text);
    let (csrf, request) = (hidden(&page, "csrf"), hidden(&page, "request"));
    let mut fields = vec![("csrf", csrf.as_str()), ("request", request.as_str())];
    fields.extend(decision);
    browser.form("/oauth/authorize", &fields).await
}

const ALLOW: &[(&str, &str)] = &[("scope", "tools"), ("decision", "allow")];

/// What a browser is sent back with.
fn sent_back(answer: &Answer) -> std::collections::BTreeMap<String, String> {
    assert_eq!(answer.status, 303, "{}", answer.text);
    let location = answer.location();
    let (to, query) = location.split_once('?').unwrap();
    assert_eq!(to, BACK);
    serde_urlencoded::from_str(query).unwrap()
}

/// The code that someone's consent brings.
async fn code(gate: &TestGate, login: &str, changes: &[(&str, &str)]) -> String {
    let mut browser = Browser::signed_in(gate, login).await;
    let answer = decide(&mut browser, &asking(gate, changes), ALLOW).await;
    sent_back(&answer)["code"].clone()
}

/// A form sent by an application: no browser, no origin.
async fn post(gate: &TestGate, path: &str, fields: &[(&str, &str)]) -> (u16, Value) {
    post_with(gate, path, fields, None).await
}

async fn post_with(
    gate: &TestGate,
    path: &str,
    fields: &[(&str, &str)],
    basic: Option<(&str, &str)>,
) -> (u16, Value) {
    let mut request = gate
        .client
        .post(format!("{}{path}", gate.url))
        .header("content-type", "application/x-www-form-urlencoded")
        .body(serde_urlencoded::to_string(fields).unwrap());
    if let Some((id, secret)) = basic {
        request = request.basic_auth(id, Some(secret));
    }
    let answer = request.send().await.unwrap();
    assert_eq!(answer.headers()["cache-control"], "no-store");
    let status = answer.status().as_u16();
    (status, serde_json::from_str(&answer.text().await.unwrap()).unwrap_or(Value::Null))
}

async fn exchange(gate: &TestGate, code: &str) -> (u16, Value) {
    let fields = [
        ("grant_type", "authorization_code"),
        ("client_id", "editor"),
        ("code", code),
        ("code_verifier", VERIFIER),
        ("redirect_uri", BACK),
    ];
    post(gate, "/oauth/token", &fields).await
}

async fn refresh(gate: &TestGate, token: &str) -> (u16, Value) {
    let fields = [("grant_type", "refresh_token"), ("client_id", "editor"), ("refresh_token", token)];
    post(gate, "/oauth/token", &fields).await
}

/// Access and refresh token of an application that someone let in.
async fn tokens(gate: &TestGate, login: &str, changes: &[(&str, &str)]) -> (String, String) {
    let (status, tokens) = exchange(gate, &code(gate, login, changes).await).await;
    assert_eq!(status, 200, "{tokens}");
    let text = |name: &str| tokens[name].as_str().unwrap().to_owned();
    (text("access_token"), text("refresh_token"))
}

/// Who a token speaks for at a path.
async fn actor_at(gate: &TestGate, token: &str, path: &str) -> Option<Actor> {
    let address = Address { base: &gate.url, path };
    gate.app.authenticate_at(token, [127, 0, 0, 9].into(), address).await.unwrap()
}

/// The grants that someone's key sees.
async fn grants(gate: &TestGate, query: &str) -> Vec<Value> {
    let (status, list) =
        gate.send(Some(ADMIN), "GET", &format!("/api/v1/oauth/grants{query}"), None, &[]).await;
    assert_eq!(status, 200, "{list}");
    list["grants"].as_array().unwrap().clone()
}
