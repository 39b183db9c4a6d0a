//! Links to calls.

use async_trait::async_trait;
use tokio_postgres::Row;
use toolgate_core::Timestamp;
use toolgate_core::id::{InvocationId, ShareId, TenantId};
use toolgate_core::port::share::ShareStore;
use toolgate_core::port::store::StoreError;
use toolgate_core::share::Share;

use crate::PostgresStore;
use crate::principal;
use crate::row::{self, Cells};
use crate::work::Work;

const COLUMNS: &str = "id, tenant_id, call_id, hash, made_by, key_id, created_at, expires_at, revoked_at";

#[async_trait]
impl ShareStore for PostgresStore {
    async fn share_by_hash(&self, hash: &[u8; 32]) -> Result<Option<Share>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM shares WHERE hash = $1");
        row::first(self.query_first(&sql, &[&hash.as_slice()]).await?.as_ref(), share)
    }

    async fn share(&self, tenant: &TenantId, id: ShareId) -> Result<Option<Share>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM shares WHERE id = $1 AND tenant_id = $2");
        let found = self.query_first(&sql, &[&id.to_string(), &tenant.as_str()]).await?;
        row::first(found.as_ref(), share)
    }

    async fn shares_of(
        &self,
        tenant: &TenantId,
        call: InvocationId,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<Share>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM shares
             WHERE tenant_id = $1 AND call_id = $2 AND revoked_at IS NULL AND expires_at > $3
             ORDER BY id DESC LIMIT $4"
        );
        let (call, now, limit) = (call.to_string(), now.as_micros(), i64::from(limit));
        row::all(&self.query(&sql, &[&tenant.as_str(), &call, &now, &limit]).await?, share)
    }
}

pub(crate) async fn put(work: &Work<'_>, share: &Share) -> Result<(), StoreError> {
    if share.tenant != work.change.tenant {
        return Err(StoreError::Refused("the call is of another tenant".to_owned()));
    }
    principal::known(work, &share.by).await?;
    let (call, tenant) = (share.call.to_string(), share.tenant.as_str());
    let there = "SELECT 1 FROM invocations WHERE id = $1 AND tenant_id = $2";
    work.first(there, &[&call, &tenant]).await?.ok_or(StoreError::NotFound)?;
    let sql = format!("INSERT INTO shares ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)");
    work.execute(
        &sql,
        &[
            &share.id.to_string(),
            &tenant,
            &call,
            &share.hash.as_slice(),
            &share.by.as_str(),
            &share.key.map(|key| key.to_string()),
            &share.created_at.as_micros(),
            &share.expires_at.as_micros(),
            &share.revoked_at.map(Timestamp::as_micros),
        ],
    )
    .await
    .map(drop)
}

pub(crate) async fn revoke(work: &Work<'_>, id: ShareId) -> Result<(), StoreError> {
    let sql = "UPDATE shares SET revoked_at = coalesce(revoked_at, $3) WHERE id = $1 AND tenant_id = $2";
    let tenant = work.change.tenant.as_str();
    let ended = work.execute(sql, &[&id.to_string(), &tenant, &work.change.at.as_micros()]).await?;
    if ended == 0 { Err(StoreError::NotFound) } else { Ok(()) }
}

fn share(row: &Row) -> Result<Share, StoreError> {
    let mut cells = Cells::of(row);
    let id = cells.parse("link")?;
    let tenant = cells.parse("tenant")?;
    let call = cells.parse("call")?;
    let hash: &[u8] = cells.get()?;
    let hash = hash.try_into().map_err(|_| StoreError::unavailable("a stored hash can't be read"))?;
    Ok(Share {
        id,
        tenant,
        call,
        hash,
        by: cells.parse("maker")?,
        key: cells.parse_opt("key")?,
        created_at: cells.time()?,
        expires_at: cells.time()?,
        revoked_at: cells.time_opt()?,
    })
}
