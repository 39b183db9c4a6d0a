//! Bringing the schema up to date.

use deadpool_postgres::Pool;
use toolgate_core::json::{digest, to_hex};
use toolgate_core::port::store::StoreError;

use crate::error::Fault;

/// One step of the schema. Once released, a step is never edited: the next one changes what it did.
#[derive(Debug, Clone, Copy)]
struct Migration {
    version: i32,
    name: &'static str,
    sql: &'static str,
}

const MIGRATIONS: &[Migration] = &[
    Migration { version: 1, name: "spine", sql: include_str!("../migrations/0001_spine.sql") },
    Migration { version: 2, name: "governance", sql: include_str!("../migrations/0002_governance.sql") },
    Migration { version: 3, name: "review", sql: include_str!("../migrations/0003_review.sql") },
    Migration { version: 4, name: "outbox", sql: include_str!("../migrations/0004_outbox.sql") },
    Migration { version: 5, name: "oauth", sql: include_str!("../migrations/0005_oauth.sql") },
    Migration { version: 6, name: "connections", sql: include_str!("../migrations/0006_connections.sql") },
    Migration { version: 7, name: "files", sql: include_str!("../migrations/0007_files.sql") },
    Migration { version: 8, name: "audit", sql: include_str!("../migrations/0008_audit.sql") },
    Migration { version: 9, name: "shares", sql: include_str!("../migrations/0009_shares.sql") },
    Migration { version: 10, name: "tenant_links", sql: include_str!("../migrations/0010_tenant_links.sql") },
    Migration { version: 11, name: "lists", sql: include_str!("../migrations/0011_lists.sql") },
    Migration { version: 12, name: "inbox", sql: include_str!("../migrations/0012_inbox.sql") },
];

/// Any number, the same on all nodes: who holds this lock migrates.
const LOCK: i64 = 0x746f_6f6c_6761_7465;

const TABLE: &str = "CREATE TABLE IF NOT EXISTS schema_migrations (
    version    INTEGER PRIMARY KEY,
    name       TEXT NOT NULL,
    checksum   TEXT NOT NULL,
    applied_at TIMESTAMPTZ NOT NULL DEFAULT now()
)";

/// The numbers and names of all steps: both engines have the same.
pub fn migrations() -> impl Iterator<Item = (i32, &'static str)> {
    MIGRATIONS.iter().map(|migration| (migration.version, migration.name))
}

/// Applies what is missing, in one transaction, so that a step that fails leaves the schema as it was. Nodes that start
/// at once wait for each other.
pub(crate) async fn run(pool: &Pool) -> Result<(), StoreError> {
    let mut client = pool.get().await.map_err(Fault::from)?;
    let transaction = client.transaction().await.map_err(Fault::from)?;
    // A large step may take long, and so may another node's.
    transaction
        .batch_execute(&format!(
            "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock({LOCK}); {TABLE}"
        ))
        .await
        .map_err(Fault::from)?;
    let applied = transaction
        .query("SELECT version, name, checksum FROM schema_migrations ORDER BY version", &[])
        .await
        .map_err(Fault::from)?;
    for row in &applied {
        let (version, name, checksum): (i32, &str, &str) = (row.get(0), row.get(1), row.get(2));
        let Some(known) = MIGRATIONS.iter().find(|migration| migration.version == version) else {
            return Err(StoreError::Refused(format!(
                "the database has schema step {version} `{name}`, which this build does not know; use a newer build"
            )));
        };
        if known.checksum() != checksum {
            return Err(StoreError::Refused(format!(
                "schema step {version} `{name}` was applied with another text than this build has"
            )));
        }
    }
    for migration in MIGRATIONS {
        if applied.iter().any(|row| row.get::<_, i32>(0) == migration.version) {
            continue;
        }
        tracing::info!(version = migration.version, name = migration.name, "applying a schema step");
        transaction.batch_execute(migration.sql).await.map_err(Fault::from)?;
        transaction
            .execute(
                "INSERT INTO schema_migrations (version, name, checksum) VALUES ($1, $2, $3)",
                &[&migration.version, &migration.name, &migration.checksum()],
            )
            .await
            .map_err(Fault::from)?;
    }
    transaction.commit().await.map_err(Fault::from)?;
    Ok(())
}

impl Migration {
    fn checksum(&self) -> String {
        to_hex(&digest(self.sql.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_count_from_one() {
        for (number, migration) in (1..).zip(MIGRATIONS) {
            assert_eq!(migration.version, number);
        }
    }
}
