//! Links to calls.

use async_trait::async_trait;
use rusqlite::{Connection, Row, params};
use toolgate_core::Timestamp;
use toolgate_core::administration::AdminChange;
use toolgate_core::id::{InvocationId, ShareId, TenantId};
use toolgate_core::port::share::ShareStore;
use toolgate_core::port::store::StoreError;
use toolgate_core::share::Share;

use crate::SqliteStore;
use crate::database::Fault;
use crate::principal;
use crate::row::{self, Cells};

const COLUMNS: &str = "id, tenant_id, call_id, hash, made_by, key_id, created_at, expires_at, revoked_at";

#[async_trait]
impl ShareStore for SqliteStore {
    async fn share_by_hash(&self, hash: &[u8; 32]) -> Result<Option<Share>, StoreError> {
        let hash = *hash;
        self.database
            .read(move |connection| {
                let sql = format!("SELECT {COLUMNS} FROM shares WHERE hash = ?1");
                row::first(connection, &sql, &[&hash], share)
            })
            .await
    }

    async fn share(&self, tenant: &TenantId, id: ShareId) -> Result<Option<Share>, StoreError> {
        let (tenant, id) = (tenant.to_string(), id.to_string());
        self.database
            .read(move |connection| {
                let sql = format!("SELECT {COLUMNS} FROM shares WHERE id = ?1 AND tenant_id = ?2");
                row::first(connection, &sql, &[&id, &tenant], share)
            })
            .await
    }

    async fn shares_of(
        &self,
        tenant: &TenantId,
        call: InvocationId,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<Share>, StoreError> {
        let (tenant, call) = (tenant.to_string(), call.to_string());
        self.database
            .read(move |connection| {
                let sql = format!(
                    "SELECT {COLUMNS} FROM shares
                     WHERE tenant_id = ?1 AND call_id = ?2 AND revoked_at IS NULL AND expires_at > ?3
                     ORDER BY id DESC LIMIT ?4"
                );
                row::all(connection, &sql, &[&tenant, &call, &now.as_micros(), &limit], share)
            })
            .await
    }
}

pub(crate) fn put(connection: &Connection, change: &AdminChange, share: &Share) -> Result<(), Fault> {
    if share.tenant != change.tenant {
        return Err(StoreError::Refused("the call is of another tenant".to_owned()).into());
    }
    principal::known(connection, &change.tenant, &share.by)?;
    let call = share.call.to_string();
    let there = "SELECT 1 FROM invocations WHERE id = ?1 AND tenant_id = ?2";
    row::first(connection, there, &[&call, &share.tenant.as_str()], |_| Ok(()))?
        .ok_or(StoreError::NotFound)?;
    let sql = format!("INSERT INTO shares ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)");
    connection.execute(
        &sql,
        params![
            share.id.to_string(),
            share.tenant.as_str(),
            call,
            share.hash,
            share.by.as_str(),
            share.key.map(|key| key.to_string()),
            share.created_at.as_micros(),
            share.expires_at.as_micros(),
            share.revoked_at.map(Timestamp::as_micros),
        ],
    )?;
    Ok(())
}

pub(crate) fn revoke(connection: &Connection, change: &AdminChange, id: ShareId) -> Result<(), Fault> {
    let sql = "UPDATE shares SET revoked_at = coalesce(revoked_at, ?3) WHERE id = ?1 AND tenant_id = ?2";
    let ended =
        connection.execute(sql, params![id.to_string(), change.tenant.as_str(), change.at.as_micros()])?;
    if ended == 0 { Err(StoreError::NotFound.into()) } else { Ok(()) }
}

fn share(row: &Row<'_>) -> Result<Share, Fault> {
    let mut cells = Cells::of(row);
    Ok(Share {
        id: cells.parse("link")?,
        tenant: cells.parse("tenant")?,
        call: cells.parse("call")?,
        hash: cells.get()?,
        by: cells.parse("maker")?,
        key: cells.parse_opt("key")?,
        created_at: cells.time()?,
        expires_at: cells.time()?,
        revoked_at: cells.time_opt()?,
    })
}
