//! Principals and their keys.

use async_trait::async_trait;
use rusqlite::{Row, params};
use toolgate_core::id::{PrincipalId, TenantId};
use toolgate_core::port::store::{ApiKey, PrincipalStore, StoreError};
use toolgate_core::{AccessRules, Actor};

use crate::SqliteStore;
use crate::database::Fault;
use crate::row::{self, Cells};
use crate::writer::Commit;

#[async_trait]
impl PrincipalStore for SqliteStore {
    async fn put_principal(
        &self,
        tenant: &TenantId,
        principal: &PrincipalId,
        rules: &[String],
    ) -> Result<(), StoreError> {
        let (tenant, principal) = (tenant.to_string(), principal.to_string());
        let rules = serde_json::to_string(rules).map_err(StoreError::unavailable)?;
        self.database
            .write(Commit::Other, move |connection| {
                connection.execute(
                    "INSERT INTO principals (tenant_id, id, rules) VALUES (?1, ?2, ?3)
                     ON CONFLICT (tenant_id, id) DO UPDATE SET rules = excluded.rules",
                    params![tenant, principal, rules],
                )?;
                Ok(())
            })
            .await
    }

    async fn principal(
        &self,
        tenant: &TenantId,
        principal: &PrincipalId,
    ) -> Result<Option<Actor>, StoreError> {
        let (tenant, principal) = (tenant.to_string(), principal.to_string());
        self.database
            .read(move |connection| {
                let sql =
                    "SELECT tenant_id, id, rules, NULL FROM principals WHERE tenant_id = ?1 AND id = ?2";
                row::first(connection, sql, &[&tenant, &principal], actor)
            })
            .await
    }

    async fn put_key(&self, key: ApiKey) -> Result<(), StoreError> {
        self.database
            .write(Commit::Other, move |connection| {
                let known: bool = connection.query_row(
                    "SELECT EXISTS (SELECT 1 FROM principals WHERE tenant_id = ?1 AND id = ?2)",
                    params![key.tenant.as_str(), key.principal.as_str()],
                    |row| row.get(0),
                )?;
                if !known {
                    return Err(StoreError::NotFound.into());
                }
                connection.execute(
                    "INSERT INTO api_keys (id, tenant_id, principal, hash, label, created_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                    params![
                        key.id.to_string(),
                        key.tenant.as_str(),
                        key.principal.as_str(),
                        key.hash,
                        key.label,
                        key.created_at.as_micros()
                    ],
                )?;
                Ok(())
            })
            .await
    }

    async fn any_key(&self) -> Result<bool, StoreError> {
        self.database
            .read(|connection| {
                Ok(connection.query_row("SELECT EXISTS (SELECT 1 FROM api_keys)", [], |r| r.get(0))?)
            })
            .await
    }

    async fn actor_by_key(&self, hash: &[u8; 32]) -> Result<Option<Actor>, StoreError> {
        let hash = *hash;
        self.database
            .read(move |connection| {
                let sql = "SELECT p.tenant_id, p.id, p.rules, k.id FROM api_keys k
                           JOIN principals p ON p.tenant_id = k.tenant_id AND p.id = k.principal WHERE k.hash = ?1";
                row::first(connection, sql, &[&hash], actor)
            })
            .await
    }
}

fn actor(row: &Row<'_>) -> Result<Actor, Fault> {
    let mut cells = Cells { row, next: 0 };
    let tenant = cells.parse("tenant")?;
    let principal = cells.parse("principal")?;
    let rules: Vec<String> =
        serde_json::from_str(&cells.get::<String>()?).map_err(|_| row::damaged("rule list"))?;
    Ok(Actor {
        tenant,
        principal,
        subject: None,
        rules: AccessRules::new(rules),
        key: cells.parse_opt("key")?,
    })
}
