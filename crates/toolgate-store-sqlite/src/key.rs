//! Keys: made once, ended, never removed.

use std::sync::LazyLock;

use rusqlite::{Connection, Row, params};
use toolgate_core::Timestamp;
use toolgate_core::administration::AdminChange;
use toolgate_core::id::{ApiKeyId, PrincipalId, TenantId};
use toolgate_core::port::store::StoreError;
use toolgate_core::principal::{ApiKey, KeyHolder};

use crate::database::Fault;
use crate::principal;
use crate::row::{self, Cells};

const COLUMNS: &str = "id, tenant_id, principal, subject, hash, label, scopes, created_by, created_at, expires_at, \
     revoked_at, last_used_at, replaces";

// Asked with every request by key, so it is put together once.
static HOLDER: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {}, {}, s.id IS NOT NULL, {} FROM api_keys k
         JOIN principals p ON p.tenant_id = k.tenant_id AND p.id = k.principal
         LEFT JOIN principals s ON s.tenant_id = k.tenant_id AND s.id = k.subject
         WHERE k.hash = ?1",
        row::of_table("k", COLUMNS),
        row::of_table("p", principal::COLUMNS),
        row::of_table("s", principal::COLUMNS),
    )
});

pub(crate) fn put(connection: &Connection, change: &AdminChange, key: &ApiKey) -> Result<(), Fault> {
    if key.tenant != change.tenant {
        return Err(StoreError::Refused("the key is of another tenant".to_owned()).into());
    }
    for id in std::iter::once(&key.principal).chain(&key.subject) {
        principal::known(connection, &change.tenant, id)?;
    }
    if let Some(old) = key.replaces {
        if find(connection, &change.tenant, old)?.is_none() {
            return Err(StoreError::NotFound.into());
        }
        let sql = "SELECT 1 FROM api_keys WHERE replaces = ?1";
        if row::first(connection, sql, &[&old.to_string()], |_| Ok(()))?.is_some() {
            return Err(StoreError::Conflict.into());
        }
    }
    let sql = format!(
        "INSERT INTO api_keys ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"
    );
    connection.execute(
        &sql,
        params![
            key.id.to_string(),
            key.tenant.as_str(),
            key.principal.as_str(),
            key.subject.as_ref().map(PrincipalId::as_str),
            key.hash,
            key.label,
            row::json_text(&key.scopes)?,
            key.created_by.as_str(),
            key.created_at.as_micros(),
            key.expires_at.map(Timestamp::as_micros),
            key.revoked_at.map(Timestamp::as_micros),
            key.last_used_at.map(Timestamp::as_micros),
            key.replaces.map(|old| old.to_string()),
        ],
    )?;
    Ok(())
}

/// Ends a key: revoked when its moment has come, and otherwise expiring then, or earlier if it would have.
pub(crate) fn end(
    connection: &Connection,
    change: &AdminChange,
    id: ApiKeyId,
    at: Timestamp,
) -> Result<(), Fault> {
    let (sql, at) = if at <= change.at {
        (
            "UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?3) WHERE id = ?1 AND tenant_id = ?2",
            change.at,
        )
    } else {
        (
            "UPDATE api_keys SET expires_at = min(coalesce(expires_at, ?3), ?3) WHERE id = ?1 AND tenant_id = ?2",
            at,
        )
    };
    let ended = connection.execute(sql, params![id.to_string(), change.tenant.as_str(), at.as_micros()])?;
    if ended == 0 { Err(StoreError::NotFound.into()) } else { Ok(()) }
}

/// Revokes a key and all that came from it by rotation.
pub(crate) fn end_line(connection: &Connection, change: &AdminChange, id: ApiKeyId) -> Result<(), Fault> {
    let sql = "WITH RECURSIVE line (id) AS (
            SELECT id FROM api_keys WHERE id = ?1 AND tenant_id = ?2
            UNION SELECT k.id FROM line JOIN api_keys k ON k.replaces = line.id
        )
        UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?3) WHERE id IN (SELECT id FROM line)";
    let at = change.at.as_micros();
    let ended = connection.execute(sql, params![id.to_string(), change.tenant.as_str(), at])?;
    if ended == 0 { Err(StoreError::NotFound.into()) } else { Ok(()) }
}

pub(crate) fn touch(connection: &Connection, uses: &[(ApiKeyId, Timestamp)]) -> Result<(), Fault> {
    let mut update = connection.prepare_cached(
        "UPDATE api_keys SET last_used_at = ?2 WHERE id = ?1 AND (last_used_at IS NULL OR last_used_at < ?2)",
    )?;
    for (id, at) in uses {
        update.execute(params![id.to_string(), at.as_micros()])?;
    }
    Ok(())
}

pub(crate) fn any(connection: &Connection) -> Result<bool, Fault> {
    Ok(connection.query_row("SELECT EXISTS (SELECT 1 FROM api_keys)", [], |row| row.get(0))?)
}

pub(crate) fn holder(connection: &Connection, hash: &[u8; 32]) -> Result<Option<KeyHolder>, Fault> {
    row::first(connection, &HOLDER, &[hash], |row| {
        let mut cells = Cells::of(row);
        let (key, principal) = (read(&mut cells)?, principal::read(&mut cells)?);
        let subject = if cells.get()? { Some(principal::read(&mut cells)?) } else { None };
        Ok(KeyHolder { key, principal, subject })
    })
}

pub(crate) fn find(
    connection: &Connection,
    tenant: &TenantId,
    id: ApiKeyId,
) -> Result<Option<ApiKey>, Fault> {
    let sql = format!("SELECT {COLUMNS} FROM api_keys WHERE id = ?1 AND tenant_id = ?2");
    row::first(connection, &sql, &[&id.to_string(), &tenant.as_str()], key)
}

pub(crate) fn list(
    connection: &Connection,
    tenant: &TenantId,
    principal: Option<&PrincipalId>,
    after: Option<ApiKeyId>,
    limit: u32,
) -> Result<Vec<ApiKey>, Fault> {
    let after = after.map_or_else(String::new, |id| id.to_string());
    let part = |more: &str| {
        format!("SELECT {COLUMNS} FROM api_keys WHERE tenant_id = ?1 AND id > ?2{more} ORDER BY id LIMIT ?3")
    };
    match principal {
        None => row::all(connection, &part(""), &[&tenant.as_str(), &after, &limit], key),
        Some(id) => {
            let sql = part(" AND principal = ?4");
            row::all(connection, &sql, &[&tenant.as_str(), &after, &limit, &id.as_str()], key)
        }
    }
}

fn key(row: &Row<'_>) -> Result<ApiKey, Fault> {
    read(&mut Cells::of(row))
}

fn read(cells: &mut Cells<'_>) -> Result<ApiKey, Fault> {
    Ok(ApiKey {
        id: cells.parse("key")?,
        tenant: cells.parse("tenant")?,
        principal: cells.parse("principal")?,
        subject: cells.parse_opt("subject")?,
        hash: cells.hash()?.0,
        label: cells.get()?,
        scopes: cells.json("list of scopes")?,
        created_by: cells.parse("maker")?,
        created_at: cells.time()?,
        expires_at: cells.time_opt()?,
        revoked_at: cells.time_opt()?,
        last_used_at: cells.time_opt()?,
        replaces: cells.parse_opt("replaced key")?,
    })
}
