//! What the database refuses to those who go past the store.

use tokio_postgres::error::SqlState;
use toolgate_core::Egress;
use toolgate_core::port::store::InvocationStore;

use crate::given::*;

const REFUSED: SqlState = SqlState::INTEGRITY_CONSTRAINT_VIOLATION;

#[tokio::test]
async fn events_and_anchors_are_never_changed_or_removed() {
    let (store, client) = store_and_client().await;
    let row = begin(&store, running(opened())).await;
    anchor_until(&store, row.opened.session).await;
    for sql in [
        "UPDATE events SET actor = 'user:eve'",
        "UPDATE events SET seq = seq WHERE FALSE",
        "DELETE FROM invocations",
        "DELETE FROM events",
        "TRUNCATE events",
        "UPDATE anchors SET at = 0",
        "DELETE FROM anchors",
        "TRUNCATE anchors",
    ] {
        assert_eq!(refusal(&client, sql).await, REFUSED, "{sql}");
    }
}

#[tokio::test]
async fn a_settled_row_keeps_its_outcome() {
    let (store, client) = store_and_client().await;
    let row = begin(&store, running(opened())).await;
    store.advance(completed(&row)).await.unwrap();
    for sql in [
        "UPDATE invocations SET status = 'running'",
        "UPDATE invocations SET status = 'failed', error = '{}'",
        "UPDATE invocations SET output = '{\"forged\":true}'",
        "UPDATE invocations SET output = NULL",
        "UPDATE invocations SET error = '{}'",
        "UPDATE invocations SET completed_at = 1",
    ] {
        assert_eq!(refusal(&client, sql).await, REFUSED, "{sql}");
    }
    client.batch_execute("UPDATE invocations SET revision = revision").await.unwrap();
}

#[tokio::test]
async fn what_a_call_was_asked_for_is_never_changed() {
    let (store, client) = store_and_client().await;
    begin(&store, running(opened())).await;
    for column in ["input", "actor", "tool_id", "tenant_id", "request_digest", "session_id", "egress"] {
        let sql = format!("UPDATE invocations SET {column} = 'x'");
        assert_eq!(refusal(&client, &sql).await, REFUSED, "{sql}");
    }
    assert_eq!(refusal(&client, "UPDATE invocations SET approval_required = FALSE").await, REFUSED);
}

#[tokio::test]
async fn words_the_database_does_not_know_are_refused() {
    let (store, client) = store_and_client().await;
    begin(&store, running(opened())).await;
    for sql in ["UPDATE invocations SET status = 'done'", "UPDATE invocations SET approval = 'maybe'"] {
        assert_eq!(refusal(&client, sql).await, SqlState::CHECK_VIOLATION, "{sql}");
    }
}

#[tokio::test]
async fn nothing_that_writes_outside_runs_without_a_person() {
    let (store, client) = store_and_client().await;
    let mut writing = opened();
    (writing.egress, writing.approval_required) = (Egress::Write, true);
    let ask =
        toolgate_core::invocation::Step::NeedsApproval { reason: "r".into(), deadline: now(), review: None };
    begin(&store, call(writing, &[ask], toolgate_core::change::SessionUse::New)).await;
    for sql in [
        "UPDATE invocations SET status = 'running'",
        "UPDATE invocations SET status = 'completed'",
        "UPDATE invocations SET approval = 'not_required'",
        "UPDATE invocations SET status = 'running', approval = 'not_required'",
        "UPDATE invocations SET status = 'waiting', approval = 'rejected'",
    ] {
        assert_eq!(refusal(&client, sql).await, SqlState::CHECK_VIOLATION, "{sql}");
    }
    // Copied as a row that nobody had to approve.
    let columns =
        "tenant_id, session_id, tool_id, effect, egress, idempotent, actor, source, input, request_digest,
        created_at, attempt, cancel_requested, revision, first_seq, last_seq";
    let copy = |status: &str| {
        format!(
            "INSERT INTO invocations (id, approval_required, approval, status, {columns})
             SELECT 'inv_copy_{status}', FALSE, 'not_required', '{status}', {columns} FROM invocations"
        )
    };
    for status in ["running", "waiting", "completed", "in_doubt"] {
        assert_eq!(refusal(&client, &copy(status)).await, SqlState::CHECK_VIOLATION, "{status}");
    }
    client.batch_execute(&copy("failed")).await.unwrap();
}

#[tokio::test]
async fn nobody_switches_approval_off_for_tools_that_write_outside() {
    let (_store, client) = store_and_client().await;
    client
        .batch_execute(
            "INSERT INTO tools VALUES ('default', 'a__b', 'v', 'mutate', 'write', FALSE, '{}', 0),
                                      ('default', 'a__c', 'v', 'mutate', 'none', FALSE, '{}', 0);
             UPDATE tools SET requires_approval = FALSE",
        )
        .await
        .unwrap();
    let rows = client.query("SELECT requires_approval FROM tools ORDER BY id", &[]).await.unwrap();
    assert_eq!(rows.iter().map(|row| row.get(0)).collect::<Vec<bool>>(), [true, false]);
    client.batch_execute("UPDATE tools SET egress = 'write'").await.unwrap();
    let row = client.query_one("SELECT bool_and(requires_approval) FROM tools", &[]).await.unwrap();
    assert!(row.get::<_, bool>(0));
}

#[tokio::test]
async fn keys_versions_tenants_and_labels_are_guarded() {
    let (_store, client) = store_and_client().await;
    client
        .batch_execute(
            "INSERT INTO principals (tenant_id, id, rules) VALUES ('default', 'user:a', '[]');
             INSERT INTO api_keys (id, tenant_id, principal, hash, label, created_by, created_at, expires_at, revoked_at)
             VALUES ('k', 'default', 'user:a', '\\x01', 'l', 'user:a', 1, 5, 5);
             INSERT INTO document_versions VALUES ('default', 'role', 'r', 1, '{}', 'user:a', 1);
             INSERT INTO sessions (id, tenant_id, owner, created_at) VALUES ('s', 'default', 'user:a', 1)",
        )
        .await
        .unwrap();
    for sql in [
        "DELETE FROM api_keys",
        "TRUNCATE api_keys",
        "UPDATE api_keys SET hash = '\\x02'",
        "UPDATE api_keys SET scopes = '[]'",
        "UPDATE api_keys SET principal = 'user:b'",
        "UPDATE api_keys SET replaces = NULL",
        "UPDATE api_keys SET revoked_at = NULL",
        "UPDATE api_keys SET revoked_at = 4",
        "UPDATE api_keys SET expires_at = NULL",
        "UPDATE api_keys SET expires_at = 6",
        "UPDATE document_versions SET body = NULL",
        "DELETE FROM document_versions",
        "TRUNCATE document_versions",
        "UPDATE tenants SET generation = generation - 1",
        "DELETE FROM tenants",
        "UPDATE sessions SET labels = '[]'",
    ] {
        assert_eq!(refusal(&client, sql).await, REFUSED, "{sql}");
    }
    client.batch_execute("UPDATE api_keys SET last_used_at = 9, expires_at = 4").await.unwrap();
    let stranger = "INSERT INTO principals (tenant_id, id, rules) VALUES ('nowhere', 'user:a', '[]')";
    assert_eq!(refusal(&client, stranger).await, SqlState::FOREIGN_KEY_VIOLATION);
}
