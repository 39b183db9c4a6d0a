//! Roles, toolsets, profiles, limits and assignments.

use serde_json::{Value, json};

use super::code;
use crate::gate::{ADMIN, AGENT, TestGate};

type Body = fn(&str) -> Value;

/// What can be written under a name, changed, found again and removed.
const NOUNS: [(&str, Body); 4] = [
    ("roles", |text| json!({ "description": text, "rules": ["crm.contacts.read"] })),
    ("toolsets", |text| json!({ "description": text, "tools": ["core__*"] })),
    ("profiles", |text| json!({ "description": text, "approval": "always_ask" })),
    ("limits", |text| json!({ "description": text, "per": "tenant", "rate_per_minute": 100_000 })),
];

#[tokio::test]
async fn documents_are_written_read_listed_and_removed() {
    let gate = TestGate::start().await;
    for (noun, body) in NOUNS {
        let path = format!("/api/v1/{noun}/first.one-1");
        assert_eq!(gate.get(&path).await.0, 404, "{noun}");
        let (status, made) = gate.put(&path, body("one")).await;
        assert_eq!(status, 200, "{noun}: {made}");
        assert_eq!(
            (&made["name"], &made["revision"], &made["updated_by"]),
            (&json!("first.one-1"), &json!(1), &json!("user:admin")),
            "{noun}"
        );
        assert_eq!(gate.get(&path).await.1, made, "{noun}");

        // A change names what it was made from, or does not.
        let (_, two) = gate.put(&path, body("two")).await;
        assert_eq!((&two["revision"], &two["description"]), (&json!(2), &json!("two")), "{noun}");
        let with = async |method: &str, header: &str, value: &str, body: Option<Value>| {
            gate.send(Some(ADMIN), method, &path, body, &[(header, value)]).await
        };
        let (status, stale) = with("PUT", "If-Match", "\"1\"", Some(body("three"))).await;
        assert_eq!((status, code(&stale)), (409, "conflict"), "{noun}");
        assert_eq!(with("DELETE", "If-Match", "\"1\"", None).await.0, 409, "{noun}");
        assert_eq!(with("PUT", "If-Match", "2", Some(body("three"))).await.0, 400, "{noun}");
        assert_eq!(with("PUT", "If-None-Match", "*", Some(body("three"))).await.0, 409, "{noun}");
        assert_eq!(with("PUT", "If-Match", "\"2\"", Some(body("three"))).await.0, 200, "{noun}");

        for name in ["b", "c", "d"] {
            gate.put(&format!("/api/v1/{noun}/{name}"), body("x")).await;
        }
        let (mut names, mut cursor) = (Vec::new(), String::new());
        loop {
            let (_, page) = gate.get(&format!("/api/v1/{noun}?limit=2{cursor}")).await;
            names.extend(
                page[noun].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap().to_owned()),
            );
            let Some(next) = page["next_cursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        assert!(
            names.is_sorted()
                && ["b", "c", "d", "first.one-1"].iter().all(|name| names.contains(&(*name).to_owned())),
            "{noun}: {names:?}"
        );

        assert_eq!(gate.delete(&path).await.0, 204, "{noun}");
        assert_eq!(gate.get(&path).await.0, 404, "{noun}");
        let (status, gone) = gate.delete(&path).await;
        assert_eq!((status, code(&gone)), (404, "not_found"), "{noun}");
        let (status, back) = with("PUT", "If-None-Match", "*", Some(body("back"))).await;
        assert_eq!(status, 200, "{noun}: {back}");
        assert!(back["revision"].as_u64().unwrap() > 3, "revisions go on counting: {noun} {back}");
    }
    gate.verify().await;
}

#[tokio::test]
async fn a_document_says_its_revision_in_a_header() {
    let gate = TestGate::start().await;
    gate.put("/api/v1/toolsets/some", json!({ "tools": ["*"] })).await;
    let url = format!("{}/api/v1/toolsets/some", gate.url);
    let answer = gate.client.get(url).bearer_auth(ADMIN).send().await.unwrap();
    assert_eq!(answer.headers()["etag"], "\"1\"");
}

#[tokio::test]
async fn names_and_bodies_have_bounds() {
    let gate = TestGate::start().await;
    let many = |n: usize| (0..n).map(|n| format!("t__{n}")).collect::<Vec<_>>();
    for (path, bad) in [
        ("toolsets/Upper", json!({ "tools": ["*"] })),
        ("toolsets/-x", json!({ "tools": ["*"] })),
        ("toolsets/x%20y", json!({ "tools": ["*"] })),
        ("toolsets/x", json!({ "tools": [] })),
        ("toolsets/x", json!({ "tools": ["a*b"] })),
        ("toolsets/x", json!({ "tools": many(501) })),
        ("toolsets/x", json!({ "tools": ["*"], "effects": ["explode"] })),
        ("toolsets/x", json!({ "tools": ["*"], "title": "a\nb" })),
        ("toolsets/x", json!({ "tools": ["*"], "description": "x".repeat(2_001) })),
        ("toolsets/x", json!({})),
        ("profiles/x", json!({ "rate_per_minute": 0 })),
        ("profiles/x", json!({ "concurrency": 0 })),
        ("profiles/x", json!({ "rate_per_minute": -1 })),
        ("profiles/x", json!({ "cost": { "micros": -1, "every": "day" } })),
        ("profiles/x", json!({ "cost": { "micros": 1, "every": "year" } })),
        ("profiles/x", json!({ "on_overrun": "ignore" })),
        ("profiles/x", json!({ "arguments": { "type": "nonsense" } })),
        ("profiles/x", json!({ "arguments": { "type": "string" } })),
        (
            "profiles/x",
            json!({ "arguments": { "type": "object", "properties": { "a": { "$ref": "https://x.example/" } } } }),
        ),
        ("profiles/x", json!({ "unattended": true })),
        ("limits/x", json!({ "per": "tenant" })),
        ("limits/x", json!({ "per": "moon", "concurrency": 1 })),
        ("limits/x", json!({ "per": "tenant", "concurrency": 0 })),
        ("limits/x", json!({ "per": "tenant", "rate_per_minute": 1, "principals": ["a b"] })),
        ("limits/x", json!({ "concurrency": 1 })),
        ("roles/x", json!({ "rules": ["not a rule"] })),
        ("roles/x", json!({ "rules": many(101) })),
        ("roles/x", json!({ "description": "a\u{0}" })),
    ] {
        let (status, answer) = gate.put(&format!("/api/v1/{path}"), bad.clone()).await;
        assert_eq!((status, code(&answer)), (400, "bad_request"), "{path} {bad}: {answer}");
    }
    assert_eq!(gate.get("/api/v1/toolsets/x").await.0, 404);
}

#[tokio::test]
async fn a_profile_can_not_loosen() {
    let gate = TestGate::start().await;
    for loose in ["auto", "never", ""] {
        let (status, answer) = gate.put("/api/v1/profiles/loose", json!({ "approval": loose })).await;
        assert_eq!((status, code(&answer)), (400, "bad_request"));
        assert!(answer["error"]["message"].as_str().unwrap().contains("can only tighten"), "{answer}");
    }
    assert_eq!(gate.get("/api/v1/profiles/loose").await.0, 404);
}

#[tokio::test]
async fn built_in_roles_are_there_and_admin_stays_as_it_is() {
    let gate = TestGate::start().await;
    let (_, list) = gate.get("/api/v1/roles").await;
    let names: Vec<&str> =
        list["roles"].as_array().unwrap().iter().map(|r| r["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["admin", "approver", "auditor", "member"]);
    assert!(
        list["roles"].as_array().unwrap().iter().all(|role| role["built_in"] == true && role["own"] == false)
    );

    let (_, member) = gate.put("/api/v1/roles/member", json!({ "rules": ["crm.contacts.read"] })).await;
    assert_eq!((&member["built_in"], &member["own"]), (&json!(true), &json!(true)));
    assert_eq!(gate.delete("/api/v1/roles/member").await.0, 204);
    let (_, member) = gate.get("/api/v1/roles/member").await;
    assert_eq!((&member["rules"], &member["own"]), (&json!([]), &json!(false)), "as it comes again");
    assert_eq!(gate.delete("/api/v1/roles/member").await.0, 404, "what comes with the gate stays");

    let (status, admin) = gate.put("/api/v1/roles/admin", json!({ "rules": [] })).await;
    assert_eq!((status, code(&admin)), (409, "conflict"));
    assert_eq!(gate.delete("/api/v1/roles/admin").await.0, 404);
}

#[tokio::test]
async fn a_toolset_says_what_it_holds() {
    let gate = TestGate::start().await;
    let body = json!({ "title": "Reading", "tools": ["core__*", "fixture__*"], "exclude": ["fixture__slow*"], "effects": ["read"] });
    let (_, set) = gate.put("/api/v1/toolsets/reading", body).await;
    let ids: Vec<&str> = set["tool_ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    assert!(ids.contains(&"core__get_current_time") && !ids.iter().any(|id| id.starts_with("fixture__slow")));
    assert_eq!(set["tool_count"], ids.len());
    let (_, list) = gate.get("/api/v1/toolsets").await;
    let listed = list["toolsets"].as_array().unwrap().iter().find(|set| set["name"] == "reading").unwrap();
    assert_eq!((&listed["tool_count"], listed.get("tool_ids")), (&set["tool_count"], None));
}

#[tokio::test]
async fn an_assignment_gives_and_its_removal_takes() {
    let gate = TestGate::permissive().await;
    let everything = "/api/v1/assignments?agent=agent:helper&toolset=everything";
    assert_eq!(gate.delete(everything).await.0, 204);
    assert_eq!(gate.invoke_as(AGENT, "core__get_current_time", json!({})).await.0, 404, "without tools");

    let one = json!({ "agent": "agent:helper", "tool": "core__get_current_time" });
    let (status, made) = gate.put("/api/v1/assignments", one.clone()).await;
    assert_eq!(status, 200, "{made}");
    assert_eq!(
        (&made["agent"], &made["tool"], made.get("profile")),
        (&json!("agent:helper"), &json!("core__get_current_time"), None)
    );
    assert_eq!(gate.invoke_as(AGENT, "core__get_current_time", json!({})).await.0, 200);

    // The same pair again changes the profile.
    gate.put("/api/v1/profiles/careful", json!({ "approval": "always_ask" })).await;
    let careful = json!({ "agent": "agent:helper", "tool": "core__get_current_time", "profile": "careful" });
    assert_eq!(gate.put("/api/v1/assignments", careful).await.1["profile"], "careful");
    assert_eq!(gate.invoke_as(AGENT, "core__get_current_time", json!({})).await.0, 202, "a person is asked");

    gate.put("/api/v1/toolsets/time", json!({ "tools": ["core__get_*"] })).await;
    gate.put("/api/v1/assignments", json!({ "agent": "agent:helper", "toolset": "time" })).await;
    let count = async |query: &str| {
        gate.get(&format!("/api/v1/assignments{query}")).await.1["assignments"].as_array().unwrap().len()
    };
    assert_eq!(count("").await, 2);
    assert_eq!(count("?agent=agent:helper").await, 2);
    assert_eq!(count("?agent=agent:nobody").await, 0);
    assert_eq!(count("?tool=core__get_current_time").await, 2, "by itself and by the toolset");
    assert_eq!(count("?tool=fixture__misbehave").await, 0);
    let (_, page) = gate.get("/api/v1/assignments?limit=1").await;
    let next = page["next_cursor"].as_str().unwrap().replace(' ', "%20");
    assert_eq!(count(&format!("?cursor={next}")).await, 1);

    // What is in use stays.
    for path in ["/api/v1/toolsets/time", "/api/v1/profiles/careful"] {
        let (status, used) = gate.delete(path).await;
        assert_eq!((status, code(&used)), (409, "conflict"), "{path}");
        assert!(used["error"]["message"].as_str().unwrap().contains("agent:helper"), "{used}");
    }
    for target in ["tool=core__get_current_time", "toolset=time"] {
        assert_eq!(gate.delete(&format!("/api/v1/assignments?agent=agent:helper&{target}")).await.0, 204);
    }
    for path in ["/api/v1/toolsets/time", "/api/v1/profiles/careful"] {
        assert_eq!(gate.delete(path).await.0, 204, "{path}");
    }
    assert_eq!(gate.invoke_as(AGENT, "core__get_current_time", json!({})).await.0, 404);
    assert_eq!(gate.delete("/api/v1/assignments?agent=agent:helper&toolset=time").await.0, 404);
}

#[tokio::test]
async fn assignments_name_what_there_is() {
    let gate = TestGate::start().await;
    for (bad, says) in [
        (json!({ "agent": "agent:nobody", "tool": "core__get_current_time" }), "no agent"),
        (json!({ "agent": "user:other", "tool": "core__get_current_time" }), "not an agent"),
        (json!({ "agent": "agent:helper", "tool": "core__no_such" }), "no tool"),
        (json!({ "agent": "agent:helper", "tool": "fixture__elsewhere" }), "no tool"),
        (json!({ "agent": "agent:helper", "toolset": "no-such" }), "no toolset"),
        (
            json!({ "agent": "agent:helper", "tool": "core__get_current_time", "profile": "no-such" }),
            "no profile",
        ),
        (json!({ "agent": "agent:helper" }), "either"),
        (
            json!({ "agent": "agent:helper", "tool": "core__get_current_time", "toolset": "everything" }),
            "either",
        ),
        (json!({ "agent": "x", "tool": "core__get_current_time" }), "agent"),
    ] {
        let (status, answer) = gate.put("/api/v1/assignments", bad.clone()).await;
        assert_eq!((status, code(&answer)), (400, "bad_request"), "{bad}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(says), "{bad}: {answer}");
    }
    let off = json!({ "agent": "agent:helper", "tool": "fixture__paid" });
    assert_eq!(gate.put("/api/v1/assignments", off).await.0, 200, "switched off is fine");
}
