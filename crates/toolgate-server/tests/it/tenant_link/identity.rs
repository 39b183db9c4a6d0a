//! People who are one at an identity provider are one here, where both tenants take its word.

use std::sync::Arc;

use toolgate_app::ConnectedProvider;
use toolgate_oidc::{OidcProvider, OidcSettings};
use toolgate_policy::cedar::Policies;
use toolgate_testkit::{OIDC_CLIENT, TestOidc};

use super::*;

fn provider(oidc: &TestOidc, name: &str, tenant: &str) -> ConnectedProvider {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let settings = OidcSettings {
        issuer: oidc.issuer().to_owned(),
        client_id: OIDC_CLIENT.0.to_owned(),
        client_secret: Some(OIDC_CLIENT.1.to_owned()),
        scopes: vec!["email".to_owned()],
        group_claim: None,
    };
    ConnectedProvider {
        name: name.to_owned(),
        title: name.to_owned(),
        tenant: tenant.parse().unwrap(),
        create_users: true,
        link_by_email: false,
        default_roles: vec!["member".parse().unwrap()],
        roles: Default::default(),
        provider: Arc::new(OidcProvider::new(settings).unwrap()),
    }
}

async fn gate(providers: Vec<ConnectedProvider>) -> TestGate {
    TestGate::with_providers(Default::default(), Policies::default_set().0, providers).await
}

async fn arrive(browser: &mut Browser<'_>, oidc: &TestOidc, name: &str, sub: &str) {
    let start = browser.get(&format!("/auth/oidc/{name}/start?return_to=/link")).await;
    let back = oidc.visit(&start.location(), sub).await;
    let done = browser.get(&back).await;
    assert_eq!(done.status, 302, "{}", done.text);
    browser.get(SESSION).await;
}

#[tokio::test]
async fn one_person_at_a_provider_is_one_person_here() {
    let oidc = TestOidc::start().await;
    for (sub, email) in [("sub-1", "ada@example.com"), ("sub-2", "eve@example.com")] {
        oidc.person(sub, json!({ "email": email, "email_verified": true })).await;
    }
    let gate = gate(vec![provider(&oidc, "here", "default"), provider(&oidc, "there", "elsewhere")]).await;
    let mut browser = Browser::new(&gate);
    arrive(&mut browser, &oidc, "here", "sub-1").await;
    assert_eq!(tenants(&mut browser).await, ["default current"]);
    arrive(&mut Browser::new(&gate), &oidc, "there", "sub-2").await;
    assert_eq!(tenants(&mut browser).await, ["default current"], "another person there is another person");
    arrive(&mut Browser::new(&gate), &oidc, "there", "sub-1").await;
    assert_eq!(tenants(&mut browser).await, ["default current", "elsewhere switch"]);
    assert_eq!(switch(&mut browser, "elsewhere").await.status, 200);
    assert_eq!(who(&mut browser).await, "elsewhere user:ada@example.com");

    // What was ended once is not made again by signing in.
    let link = links(&gate, ADMIN).await.remove(0);
    let path = format!("/api/v1/tenant-links/{}", text(&link["id"]));
    assert_eq!(gate.send(Some(ADMIN), "DELETE", &path, None, &[]).await.0, 204);
    arrive(&mut browser, &oidc, "here", "sub-1").await;
    assert_eq!(tenants(&mut browser).await, ["default current"]);
    gate.verify().await;
}

#[tokio::test]
async fn a_password_does_not_lead_to_whom_a_provider_vouches_for() {
    let oidc = TestOidc::start().await;
    oidc.person("sub-1", json!({ "email": "ada@example.com", "email_verified": true })).await;
    let gate = gate(vec![provider(&oidc, "there", "elsewhere")]).await;
    add_person(&gate, ADMIN, "default", "ada").await;
    let mut browser = signed_in(&gate, "default", "ada").await;
    begin(&mut browser, "elsewhere").await;
    arrive(&mut browser, &oidc, "there", "sub-1").await;
    assert_eq!(answer(&mut browser, "link").await.status, 303);
    assert_eq!(tenants(&mut browser).await, ["default switch", "elsewhere current"]);
    assert_eq!(switch(&mut browser, "default").await.status, 200);
    assert_eq!(switch(&mut browser, "elsewhere").await.status, 200, "the provider saw them in this sign-in");

    // Who signed in with a password is sent to the provider: it may have shut them out since.
    let mut browser = signed_in(&gate, "default", "ada").await;
    assert_eq!(tenants(&mut browser).await, ["default current", "elsewhere sign_in"]);
    let refused = switch(&mut browser, "elsewhere").await;
    assert_eq!((refused.status, refused.code().as_str()), (403, "forbidden"), "{}", refused.text);
    assert_eq!(who(&mut browser).await, "default user:ada");

    // Whoever handed themselves a password for her there is not her here.
    let path = "/api/v1/principals/user:ada@example.com/invite";
    let (status, invitation) = gate.send(Some(OTHER_TENANT), "POST", path, None, &[]).await;
    assert_eq!(status, 201, "{invitation}");
    let token = text(&invitation["url"]).split_once("token=").unwrap().1.to_owned();
    let body = json!({ "token": token, "password": PASSWORD });
    let accepted = Browser::new(&gate).send("POST", "/api/v1/auth/accept", Some(body), &[]).await;
    assert_eq!(accepted.status, 200, "{}", accepted.text);
    let mut browser = signed_in(&gate, "elsewhere", "ada@example.com").await;
    assert_eq!(tenants(&mut browser).await, ["default sign_in", "elsewhere current"]);
    assert_eq!(switch(&mut browser, "default").await.status, 403);
    assert_eq!(who(&mut browser).await, "elsewhere user:ada@example.com");
}
