use rusqlite::Connection;
use toolgate_core::Timestamp;
use toolgate_core::document::DocumentKind;
use toolgate_core::id::{SessionId, TenantId};
use toolgate_core::port::store::{AdminStore, Session, SessionStore, Store, StoreError};
use toolgate_store_sqlite::SqliteStore;

use crate::fresh;

#[tokio::test]
async fn a_second_process_is_refused() {
    let (_store, folder) = fresh().await;
    assert!(matches!(SqliteStore::open(folder.path()), Err(StoreError::Refused(_))));
}

#[tokio::test]
async fn a_reader_stands_beside_the_writer_and_writes_nothing() {
    let (_store, folder) = fresh().await;
    let reader = SqliteStore::open_read_only(folder.path()).unwrap();
    reader.ping().await.unwrap();
    let session = Session {
        id: SessionId::generate(),
        tenant: TenantId::default_tenant(),
        subject: None,
        owner: "user:a".parse().unwrap(),
        labels: Vec::new(),
        created_at: Timestamp::from_micros(1),
    };
    assert!(matches!(reader.create_session(session).await, Err(StoreError::Refused(_))));
}

#[tokio::test]
async fn opening_twice_in_turn_migrates_once() {
    let (store, folder) = fresh().await;
    drop(store);
    // The writing thread lets go of the file a moment after the last handle.
    SqliteStore::open(folder.path()).unwrap().ping().await.unwrap();
}

#[tokio::test]
async fn a_changed_migration_and_a_newer_file_are_refused() {
    let (store, folder) = fresh().await;
    drop(store);
    let raw = Connection::open(folder.path().join("toolgate.db")).unwrap();
    raw.execute("UPDATE schema_migrations SET checksum = 'other'", []).unwrap();
    assert!(matches!(SqliteStore::open(folder.path()), Err(StoreError::Refused(_))));
    raw.execute("UPDATE schema_migrations SET version = version + 999", []).unwrap();
    let refused = SqliteStore::open(folder.path()).unwrap_err();
    assert!(refused.to_string().contains("newer"), "{refused}");
}

#[tokio::test]
async fn the_database_itself_guards_the_record() {
    let (store, folder) = fresh().await;
    let raw = Connection::open(folder.path().join("toolgate.db")).unwrap();
    raw.execute_batch(
        "INSERT INTO events (session_id, seq, tenant_id, invocation_id, kind, actor, at, data, prev_hash, hash)
         VALUES ('s', 1, 't', 'i', 'tool.started', 'user:a', 1, '{}', x'00', x'01');
         INSERT INTO anchors VALUES (1, 1, x'', x'00', x'01', 0);
         INSERT INTO tools VALUES ('t', 'x__y', 'v', 'mutate', 'write', 0, '{}', 1);",
    )
    .unwrap();
    for forbidden in [
        "UPDATE events SET data = '{\"x\":1}'",
        "DELETE FROM events",
        "UPDATE anchors SET at = 2",
        "DELETE FROM anchors",
    ] {
        assert!(raw.execute(forbidden, []).is_err(), "{forbidden}");
    }
    let approval =
        || raw.query_row("SELECT requires_approval FROM tools", [], |row| row.get::<_, bool>(0)).unwrap();
    assert!(approval());
    raw.execute("UPDATE tools SET requires_approval = 0", []).unwrap();
    assert!(approval(), "nobody switches approval off for what writes outside");

    let insert = |status: &str, approval: &str, egress: &str| {
        raw.execute(
            "INSERT INTO invocations (id, tenant_id, session_id, tool_id, effect, egress, idempotent, actor, source,
                 input, request_digest, approval_required, created_at, status, approval, attempt, cancel_requested,
                 revision, first_seq, last_seq)
             VALUES (?1, 't', 's', 'x__y', 'mutate', ?2, 0, 'user:a', 'api', '{}', 'd', 0, 1, ?3, ?4, 1, 0, 1, 1, 1)",
            [&format!("{status}{approval}{egress}"), egress, status, approval],
        )
    };
    assert!(insert("running", "not_required", "write").is_err(), "a write outside needs a person");
    assert!(insert("running", "pending", "none").is_err(), "what waits for a person does not run");
    assert!(insert("no_such", "not_required", "none").is_err());
    insert("completed", "not_required", "none").unwrap();
    assert!(raw.execute("UPDATE invocations SET status = 'running'", []).is_err(), "terminal is terminal");
    assert!(raw.execute("UPDATE invocations SET output = '1'", []).is_err());
    assert!(raw.execute("UPDATE invocations SET input = '1'", []).is_err());
    assert!(raw.execute("DELETE FROM invocations", []).is_err());
    drop(store);
}

#[tokio::test]
async fn the_database_itself_guards_keys_versions_and_tenants() {
    let (store, folder) = fresh().await;
    let raw = Connection::open(folder.path().join("toolgate.db")).unwrap();
    raw.execute_batch(
        "INSERT INTO principals (tenant_id, id, rules) VALUES ('default', 'user:a', '[]');
         INSERT INTO api_keys (id, tenant_id, principal, hash, label, created_by, created_at, expires_at, revoked_at)
         VALUES ('k', 'default', 'user:a', x'01', 'l', 'user:a', 1, 5, 5);
         INSERT INTO document_versions VALUES ('default', 'role', 'r', 1, '{}', 'user:a', 1);
         INSERT INTO sessions (id, tenant_id, owner, created_at) VALUES ('s', 'default', 'user:a', 1);",
    )
    .unwrap();
    for forbidden in [
        "DELETE FROM api_keys",
        "UPDATE api_keys SET hash = x'02'",
        "UPDATE api_keys SET scopes = '[]'",
        "UPDATE api_keys SET principal = 'user:b'",
        "UPDATE api_keys SET replaces = NULL",
        "UPDATE api_keys SET revoked_at = NULL",
        "UPDATE api_keys SET revoked_at = 4",
        "UPDATE api_keys SET expires_at = NULL",
        "UPDATE api_keys SET expires_at = 6",
        "UPDATE document_versions SET body = NULL",
        "DELETE FROM document_versions",
        "UPDATE tenants SET generation = generation - 1",
        "DELETE FROM tenants",
        "UPDATE sessions SET labels = '[\"x\"]'",
    ] {
        assert!(raw.execute(forbidden, []).is_err(), "{forbidden}");
    }
    raw.execute("UPDATE api_keys SET last_used_at = 9, expires_at = 4", []).unwrap();
    drop(store);
}

#[test]
fn both_engines_have_the_same_migrations() {
    let names = |engine: &str| {
        let folder =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(engine).join("migrations");
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names("toolgate-store-sqlite"), names("toolgate-store-postgres"));
}

/// A newer release may have written kinds that this one has never heard of.
#[tokio::test]
async fn a_document_of_an_unknown_kind_keeps_nobody_from_the_others() {
    let (store, folder) = fresh().await;
    let tenant = TenantId::default_tenant();
    let raw = Connection::open(folder.path().join("toolgate.db")).unwrap();
    raw.execute_batch(
        "INSERT INTO documents (tenant_id, kind, name, body, revision, written_by, written_at)
         VALUES ('default', 'horoscope', 'x', '{}', 1, 'user:a', 1), ('default', 'role', 'x', '{}', 1, 'user:a', 1);",
    )
    .unwrap();
    let found = store.documents(&tenant).await.unwrap();
    assert_eq!(found.iter().map(|document| document.kind).collect::<Vec<_>>(), [DocumentKind::Role]);
}

#[cfg(unix)]
#[tokio::test]
async fn nobody_else_on_the_machine_reads_the_store() {
    use std::os::unix::fs::PermissionsExt;
    let parent = tempfile::TempDir::new().unwrap();
    let folder = parent.path().join("made");
    let store = SqliteStore::open(&folder).unwrap();
    store.ping().await.unwrap();
    let rights = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(rights(&folder), 0o700);
    for file in ["toolgate.db", "toolgate.db-wal", "toolgate.db-shm"] {
        assert_eq!(rights(&folder.join(file)), 0o600, "{file}");
    }
}
