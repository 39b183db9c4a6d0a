//! `kill -9` at every step of edit, decide, enqueue, run and complete: an approved call runs exactly as approved, once, or
//! is shown as in doubt; none is forgotten.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_testkit::{CountingReceiver, Gate, GateSetup};

use crate::{Engine, settle_and_verify, setup};

/// The steps of a decision: the edit, the approval, `tool.started`, the outcome. Before and after each commit, and
/// around the tool itself.
const FAIL_POINTS: [(&str, &[u32]); 4] = [
    ("store.advance.before_commit", &[1, 2, 3, 4]),
    ("store.advance.after_commit", &[1, 2, 3, 4]),
    ("runner.started", &[1]),
    ("runner.executed", &[1]),
];

async fn row(gate: &Gate, id: &str) -> Value {
    gate.get(&format!("/api/v1/invocations/{id}")).await.1
}

async fn every_step(engine: Engine) {
    let receiver = CountingReceiver::start().await;
    // The default policies: what changes something asks a person.
    let setup = GateSetup { policies: None, ..setup(engine, &receiver).await };
    let mut gate = Gate::start(setup).await;
    let (mut completed, mut in_doubt) = (0, 0);
    for (point, counts) in FAIL_POINTS {
        for count in counts {
            let name = format!("{point}:{count}");
            let (asked, approved) = (format!("asked {name}"), format!("approved {name}"));
            let (status, call) = gate.invoke("fixture__mutate", json!({ "effect_id": asked }), &[]).await;
            assert_eq!(status, 202, "{call}");
            let id = call["call_id"].as_str().unwrap().to_owned();
            let path = format!("/api/v1/invocations/{id}/approve");
            let decision = json!({ "input": { "effect_id": approved }, "reason": name });
            gate.kill();
            gate.start_again(&[("TOOLGATE_FAILPOINT", &name)]);
            gate.ready().await;
            let (status, _) = gate.post(&path, &decision).await;
            let died = gate.ended(Duration::from_secs(20)).await;
            assert!(status == 0 && died.is_some(), "{name} was not reached");
            gate.start_again(&[]);
            gate.ready().await;
            let settled = settled(&gate, &id, &decision).await;
            match settled["status"].as_str().unwrap() {
                "completed" => completed += 1,
                "in_doubt" => in_doubt += 1,
                other => panic!("{name}: {other} {settled}"),
            }
            let effects = receiver.counts();
            let ran = effects.get(&approved).copied().unwrap_or_default();
            assert!(ran <= 1, "{name} ran {ran} times");
            assert!(settled["status"] != "completed" || ran == 1, "{name}: it says it ran");
            assert!(!effects.contains_key(&asked), "{name}: what was not approved ran");
        }
    }
    assert!(completed > 0 && in_doubt > 0, "{completed} completed, {in_doubt} in doubt");
    settle_and_verify(&gate).await;
}

/// The call when it is settled: decided again if the decision was lost, waited for if it was not.
async fn settled(gate: &Gate, id: &str, decision: &Value) -> Value {
    for _ in 0..600 {
        let call = row(gate, id).await;
        match (call["status"].as_str().unwrap(), call["approval"].as_str().unwrap()) {
            ("completed" | "failed" | "in_doubt", _) => return call,
            ("pending", "pending") => {
                gate.post(&format!("/api/v1/invocations/{id}/approve"), decision).await;
            }
            _ => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
    panic!("forgotten: {}", row(gate, id).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_runs_what_was_approved_whenever_it_dies() {
    every_step(Engine::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_runs_what_was_approved_whenever_it_dies() {
    every_step(Engine::Postgres).await;
}
