//! Sign-ins as browsers keep them: cookies, their CSRF tokens, and their end.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_app::Secret;
use toolgate_core::Timestamp;
use toolgate_core::id::SignInId;
use toolgate_core::json::digest;
use toolgate_core::principal::SignIn;

use super::{HOUR, SESSION, gate, now, switch_off};
use crate::browser::{Browser, COOKIE, PASSWORD};
use crate::gate::{AGENT, TestGate};

#[tokio::test]
async fn a_person_signs_in_looks_around_and_signs_out() {
    let gate = gate().await;
    let mut browser = Browser::new(&gate);
    let before = browser.get(SESSION).await;
    assert_eq!((before.status, before.code().as_str()), (401, "unauthenticated"));

    let answer = browser.sign_in("ada", PASSWORD).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let token = browser.cookies[COOKIE].clone();
    let cookie = answer.headers["set-cookie"].to_str().unwrap().replace(&token, "[token]");
    insta::assert_snapshot!(cookie, @"__Host-toolgate=[token]; Path=/; Max-Age=604800; Secure; HttpOnly; SameSite=Lax");
    assert_eq!(token.len(), 64, "256 bits");
    assert!(!answer.text.contains(&token), "the cookie's secret is in no body");

    let session = browser.get(SESSION).await.json();
    insta::assert_json_snapshot!(session, {
        ".id" => "[sin]", ".csrf_token" => "[csrf]", ".created_at" => "[time]", ".expires_at" => "[time]"
    }, @r#"
    {
      "id": "[sin]",
      "principal": "user:ada",
      "tenant": "default",
      "roles": [
        "admin"
      ],
      "method": "password",
      "csrf_token": "[csrf]",
      "created_at": "[time]",
      "expires_at": "[time]"
    }
    "#);
    assert_eq!(browser.get("/api/v1/tools").await.status, 200);

    let out = browser.change("POST", "/api/v1/auth/sign-out", None).await;
    assert_eq!(out.status, 204);
    assert!(out.headers["set-cookie"].to_str().unwrap().contains("Max-Age=0"));
    assert!(browser.cookies.is_empty());
    browser.cookies.insert(COOKIE.into(), token);
    assert_eq!(browser.get(SESSION).await.status, 401, "a cookie that was kept aside is worth nothing");
}

#[tokio::test]
async fn changes_by_cookie_need_the_token_of_that_very_cookie() {
    let gate = gate().await;
    let mut ada = Browser::signed_in(&gate, "ada").await;
    let bob = Browser::signed_in(&gate, "bob").await;
    let invoke = "/api/v1/tools/core__get_current_time/invoke";
    let body = || Some(json!({ "input": {} }));
    let own = ada.csrf.clone();
    for (what, headers) in [
        ("none", vec![]),
        ("empty", vec![("x-toolgate-csrf", "")]),
        ("wrong", vec![("x-toolgate-csrf", "0000")]),
        ("another session's", vec![("x-toolgate-csrf", bob.csrf.as_str())]),
        ("from another site", vec![("x-toolgate-csrf", own.as_str()), ("sec-fetch-site", "cross-site")]),
        ("from a sibling site", vec![("x-toolgate-csrf", own.as_str()), ("sec-fetch-site", "same-site")]),
    ] {
        let answer = ada.send("POST", invoke, body(), &headers).await;
        assert_eq!((answer.status, answer.code().as_str()), (403, "csrf_failed"), "{what}");
    }
    let headers = [("x-toolgate-csrf", own.as_str()), ("origin", "http://evil.example")];
    let answer = ada.send("POST", invoke, body(), &headers).await;
    assert_eq!((answer.status, answer.code().as_str()), (403, "origin_not_allowed"));

    for site in ["same-origin", "none"] {
        let headers = [("x-toolgate-csrf", own.as_str()), ("sec-fetch-site", site)];
        let answer = ada.send("POST", invoke, body(), &headers).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
    }
    let call = ada.change("POST", invoke, body()).await.json();
    let (_, row) = gate.get(&format!("/api/v1/invocations/{}", call["call_id"].as_str().unwrap())).await;
    assert_eq!((&row["actor"], &row["source"]), (&json!("user:ada"), &json!("web")), "{row}");
    let answer = ada.change("POST", "/api/v1/auth/sign-out", None).await;
    assert_eq!(answer.status, 204);
}

#[tokio::test]
async fn a_planted_cookie_is_not_taken_over() {
    let gate = gate().await;
    // Made up by an attacker.
    let mut victim = Browser::new(&gate);
    let planted = "a".repeat(64);
    victim.cookies.insert(COOKIE.into(), planted.clone());
    victim.sign_in("ada", PASSWORD).await;
    assert_ne!(victim.cookies[COOKIE], planted);
    // The attacker's own, which is over then.
    let mut attacker = Browser::signed_in(&gate, "bob").await;
    let planted = attacker.cookies[COOKIE].clone();
    let mut victim = Browser::new(&gate);
    victim.cookies.insert(COOKIE.into(), planted.clone());
    let answer = victim.sign_in("ada", PASSWORD).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_ne!(victim.cookies[COOKIE], planted);
    assert_eq!(victim.get(SESSION).await.json()["principal"], "user:ada");
    assert_eq!(attacker.get(SESSION).await.status, 401);
}

#[tokio::test]
async fn a_key_wins_over_a_cookie() {
    let gate = gate().await;
    let mut ada = Browser::signed_in(&gate, "ada").await;
    let me = ada.send("GET", "/api/v1/me", None, &[("authorization", &format!("Bearer {AGENT}"))]).await;
    assert_eq!(me.json()["principal"], "agent:helper");
    let wrong = ada.send("GET", "/api/v1/me", None, &[("authorization", "Bearer wrong")]).await;
    assert_eq!(wrong.status, 401, "a wrong key is not made good by a cookie");
    assert_eq!(ada.get("/api/v1/me").await.json()["principal"], "user:ada");
}

/// Writes a sign-in as it would be after a while, and says whether it still works.
async fn works(gate: &TestGate, age: Duration, idle: Duration, left: Duration) -> bool {
    let cookie = Secret::generate().unwrap();
    let ago = |while_: Duration| {
        Timestamp::from_micros(now(gate).as_micros() - i64::try_from(while_.as_micros()).unwrap())
    };
    let sign_in = SignIn {
        id: SignInId::generate(),
        hash: digest(cookie.reveal().as_bytes()),
        tenant: "default".parse().unwrap(),
        principal: "user:ada".parse().unwrap(),
        method: "password".into(),
        user_agent: String::new(),
        created_at: ago(age),
        last_seen_at: ago(idle),
        expires_at: ago(Duration::ZERO).plus(left),
        switched: None,
    };
    gate.runner.parts().store.put_sign_in(sign_in).await.unwrap();
    let mut browser = Browser::new(gate);
    browser.cookies.insert(COOKIE.into(), cookie.reveal().to_owned());
    browser.get(SESSION).await.status == 200
}

#[tokio::test]
async fn sign_ins_end_when_idle_and_in_any_case_after_a_week() {
    let gate = gate().await;
    assert!(works(&gate, 24 * HOUR, 11 * HOUR, HOUR).await);
    assert!(!works(&gate, 24 * HOUR, 13 * HOUR, Duration::ZERO).await, "idle for too long");
    assert!(!works(&gate, 7 * 24 * HOUR, HOUR, HOUR).await, "a week old, whatever the row says");
    assert!(works(&gate, 7 * 24 * HOUR - HOUR, HOUR, HOUR).await);
    let mut ada = Browser::signed_in(&gate, "ada").await;
    let all = ada.get("/api/v1/auth/sign-ins").await.json();
    let ends: Vec<(String, String)> = all["sign_ins"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| (s["created_at"].as_str().unwrap().to_owned(), s["expires_at"].as_str().unwrap().to_owned()))
        .collect();
    // Using the day-old one put its end off; the one in its last hour was not prolonged past a week.
    let hours = |from: &str, to: &str| (micros(to) - micros(from)) / 3_600_000_000;
    let lasts: Vec<i64> = ends.iter().map(|(created, end)| hours(created, end)).collect();
    assert!(
        lasts.contains(&36) && lasts.contains(&168) && lasts.iter().all(|hours| *hours <= 168),
        "{lasts:?}"
    );
}

fn micros(text: &str) -> i64 {
    text.parse::<jiff::Timestamp>().unwrap().as_microsecond()
}

#[tokio::test]
async fn ones_own_sign_ins_are_seen_and_ended() {
    let gate = gate().await;
    let mut here = Browser::signed_in(&gate, "ada").await;
    let mut there = Browser::signed_in(&gate, "ada").await;
    let mut bob = Browser::signed_in(&gate, "bob").await;
    let id = |session: Value| session["id"].as_str().unwrap().to_owned();
    let lost = id(there.get(SESSION).await.json());
    let bobs = id(bob.get(SESSION).await.json());
    let list = here.get("/api/v1/auth/sign-ins").await.json();
    let currents: Vec<bool> =
        list["sign_ins"].as_array().unwrap().iter().map(|s| s["current"].as_bool().unwrap()).collect();
    assert_eq!(currents.iter().filter(|current| **current).count(), 1, "{list}");
    for (id, status) in [(lost.as_str(), 204), (lost.as_str(), 404), (bobs.as_str(), 404), ("nonsense", 404)]
    {
        let answer = here.change("DELETE", &format!("/api/v1/auth/sign-ins/{id}"), None).await;
        assert_eq!(answer.status, status, "{}", answer.text);
    }
    assert_eq!(there.get(SESSION).await.status, 401);
    assert_eq!(bob.get(SESSION).await.status, 200);
}

#[tokio::test]
async fn someone_switched_off_is_out_on_the_next_request() {
    let gate = gate().await;
    let mut bob = Browser::signed_in(&gate, "bob").await;
    assert_eq!(bob.get(SESSION).await.status, 200);
    switch_off(&gate, "bob").await;
    assert_eq!(bob.get(SESSION).await.status, 401);
    assert_eq!(bob.get("/api/v1/tools").await.status, 401);
    assert_eq!(bob.sign_in("bob", PASSWORD).await.status, 401);
}
