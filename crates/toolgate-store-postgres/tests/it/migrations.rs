//! The schema comes about once, and only in steps this build knows.

use futures::future::join_all;
use toolgate_core::port::store::{Store, StoreError};
use toolgate_store_postgres::{PostgresStore, migrations};
use toolgate_testkit::shared_postgres;

use crate::given::client;

#[tokio::test]
async fn nodes_that_start_at_once_migrate_once() {
    let url = shared_postgres().create_database().await;
    let stores = join_all((0..6).map(|_| PostgresStore::connect(&url))).await;
    for store in stores {
        store.unwrap().ping().await.unwrap();
    }
    let client = client(&url).await;
    let rows =
        client.query("SELECT version, name FROM schema_migrations ORDER BY version", &[]).await.unwrap();
    let applied: Vec<(i32, String)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    let known: Vec<(i32, String)> = migrations().map(|(version, name)| (version, name.to_owned())).collect();
    assert_eq!(applied, known);
    PostgresStore::connect(&url).await.unwrap();
}

#[tokio::test]
async fn a_step_applied_with_another_text_is_refused() {
    let url = shared_postgres().create_database().await;
    PostgresStore::connect(&url).await.unwrap();
    client(&url)
        .await
        .batch_execute("UPDATE schema_migrations SET checksum = 'x' WHERE version = 1")
        .await
        .unwrap();
    let Err(StoreError::Refused(message)) = PostgresStore::connect(&url).await else { panic!("refused") };
    assert!(message.contains("schema step 1 `spine`"), "{message}");
}

#[tokio::test]
async fn a_schema_from_a_newer_build_is_refused() {
    let url = shared_postgres().create_database().await;
    PostgresStore::connect(&url).await.unwrap();
    let newer = "INSERT INTO schema_migrations (version, name, checksum) VALUES (9999, 'later', 'x')";
    client(&url).await.batch_execute(newer).await.unwrap();
    let Err(StoreError::Refused(message)) = PostgresStore::connect(&url).await else { panic!("refused") };
    assert!(message.contains("9999 `later`"), "{message}");
}
