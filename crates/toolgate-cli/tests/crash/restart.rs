//! Postgres restarted under load.

use std::time::Duration;

use toolgate_testkit::{CountingReceiver, Gate, TempPostgres};

use crate::load::{Load, check};
use crate::{Engine, settle_and_verify, setup};

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_when_postgres_restarts_under_load() {
    let receiver = CountingReceiver::start().await;
    let mut postgres = TempPostgres::start();
    let mut setup = setup(Engine::Sqlite, &receiver).await;
    setup.database_url = Some(postgres.create_database().await);
    let gate = Gate::start(setup).await;
    let load = Load::start(&gate, 6);
    for _ in 0..2 {
        let before = load.answered().await;
        while load.answered().await < before + 30 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        postgres.stop_immediate();
        tokio::time::sleep(Duration::from_millis(300)).await;
        postgres.start_again();
    }
    let before = load.answered().await;
    while load.answered().await < before + 30 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let mut made = load.finish().await;
    // A store that was away is told as such; the caller may repeat with the same key.
    for call in &mut made {
        if call.answer.as_ref().is_some_and(|(status, _)| *status == 503) {
            call.answer = None;
        }
    }
    settle_and_verify(&gate).await;
    check(&gate, &receiver, &made).await;
    settle_and_verify(&gate).await;
}
