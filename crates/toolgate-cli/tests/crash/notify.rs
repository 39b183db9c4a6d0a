//! `kill -9` at every step of telling someone: it is told, under the same id, and told of once.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_testkit::{CountingReceiver, Gate, GateSetup, HookReceiver};

use crate::{Engine, setup};

/// Before notifications are written, between claim and sending, and between the answer and writing it down.
const FAIL_POINTS: [&str; 3] = ["outbox.before_post", "outbox.claimed", "outbox.sent"];

async fn start(engine: Engine, receiver: &CountingReceiver, hook: &HookReceiver) -> Gate {
    let config = format!(
        "[server]\npublic_url = \"https://gate.example\"\n\
         [notify.ops]\nkind = \"webhook\"\nurl = {:?}\nsecret_env = \"HOOK_SECRET\"\n",
        hook.url()
    );
    let mut setup = GateSetup { policies: None, config: Some(config), ..setup(engine, receiver).await };
    setup.envs.push(("HOOK_SECRET".into(), "0123456789abcdef".into()));
    Gate::start(setup).await
}

async fn delivered(gate: &Gate, call: &str) -> Value {
    loop {
        let (status, list) = gate.get("/api/v1/notifications").await;
        assert_eq!(status, 200, "{list}");
        let all = list["notifications"].as_array().unwrap();
        let mine: Vec<&Value> = all.iter().filter(|one| one["call_id"] == call).collect();
        assert!(mine.len() <= 1, "told of twice: {mine:?}");
        if let [one] = mine[..]
            && one["state"] == "delivered"
        {
            return one.clone();
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn every_step(engine: Engine) {
    let (receiver, hook) = (CountingReceiver::start().await, HookReceiver::start().await);
    let mut gate = start(engine, &receiver, &hook).await;
    for point in FAIL_POINTS {
        gate.kill();
        gate.start_again(&[("TOOLGATE_FAILPOINT", point)]);
        gate.ready().await;
        let (status, call) = gate.invoke("fixture__mutate", json!({ "effect_id": point }), &[]).await;
        assert_eq!(status, 202, "{call}");
        let call = call["call_id"].as_str().unwrap().to_owned();
        assert!(gate.ended(Duration::from_secs(30)).await.is_some(), "{point} was not reached");
        gate.start_again(&[]);
        gate.ready().await;
        let kept = delivered(&gate, &call).await;
        let came = hook.until(1, |one| one.json()["call"]["id"] == call).await;
        for one in &came {
            assert_eq!(one.header("toolgate-id"), kept["key"].as_str().unwrap(), "{point}");
        }
        // What was sent before the answer could be written down is sent again, and known by its id.
        assert_eq!(came.len(), if point == "outbox.sent" { 2 } else { 1 }, "{point}");
    }
    // A secret is neither said nor logged.
    assert!(!gate.log().contains("0123456789abcdef") && !gate.log().contains(&hook.url()));
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_tells_whenever_it_dies() {
    every_step(Engine::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_tells_whenever_it_dies() {
    every_step(Engine::Postgres).await;
}

/// Two servers on one database: each message goes out once.
#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_tell_once() {
    let (receiver, hook) = (CountingReceiver::start().await, HookReceiver::start().await);
    let one = start(Engine::Postgres, &receiver, &hook).await;
    let other = Gate::start(one.setup().clone()).await;
    let mut calls = Vec::new();
    for number in 0..40 {
        let gate = if number % 2 == 0 { &one } else { &other };
        let (status, call) = gate.invoke("fixture__mutate", json!({ "effect_id": "x" }), &[]).await;
        assert_eq!(status, 202, "{call}");
        calls.push(call["call_id"].as_str().unwrap().to_owned());
    }
    for call in &calls {
        delivered(&other, call).await;
    }
    let mut told: Vec<String> = hook.came().iter().map(|one| one.header("toolgate-id").to_owned()).collect();
    told.sort_unstable();
    told.dedup();
    assert_eq!((told.len(), hook.came().len()), (40, 40));
}
