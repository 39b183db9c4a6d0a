//! Documents and their versions.

use tokio_postgres::Row;
use toolgate_core::JsonText;
use toolgate_core::document::{Document, DocumentKind, DocumentVersion, Expect};
use toolgate_core::id::TenantId;
use toolgate_core::port::store::StoreError;

use crate::PostgresStore;
use crate::row::{self, Cells};
use crate::work::Work;

const COLUMNS: &str = "kind, name, body, revision, written_by, written_at";

// Counted over the versions, so that a document that comes back goes on from where it was. Nobody else writes them now:
// the tenant is locked.
const KEEP: &str = "
    INSERT INTO document_versions (tenant_id, kind, name, revision, body, written_by, written_at)
    SELECT $1, $2, $3, coalesce((
        SELECT revision FROM document_versions WHERE tenant_id = $1 AND kind = $2 AND name = $3
        ORDER BY revision DESC LIMIT 1), 0) + 1, $4, $5, $6
    RETURNING revision";

const PUT: &str = "
    INSERT INTO documents (tenant_id, kind, name, body, revision, written_by, written_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (tenant_id, kind, name) DO UPDATE SET body = excluded.body, revision = excluded.revision,
        written_by = excluded.written_by, written_at = excluded.written_at";

/// Writes a document, or removes it where there is no body, and keeps the version.
pub(crate) async fn write(
    work: &Work<'_>,
    (kind, name): (DocumentKind, &str),
    body: Option<&JsonText>,
    expect: Expect,
) -> Result<(), StoreError> {
    let (tenant, kind) = (work.change.tenant.as_str(), kind.as_str());
    let sql = "SELECT revision FROM documents WHERE tenant_id = $1 AND kind = $2 AND name = $3";
    let current = work.first(sql, &[&tenant, &kind, &name]).await?;
    let current = row::first(current.as_ref(), |row| Cells::of(row).count("revision"))?;
    match (expect, current) {
        (_, None) if body.is_none() => return Err(StoreError::NotFound),
        (Expect::Anything, _) | (Expect::Absent, None) => {}
        (Expect::Revision(expected), Some(current)) if expected == current => {}
        _ => return Err(StoreError::Conflict),
    }
    let (by, at, text) = (work.change.by.as_str(), work.change.at.as_micros(), body.map(JsonText::as_str));
    let kept = work.first(KEEP, &[&tenant, &kind, &name, &text, &by, &at]).await?;
    let revision: i64 = kept.ok_or(StoreError::Conflict).and_then(|row| Cells::of(&row).get())?;
    match text {
        Some(text) => work.execute(PUT, &[&tenant, &kind, &name, &text, &revision, &by, &at]).await?,
        None => {
            let sql = "DELETE FROM documents WHERE tenant_id = $1 AND kind = $2 AND name = $3";
            work.execute(sql, &[&tenant, &kind, &name]).await?
        }
    };
    Ok(())
}

pub(crate) async fn all(store: &PostgresStore, tenant: &TenantId) -> Result<Vec<Document>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM documents WHERE tenant_id = $1 ORDER BY kind, name");
    let found = row::all(&store.query(&sql, &[&tenant.as_str()]).await?, known_document)?;
    Ok(found.into_iter().flatten().collect())
}

pub(crate) async fn find(
    store: &PostgresStore,
    tenant: &TenantId,
    kind: DocumentKind,
    name: &str,
) -> Result<Option<Document>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM documents WHERE tenant_id = $1 AND kind = $2 AND name = $3");
    let found = store.query_first(&sql, &[&tenant.as_str(), &kind.as_str(), &name]).await?;
    row::first(found.as_ref(), document)
}

pub(crate) async fn versions(
    store: &PostgresStore,
    tenant: &TenantId,
    (kind, name): (DocumentKind, &str),
    before: Option<u64>,
    limit: u32,
) -> Result<Vec<DocumentVersion>, StoreError> {
    let sql = "SELECT revision, body, written_by, written_at FROM document_versions
         WHERE tenant_id = $1 AND kind = $2 AND name = $3 AND revision < $4 ORDER BY revision DESC LIMIT $5";
    let (before, limit) = (before.map_or(i64::MAX, row::signed), i64::from(limit));
    let rows = store.query(sql, &[&tenant.as_str(), &kind.as_str(), &name, &before, &limit]).await?;
    row::all(&rows, version)
}

/// A document, or none of a kind that only a newer release knows: it must not keep this one from reading the others.
fn known_document(row: &Row) -> Result<Option<Document>, StoreError> {
    let kind: &str = Cells::of(row).get()?;
    DocumentKind::from_text(kind).map(|_| document(row)).transpose()
}

fn document(row: &Row) -> Result<Document, StoreError> {
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

fn version(row: &Row) -> Result<DocumentVersion, StoreError> {
    let mut cells = Cells::of(row);
    Ok(DocumentVersion {
        revision: cells.count("revision")?,
        body: cells.get::<Option<String>>()?.map(JsonText::from_store),
        by: cells.parse("writer")?,
        at: cells.time()?,
    })
}
