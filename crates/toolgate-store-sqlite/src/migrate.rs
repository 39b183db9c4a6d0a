//! Brings the file to this program's version. Files are numbered, embedded and checksummed.

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use toolgate_core::json::to_hex;
use toolgate_core::port::store::StoreError;

/// Every migration: number, name, text. The numbers and names are the same as the other engine's.
const MIGRATIONS: &[(i64, &str, &str)] = &[
    (1, "spine", include_str!("../migrations/0001_spine.sql")),
    (2, "governance", include_str!("../migrations/0002_governance.sql")),
    (3, "review", include_str!("../migrations/0003_review.sql")),
    (4, "outbox", include_str!("../migrations/0004_outbox.sql")),
    (5, "oauth", include_str!("../migrations/0005_oauth.sql")),
    (6, "connections", include_str!("../migrations/0006_connections.sql")),
    (7, "files", include_str!("../migrations/0007_files.sql")),
    (8, "audit", include_str!("../migrations/0008_audit.sql")),
    (9, "shares", include_str!("../migrations/0009_shares.sql")),
    (10, "tenant_links", include_str!("../migrations/0010_tenant_links.sql")),
    (11, "lists", include_str!("../migrations/0011_lists.sql")),
    (12, "inbox", include_str!("../migrations/0012_inbox.sql")),
];

pub(crate) fn run(connection: &mut Connection) -> Result<(), StoreError> {
    connection
        .execute_batch(
            "CREATE TABLE IF NOT EXISTS schema_migrations (
                version INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL
             ) STRICT;",
        )
        .map_err(StoreError::unavailable)?;
    let newest: i64 = connection
        .query_row("SELECT coalesce(max(version), 0) FROM schema_migrations", [], |row| row.get(0))
        .map_err(StoreError::unavailable)?;
    if newest > MIGRATIONS.last().map_or(0, |(version, ..)| *version) {
        return Err(StoreError::Refused(format!(
            "the data is of a newer program (version {newest}); upgrade first"
        )));
    }
    for (version, name, text) in MIGRATIONS {
        apply(connection, *version, name, text)?;
    }
    Ok(())
}

fn apply(connection: &mut Connection, version: i64, name: &str, text: &str) -> Result<(), StoreError> {
    let checksum = to_hex(&toolgate_core::json::digest(text.as_bytes()));
    let applied: Option<String> = connection
        .query_row("SELECT checksum FROM schema_migrations WHERE version = ?1", [version], |row| row.get(0))
        .optional()
        .map_err(StoreError::unavailable)?;
    match applied {
        Some(known) if known == checksum => return Ok(()),
        Some(_) => {
            return Err(StoreError::Refused(format!(
                "migration {version} ({name}) was changed after it was applied"
            )));
        }
        None => {}
    }
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(StoreError::unavailable)?;
    transaction.execute_batch(text).map_err(StoreError::unavailable)?;
    transaction
        .execute(
            "INSERT INTO schema_migrations (version, name, checksum, applied_at)
             VALUES (?1, ?2, ?3, unixepoch('subsec') * 1000000)",
            params![version, name, checksum],
        )
        .map_err(StoreError::unavailable)?;
    transaction.commit().map_err(StoreError::unavailable)
}
