//! Secrets that work once.

use tokio_postgres::Row;
use toolgate_core::id::PrincipalId;
use toolgate_core::port::store::StoreError;
use toolgate_core::principal::OneTimeToken;
use toolgate_core::{JsonText, Timestamp};

use crate::PostgresStore;
use crate::row::{self, Cells};

const COLUMNS: &str = "hash, purpose, tenant_id, principal, data, expires_at";

pub(crate) async fn put(
    store: &PostgresStore,
    token: &OneTimeToken,
    now: Timestamp,
) -> Result<(), StoreError> {
    // Rows that another node forgets at this moment are its own to remove.
    let sql = format!(
        "WITH over AS (
             SELECT hash FROM one_time_tokens WHERE expires_at <= $7 FOR UPDATE SKIP LOCKED
         ), forgotten AS (
             DELETE FROM one_time_tokens t USING over WHERE t.hash = over.hash
         )
         INSERT INTO one_time_tokens ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6)"
    );
    store
        .query(
            &sql,
            &[
                &token.hash.as_slice(),
                &token.purpose,
                &token.tenant.as_str(),
                &token.principal.as_ref().map(PrincipalId::as_str),
                &token.data.as_str(),
                &token.expires_at.as_micros(),
                &now.as_micros(),
            ],
        )
        .await
        .map(drop)
}

/// Whoever removes it has it.
pub(crate) async fn take(
    store: &PostgresStore,
    hash: &[u8; 32],
    purpose: &str,
    now: Timestamp,
) -> Result<Option<OneTimeToken>, StoreError> {
    let sql = format!(
        "DELETE FROM one_time_tokens WHERE hash = $1 AND purpose = $2 AND expires_at > $3 RETURNING {COLUMNS}"
    );
    let taken = store.query_first(&sql, &[&hash.as_slice(), &purpose, &now.as_micros()]).await?;
    row::first(taken.as_ref(), token)
}

/// A look that leaves it where it is.
pub(crate) async fn read(
    store: &PostgresStore,
    hash: &[u8; 32],
    purpose: &str,
    now: Timestamp,
) -> Result<Option<OneTimeToken>, StoreError> {
    let sql =
        format!("SELECT {COLUMNS} FROM one_time_tokens WHERE hash = $1 AND purpose = $2 AND expires_at > $3");
    let found = store.query_first(&sql, &[&hash.as_slice(), &purpose, &now.as_micros()]).await?;
    row::first(found.as_ref(), token)
}

pub(crate) async fn void(
    store: &PostgresStore,
    tenant: &str,
    principal: &str,
    purpose: &str,
) -> Result<(), StoreError> {
    let sql = "DELETE FROM one_time_tokens WHERE tenant_id = $1 AND principal = $2 AND purpose = $3";
    store.query(sql, &[&tenant, &principal, &purpose]).await.map(drop)
}

fn token(row: &Row) -> Result<OneTimeToken, StoreError> {
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
