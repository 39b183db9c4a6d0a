//! Users of different tenants who are one person: each tenant's half, and whom two halves together lead to.

use std::sync::LazyLock;

use async_trait::async_trait;
use rusqlite::{Connection, Row, params};
use toolgate_core::administration::AdminChange;
use toolgate_core::id::{PrincipalId, TenantId, TenantLinkId};
use toolgate_core::port::store::StoreError;
use toolgate_core::port::tenant_link::TenantLinkStore;
use toolgate_core::principal::Principal;
use toolgate_core::tenant_link::{LinkedUser, TenantLink};

use crate::SqliteStore;
use crate::database::Fault;
use crate::row::{self, Cells};
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
         WHERE l.tenant_id = ?1 AND l.principal = ?2 ORDER BY l.other_tenant, l.id",
        row::of_table("t", tenant::COLUMNS),
        row::of_table("p", principal::COLUMNS)
    )
});

#[async_trait]
impl TenantLinkStore for SqliteStore {
    async fn linked_users(
        &self,
        tenant: &TenantId,
        principal: &PrincipalId,
    ) -> Result<Vec<LinkedUser>, StoreError> {
        let (tenant, principal) = (tenant.to_string(), principal.to_string());
        self.database
            .read(move |connection| row::all(connection, &LINKED, &[&tenant, &principal], linked))
            .await
    }

    async fn tenant_link(
        &self,
        tenant: &TenantId,
        id: TenantLinkId,
    ) -> Result<Option<TenantLink>, StoreError> {
        let (tenant, id) = (tenant.to_string(), id.to_string());
        self.database
            .read(move |connection| {
                let columns = row::of_table("l", COLUMNS);
                let sql = format!("SELECT {columns} FROM {BOTH} WHERE l.tenant_id = ?1 AND l.id = ?2");
                row::first(connection, &sql, &[&tenant, &id], link)
            })
            .await
    }

    async fn tenant_links(
        &self,
        tenant: &TenantId,
        principal: Option<&PrincipalId>,
        after: Option<TenantLinkId>,
        limit: u32,
    ) -> Result<Vec<TenantLink>, StoreError> {
        let (tenant, principal) = (tenant.to_string(), principal.map(ToString::to_string));
        let after = after.map_or_else(String::new, |id| id.to_string());
        self.database
            .read(move |connection| {
                let columns = row::of_table("l", COLUMNS);
                let sql = format!(
                    "SELECT {columns} FROM {BOTH} WHERE l.tenant_id = ?1 AND l.id > ?2
                     AND (?3 IS NULL OR l.principal = ?3) ORDER BY l.id LIMIT ?4"
                );
                row::all(connection, &sql, &[&tenant, &after, &principal, &limit], link)
            })
            .await
    }

    async fn were_linked(
        &self,
        one: (&TenantId, &PrincipalId),
        other: (&TenantId, &PrincipalId),
    ) -> Result<bool, StoreError> {
        let one = (one.0.to_string(), one.1.to_string());
        let other = (other.0.to_string(), other.1.to_string());
        self.database
            .read(move |connection| {
                let sql = "SELECT EXISTS (SELECT 1 FROM tenant_links WHERE tenant_id = ?1 AND principal = ?2
                         AND other_tenant = ?3 AND other_principal = ?4)
                     OR EXISTS (SELECT 1 FROM tenant_links WHERE tenant_id = ?3 AND principal = ?4
                         AND other_tenant = ?1 AND other_principal = ?2)";
                Ok(connection.query_row(sql, params![one.0, one.1, other.0, other.1], |row| row.get(0))?)
            })
            .await
    }

    async fn users_of_identity(&self, issuer: &str, sub: &str) -> Result<Vec<Principal>, StoreError> {
        let (issuer, sub) = (issuer.to_owned(), sub.to_owned());
        self.database
            .read(move |connection| {
                let sql = format!(
                    "SELECT {} FROM identities i
                     JOIN principals p ON p.tenant_id = i.tenant_id AND p.id = i.principal
                     WHERE i.issuer = ?1 AND i.sub = ?2 ORDER BY i.tenant_id",
                    row::of_table("p", principal::COLUMNS)
                );
                row::all(connection, &sql, &[&issuer, &sub], principal::principal)
            })
            .await
    }
}

/// Writes a tenant's half; an earlier one between the same two ends.
pub(crate) fn put(connection: &Connection, change: &AdminChange, link: &TenantLink) -> Result<(), Fault> {
    if link.tenant != change.tenant {
        return Err(StoreError::Refused("the link is of another tenant".to_owned()).into());
    }
    principal::known(connection, &change.tenant, &link.principal)?;
    principal::known(connection, &link.other_tenant, &link.other_principal)?;
    connection.execute(
        "UPDATE tenant_links SET ended_at = ?5 WHERE tenant_id = ?1 AND principal = ?2 AND other_tenant = ?3
         AND other_principal = ?4 AND ended_at IS NULL",
        params![
            link.tenant.as_str(),
            link.principal.as_str(),
            link.other_tenant.as_str(),
            link.other_principal.as_str(),
            change.at.as_micros()
        ],
    )?;
    connection.execute(
        &format!("INSERT INTO tenant_links ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"),
        params![
            link.id.to_string(),
            link.tenant.as_str(),
            link.principal.as_str(),
            link.other_tenant.as_str(),
            link.other_principal.as_str(),
            link.proof,
            link.made_at.as_micros()
        ],
    )?;
    Ok(())
}

pub(crate) fn end(connection: &Connection, change: &AdminChange, id: TenantLinkId) -> Result<(), Fault> {
    let sql = "UPDATE tenant_links SET ended_at = ?3 WHERE tenant_id = ?1 AND id = ?2 AND ended_at IS NULL";
    let ended =
        connection.execute(sql, params![change.tenant.as_str(), id.to_string(), change.at.as_micros()])?;
    if ended == 0 { Err(StoreError::NotFound.into()) } else { Ok(()) }
}

/// Ends what one proof has made, and answers it in order of id.
pub(crate) fn end_proved(
    connection: &Connection,
    change: &AdminChange,
    principal: &PrincipalId,
    proof: &str,
) -> Result<Vec<TenantLink>, Fault> {
    let sql = format!(
        "UPDATE tenant_links SET ended_at = ?4
         WHERE tenant_id = ?1 AND principal = ?2 AND proof = ?3 AND ended_at IS NULL RETURNING {COLUMNS}"
    );
    let (tenant, at) = (change.tenant.as_str(), change.at.as_micros());
    let mut ended = row::all(connection, &sql, &[&tenant, &principal.as_str(), &proof, &at], link)?;
    ended.sort_by_key(|link| link.id);
    Ok(ended)
}

fn linked(row: &Row<'_>) -> Result<LinkedUser, Fault> {
    let mut cells = Cells::of(row);
    Ok(LinkedUser {
        link: cells.parse("link")?,
        tenant: tenant::read(&mut cells)?,
        principal: principal::read(&mut cells)?,
        proof: cells.get()?,
    })
}

fn link(row: &Row<'_>) -> Result<TenantLink, Fault> {
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
