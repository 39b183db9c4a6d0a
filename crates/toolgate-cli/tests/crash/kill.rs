//! `kill -9`, before and after each commit and at random.

use std::time::Duration;

use toolgate_testkit::{CountingReceiver, Gate};

use crate::load::{Load, check};
use crate::{Engine, settle_and_verify, setup};

const FAIL_POINTS: [&str; 6] = [
    "store.begin.before_commit",
    "store.begin.after_commit",
    "store.advance.before_commit",
    "store.advance.after_commit",
    "runner.started",
    "runner.executed",
];

async fn every_fail_point(engine: Engine) {
    let receiver = CountingReceiver::start().await;
    let mut gate = Gate::start(setup(engine, &receiver).await).await;
    let mut made = Vec::new();
    for point in FAIL_POINTS {
        for count in [1, 7] {
            gate.kill();
            gate.start_again(&[("TOOLGATE_FAILPOINT", &format!("{point}:{count}"))]);
            let load = Load::start(&gate, 6);
            let died = gate.ended(Duration::from_secs(30)).await;
            assert!(died.is_some_and(|status| !status.success()), "{point}:{count} was not reached");
            made.extend(load.finish().await);
            gate.start_again(&[]);
            gate.ready().await;
        }
    }
    settle_and_verify(&gate).await;
    check(&gate, &receiver, &made).await;
    settle_and_verify(&gate).await;
    assert!(made.iter().any(|call| call.answer.is_some()));
    assert!(made.iter().any(|call| call.answer.is_none()));
}

async fn at_random(engine: Engine) {
    let receiver = CountingReceiver::start().await;
    let mut gate = Gate::start(setup(engine, &receiver).await).await;
    let load = Load::start(&gate, 6);
    for round in 0..6u32 {
        let before = load.answered().await;
        // Kill while calls are under way: wait for answers, not for time.
        while load.answered().await < before + 5 + usize::try_from(round).unwrap() * 7 {
            tokio::time::sleep(Duration::from_millis(3)).await;
        }
        gate.kill();
        gate.start_again(&[]);
        gate.ready().await;
    }
    let made = load.finish().await;
    settle_and_verify(&gate).await;
    check(&gate, &receiver, &made).await;
    settle_and_verify(&gate).await;
    assert!(gate.stop().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_survives_every_fail_point() {
    every_fail_point(Engine::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_survives_every_fail_point() {
    every_fail_point(Engine::Postgres).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_survives_being_killed_at_random() {
    at_random(Engine::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_survives_being_killed_at_random() {
    at_random(Engine::Postgres).await;
}
