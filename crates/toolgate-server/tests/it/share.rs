//! Links to runs: what they show, and everything that ends them.

use serde_json::{Value, json};
use toolgate_app::{App, Secret, ShareSettings, hash_key};
use toolgate_core::administration::{AdminChange, Write};
use toolgate_core::id::{ShareId, TenantId};
use toolgate_core::share::Share;
use toolgate_core::{JsonText, Timestamp};
use toolgate_policy::cedar::Policies;
use toolgate_server::ServerSettings;

use crate::gate::{ADMIN, AGENT, NewCaller, OTHER_TENANT, OTHER_USER, PERMISSIVE, TestGate};

async fn run(gate: &TestGate) -> String {
    let (status, call) = gate.invoke("core__get_current_time", json!({})).await;
    assert_eq!(status, 200, "{call}");
    call["call_id"].as_str().unwrap().to_owned()
}

async fn share(gate: &TestGate, key: &str, call: &str, body: Option<Value>) -> (u16, Value) {
    gate.send(Some(key), "POST", &format!("/api/v1/invocations/{call}/shares"), body, &[]).await
}

async fn link(gate: &TestGate, key: &str, call: &str) -> (String, String) {
    let (status, made) = share(gate, key, call, None).await;
    assert_eq!(status, 201, "{made}");
    (made["id"].as_str().unwrap().to_owned(), made["url"].as_str().unwrap().to_owned())
}

/// The page as anyone sees it.
async fn open(gate: &TestGate, url: &str) -> (u16, String) {
    let answer = gate.client.get(url).send().await.unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

/// The page of a link that never was.
async fn nothing(gate: &TestGate) -> (u16, String) {
    open(gate, &format!("{}/share/{}", gate.url, "0".repeat(64))).await
}

async fn person(gate: &TestGate, principal: &str, rules: &[&str]) -> String {
    gate.caller(NewCaller { tenant: "default", principal, rules, ..NewCaller::default() }).await
}

#[tokio::test]
async fn a_link_shows_the_run_and_nothing_around_it() {
    let gate = TestGate::permissive().await;
    gate.send(
        Some(ADMIN),
        "PATCH",
        "/api/v1/principals/user:admin",
        Some(json!({ "title": "Ada <b>L</b>" })),
        &[],
    )
    .await;
    let (_, call) = gate.invoke("core__get_current_time", json!({ "timezone": "Europe/Berlin" })).await;
    let id = call["call_id"].as_str().unwrap();
    let (_, row) = gate.get(&format!("/api/v1/invocations/{id}")).await;
    let (share_id, url) = link(&gate, ADMIN, id).await;
    assert!(url.starts_with(&format!("{}/share/", gate.url)));
    let token = url.rsplit('/').next().unwrap();
    assert_eq!(token.len(), 64);

    let answer = gate.client.get(&url).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let header = |name: &str| answer.headers().get(name).unwrap().to_str().unwrap().to_owned();
    assert_eq!(header("cache-control"), "no-store");
    assert_eq!(header("referrer-policy"), "no-referrer");
    assert!(header("x-robots-tag").contains("noindex"));
    let policy = header("content-security-policy");
    assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"));
    assert!(policy.contains("form-action 'none'") && !policy.contains("unsafe") && !policy.contains("http"));
    assert!(answer.headers().get("set-cookie").is_none());
    let page = answer.text().await.unwrap();
    assert!(page.contains("Ada &lt;b&gt;L&lt;/b&gt;") && page.contains("Succeeded"));
    assert!(page.contains("Europe/Berlin") && page.contains(&row["tool_version"].as_str().unwrap()[..12]));
    for hidden in [
        row["session_id"].as_str().unwrap(),
        id,
        &share_id,
        "user:admin",
        row["rule"].as_str().unwrap(),
        "core__get_current_time",
        token,
    ] {
        assert!(!page.contains(hidden), "the page tells `{hidden}`");
    }

    let (status, listed) = gate.get(&format!("/api/v1/invocations/{id}/shares")).await;
    assert_eq!((status, &listed["shares"][0]["id"]), (200, &json!(share_id)));
    assert!(!listed.to_string().contains(token));
    for method in ["POST", "PUT", "DELETE", "PATCH"] {
        let answer = gate.client.request(method.parse().unwrap(), &url).send().await.unwrap();
        assert_eq!(answer.status(), 405, "{method}");
    }
    let (_, export) = gate.get("/api/v1/audit/export").await;
    let export = export.as_str().unwrap();
    assert!(export.contains("share.created") && !export.contains(token));
    assert!(!format!("{:?}", Secret::given(token)).contains(token));
    gate.verify().await;
}

#[tokio::test]
async fn failed_and_redacted_runs_show_what_was_kept() {
    let gate = TestGate::permissive().await;
    let (_, failed) =
        gate.invoke("core__get_current_time", json!({ "timezone": "<script>alert(1)</script>" })).await;
    let id = failed["error"]["call_id"].as_str().or(failed["call_id"].as_str()).unwrap().to_owned();
    let (_, url) = link(&gate, ADMIN, &id).await;
    let (status, page) = open(&gate, &url).await;
    assert_eq!(status, 200);
    assert!(page.contains("What went wrong") && page.contains("Failed"), "{page}");
    assert!(!page.contains("<script>alert"));

    // Why the gate refused is for those inside.
    let rule = r#"@id("a secret rule")
        forbid (principal, action == Toolgate::Action::"call", resource == Toolgate::Tool::"core__quick_score");"#;
    let gate = TestGate::with(ServerSettings::default(), &format!("{PERMISSIVE}\n{rule}")).await;
    gate.invoke("core__quick_score", json!({})).await;
    let (_, runs) = gate.get("/api/v1/invocations?tool=core__quick_score").await;
    let (_, url) = link(&gate, ADMIN, runs["invocations"][0]["id"].as_str().unwrap()).await;
    let (_, page) = open(&gate, &url).await;
    assert!(page.contains("The gate did not let it run") && !page.contains("secret rule"), "{page}");
}

#[tokio::test]
async fn a_link_ends_when_it_is_revoked() {
    let gate = TestGate::permissive().await;
    let call = run(&gate).await;
    let (id, url) = link(&gate, ADMIN, &call).await;
    let (_, kept) = link(&gate, ADMIN, &call).await;
    assert_eq!(open(&gate, &url).await.0, 200);
    for key in [OTHER_USER, OTHER_TENANT, AGENT] {
        let (status, _) = gate.send(Some(key), "DELETE", &format!("/api/v1/shares/{id}"), None, &[]).await;
        assert_eq!(status, 404, "only those it concerns");
    }
    assert_eq!(open(&gate, &url).await.0, 200);
    let path = format!("/api/v1/shares/{id}");
    assert_eq!(gate.send(Some(ADMIN), "DELETE", &path, None, &[]).await.0, 204);
    assert_eq!(open(&gate, &url).await, nothing(&gate).await);
    assert_eq!(gate.send(Some(ADMIN), "DELETE", &path, None, &[]).await.0, 204, "twice is once");
    assert_eq!(open(&gate, &kept).await.0, 200);
    let (_, listed) = gate.get(&format!("/api/v1/invocations/{call}/shares")).await;
    assert_eq!(listed["shares"].as_array().unwrap().len(), 1);
    let (_, export) = gate.get("/api/v1/audit/export").await;
    assert_eq!(export.as_str().unwrap().matches("share.revoked").count(), 1);
    gate.verify().await;
}

#[tokio::test]
async fn the_owner_of_a_run_ends_links_that_others_made() {
    let gate = TestGate::permissive().await;
    let owner = person(&gate, "user:owner", &[]).await;
    let (_, call) = gate.invoke_as(&owner, "core__get_current_time", json!({})).await;
    let call = call["call_id"].as_str().unwrap();
    let (id, url) = link(&gate, ADMIN, call).await;
    assert_eq!(gate.send(Some(&owner), "DELETE", &format!("/api/v1/shares/{id}"), None, &[]).await.0, 204);
    assert_eq!(open(&gate, &url).await, nothing(&gate).await);
}

#[tokio::test]
async fn a_link_ends_with_what_its_maker_may_see() {
    let gate = TestGate::permissive().await;
    let call = run(&gate).await;
    // Someone who reads the record shares another's run, and then reads it no more.
    let gone = nothing(&gate).await;
    let auditor = person(&gate, "user:auditor", &["*"]).await;
    let (_, url) = link(&gate, &auditor, &call).await;
    assert_eq!(open(&gate, &url).await.0, 200);
    let patch = async |principal: &str, body: Value| {
        let path = format!("/api/v1/principals/{principal}");
        let (status, body) = gate.send(Some(ADMIN), "PATCH", &path, Some(body), &[]).await;
        assert_eq!(status, 200, "{body}");
    };
    let policy = Policies::default_set().0;
    let (status, body) =
        gate.send(Some(ADMIN), "PUT", "/api/v1/policy", Some(json!({ "text": policy })), &[]).await;
    assert_eq!(status, 200, "{body}");
    patch("user:auditor", json!({ "rules": [] })).await;
    assert_eq!(open(&gate, &url).await, gone, "lost access");

    // A person who is switched off.
    let leaver = person(&gate, "user:leaver", &[]).await;
    let (_, own) = gate.invoke_as(&leaver, "core__get_current_time", json!({})).await;
    let own = own["call_id"].as_str().unwrap();
    let (_, url) = link(&gate, &leaver, own).await;
    assert_eq!(open(&gate, &url).await.0, 200);
    patch("user:leaver", json!({ "disabled": true })).await;
    assert_eq!(open(&gate, &url).await, gone, "disabled");
    patch("user:leaver", json!({ "disabled": false })).await;
    assert_eq!(open(&gate, &url).await.0, 200, "the link itself was not taken back");

    // A key that is taken away takes its links along.
    let (_, keys) = gate.get("/api/v1/keys?principal=user:leaver").await;
    let key = keys["keys"][0]["id"].as_str().unwrap();
    assert!(gate.send(Some(ADMIN), "DELETE", &format!("/api/v1/keys/{key}"), None, &[]).await.0 < 300);
    assert_eq!(open(&gate, &url).await, gone, "its key was revoked");
}

#[tokio::test]
async fn a_disabled_tenant_shows_nothing() {
    let gate = TestGate::permissive().await;
    let (_, call) = gate.invoke_as(OTHER_TENANT, "core__get_current_time", json!({})).await;
    let (_, url) = link(&gate, OTHER_TENANT, call["call_id"].as_str().unwrap()).await;
    assert_eq!(open(&gate, &url).await.0, 200);
    let (status, body) = gate
        .send(Some(ADMIN), "PATCH", "/api/v1/tenants/elsewhere", Some(json!({ "disabled": true })), &[])
        .await;
    assert_eq!(status, 200, "{body}");
    assert_eq!(open(&gate, &url).await, nothing(&gate).await);
}

#[tokio::test]
async fn only_people_make_links_and_only_to_what_they_see() {
    let gate = TestGate::start().await;
    let call = run(&gate).await;
    for key in [OTHER_USER, OTHER_TENANT, AGENT] {
        assert_eq!(share(&gate, key, &call, None).await.0, 404, "not theirs to see");
        let path = format!("/api/v1/invocations/{call}/shares");
        assert_eq!(gate.send(Some(key), "GET", &path, None, &[]).await.0, 404);
    }
    // An agent, a service and a narrowed key see their own run and may not show it.
    let (_, own) = gate.invoke_as(AGENT, "core__get_current_time", json!({})).await;
    let own = own["call_id"].as_str().unwrap();
    let (status, body) = share(&gate, AGENT, own, None).await;
    assert_eq!((status, &body["error"]["code"]), (403, &json!("forbidden")), "{body}");
    let service = gate
        .caller(NewCaller {
            tenant: "default",
            principal: "service:ci",
            rules: &["*"],
            ..NewCaller::default()
        })
        .await;
    assert_eq!(share(&gate, &service, &call, None).await.0, 403);
    let narrow = gate
        .caller(NewCaller {
            tenant: "default",
            principal: "user:n",
            rules: &["*"],
            scopes: &["manage"],
            ..NewCaller::default()
        })
        .await;
    assert!([403, 404].contains(&share(&gate, &narrow, &call, None).await.0));
    assert_eq!(
        gate.status(None, "POST", &format!("/api/v1/invocations/{call}/shares"), None, &[]).await,
        401
    );

    for (body, status) in [
        (json!({ "expires_in_seconds": 0 }), 400),
        (json!({ "expires_in_seconds": 30 * 24 * 3600 + 1 }), 400),
        (json!({ "expires_in_seconds": u64::MAX }), 400),
        (json!({ "expires_in_seconds": -1 }), 400),
        (json!({ "forever": true }), 400),
        (json!({ "expires_in_seconds": 30 * 24 * 3600 }), 201),
        (json!({}), 201),
    ] {
        assert_eq!(share(&gate, ADMIN, &call, Some(body.clone())).await.0, status, "{body}");
    }
    for _ in 2..20 {
        assert_eq!(share(&gate, ADMIN, &call, None).await.0, 201);
    }
    assert_eq!(share(&gate, ADMIN, &call, None).await.0, 409, "not without end");
}

/// Writes a link as if it had been made long ago.
async fn old_link(app: &App, call: &str) -> String {
    let secret = Secret::generate().unwrap();
    let at = Timestamp::from_micros(1_000_000);
    let share = Share {
        id: ShareId::generate(),
        tenant: TenantId::default_tenant(),
        call: call.parse().unwrap(),
        hash: hash_key(secret.reveal()),
        by: "user:admin".parse().unwrap(),
        key: None,
        created_at: at,
        expires_at: Timestamp::from_micros(2_000_000),
        revoked_at: None,
    };
    let writes = vec![Write::PutShare(Box::new(share))];
    let summary = JsonText::from_value(&json!({ "action": "test" }));
    let change =
        AdminChange::new(TenantId::default_tenant(), "user:admin".parse().unwrap(), at, &summary, writes);
    app.store().change(change).await.unwrap();
    secret.reveal().to_owned()
}

#[tokio::test]
async fn what_has_run_out_never_was_or_is_no_link_looks_the_same() {
    let gate = TestGate::permissive().await;
    let call = run(&gate).await;
    let old = old_link(&gate.app, &call).await;
    let gone = nothing(&gate).await;
    assert_eq!(gone.0, 404);
    for token in
        [old.as_str(), "x", &"f".repeat(64), &"F".repeat(64), &"0".repeat(10_000), "%00", "..%2f..", &call]
    {
        assert_eq!(open(&gate, &format!("{}/share/{token}", gate.url)).await, gone, "{token:.80}");
    }
}

#[tokio::test]
async fn guessing_is_slowed_down() {
    let gate = TestGate::permissive().await;
    let mut statuses = Vec::new();
    for number in 0..80 {
        statuses.push(open(&gate, &format!("{}/share/{number:064x}", gate.url)).await.0);
    }
    assert!(statuses.contains(&429), "{statuses:?}");
    assert!(statuses.iter().all(|status| [404, 429].contains(status)));
}

#[tokio::test]
async fn whoever_opens_one_link_again_and_again_is_not_slowed_down() {
    let gate = TestGate::permissive().await;
    let call = run(&gate).await;
    let (_, url) = link(&gate, ADMIN, &call).await;
    for _ in 0..80 {
        assert_eq!(open(&gate, &url).await.0, 200);
    }
}

#[tokio::test]
async fn the_operator_switches_links_off_and_shortens_them() {
    let day = std::time::Duration::from_secs(86_400);
    let settings = |enabled, longest| ShareSettings { enabled, longest };
    let gate = TestGate::with_app(ServerSettings::default(), PERMISSIVE, |app| {
        app.with_shares(settings(false, day))
    })
    .await;
    let call = run(&gate).await;
    let (status, body) = share(&gate, ADMIN, &call, None).await;
    assert_eq!((status, &body["error"]["code"]), (403, &json!("forbidden")), "{body}");
    let gate =
        TestGate::with_app(ServerSettings::default(), PERMISSIVE, |app| app.with_shares(settings(true, day)))
            .await;
    let call = run(&gate).await;
    assert_eq!(share(&gate, ADMIN, &call, Some(json!({ "expires_in_seconds": 86_401 }))).await.0, 400);
    assert_eq!(share(&gate, ADMIN, &call, None).await.0, 201, "the usual time is cut to the longest");
}
