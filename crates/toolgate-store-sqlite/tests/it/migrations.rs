//! A file of an older program opens and has everything in it.

use rusqlite::{Connection, params};
use tempfile::TempDir;
use toolgate_core::Timestamp;
use toolgate_core::administration::{AdminChange, Write};
use toolgate_core::id::{ApiKeyId, PrincipalId, SessionId, TenantId};
use toolgate_core::json::{digest, to_hex};
use toolgate_core::port::store::{AdminStore, PrincipalStore, SessionStore};
use toolgate_store_sqlite::SqliteStore;

const SPINE: &str = include_str!("../../migrations/0001_spine.sql");

/// A file as the first program left it, with two principals of two tenants, a key and a session.
fn first_program(folder: &TempDir, key: ApiKeyId, session: SessionId) {
    let raw = Connection::open(folder.path().join("toolgate.db")).unwrap();
    raw.execute_batch(
        "CREATE TABLE schema_migrations (
             version INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL
         ) STRICT;",
    )
    .unwrap();
    raw.execute_batch(SPINE).unwrap();
    let checksum = to_hex(&digest(SPINE.as_bytes()));
    raw.execute("INSERT INTO schema_migrations VALUES (1, 'spine', ?1, 0)", [checksum]).unwrap();
    raw.execute_batch(
        r#"INSERT INTO principals (tenant_id, id, rules)
           VALUES ('acme', 'user:ada', '["a.b.read","*"]'), ('default', 'service:ci', '[]')"#,
    )
    .unwrap();
    raw.execute(
        "INSERT INTO api_keys (id, tenant_id, principal, hash, label, created_at)
         VALUES (?1, 'acme', 'user:ada', ?2, 'laptop', 77)",
        params![key.to_string(), [7u8; 32]],
    )
    .unwrap();
    let insert = "INSERT INTO sessions (id, tenant_id, owner, created_at) VALUES (?1, 'acme', 'user:ada', 5)";
    raw.execute(insert, [session.to_string()]).unwrap();
}

#[tokio::test]
async fn principals_keys_and_sessions_of_the_first_program_still_work() {
    let folder = TempDir::new().unwrap();
    let (key, session) = (ApiKeyId::generate(), SessionId::generate());
    first_program(&folder, key, session);
    let store = SqliteStore::open(folder.path()).unwrap();
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
