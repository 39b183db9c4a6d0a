//! Files and their parts.

use async_trait::async_trait;
use tokio_postgres::Row;
use toolgate_core::Timestamp;
use toolgate_core::file::{COUNTED_BYTES, File, Picture};
use toolgate_core::id::{FileId, PrincipalId, TenantId};
use toolgate_core::port::file::{EndingFile, FileStore, Finished, NewFile, Room};
use toolgate_core::port::store::StoreError;

use crate::PostgresStore;
use crate::row::{self, Cells};

const COLUMNS: &str =
    "id, tenant_id, owner, sent_by, name, media_type, picture, size, sha256, created_at, expires_at";

/// A call that is not settled may still need the files it names. Ids are unlike any other text, so looking for one in
/// the text of an input finds no other.
const NAMED: &str = "EXISTS (SELECT 1 FROM invocations i WHERE i.tenant_id = f.tenant_id
     AND i.status IN ('pending', 'running', 'waiting', 'in_doubt')
     AND (position(f.id IN i.input) > 0 OR position(f.id IN coalesce(i.review, '')) > 0))";

// The total's row is locked by whoever takes room, so that of two who see the last of it one gets it.
const BEGIN: &str = "
    WITH room AS (
        INSERT INTO file_totals AS t (tenant_id, bytes) SELECT $2, $9::int8 WHERE $9::int8 <= $10::int8
        ON CONFLICT (tenant_id) DO UPDATE SET bytes = t.bytes + $9::int8 WHERE t.bytes + $9::int8 <= $10::int8
        RETURNING 1
    )
    INSERT INTO files (id, tenant_id, owner, sent_by, name, media_type, created_at, expires_at)
    SELECT $1, $2, $3, $4, $5, $6, $7, $8 FROM room
    RETURNING 1";

// The file is locked first: what is removed meanwhile takes no more room.
const APPEND: &str = "
    WITH arriving AS MATERIALIZED (
        SELECT id FROM files WHERE id = $1 AND tenant_id = $2 AND state = 'arriving' FOR UPDATE
    ), room AS (
        UPDATE file_totals t SET bytes = t.bytes + octet_length($4::bytea) FROM arriving
        WHERE t.tenant_id = $2 AND t.bytes + octet_length($4::bytea) <= $5
        RETURNING 1
    ), grown AS (
        UPDATE files f SET size = f.size + octet_length($4::bytea) FROM room WHERE f.id = $1
        RETURNING f.id
    ), added AS (
        INSERT INTO file_parts (file_id, part, bytes) SELECT grown.id, $3, $4 FROM grown
    )
    SELECT EXISTS (SELECT 1 FROM arriving), EXISTS (SELECT 1 FROM room)";

// Rows that another node purges just now are left to it.
const PURGE: &str = "
    WITH parts AS MATERIALIZED (
        SELECT p.file_id, p.part FROM files f JOIN file_parts p ON p.file_id = f.id
        WHERE f.state = 'removed' ORDER BY f.id, p.part LIMIT $1 FOR UPDATE OF p SKIP LOCKED
    ), gone AS (
        DELETE FROM file_parts p USING parts WHERE p.file_id = parts.file_id AND p.part = parts.part RETURNING 1
    )
    SELECT count(*) FROM gone";

// Another statement than the one before it: the parts it took away are gone by now.
const FORGET: &str = "
    WITH empty AS MATERIALIZED (
        SELECT f.id FROM files f WHERE f.state = 'removed'
        AND NOT EXISTS (SELECT 1 FROM file_parts p WHERE p.file_id = f.id)
        ORDER BY f.id LIMIT $2 FOR UPDATE OF f SKIP LOCKED
    ), forgotten AS (
        DELETE FROM files f USING empty WHERE f.id = empty.id RETURNING f.tenant_id, f.size
    ), freed AS (
        SELECT tenant_id, sum(size + $1::int8)::int8 AS bytes FROM forgotten GROUP BY tenant_id
    ), given_back AS (
        UPDATE file_totals t SET bytes = greatest(t.bytes - freed.bytes, 0) FROM freed
        WHERE t.tenant_id = freed.tenant_id
    )
    SELECT count(*) FROM forgotten";

/// How many files without parts are forgotten at once.
const FORGOTTEN: i64 = 256;

#[async_trait]
impl FileStore for PostgresStore {
    async fn begin_file(&self, file: NewFile, most: u64) -> Result<Room, StoreError> {
        let begun = self
            .query_first(
                BEGIN,
                &[
                    &file.id.to_string(),
                    &file.tenant.as_str(),
                    &file.owner.as_str(),
                    &file.sent_by.as_str(),
                    &file.name,
                    &file.media_type,
                    &file.created_at.as_micros(),
                    &file.given_up_at.as_micros(),
                    &row::signed(COUNTED_BYTES),
                    &row::signed(most),
                ],
            )
            .await?;
        Ok(if begun.is_some() { Room::Taken } else { Room::Full })
    }

    async fn append_file(
        &self,
        tenant: &TenantId,
        id: FileId,
        part: u32,
        bytes: Vec<u8>,
        most: u64,
    ) -> Result<Room, StoreError> {
        let part = i32::try_from(part).map_err(StoreError::unavailable)?;
        let found = self
            .query_first(APPEND, &[&id.to_string(), &tenant.as_str(), &part, &bytes, &row::signed(most)])
            .await?;
        let answer = row::first(found.as_ref(), |row| {
            let mut cells = Cells::of(row);
            Ok((cells.get::<bool>()?, cells.get::<bool>()?))
        })?;
        match answer {
            Some((true, true)) => Ok(Room::Taken),
            Some((true, false)) => Ok(Room::Full),
            Some((false, _)) | None => Err(StoreError::NotFound),
        }
    }

    async fn finish_file(
        &self,
        tenant: &TenantId,
        id: FileId,
        finished: Finished,
    ) -> Result<File, StoreError> {
        let sql = format!(
            "UPDATE files SET state = 'kept', picture = $3, sha256 = $4, expires_at = $5
             WHERE id = $1 AND tenant_id = $2 AND state = 'arriving' RETURNING {COLUMNS}"
        );
        let picture = finished.picture.map(Picture::as_str);
        let expires = finished.expires_at.as_micros();
        let found = self
            .query_first(&sql, &[&id.to_string(), &tenant.as_str(), &picture, &finished.sha256, &expires])
            .await?;
        row::first(found.as_ref(), read)?.ok_or(StoreError::NotFound)
    }

    async fn files_by_id(&self, tenant: &TenantId, ids: &[FileId]) -> Result<Vec<File>, StoreError> {
        let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
        let sql = format!(
            "SELECT {COLUMNS} FROM files WHERE id = ANY ($2) AND tenant_id = $1 AND state = 'kept' ORDER BY id"
        );
        row::all(&self.query(&sql, &[&tenant.as_str(), &ids]).await?, read)
    }

    async fn files(
        &self,
        tenant: &TenantId,
        owner: Option<&PrincipalId>,
        after: Option<FileId>,
        limit: u32,
    ) -> Result<Vec<File>, StoreError> {
        // Past every id there is.
        let after = after.map_or_else(|| "fil_~".to_owned(), |id| id.to_string());
        let whose = if owner.is_some() { "AND owner = $4" } else { "AND $4::text IS NULL" };
        let sql = format!(
            "SELECT {COLUMNS} FROM files WHERE tenant_id = $1 AND state = 'kept' AND id < $2 {whose}
             ORDER BY id DESC LIMIT $3"
        );
        let owner = owner.map(PrincipalId::as_str);
        let rows = self.query(&sql, &[&tenant.as_str(), &after, &i64::from(limit), &owner]).await?;
        row::all(&rows, read)
    }

    async fn file_part(
        &self,
        tenant: &TenantId,
        id: FileId,
        part: u32,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let Ok(part) = i32::try_from(part) else { return Ok(None) };
        let sql = "SELECT p.bytes FROM file_parts p JOIN files f ON f.id = p.file_id
             WHERE p.file_id = $1 AND p.part = $3 AND f.tenant_id = $2 AND f.state = 'kept'";
        let found = self.query_first(sql, &[&id.to_string(), &tenant.as_str(), &part]).await?;
        row::first(found.as_ref(), |row| Cells::of(row).get())
    }

    async fn remove_file(&self, tenant: &TenantId, id: FileId) -> Result<(), StoreError> {
        let sql = "UPDATE files SET state = 'removed' WHERE id = $1 AND tenant_id = $2 AND state <> 'removed'
             RETURNING 1";
        let removed = self.query_first(sql, &[&id.to_string(), &tenant.as_str()]).await?;
        removed.map(drop).ok_or(StoreError::NotFound)
    }

    async fn purge_files(&self, limit: u32) -> Result<bool, StoreError> {
        let count = |row: Option<Row>| {
            row::first(row.as_ref(), |row| Cells::of(row).count("count")).map(Option::unwrap_or_default)
        };
        let gone = count(self.query_first(PURGE, &[&i64::from(limit)]).await?)?;
        let counted = row::signed(COUNTED_BYTES);
        let forgotten = count(self.query_first(FORGET, &[&counted, &FORGOTTEN]).await?)?;
        Ok(gone + forgotten > 0)
    }

    async fn ending_files(
        &self,
        before: Timestamp,
        after: Option<(Timestamp, FileId)>,
        limit: u32,
    ) -> Result<Vec<EndingFile>, StoreError> {
        let (since, after) =
            after.map_or((i64::MIN, String::new()), |(at, id)| (at.as_micros(), id.to_string()));
        let sql = format!(
            "SELECT f.id, f.expires_at, f.state = 'kept' AND {NAMED} FROM files f
             WHERE f.state <> 'removed' AND f.expires_at < $1 AND (f.expires_at, f.id) > ($2, $3)
             ORDER BY f.expires_at, f.id LIMIT $4"
        );
        let rows = self.query(&sql, &[&before.as_micros(), &since, &after, &i64::from(limit)]).await?;
        row::all(&rows, |row| {
            let mut cells = Cells::of(row);
            Ok(EndingFile { id: cells.parse("file")?, expires_at: cells.time()?, named: cells.get()? })
        })
    }

    async fn keep_files(&self, ids: &[FileId], until: Timestamp) -> Result<(), StoreError> {
        let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
        let sql =
            "UPDATE files SET expires_at = greatest(expires_at, $2) WHERE id = ANY ($1) AND state = 'kept'";
        self.query(sql, &[&ids, &until.as_micros()]).await.map(drop)
    }

    async fn end_files(&self, ids: &[FileId], before: Timestamp) -> Result<(), StoreError> {
        let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
        let sql = "UPDATE files SET state = 'removed' WHERE id = ANY ($1) AND expires_at < $2 AND state <> 'removed'";
        self.query(sql, &[&ids, &before.as_micros()]).await.map(drop)
    }
}

fn read(row: &Row) -> Result<File, StoreError> {
    let mut cells = Cells::of(row);
    Ok(File {
        id: cells.parse("file")?,
        tenant: cells.parse("tenant")?,
        owner: cells.parse("owner")?,
        sent_by: cells.parse("sender")?,
        name: cells.get()?,
        media_type: cells.get()?,
        picture: cells.get::<Option<&str>>()?.and_then(Picture::from_text),
        size: cells.count("size")?,
        sha256: cells.get()?,
        created_at: cells.time()?,
        expires_at: cells.time()?,
    })
}
