//! Passwords: what is answered, what it costs, and changing one.

use std::time::Duration;

use serde_json::json;
use toolgate_core::administration::{AdminChange, Write};

use super::{SESSION, add_user, gate, now, switch_off};
use crate::browser::{Browser, PASSWORD};

#[tokio::test]
async fn whatever_is_wrong_the_answer_is_the_same() {
    let gate = gate().await;
    add_user(&gate, "gone", &[]).await;
    switch_off(&gate, "gone").await;
    let mut answers = Vec::new();
    for body in [
        json!({ "login": "ada", "password": "wrong horse battery staple" }),
        json!({ "login": "nobody", "password": PASSWORD }),
        json!({ "login": "not a login", "password": PASSWORD }),
        json!({ "login": "other", "password": PASSWORD }),
        json!({ "login": "gone", "password": PASSWORD }),
        json!({ "login": "ada", "password": PASSWORD, "tenant": "elsewhere" }),
        json!({ "login": "ada", "password": PASSWORD, "tenant": "no-such" }),
        json!({ "login": "ada", "password": PASSWORD, "tenant": "NOT A TENANT" }),
        json!({ "login": "ada", "password": "" }),
        json!({ "login": "ada", "password": "x".repeat(100_000) }),
    ] {
        let answer = Browser::new(&gate).send("POST", "/api/v1/auth/sign-in", Some(body), &[]).await;
        assert!(!answer.headers.contains_key("set-cookie"));
        answers.push((answer.status, answer.json()));
    }
    answers.dedup();
    insta::assert_json_snapshot!(answers, @r#"
    [
      [
        401,
        {
          "error": {
            "code": "unauthenticated",
            "message": "the login or the password is not right",
            "hint": "try again; whoever manages users can make you a link to choose a new password"
          }
        }
      ]
    ]
    "#);
}

/// Roughly: an unknown user is not answered much sooner than a wrong password.
#[tokio::test]
async fn an_unknown_user_costs_what_a_wrong_password_costs() {
    let gate = gate().await;
    let fastest = async |logins: [&str; 5]| {
        let mut fastest = Duration::MAX;
        for login in logins {
            let began = std::time::Instant::now();
            Browser::new(&gate).sign_in(login, "wrong horse battery staple").await;
            fastest = fastest.min(began.elapsed());
        }
        fastest
    };
    let known = fastest(["ada", "bob", "ada", "bob", "ada"]).await;
    let unknown = fastest(["eve", "mallory", "trent", "oscar", "peggy"]).await;
    assert!(unknown * 3 > known, "unknown {unknown:?}, known {known:?}");
}

#[tokio::test]
async fn a_new_password_ends_all_other_sign_ins() {
    let gate = gate().await;
    let mut here = Browser::signed_in(&gate, "ada").await;
    let mut there = Browser::signed_in(&gate, "ada").await;
    let mut bob = Browser::signed_in(&gate, "bob").await;
    let new = "another horse battery staple";
    let change = |current: &str, new: &str| Some(json!({ "current": current, "new": new }));
    let wrong = here.change("POST", "/api/v1/auth/password", change("wrong wrong wrong", new)).await;
    assert_eq!((wrong.status, wrong.code().as_str()), (401, "unauthenticated"));
    for weak in ["short", "ada", "passwordpassword"] {
        let weak = here.change("POST", "/api/v1/auth/password", change(PASSWORD, weak)).await;
        assert_eq!((weak.status, weak.code().as_str()), (400, "bad_request"), "{}", weak.text);
    }
    assert_eq!(there.get(SESSION).await.status, 200, "nothing has changed yet");
    let done = here.change("POST", "/api/v1/auth/password", change(PASSWORD, new)).await;
    assert_eq!(done.status, 204, "{}", done.text);
    assert_eq!(here.get(SESSION).await.status, 200);
    assert_eq!(there.get(SESSION).await.status, 401);
    assert_eq!(bob.get(SESSION).await.status, 200);
    assert_eq!(there.sign_in("ada", PASSWORD).await.status, 401);
    assert_eq!(there.sign_in("ada", new).await.status, 200);
    gate.verify().await;
}

/// A password kept in a weaker form than is made today (1 MiB, one pass).
const WEAK: &str =
    "$argon2id$v=19$m=1024,t=1,p=1$AQEBAQEBAQEBAQEBAQEBAQ$SPfiCWy6PCQhtKWK06vJFPxOQFGIqGdEQpvyJxix65s";

#[tokio::test]
async fn a_password_kept_in_a_weaker_form_is_kept_in_todays_from_then_on() {
    let gate = gate().await;
    let store = &gate.runner.parts().store;
    let (tenant, ada) = ("default".parse().unwrap(), "user:ada".parse().unwrap());
    let write = Write::SetPassword { principal: "user:ada".parse().unwrap(), hash: Some(WEAK.into()) };
    let by = "service:test".parse().unwrap();
    let tenant_id: toolgate_core::id::TenantId = tenant;
    let change =
        AdminChange::new(tenant_id.clone(), by, now(&gate), &json!({ "action": "test" }), vec![write]);
    store.change(change).await.unwrap();
    assert_eq!(Browser::new(&gate).sign_in("ada", "wrong horse battery staple").await.status, 401);
    assert_eq!(store.password(&tenant_id, &ada).await.unwrap().as_deref(), Some(WEAK));
    Browser::signed_in(&gate, "ada").await;
    let kept = store.password(&tenant_id, &ada).await.unwrap().unwrap();
    assert!(kept.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{kept}");
    Browser::signed_in(&gate, "ada").await;
}
