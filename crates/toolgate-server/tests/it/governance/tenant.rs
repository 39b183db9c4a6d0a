use serde_json::json;

use super::code;
use crate::gate::{ADMIN, AGENT, OTHER_TENANT, OTHER_USER, TestGate};

#[tokio::test]
async fn a_tenant_is_made_entered_renamed_and_switched_off() {
    let gate = TestGate::start().await;
    let (status, made) = gate.post("/api/v1/tenants", json!({ "id": "acme", "title": "Acme & Söhne" })).await;
    assert_eq!(status, 201, "{made}");
    assert_eq!(made["tenant"]["title"], "Acme & Söhne");
    let key = made["admin_key"].as_str().unwrap();
    assert!(key.starts_with("tgk_") && key.len() == 68);

    // Its first administrator gets in and manages it, and it alone.
    let (_, me) = gate.get_as(key, "/api/v1/me").await;
    assert_eq!(
        (&me["tenant"], &me["principal"], &me["rules"]),
        (&json!("acme"), &json!("user:admin"), &json!(["*"]))
    );
    assert_eq!(gate.get_as(key, "/api/v1/principals").await.1["principals"].as_array().unwrap().len(), 1);
    let (status, changed) = gate.get_as(key, "/api/v1/tenants/default").await;
    assert_eq!((status, code(&changed)), (404, "not_found"));

    // The making of it is in its own record, by the operator, without the key.
    let record = gate.changes(key).await;
    assert_eq!(record.len(), 1);
    assert_eq!(record[0]["data"]["action"], "tenant.created");
    assert_eq!(record[0]["actor"], "user:admin");
    assert!(!record[0].to_string().contains(key));

    let (status, again) = gate.post("/api/v1/tenants", json!({ "id": "acme" })).await;
    assert_eq!((status, code(&again)), (409, "conflict"));
    assert!(gate.works(key).await, "the refused second making changed nothing");

    let (_, renamed) = gate.patch("/api/v1/tenants/acme", json!({ "title": "Acme" })).await;
    assert_eq!((&renamed["title"], &renamed["disabled"]), (&json!("Acme"), &json!(false)));
    let (_, off) = gate.patch("/api/v1/tenants/acme", json!({ "disabled": true })).await;
    assert_eq!((&off["title"], &off["disabled"]), (&json!("Acme"), &json!(true)));
    assert!(!gate.works(key).await, "nobody gets in");
    gate.patch("/api/v1/tenants/acme", json!({ "disabled": false })).await;
    assert!(gate.works(key).await);
    gate.verify().await;
}

#[tokio::test]
async fn the_default_tenant_stays_on() {
    let gate = TestGate::start().await;
    let (status, body) = gate.patch("/api/v1/tenants/default", json!({ "disabled": true })).await;
    assert_eq!((status, code(&body)), (409, "conflict"));
    assert!(gate.works(ADMIN).await);
}

#[tokio::test]
async fn others_see_their_own_tenant_and_nothing_else() {
    let gate = TestGate::start().await;
    for key in [OTHER_TENANT, OTHER_USER] {
        for (method, path, body) in [
            ("GET", "/api/v1/tenants", None),
            ("POST", "/api/v1/tenants", Some(json!({ "id": "mine" }))),
            ("PATCH", "/api/v1/tenants/elsewhere", Some(json!({ "title": "x" }))),
            ("PATCH", "/api/v1/tenants/default", Some(json!({ "title": "x" }))),
            ("GET", "/api/v1/tenants/no-such", None),
        ] {
            let (status, answer) = gate.send(Some(key), method, path, body, &[]).await;
            assert_eq!((status, code(&answer)), (404, "not_found"), "{method} {path}");
        }
    }
    assert_eq!(gate.get_as(OTHER_TENANT, "/api/v1/tenants/elsewhere").await.0, 200);
    assert_eq!(gate.get_as(OTHER_TENANT, "/api/v1/tenants/default").await.0, 404);
    assert_eq!(gate.get_as(OTHER_USER, "/api/v1/tenants/default").await.0, 200);
    assert_eq!(gate.get_as(OTHER_USER, "/api/v1/tenants/elsewhere").await.0, 404);
}

#[tokio::test]
async fn tenants_come_in_pages_and_bad_ones_not_at_all() {
    let gate = TestGate::start().await;
    for id in ["a1", "a2", "a3"] {
        assert_eq!(gate.post("/api/v1/tenants", json!({ "id": id })).await.0, 201);
    }
    let (_, first) = gate.get("/api/v1/tenants?limit=2").await;
    assert_eq!(first["next_cursor"], "a2");
    let (_, rest) = gate.get("/api/v1/tenants?limit=9&cursor=a2").await;
    let ids: Vec<&str> =
        rest["tenants"].as_array().unwrap().iter().map(|tenant| tenant["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["a3", "default", "elsewhere"]);
    for bad in [
        json!({ "id": "No Slug" }),
        json!({ "id": "" }),
        json!({ "id": "x".repeat(64) }),
        json!({ "id": "ok", "title": "a\nb" }),
        json!({ "id": "ok", "title": "x".repeat(121) }),
        json!({ "id": "ok", "extra": 1 }),
        json!({}),
    ] {
        let (status, answer) = gate.post("/api/v1/tenants", bad.clone()).await;
        assert_eq!((status, code(&answer)), (400, "bad_request"), "{bad}");
    }
    assert_eq!(gate.get("/api/v1/tenants/ok").await.0, 404);
}

#[tokio::test]
async fn a_tenant_whose_keys_are_lost_is_let_in_again() {
    let gate = TestGate::start().await;
    let (_, made) = gate.post("/api/v1/tenants", json!({ "id": "acme" })).await;
    let lost = made["admin_key"].as_str().unwrap();
    // Another administrator takes everything from the first one and loses the own key, too.
    let chief = json!({ "id": "user:chief", "title": "Chief", "roles": ["admin"] });
    assert_eq!(gate.post_as(lost, "/api/v1/principals", chief).await.0, 201);
    let (_, key) =
        gate.post_as(lost, "/api/v1/keys", json!({ "principal": "user:chief", "label": "x" })).await;
    let chief = key["secret"].as_str().unwrap();
    let nothing = json!({ "roles": ["member"], "disabled": true });
    let path = "/api/v1/principals/user:admin";
    assert_eq!(gate.send(Some(chief), "PATCH", path, Some(nothing), &[]).await.0, 200);
    assert!(!gate.works(lost).await);

    let recover = "/api/v1/tenants/acme/recover";
    let (status, recovered) = gate.post(recover, json!({})).await;
    assert_eq!((status, &recovered["tenant"]["id"]), (201, &json!("acme")), "{recovered}");
    let key = recovered["admin_key"].as_str().unwrap();
    let (_, me) = gate.get_as(key, "/api/v1/me").await;
    assert_eq!(
        (&me["tenant"], &me["principal"], &me["rules"], &me["roles"]),
        (&json!("acme"), &json!("user:admin"), &json!(["*"]), &json!(["admin", "member"]))
    );
    assert!(gate.works(chief).await && gate.works(lost).await, "earlier keys go on working");

    // It is in the tenant's own record, by the operator, without the key.
    let record = gate.changes(key).await;
    let last = record.last().unwrap();
    assert_eq!(
        (&last["data"]["action"], &last["data"]["by_tenant"], &last["data"]["principal"]),
        (&json!("tenant.recovered"), &json!("default"), &json!("user:admin"))
    );
    assert!(!last.to_string().contains(key));
    gate.verify().await;

    // A tenant without a `user:admin` gets one; one that is switched off stays so.
    gate.patch("/api/v1/tenants/elsewhere", json!({ "disabled": true })).await;
    let (_, recovered) = gate.post("/api/v1/tenants/elsewhere/recover", json!({})).await;
    assert_eq!(recovered["tenant"]["disabled"], true);
    let key = recovered["admin_key"].as_str().unwrap();
    assert!(!gate.works(key).await);
    gate.patch("/api/v1/tenants/elsewhere", json!({ "disabled": false })).await;
    assert!(gate.works(key).await);
}

#[tokio::test]
async fn only_who_runs_the_server_recovers_a_tenant_and_never_the_default_one() {
    let gate = TestGate::start().await;
    let narrowed = gate.mint(json!({ "label": "keys alone", "scopes": ["manage:keys"] })).await.1;
    for key in [OTHER_TENANT, OTHER_USER, AGENT, narrowed.as_str()] {
        for id in ["elsewhere", "default", "no-such", "NO SUCH"] {
            let (status, answer) =
                gate.post_as(key, &format!("/api/v1/tenants/{id}/recover"), json!({})).await;
            assert_eq!((status, code(&answer)), (404, "not_found"), "{id}");
        }
    }
    let (status, refused) = gate.post("/api/v1/tenants/default/recover", json!({})).await;
    assert_eq!((status, code(&refused)), (409, "conflict"));
    assert_eq!(gate.post("/api/v1/tenants/no-such/recover", json!({})).await.0, 404);
}
