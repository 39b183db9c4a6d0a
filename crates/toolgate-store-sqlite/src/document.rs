//! Documents and their versions.

use rusqlite::{Connection, Row, params};
use toolgate_core::JsonText;
use toolgate_core::administration::AdminChange;
use toolgate_core::document::{Document, DocumentKind, DocumentVersion, Expect};
use toolgate_core::id::TenantId;
use toolgate_core::port::store::StoreError;

use crate::database::Fault;
use crate::row::{self, Cells};

const COLUMNS: &str = "kind, name, body, revision, written_by, written_at";

/// Writes a document, or removes it where there is no body, and keeps the version.
pub(crate) fn write(
    connection: &Connection,
    change: &AdminChange,
    (kind, name): (DocumentKind, &str),
    body: Option<&JsonText>,
    expect: Expect,
) -> Result<(), Fault> {
    let (tenant, kind) = (change.tenant.as_str(), kind.as_str());
    let sql = "SELECT revision FROM documents WHERE tenant_id = ?1 AND kind = ?2 AND name = ?3";
    let current =
        row::first(connection, sql, &[&tenant, &kind, &name], |row| Cells::of(row).count("revision"))?;
    match (expect, current) {
        (_, None) if body.is_none() => return Err(StoreError::NotFound.into()),
        (Expect::Anything, _) | (Expect::Absent, None) => {}
        (Expect::Revision(expected), Some(current)) if expected == current => {}
        _ => return Err(StoreError::Conflict.into()),
    }
    let (by, at) = (change.by.as_str(), change.at.as_micros());
    // Counted over the versions, so that a document that comes back goes on from where it was.
    let sql = "INSERT INTO document_versions (tenant_id, kind, name, revision, body, written_by, written_at)
               SELECT ?1, ?2, ?3, coalesce(max(revision), 0) + 1, ?4, ?5, ?6 FROM document_versions
               WHERE tenant_id = ?1 AND kind = ?2 AND name = ?3 RETURNING revision";
    let text = body.map(JsonText::as_str);
    let revision: i64 = connection
        .prepare_cached(sql)?
        .query_row(params![tenant, kind, name, text, by, at], |row| row.get(0))?;
    match text {
        Some(text) => connection.execute(
            "INSERT INTO documents (tenant_id, kind, name, body, revision, written_by, written_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
             ON CONFLICT (tenant_id, kind, name) DO UPDATE SET body = excluded.body, revision = excluded.revision,
                 written_by = excluded.written_by, written_at = excluded.written_at",
            params![tenant, kind, name, text, revision, by, at],
        )?,
        None => connection.execute(
            "DELETE FROM documents WHERE tenant_id = ?1 AND kind = ?2 AND name = ?3",
            params![tenant, kind, name],
        )?,
    };
    Ok(())
}

pub(crate) fn all(connection: &Connection, tenant: &TenantId) -> Result<Vec<Document>, Fault> {
    let sql = format!("SELECT {COLUMNS} FROM documents WHERE tenant_id = ?1 ORDER BY kind, name");
    let found = row::all(connection, &sql, &[&tenant.as_str()], known_document)?;
    Ok(found.into_iter().flatten().collect())
}

pub(crate) fn find(
    connection: &Connection,
    tenant: &TenantId,
    kind: DocumentKind,
    name: &str,
) -> Result<Option<Document>, Fault> {
    let sql = format!("SELECT {COLUMNS} FROM documents WHERE tenant_id = ?1 AND kind = ?2 AND name = ?3");
    row::first(connection, &sql, &[&tenant.as_str(), &kind.as_str(), &name], document)
}

pub(crate) fn versions(
    connection: &Connection,
    tenant: &TenantId,
    (kind, name): (DocumentKind, &str),
    before: Option<u64>,
    limit: u32,
) -> Result<Vec<DocumentVersion>, Fault> {
    let sql = "SELECT revision, body, written_by, written_at FROM document_versions
               WHERE tenant_id = ?1 AND kind = ?2 AND name = ?3 AND revision < ?4 ORDER BY revision DESC LIMIT ?5";
    let before = before.map_or(i64::MAX, row::signed);
    row::all(connection, sql, &[&tenant.as_str(), &kind.as_str(), &name, &before, &limit], version)
}

/// A document, or none of a kind that only a newer release knows: it must not keep this one from reading the others.
fn known_document(row: &Row<'_>) -> Result<Option<Document>, Fault> {
    let kind: String = Cells::of(row).get()?;
    DocumentKind::from_text(&kind).map(|_| document(row)).transpose()
}

fn document(row: &Row<'_>) -> Result<Document, Fault> {
    let mut cells = Cells::of(row);
    Ok(Document {
        kind: cells.word("kind of document", DocumentKind::from_text)?,
        name: cells.get()?,
        body: JsonText::from_store(cells.get()?),
        revision: cells.count("revision")?,
        by: cells.parse("writer")?,
        at: cells.time()?,
    })
}

fn version(row: &Row<'_>) -> Result<DocumentVersion, Fault> {
    let mut cells = Cells::of(row);
    Ok(DocumentVersion {
        revision: cells.count("revision")?,
        body: cells.get::<Option<String>>()?.map(JsonText::from_store),
        by: cells.parse("writer")?,
        at: cells.time()?,
    })
}
