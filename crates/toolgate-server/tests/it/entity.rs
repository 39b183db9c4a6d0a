//! What fields of forms can name: who finds whom, and what hostile questions find.

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::gate::{ADMIN, AGENT, NewCaller, OTHER_TENANT, OTHER_USER, TestGate};
use crate::sign_in::{add_user, switch_off};

const USERS: &str = "/api/v1/entities/user";

/// A gate with a signed-in member who manages nothing, and a few people to be found.
async fn gate() -> TestGate {
    let gate = TestGate::start().await;
    add_user(&gate, "bob", &["member"]).await;
    for (id, title) in [
        ("user:u1", "Ada Lovelace"),
        ("user:u2", "Adam Smith"),
        ("user:u3", "Zoë Müller"),
        ("user:ada", "Countess"),
        ("agent:scout", "Ada's scout"),
        ("service:ci", "Ada's builds"),
    ] {
        let (status, made) = gate.post("/api/v1/principals", json!({ "id": id, "title": title })).await;
        assert_eq!(status, 201, "{made}");
    }
    let elsewhere = json!({ "id": "user:eve", "title": "Ada of elsewhere" });
    assert_eq!(
        gate.send(Some(OTHER_TENANT), "POST", "/api/v1/principals", Some(elsewhere), &[]).await.0,
        201
    );
    gate
}

fn ids(list: &Value) -> Vec<&str> {
    list["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect()
}

fn code(body: &Value) -> &str {
    body["error"]["code"].as_str().unwrap_or("none")
}

#[tokio::test]
async fn a_person_finds_others_by_name_and_id_and_learns_no_more() {
    let gate = gate().await;
    let mut bob = Browser::signed_in(&gate, "bob").await;
    let found = bob.get(&format!("{USERS}?q=ada")).await;
    assert_eq!(found.status, 200, "{}", found.text);
    // The id in full first, then the word, then what begins with it.
    insta::assert_json_snapshot!(found.json(), @r#"
    {
      "items": [
        {
          "id": "user:ada",
          "title": "Countess"
        },
        {
          "id": "user:u1",
          "title": "Ada Lovelace"
        },
        {
          "id": "user:u2",
          "title": "Adam Smith"
        }
      ]
    }
    "#);
    for (q, expected) in [
        ("lovlace", &["user:u1"][..]),
        ("zoe%20muller", &["user:u3"]),
        ("user:u2", &["user:u2"]),
        ("smith%20adam", &["user:u2"]),
        ("eve", &[]),
        ("elsewhere", &[]),
    ] {
        assert_eq!(ids(&bob.get(&format!("{USERS}?q={q}")).await.json()), expected, "{q}");
    }
    let agents = bob.get("/api/v1/entities/agent?q=scout").await.json();
    assert_eq!(agents["items"], json!([{ "id": "agent:scout", "title": "Ada's scout" }]));
    assert_eq!(bob.get("/api/v1/principals").await.status, 403, "the list itself stays with managers");
    let services = bob.get("/api/v1/entities/service?q=ada").await;
    assert_eq!((services.status, services.code().as_str()), (403, "forbidden"));
    let types = bob.get("/api/v1/entities").await.json();
    let names: Vec<&str> =
        types["types"].as_array().unwrap().iter().map(|kind| kind["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["user", "agent", "tool", "toolset", "role", "file"]);
}

#[tokio::test]
async fn ids_get_their_names_also_of_those_who_left() {
    let gate = gate().await;
    let mut bob = Browser::signed_in(&gate, "bob").await;
    switch_off(&gate, "u2").await;
    let named = bob
        .get(&format!("{USERS}?id=user:u2&id=user:nobody&id=agent:scout&id=%25&id=user:eve&id=user:u1"))
        .await
        .json();
    assert_eq!(
        named["items"],
        json!([
            { "id": "user:u2", "title": "Adam Smith", "detail": "switched off" },
            { "id": "user:u1", "title": "Ada Lovelace" },
        ])
    );
    assert_eq!(ids(&bob.get(&format!("{USERS}?q=smith")).await.json()), Vec::<&str>::new());
    assert_eq!(ids(&bob.get(&format!("{USERS}?q=user:u2")).await.json()), Vec::<&str>::new());
}

#[tokio::test]
async fn pages_of_what_was_found_and_of_everyone_do_not_overlap() {
    let gate = gate().await;
    switch_off(&gate, "u2").await;
    let mut bob = Browser::signed_in(&gate, "bob").await;
    for start in [format!("{USERS}?limit=1"), format!("{USERS}?q=u&limit=1")] {
        let (mut seen, mut path) = (Vec::new(), start.clone());
        loop {
            let page = bob.get(&path).await.json();
            seen.extend(ids(&page).iter().map(|id| (*id).to_owned()));
            let Some(next) = page["next_cursor"].as_str() else { break };
            path = format!("{start}&cursor={next}");
        }
        let mut once = seen.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), seen.len(), "{start}: {seen:?}");
        assert!(seen.contains(&"user:u1".to_owned()) && seen.contains(&"user:u3".to_owned()), "{seen:?}");
        assert!(!seen.contains(&"user:u2".to_owned()), "{seen:?}");
    }
}

#[tokio::test]
async fn tools_are_those_of_ones_own_catalog() {
    let gate = gate().await;
    let mut bob = Browser::signed_in(&gate, "bob").await;
    let found = bob.get("/api/v1/entities/tool?q=curent%20time").await.json();
    assert_eq!(found["items"][0]["id"], "core__get_current_time");
    let off = json!({ "enabled": false });
    gate.send(Some(ADMIN), "PUT", "/api/v1/registry/core__quick_score", Some(off), &[]).await;
    for (path, key) in [
        ("/api/v1/entities/tool?q=quick", Some(AGENT)),
        ("/api/v1/entities/tool?id=core__quick_score", Some(AGENT)),
        ("/api/v1/entities/tool?q=quick", Some(ADMIN)),
    ] {
        assert_eq!(gate.send(key, "GET", path, None, &[]).await.1["items"], json!([]), "{path}");
    }
    let (_, all) = gate.send(Some(AGENT), "GET", "/api/v1/tools", None, &[]).await;
    let (_, same) = gate.send(Some(AGENT), "GET", "/api/v1/entities/tool?limit=1000", None, &[]).await;
    let listed: Vec<&str> =
        all["tools"].as_array().unwrap().iter().map(|tool| tool["id"].as_str().unwrap()).collect();
    assert_eq!(ids(&same), listed);
}

#[tokio::test]
async fn files_are_ones_own() {
    let gate = gate().await;
    let mut bob = Browser::signed_in(&gate, "bob").await;
    let mut sent = Vec::new();
    for name in ["march-figures.csv", "notes.txt"] {
        let csrf = bob.csrf.clone();
        let headers = [("x-toolgate-csrf", csrf.as_str())];
        let path = format!("/api/v1/files?name={name}");
        // A string is a JSON body, and bytes like others.
        let answer = bob.send("POST", &path, Some(json!("x")), &headers).await;
        assert_eq!(answer.status, 201, "{}", answer.text);
        sent.push(answer.json()["id"].as_str().unwrap().to_owned());
    }
    let all = bob.get("/api/v1/entities/file").await.json();
    assert_eq!(ids(&all), [&*sent[1], &*sent[0]]);
    let found = bob.get("/api/v1/entities/file?q=figurs").await.json();
    assert_eq!((ids(&found), &found["items"][0]["title"]), (vec![&*sent[0]], &json!("march-figures.csv")));
    let named = format!("/api/v1/entities/file?id={}", sent[0]);
    assert_eq!(ids(&bob.get(&named).await.json()), [&*sent[0]]);
    // The administrator, who manages files and could read it, does not find it among their own either.
    for key in [ADMIN, OTHER_USER, AGENT, OTHER_TENANT] {
        for path in [named.as_str(), "/api/v1/entities/file", "/api/v1/entities/file?q=march"] {
            let (status, answer) = gate.send(Some(key), "GET", path, None, &[]).await;
            assert_eq!((status, &answer["items"]), (200, &json!([])), "{path}");
        }
    }
}

#[tokio::test]
async fn toolsets_and_roles_are_found_by_name() {
    let gate = gate().await;
    let toolset =
        json!({ "title": "Reading things", "description": "For looking.\nNot more.", "tools": ["core__*"] });
    assert_eq!(gate.send(Some(ADMIN), "PUT", "/api/v1/toolsets/reading", Some(toolset), &[]).await.0, 200);
    let role = json!({ "description": "keeps the till", "rules": ["till.open.write"] });
    assert_eq!(gate.send(Some(ADMIN), "PUT", "/api/v1/roles/treasurer", Some(role), &[]).await.0, 200);
    let mut bob = Browser::signed_in(&gate, "bob").await;
    let found = bob.get("/api/v1/entities/toolset?q=reding").await.json();
    assert_eq!(
        found["items"],
        json!([{ "id": "reading", "title": "Reading things", "detail": "For looking." }])
    );
    let found = bob.get("/api/v1/entities/role?q=trea").await;
    assert_eq!(found.json()["items"][0]["id"], "treasurer");
    assert!(!found.text.contains("till.open"), "what a role gives is not its name");
    assert_eq!(ids(&bob.get("/api/v1/entities/role?id=approver&id=none").await.json()), ["approver"]);
}

#[tokio::test]
async fn keys_find_what_they_could_list_anyway() {
    let gate = gate().await;
    let narrowed = NewCaller {
        tenant: "default",
        principal: "user:admin",
        roles: &["admin"],
        scopes: &["tool:core__*"],
        ..NewCaller::default()
    };
    let narrowed = gate.caller(narrowed).await;
    for key in [AGENT, OTHER_USER, &narrowed] {
        for kind in ["user", "agent", "service", "toolset", "role"] {
            for ask in ["q=ada", "id=user:u1", ""] {
                let path = format!("/api/v1/entities/{kind}?{ask}");
                let (status, answer) = gate.send(Some(key), "GET", &path, None, &[]).await;
                assert_eq!((status, code(&answer)), (403, "forbidden"), "{path}: {answer}");
            }
        }
        let (_, types) = gate.send(Some(key), "GET", "/api/v1/entities", None, &[]).await;
        let own = json!([{ "name": "tool", "title": "tools" }, { "name": "file", "title": "files" }]);
        assert_eq!(types["types"], own);
    }
    let (_, services) = gate.get("/api/v1/entities/service?q=builds").await;
    assert_eq!(ids(&services), ["service:ci"]);
    let (_, elsewhere) = gate.send(Some(OTHER_TENANT), "GET", &format!("{USERS}?limit=9"), None, &[]).await;
    assert_eq!(ids(&elsewhere), ["user:chief", "user:eve"]);
    let (_, ours) = gate.send(Some(OTHER_TENANT), "GET", &format!("{USERS}?id=user:u1"), None, &[]).await;
    assert_eq!(ours["items"], json!([]));
}

#[tokio::test]
async fn hostile_questions_find_nothing_and_break_nothing() {
    let gate = gate().await;
    let mut bob = Browser::signed_in(&gate, "bob").await;
    let long = "x".repeat(10_000);
    for q in ["%25", "_", "%25%25%25", "%E2%80%AEada%E2%80%8B%00x", "%27%20OR%201%3D1%20--", "%5C", "ada%25"]
    {
        let answer = bob.get(&format!("{USERS}?q={q}")).await;
        assert_eq!(answer.status, 200, "{q}: {}", answer.text);
        let found = answer.json();
        let found = ids(&found);
        assert!(found.is_empty() || q == "ada%25", "{q} finds {found:?}");
    }
    let many = (0..101).map(|n| format!("id=user:u{n}")).collect::<Vec<_>>().join("&");
    for query in [
        format!("q={long}"),
        many,
        "q=a&q=b".into(),
        "q=a&id=user:u1".into(),
        "limit=0".into(),
        "limit=1001".into(),
        "limit=x".into(),
        "q=a&cursor=user:u1".into(),
        "q=a&cursor=-1".into(),
        "cursor=%00".into(),
        "other=1".into(),
    ] {
        let answer = bob.get(&format!("{USERS}?{query}")).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "bad_request"), "{query:.60}");
        assert!(answer.text.len() < 1_000, "what was sent is not sent back");
    }
    let far = bob.get(&format!("{USERS}?q=a&cursor=18446744073709551615")).await;
    assert_eq!((far.status, far.json()["items"].clone()), (200, json!([])));
    for kind in ["users", "User", "file%2Fx", "..", "%F0%9F%92%A9", &long] {
        let answer = bob.get(&format!("/api/v1/entities/{kind}")).await;
        assert_eq!((answer.status, answer.code().as_str()), (404, "not_found"), "{kind:.60}");
        assert!(answer.text.len() < 1_000);
    }
    let unknown = bob.get("/api/v1/entities/customer").await.json();
    assert_eq!(unknown["error"]["hint"], "it is one of: user, agent, service, tool, toolset, role, file");
}
