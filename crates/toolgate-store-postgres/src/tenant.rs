//! Tenants: the walls, and how often what stands within them was changed.

use tokio_postgres::Row;
use toolgate_core::document::Expect;
use toolgate_core::id::TenantId;
use toolgate_core::port::store::StoreError;
use toolgate_core::tenant::Tenant;

use crate::PostgresStore;
use crate::row::{self, Cells};
use crate::work::Work;

pub(crate) const COLUMNS: &str = "id, title, disabled, generation, created_at";

pub(crate) async fn find(store: &PostgresStore, id: &TenantId) -> Result<Option<Tenant>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM tenants WHERE id = $1");
    row::first(store.query_first(&sql, &[&id.as_str()]).await?.as_ref(), tenant)
}

pub(crate) async fn list(store: &PostgresStore, after: &str, limit: u32) -> Result<Vec<Tenant>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM tenants WHERE id > $1 ORDER BY id LIMIT $2");
    row::all(&store.query(&sql, &[&after, &i64::from(limit)]).await?, tenant)
}

pub(crate) async fn generations(
    store: &PostgresStore,
    ids: &[TenantId],
) -> Result<Vec<(TenantId, u64)>, StoreError> {
    let ids: Vec<&str> = ids.iter().map(TenantId::as_str).collect();
    let rows = store.query("SELECT id, generation FROM tenants WHERE id = ANY($1)", &[&ids]).await?;
    row::all(&rows, |row| {
        let mut cells = Cells::of(row);
        Ok((cells.parse("tenant")?, cells.count("generation")?))
    })
}

/// Waits for whoever else changes the tenant, and says whether it is there.
pub(crate) async fn lock(work: &Work<'_>) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM tenants WHERE id = $1 FOR UPDATE";
    Ok(work.first(sql, &[&work.change.tenant.as_str()]).await?.is_some())
}

pub(crate) async fn put(
    work: &Work<'_>,
    title: &str,
    disabled: bool,
    expect: Expect,
) -> Result<(), StoreError> {
    let (id, at) = (work.change.tenant.as_str(), work.change.at.as_micros());
    let written = match expect {
        // The change itself counts as its first.
        Expect::Absent => {
            let sql = "INSERT INTO tenants (id, title, disabled, generation, created_at)
                 VALUES ($1, $2, $3, 0, $4) ON CONFLICT (id) DO NOTHING";
            work.execute(sql, &[&id, &title, &disabled, &at]).await?
        }
        Expect::Anything => {
            let sql = "UPDATE tenants SET title = $2, disabled = $3 WHERE id = $1";
            work.execute(sql, &[&id, &title, &disabled]).await?
        }
        Expect::Revision(generation) => {
            let sql = "UPDATE tenants SET title = $2, disabled = $3 WHERE id = $1 AND generation = $4";
            work.execute(sql, &[&id, &title, &disabled, &row::signed(generation)]).await?
        }
    };
    if written == 0 { Err(StoreError::Conflict) } else { Ok(()) }
}

/// Counts the change and returns the new generation.
pub(crate) async fn bump(work: &Work<'_>) -> Result<u64, StoreError> {
    let sql = "UPDATE tenants SET generation = generation + 1 WHERE id = $1 RETURNING generation";
    let row = work.first(sql, &[&work.change.tenant.as_str()]).await?.ok_or(StoreError::NotFound)?;
    Cells::of(&row).count("generation")
}

fn tenant(row: &Row) -> Result<Tenant, StoreError> {
    read(&mut Cells::of(row))
}

pub(crate) fn read(cells: &mut Cells<'_>) -> Result<Tenant, StoreError> {
    Ok(Tenant {
        id: cells.parse("tenant")?,
        title: cells.get()?,
        disabled: cells.get()?,
        generation: cells.count("generation")?,
        created_at: cells.time()?,
    })
}
