//! Going from one tenant to the other.

use std::time::Duration;

use toolgate_app::Secret;
use toolgate_core::Timestamp;
use toolgate_core::administration::{AdminChange, Write};
use toolgate_core::id::TenantId;
use toolgate_core::json::digest;
use toolgate_core::port::store::EndSignIns;

use super::*;
use crate::browser::COOKIE;

#[tokio::test]
async fn a_person_goes_there_and_back() {
    let gate = gate().await;
    let mut browser = linked(&gate).await;
    let before = browser.get(SESSION).await.json();
    let there = switch(&mut browser, "default").await;
    assert_eq!(there.status, 200, "{}", there.text);
    assert_eq!(text(&there.json()["principal"]), "user:ada");
    assert_eq!(who(&mut browser).await, "default user:ada");
    assert_eq!(tenants(&mut browser).await, ["default current", "elsewhere switch"]);
    assert_eq!(there.json()["created_at"], before["created_at"], "it counts from the proof");
    assert_eq!(text(&there.json()["method"]), "password");
    assert_eq!(switch(&mut browser, "elsewhere").await.status, 200);
    assert_eq!(who(&mut browser).await, "elsewhere user:lovelace");
    assert_eq!(told(&gate, ADMIN).await, ["user.linked", "user.switched_here", "user.switched_away"]);
    assert_eq!(told(&gate, OTHER_TENANT).await, ["user.linked", "user.switched_away", "user.switched_here"]);

    // The one they are in, one there is, one there is not, and what is no tenant at all.
    assert_eq!(switch(&mut browser, "elsewhere").await.status, 409);
    for strange in ["third", "nowhere", "", "../default", "DEFAULT"] {
        assert_eq!(switch(&mut browser, strange).await.status, 404, "{strange}");
    }
    gate.verify().await;
}

#[tokio::test]
async fn after_the_switch_nothing_of_the_other_tenant_is_seen() {
    let gate = gate().await;
    let mut browser = linked(&gate).await;
    let invoke = "/api/v1/tools/core__get_current_time/invoke";
    let mine = browser.change("POST", invoke, Some(json!({ "input": {} }))).await;
    assert_eq!(mine.status, 200, "{}", mine.text);
    let call = format!("/api/v1/invocations/{}", text(&mine.json()["call_id"]));
    let thread = format!("/api/v1/sessions/{}", text(&mine.json()["session_id"]));
    assert_eq!(browser.get(&call).await.status, 200);
    switch(&mut browser, "default").await;
    for path in [call.as_str(), &thread, &format!("{thread}/events"), "/api/v1/tenants/elsewhere"] {
        assert_eq!(browser.get(path).await.status, 404, "{path}");
    }
    let list = browser.get("/api/v1/invocations").await.json();
    assert!(list["invocations"].as_array().unwrap().is_empty(), "{list}");
    let all = browser.get("/api/v1/auth/sign-ins").await.json();
    assert!(!all.to_string().contains("lovelace"), "{all}");
    assert_eq!(browser.get("/api/v1/me").await.json()["principal"], "user:ada");
    switch(&mut browser, "elsewhere").await;
    assert_eq!(browser.get(&call).await.status, 200, "and all of it is there again");
}

#[tokio::test]
async fn a_link_that_ends_ends_those_who_came_by_it() {
    let gate = gate().await;
    let mut browser = linked(&gate).await;
    switch(&mut browser, "default").await;
    let mut direct = signed_in(&gate, "default", "ada").await;
    let link = links(&gate, OTHER_TENANT).await.remove(0);
    let path = format!("/api/v1/tenant-links/{}", text(&link["id"]));
    assert_eq!(gate.send(Some(OTHER_TENANT), "DELETE", &path, None, &[]).await.0, 204);
    assert_eq!(who(&mut browser).await, "401");
    assert_eq!(switch(&mut browser, "elsewhere").await.status, 401, "not even back");
    assert_eq!(who(&mut direct).await, "default user:ada", "who signed in there stays");
    assert_eq!(switch(&mut direct, "elsewhere").await.status, 404);
}

#[tokio::test]
async fn who_is_switched_off_is_out_on_both_sides() {
    let gate = gate().await;
    let set = async |key, path: &str, disabled: bool| {
        let body = Some(json!({ "disabled": disabled }));
        assert_eq!(gate.send(Some(key), "PATCH", path, body, &[]).await.0, 200, "{path}");
    };
    let lovelace = (OTHER_TENANT, "/api/v1/principals/user:lovelace");
    for (key, path) in [lovelace, (ADMIN, "/api/v1/tenants/elsewhere")] {
        let mut away = linked(&gate).await;
        switch(&mut away, "default").await;
        let mut ada = signed_in(&gate, "default", "ada").await;
        set(key, path, true).await;
        // Another tenant's changes are seen within a second.
        let patience = tokio::time::Instant::now() + Duration::from_secs(10);
        while who(&mut away).await != "401" {
            assert!(tokio::time::Instant::now() < patience, "whoever came from {path} is still in");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(tenants(&mut ada).await, ["default current", "elsewhere closed"]);
        assert_eq!(switch(&mut ada, "elsewhere").await.status, 404, "{path}");
        set(key, path, false).await;
        assert_eq!(switch(&mut ada, "elsewhere").await.status, 200);
    }
}

#[tokio::test]
async fn switching_makes_no_sign_in_last_longer() {
    let gate = gate().await;
    let mut browser = linked(&gate).await;
    // The same sign-in as it would be six days and some hours later.
    let store = &gate.runner.parts().store;
    let hash = digest(browser.cookies[COOKIE].as_bytes());
    let (found, _) = store.sign_in_by_hash(&hash).await.unwrap().unwrap();
    let cookie = Secret::generate().unwrap();
    let week = Duration::from_secs(7 * 24 * 3600);
    let begun = Timestamp::from_micros(
        found.created_at.as_micros() - i64::try_from(week.as_micros()).unwrap() + 3_600_000_000,
    );
    let old = toolgate_core::principal::SignIn {
        id: toolgate_core::id::SignInId::generate(),
        hash: digest(cookie.reveal().as_bytes()),
        created_at: begun,
        ..found
    };
    store.put_sign_in(old).await.unwrap();
    browser.cookies.insert(COOKIE.into(), cookie.reveal().to_owned());
    browser.get(SESSION).await;
    for tenant in ["default", "elsewhere", "default"] {
        assert_eq!(switch(&mut browser, tenant).await.status, 200);
        let hash = digest(browser.cookies[COOKIE].as_bytes());
        let (now, _) = store.sign_in_by_hash(&hash).await.unwrap().unwrap();
        assert_eq!(now.created_at, begun);
        assert!(now.expires_at <= begun.plus(week), "not a moment longer than a week after the proof");
    }
}

#[tokio::test]
async fn a_lost_browser_is_ended_from_where_its_person_signed_in() {
    let gate = gate().await;
    let mut lost = linked(&gate).await;
    switch(&mut lost, "default").await;
    let mut lovelace = signed_in(&gate, "elsewhere", "lovelace").await;
    let all = lovelace.get("/api/v1/auth/sign-ins").await.json();
    let other =
        all["sign_ins"].as_array().unwrap().iter().find(|one| one["current"] == false).unwrap().clone();
    let path = format!("/api/v1/auth/sign-ins/{}", text(&other["id"]));
    assert_eq!(lovelace.change("DELETE", &path, None).await.status, 204);
    assert_eq!(who(&mut lost).await, "401");
    assert_eq!(who(&mut lovelace).await, "elsewhere user:lovelace");
}

/// Ends all sign-ins of someone of the default tenant, as a new password does.
fn shut_out(gate: &TestGate, login: &str) -> impl Future<Output = ()> + Send + use<> {
    let (store, user) = (std::sync::Arc::clone(gate.app.store()), format!("user:{login}").parse().unwrap());
    async move {
        store.end_sign_ins(&TenantId::default_tenant(), &user, EndSignIns::All).await.unwrap();
    }
}

#[tokio::test]
async fn who_is_shut_out_while_they_switch_home_is_out() {
    let gate = gate().await;
    // Ada signed in at home and went to Lovelace's.
    drop(linked(&gate).await);
    let mut ada = signed_in(&gate, "default", "ada").await;
    assert_eq!(switch(&mut ada, "elsewhere").await.status, 200);
    gate.losing.before_next_sign_in(shut_out(&gate, "ada"));
    assert_eq!(switch(&mut ada, "default").await.status, 401);
    assert_eq!(who(&mut ada).await, "401");
    let user = "user:ada".parse().unwrap();
    assert_eq!(gate.app.store().sign_ins(&TenantId::default_tenant(), &user).await.unwrap(), []);
}

#[tokio::test]
async fn an_old_password_does_not_let_in_whoever_was_already_at_the_door() {
    let gate = gate().await;
    let tenant = TenantId::default_tenant();
    let user: toolgate_core::id::PrincipalId = "user:ada".parse().unwrap();
    let ended = shut_out(&gate, "ada");
    let store = std::sync::Arc::clone(gate.app.store());
    let another = "$argon2id$v=19$m=19456,t=2,p=1$dG9vbGdhdGUgbm9ib2R5IQ$\
                   AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let write = Write::SetPassword { principal: user.clone(), hash: Some(another.to_owned()) };
    let change =
        AdminChange::new(tenant.clone(), user.clone(), Timestamp::from_micros(1), &json!({}), vec![write]);
    gate.losing.before_next_sign_in(async move {
        store.change(change).await.unwrap();
        ended.await;
    });
    let mut browser = Browser::new(&gate);
    assert_ne!(sign_in_to(&mut browser, "default", "ada").await.status, 303);
    assert_eq!(who(&mut browser).await, "401");
    assert_eq!(gate.app.store().sign_ins(&tenant, &user).await.unwrap(), []);
}
