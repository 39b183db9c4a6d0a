use std::time::Duration;

use serde_json::json;
use toolgate_core::id::{PrincipalId, SignInId, TenantId};
use toolgate_core::principal::SignIn;

use super::code;
use crate::gate::{ADMIN, AGENT, OTHER_USER, TestGate};

#[tokio::test]
async fn a_principal_is_made_read_changed_and_switched_off() {
    let gate = TestGate::start().await;
    let body = json!({
        "id": "agent:reader", "title": "Reader", "roles": ["member"], "rules": ["crm.contacts.read"],
        "acts_for": ["user:*"],
    });
    let (status, made) = gate.post("/api/v1/principals", body.clone()).await;
    assert_eq!(status, 201, "{made}");
    assert_eq!((&made["kind"], &made["acts_for"]), (&json!("agent"), &json!(["user:*"])));
    let (status, again) = gate.post("/api/v1/principals", body).await;
    assert_eq!((status, code(&again)), (409, "conflict"));

    let path = "/api/v1/principals/agent:reader";
    assert_eq!(gate.get(path).await.1, made);
    let (_, changed) = gate.patch(path, json!({ "title": "Reads", "rules": [] })).await;
    assert_eq!((&changed["title"], &changed["rules"]), (&json!("Reads"), &json!([])));
    assert_eq!(changed["roles"], json!(["member"]), "what is left out stays");

    let (_, key) = gate.mint(json!({ "principal": "agent:reader", "label": "first" })).await;
    assert!(gate.works(&key).await);
    let (_, off) = gate.patch(path, json!({ "disabled": true })).await;
    assert_eq!(off["disabled"], true);
    assert!(!gate.works(&key).await, "the next call fails");
    let (status, refused) =
        gate.post("/api/v1/keys", json!({ "principal": "agent:reader", "label": "x" })).await;
    assert_eq!((status, code(&refused)), (409, "conflict"));
    gate.patch(path, json!({ "disabled": false })).await;
    assert!(gate.works(&key).await);
    gate.verify().await;
}

#[tokio::test]
async fn switching_a_user_off_ends_their_sign_ins() {
    let gate = TestGate::start().await;
    let store = &gate.runner.parts().store;
    let (tenant, user): (TenantId, PrincipalId) = ("default".parse().unwrap(), "user:other".parse().unwrap());
    let now = gate.runner.parts().clock.now();
    let sign_in = SignIn {
        id: SignInId::generate(),
        hash: [7; 32],
        tenant: tenant.clone(),
        principal: user.clone(),
        method: "password".into(),
        user_agent: "a browser".into(),
        created_at: now,
        last_seen_at: now,
        expires_at: now.plus(Duration::from_secs(3600)),
        switched: None,
    };
    store.put_sign_in(sign_in).await.unwrap();
    gate.patch("/api/v1/principals/user:other", json!({ "title": "still in" })).await;
    assert_eq!(store.sign_ins(&tenant, &user).await.unwrap().len(), 1);
    gate.patch("/api/v1/principals/user:other", json!({ "disabled": true })).await;
    gate.patch("/api/v1/principals/user:other", json!({ "disabled": false })).await;
    assert!(store.sign_ins(&tenant, &user).await.unwrap().is_empty(), "and none comes back");
}

#[tokio::test]
async fn rules_of_roles_are_in_force_at_once() {
    let gate = TestGate::start().await;
    let rules = async || gate.get_as(OTHER_USER, "/api/v1/me").await.1["rules"].clone();
    gate.put("/api/v1/roles/sales", json!({ "rules": ["crm.contacts.read"] })).await;
    gate.patch("/api/v1/principals/user:other", json!({ "roles": ["sales"] })).await;
    assert_eq!(rules().await, json!(["crm.contacts.read", "plain.thing.read"]));
    gate.put("/api/v1/roles/sales", json!({ "rules": [] })).await;
    assert_eq!(rules().await, json!(["plain.thing.read"]));
}

#[tokio::test]
async fn one_may_read_oneself_and_no_one_else() {
    let gate = TestGate::start().await;
    assert_eq!(gate.get_as(OTHER_USER, "/api/v1/principals/user:other").await.0, 200);
    let (status, others) = gate.get_as(OTHER_USER, "/api/v1/principals/user:admin").await;
    let (_, nobody) = gate.get_as(OTHER_USER, "/api/v1/principals/user:nobody").await;
    assert_eq!((status, code(&others)), (403, "forbidden"));
    assert_eq!(others, nobody, "who there is, is not told");
    assert!(others["error"]["details"]["rule"].is_string() && others["error"]["hint"].is_string());
    for key in [OTHER_USER, AGENT] {
        assert_eq!(gate.get_as(key, "/api/v1/principals").await.0, 403);
        let (status, _) = gate
            .send(Some(key), "PATCH", "/api/v1/principals/user:other", Some(json!({ "title": "x" })), &[])
            .await;
        assert_eq!(status, 403);
    }
}

#[tokio::test]
async fn principals_come_by_kind_and_in_pages() {
    let gate = TestGate::start().await;
    for id in ["user:a", "user:b", "service:ci", "agent:b"] {
        assert_eq!(gate.post("/api/v1/principals", json!({ "id": id })).await.0, 201);
    }
    let ids = async |query: &str| {
        let (_, page) = gate.get(&format!("/api/v1/principals{query}")).await;
        let ids =
            page["principals"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned());
        (ids.collect::<Vec<_>>(), page["next_cursor"].clone())
    };
    assert_eq!(ids("?kind=agent").await.0, ["agent:b", "agent:helper"]);
    assert_eq!(ids("?kind=service").await.0, ["service:ci"]);
    let (first, next) = ids("?kind=user&limit=2").await;
    assert_eq!((first, next), (vec!["user:a".to_owned(), "user:admin".to_owned()], json!("user:admin")));
    assert_eq!(ids("?kind=user&cursor=user:admin").await.0, ["user:b", "user:other"]);
    for bad in ["?kind=robot", "?limit=0", "?cursor=x", "?extra=1"] {
        assert_eq!(gate.get(&format!("/api/v1/principals{bad}")).await.0, 400, "{bad}");
    }
}

#[tokio::test]
async fn bad_principals_are_refused() {
    let gate = TestGate::start().await;
    for (bad, says) in [
        (json!({ "id": "root:x" }), "principal"),
        (json!({ "id": "user:x", "roles": ["no-such"] }), "no-such"),
        (json!({ "id": "user:x", "roles": ["Not A Slug"] }), "roles"),
        (json!({ "id": "user:x", "rules": ["a b"] }), "access rule"),
        (json!({ "id": "user:x", "acts_for": ["user:y"] }), "works for nobody"),
        (json!({ "id": "agent:x", "acts_for": ["a*b"] }), "acts_for"),
        (json!({ "id": "user:x", "title": "a\u{0}b" }), "title"),
        (json!({ "id": "user:x", "title": "é".repeat(121) }), "title"),
        (
            json!({ "id": "user:x", "rules": (0..101).map(|n| format!("a.b.r{n}")).collect::<Vec<_>>() }),
            "rules",
        ),
        (json!({ "id": "user:x", "admin": true }), "admin"),
    ] {
        let (status, answer) = gate.post("/api/v1/principals", bad.clone()).await;
        assert_eq!((status, code(&answer)), (400, "bad_request"), "{bad}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(says), "{bad}: {answer}");
    }
    assert_eq!(gate.get("/api/v1/principals/user:x").await.0, 404);
    let (status, answer) = gate.patch("/api/v1/principals/user:nobody", json!({ "title": "x" })).await;
    assert_eq!((status, code(&answer)), (404, "not_found"));
}

#[tokio::test]
async fn the_last_administrator_stays_one() {
    let gate = TestGate::start().await;
    let path = "/api/v1/principals/user:admin";
    for wish in [
        json!({ "disabled": true }),
        json!({ "roles": [], "rules": [] }),
        json!({ "roles": ["member"], "rules": [] }),
    ] {
        let (status, answer) = gate.patch(path, wish.clone()).await;
        assert_eq!((status, code(&answer)), (409, "conflict"), "{wish}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("administrator"));
    }
    // A service with all rules is no person who could help.
    gate.person("service:robot", &[], &["*"]).await;
    assert_eq!(gate.patch(path, json!({ "disabled": true })).await.0, 409);
    // A second administrator is; but not through a role that is then taken away.
    gate.put("/api/v1/roles/boss", json!({ "rules": ["*"] })).await;
    let second = gate.person("user:second", &["boss"], &[]).await;
    let (status, first) = gate.patch(path, json!({ "roles": ["member"], "rules": [] })).await;
    assert_eq!(status, 200, "{first}");
    for (method, body) in [("DELETE", None), ("PUT", Some(json!({ "rules": [] })))] {
        let (status, answer) = gate.send(Some(&second), method, "/api/v1/roles/boss", body, &[]).await;
        assert_eq!((status, code(&answer)), (409, "conflict"), "{method}");
    }
    assert_eq!(gate.get_as(ADMIN, "/api/v1/principals").await.0, 403, "the first is none any more");
    assert_eq!(gate.get_as(&second, "/api/v1/principals").await.0, 200);
}

#[tokio::test]
async fn two_administrators_can_not_demote_each_other_at_once() {
    let gate = TestGate::start().await;
    let second = gate.person("user:second", &["admin"], &[]).await;
    let off = || Some(json!({ "disabled": true }));
    let (one, other) = tokio::join!(
        gate.send(Some(ADMIN), "PATCH", "/api/v1/principals/user:second", off(), &[]),
        gate.send(Some(&second), "PATCH", "/api/v1/principals/user:admin", off(), &[]),
    );
    let done = [one.0, other.0].iter().filter(|status| **status == 200).count();
    assert!(done <= 1, "{one:?} {other:?}");
    assert!(gate.works(ADMIN).await || gate.works(&second).await);
}
