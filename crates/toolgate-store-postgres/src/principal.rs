//! Principals and their keys.

use async_trait::async_trait;
use tokio_postgres::Row;
use toolgate_core::id::{PrincipalId, TenantId};
use toolgate_core::port::store::{ApiKey, PrincipalStore, StoreError};
use toolgate_core::{AccessRules, Actor};

use crate::PostgresStore;
use crate::row::Cells;

#[async_trait]
impl PrincipalStore for PostgresStore {
    async fn put_principal(
        &self,
        tenant: &TenantId,
        principal: &PrincipalId,
        rules: &[String],
    ) -> Result<(), StoreError> {
        let rules = serde_json::to_string(rules).map_err(StoreError::unavailable)?;
        let sql = "INSERT INTO principals (tenant_id, id, rules) VALUES ($1, $2, $3)
             ON CONFLICT (tenant_id, id) DO UPDATE SET rules = excluded.rules";
        self.query(sql, &[&tenant.as_str(), &principal.as_str(), &rules]).await.map(drop)
    }

    async fn principal(
        &self,
        tenant: &TenantId,
        principal: &PrincipalId,
    ) -> Result<Option<Actor>, StoreError> {
        let sql = "SELECT tenant_id, id, rules, NULL::text FROM principals WHERE tenant_id = $1 AND id = $2";
        let found = self.query_first(sql, &[&tenant.as_str(), &principal.as_str()]).await?;
        found.as_ref().map(actor).transpose()
    }

    async fn put_key(&self, key: ApiKey) -> Result<(), StoreError> {
        let sql = "INSERT INTO api_keys (id, tenant_id, principal, hash, label, created_at)
             SELECT $1, $2, $3, $4, $5, $6 WHERE EXISTS (SELECT FROM principals WHERE tenant_id = $2 AND id = $3)
             RETURNING id";
        let (id, at) = (key.id.to_string(), key.created_at.as_micros());
        let (tenant, principal) = (key.tenant.as_str(), key.principal.as_str());
        let written =
            self.query_first(sql, &[&id, &tenant, &principal, &key.hash.as_slice(), &key.label, &at]).await?;
        written.map(drop).ok_or(StoreError::NotFound)
    }

    async fn any_key(&self) -> Result<bool, StoreError> {
        Ok(self.query_first("SELECT 1 FROM api_keys LIMIT 1", &[]).await?.is_some())
    }

    async fn actor_by_key(&self, hash: &[u8; 32]) -> Result<Option<Actor>, StoreError> {
        let sql = "SELECT p.tenant_id, p.id, p.rules, k.id FROM api_keys k
             JOIN principals p ON p.tenant_id = k.tenant_id AND p.id = k.principal WHERE k.hash = $1";
        let found = self.query_first(sql, &[&hash.as_slice()]).await?;
        found.as_ref().map(actor).transpose()
    }
}

fn actor(row: &Row) -> Result<Actor, StoreError> {
    let mut cells = Cells::of(row);
    Ok(Actor {
        tenant: cells.parse("tenant")?,
        principal: cells.parse("principal")?,
        subject: None,
        rules: serde_json::from_str::<AccessRules>(cells.get()?).map_err(StoreError::unavailable)?,
        key: cells.parse_opt("key")?,
    })
}
