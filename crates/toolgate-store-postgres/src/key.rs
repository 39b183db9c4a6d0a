//! Keys: made once, ended, never removed.

use std::sync::LazyLock;

use tokio_postgres::Row;
use toolgate_core::Timestamp;
use toolgate_core::administration::Write;
use toolgate_core::id::{ApiKeyId, PrincipalId, TenantId};
use toolgate_core::port::store::StoreError;
use toolgate_core::principal::{ApiKey, KeyHolder};

use crate::PostgresStore;
use crate::principal;
use crate::row::{self, Cells};
use crate::work::Work;

const COLUMNS: &str = "id, tenant_id, principal, subject, hash, label, scopes, created_by, created_at, expires_at, \
     revoked_at, last_used_at, replaces";

// Asked with every request by key, so it is put together once.
static HOLDER: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {}, {}, s.id IS NOT NULL, {} FROM api_keys k
         JOIN principals p ON p.tenant_id = k.tenant_id AND p.id = k.principal
         LEFT JOIN principals s ON s.tenant_id = k.tenant_id AND s.id = k.subject
         WHERE k.hash = $1",
        row::of_table("k", COLUMNS),
        row::of_table("p", principal::COLUMNS),
        row::of_table("s", principal::COLUMNS),
    )
});

// Locked in order of id, like the keys a change ends, so that those who write several keys at once can't wait for each
// other.
const TOUCH: &str = "
    WITH given AS MATERIALIZED (
        SELECT id, max(at) AS at FROM unnest($1::text[], $2::int8[]) AS g (id, at) GROUP BY id
    ), later AS (
        SELECT k.id, given.at FROM given JOIN api_keys k ON k.id = given.id
        WHERE k.last_used_at IS NULL OR k.last_used_at < given.at ORDER BY k.id FOR UPDATE OF k
    )
    UPDATE api_keys k SET last_used_at = later.at FROM later WHERE k.id = later.id";

// Keys and all that came from them by rotation.
const LINE: &str = "line (id) AS (
        SELECT id FROM api_keys WHERE id = ANY($1) AND tenant_id IS NOT DISTINCT FROM $2
        UNION SELECT k.id FROM line JOIN api_keys k ON k.replaces = line.id
    )";

pub(crate) async fn put(work: &Work<'_>, key: &ApiKey) -> Result<(), StoreError> {
    if key.tenant != work.change.tenant {
        return Err(StoreError::Refused("the key is of another tenant".to_owned()));
    }
    for id in std::iter::once(&key.principal).chain(&key.subject) {
        principal::known(work, id).await?;
    }
    if let Some(old) = key.replaces {
        let sql = "SELECT EXISTS (SELECT 1 FROM api_keys h WHERE h.replaces = k.id) FROM api_keys k
             WHERE k.id = $1 AND k.tenant_id = $2";
        let rows = work.query(sql, &[&old.to_string(), &key.tenant.as_str()]).await?;
        let replaced: bool = Cells::of(rows.first().ok_or(StoreError::NotFound)?).get()?;
        if replaced {
            return Err(StoreError::Conflict);
        }
    }
    let sql = format!(
        "INSERT INTO api_keys ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)"
    );
    work.execute(
        &sql,
        &[
            &key.id.to_string(),
            &key.tenant.as_str(),
            &key.principal.as_str(),
            &key.subject.as_ref().map(PrincipalId::as_str),
            &key.hash.as_slice(),
            &key.label,
            &row::json_text(&key.scopes)?,
            &key.created_by.as_str(),
            &key.created_at.as_micros(),
            &key.expires_at.map(Timestamp::as_micros),
            &key.revoked_at.map(Timestamp::as_micros),
            &key.last_used_at.map(Timestamp::as_micros),
            &key.replaces.map(|old| old.to_string()),
        ],
    )
    .await?;
    Ok(())
}

/// Locks the keys that a change ends, in order of id.
pub(crate) async fn lock_ending(work: &Work<'_>) -> Result<(), StoreError> {
    let (mut ids, mut lines) = (Vec::new(), Vec::new());
    for write in &work.change.writes {
        match write {
            Write::EndKey { id, .. } => ids.push(id.to_string()),
            Write::EndKeyLine { id } => lines.push(id.to_string()),
            _ => {}
        }
    }
    if ids.len() > 1 || !lines.is_empty() {
        let sql = format!(
            "WITH RECURSIVE {LINE} SELECT 1 FROM api_keys
             WHERE (id = ANY($3) OR id IN (SELECT id FROM line)) AND tenant_id IS NOT DISTINCT FROM $2
             ORDER BY id FOR UPDATE"
        );
        work.query(&sql, &[&lines, &work.change.tenant.as_str(), &ids]).await?;
    }
    Ok(())
}

/// Ends a key: revoked when its moment has come, and otherwise expiring then, or earlier if it would have.
pub(crate) async fn end(work: &Work<'_>, id: ApiKeyId, at: Timestamp) -> Result<(), StoreError> {
    let (set, at) = if at <= work.change.at {
        ("revoked_at = coalesce(revoked_at, $3)", work.change.at)
    } else {
        ("expires_at = least(expires_at, $3)", at)
    };
    let sql = format!("UPDATE api_keys SET {set} WHERE id = $1 AND tenant_id IS NOT DISTINCT FROM $2");
    let tenant = work.change.tenant.as_str();
    let ended = work.execute(&sql, &[&id.to_string(), &tenant, &at.as_micros()]).await?;
    if ended == 0 { Err(StoreError::NotFound) } else { Ok(()) }
}

/// Revokes a key and all that came from it by rotation.
pub(crate) async fn end_line(work: &Work<'_>, id: ApiKeyId) -> Result<(), StoreError> {
    let sql = format!(
        "WITH RECURSIVE {LINE} UPDATE api_keys SET revoked_at = coalesce(revoked_at, $3)
         WHERE id IN (SELECT id FROM line)"
    );
    let (first, tenant) = (vec![id.to_string()], work.change.tenant.as_str());
    let ended = work.execute(&sql, &[&first, &tenant, &work.change.at.as_micros()]).await?;
    if ended == 0 { Err(StoreError::NotFound) } else { Ok(()) }
}

pub(crate) async fn touch(store: &PostgresStore, uses: &[(ApiKeyId, Timestamp)]) -> Result<(), StoreError> {
    if uses.is_empty() {
        return Ok(());
    }
    let (ids, times): (Vec<String>, Vec<i64>) =
        uses.iter().map(|(id, at)| (id.to_string(), at.as_micros())).unzip();
    store.query(TOUCH, &[&ids, &times]).await.map(drop)
}

pub(crate) async fn holder(store: &PostgresStore, hash: &[u8; 32]) -> Result<Option<KeyHolder>, StoreError> {
    row::first(store.query_first(&HOLDER, &[&hash.as_slice()]).await?.as_ref(), |row| {
        let mut cells = Cells::of(row);
        let (key, principal) = (read(&mut cells)?, principal::read(&mut cells)?);
        let subject = if cells.get()? { Some(principal::read(&mut cells)?) } else { None };
        Ok(KeyHolder { key, principal, subject })
    })
}

pub(crate) async fn find(
    store: &PostgresStore,
    tenant: &TenantId,
    id: ApiKeyId,
) -> Result<Option<ApiKey>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM api_keys WHERE id = $1 AND tenant_id IS NOT DISTINCT FROM $2");
    row::first(store.query_first(&sql, &[&id.to_string(), &tenant.as_str()]).await?.as_ref(), key)
}

pub(crate) async fn list(
    store: &PostgresStore,
    tenant: &TenantId,
    principal: Option<&PrincipalId>,
    after: Option<ApiKeyId>,
    limit: u32,
) -> Result<Vec<ApiKey>, StoreError> {
    let (after, limit) = (after.map_or_else(String::new, |id| id.to_string()), i64::from(limit));
    let part = |more: &str| {
        format!("SELECT {COLUMNS} FROM api_keys WHERE tenant_id = $1 AND id > $2{more} ORDER BY id LIMIT $3")
    };
    let rows = match principal {
        None => store.query(&part(""), &[&tenant.as_str(), &after, &limit]).await?,
        Some(id) => {
            let sql = part(" AND principal = $4");
            store.query(&sql, &[&tenant.as_str(), &after, &limit, &id.as_str()]).await?
        }
    };
    row::all(&rows, key)
}

fn key(row: &Row) -> Result<ApiKey, StoreError> {
    read(&mut Cells::of(row))
}

fn read(cells: &mut Cells<'_>) -> Result<ApiKey, StoreError> {
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
