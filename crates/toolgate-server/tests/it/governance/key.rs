use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::code;
use crate::gate::{ADMIN, NewCaller, OTHER_TENANT, OTHER_USER, TestGate};

#[tokio::test]
async fn a_key_is_shown_once_and_never_again() {
    let gate = TestGate::start().await;
    let body =
        json!({ "principal": "agent:helper", "label": "laptop", "scopes": ["tool:core__*", "effect:read"] });
    let (id, secret) = gate.mint(body).await;
    assert!(secret.starts_with("tgk_") && secret.len() == 68);
    let (_, me) = gate.get_as(&secret, "/api/v1/me").await;
    assert_eq!(me["principal"], "agent:helper");

    let (_, shown) = gate.get(&format!("/api/v1/keys/{id}")).await;
    assert_eq!((&shown["status"], &shown["created_by"]), (&json!("active"), &json!("user:admin")));
    assert_eq!(shown["scopes"], json!(["tool:core__*", "effect:read"]));
    let (_, list) = gate.get("/api/v1/keys").await;
    assert!(list.to_string().contains(&id));
    let export = gate.changes(ADMIN).await;
    let hash = toolgate_core::json::to_hex(&toolgate_app::hash_key(&secret));
    for text in [shown.to_string(), list.to_string(), json!(export).to_string()] {
        assert!(!text.contains(&secret) && !text.contains(&secret[4..]) && !text.contains(&hash));
        assert!(!text.contains("\"hash\":["), "no hash of a key");
    }
}

#[tokio::test]
async fn a_narrowed_key_does_only_what_it_says() {
    let gate = TestGate::permissive().await;
    let (_, key) = gate.mint(json!({ "label": "reads", "scopes": ["tool:core__*"] })).await;
    assert_eq!(gate.invoke_as(&key, "core__get_current_time", json!({})).await.0, 200);
    let (status, other) = gate.invoke_as(&key, "fixture__misbehave", json!({ "how": "nothing" })).await;
    assert!(matches!(status, 403 | 404), "{other}");
    assert_eq!(gate.get_as(&key, "/api/v1/principals").await.0, 403);
    assert_eq!(gate.get_as(&key, "/api/v1/keys").await.0, 403, "not even its own keys");
}

#[tokio::test]
async fn a_revoked_key_is_dead_at_once() {
    let gate = TestGate::start().await;
    let (id, key) = gate.mint(json!({ "label": "short-lived" })).await;
    for _ in 0..3 {
        assert!(gate.works(&key).await);
    }
    let (status, revoked) = gate.delete(&format!("/api/v1/keys/{id}")).await;
    assert_eq!((status, &revoked["status"]), (200, &json!("revoked")));
    assert!(!gate.works(&key).await);
    let (status, again) = gate.delete(&format!("/api/v1/keys/{id}")).await;
    assert_eq!(
        (status, &again["revoked_at"]),
        (200, &revoked["revoked_at"]),
        "revoking it again changes nothing"
    );
    let (status, answer) = gate.post(&format!("/api/v1/keys/{id}/rotate"), json!({})).await;
    assert_eq!((status, code(&answer)), (409, "conflict"), "a dead key does not come back");
}

#[tokio::test]
async fn an_expired_key_is_dead_on_time() {
    let gate = TestGate::start().await;
    let began = Instant::now();
    let (id, key) = gate.mint(json!({ "label": "a second", "expires_in_seconds": 1 })).await;
    assert!(gate.works(&key).await || began.elapsed() > Duration::from_secs(1));
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    assert!(!gate.works(&key).await);
    assert_eq!(gate.get(&format!("/api/v1/keys/{id}")).await.1["status"], "expired");
    let (status, _) = gate.post(&format!("/api/v1/keys/{id}/rotate"), json!({})).await;
    assert_eq!(status, 409);
}

#[tokio::test]
async fn a_rotated_key_gives_way_to_the_new_one() {
    let gate = TestGate::start().await;
    let body = json!({ "principal": "agent:helper", "label": "bot", "scopes": ["tool:core__*"], "expires_in_seconds": 3600 });
    let (id, old) = gate.mint(body).await;
    assert!(gate.works(&old).await);
    let (_, before) = gate.get(&format!("/api/v1/keys/{id}")).await;
    let (status, made) =
        gate.send(Some(ADMIN), "POST", &format!("/api/v1/keys/{id}/rotate"), None, &[]).await;
    assert_eq!(status, 201, "{made}");
    let new = made["secret"].as_str().unwrap();
    assert!(new != old && gate.works(new).await && !gate.works(&old).await);
    for same in ["principal", "label", "scopes", "expires_at"] {
        assert_eq!(made["key"][same], before[same], "{same}");
    }

    let path = format!("/api/v1/keys/{}/rotate", made["key"]["id"].as_str().unwrap());
    let (_, next) = gate.post(&path, json!({ "overlap_seconds": 1 })).await;
    let newest = next["secret"].as_str().unwrap();
    assert!(gate.works(new).await && gate.works(newest).await, "both for a while");
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    assert!(!gate.works(new).await && gate.works(newest).await);
    let path = format!("/api/v1/keys/{}/rotate", next["key"]["id"].as_str().unwrap());
    let (status, answer) = gate.post(&path, json!({ "overlap_seconds": 604_801 })).await;
    assert_eq!((status, code(&answer)), (400, "bad_request"));
}

#[tokio::test]
async fn a_key_is_rotated_once_and_its_line_ends_with_it() {
    let gate = TestGate::start().await;
    let rotate = async |id: &str, overlap: u64| {
        gate.post(&format!("/api/v1/keys/{id}/rotate"), json!({ "overlap_seconds": overlap })).await
    };
    let new = |answer: &Value| {
        let id = answer["key"]["id"].as_str().unwrap().to_owned();
        (id, answer["secret"].as_str().unwrap().to_owned())
    };
    let (first, first_key) = gate.mint(json!({ "principal": "agent:helper", "label": "bot" })).await;
    let (_, answer) = rotate(&first, 3600).await;
    assert_eq!(answer["key"]["replaces"], json!(first));
    let (second, second_key) = new(&answer);
    let (status, again) = rotate(&first, 3600).await;
    assert_eq!((status, code(&again)), (409, "conflict"), "{again}");
    assert!(again["error"]["message"].as_str().unwrap().contains("rotated before"), "{again}");
    assert_eq!(again["error"]["hint"], "look again at how it stands now, then decide");
    let (_, answer) = rotate(&second, 0).await;
    let (third, third_key) = new(&answer);
    let (alone, alone_key) = gate.mint(json!({ "principal": "agent:helper", "label": "another" })).await;
    assert!(gate.works(&first_key).await && !gate.works(&second_key).await && gate.works(&third_key).await);

    // The second is over already; what came from it is not.
    let (status, revoked) = gate.delete(&format!("/api/v1/keys/{second}")).await;
    assert_eq!((status, &revoked["status"]), (200, &json!("revoked")));
    assert!(gate.works(&first_key).await && !gate.works(&third_key).await && gate.works(&alone_key).await);
    let changes = gate.changes(ADMIN).await;
    assert_eq!(changes.last().unwrap()["data"]["and_from_it"], json!([third]));
    assert_eq!(gate.delete(&format!("/api/v1/keys/{second}")).await.1, revoked, "once more changes nothing");
    assert_eq!(gate.changes(ADMIN).await.len(), changes.len());

    let (_, answer) = rotate(&alone, 3600).await;
    let (_, heir) = new(&answer);
    gate.delete(&format!("/api/v1/keys/{alone}")).await;
    assert!(!gate.works(&alone_key).await && !gate.works(&heir).await, "all of the line");
    gate.verify().await;
}

#[tokio::test]
async fn many_rotations_of_one_key_at_once_make_one_key() {
    let gate = TestGate::start().await;
    let (id, key) = gate.mint(json!({ "principal": "agent:helper", "label": "bot" })).await;
    let path = format!("/api/v1/keys/{id}/rotate");
    let tries = (0..8).map(|_| async { gate.post_as(&key, &path, json!({ "overlap_seconds": 60 })).await.0 });
    let mut statuses = futures::future::join_all(tries).await;
    statuses.sort_unstable();
    // Those who come late find a key that was rotated, or one that ends too soon to make another.
    assert!(
        statuses[0] == 201 && statuses[1..].iter().all(|status| [403, 409].contains(status)),
        "{statuses:?}"
    );
}

#[tokio::test]
async fn a_machine_keeps_its_own_old_key_for_an_hour_at_most() {
    let gate = TestGate::start().await;
    let (id, key) = gate.mint(json!({ "principal": "agent:helper", "label": "bot" })).await;
    let path = format!("/api/v1/keys/{id}/rotate");
    let (status, answer) = gate.post_as(&key, &path, json!({ "overlap_seconds": 3601 })).await;
    assert_eq!((status, code(&answer)), (400, "bad_request"), "{answer}");
    let (status, made) = gate.post_as(&key, &path, json!({ "overlap_seconds": 3600 })).await;
    assert_eq!(status, 201, "{made}");
    // The old one is ending: it makes nothing that outlives it.
    let path = format!("/api/v1/keys/{}/rotate", made["key"]["id"].as_str().unwrap());
    assert_eq!(gate.post_as(&key, &path, json!({})).await.0, 403);
    assert_eq!(gate.post(&path, json!({ "overlap_seconds": 604_800 })).await.0, 201, "its manager may");
    let (status, own) = gate.post_as(OTHER_USER, "/api/v1/keys", json!({ "label": "mine" })).await;
    assert_eq!(status, 201);
    let path = format!("/api/v1/keys/{}/rotate", own["key"]["id"].as_str().unwrap());
    let (status, _) = gate.post_as(OTHER_USER, &path, json!({ "overlap_seconds": 604_800 })).await;
    assert_eq!(status, 201, "and so may a person");
}

#[tokio::test]
async fn own_keys_need_no_leave_and_others_do() {
    let gate = TestGate::start().await;
    let (status, made) = gate.post_as(OTHER_USER, "/api/v1/keys", json!({ "label": "mine" })).await;
    assert_eq!((status, &made["key"]["principal"]), (201, &json!("user:other")));
    let own = format!("/api/v1/keys/{}", made["key"]["id"].as_str().unwrap());
    assert_eq!(gate.get_as(OTHER_USER, &own).await.0, 200);
    let (_, list) = gate.get_as(OTHER_USER, "/api/v1/keys").await;
    assert!(list["keys"].as_array().unwrap().iter().all(|key| key["principal"] == "user:other"), "{list}");

    let (id, _) = gate.mint(json!({ "label": "the administrator's" })).await;
    for (method, path, body) in [
        ("GET", format!("/api/v1/keys/{id}"), None),
        ("DELETE", format!("/api/v1/keys/{id}"), None),
        ("POST", format!("/api/v1/keys/{id}/rotate"), Some(json!({}))),
        ("POST", "/api/v1/keys".to_owned(), Some(json!({ "principal": "user:admin", "label": "x" }))),
        ("POST", "/api/v1/keys".to_owned(), Some(json!({ "principal": "agent:helper", "label": "x" }))),
        ("POST", "/api/v1/keys".to_owned(), Some(json!({ "principal": "agent:no-such", "label": "x" }))),
    ] {
        let (status, answer) = gate.send(Some(OTHER_USER), method, &path, body, &[]).await;
        assert_eq!((status, code(&answer)), (403, "forbidden"), "{method} {path}: {answer}");
    }
    let (_, others) = gate.get_as(OTHER_USER, "/api/v1/keys?principal=user:admin").await;
    assert_eq!(others["keys"], json!([]));
    let unknown = "/api/v1/keys/key_00000000000000000000000000000000";
    assert_eq!(gate.get_as(OTHER_USER, unknown).await.0, 403, "as for a key that is there");
    assert_eq!(gate.get(unknown).await.0, 404);
    assert_eq!(gate.get_as(OTHER_TENANT, &own).await.0, 404);
    assert_eq!(gate.send(Some(OTHER_USER), "DELETE", &own, None, &[]).await.0, 200);
}

#[tokio::test]
async fn a_key_on_behalf_works_for_its_maker_alone() {
    let gate = TestGate::start().await;
    gate.patch("/api/v1/principals/agent:helper", json!({ "acts_for": ["user:other"] })).await;
    let wish = json!({ "principal": "agent:helper", "label": "for me", "on_behalf": true });
    let (status, made) = gate.post_as(OTHER_USER, "/api/v1/keys", wish.clone()).await;
    assert_eq!(status, 201, "{made}");
    assert_eq!(made["key"]["subject"], "user:other");
    let (secret, id) = (made["secret"].as_str().unwrap(), made["key"]["id"].as_str().unwrap());
    let (status, call) = gate.invoke_as(secret, "core__get_current_time", json!({})).await;
    assert_eq!(status, 200, "{call}");
    let (_, row) = gate.get(&format!("/api/v1/invocations/{}", call["call_id"].as_str().unwrap())).await;
    assert_eq!((&row["actor"], &row["subject"]), (&json!("agent:helper"), &json!("user:other")));

    // The person sees it and ends it; the key makes no key that sheds the person.
    let (_, list) = gate.get_as(OTHER_USER, "/api/v1/keys?principal=agent:helper").await;
    assert_eq!(list["keys"].as_array().unwrap().len(), 1);
    for wish in [json!({ "label": "free" }), json!({ "label": "free", "scopes": ["tool:*"] })] {
        let (status, answer) = gate.post_as(secret, "/api/v1/keys", wish).await;
        assert_eq!((status, code(&answer)), (403, "forbidden"));
    }
    let (plain, _) = gate.mint(json!({ "principal": "agent:helper", "label": "plain" })).await;
    let (status, _) = gate.post_as(secret, &format!("/api/v1/keys/{plain}/rotate"), json!({})).await;
    assert_eq!(status, 403);
    // Nobody else gets hold of it by rotating it, whatever they manage.
    let (status, answer) = gate.post(&format!("/api/v1/keys/{id}/rotate"), json!({})).await;
    assert_eq!((status, code(&answer)), (403, "forbidden"), "{answer}");
    let (status, next) = gate.post_as(OTHER_USER, &format!("/api/v1/keys/{id}/rotate"), json!({})).await;
    assert_eq!((status, &next["key"]["subject"]), (201, &json!("user:other")));

    // Not for those the agent does not work for, not for a person, not by an agent, and no longer when it is over.
    assert_eq!(gate.post("/api/v1/keys", wish.clone()).await.0, 403);
    let missing = json!({ "principal": "agent:no-such", "label": "x", "on_behalf": true });
    assert_eq!(gate.post_as(OTHER_USER, "/api/v1/keys", missing).await.0, 403);
    let person = json!({ "principal": "user:admin", "label": "x", "on_behalf": true });
    assert_eq!(gate.post_as(OTHER_USER, "/api/v1/keys", person).await.0, 400);
    let servant =
        NewCaller { tenant: "default", principal: "service:s", acts_for: &["*"], ..NewCaller::default() };
    let servant = gate.caller(servant).await;
    let own = json!({ "principal": "service:s", "label": "x", "on_behalf": true });
    assert_eq!(gate.post_as(&servant, "/api/v1/keys", own).await.0, 403);
    gate.patch("/api/v1/principals/agent:helper", json!({ "acts_for": [] })).await;
    assert!(!gate.works(next["secret"].as_str().unwrap()).await);
}

#[tokio::test]
async fn bad_keys_are_refused() {
    let gate = TestGate::start().await;
    for (bad, says) in [
        (json!({ "label": "" }), "label"),
        (json!({ "label": "a\tb" }), "label"),
        (json!({ "label": "x".repeat(121) }), "label"),
        (json!({ "label": "x", "scopes": ["everything"] }), "scope"),
        (json!({ "label": "x", "scopes": ["manage:nothing"] }), "scope"),
        (json!({ "label": "x", "expires_in_seconds": 0 }), "expired"),
        (json!({ "label": "x", "expires_in_seconds": 366 * 24 * 3600 + 5 }), "366"),
        (json!({ "label": "x", "expires_in_seconds": u64::MAX }), "366"),
        (json!({ "label": "x", "expires_at": "tomorrow" }), "expires_at"),
        (json!({ "label": "x", "expires_at": "2020-01-01T00:00:00Z" }), "expired"),
        (json!({ "label": "x", "expires_at": "2999-01-01T00:00:00Z" }), "366"),
        (json!({ "label": "x", "expires_in_seconds": 9, "expires_at": "2999-01-01T00:00:00Z" }), "both"),
        (json!({ "label": "x", "subject": "user:other" }), "subject"),
        (json!({ "label": "x", "principal": "nobody" }), "principal"),
        (
            json!({ "label": "x", "scopes": (0..101).map(|n| format!("rule:a.b.r{n}")).collect::<Vec<_>>() }),
            "scopes",
        ),
        (json!({}), "label"),
    ] {
        let (status, answer) = gate.post("/api/v1/keys", bad.clone()).await;
        assert_eq!((status, code(&answer)), (400, "bad_request"), "{bad}: {answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(says), "{bad}: {answer}");
        assert!(answer["error"]["hint"].is_string(), "{bad}: {answer}");
    }
    let (status, answer) =
        gate.post("/api/v1/keys", json!({ "label": "x", "principal": "user:nobody" })).await;
    assert_eq!((status, code(&answer)), (404, "not_found"));
}

#[tokio::test]
async fn keys_come_in_pages() {
    let gate = TestGate::start().await;
    for n in 0..5 {
        gate.mint(json!({ "principal": "agent:helper", "label": format!("key {n}") })).await;
    }
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let (_, page) = gate.get(&format!("/api/v1/keys?principal=agent:helper&limit=2{cursor}")).await;
        seen.extend(page["keys"].as_array().unwrap().iter().map(|key| key["id"].clone()));
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    let unique: std::collections::HashSet<String> = seen.iter().map(Value::to_string).collect();
    assert_eq!((seen.len(), unique.len()), (6, 6), "five and the one it had");
}

#[tokio::test]
async fn a_principal_has_only_so_many_working_keys() {
    let gate = TestGate::start().await;
    let mut last = String::new();
    for _ in 1..200 {
        (last, _) = gate.mint(json!({ "principal": "agent:helper", "label": "one of many" })).await;
    }
    let (status, answer) =
        gate.post("/api/v1/keys", json!({ "principal": "agent:helper", "label": "too many" })).await;
    assert_eq!((status, code(&answer)), (409, "conflict"));
    let rotate = format!("/api/v1/keys/{last}/rotate");
    assert_eq!(
        gate.post(&rotate, json!({ "overlap_seconds": 60 })).await.0,
        409,
        "there would be one more for a while"
    );
    assert_eq!(gate.post(&rotate, json!({})).await.0, 201, "one goes, one comes");
}
