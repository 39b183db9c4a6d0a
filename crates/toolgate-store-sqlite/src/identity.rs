//! How people prove who they are: by a password, or by who they are elsewhere.

use rusqlite::{Connection, params};
use toolgate_core::administration::AdminChange;
use toolgate_core::id::{PrincipalId, TenantId};
use toolgate_core::port::store::StoreError;
use toolgate_core::principal::Principal;

use crate::database::Fault;
use crate::principal;
use crate::row;

pub(crate) fn set_password(
    connection: &Connection,
    change: &AdminChange,
    id: &PrincipalId,
    hash: Option<&str>,
) -> Result<(), Fault> {
    let (tenant, id) = (&change.tenant, principal::known(connection, &change.tenant, id)?);
    match hash {
        Some(hash) => connection.execute(
            "INSERT INTO passwords (tenant_id, principal, hash, set_at) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (tenant_id, principal) DO UPDATE SET hash = excluded.hash, set_at = excluded.set_at",
            params![tenant.as_str(), id, hash, change.at.as_micros()],
        )?,
        None => connection.execute(
            "DELETE FROM passwords WHERE tenant_id = ?1 AND principal = ?2",
            params![tenant.as_str(), id],
        )?,
    };
    Ok(())
}

pub(crate) fn link(
    connection: &Connection,
    change: &AdminChange,
    (issuer, sub): (&str, &str),
    id: &PrincipalId,
) -> Result<(), Fault> {
    let id = principal::known(connection, &change.tenant, id)?;
    let written = connection.execute(
        "INSERT INTO identities (tenant_id, issuer, sub, principal, linked_at) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (tenant_id, issuer, sub) DO NOTHING",
        params![change.tenant.as_str(), issuer, sub, id, change.at.as_micros()],
    )?;
    if written == 0 { Err(StoreError::Conflict.into()) } else { Ok(()) }
}

pub(crate) fn password(
    connection: &Connection,
    tenant: &TenantId,
    id: &PrincipalId,
) -> Result<Option<String>, Fault> {
    let sql = "SELECT hash FROM passwords WHERE tenant_id = ?1 AND principal = ?2";
    row::first(connection, sql, &[&tenant.as_str(), &id.as_str()], |row| Ok(row.get(0)?))
}

pub(crate) fn anyone(connection: &Connection, tenant: &TenantId) -> Result<bool, Fault> {
    let sql = "SELECT EXISTS (SELECT 1 FROM passwords WHERE tenant_id = ?1)
                   OR EXISTS (SELECT 1 FROM identities WHERE tenant_id = ?1)";
    Ok(connection.query_row(sql, [tenant.as_str()], |row| row.get(0))?)
}

pub(crate) fn principal(
    connection: &Connection,
    tenant: &TenantId,
    (issuer, sub): (&str, &str),
) -> Result<Option<Principal>, Fault> {
    let sql = format!(
        "SELECT {} FROM identities i JOIN principals p ON p.tenant_id = i.tenant_id AND p.id = i.principal
         WHERE i.tenant_id = ?1 AND i.issuer = ?2 AND i.sub = ?3",
        row::of_table("p", principal::COLUMNS)
    );
    row::first(connection, &sql, &[&tenant.as_str(), &issuer, &sub], principal::principal)
}
