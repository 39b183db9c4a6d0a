//! How people prove who they are: by a password, or by who they are elsewhere.

use toolgate_core::id::{PrincipalId, TenantId};
use toolgate_core::port::store::StoreError;
use toolgate_core::principal::Principal;

use crate::PostgresStore;
use crate::principal;
use crate::row::{self, Cells};
use crate::work::Work;

pub(crate) async fn set_password(
    work: &Work<'_>,
    id: &PrincipalId,
    hash: Option<&str>,
) -> Result<(), StoreError> {
    let (tenant, id) = (work.change.tenant.as_str(), principal::known(work, id).await?);
    match hash {
        Some(hash) => {
            let sql = "INSERT INTO passwords (tenant_id, principal, hash, set_at) VALUES ($1, $2, $3, $4)
                 ON CONFLICT (tenant_id, principal) DO UPDATE SET hash = excluded.hash, set_at = excluded.set_at";
            work.execute(sql, &[&tenant, &id, &hash, &work.change.at.as_micros()]).await?
        }
        None => {
            let sql = "DELETE FROM passwords WHERE tenant_id = $1 AND principal = $2";
            work.execute(sql, &[&tenant, &id]).await?
        }
    };
    Ok(())
}

pub(crate) async fn link(
    work: &Work<'_>,
    (issuer, sub): (&str, &str),
    id: &PrincipalId,
) -> Result<(), StoreError> {
    let (tenant, id) = (work.change.tenant.as_str(), principal::known(work, id).await?);
    let sql =
        "INSERT INTO identities (tenant_id, issuer, sub, principal, linked_at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (tenant_id, issuer, sub) DO NOTHING";
    let at = work.change.at.as_micros();
    let written = work.execute(sql, &[&tenant, &issuer, &sub, &id, &at]).await?;
    if written == 0 { Err(StoreError::Conflict) } else { Ok(()) }
}

pub(crate) async fn password(
    store: &PostgresStore,
    tenant: &TenantId,
    id: &PrincipalId,
) -> Result<Option<String>, StoreError> {
    let sql = "SELECT hash FROM passwords WHERE tenant_id = $1 AND principal = $2";
    let found = store.query_first(sql, &[&tenant.as_str(), &id.as_str()]).await?;
    row::first(found.as_ref(), |row| Cells::of(row).get())
}

pub(crate) async fn anyone(store: &PostgresStore, tenant: &TenantId) -> Result<bool, StoreError> {
    let sql = "SELECT 1 WHERE EXISTS (SELECT FROM passwords WHERE tenant_id = $1)
         OR EXISTS (SELECT FROM identities WHERE tenant_id = $1)";
    Ok(store.query_first(sql, &[&tenant.as_str()]).await?.is_some())
}

pub(crate) async fn principal(
    store: &PostgresStore,
    tenant: &TenantId,
    (issuer, sub): (&str, &str),
) -> Result<Option<Principal>, StoreError> {
    let sql = format!(
        "SELECT {} FROM identities i JOIN principals p ON p.tenant_id = i.tenant_id AND p.id = i.principal
         WHERE i.tenant_id = $1 AND i.issuer = $2 AND i.sub = $3",
        row::of_table("p", principal::COLUMNS)
    );
    let found = store.query_first(&sql, &[&tenant.as_str(), &issuer, &sub]).await?;
    row::first(found.as_ref(), principal::principal)
}
