//! Users of different tenants who are one person: each tenant's half, and whom two halves together lead to.

use std::sync::LazyLock;

use async_trait::async_trait;
use tokio_postgres::Row;
use toolgate_core::id::{PrincipalId, TenantId, TenantLinkId};
use toolgate_core::port::store::StoreError;
use toolgate_core::port::tenant_link::TenantLinkStore;
use toolgate_core::principal::Principal;
use toolgate_core::tenant_link::{LinkedUser, TenantLink};

use crate::PostgresStore;
use crate::row::{self, Cells};
use crate::work::Work;
use crate::{principal, tenant};

const COLUMNS: &str = "id, tenant_id, principal, other_tenant, other_principal, proof, made_at";

/// A tenant's half and the other one, where both hold.
const BOTH: &str = "tenant_links l JOIN tenant_links o ON o.id = l.id AND o.tenant_id = l.other_tenant
     AND o.principal = l.other_principal AND o.other_tenant = l.tenant_id AND o.other_principal = l.principal
     AND o.ended_at IS NULL AND l.ended_at IS NULL";

// Asked again and again of everyone who switched, so it is put together once.
static LINKED: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT l.id, {}, {}, o.proof FROM {BOTH} JOIN tenants t ON t.id = l.other_tenant
         JOIN principals p ON p.tenant_id = l.other_tenant AND p.id = l.other_principal
         WHERE l.tenant_id = $1 AND l.principal = $2 ORDER BY l.other_tenant, l.id",
        row::of_table("t", tenant::COLUMNS),
        row::of_table("p", principal::COLUMNS)
    )
});

#[async_trait]
impl TenantLinkStore for PostgresStore {
    async fn linked_users(
        &self,
        tenant: &TenantId,
        principal: &PrincipalId,
    ) -> Result<Vec<LinkedUser>, StoreError> {
        row::all(&self.query(&LINKED, &[&tenant.as_str(), &principal.as_str()]).await?, linked)
    }

    async fn tenant_link(
        &self,
        tenant: &TenantId,
        id: TenantLinkId,
    ) -> Result<Option<TenantLink>, StoreError> {
        let columns = row::of_table("l", COLUMNS);
        let sql = format!("SELECT {columns} FROM {BOTH} WHERE l.tenant_id = $1 AND l.id = $2");
        row::first(self.query_first(&sql, &[&tenant.as_str(), &id.to_string()]).await?.as_ref(), link)
    }

    async fn tenant_links(
        &self,
        tenant: &TenantId,
        principal: Option<&PrincipalId>,
        after: Option<TenantLinkId>,
        limit: u32,
    ) -> Result<Vec<TenantLink>, StoreError> {
        let columns = row::of_table("l", COLUMNS);
        let sql = format!(
            "SELECT {columns} FROM {BOTH} WHERE l.tenant_id = $1 AND l.id > $2
             AND ($3::text IS NULL OR l.principal = $3) ORDER BY l.id LIMIT $4"
        );
        let after = after.map_or_else(String::new, |id| id.to_string());
        let principal = principal.map(PrincipalId::as_str);
        row::all(&self.query(&sql, &[&tenant.as_str(), &after, &principal, &i64::from(limit)]).await?, link)
    }

    async fn were_linked(
        &self,
        one: (&TenantId, &PrincipalId),
        other: (&TenantId, &PrincipalId),
    ) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM tenant_links WHERE (tenant_id = $1 AND principal = $2 AND other_tenant = $3
                 AND other_principal = $4) OR (tenant_id = $3 AND principal = $4 AND other_tenant = $1
                 AND other_principal = $2) LIMIT 1";
        let names = [one.0.as_str(), one.1.as_str(), other.0.as_str(), other.1.as_str()];
        Ok(self.query_first(sql, &[&names[0], &names[1], &names[2], &names[3]]).await?.is_some())
    }

    async fn users_of_identity(&self, issuer: &str, sub: &str) -> Result<Vec<Principal>, StoreError> {
        let sql = format!(
            "SELECT {} FROM identities i
             JOIN principals p ON p.tenant_id = i.tenant_id AND p.id = i.principal
             WHERE i.issuer = $1 AND i.sub = $2 ORDER BY i.tenant_id",
            row::of_table("p", principal::COLUMNS)
        );
        row::all(&self.query(&sql, &[&issuer, &sub]).await?, principal::principal)
    }
}

/// Writes a tenant's half; an earlier one between the same two ends.
pub(crate) async fn put(work: &Work<'_>, link: &TenantLink) -> Result<(), StoreError> {
    if link.tenant != work.change.tenant {
        return Err(StoreError::Refused("the link is of another tenant".to_owned()));
    }
    principal::known(work, &link.principal).await?;
    let (tenant, principal) = (link.tenant.as_str(), link.principal.as_str());
    let (other_tenant, other_principal) = (link.other_tenant.as_str(), link.other_principal.as_str());
    let there = "SELECT 1 FROM principals WHERE tenant_id = $1 AND id = $2";
    if work.first(there, &[&other_tenant, &other_principal]).await?.is_none() {
        return Err(StoreError::NotFound);
    }
    let sql = "UPDATE tenant_links SET ended_at = $5 WHERE tenant_id = $1 AND principal = $2
         AND other_tenant = $3 AND other_principal = $4 AND ended_at IS NULL";
    let at = work.change.at.as_micros();
    work.execute(sql, &[&tenant, &principal, &other_tenant, &other_principal, &at]).await?;
    let sql = format!("INSERT INTO tenant_links ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7)");
    let (id, made_at) = (link.id.to_string(), link.made_at.as_micros());
    work.execute(&sql, &[&id, &tenant, &principal, &other_tenant, &other_principal, &link.proof, &made_at])
        .await?;
    Ok(())
}

pub(crate) async fn end(work: &Work<'_>, id: TenantLinkId) -> Result<(), StoreError> {
    let sql = "UPDATE tenant_links SET ended_at = $3 WHERE tenant_id = $1 AND id = $2 AND ended_at IS NULL";
    let (tenant, at) = (work.change.tenant.as_str(), work.change.at.as_micros());
    let ended = work.execute(sql, &[&tenant, &id.to_string(), &at]).await?;
    if ended == 0 { Err(StoreError::NotFound) } else { Ok(()) }
}

/// Ends what one proof has made, and answers it in order of id.
pub(crate) async fn end_proved(
    work: &Work<'_>,
    principal: &PrincipalId,
    proof: &str,
) -> Result<Vec<TenantLink>, StoreError> {
    let sql = format!(
        "UPDATE tenant_links SET ended_at = $4
         WHERE tenant_id = $1 AND principal = $2 AND proof = $3 AND ended_at IS NULL RETURNING {COLUMNS}"
    );
    let (tenant, at) = (work.change.tenant.as_str(), work.change.at.as_micros());
    let rows = work.query(&sql, &[&tenant, &principal.as_str(), &proof, &at]).await?;
    let mut ended: Vec<TenantLink> = rows.iter().map(link).collect::<Result<_, _>>()?;
    ended.sort_by_key(|link| link.id);
    Ok(ended)
}

fn linked(row: &Row) -> Result<LinkedUser, StoreError> {
    let mut cells = Cells::of(row);
    Ok(LinkedUser {
        link: cells.parse("link")?,
        tenant: tenant::read(&mut cells)?,
        principal: principal::read(&mut cells)?,
        proof: cells.get()?,
    })
}

fn link(row: &Row) -> Result<TenantLink, StoreError> {
    let mut cells = Cells::of(row);
    Ok(TenantLink {
        id: cells.parse("link")?,
        tenant: cells.parse("tenant")?,
        principal: cells.parse("principal")?,
        other_tenant: cells.parse("tenant")?,
        other_principal: cells.parse("principal")?,
        proof: cells.get()?,
        made_at: cells.time()?,
    })
}
