//! The pages that links in errors lead to.

use toolgate_testkit::ProtectedServer;

use super::{gate, list, path_of};
use crate::browser::Browser;

const PAGE: &str = "/connections/mcp:server/connect";

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    text.split(start).nth(1).unwrap().split(end).next().unwrap()
}

#[tokio::test]
async fn a_link_leads_to_a_page_and_on_to_the_service() {
    let server = ProtectedServer::start().await;
    let gate = gate(&server).await;
    let mut nobody = Browser::new(&gate);
    assert_eq!(
        nobody.get(PAGE).await.location(),
        "/sign-in?return_to=%2Fconnections%2Fmcp%3Aserver%2Fconnect"
    );
    let mut bob = Browser::signed_in(&gate, "bob").await;
    let page = bob.get(PAGE).await;
    assert_eq!(page.status, 200);
    let csrf = between(&page.text, "name=\"csrf\" value=\"", "\"").to_owned();
    let on = bob.form(PAGE, &[("csrf", &csrf), ("shared", "false")]).await;
    assert_eq!(on.status, 200, "{}", on.text);
    let url = between(&on.text, "<a href=\"", "\"").replace("&amp;", "&");
    assert!(url.starts_with(&server.issuer()), "{url}");
    assert!(on.text.contains(&server.host()), "the page says where one logs in");
    assert_eq!(bob.get(&path_of(&server.consent(&url))).await.status, 200);
    assert_eq!(list(&mut bob).await.len(), 1);
}

#[tokio::test]
async fn other_sites_begin_nothing() {
    let server = ProtectedServer::start().await;
    let gate = gate(&server).await;
    let mut bob = Browser::signed_in(&gate, "bob").await;
    assert_eq!(bob.form(PAGE, &[("csrf", "wrong")]).await.status, 403);
    let csrf = between(&bob.get(PAGE).await.text, "name=\"csrf\" value=\"", "\"").to_owned();
    let mut nobody = Browser::new(&gate);
    assert_eq!(nobody.form(PAGE, &[("csrf", &csrf)]).await.status, 401);
    assert_eq!(bob.get("/connections/%3Cscript%3E/connect").await.status, 404);
}

#[tokio::test]
async fn authorization_servers_can_read_about_this_gate() {
    let server = ProtectedServer::start().await;
    let gate = gate(&server).await;
    let answer = Browser::new(&gate).get("/oauth/client-metadata.json").await;
    let document = answer.json();
    assert_eq!(document["client_id"], format!("{}/oauth/client-metadata.json", gate.url));
    assert_eq!(document["redirect_uris"][0], format!("{}/connections/callback", gate.url));
    assert_eq!(document["token_endpoint_auth_method"], "none");
}
