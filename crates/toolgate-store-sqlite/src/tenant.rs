//! Tenants: the walls, and how often what stands within them was changed.

use rusqlite::{Connection, Row, params};
use toolgate_core::administration::AdminChange;
use toolgate_core::document::Expect;
use toolgate_core::id::TenantId;
use toolgate_core::port::store::StoreError;
use toolgate_core::tenant::Tenant;

use crate::database::Fault;
use crate::row::{self, Cells};

pub(crate) const COLUMNS: &str = "id, title, disabled, generation, created_at";

pub(crate) fn find(connection: &Connection, id: &TenantId) -> Result<Option<Tenant>, Fault> {
    let sql = format!("SELECT {COLUMNS} FROM tenants WHERE id = ?1");
    row::first(connection, &sql, &[&id.as_str()], tenant)
}

pub(crate) fn list(connection: &Connection, after: &str, limit: u32) -> Result<Vec<Tenant>, Fault> {
    let sql = format!("SELECT {COLUMNS} FROM tenants WHERE id > ?1 ORDER BY id LIMIT ?2");
    row::all(connection, &sql, &[&after, &limit], tenant)
}

pub(crate) fn generation(connection: &Connection, id: &TenantId) -> Result<Option<u64>, Fault> {
    let sql = "SELECT generation FROM tenants WHERE id = ?1";
    row::first(connection, sql, &[&id.as_str()], |row| Cells::of(row).count("generation"))
}

pub(crate) fn put(
    connection: &Connection,
    change: &AdminChange,
    title: &str,
    disabled: bool,
    expect: Expect,
) -> Result<(), Fault> {
    let id = change.tenant.as_str();
    let written = match expect {
        // The change itself counts as its first.
        Expect::Absent => connection.execute(
            "INSERT INTO tenants (id, title, disabled, generation, created_at) VALUES (?1, ?2, ?3, 0, ?4)
             ON CONFLICT (id) DO NOTHING",
            params![id, title, disabled, change.at.as_micros()],
        )?,
        Expect::Anything => connection.execute(
            "UPDATE tenants SET title = ?2, disabled = ?3 WHERE id = ?1",
            params![id, title, disabled],
        )?,
        Expect::Revision(generation) => connection.execute(
            "UPDATE tenants SET title = ?2, disabled = ?3 WHERE id = ?1 AND generation = ?4",
            params![id, title, disabled, row::signed(generation)],
        )?,
    };
    if written == 0 { Err(StoreError::Conflict.into()) } else { Ok(()) }
}

/// Counts a change and returns the new generation.
pub(crate) fn bump(connection: &Connection, id: &TenantId) -> Result<u64, Fault> {
    let sql = "UPDATE tenants SET generation = generation + 1 WHERE id = ?1 RETURNING generation";
    row::first(connection, sql, &[&id.as_str()], |row| Cells::of(row).count("generation"))?
        .ok_or(StoreError::NotFound.into())
}

fn tenant(row: &Row<'_>) -> Result<Tenant, Fault> {
    read(&mut Cells::of(row))
}

pub(crate) fn read(cells: &mut Cells<'_>) -> Result<Tenant, Fault> {
    Ok(Tenant {
        id: cells.parse("tenant")?,
        title: cells.get()?,
        disabled: cells.get()?,
        generation: cells.count("generation")?,
        created_at: cells.time()?,
    })
}
