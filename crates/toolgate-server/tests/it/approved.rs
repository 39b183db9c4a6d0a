//! Between a person's word and the begin of a call: the grant that comes with it, places, and crashes.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use toolgate_core::Timestamp;
use toolgate_core::change::{Change, NewCall, SessionUse};
use toolgate_core::id::{InvocationId, SessionId, TenantId};
use toolgate_core::invocation::{Invocation, Opened, Step};

use crate::approval::Desk;
use crate::gate::AGENT;

impl Desk {
    async fn stored(&self, id: &str) -> Invocation {
        let found = self.gate.app.store().get(&TenantId::default_tenant(), id.parse().unwrap()).await;
        found.unwrap().unwrap()
    }

    fn now(&self) -> Timestamp {
        self.gate.runner.parts().clock.now()
    }

    /// How a call stands once it is settled.
    async fn settled(&self, id: &str) -> Value {
        let path = format!("/api/v1/invocations/{id}?wait=30");
        self.gate.get(&path).await.1
    }

    async fn grants(&self) -> Vec<Value> {
        let (_, listed) = self.gate.send(Some(&self.boss), "GET", "/api/v1/grants", None, &[]).await;
        listed["grants"].as_array().unwrap().clone()
    }
}

#[tokio::test]
async fn a_word_and_its_grant_are_written_together() {
    let desk = Desk::open().await;
    let call = desk.ask(70, "ada").await;
    let approve = || {
        let remember = json!({ "arguments": "any", "expires_in_seconds": 3600 });
        desk.act(&desk.boss, &call, "approve", json!({ "remember": remember }))
    };
    desk.gate.losing.refused_changes.store(1, Ordering::SeqCst);
    assert_eq!(approve().await.0, 503);
    assert_eq!(desk.row(&call).await["approval"], "pending", "without the grant there was no word either");
    assert!(desk.grants().await.is_empty());
    let (status, ran) = approve().await;
    assert_eq!((status, &ran["status"]), (200, &json!("completed")), "{ran}");
    assert_eq!(desk.grants().await.len(), 1);
    desk.gate.verify().await;
}

#[tokio::test]
async fn an_approved_call_does_not_look_for_a_place_for_ever() {
    let desk = Desk::open().await;
    desk.put(
        "/api/v1/limits/one",
        json!({ "tools": ["fixture__slow_mutate"], "per": "tool", "concurrency": 1 }),
    )
    .await;
    let ask = async || {
        let body = json!({ "milliseconds": 600_000 });
        let (_, call) = desk.gate.invoke_as(AGENT, "fixture__slow_mutate", body).await;
        assert_eq!(call["status"], "pending", "{call}");
        call["call_id"].as_str().unwrap().to_owned()
    };
    let (runs, long, fresh) = (ask().await, ask().await, ask().await);
    let path = format!("/api/v1/invocations/{runs}/approve?wait=0");
    let (_, begun) = desk.gate.send(Some(&desk.boss), "POST", &path, Some(json!({})), &[]).await;
    assert_eq!(begun["status"], "running", "{begun}");
    let approve = async |id: &str, ago: Duration| {
        let (row, by) = (desk.stored(id).await, "user:boss".parse().unwrap());
        let step = Change::step(&row, &by, &Step::Approved { reason: None }, desk.now().minus(ago));
        desk.gate.app.store().advance(step.unwrap().due(desk.now())).await.unwrap();
    };
    approve(&fresh, Duration::ZERO).await;
    approve(&long, Duration::from_secs(2 * 3600)).await;
    let ended = desk.settled(&long).await;
    assert_eq!(
        (&ended["status"], &ended["error"]["code"]),
        (&json!("failed"), &json!("budget_exceeded")),
        "{ended}"
    );
    assert_eq!(desk.gate.get(&format!("/api/v1/invocations/{fresh}")).await.1["status"], "pending");
    desk.gate.verify().await;
}

/// The same call once more, begun by a worker that died before it ran.
async fn cut_off(desk: &Desk, like: &Invocation) -> String {
    let (id, now) = (InvocationId::generate(), desk.now());
    let session = SessionId::from_uuid(id.uuid());
    let opened = Opened { id, session, created_at: now, ..like.opened.clone() };
    let review = like.review.clone();
    let deadline = now.plus(Duration::from_secs(3600));
    let asked = Step::NeedsApproval { reason: "a test asks".to_owned(), deadline, review };
    let approved = Step::Approved { reason: like.opened.rule.clone() };
    let by = like.decided_by.clone().unwrap();
    let new = NewCall::open_approved(opened, &asked, &approved, &by, now, SessionUse::New).unwrap();
    desk.gate.app.store().begin(new.due(now)).await.unwrap();
    id.to_string()
}

#[tokio::test]
async fn a_granted_call_that_was_cut_off_needs_its_grant_still() {
    let desk = Desk::open().await;
    let call = desk.ask(70, "ada").await;
    let remember = json!({ "arguments": "any", "expires_in_seconds": 3600 });
    assert_eq!(desk.act(&desk.boss, &call, "approve", json!({ "remember": remember })).await.0, 200);
    let transfer = json!({ "amount": 1, "to": "ada" });
    let (_, granted) = desk.gate.invoke_as(AGENT, "fixture__transfer", transfer).await;
    let like = desk.stored(granted["call_id"].as_str().unwrap()).await;
    let ran = desk.settled(&cut_off(&desk, &like).await).await;
    assert_eq!(ran["status"], "completed", "{ran}");
    let grant = format!("/api/v1/grants/{}", desk.grants().await[0]["name"].as_str().unwrap());
    assert_eq!(desk.gate.send(Some(&desk.boss), "DELETE", &grant, None, &[]).await.0, 204);
    let stopped = desk.settled(&cut_off(&desk, &like).await).await;
    assert_eq!(
        (&stopped["status"], &stopped["error"]["code"]),
        (&json!("failed"), &json!("policy_denied")),
        "{stopped}"
    );
    desk.gate.verify().await;
}
