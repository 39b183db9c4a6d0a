//! Principals: who may act.

use async_trait::async_trait;
use tokio_postgres::Row;
use toolgate_core::Timestamp;
use toolgate_core::document::Expect;
use toolgate_core::id::{ApiKeyId, PrincipalId, PrincipalKind, TenantId};
use toolgate_core::port::store::{PrincipalStore, StoreError};
use toolgate_core::principal::{ApiKey, KeyHolder, Principal};

use crate::PostgresStore;
use crate::row::{self, Cells};
use crate::work::Work;
use crate::{identity, key};

pub(crate) const COLUMNS: &str = "tenant_id, id, title, rules, roles, acts_for, disabled, created_at";

#[async_trait]
impl PrincipalStore for PostgresStore {
    async fn principal(
        &self,
        tenant: &TenantId,
        principal: &PrincipalId,
    ) -> Result<Option<Principal>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM principals WHERE tenant_id = $1 AND id = $2");
        let found = self.query_first(&sql, &[&tenant.as_str(), &principal.as_str()]).await?;
        row::first(found.as_ref(), self::principal)
    }

    async fn principals(
        &self,
        tenant: &TenantId,
        kind: Option<PrincipalKind>,
        after: Option<&PrincipalId>,
        limit: u32,
    ) -> Result<Vec<Principal>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM principals
             WHERE tenant_id = $1 AND id > $2 AND id >= $3 AND id < $4 ORDER BY id LIMIT $5"
        );
        let (from, to) = span(kind);
        let after = after.map_or("", PrincipalId::as_str);
        let rows = self.query(&sql, &[&tenant.as_str(), &after, &from, &to, &i64::from(limit)]).await?;
        row::all(&rows, principal)
    }

    async fn password(
        &self,
        tenant: &TenantId,
        principal: &PrincipalId,
    ) -> Result<Option<String>, StoreError> {
        identity::password(self, tenant, principal).await
    }

    async fn anyone_signs_in(&self, tenant: &TenantId) -> Result<bool, StoreError> {
        identity::anyone(self, tenant).await
    }

    async fn principal_by_identity(
        &self,
        tenant: &TenantId,
        issuer: &str,
        sub: &str,
    ) -> Result<Option<Principal>, StoreError> {
        identity::principal(self, tenant, (issuer, sub)).await
    }

    async fn any_key(&self) -> Result<bool, StoreError> {
        Ok(self.query_first("SELECT 1 FROM api_keys LIMIT 1", &[]).await?.is_some())
    }

    async fn key_by_hash(&self, hash: &[u8; 32]) -> Result<Option<KeyHolder>, StoreError> {
        key::holder(self, hash).await
    }

    async fn key(&self, tenant: &TenantId, id: ApiKeyId) -> Result<Option<ApiKey>, StoreError> {
        key::find(self, tenant, id).await
    }

    async fn keys(
        &self,
        tenant: &TenantId,
        principal: Option<&PrincipalId>,
        after: Option<ApiKeyId>,
        limit: u32,
    ) -> Result<Vec<ApiKey>, StoreError> {
        key::list(self, tenant, principal, after, limit).await
    }

    async fn touch_keys(&self, uses: &[(ApiKeyId, Timestamp)]) -> Result<(), StoreError> {
        key::touch(self, uses).await
    }
}

const PUT: &str = "
    INSERT INTO principals (tenant_id, id, title, rules, roles, acts_for, disabled, created_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
    ON CONFLICT (tenant_id, id) DO UPDATE SET title = excluded.title, rules = excluded.rules,
        roles = excluded.roles, acts_for = excluded.acts_for, disabled = excluded.disabled";

pub(crate) async fn put(work: &Work<'_>, principal: &Principal, expect: Expect) -> Result<(), StoreError> {
    if principal.tenant != work.change.tenant {
        return Err(StoreError::Refused("the principal is of another tenant".to_owned()));
    }
    match expect {
        Expect::Anything => {}
        Expect::Absent if !is_there(work, &principal.id).await? => {}
        // A principal has no revision, so the one expected is never there.
        Expect::Absent | Expect::Revision(_) => return Err(StoreError::Conflict),
    }
    work.execute(
        PUT,
        &[
            &principal.tenant.as_str(),
            &principal.id.as_str(),
            &principal.title,
            &row::json_text(&principal.rules)?,
            &row::json_text(&principal.roles)?,
            &row::json_text(&principal.acts_for)?,
            &principal.disabled,
            &principal.created_at.as_micros(),
        ],
    )
    .await?;
    Ok(())
}

/// The id, if there is such a principal in the tenant that is changed.
pub(crate) async fn known<'a>(work: &Work<'_>, id: &'a PrincipalId) -> Result<&'a str, StoreError> {
    if is_there(work, id).await? { Ok(id.as_str()) } else { Err(StoreError::NotFound) }
}

async fn is_there(work: &Work<'_>, id: &PrincipalId) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM principals WHERE tenant_id = $1 AND id = $2";
    Ok(work.first(sql, &[&work.change.tenant.as_str(), &id.as_str()]).await?.is_some())
}

pub(crate) fn principal(row: &Row) -> Result<Principal, StoreError> {
    read(&mut Cells::of(row))
}

/// Reads the columns of a principal, wherever in a row they stand.
pub(crate) fn read(cells: &mut Cells<'_>) -> Result<Principal, StoreError> {
    Ok(Principal {
        tenant: cells.parse("tenant")?,
        id: cells.parse("principal")?,
        title: cells.get()?,
        rules: cells.json("list of rules")?,
        roles: cells.json("list of roles")?,
        acts_for: cells.json("list of patterns")?,
        disabled: cells.get()?,
        created_at: cells.time()?,
    })
}

/// The ids of one kind, or of all, stand from the first text up to the second.
const fn span(kind: Option<PrincipalKind>) -> (&'static str, &'static str) {
    match kind {
        None => ("", "~"),
        // `;` is the character after `:`.
        Some(PrincipalKind::User) => ("user:", "user;"),
        Some(PrincipalKind::Agent) => ("agent:", "agent;"),
        Some(PrincipalKind::Service) => ("service:", "service;"),
    }
}
