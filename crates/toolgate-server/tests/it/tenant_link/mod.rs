//! One person in several tenants: linked by proof, switching, and what attackers make of it.

mod attack;
mod identity;
mod link;
mod switch;

use serde_json::{Value, json};

use crate::browser::{Answer, Browser, PASSWORD};
use crate::gate::{ADMIN, NewCaller, OTHER_TENANT, TestGate};

const MINE: &str = "/api/v1/me/tenants";
const SESSION: &str = "/api/v1/auth/session";
const LINK: &str = "__Host-toolgate-link";

/// A gate with `ada` of the default tenant and `lovelace` of another, who are one person, and `eve` of each.
async fn gate() -> TestGate {
    let gate = TestGate::start().await;
    for (key, tenant, login) in [
        (ADMIN, "default", "ada"),
        (ADMIN, "default", "eve"),
        (OTHER_TENANT, "elsewhere", "lovelace"),
        (OTHER_TENANT, "elsewhere", "eve"),
    ] {
        add_person(&gate, key, tenant, login).await;
    }
    gate
}

/// A member with the password all tests use.
async fn add_person(gate: &TestGate, key: &str, tenant: &str, login: &str) {
    let principal = format!("user:{login}");
    gate.caller(NewCaller { tenant, principal: &principal, roles: &["member"], ..NewCaller::default() })
        .await;
    let path = format!("/api/v1/principals/{principal}/invite");
    let (status, invitation) = gate.send(Some(key), "POST", &path, None, &[]).await;
    assert_eq!(status, 201, "{invitation}");
    let token = invitation["url"].as_str().unwrap().split_once("token=").unwrap().1.to_owned();
    let body = json!({ "token": token, "password": PASSWORD });
    let accepted = Browser::new(gate).send("POST", "/api/v1/auth/accept", Some(body), &[]).await;
    assert_eq!(accepted.status, 200, "{}", accepted.text);
}

/// Signs in to a tenant as its sign-in page does.
async fn sign_in_to(browser: &mut Browser<'_>, tenant: &str, login: &str) -> Answer {
    let fields = [("tenant", tenant), ("login", login), ("password", PASSWORD), ("return_to", "/link")];
    let answer = browser.form("/sign-in", &fields).await;
    browser.get(SESSION).await;
    answer
}

/// Begins to link whoever is signed in.
async fn begin(browser: &mut Browser<'_>, tenant: &str) -> Answer {
    browser.change("POST", &format!("{MINE}/add"), Some(json!({ "tenant": tenant }))).await
}

/// Answers the page that asks whether to link.
async fn answer(browser: &mut Browser<'_>, answer: &str) -> Answer {
    let csrf = browser.csrf.clone();
    browser.form("/link", &[("csrf", &csrf), ("answer", answer)]).await
}

/// A browser with someone signed in to a tenant.
async fn signed_in<'a>(gate: &'a TestGate, tenant: &str, login: &str) -> Browser<'a> {
    let mut browser = Browser::new(gate);
    assert_eq!(sign_in_to(&mut browser, tenant, login).await.status, 303);
    browser
}

/// Ada links herself with Lovelace, and is Lovelace now.
async fn linked(gate: &TestGate) -> Browser<'_> {
    let mut browser = signed_in(gate, "default", "ada").await;
    assert_eq!(begin(&mut browser, "elsewhere").await.status, 201);
    sign_in_to(&mut browser, "elsewhere", "lovelace").await;
    let done = answer(&mut browser, "link").await;
    assert_eq!(done.status, 303, "{}", done.text);
    browser
}

async fn switch(browser: &mut Browser<'_>, tenant: &str) -> Answer {
    browser.change("POST", &format!("{MINE}/switch"), Some(json!({ "tenant": tenant }))).await
}

/// Who and where a browser is, or the status that says nowhere.
async fn who(browser: &mut Browser<'_>) -> String {
    let session = browser.get(SESSION).await;
    match session.status {
        200 => format!("{} {}", text(&session.json()["tenant"]), text(&session.json()["principal"])),
        other => other.to_string(),
    }
}

/// A browser's tenants and how it gets there.
async fn tenants(browser: &mut Browser<'_>) -> Vec<String> {
    let list = browser.get(MINE).await.json();
    let all = list["tenants"].as_array().unwrap();
    all.iter().map(|own| format!("{} {}", text(&own["id"]), text(&own["access"]))).collect()
}

/// The links of a tenant, as its administrator sees them.
async fn links(gate: &TestGate, key: &str) -> Vec<Value> {
    let (status, list) = gate.send(Some(key), "GET", "/api/v1/tenant-links", None, &[]).await;
    assert_eq!(status, 200, "{list}");
    list["links"].as_array().unwrap().clone()
}

/// What a tenant's record says was done, of what begins with `user.`.
async fn told(gate: &TestGate, key: &str) -> Vec<String> {
    let (_, export) = gate.send(Some(key), "GET", "/api/v1/audit/export", None, &[]).await;
    let lines: Vec<Value> = match export {
        Value::String(text) => text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect(),
        one => vec![one],
    };
    let actions = lines.iter().filter_map(|event| event["data"]["action"].as_str());
    actions
        .filter(|action| {
            ["user.linked", "user.unlinked", "user.switched_here", "user.switched_away"].contains(action)
        })
        .map(str::to_owned)
        .collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("none")
}
