//! Everything that must not lead into another tenant.

use super::*;
use crate::browser::COOKIE;
use crate::gate::AGENT;

#[tokio::test]
async fn keys_and_agents_do_not_switch() {
    let gate = gate().await;
    let mut browser = linked(&gate).await;
    let body = || Some(json!({ "tenant": "default" }));
    for key in [ADMIN, OTHER_TENANT, AGENT] {
        for (method, path, body) in [
            ("POST", "/api/v1/me/tenants/switch", body()),
            ("POST", "/api/v1/me/tenants/add", body()),
            ("DELETE", "/api/v1/me/tenants/default", None),
        ] {
            let (status, _) = gate.send(Some(key), method, path, body.clone(), &[]).await;
            assert_eq!(status, 403, "{method} {path}");
            // Nor with a cookie beside the key: the key alone counts.
            let (bearer, csrf) = (format!("Bearer {key}"), browser.csrf.clone());
            let headers = [("authorization", bearer.as_str()), ("x-toolgate-csrf", csrf.as_str())];
            assert_eq!(browser.send(method, path, body, &headers).await.status, 403, "{method} {path}");
        }
        let list = gate.send(Some(key), "GET", MINE, None, &[]).await.1;
        assert_eq!(list["tenants"].as_array().unwrap().len(), 1, "a key is for one tenant");
    }
    assert_eq!(who(&mut browser).await, "elsewhere user:lovelace");
}

#[tokio::test]
async fn another_site_neither_switches_nor_links_anyone() {
    let gate = gate().await;
    let mut browser = linked(&gate).await;
    let csrf = browser.csrf.clone();
    let body = || Some(json!({ "tenant": "default" }));
    for headers in [
        vec![],
        vec![("x-toolgate-csrf", "0".repeat(64))],
        vec![("x-toolgate-csrf", csrf.clone()), ("sec-fetch-site", "cross-site".to_owned())],
        vec![("x-toolgate-csrf", csrf.clone()), ("sec-fetch-site", "same-site".to_owned())],
        vec![("x-toolgate-csrf", csrf.clone()), ("origin", "https://evil.example".to_owned())],
    ] {
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        for (method, path) in [("POST", "switch"), ("POST", "add"), ("DELETE", "default")] {
            let answer = browser.send(method, &format!("{MINE}/{path}"), body(), &headers).await;
            assert_eq!(answer.status, 403, "{method} {path} with {headers:?}: {}", answer.text);
        }
    }
    assert_eq!(who(&mut browser).await, "elsewhere user:lovelace");
    assert_eq!(links(&gate, ADMIN).await.len(), 1);

    // The page that links asks for the token too.
    let mut eve = signed_in(&gate, "default", "eve").await;
    begin(&mut eve, "elsewhere").await;
    sign_in_to(&mut eve, "elsewhere", "eve").await;
    let forged = eve.form("/link", &[("csrf", &"0".repeat(64)), ("answer", "link")]).await;
    assert!(forged.status == 403 && forged.text.contains("csrf_failed"), "{}", forged.text);
    assert_eq!(links(&gate, ADMIN).await.len(), 1);
}

#[tokio::test]
async fn the_old_cookie_is_worth_nothing_after_a_switch() {
    let gate = gate().await;
    let mut browser = linked(&gate).await;
    let (old, old_csrf) = (browser.cookies[COOKIE].clone(), browser.csrf.clone());
    switch(&mut browser, "default").await;
    assert_ne!(browser.cookies[COOKIE], old, "a fresh secret");
    let mut thief = Browser::new(&gate);
    thief.cookies.insert(COOKIE.into(), old);
    thief.csrf = old_csrf;
    assert_eq!(who(&mut thief).await, "401");
    assert_eq!(switch(&mut thief, "default").await.status, 401);
    // Nor does the new cookie go with the old token.
    let new = browser.cookies[COOKIE].clone();
    thief.cookies.insert(COOKIE.into(), new);
    assert_eq!(switch(&mut thief, "elsewhere").await.status, 403);
}

#[tokio::test]
async fn nobody_is_led_to_link_themselves_with_a_stranger() {
    let gate = gate().await;
    // Eve begins, and gets Lovelace to sign in: without Eve's cookie there is nothing to link.
    let mut eve = signed_in(&gate, "default", "eve").await;
    let begun = begin(&mut eve, "elsewhere").await;
    let mut victim = Browser::new(&gate);
    let page = victim.get(text(&begun.json()["sign_in"])).await;
    assert_eq!(page.status, 200);
    sign_in_to(&mut victim, "elsewhere", "lovelace").await;
    let asked = victim.get("/link").await;
    assert!(asked.status == 404 && asked.text.contains("token_invalid"), "{}", asked.text);
    assert_eq!(answer(&mut victim, "link").await.status, 404);
    assert!(links(&gate, ADMIN).await.is_empty());

    // Left behind in a browser that Lovelace then uses, it still names Eve before anything is linked.
    victim.cookies.insert(LINK.into(), eve.cookies[LINK].clone());
    assert!(victim.get("/link").await.text.contains("<strong>eve</strong>"));
}

#[tokio::test]
async fn a_sign_in_from_before_proves_nothing_new() {
    let gate = gate().await;
    let mut lovelace = signed_in(&gate, "elsewhere", "lovelace").await;
    let mut eve = signed_in(&gate, "default", "eve").await;
    begin(&mut eve, "elsewhere").await;
    // Whoever holds both cookies, but did not sign in after beginning.
    lovelace.cookies.insert(LINK.into(), eve.cookies[LINK].clone());
    let asked = lovelace.get("/link").await;
    assert!(asked.status == 403 && asked.text.contains("forbidden"), "{}", asked.text);
    assert_eq!(answer(&mut lovelace, "link").await.status, 403);

    // Nor does a sign-in that came by a switch, nor one to the same tenant.
    let mut ada = linked(&gate).await;
    switch(&mut ada, "default").await;
    begin(&mut eve, "elsewhere").await;
    ada.cookies.insert(LINK.into(), eve.cookies[LINK].clone());
    assert_eq!(answer(&mut ada, "link").await.status, 400, "the same tenant");
    begin(&mut eve, "default").await;
    sign_in_to(&mut eve, "default", "eve").await;
    assert_eq!(answer(&mut eve, "link").await.status, 400);
    assert_eq!(links(&gate, ADMIN).await.len(), 1);
}

#[tokio::test]
async fn a_beginning_works_once_and_ends_with_its_person() {
    let gate = gate().await;
    let mut browser = signed_in(&gate, "default", "ada").await;
    begin(&mut browser, "elsewhere").await;
    let secret = browser.cookies[LINK].clone();
    sign_in_to(&mut browser, "elsewhere", "lovelace").await;
    answer(&mut browser, "link").await;
    let mut eve = signed_in(&gate, "elsewhere", "eve").await;
    eve.cookies.insert(LINK.into(), secret);
    assert_eq!(answer(&mut eve, "link").await.status, 404, "used");

    let mut other = signed_in(&gate, "default", "eve").await;
    begin(&mut other, "elsewhere").await;
    let body = Some(json!({ "disabled": true }));
    gate.send(Some(ADMIN), "PATCH", "/api/v1/principals/user:eve", body, &[]).await;
    sign_in_to(&mut other, "elsewhere", "eve").await;
    assert_eq!(answer(&mut other, "link").await.status, 404, "whoever began is switched off");
    assert_eq!(links(&gate, ADMIN).await.len(), 1);
}

#[tokio::test]
async fn guessing_is_measured_while_adding_too() {
    let gate = gate().await;
    let mut eve = signed_in(&gate, "default", "eve").await;
    begin(&mut eve, "elsewhere").await;
    let fields = [
        ("tenant", "elsewhere"),
        ("login", "lovelace"),
        ("password", "wrong horse battery"),
        ("return_to", "/link"),
    ];
    let mut last = 0;
    for _ in 0..11 {
        last = eve.form("/sign-in", &fields).await.status;
    }
    assert_eq!(last, 429);
    assert!(links(&gate, ADMIN).await.is_empty());
}

#[tokio::test]
async fn one_name_in_two_tenants_is_two_people() {
    let gate = gate().await;
    let mut eve = signed_in(&gate, "default", "eve").await;
    assert_eq!(tenants(&mut eve).await, ["default current"]);
    assert_eq!(switch(&mut eve, "elsewhere").await.status, 404);
}
