//! A database that goes away and comes back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use toolgate_core::invocation::Invocation;
use toolgate_core::port::store::{Begun, InvocationStore, Store, StoreError};
use toolgate_store_postgres::PostgresStore;
use toolgate_testkit::{TempPostgres, free_port};

use crate::given::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_under_load_loses_nothing_that_was_answered() {
    let mut postgres = TempPostgres::start();
    let url = postgres.create_database().await;
    let store = Arc::new(PostgresStore::connect(&url).await.unwrap());
    let stop = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..8)
        .map(|_| {
            let (store, stop) = (Arc::clone(&store), Arc::clone(&stop));
            tokio::spawn(async move { write_until(&store, &stop).await })
        })
        .collect();

    tokio::time::sleep(Duration::from_millis(300)).await;
    postgres.stop_immediate();
    let down = Instant::now();
    assert!(matches!(store.ping().await, Err(StoreError::Unavailable(_))));
    assert!(matches!(store.begin(running(opened())).await, Err(StoreError::Unavailable(_))));
    assert!(down.elapsed() < Duration::from_secs(8), "it says so soon");
    postgres.start_again();
    while store.ping().await.is_err() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    stop.store(true, Ordering::Relaxed);

    let (mut total, mut refused) = (0, 0);
    for writer in writers {
        let (rows, unavailable) = writer.await.unwrap();
        refused += unavailable;
        for row in rows {
            let found = store.get(&row.opened.tenant, row.id()).await.unwrap();
            assert_eq!(found, Some(Invocation { head: None, ..row.clone() }));
            assert_eq!(chain(&store, row.opened.session).await.len(), 2);
            total += 1;
        }
    }
    assert!(total > 0 && refused > 0, "{total} written, {refused} refused");
}

/// Writes calls the way the runner does: what is not known to be written is asked for again.
async fn write_until(store: &PostgresStore, stop: &AtomicBool) -> (Vec<Invocation>, u32) {
    let (mut rows, mut unavailable) = (Vec::new(), 0);
    while !stop.load(Ordering::Relaxed) {
        let call = running(opened());
        let row = loop {
            match store.begin(call.clone()).await {
                Ok(Begun::Fresh(row)) => break row,
                Err(StoreError::Unavailable(_)) => unavailable += 1,
                other => panic!("{other:?}"),
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        let change = completed(&row);
        let row = loop {
            match store.advance(change.clone()).await {
                Ok(row) => break row,
                // Its own write, whose answer was lost.
                Err(StoreError::Conflict) => {
                    break store.get(&row.opened.tenant, row.id()).await.unwrap().unwrap();
                }
                Err(StoreError::Unavailable(_)) => unavailable += 1,
                other => panic!("{other:?}"),
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        rows.push(row);
    }
    (rows, unavailable)
}

#[tokio::test]
async fn a_server_that_is_not_there_is_said_so() {
    let url = format!("postgres://toolgate@127.0.0.1:{}/x", free_port());
    assert!(matches!(PostgresStore::connect(&url).await, Err(StoreError::Unavailable(_))));
    assert!(matches!(
        PostgresStore::connect("postgres://h/d?sslmode=maybe").await,
        Err(StoreError::Unavailable(_))
    ));
}
