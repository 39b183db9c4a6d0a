//! What managers do: every noun from its making to its end, over real HTTP, and everything that must not work.

mod document;
mod escalation;
mod key;
mod kill;
mod principal;
mod record;
mod registry;
mod steady;
mod tenant;
mod walls;

use serde_json::{Value, json};

use crate::gate::{ADMIN, NewCaller, TestGate};

/// Lets the role `office` manage principals, keys and roles, beside what the default policy lets.
const OFFICE: &str = r#"
    @id("the office manages people")
    permit (principal in Toolgate::Role::"office", action == Toolgate::Action::"manage", resource)
    when { [Toolgate::Area::"principals", Toolgate::Area::"keys", Toolgate::Area::"roles"].contains(resource) };
"#;

fn code(body: &Value) -> &str {
    body["error"]["code"].as_str().unwrap_or("none")
}

/// A gate where the role `office` manages people, without being an administrator.
async fn with_office() -> TestGate {
    let policy = format!("{}\n{OFFICE}", toolgate_policy::cedar::Policies::default_set().0);
    let gate = TestGate::with(toolgate_server::ServerSettings::default(), &policy).await;
    let (status, role) = gate.put("/api/v1/roles/office", json!({ "description": "manages people" })).await;
    assert_eq!(status, 200, "{role}");
    gate
}

impl TestGate {
    async fn put(&self, path: &str, body: Value) -> (u16, Value) {
        self.send(Some(ADMIN), "PUT", path, Some(body), &[]).await
    }

    async fn patch(&self, path: &str, body: Value) -> (u16, Value) {
        self.send(Some(ADMIN), "PATCH", path, Some(body), &[]).await
    }

    async fn delete(&self, path: &str) -> (u16, Value) {
        self.send(Some(ADMIN), "DELETE", path, None, &[]).await
    }

    async fn post_as(&self, key: &str, path: &str, body: Value) -> (u16, Value) {
        self.send(Some(key), "POST", path, Some(body), &[]).await
    }

    async fn get_as(&self, key: &str, path: &str) -> (u16, Value) {
        self.send(Some(key), "GET", path, None, &[]).await
    }

    /// Someone of the default tenant, with a key.
    async fn person(&self, principal: &str, roles: &[&str], rules: &[&str]) -> String {
        self.caller(NewCaller { tenant: "default", principal, roles, rules, ..NewCaller::default() }).await
    }

    /// Makes a key as the administrator and returns its id and secret.
    async fn mint(&self, body: Value) -> (String, String) {
        let (status, made) = self.post("/api/v1/keys", body).await;
        assert_eq!(status, 201, "{made}");
        (made["key"]["id"].as_str().unwrap().to_owned(), made["secret"].as_str().unwrap().to_owned())
    }

    async fn works(&self, key: &str) -> bool {
        match self.get_as(key, "/api/v1/me").await.0 {
            200 => true,
            401 => false,
            other => panic!("{other}"),
        }
    }

    /// The changes by managers in the export, oldest first.
    async fn changes(&self, key: &str) -> Vec<Value> {
        let answer = self.client.get(format!("{}/api/v1/audit/export", self.url)).bearer_auth(key);
        let text = answer.send().await.unwrap().text().await.unwrap();
        let events = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        events.filter(|event| event["type"] == "admin.changed").collect()
    }
}
