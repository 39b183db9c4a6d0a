//! Who may do what: every route as each kind of caller.

use serde_json::{Value, json};
use toolgate_policy::cedar::Policies;
use toolgate_server::ServerSettings;

use crate::gate::{ADMIN, AGENT, NewCaller, OTHER_TENANT, OTHER_USER, TestGate};

/// Every route of the document, with an address and a body. `{…}` in them is the administrator's own.
const ROUTES: &[(&str, &str, &str, &str)] = &[
    ("GET", "/api/v1/tools", "/api/v1/tools", ""),
    ("GET", "/api/v1/tools/{id}", "/api/v1/tools/core__get_current_time", ""),
    ("POST", "/api/v1/tools/{id}/invoke", "/api/v1/tools/core__get_current_time/invoke", r#"{"input":{}}"#),
    ("GET", "/api/v1/invocations", "/api/v1/invocations", ""),
    ("GET", "/api/v1/invocations/{id}", "/api/v1/invocations/{call}", ""),
    ("POST", "/api/v1/invocations/{id}/settle", "/api/v1/invocations/{call}/settle", r#"{"outcome":"done"}"#),
    (
        "POST",
        "/api/v1/invocations/{id}/edit",
        "/api/v1/invocations/{calls}/edit",
        r#"{"input":{"effect_id":"other"}}"#,
    ),
    ("POST", "/api/v1/invocations/{id}/remarks", "/api/v1/invocations/{calls}/remarks", r#"{"text":"why?"}"#),
    (
        "POST",
        "/api/v1/invocations/{id}/reassign",
        "/api/v1/invocations/{calls}/reassign",
        r#"{"to":"user:approver"}"#,
    ),
    (
        "POST",
        "/api/v1/runs/{run}/tool-results",
        "/api/v1/runs/{session}/tool-results",
        r#"{"callId":"{call}","result":{}}"#,
    ),
    ("POST", "/api/v1/callbacks/{token}", "/api/v1/callbacks/0123456789abcdef", r#"{"result":{}}"#),
    ("GET", "/api/v1/input-requests/{token}", "/api/v1/input-requests/0123456789abcdef", ""),
    ("POST", "/api/v1/input-requests/{token}", "/api/v1/input-requests/0123456789abcdef", r#"{"answer":{}}"#),
    ("POST", "/api/v1/invocations/{id}/shares", "/api/v1/invocations/{call}/shares", ""),
    ("GET", "/api/v1/invocations/{id}/shares", "/api/v1/invocations/{call}/shares", ""),
    ("DELETE", "/api/v1/shares/{id}", "/api/v1/shares/shr_00000000000000000000000000000000", ""),
    ("POST", "/api/v1/invocations/{id}/links", "/api/v1/invocations/{calls}/links", ""),
    ("GET", "/api/v1/inbox", "/api/v1/inbox", ""),
    ("GET", "/api/v1/inbox/events", "/api/v1/inbox/events", ""),
    ("GET", "/api/v1/notifications", "/api/v1/notifications", ""),
    (
        "POST",
        "/api/v1/notifications/{id}/retry",
        "/api/v1/notifications/ntf_00000000000000000000000000000000/retry",
        "",
    ),
    ("POST", "/api/v1/notifications/channels/{name}/test", "/api/v1/notifications/channels/none/test", ""),
    ("GET", "/api/v1/grants", "/api/v1/grants", ""),
    ("GET", "/api/v1/grants/{name}", "/api/v1/grants/gnt-none", ""),
    ("DELETE", "/api/v1/grants/{name}", "/api/v1/grants/gnt-none", ""),
    ("GET", "/api/v1/approval-rules", "/api/v1/approval-rules", ""),
    ("PUT", "/api/v1/approval-rules/{name}", "/api/v1/approval-rules/mine", r#"{"tools":["none__at_all"]}"#),
    ("GET", "/api/v1/approval-rules/{name}", "/api/v1/approval-rules/mine", ""),
    ("DELETE", "/api/v1/approval-rules/{name}", "/api/v1/approval-rules/mine", ""),
    ("POST", "/api/v1/sessions", "/api/v1/sessions", ""),
    ("GET", "/api/v1/sessions/{id}", "/api/v1/sessions/{session}", ""),
    ("GET", "/api/v1/sessions/{id}/events", "/api/v1/sessions/{session}/events", ""),
    ("POST", "/api/v1/audit/verify", "/api/v1/audit/verify", ""),
    ("GET", "/api/v1/audit/export", "/api/v1/audit/export", ""),
    ("GET", "/api/v1/audit/events", "/api/v1/audit/events", ""),
    ("GET", "/api/v1/audit/events/live", "/api/v1/audit/events/live", ""),
    ("GET", "/api/v1/me", "/api/v1/me", ""),
    ("GET", "/api/v1/policy", "/api/v1/policy", ""),
    ("PUT", "/api/v1/policy", "/api/v1/policy", r#"{"text":"{policy}"}"#),
    ("POST", "/api/v1/policy/validate", "/api/v1/policy/validate", r#"{"text":""}"#),
    ("GET", "/api/v1/policy/schema", "/api/v1/policy/schema", ""),
    ("GET", "/api/v1/policy/versions", "/api/v1/policy/versions", ""),
    ("GET", "/api/v1/policy/versions/{version}", "/api/v1/policy/versions/0", ""),
    ("GET", "/api/v1/policy/diff", "/api/v1/policy/diff?from=0", ""),
    ("POST", "/api/v1/policy/rollback", "/api/v1/policy/rollback", r#"{"version":0}"#),
    (
        "GET",
        "/api/v1/policy/explain",
        "/api/v1/policy/explain?tool=core__quick_score&principal=user:admin",
        "",
    ),
    ("POST", "/api/v1/policy/explain", "/api/v1/policy/explain", r#"{"tool":"core__quick_score"}"#),
    ("POST", "/api/v1/policy/try", "/api/v1/policy/try", r#"{"text":""}"#),
    ("GET", "/api/v1/tenants", "/api/v1/tenants", ""),
    ("POST", "/api/v1/tenants", "/api/v1/tenants", r#"{"id":"new-{n}","title":"New"}"#),
    ("GET", "/api/v1/tenants/{id}", "/api/v1/tenants/default", ""),
    ("PATCH", "/api/v1/tenants/{id}", "/api/v1/tenants/default", r#"{"title":"Default"}"#),
    ("GET", "/api/v1/me/tenants", "/api/v1/me/tenants", ""),
    ("POST", "/api/v1/me/tenants/switch", "/api/v1/me/tenants/switch", r#"{"tenant":"elsewhere"}"#),
    ("POST", "/api/v1/me/tenants/add", "/api/v1/me/tenants/add", r#"{"tenant":"elsewhere"}"#),
    ("DELETE", "/api/v1/me/tenants/{tenant}", "/api/v1/me/tenants/elsewhere", ""),
    ("GET", "/api/v1/tenant-links", "/api/v1/tenant-links", ""),
    ("DELETE", "/api/v1/tenant-links/{id}", "/api/v1/tenant-links/lnk_00000000000000000000000000000000", ""),
    ("GET", "/api/v1/principals", "/api/v1/principals", ""),
    ("POST", "/api/v1/principals", "/api/v1/principals", r#"{"id":"service:new-{n}","title":"New"}"#),
    ("GET", "/api/v1/principals/{id}", "/api/v1/principals/user:admin", ""),
    ("PATCH", "/api/v1/principals/{id}", "/api/v1/principals/user:third", r#"{"title":"Third"}"#),
    ("POST", "/api/v1/principals/{id}/invite", "/api/v1/principals/user:third/invite", ""),
    ("GET", "/api/v1/keys", "/api/v1/keys?principal=user:admin", ""),
    ("POST", "/api/v1/keys", "/api/v1/keys", r#"{"principal":"service:ci","label":"new"}"#),
    ("GET", "/api/v1/keys/{id}", "/api/v1/keys/{key}", ""),
    ("POST", "/api/v1/keys/{id}/rotate", "/api/v1/keys/{key}/rotate", r#"{"overlap_seconds":60}"#),
    ("DELETE", "/api/v1/keys/{id}", "/api/v1/keys/{key}", ""),
    ("GET", "/api/v1/oauth/clients", "/api/v1/oauth/clients", ""),
    (
        "POST",
        "/api/v1/oauth/clients",
        "/api/v1/oauth/clients",
        r#"{"id":"mine","name":"Mine","redirect_uris":["http://127.0.0.1/back"]}"#,
    ),
    ("GET", "/api/v1/oauth/clients/{id}", "/api/v1/oauth/clients/mine", ""),
    ("DELETE", "/api/v1/oauth/clients/{id}", "/api/v1/oauth/clients/mine", ""),
    ("GET", "/api/v1/oauth/grants", "/api/v1/oauth/grants", ""),
    ("DELETE", "/api/v1/oauth/grants/{id}", "/api/v1/oauth/grants/ogr_00000000000000000000000000000000", ""),
    ("GET", "/api/v1/connections", "/api/v1/connections", ""),
    (
        "PUT",
        "/api/v1/connections/{service}",
        "/api/v1/connections/mcp:mine",
        r#"{"kind":"token","secret":"s3cret","shared":true}"#,
    ),
    (
        "POST",
        "/api/v1/connections/{service}/connect",
        "/api/v1/connections/mcp:mine/connect",
        r#"{"shared":true}"#,
    ),
    ("DELETE", "/api/v1/connections/{service}", "/api/v1/connections/mcp:mine?owner=shared", ""),
    ("GET", "/api/v1/roles", "/api/v1/roles", ""),
    ("PUT", "/api/v1/roles/{name}", "/api/v1/roles/mine", r#"{"rules":[]}"#),
    ("GET", "/api/v1/roles/{name}", "/api/v1/roles/mine", ""),
    ("DELETE", "/api/v1/roles/{name}", "/api/v1/roles/mine", ""),
    ("GET", "/api/v1/usage", "/api/v1/usage", ""),
    ("GET", "/api/v1/entities", "/api/v1/entities", ""),
    ("GET", "/api/v1/entities/{type}", "/api/v1/entities/user", ""),
    ("GET", "/api/v1/upstreams", "/api/v1/upstreams", ""),
    (
        "PUT",
        "/api/v1/upstreams/{name}",
        "/api/v1/upstreams/mine",
        r#"{"transport":{"kind":"stdio","command":"/nowhere/at/all"}}"#,
    ),
    ("GET", "/api/v1/upstreams/{name}", "/api/v1/upstreams/mine", ""),
    ("POST", "/api/v1/upstreams/{name}/disable", "/api/v1/upstreams/mine/disable", ""),
    ("POST", "/api/v1/upstreams/{name}/enable", "/api/v1/upstreams/mine/enable", ""),
    ("POST", "/api/v1/upstreams/{name}/test", "/api/v1/upstreams/mine/test", ""),
    ("POST", "/api/v1/upstreams/{name}/refresh", "/api/v1/upstreams/mine/refresh", ""),
    ("DELETE", "/api/v1/upstreams/{name}", "/api/v1/upstreams/mine", ""),
    ("GET", "/api/v1/upstream-tools", "/api/v1/upstream-tools", ""),
    ("GET", "/api/v1/upstream-tools/{id}", "/api/v1/upstream-tools/mcp__mine__x", ""),
    (
        "POST",
        "/api/v1/upstream-tools/{id}/accept",
        "/api/v1/upstream-tools/mcp__mine__x/accept",
        r#"{"digest":"x","effect":"read","egress":"none","redaction_allow":["*"]}"#,
    ),
    (
        "POST",
        "/api/v1/upstream-tools/{id}/refuse",
        "/api/v1/upstream-tools/mcp__mine__x/refuse",
        r#"{"digest":"x"}"#,
    ),
    ("GET", "/api/v1/toolsets", "/api/v1/toolsets", ""),
    ("PUT", "/api/v1/toolsets/{name}", "/api/v1/toolsets/mine", r#"{"tools":["core__*"]}"#),
    ("GET", "/api/v1/toolsets/{name}", "/api/v1/toolsets/mine", ""),
    ("GET", "/api/v1/profiles", "/api/v1/profiles", ""),
    ("PUT", "/api/v1/profiles/{name}", "/api/v1/profiles/mine", r#"{"rate_per_minute":1000}"#),
    ("GET", "/api/v1/profiles/{name}", "/api/v1/profiles/mine", ""),
    ("GET", "/api/v1/assignments", "/api/v1/assignments", ""),
    (
        "PUT",
        "/api/v1/assignments",
        "/api/v1/assignments",
        r#"{"agent":"agent:helper","toolset":"mine","profile":"mine"}"#,
    ),
    ("DELETE", "/api/v1/assignments", "/api/v1/assignments?agent=agent:helper&toolset=mine", ""),
    ("DELETE", "/api/v1/toolsets/{name}", "/api/v1/toolsets/mine", ""),
    ("DELETE", "/api/v1/profiles/{name}", "/api/v1/profiles/mine", ""),
    ("GET", "/api/v1/limits", "/api/v1/limits", ""),
    ("PUT", "/api/v1/limits/{name}", "/api/v1/limits/mine", r#"{"per":"tenant","rate_per_minute":100000}"#),
    ("GET", "/api/v1/limits/{name}", "/api/v1/limits/mine", ""),
    ("DELETE", "/api/v1/limits/{name}", "/api/v1/limits/mine", ""),
    ("POST", "/api/v1/files", "/api/v1/files?name=x.json", r#"{"a":1}"#),
    ("GET", "/api/v1/files", "/api/v1/files", ""),
    ("GET", "/api/v1/files/{id}", "/api/v1/files/{file}", ""),
    ("GET", "/api/v1/files/{id}/content", "/api/v1/files/{file}/content", ""),
    ("DELETE", "/api/v1/files/{id}", "/api/v1/files/{files}", ""),
    ("GET", "/api/v1/invocations/{id}/files", "/api/v1/invocations/{call}/files", ""),
    ("GET", "/api/v1/invocations/{id}/files/{file_id}", "/api/v1/invocations/{call}/files/{file}", ""),
    ("GET", "/api/v1/kills", "/api/v1/kills", ""),
    (
        "POST",
        "/api/v1/kills",
        "/api/v1/kills",
        r#"{"kind":"tool","target":"core__quick_score","reason":"a test"}"#,
    ),
    ("DELETE", "/api/v1/kills", "/api/v1/kills?kind=tool&target=core__quick_score", ""),
    ("GET", "/api/v1/registry", "/api/v1/registry", ""),
    ("GET", "/api/v1/registry/{tool}", "/api/v1/registry/core__quick_score", ""),
    ("PUT", "/api/v1/registry/{tool}", "/api/v1/registry/core__quick_score", r#"{"enabled":true}"#),
    ("DELETE", "/api/v1/registry/{tool}", "/api/v1/registry/core__quick_score", ""),
    ("GET", "/api/v1/auth/methods", "/api/v1/auth/methods", ""),
    (
        "POST",
        "/api/v1/auth/sign-in",
        "/api/v1/auth/sign-in",
        r#"{"login":"admin","password":"not the password"}"#,
    ),
    (
        "POST",
        "/api/v1/auth/accept",
        "/api/v1/auth/accept",
        r#"{"token":"tgs_none","password":"a long enough one"}"#,
    ),
    ("GET", "/api/v1/auth/session", "/api/v1/auth/session", ""),
    ("GET", "/api/v1/auth/sign-ins", "/api/v1/auth/sign-ins", ""),
    (
        "DELETE",
        "/api/v1/auth/sign-ins/{id}",
        "/api/v1/auth/sign-ins/sin_00000000000000000000000000000000",
        "",
    ),
    (
        "POST",
        "/api/v1/auth/password",
        "/api/v1/auth/password",
        r#"{"current":"not the password","new":"another long password"}"#,
    ),
    ("POST", "/api/v1/auth/sign-out", "/api/v1/auth/sign-out", ""),
    ("POST", "/api/v1/invocations/{id}/approve", "/api/v1/invocations/{calls}/approve", ""),
    ("POST", "/api/v1/invocations/{id}/reject", "/api/v1/invocations/{calls}/reject", r#"{"reason":"no"}"#),
    ("POST", "/api/v1/invocations/{id}/cancel", "/api/v1/invocations/{calls}/cancel", ""),
    // Makes an administrator there, so it comes last.
    ("POST", "/api/v1/tenants/{id}/recover", "/api/v1/tenants/elsewhere/recover", ""),
];

/// The kinds of caller, the weakest first, so that nobody meets what a stronger one did.
struct Callers(Vec<(&'static str, Option<String>)>);

impl Callers {
    async fn of(gate: &TestGate) -> Self {
        let of_role = |principal, role| NewCaller {
            tenant: "default",
            principal,
            roles: std::slice::from_ref(role),
            ..NewCaller::default()
        };
        let narrowed = NewCaller {
            tenant: "default",
            principal: "user:admin",
            roles: &["admin"],
            scopes: &["tool:core__*"],
            ..NewCaller::default()
        };
        Self(vec![
            ("anonymous", None),
            ("wrong key", Some("wrong-key-0123456789abcdef0123456789abcdef01234567".to_owned())),
            ("agent", Some(AGENT.to_owned())),
            ("other user", Some(OTHER_USER.to_owned())),
            ("approver", Some(gate.caller(of_role("user:approver", &"approver")).await)),
            ("auditor", Some(gate.caller(of_role("user:auditor", &"auditor")).await)),
            ("other tenant", Some(OTHER_TENANT.to_owned())),
            ("narrowed admin", Some(gate.caller(narrowed).await)),
            ("admin", Some(ADMIN.to_owned())),
        ])
    }
}

#[tokio::test]
async fn every_route_as_each_kind_of_caller() {
    // Each request comes from another address, so that wrong keys are told what they are and not to wait.
    let proxied =
        ServerSettings { trusted_proxies: vec!["127.0.0.0/8".parse().unwrap()], ..ServerSettings::default() };
    let gate = TestGate::with(proxied, Policies::default_set().0).await;
    for (principal, roles) in [("user:third", &[][..]), ("service:ci", &[][..])] {
        gate.caller(NewCaller { tenant: "default", principal, roles, ..NewCaller::default() }).await;
    }
    let (_, call) = gate.invoke("fixture__mutate", json!({ "effect_id": "mine" })).await;
    let (_, file) = gate.post("/api/v1/files?name=mine.json", json!({})).await;
    let callers = Callers::of(&gate).await;
    let policy = serde_json::to_string(Policies::default_set().0).unwrap();
    let mut table = String::new();
    let mut number = 0;
    for (method, route, path, body) in ROUTES {
        let mut line = format!("{method:7}{route:36}");
        for (who, key) in &callers.0 {
            number += 1;
            // What one caller moves is not there for the next, so each has its own.
            let (_, waiting) = match path.contains("{calls}") {
                true => gate.invoke("fixture__mutate", json!({ "effect_id": number.to_string() })).await,
                false => (0, Value::Null),
            };
            let key_id = match path.contains("{key}") {
                true => {
                    let made = json!({ "principal": "service:ci", "label": "to be tried" });
                    gate.post("/api/v1/keys", made).await.1["key"]["id"].as_str().unwrap().to_owned()
                }
                false => String::new(),
            };
            let (_, own_file) = match path.contains("{files}") {
                true => gate.post("/api/v1/files?name=another.json", json!({})).await,
                false => (0, Value::Null),
            };
            let fill = |text: &str| {
                text.replace("{call}", call["call_id"].as_str().unwrap())
                    .replace("{session}", call["session_id"].as_str().unwrap())
                    .replace("{calls}", waiting["call_id"].as_str().unwrap_or_default())
                    .replace("{key}", &key_id)
                    .replace("{file}", file["id"].as_str().unwrap())
                    .replace("{files}", own_file["id"].as_str().unwrap_or_default())
                    .replace("{n}", &number.to_string())
                    .replace("\"{policy}\"", &policy)
            };
            let body: Option<Value> = (!body.is_empty()).then(|| serde_json::from_str(&fill(body)).unwrap());
            let from = format!("10.0.{}.{}", number / 200, number % 200);
            let headers = [("x-forwarded-for", from.as_str())];
            let status = gate.status(key.as_deref(), method, &fill(path), body, &headers).await;
            line.push_str(&format!("  {who} {status}"));
        }
        table.push_str(line.trim_end());
        table.push('\n');
    }
    let document = serde_json::to_value(toolgate_server::rest::document()).unwrap();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            let tried = ROUTES.iter().any(|(m, route, ..)| m.eq_ignore_ascii_case(method) && route == path);
            if !tried {
                table.push_str(&format!("not tried here: {} {path}\n", method.to_uppercase()));
            }
        }
    }
    let mut settings = insta::Settings::clone_current();
    // The same on every engine.
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!("every_route_as_each_kind_of_caller", table));
    let (_, row) = gate.get(&format!("/api/v1/invocations/{}", call["call_id"].as_str().unwrap())).await;
    assert_eq!(row["status"], "pending", "nobody else moved it");
    gate.verify().await;
}

#[tokio::test]
async fn lists_and_streams_show_only_ones_own() {
    let gate = TestGate::start().await;
    let (_, mine) = gate.invoke("core__get_current_time", json!({})).await;
    let (_, agents) = gate.invoke_as(AGENT, "core__get_current_time", json!({})).await;
    let ids = |list: &Value| -> Vec<String> {
        list["invocations"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let list = |key: &'static str| {
        let gate = &gate;
        async move { gate.send(Some(key), "GET", "/api/v1/invocations", None, &[]).await.1 }
    };
    assert_eq!(ids(&list(AGENT).await), [agents["call_id"].as_str().unwrap()]);
    assert!(ids(&list(OTHER_TENANT).await).is_empty());
    assert_eq!(ids(&list(ADMIN).await).len(), 2);
    let events = format!("/api/v1/sessions/{}/events", mine["session_id"].as_str().unwrap());
    for key in [AGENT, OTHER_USER, OTHER_TENANT] {
        assert_eq!(gate.send(Some(key), "GET", &events, None, &[]).await.0, 404);
    }
    let (_, export) = gate.send(Some(OTHER_TENANT), "GET", "/api/v1/audit/export", None, &[]).await;
    let export = export.to_string();
    assert!(export.contains("admin.changed"), "its own changes are there");
    assert!(!export.contains("tool.completed") && !export.contains(mine["call_id"].as_str().unwrap()));
}

#[tokio::test]
async fn nobody_sets_a_subject_or_a_tenant_from_outside() {
    let gate = TestGate::start().await;
    for body in [
        json!({ "input": {}, "subject": "user:admin" }),
        json!({ "input": {}, "tenant": "elsewhere" }),
        json!({ "input": {}, "actor": "user:admin" }),
    ] {
        let (status, _) = gate
            .send(Some(AGENT), "POST", "/api/v1/tools/core__get_current_time/invoke", Some(body), &[])
            .await;
        assert_eq!(status, 400);
    }
}
