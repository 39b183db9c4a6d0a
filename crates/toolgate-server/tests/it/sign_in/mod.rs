//! People sign in with passwords, and attackers try to.

mod cookie;
mod guessing;
mod link;
mod page;
mod password;

use std::time::Duration;

use serde_json::json;
use toolgate_core::Timestamp;
use toolgate_core::administration::{AdminChange, Write};
use toolgate_core::document::Expect;

use crate::browser::{Browser, PASSWORD};
use crate::gate::{ADMIN, NewCaller, TestGate};

const SESSION: &str = "/api/v1/auth/session";
const HOUR: Duration = Duration::from_secs(3600);

/// A gate with two people who have a password: an administrator `ada` and a member `bob`.
async fn gate() -> TestGate {
    let gate = TestGate::start().await;
    add_user(&gate, "ada", &["admin"]).await;
    add_user(&gate, "bob", &["member"]).await;
    gate
}

/// A user with the password all tests use, by invitation.
pub(crate) async fn add_user(gate: &TestGate, login: &str, roles: &[&str]) {
    let principal = format!("user:{login}");
    gate.caller(NewCaller { tenant: "default", principal: &principal, roles, ..NewCaller::default() }).await;
    let token = invite(gate, login).await;
    let accepted = Browser::new(gate)
        .send("POST", "/api/v1/auth/accept", Some(json!({ "token": token, "password": PASSWORD })), &[])
        .await;
    assert_eq!(accepted.status, 200, "{}", accepted.text);
}

async fn invite(gate: &TestGate, login: &str) -> String {
    let path = format!("/api/v1/principals/user:{login}/invite");
    let (status, invitation) = gate.send(Some(ADMIN), "POST", &path, None, &[]).await;
    assert_eq!(status, 201, "{invitation}");
    let url = invitation["url"].as_str().unwrap();
    url.split_once("/invite?token=").unwrap().1.to_owned()
}

fn now(gate: &TestGate) -> Timestamp {
    gate.runner.parts().clock.now()
}

pub(crate) async fn switch_off(gate: &TestGate, login: &str) {
    let store = &gate.runner.parts().store;
    let (tenant, id) = ("default".parse().unwrap(), format!("user:{login}").parse().unwrap());
    let mut principal = store.principal(&tenant, &id).await.unwrap().unwrap();
    principal.disabled = true;
    let write = Write::PutPrincipal { principal: Box::new(principal), expect: Expect::Anything };
    let by = "service:test".parse().unwrap();
    let change = AdminChange::new(tenant.clone(), by, now(gate), &json!({ "action": "test" }), vec![write]);
    store.change(change).await.unwrap();
    gate.snapshots.reload(&tenant).await.unwrap();
}
