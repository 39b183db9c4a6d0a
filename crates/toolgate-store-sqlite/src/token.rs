//! Secrets that work once.

use rusqlite::{Connection, Row, params};
use toolgate_core::id::PrincipalId;
use toolgate_core::principal::OneTimeToken;
use toolgate_core::{JsonText, Timestamp};

use crate::database::Fault;
use crate::row::{self, Cells};

pub(crate) fn put(connection: &Connection, token: &OneTimeToken, now: Timestamp) -> Result<(), Fault> {
    connection.execute("DELETE FROM one_time_tokens WHERE expires_at <= ?1", [now.as_micros()])?;
    connection.execute(
        "INSERT INTO one_time_tokens (hash, purpose, tenant_id, principal, data, expires_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            token.hash,
            token.purpose,
            token.tenant.as_str(),
            token.principal.as_ref().map(PrincipalId::as_str),
            token.data.as_str(),
            token.expires_at.as_micros()
        ],
    )?;
    Ok(())
}

/// Whoever removes it has it.
pub(crate) fn take(
    connection: &Connection,
    hash: &[u8; 32],
    purpose: &str,
    now: Timestamp,
) -> Result<Option<OneTimeToken>, Fault> {
    let sql = "DELETE FROM one_time_tokens WHERE hash = ?1 AND purpose = ?2 AND expires_at > ?3
               RETURNING hash, purpose, tenant_id, principal, data, expires_at";
    Ok(row::all(connection, sql, &[hash, &purpose, &now.as_micros()], token)?.pop())
}

/// A look that leaves it where it is.
pub(crate) fn read(
    connection: &Connection,
    hash: &[u8; 32],
    purpose: &str,
    now: Timestamp,
) -> Result<Option<OneTimeToken>, Fault> {
    let sql = "SELECT hash, purpose, tenant_id, principal, data, expires_at FROM one_time_tokens
               WHERE hash = ?1 AND purpose = ?2 AND expires_at > ?3";
    row::first(connection, sql, &[hash, &purpose, &now.as_micros()], token)
}

pub(crate) fn void(
    connection: &Connection,
    tenant: &str,
    principal: &str,
    purpose: &str,
) -> Result<(), Fault> {
    let sql = "DELETE FROM one_time_tokens WHERE tenant_id = ?1 AND principal = ?2 AND purpose = ?3";
    connection.execute(sql, [tenant, principal, purpose])?;
    Ok(())
}

fn token(row: &Row<'_>) -> Result<OneTimeToken, Fault> {
    let mut cells = Cells::of(row);
    Ok(OneTimeToken {
        hash: cells.hash()?.0,
        purpose: cells.get()?,
        tenant: cells.parse("tenant")?,
        principal: cells.parse_opt("principal")?,
        data: JsonText::from_store(cells.get()?),
        expires_at: cells.time()?,
    })
}
