//! Being told: what goes out, signed and once; what happens when it does not arrive; and who may look.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use toolgate_app::{Background, Channel, Outbox, Pace, Shape};
use toolgate_core::notification::NotificationKind;
use toolgate_core::port::courier::{Courier, Parcel, Receipt, Undelivered};
use toolgate_policy::cedar::Policies;
use toolgate_server::ServerSettings;
use toolgate_testkit::{HookReceiver, Hooked};

use crate::gate::{ADMIN, AGENT, OTHER_TENANT, OTHER_USER, TestGate};

const SECRET: &str = "a secret of the receiver's";
const PUBLIC: &str = "https://gate.example";

/// Real HTTP, to whatever address it is given.
#[derive(Debug)]
struct PlainCourier(reqwest::Client);

#[async_trait]
impl Courier for PlainCourier {
    async fn carry(&self, parcel: Parcel) -> Result<Receipt, Undelivered> {
        let mut request = self.0.post(&parcel.url).timeout(parcel.within).body(parcel.body);
        for (name, value) in parcel.headers {
            request = request.header(name, value);
        }
        let answer = request.send().await.map_err(|_| Undelivered("no answer".into()))?;
        let after = answer.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
        Ok(Receipt { status: answer.status().as_u16(), retry_after: after.map(Duration::from_secs) })
    }
}

fn channel(name: &str, hook: &HookReceiver, shape: Shape) -> Channel {
    Channel {
        name: name.into(),
        tenant: "default".parse().unwrap(),
        kinds: NotificationKind::OF_CALLS.to_vec(),
        url: hook.url(),
        shape,
    }
}

fn webhook(hook: &HookReceiver) -> Channel {
    channel("ops", hook, Shape::Webhook { secret: SECRET.into() })
}

async fn gate_with(channels: Vec<Channel>) -> TestGate {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let redirects = reqwest::redirect::Policy::none();
    let client = reqwest::Client::builder().no_proxy().redirect(redirects).build().unwrap();
    let pace = Pace { first: Duration::from_millis(10), tries: 4, tries_refused: 2, ..Pace::default() };
    let outbox = Outbox {
        channels: channels.into_iter().map(Arc::new).collect(),
        courier: Some(Arc::new(PlainCourier(client))),
        public_url: Some(PUBLIC.into()),
        pace,
    };
    TestGate::with_all(ServerSettings::default(), Policies::default_set().0, Vec::new(), outbox).await
}

/// An agent asks for something that a person has to decide on.
async fn ask(gate: &TestGate) -> String {
    let input = json!({ "effect_id": "very-private" });
    let (status, call) = gate.invoke_as(AGENT, "fixture__mutate", input).await;
    assert_eq!(status, 202, "{call}");
    call["call_id"].as_str().unwrap().to_owned()
}

fn of_event<'a>(event: &'a str, call: &'a str) -> impl Fn(&Hooked) -> bool {
    move |one| one.json()["event"] == event && one.json()["call"]["id"] == call
}

fn is_signed(one: &Hooked) -> bool {
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    let (id, timestamp) = (one.header("toolgate-id"), one.header("toolgate-timestamp"));
    mac.update(format!("{id}.{timestamp}.{}", one.body).as_bytes());
    let hex: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    one.header("toolgate-signature") == format!("v1={hex}")
}

/// The call's one notification of this kind, once it stands so.
async fn notification(gate: &TestGate, call: &str, event: &str, state: &str) -> Value {
    loop {
        let (status, list) = gate.get(&format!("/api/v1/notifications?state={state}")).await;
        assert_eq!(status, 200, "{list}");
        let list = list["notifications"].as_array().unwrap().clone();
        let mut found = list.into_iter().filter(|one| one["call_id"] == call && one["event"] == event);
        if let Some(one) = found.next() {
            assert!(found.next().is_none(), "told of twice");
            return one;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_message_that_fails_twice_arrives_signed_under_the_same_id() {
    let hook = HookReceiver::start().await;
    hook.answer_next(500, &[]);
    hook.answer_next(429, &[("retry-after", "0")]);
    let gate = gate_with(vec![webhook(&hook)]).await;
    let call = ask(&gate).await;
    let tries = hook.until(3, of_event("approval.requested", &call)).await;
    assert_eq!(tries.iter().map(|one| one.status).collect::<Vec<_>>(), [500, 429, 200]);
    for one in &tries {
        assert!(is_signed(one), "{one:?}");
        assert_eq!((one.header("toolgate-id"), &one.body), (tries[0].header("toolgate-id"), &tries[0].body));
        assert_eq!(one.header("content-type"), "application/json");
        assert!(one.header("toolgate-timestamp").parse::<u64>().unwrap() > 1_700_000_000);
    }
    let mut forged = tries[0].clone();
    forged.body = forged.body.replace("fixture__mutate", "fixture__destroy");
    assert!(!is_signed(&forged));

    let said = tries[0].json();
    assert_eq!(said["id"], tries[0].header("toolgate-id"));
    assert_eq!(said["call"]["tool"], "fixture__mutate");
    assert_eq!(said["call"]["actor"], "agent:helper");
    assert_eq!((&said["call"]["effect"], &said["call"]["egress"]), (&json!("mutate"), &json!("none")));
    assert!(
        said["reason"].is_string() && said["expires_at"].is_string() && said["call"]["title"].is_string()
    );
    assert_eq!(said["link"], format!("{PUBLIC}/approvals?id={call}"));
    assert!(!tries[0].body.contains("very-private"), "the input stays here");

    let kept = notification(&gate, &call, "approval.requested", "delivered").await;
    assert_eq!((&kept["attempts"], &kept["key"]), (&json!(3), &said["id"]));
    assert!(kept["delivered_at"].is_string() && kept["last_error"].is_null());
}

#[tokio::test]
async fn people_are_told_of_decisions_questions_and_passing_on() {
    let hook = HookReceiver::start().await;
    let gate = gate_with(vec![webhook(&hook)]).await;
    let call = ask(&gate).await;
    let path = format!("/api/v1/invocations/{call}/reject");
    let (status, answer) = gate.post(&path, json!({ "reason": "not today" })).await;
    assert_eq!(status, 200, "{answer}");
    let decided = hook.until(1, of_event("approval.decided", &call)).await[0].json();
    let expected = (&json!("rejected"), &json!("user:admin"), &json!("not today"));
    assert_eq!((&decided["outcome"], &decided["decided_by"], &decided["reason"]), expected);
    assert!(decided.get("expires_at").is_none());

    let rule =
        json!({ "tools": ["fixture__transfer"], "approvers": ["approver"], "escalate_after_seconds": 1 });
    let (status, answer) =
        gate.send(Some(ADMIN), "PUT", "/api/v1/approval-rules/slow", Some(rule), &[]).await;
    assert_eq!(status, 200, "{answer}");
    let (_, slow) = gate.invoke_as(AGENT, "fixture__transfer", json!({ "amount": 1, "to": "ada" })).await;
    let slow = slow["call_id"].as_str().unwrap();
    let asked = hook.until(1, of_event("approval.requested", slow)).await[0].json();
    assert_eq!(asked["approvers"], json!(["approver"]));
    hook.until(1, of_event("approval.escalated", slow)).await;

    let question = json!({ "title": "Which?", "questions": [{ "id": "q", "label": "Which one?" }] });
    let (status, question) = gate.invoke("core__request_input", question).await;
    assert_eq!(status, 202, "{question}");
    let question = question["call_id"].as_str().unwrap();
    let told = hook.until(1, of_event("input.requested", question)).await[0].json();
    assert!(told["expires_at"].is_string() && !told.to_string().contains("Which one?"));
    gate.verify().await;
}

#[tokio::test]
async fn what_a_standing_grant_lets_run_is_told_to_nobody() {
    let hook = HookReceiver::start().await;
    let gate = gate_with(vec![webhook(&hook)]).await;
    let transfer = json!({ "amount": 1, "to": "ada" });
    let (_, first) = gate.invoke_as(AGENT, "fixture__transfer", transfer.clone()).await;
    let first = first["call_id"].as_str().unwrap().to_owned();
    let remember = json!({ "remember": { "arguments": "same", "expires_in_seconds": 600 } });
    let (status, answer) = gate.post(&format!("/api/v1/invocations/{first}/approve"), remember).await;
    assert_eq!(status, 200, "{answer}");
    let (status, granted) = gate.invoke_as(AGENT, "fixture__transfer", transfer).await;
    assert_eq!(status, 200, "{granted}");
    // News are told in order, so what is asked later arrives when the granted call was passed over.
    let last = ask(&gate).await;
    hook.until(1, of_event("approval.requested", &last)).await;
    let mut told: Vec<String> =
        hook.came().iter().map(|one| one.json()["call"]["id"].as_str().unwrap().to_owned()).collect();
    told.retain(|id| *id != last);
    assert_eq!(told, [first.clone(), first]);
}

#[tokio::test]
async fn what_never_arrives_is_given_up_shown_and_brought_back() {
    let (hook, silent) = (HookReceiver::start().await, HookReceiver::start().await);
    // A redirect is no delivery, and is not followed; nor is a plain no.
    hook.answer_next(302, &[("location", &silent.url())]);
    hook.answer_next(404, &[]);
    let gate = gate_with(vec![webhook(&hook)]).await;
    let call = ask(&gate).await;
    let dead = notification(&gate, &call, "approval.requested", "dead").await;
    assert_eq!((&dead["attempts"], &dead["last_error"]), (&json!(2), &json!("the other side answered 404")));
    assert!(!dead.to_string().contains(&hook.url()), "the address is shown nowhere");
    assert!(silent.came().is_empty(), "the redirect was followed");

    let path = format!("/api/v1/notifications/{}/retry", dead["id"].as_str().unwrap());
    for (key, expected) in [(AGENT, 403), (OTHER_USER, 403), (OTHER_TENANT, 404)] {
        assert_eq!(gate.status(Some(key), "POST", &path, None, &[]).await, expected);
    }
    assert_eq!(gate.send(Some(ADMIN), "POST", &path, None, &[]).await.0, 200);
    let delivered = notification(&gate, &call, "approval.requested", "delivered").await;
    assert_eq!((&delivered["id"], &delivered["attempts"]), (&dead["id"], &json!(3)));
    let ids: Vec<String> = hook.came().iter().map(|one| one.header("toolgate-id").to_owned()).collect();
    assert!(ids.len() == 3 && ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    assert_eq!(gate.send(Some(ADMIN), "POST", &path, None, &[]).await.0, 409, "it was delivered");
}

#[tokio::test]
async fn a_channel_hears_of_its_own_tenant_and_of_what_it_asked_for() {
    let (all, few, foreign) =
        (HookReceiver::start().await, HookReceiver::start().await, HookReceiver::start().await);
    let few_kinds = Channel {
        kinds: vec![NotificationKind::ApprovalDecided],
        ..channel("few", &few, Shape::Webhook { secret: SECRET.into() })
    };
    let elsewhere =
        Channel { tenant: "elsewhere".parse().unwrap(), ..channel("far", &foreign, Shape::Slack) };
    let gate = gate_with(vec![webhook(&all), few_kinds, elsewhere]).await;
    let call = ask(&gate).await;
    gate.post(&format!("/api/v1/invocations/{call}/reject"), json!({ "reason": "no" })).await;
    all.until(1, of_event("approval.decided", &call)).await;
    few.until(1, of_event("approval.decided", &call)).await;
    assert_eq!((all.came().len(), few.came().len(), foreign.came().len()), (2, 1, 0));
    let (_, list) = gate.send(Some(OTHER_TENANT), "GET", "/api/v1/notifications", None, &[]).await;
    assert_eq!(list["notifications"], json!([]), "another tenant's are not seen");
}

#[tokio::test]
async fn a_channel_that_hangs_holds_up_no_other() {
    let (stuck, swift) = (HookReceiver::start().await, HookReceiver::start().await);
    stuck.hold(true);
    let gate = gate_with(vec![webhook(&stuck), channel("chat", &swift, Shape::Slack)]).await;
    for _ in 0..20 {
        ask(&gate).await;
    }
    swift.until(20, |_| true).await;
    assert!(stuck.came().len() <= 8, "so many are under way at once, and no more");
    stuck.hold(false);
    let mut ids: Vec<String> = Vec::new();
    for one in stuck.until(20, |_| true).await {
        ids.push(one.header("toolgate-id").to_owned());
    }
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 20);
}

#[tokio::test]
async fn several_nodes_send_each_message_once() {
    let hook = HookReceiver::start().await;
    let gate = gate_with(vec![webhook(&hook)]).await;
    for _ in 0..2 {
        tokio::spawn(Background::default().run(gate.app.clone()));
    }
    let mut calls = Vec::new();
    for _ in 0..40 {
        calls.push(ask(&gate).await);
    }
    hook.until(40, |_| true).await;
    for call in &calls {
        notification(&gate, call, "approval.requested", "delivered").await;
    }
    let mut told: Vec<String> = hook.came().iter().map(|one| one.header("toolgate-id").to_owned()).collect();
    told.sort_unstable();
    told.dedup();
    assert_eq!((told.len(), hook.came().len()), (40, 40));
}

#[tokio::test]
async fn markup_is_inert_and_links_decide_nothing() {
    let hook = HookReceiver::start().await;
    let gate = gate_with(vec![channel("chat", &hook, Shape::Slack)]).await;
    let call = ask(&gate).await;
    let asked = hook.until(1, |one| one.body.contains(&call)).await[0].json();
    let button = &asked["blocks"].as_array().unwrap().last().unwrap()["elements"][0];
    let link = button["url"].as_str().unwrap().to_owned();
    assert!(button.get("value").is_none() && button.get("action_id").is_none(), "{button}");

    // Whoever opens the link, a preview robot or a person signed in, decides nothing by it.
    let path = link.strip_prefix(PUBLIC).unwrap();
    for method in ["GET", "HEAD", "OPTIONS"] {
        for key in [None, Some(ADMIN)] {
            gate.status(key, method, path, None, &[]).await;
        }
    }
    let (_, row) = gate.get(&format!("/api/v1/invocations/{call}")).await;
    assert_eq!((&row["status"], &row["approval"]), (&json!("pending"), &json!("pending")));

    let hostile = "<!channel> <https://evil.example|ok> <script>alert(1)</script> & \u{202e}x";
    gate.post(&format!("/api/v1/invocations/{call}/reject"), json!({ "reason": hostile })).await;
    let told = hook.until(1, |one| one.body.contains("rejected")).await[0].clone();
    assert!(!told.body.contains('<') && !told.body.contains('\u{202e}'), "{}", told.body);
    assert!(told.body.contains("&lt;!channel&gt;"), "{}", told.body);
}

#[tokio::test]
async fn a_channel_can_be_tried_by_those_who_manage_approvals() {
    let hook = HookReceiver::start().await;
    let gate = gate_with(vec![webhook(&hook)]).await;
    let path = "/api/v1/notifications/channels/ops/test";
    for (key, expected) in [(AGENT, 403), (OTHER_USER, 403), (OTHER_TENANT, 404)] {
        assert_eq!(gate.status(Some(key), "POST", path, None, &[]).await, expected);
    }
    assert!(hook.came().is_empty());
    let (status, sent) = gate.send(Some(ADMIN), "POST", path, None, &[]).await;
    assert_eq!((status, &sent["state"], &sent["event"]), (200, &json!("delivered"), &json!("channel.test")));
    let came = hook.came();
    assert!(came.len() == 1 && is_signed(&came[0]) && came[0].header("toolgate-id") == sent["key"]);

    hook.answer_next(500, &[]);
    let (status, sent) = gate.send(Some(ADMIN), "POST", path, None, &[]).await;
    assert_eq!((status, &sent["state"]), (200, &json!("dead")), "{sent}");
    assert_eq!(sent["last_error"], "the other side answered 500");
    let none = "/api/v1/notifications/channels/none/test";
    assert_eq!(gate.status(Some(ADMIN), "POST", none, None, &[]).await, 404);
}
