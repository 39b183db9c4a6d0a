//! People sign in with an identity provider: a real one, which can be told to misbehave.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_app::ConnectedProvider;
use toolgate_oidc::{OidcProvider, OidcSettings};
use toolgate_policy::cedar::Policies;
use toolgate_testkit::{OIDC_CLIENT, OIDC_PUBLIC_CLIENT, TestOidc};

use crate::browser::{Answer, Browser, COOKIE, PASSWORD};
use crate::gate::{ADMIN, NewCaller, TestGate};

const JOURNEY: &str = "__Host-toolgate-oidc";
const SESSION: &str = "/api/v1/auth/session";

/// A provider as an operator would connect it.
fn company(oidc: &TestOidc) -> ConnectedProvider {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let settings = OidcSettings {
        issuer: oidc.issuer().to_owned(),
        client_id: OIDC_CLIENT.0.to_owned(),
        client_secret: Some(OIDC_CLIENT.1.to_owned()),
        scopes: ["email", "profile", "groups"].map(str::to_owned).to_vec(),
        group_claim: Some("groups".to_owned()),
    };
    let roles = [("platform-admins", "admin"), ("deciders", "approver")];
    ConnectedProvider {
        name: "company".to_owned(),
        title: "Company login".to_owned(),
        tenant: "default".parse().unwrap(),
        create_users: true,
        link_by_email: false,
        default_roles: vec!["member".parse().unwrap()],
        roles: BTreeMap::from(roles.map(|(group, role)| (group.to_owned(), vec![role.parse().unwrap()]))),
        provider: Arc::new(OidcProvider::new(settings).unwrap()),
    }
}

async fn gate(providers: Vec<ConnectedProvider>) -> TestGate {
    TestGate::with_providers(Default::default(), Policies::default_set().0, providers).await
}

fn ada(groups: &[&str]) -> Value {
    json!({ "email": "Ada@example.com", "email_verified": true, "name": "Ada Lovelace", "groups": groups })
}

/// All of it: there, signed in as `sub`, and back.
async fn sign_in(browser: &mut Browser<'_>, oidc: &TestOidc, sub: &str) -> Answer {
    let start = browser.get("/auth/oidc/company/start?return_to=/tools").await;
    assert_eq!(start.status, 302, "{}", start.text);
    let back = oidc.visit(&start.location(), sub).await;
    browser.get(&back).await
}

#[tokio::test]
async fn a_person_signs_in_and_their_groups_are_their_roles() {
    let oidc = TestOidc::start().await;
    oidc.person("sub-1", ada(&["platform-admins", "cooks"])).await;
    let gate = gate(vec![company(&oidc)]).await;
    let mut browser = Browser::new(&gate);
    let methods = browser.get("/api/v1/auth/methods").await.json();
    assert_eq!(
        methods["providers"],
        json!([{ "name": "company", "title": "Company login", "start": "/auth/oidc/company/start" }])
    );
    assert!(browser.get("/sign-in").await.text.contains("Company login"));

    let start = browser.get("/auth/oidc/company/start?return_to=/tools").await;
    let cookie = start.headers["set-cookie"].to_str().unwrap().replace(&browser.cookies[JOURNEY], "[secret]");
    insta::assert_snapshot!(cookie, @"__Host-toolgate-oidc=[secret]; Path=/; Max-Age=600; Secure; HttpOnly; SameSite=Lax");
    let url = start.location();
    for part in ["response_type=code", "code_challenge_method=S256", "code_challenge=", "state=", "nonce="] {
        assert!(url.contains(part), "{url} lacks {part}");
    }
    assert!(!url.contains(&browser.cookies[JOURNEY]), "the browser's secret stays with it");
    let back = oidc.visit(&url, "sub-1").await;
    let done = browser.get(&back).await;
    assert_eq!((done.status, done.location().as_str()), (302, "/tools"), "{}", done.text);
    assert!(!browser.cookies.contains_key(JOURNEY), "it is not needed any more");

    let session = browser.get(SESSION).await.json();
    assert_eq!(session["principal"], "user:ada@example.com");
    assert_eq!(session["roles"], json!(["admin", "member"]));
    assert_eq!(session["method"], "company");
    assert_eq!(browser.change("POST", "/api/v1/audit/verify", None).await.status, 200, "an administrator");

    // Other groups, other roles, at the next sign-in; with another address, still the same person.
    let moved = json!({ "email": "ada@elsewhere.example", "email_verified": true, "groups": ["deciders"] });
    oidc.person("sub-1", moved).await;
    let done = sign_in(&mut browser, &oidc, "sub-1").await;
    assert_eq!(done.status, 302, "{}", done.text);
    let session = browser.get(SESSION).await.json();
    assert_eq!(session["principal"], "user:ada@example.com");
    assert_eq!(session["roles"], json!(["approver", "member"]));
    gate.verify().await;
}

#[tokio::test]
async fn groups_may_come_from_userinfo_and_clients_may_be_public() {
    let oidc = TestOidc::start().await;
    oidc.settings(json!({ "in_id_token": false })).await;
    oidc.person("sub-1", ada(&["platform-admins"])).await;
    let settings = OidcSettings {
        issuer: oidc.issuer().to_owned(),
        client_id: OIDC_PUBLIC_CLIENT.to_owned(),
        client_secret: None,
        scopes: ["email", "groups"].map(str::to_owned).to_vec(),
        group_claim: Some("groups".to_owned()),
    };
    let gate_company =
        ConnectedProvider { provider: Arc::new(OidcProvider::new(settings).unwrap()), ..company(&oidc) };
    let gate = gate(vec![gate_company]).await;
    let mut browser = Browser::new(&gate);
    let done = sign_in(&mut browser, &oidc, "sub-1").await;
    assert_eq!(done.status, 302, "{}", done.text);
    let session = browser.get(SESSION).await.json();
    assert_eq!(
        (&session["principal"], &session["roles"]),
        (&json!("user:ada@example.com"), &json!(["admin", "member"]))
    );
}

/// The page says the code, nobody is signed in.
fn refused(answer: &Answer, browser: &Browser<'_>, status: u16, code: &str) {
    assert_eq!(answer.status, status, "{}", answer.text);
    assert!(answer.text.contains(&format!("<code>{code}</code>")), "{}", answer.text);
    assert!(!browser.cookies.contains_key(COOKIE));
}

#[tokio::test]
async fn what_did_not_begin_in_this_browser_does_not_end_in_it() {
    let oidc = TestOidc::start().await;
    oidc.person("sub-1", ada(&[])).await;
    let gate = gate(vec![company(&oidc)]).await;
    let mut attacker = Browser::new(&gate);
    let url = attacker.get("/auth/oidc/company/start").await.location();
    let back = oidc.visit(&url, "sub-1").await;

    let mut victim = Browser::new(&gate);
    refused(&victim.get(&back).await, &victim, 400, "identity_invalid");
    // With a journey of its own, but the attacker's state and code.
    victim.get("/auth/oidc/company/start").await;
    refused(&victim.get(&back).await, &victim, 400, "identity_invalid");
    let query = back.split_once('?').unwrap().1;
    let state = query.split('&').find(|part| part.starts_with("state=")).unwrap();
    for wrong in ["state=", "state=x", ""] {
        let wrong = attacker.get(&back.replace(state, wrong)).await;
        refused(&wrong, &attacker, 400, "identity_invalid");
    }
    // None of that used up the attacker's own journey; now it does, and once.
    assert_eq!(attacker.get(&back).await.status, 302);
    let journey = back.clone();
    attacker.cookies.remove(COOKIE);
    refused(&attacker.get(&journey).await, &attacker, 400, "identity_invalid");
}

#[tokio::test]
async fn a_callback_that_is_replayed_with_its_cookie_is_refused() {
    let oidc = TestOidc::start().await;
    oidc.person("sub-1", ada(&[])).await;
    let gate = gate(vec![company(&oidc)]).await;
    let mut browser = Browser::new(&gate);
    let url = browser.get("/auth/oidc/company/start").await.location();
    let back = oidc.visit(&url, "sub-1").await;
    let kept = browser.cookies[JOURNEY].clone();
    assert_eq!(browser.get(&back).await.status, 302);
    let mut again = Browser::new(&gate);
    again.cookies.insert(JOURNEY.into(), kept);
    refused(&again.get(&back).await, &again, 400, "identity_invalid");
}

#[tokio::test]
async fn tokens_that_were_tampered_with_let_nobody_in() {
    let oidc = TestOidc::start().await;
    oidc.person("sub-1", ada(&["platform-admins"])).await;
    let gate = gate(vec![company(&oidc)]).await;
    for tamper in [
        "nonce",
        "no_nonce",
        "audience",
        "audiences",
        "issuer",
        "expired",
        "signature",
        "unknown_key",
        "claims",
        "none",
        "hmac",
        "missing",
    ] {
        oidc.settings(json!({ "tamper": tamper })).await;
        let mut browser = Browser::new(&gate);
        let answer = sign_in(&mut browser, &oidc, "sub-1").await;
        assert!((400..=502).contains(&answer.status), "{tamper}: {}", answer.status);
        assert!(!browser.cookies.contains_key(COOKIE), "{tamper} lets someone in");
        if tamper != "none" {
            refused(&answer, &browser, 400, "identity_invalid");
        }
    }
    oidc.settings(json!({ "tamper": null })).await;
    let mut browser = Browser::new(&gate);
    assert_eq!(sign_in(&mut browser, &oidc, "sub-1").await.status, 302);
}

#[tokio::test]
async fn a_provider_that_changes_its_keys_is_asked_for_the_new_ones() {
    let oidc = TestOidc::start().await;
    oidc.person("sub-1", ada(&[])).await;
    let gate = gate(vec![company(&oidc)]).await;
    let mut browser = Browser::new(&gate);
    assert_eq!(sign_in(&mut browser, &oidc, "sub-1").await.status, 302);
    oidc.rotate_keys().await;
    let answer = sign_in(&mut browser, &oidc, "sub-1").await;
    assert_eq!(answer.status, 302, "{}", answer.text);
}

#[tokio::test]
async fn nobody_is_sent_on_to_another_site() {
    let oidc = TestOidc::start().await;
    oidc.person("sub-1", ada(&[])).await;
    let gate = gate(vec![company(&oidc)]).await;
    for (asked, expected) in [
        ("/tools%3Fx%3D1", "/tools?x=1"),
        ("//evil.example", "/"),
        ("https://evil.example", "/"),
        ("%2F%5Cevil.example", "/"),
        ("/%09/evil.example", "/"),
        ("javascript:alert(1)", "/"),
    ] {
        let mut browser = Browser::new(&gate);
        let url = browser.get(&format!("/auth/oidc/company/start?return_to={asked}")).await.location();
        let done = browser.get(&oidc.visit(&url, "sub-1").await).await;
        assert_eq!((done.status, done.location().as_str()), (302, expected), "{asked}");
    }
}

#[tokio::test]
async fn who_may_become_a_user_is_the_operators_choice() {
    let oidc = TestOidc::start().await;
    oidc.person("verified", ada(&[])).await;
    oidc.person("unverified", json!({ "email": "ada@example.com", "email_verified": false })).await;
    oidc.person("named", json!({ "preferred_username": "ada" })).await;
    oidc.person("nameless", json!({})).await;
    let closed = ConnectedProvider { create_users: false, ..company(&oidc) };
    let linking = ConnectedProvider {
        name: "linking".to_owned(),
        create_users: false,
        link_by_email: true,
        roles: BTreeMap::new(),
        ..company(&oidc)
    };
    let gate = gate(vec![closed, linking]).await;
    for principal in ["user:ada@example.com", "user:ada"] {
        gate.caller(NewCaller { tenant: "default", principal, roles: &["auditor"], ..NewCaller::default() })
            .await;
    }
    let attempt = async |provider: &str, sub: &str| {
        let mut browser = Browser::new(&gate);
        let url = browser.get(&format!("/auth/oidc/{provider}/start")).await.location();
        let answer = browser.get(&oidc.visit(&url, sub).await).await;
        if answer.status != 302 {
            refused(&answer, &browser, 403, "identity_refused");
        }
        (answer.status, browser.get(SESSION).await.json())
    };
    assert_eq!(attempt("company", "verified").await.0, 403, "someone of that name is here, and not linked");
    for sub in ["unverified", "named", "nameless"] {
        assert_eq!(attempt("linking", sub).await.0, 403, "{sub}");
    }
    let (status, session) = attempt("linking", "verified").await;
    assert_eq!((status, &session["principal"]), (302, &json!("user:ada@example.com")));
    assert_eq!(session["roles"], json!(["auditor"]), "without a mapping, roles are for managers to say");
    // Linked once, they are known whichever door they take.
    assert_eq!(attempt("company", "verified").await.0, 302);
}

#[tokio::test]
async fn a_name_that_is_taken_is_not_taken_over() {
    let oidc = TestOidc::start().await;
    oidc.person("first", json!({ "preferred_username": "ada", "groups": [] })).await;
    oidc.person("second", json!({ "preferred_username": "ada", "groups": ["platform-admins"] })).await;
    oidc.person("boss", json!({ "preferred_username": "admin", "groups": [] })).await;
    let gate = gate(vec![company(&oidc)]).await;
    let mut browser = Browser::new(&gate);
    assert_eq!(sign_in(&mut browser, &oidc, "first").await.status, 302);
    for sub in ["second", "boss"] {
        let mut browser = Browser::new(&gate);
        refused(&sign_in(&mut browser, &oidc, sub).await, &browser, 403, "identity_refused");
    }
}

#[tokio::test]
async fn someone_switched_off_does_not_get_in_by_another_door() {
    let oidc = TestOidc::start().await;
    oidc.person("sub-1", ada(&[])).await;
    let gate = gate(vec![company(&oidc)]).await;
    let mut browser = Browser::new(&gate);
    assert_eq!(sign_in(&mut browser, &oidc, "sub-1").await.status, 302);
    crate::sign_in::switch_off(&gate, "ada@example.com").await;
    assert_eq!(browser.get(SESSION).await.status, 401);
    let mut browser = Browser::new(&gate);
    refused(&sign_in(&mut browser, &oidc, "sub-1").await, &browser, 403, "identity_refused");
}

#[tokio::test]
async fn a_person_may_change_their_mind_at_the_provider() {
    let oidc = TestOidc::start().await;
    let gate = gate(vec![company(&oidc)]).await;
    let mut browser = Browser::new(&gate);
    refused(&sign_in(&mut browser, &oidc, "cancel").await, &browser, 403, "identity_refused");
}

#[tokio::test]
async fn a_dead_provider_costs_only_its_own_people() {
    let settings = OidcSettings {
        issuer: format!("http://127.0.0.1:{}", toolgate_testkit::free_port()),
        client_id: "toolgate".to_owned(),
        client_secret: None,
        scopes: vec![],
        group_claim: None,
    };
    let _ = rustls::crypto::ring::default_provider().install_default();
    let dead = ConnectedProvider {
        name: "dead".to_owned(),
        title: "Dead & <gone>".to_owned(),
        tenant: "default".parse().unwrap(),
        create_users: true,
        link_by_email: false,
        default_roles: vec![],
        roles: BTreeMap::new(),
        provider: Arc::new(OidcProvider::new(settings).unwrap()),
    };
    let gate = gate(vec![dead]).await;
    let mut browser = Browser::new(&gate);
    refused(&browser.get("/auth/oidc/dead/start").await, &browser, 502, "identity_unavailable");
    refused(&browser.get("/auth/oidc/none/start").await, &browser, 404, "not_found");
    assert!(browser.get("/sign-in").await.text.contains("Dead &amp; &lt;gone&gt;"));
    let token = gate.app.offer_set_up().await.unwrap().unwrap();
    let body = json!({ "token": token.reveal(), "password": PASSWORD });
    assert_eq!(browser.send("POST", "/api/v1/auth/accept", Some(body), &[]).await.status, 200);
    assert_eq!(gate.send(Some(ADMIN), "GET", "/api/v1/me", None, &[]).await.0, 200);
}
