//! Links that work once: the first administrator, and invitations.

use std::time::Duration;

use serde_json::json;
use toolgate_app::Secret;
use toolgate_core::json::digest;
use toolgate_core::principal::OneTimeToken;

use super::{HOUR, SESSION, add_user, gate, invite, now, switch_off};
use crate::browser::{Browser, PASSWORD};
use crate::gate::{AGENT, NewCaller, OTHER_USER, TestGate};

#[tokio::test]
async fn the_set_up_link_works_once_and_only_at_first() {
    let gate = TestGate::start().await;
    let methods = Browser::new(&gate).get("/api/v1/auth/methods").await.json();
    insta::assert_json_snapshot!(methods, @r#"
    {
      "password": true,
      "providers": [],
      "set_up_needed": true
    }
    "#);
    let first = gate.app.offer_set_up().await.unwrap().unwrap();
    let second = gate.app.offer_set_up().await.unwrap().unwrap();
    let accept = |token: &str, login: &str, password: &str| {
        let body = json!({ "token": token, "login": login, "password": password, "title": "The first" });
        let gate = &gate;
        async move {
            let mut browser = Browser::new(gate);
            let answer = browser.send("POST", "/api/v1/auth/accept", Some(body), &[]).await;
            (answer.status, answer.code(), browser)
        }
    };
    let expired = Secret::generate().unwrap();
    put_token(&gate, &expired, "set_up", Duration::ZERO).await;
    let for_oidc = Secret::generate().unwrap();
    put_token(&gate, &for_oidc, "oidc", HOUR).await;
    for bad in [&"0".repeat(64), "x", "", expired.reveal(), for_oidc.reveal()] {
        let (status, code, _) = accept(bad, "root", PASSWORD).await;
        assert_eq!((status, code.as_str()), (404, "token_invalid"), "{bad}");
    }
    // What is refused does not use the link up.
    for (login, password) in [("root", "short"), ("a b", PASSWORD), ("rootrootroot", "rootrootroot")] {
        let (status, code, _) = accept(first.reveal(), login, password).await;
        assert_eq!((status, code.as_str()), (400, "bad_request"));
    }
    let (status, code, mut browser) = accept(first.reveal(), "root", PASSWORD).await;
    assert_eq!(status, 200, "{code}");
    let session = browser.get(SESSION).await.json();
    assert_eq!((&session["principal"], &session["roles"]), (&json!("user:root"), &json!(["admin"])));
    assert_eq!(browser.change("POST", "/api/v1/audit/verify", None).await.status, 200, "an administrator");
    for (what, token) in [("used", &first), ("not needed any more", &second)] {
        let (status, code, _) = accept(token.reveal(), "evil", PASSWORD).await;
        assert_eq!((status, code.as_str()), (404, "token_invalid"), "{what}");
    }
    assert!(gate.app.offer_set_up().await.unwrap().is_none());
    assert_eq!(Browser::new(&gate).get("/api/v1/auth/methods").await.json()["set_up_needed"], false);
    gate.verify().await;
}

#[tokio::test]
async fn the_set_up_link_completes_the_administrator_who_had_a_key() {
    let gate = TestGate::start().await;
    let token = gate.app.offer_set_up().await.unwrap().unwrap();
    let body = json!({ "token": token.reveal(), "password": PASSWORD });
    let mut browser = Browser::new(&gate);
    let accepted = browser.send("POST", "/api/v1/auth/accept", Some(body), &[]).await;
    assert_eq!(accepted.json()["principal"], "user:admin", "{}", accepted.text);
    assert_eq!(gate.get("/api/v1/me").await.0, 200, "the key still works");
}

async fn put_token(gate: &TestGate, token: &Secret, purpose: &str, lasts: Duration) {
    let at = now(gate);
    let kept = OneTimeToken {
        hash: digest(token.reveal().as_bytes()),
        purpose: purpose.to_owned(),
        tenant: "default".parse().unwrap(),
        principal: None,
        data: toolgate_core::JsonText::parse("{}").unwrap(),
        expires_at: at.plus(lasts),
    };
    gate.runner.parts().store.put_token(kept, at).await.unwrap();
}

#[tokio::test]
async fn one_link_used_by_many_at_once_lets_one_in() {
    let gate = gate().await;
    gate.caller(NewCaller { tenant: "default", principal: "user:new", ..NewCaller::default() }).await;
    let token = invite(&gate, "new").await;
    let tries = (0..8).map(|_| async {
        let body = json!({ "token": token, "password": PASSWORD });
        Browser::new(&gate).send("POST", "/api/v1/auth/accept", Some(body), &[]).await.status
    });
    let mut statuses = futures::future::join_all(tries).await;
    statuses.sort_unstable();
    assert_eq!(statuses, [vec![200], vec![404; 7]].concat());
}

#[tokio::test]
async fn invitations_are_for_users_and_not_for_the_stronger() {
    let gate = gate().await;
    let manager = gate
        .caller(NewCaller {
            tenant: "default",
            principal: "user:chief",
            roles: &["admin"],
            ..NewCaller::default()
        })
        .await;
    let narrowed = gate
        .caller(NewCaller {
            tenant: "default",
            principal: "user:chief",
            roles: &["admin"],
            scopes: &["manage:principals"],
            ..NewCaller::default()
        })
        .await;
    for (key, id, status, code) in [
        (manager.as_str(), "user:bob", 201, "none"),
        (manager.as_str(), "user:nobody", 404, "not_found"),
        (manager.as_str(), "nonsense", 404, "not_found"),
        (manager.as_str(), "agent:helper", 400, "bad_request"),
        (narrowed.as_str(), "user:bob", 403, "forbidden"),
        (narrowed.as_str(), "user:chief", 403, "forbidden"),
        (OTHER_USER, "user:bob", 403, "forbidden"),
        (AGENT, "user:bob", 403, "forbidden"),
    ] {
        let (got, body) =
            gate.send(Some(key), "POST", &format!("/api/v1/principals/{id}/invite"), None, &[]).await;
        assert_eq!((got, body["error"]["code"].as_str().unwrap_or("none")), (status, code), "{id}: {body}");
    }
}

#[tokio::test]
async fn someone_who_manages_principals_does_not_become_an_administrator() {
    let policy = r#"
        @id("everyone manages principals")
        permit (principal, action == Toolgate::Action::"manage", resource == Toolgate::Area::"principals");
        @id("administrators manage")
        permit (principal, action == Toolgate::Action::"manage", resource) when { principal.rules.contains("*") };
    "#;
    let gate = TestGate::with(Default::default(), policy).await;
    add_user(&gate, "ada", &["admin"]).await;
    add_user(&gate, "bob", &["member"]).await;
    let clerk = gate
        .caller(NewCaller {
            tenant: "default",
            principal: "user:clerk",
            roles: &["member"],
            ..NewCaller::default()
        })
        .await;
    for (id, status) in [("user:bob", 201), ("user:ada", 403), ("user:admin", 403)] {
        let path = format!("/api/v1/principals/{id}/invite");
        let (got, body) = gate.send(Some(&clerk), "POST", &path, None, &[]).await;
        assert_eq!(got, status, "{id}: {body}");
    }
}

#[tokio::test]
async fn a_link_kept_aside_is_worth_no_more_than_who_made_it() {
    let policy = r#"
        @id("clerks manage principals")
        permit (principal in Toolgate::Role::"member", action == Toolgate::Action::"manage", resource);
    "#;
    let gate = TestGate::with(Default::default(), policy).await;
    let member = |principal: &'static str| NewCaller {
        tenant: "default",
        principal,
        roles: &["member"],
        ..NewCaller::default()
    };
    let clerk = gate.caller(member("user:clerk")).await;
    let accept = async |url: &str| {
        let token = url.split_once("token=").unwrap().1;
        let body = json!({ "token": token, "password": PASSWORD });
        Browser::new(&gate).send("POST", "/api/v1/auth/accept", Some(body), &[]).await.code()
    };
    let invite = async |login: &str| {
        let path = format!("/api/v1/principals/user:{login}/invite");
        let (status, body) = gate.send(Some(&clerk), "POST", &path, None, &[]).await;
        assert_eq!(status, 201, "{body}");
        body["url"].as_str().unwrap().to_owned()
    };
    for principal in ["user:one", "user:two", "user:three"] {
        gate.caller(member(principal)).await;
    }
    let (one, two, three) = (invite("one").await, invite("two").await, invite("three").await);
    // Given more than the clerk has, in the meantime.
    gate.caller(NewCaller { roles: &["admin"], ..member("user:one") }).await;
    assert_eq!(accept(&one).await, "token_invalid");
    assert_eq!(accept(&two).await, "none", "nothing has changed for this one");
    switch_off(&gate, "clerk").await;
    assert_eq!(accept(&three).await, "token_invalid", "whoever is switched off invites nobody");
}

#[tokio::test]
async fn only_the_newest_link_works_and_none_after_a_password_is_set() {
    let gate = gate().await;
    let accept = async |token: &str| {
        let body = json!({ "token": token, "password": PASSWORD });
        Browser::new(&gate).send("POST", "/api/v1/auth/accept", Some(body), &[]).await.code()
    };
    let (first, bobs) = (invite(&gate, "ada").await, invite(&gate, "bob").await);
    let second = invite(&gate, "ada").await;
    assert_eq!(accept(&first).await, "token_invalid", "a newer one took its place");
    assert_eq!(accept(&second).await, "none");
    assert_eq!(accept(&bobs).await, "none", "others are not concerned");

    let kept_aside = invite(&gate, "ada").await;
    let mut ada = Browser::signed_in(&gate, "ada").await;
    let change = json!({ "current": PASSWORD, "new": "another horse battery staple" });
    let changed = ada.change("POST", "/api/v1/auth/password", Some(change)).await;
    assert_eq!(changed.status, 204, "{}", changed.text);
    assert_eq!(
        accept(&kept_aside).await,
        "token_invalid",
        "whoever changes a password closes the other ways in"
    );
}

#[tokio::test]
async fn a_login_may_be_given_as_the_whole_id() {
    let gate = TestGate::start().await;
    let token = gate.app.offer_set_up().await.unwrap().unwrap();
    let fields = [("token", token.reveal()), ("login", "user:root"), ("title", ""), ("password", PASSWORD)];
    let mut browser = Browser::new(&gate);
    assert_eq!(browser.form("/set-up", &fields).await.status, 303);
    assert_eq!(browser.get(SESSION).await.json()["principal"], "user:root");
    for login in ["root", "user:root"] {
        assert_eq!(Browser::new(&gate).sign_in(login, PASSWORD).await.status, 200, "{login}");
    }
    // Said in two ways it is still one login, and has one measure.
    let mut statuses = Vec::new();
    for n in 0..12 {
        let login = if n % 2 == 0 { "root" } else { "user:root" };
        statuses.push(Browser::new(&gate).sign_in(login, "wrong horse battery staple").await.status);
    }
    assert_eq!(statuses, [vec![401; 10], vec![429; 2]].concat());
}
