//! Files and their parts.

use async_trait::async_trait;
use rusqlite::{Connection, Row, params};
use toolgate_core::Timestamp;
use toolgate_core::file::{COUNTED_BYTES, File, Picture};
use toolgate_core::id::{FileId, PrincipalId, TenantId};
use toolgate_core::port::file::{EndingFile, FileStore, Finished, NewFile, Room};
use toolgate_core::port::store::StoreError;

use crate::SqliteStore;
use crate::database::Fault;
use crate::row::{self, Cells};
use crate::writer::Commit;

const COLUMNS: &str =
    "id, tenant_id, owner, sent_by, name, media_type, picture, size, sha256, created_at, expires_at";

/// A call that is not settled may still need the files it names. Ids are unlike any other text, so looking for one in
/// the text of an input finds no other.
const NAMED: &str = "EXISTS (SELECT 1 FROM invocations i WHERE i.tenant_id = f.tenant_id
     AND i.status IN ('pending', 'running', 'waiting', 'in_doubt')
     AND (instr(i.input, f.id) > 0 OR instr(coalesce(i.review, ''), f.id) > 0))";

/// How many files without parts are forgotten at once.
const FORGOTTEN: i64 = 256;

#[async_trait]
impl FileStore for SqliteStore {
    async fn begin_file(&self, file: NewFile, most: u64) -> Result<Room, StoreError> {
        self.database
            .write(Commit::Other, move |sqlite| {
                if !take_room(sqlite, file.tenant.as_str(), COUNTED_BYTES, most)? {
                    return Ok(Room::Full);
                }
                let sql = "INSERT INTO files (id, tenant_id, owner, sent_by, name, media_type, created_at, expires_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
                sqlite.prepare_cached(sql)?.execute(params![
                    file.id.to_string(),
                    file.tenant.as_str(),
                    file.owner.as_str(),
                    file.sent_by.as_str(),
                    file.name,
                    file.media_type,
                    file.created_at.as_micros(),
                    file.given_up_at.as_micros(),
                ])?;
                Ok(Room::Taken)
            })
            .await
    }

    async fn append_file(
        &self,
        tenant: &TenantId,
        id: FileId,
        part: u32,
        bytes: Vec<u8>,
        most: u64,
    ) -> Result<Room, StoreError> {
        let tenant = tenant.to_string();
        // One part in the queue at a time: many would come into one commit, and every call would wait for them.
        let _turn = self.parts.acquire().await.map_err(StoreError::unavailable)?;
        self.database
            .write(Commit::Other, move |sqlite| {
                let (id, added) = (id.to_string(), bytes.len() as u64);
                let sql = "UPDATE files SET size = size + ?3 WHERE id = ?1 AND tenant_id = ?2 AND state = 'arriving'";
                let arriving = sqlite.prepare_cached(sql)?.execute(params![id, tenant, row::signed(added)])?;
                if arriving == 0 {
                    return Err(StoreError::NotFound.into());
                }
                if !take_room(sqlite, &tenant, added, most)? {
                    let sql = "UPDATE files SET size = size - ?2 WHERE id = ?1";
                    sqlite.prepare_cached(sql)?.execute(params![id, row::signed(added)])?;
                    return Ok(Room::Full);
                }
                let sql = "INSERT INTO file_parts (file_id, part, bytes) VALUES (?1, ?2, ?3)";
                sqlite.prepare_cached(sql)?.execute(params![id, part, bytes])?;
                Ok(Room::Taken)
            })
            .await
    }

    async fn finish_file(
        &self,
        tenant: &TenantId,
        id: FileId,
        finished: Finished,
    ) -> Result<File, StoreError> {
        let (tenant, id) = (tenant.to_string(), id.to_string());
        self.database
            .write(Commit::Other, move |sqlite| {
                let sql = format!(
                    "UPDATE files SET state = 'kept', picture = ?3, sha256 = ?4, expires_at = ?5
                     WHERE id = ?1 AND tenant_id = ?2 AND state = 'arriving' RETURNING {COLUMNS}"
                );
                let picture = finished.picture.map(Picture::as_str);
                let expires = finished.expires_at.as_micros();
                row::first(sqlite, &sql, &[&id, &tenant, &picture, &finished.sha256, &expires], read)?
                    .ok_or_else(|| StoreError::NotFound.into())
            })
            .await
    }

    async fn files_by_id(&self, tenant: &TenantId, ids: &[FileId]) -> Result<Vec<File>, StoreError> {
        let tenant = tenant.to_string();
        let ids = row::json_text(ids).map_err(StoreError::from)?;
        self.database
            .read(move |sqlite| {
                let sql = format!(
                    "SELECT {COLUMNS} FROM files WHERE id IN (SELECT value FROM json_each(?2))
                     AND tenant_id = ?1 AND state = 'kept' ORDER BY id"
                );
                row::all(sqlite, &sql, &[&tenant, &ids], read)
            })
            .await
    }

    async fn files(
        &self,
        tenant: &TenantId,
        owner: Option<&PrincipalId>,
        after: Option<FileId>,
        limit: u32,
    ) -> Result<Vec<File>, StoreError> {
        let (tenant, owner) = (tenant.to_string(), owner.map(ToString::to_string));
        // Past every id there is.
        let after = after.map_or_else(|| "fil_~".to_owned(), |id| id.to_string());
        self.database
            .read(move |sqlite| {
                let whose = if owner.is_some() { "AND owner = ?4" } else { "AND ?4 IS NULL" };
                let sql = format!(
                    "SELECT {COLUMNS} FROM files WHERE tenant_id = ?1 AND state = 'kept' AND id < ?2 {whose}
                     ORDER BY id DESC LIMIT ?3"
                );
                row::all(sqlite, &sql, &[&tenant, &after, &limit, &owner], read)
            })
            .await
    }

    async fn file_part(
        &self,
        tenant: &TenantId,
        id: FileId,
        part: u32,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let (tenant, id) = (tenant.to_string(), id.to_string());
        self.database
            .read(move |sqlite| {
                let sql = "SELECT p.bytes FROM file_parts p JOIN files f ON f.id = p.file_id
                     WHERE p.file_id = ?1 AND p.part = ?3 AND f.tenant_id = ?2 AND f.state = 'kept'";
                row::first(sqlite, sql, &[&id, &tenant, &part], |row| Cells::of(row).get())
            })
            .await
    }

    async fn remove_file(&self, tenant: &TenantId, id: FileId) -> Result<(), StoreError> {
        let (tenant, id) = (tenant.to_string(), id.to_string());
        self.database
            .write(Commit::Other, move |sqlite| {
                let sql = "UPDATE files SET state = 'removed' WHERE id = ?1 AND tenant_id = ?2 AND state <> 'removed'";
                let removed = sqlite.prepare_cached(sql)?.execute(params![id, tenant])?;
                if removed == 0 { Err(StoreError::NotFound.into()) } else { Ok(()) }
            })
            .await
    }

    async fn purge_files(&self, limit: u32) -> Result<bool, StoreError> {
        // Mostly there is nothing to do, and the writer need not be asked.
        if self.database.read(first_removed).await?.is_none() {
            return Ok(false);
        }
        self.database
            .write(Commit::Other, move |sqlite| {
                let sql = "DELETE FROM file_parts WHERE rowid IN
                     (SELECT p.rowid FROM files f JOIN file_parts p ON p.file_id = f.id
                      WHERE f.state = 'removed' LIMIT ?1)";
                let gone = sqlite.prepare_cached(sql)?.execute(params![limit])?;
                let sql = "SELECT f.id, f.tenant_id, f.size FROM files f WHERE f.state = 'removed'
                     AND NOT EXISTS (SELECT 1 FROM file_parts p WHERE p.file_id = f.id) LIMIT ?1";
                let empty = row::all(sqlite, sql, &[&FORGOTTEN], |row| {
                    let mut cells = Cells::of(row);
                    Ok((cells.get::<String>()?, cells.get::<String>()?, cells.get::<i64>()?))
                })?;
                for (id, tenant, size) in &empty {
                    let freed = size + row::signed(COUNTED_BYTES);
                    let sql = "UPDATE file_totals SET bytes = max(bytes - ?2, 0) WHERE tenant_id = ?1";
                    sqlite.prepare_cached(sql)?.execute(params![tenant, freed])?;
                    sqlite.prepare_cached("DELETE FROM files WHERE id = ?1")?.execute(params![id])?;
                }
                Ok(gone + empty.len() > 0)
            })
            .await
    }

    async fn ending_files(
        &self,
        before: Timestamp,
        after: Option<(Timestamp, FileId)>,
        limit: u32,
    ) -> Result<Vec<EndingFile>, StoreError> {
        let before = before.as_micros();
        let (since, after) =
            after.map_or((i64::MIN, String::new()), |(at, id)| (at.as_micros(), id.to_string()));
        self.database
            .read(move |sqlite| {
                let sql = format!(
                    "SELECT f.id, f.expires_at, f.state = 'kept' AND {NAMED} FROM files f
                     WHERE f.state <> 'removed' AND f.expires_at < ?1 AND (f.expires_at, f.id) > (?2, ?3)
                     ORDER BY f.expires_at, f.id LIMIT ?4"
                );
                row::all(sqlite, &sql, &[&before, &since, &after, &limit], |row| {
                    let mut cells = Cells::of(row);
                    Ok(EndingFile {
                        id: cells.parse("file")?,
                        expires_at: cells.time()?,
                        named: cells.get()?,
                    })
                })
            })
            .await
    }

    async fn keep_files(&self, ids: &[FileId], until: Timestamp) -> Result<(), StoreError> {
        let ids = row::json_text(ids).map_err(StoreError::from)?;
        self.database
            .write(Commit::Other, move |sqlite| {
                let sql = "UPDATE files SET expires_at = max(expires_at, ?2)
                     WHERE id IN (SELECT value FROM json_each(?1)) AND state = 'kept'";
                sqlite.prepare_cached(sql)?.execute(params![ids, until.as_micros()])?;
                Ok(())
            })
            .await
    }

    async fn end_files(&self, ids: &[FileId], before: Timestamp) -> Result<(), StoreError> {
        let ids = row::json_text(ids).map_err(StoreError::from)?;
        self.database
            .write(Commit::Other, move |sqlite| {
                let sql = "UPDATE files SET state = 'removed'
                     WHERE id IN (SELECT value FROM json_each(?1)) AND expires_at < ?2";
                sqlite.prepare_cached(sql)?.execute(params![ids, before.as_micros()])?;
                Ok(())
            })
            .await
    }
}

fn first_removed(sqlite: &Connection) -> Result<Option<String>, Fault> {
    let sql = "SELECT id FROM files WHERE state = 'removed' ORDER BY id LIMIT 1";
    row::first(sqlite, sql, &[], |row| Cells::of(row).get())
}

/// Takes room from a tenant's total, if there is enough.
fn take_room(sqlite: &Connection, tenant: &str, added: u64, most: u64) -> Result<bool, Fault> {
    let sql = "INSERT INTO file_totals (tenant_id, bytes) VALUES (?1, 0) ON CONFLICT (tenant_id) DO NOTHING";
    sqlite.prepare_cached(sql)?.execute(params![tenant])?;
    let sql = "UPDATE file_totals SET bytes = bytes + ?2 WHERE tenant_id = ?1 AND bytes + ?2 <= ?3";
    Ok(sqlite.prepare_cached(sql)?.execute(params![tenant, row::signed(added), row::signed(most)])? == 1)
}

fn read(row: &Row<'_>) -> Result<File, Fault> {
    let mut cells = Cells::of(row);
    Ok(File {
        id: cells.parse("file")?,
        tenant: cells.parse("tenant")?,
        owner: cells.parse("owner")?,
        sent_by: cells.parse("sender")?,
        name: cells.get()?,
        media_type: cells.get()?,
        picture: cells.get::<Option<String>>()?.as_deref().and_then(Picture::from_text),
        size: cells.count("size")?,
        sha256: cells.get()?,
        created_at: cells.time()?,
        expires_at: cells.time()?,
    })
}
