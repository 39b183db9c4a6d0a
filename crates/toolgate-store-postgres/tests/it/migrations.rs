//! The schema comes about once, and only in steps this build knows.

use futures::future::join_all;
use toolgate_core::Timestamp;
use toolgate_core::administration::{AdminChange, Write};
use toolgate_core::id::{ApiKeyId, PrincipalId, SessionId, TenantId};
use toolgate_core::json::{digest, to_hex};
use toolgate_core::port::store::{AdminStore, PrincipalStore, SessionStore, Store, StoreError};
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

const SPINE: &str = include_str!("../../migrations/0001_spine.sql");

/// A database as the first program left it, with two principals of two tenants, a key and a session.
async fn first_program(url: &str, key: ApiKeyId, session: SessionId) {
    let client = client(url).await;
    client
        .batch_execute(
            "CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL,
                 applied_at TIMESTAMPTZ NOT NULL DEFAULT now())",
        )
        .await
        .unwrap();
    client.batch_execute(SPINE).await.unwrap();
    let applied = "INSERT INTO schema_migrations (version, name, checksum) VALUES (1, 'spine', $1)";
    client.execute(applied, &[&to_hex(&digest(SPINE.as_bytes()))]).await.unwrap();
    client
        .batch_execute(
            r#"INSERT INTO principals (tenant_id, id, rules)
               VALUES ('acme', 'user:ada', '["a.b.read","*"]'), ('default', 'service:ci', '[]')"#,
        )
        .await
        .unwrap();
    let insert = "INSERT INTO api_keys (id, tenant_id, principal, hash, label, created_at)
         VALUES ($1, 'acme', 'user:ada', $2, 'laptop', 77)";
    client.execute(insert, &[&key.to_string(), &[7u8; 32].as_slice()]).await.unwrap();
    let insert = "INSERT INTO sessions (id, tenant_id, owner, created_at) VALUES ($1, 'acme', 'user:ada', 5)";
    client.execute(insert, &[&session.to_string()]).await.unwrap();
}

#[tokio::test]
async fn principals_keys_and_sessions_of_the_first_program_still_work() {
    let url = shared_postgres().create_database().await;
    let (key, session) = (ApiKeyId::generate(), SessionId::generate());
    first_program(&url, key, session).await;
    let store = PostgresStore::connect(&url).await.unwrap();
    let (acme, ada): (TenantId, PrincipalId) = ("acme".parse().unwrap(), "user:ada".parse().unwrap());

    let holder = store.key_by_hash(&[7; 32]).await.unwrap().unwrap();
    assert_eq!((holder.key.id, &holder.key.tenant, &holder.key.created_by), (key, &acme, &ada));
    assert!(holder.key.scopes.is_all() && holder.key.works_at(Timestamp::from_micros(i64::MAX)));
    assert_eq!((&holder.principal.id, holder.principal.title.as_str()), (&ada, "ada"));
    assert_eq!(holder.principal.rules.as_slice(), ["a.b.read", "*"]);
    assert_eq!(holder.principal.created_at, Timestamp::from_micros(77));
    assert!(!holder.principal.disabled && holder.principal.roles.is_empty() && holder.subject.is_none());
    assert!(store.session(&acme, session).await.unwrap().unwrap().labels.is_empty());

    let tenants = store.tenants(None, 10).await.unwrap();
    assert_eq!(tenants.iter().map(|tenant| tenant.id.as_str()).collect::<Vec<_>>(), ["acme", "default"]);
    let end = vec![Write::EndKey { id: key, at: Timestamp::from_micros(0) }];
    let change = AdminChange::new(acme.clone(), ada, Timestamp::from_micros(100), &"ended", end);
    assert_eq!(store.change(change).await.unwrap(), tenants[0].generation + 1);
    assert!(!store.key(&acme, key).await.unwrap().unwrap().works_at(Timestamp::from_micros(100)));
}
