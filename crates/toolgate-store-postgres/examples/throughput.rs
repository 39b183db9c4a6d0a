//! How many durable commits a second: `cargo run --release --example throughput [seconds]`.
//!
//! Starts a Postgres of its own, waiting for the disk on every commit, and writes calls from many tasks: whole in one
//! commit, as reads are, or started and then completed, as writes are. Each line is one setting.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement, run by hand")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use toolgate_core::change::{Change, NewCall, SessionUse};
use toolgate_core::id::WorkerId;
use toolgate_core::invocation::{Opened, Step};
use toolgate_core::port::store::{Begun, InvocationStore};
use toolgate_core::{JsonText, Timestamp};
use toolgate_store_contract::opened;
use toolgate_store_postgres::{Options, PostgresStore};
use toolgate_testkit::TempPostgres;

#[derive(Debug, Clone, Copy)]
enum Kind {
    Whole,
    TwoSteps,
}

#[tokio::main]
async fn main() {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(4);
    let postgres = TempPostgres::start();
    println!(
        "{:<10}{:>7}{:>9}{:>7}{:>12}{:>9}{:>9}",
        "kind", "tasks", "writers", "batch", "commits/s", "p50 ms", "p99 ms"
    );
    for kind in [Kind::Whole, Kind::TwoSteps] {
        for tasks in [1, 16, 64, 256] {
            for (writers, batch) in [(16, 1), (1, 256), (2, 256), (4, 256)] {
                let url = postgres.create_database().await;
                let options = Options { writers, batch, ..Options::default() };
                let store = Arc::new(PostgresStore::connect_with(&url, options).await.unwrap());
                let mut times = measure(&store, kind, tasks, Duration::from_secs(seconds)).await;
                times.sort_unstable();
                let at = |part: usize| times[(times.len() - 1) * part / 100].as_secs_f64() * 1e3;
                let rate = times.len() as u64 / seconds;
                println!(
                    "{:<10}{tasks:>7}{writers:>9}{batch:>7}{rate:>12}{:>9.2}{:>9.2}",
                    format!("{kind:?}"),
                    at(50),
                    at(99)
                );
            }
        }
    }
}

/// The time of each commit within the given time.
async fn measure(store: &Arc<PostgresStore>, kind: Kind, tasks: usize, length: Duration) -> Vec<Duration> {
    let until = Instant::now() + length;
    let workers: Vec<_> = (0..tasks)
        .map(|_| {
            let store = Arc::clone(store);
            tokio::spawn(async move {
                let mut times = Vec::new();
                while Instant::now() < until {
                    one_call(&store, kind, &mut times).await;
                }
                times
            })
        })
        .collect();
    let mut times = Vec::new();
    for worker in workers {
        times.extend(worker.await.unwrap());
    }
    times
}

async fn one_call(store: &PostgresStore, kind: Kind, times: &mut Vec<Duration>) {
    let at = Timestamp::from_micros(1_700_000_000_000_000);
    let new = opened();
    let opened = Opened {
        input: JsonText::parse(r#"{"text":"some forty bytes of input, more or less"}"#).unwrap(),
        idempotency_key: Some(new.id.to_string().parse().unwrap()),
        request_digest: "0".repeat(64),
        ..new
    };
    let by = opened.actor.clone();
    let started = Step::Started { attempt: 1, worker: WorkerId::generate() };
    let completed = Step::Completed { output: JsonText::parse(r#"{"ok":true}"#).unwrap(), cost_micros: None };
    let steps = match kind {
        Kind::Whole => vec![started, completed.clone()],
        Kind::TwoSteps => vec![started],
    };
    let call = NewCall::open(opened, &steps, at, SessionUse::New).unwrap().due(at);
    let begun = Instant::now();
    let Begun::Fresh(row) = store.begin(call).await.unwrap() else { return };
    times.push(begun.elapsed());
    if matches!(kind, Kind::TwoSteps) {
        let begun = Instant::now();
        store.advance(Change::step(&row, &by, &completed, at).unwrap()).await.unwrap();
        times.push(begun.elapsed());
    }
}
