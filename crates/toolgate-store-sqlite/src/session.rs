//! Sessions, and the record as a whole for those who check it.

use async_trait::async_trait;
use rusqlite::params;
use toolgate_core::Timestamp;
use toolgate_core::event::{Anchor, ChainHash, ChainHead, Event};
use toolgate_core::id::{InvocationId, PrincipalId, SessionId, TenantId};
use toolgate_core::invocation::Invocation;
use toolgate_core::port::store::{AuditStore, Session, SessionStore, StoreError};

use crate::SqliteStore;
use crate::row::{self, Cells, EVENT_COLUMNS, INVOCATION_COLUMNS};
use crate::writer::Commit;

#[async_trait]
impl SessionStore for SqliteStore {
    async fn create_session(&self, session: Session) -> Result<(), StoreError> {
        // Invariant: an administration session has no row here, so no call can join it, whoever asks. Its id is the
        // only kind that is not made from the time.
        if session.id.uuid().get_version_num() == 8 {
            return Err(StoreError::Refused("the id is an administration session's".to_owned()));
        }
        self.database
            .write(Commit::Other, move |connection| {
                let mut insert = connection.prepare_cached(
                    "INSERT INTO sessions (id, tenant_id, owner, subject, labels, created_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                )?;
                insert.execute(params![
                    session.id.to_string(),
                    session.tenant.as_str(),
                    session.owner.as_str(),
                    session.subject.as_ref().map(PrincipalId::as_str),
                    row::json_text(&session.labels)?,
                    session.created_at.as_micros()
                ])?;
                Ok(())
            })
            .await
    }

    async fn session(&self, tenant: &TenantId, id: SessionId) -> Result<Option<Session>, StoreError> {
        let tenant = tenant.to_string();
        self.database
            .read(move |connection| {
                let sql = "SELECT id, tenant_id, owner, subject, labels, created_at FROM sessions
                           WHERE id = ?1 AND tenant_id = ?2";
                row::first(connection, sql, &[&id.to_string(), &tenant], |row| {
                    let mut cells = Cells::of(row);
                    Ok(Session {
                        id: cells.parse("session")?,
                        tenant: cells.parse("tenant")?,
                        owner: cells.parse("owner")?,
                        subject: cells.parse_opt("subject")?,
                        labels: cells.json("list of labels")?,
                        created_at: cells.time()?,
                    })
                })
            })
            .await
    }

    async fn session_events(&self, id: SessionId, after: i64, limit: u32) -> Result<Vec<Event>, StoreError> {
        self.database
            .read(move |connection| {
                let sql = format!(
                    "SELECT {EVENT_COLUMNS} FROM events WHERE session_id = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3"
                );
                row::all(connection, &sql, &[&id.to_string(), &after, &limit], row::event)
            })
            .await
    }
}

#[async_trait]
impl AuditStore for SqliteStore {
    async fn sessions_after(
        &self,
        after: Option<SessionId>,
        limit: u32,
    ) -> Result<Vec<SessionId>, StoreError> {
        let after = after.map_or_else(String::new, |id| id.to_string());
        self.database
            .read(move |connection| {
                let sql = "SELECT DISTINCT session_id FROM events WHERE session_id > ?1 ORDER BY session_id LIMIT ?2";
                row::all(connection, sql, &[&after, &limit], |row| Cells::of(row).parse("session"))
            })
            .await
    }

    async fn invocations_after(
        &self,
        after: Option<InvocationId>,
        limit: u32,
    ) -> Result<Vec<Invocation>, StoreError> {
        let after = after.map_or_else(String::new, |id| id.to_string());
        self.database
            .read(move |connection| {
                let sql = format!(
                    "SELECT {INVOCATION_COLUMNS} FROM invocations WHERE id > ?1 ORDER BY id LIMIT ?2"
                );
                row::all(connection, &sql, &[&after, &limit], row::invocation)
            })
            .await
    }

    async fn anchors_after(&self, after: i64, limit: u32) -> Result<Vec<Anchor>, StoreError> {
        self.database
            .read(move |connection| {
                let sql = "SELECT seq, at, heads, prev_hash, hash FROM anchors WHERE seq > ?1 ORDER BY seq LIMIT ?2";
                row::all(connection, sql, &[&after, &limit], |row| {
                    let mut cells = Cells::of(row);
                    Ok(Anchor {
                        seq: cells.get()?,
                        at: Timestamp::from_micros(cells.get()?),
                        heads: Anchor::heads_from_bytes(&cells.get::<Vec<u8>>()?),
                        prev: cells.hash()?,
                        hash: cells.hash()?,
                    })
                })
            })
            .await
    }

    async fn write_anchor(&self, at: Timestamp, limit: u32) -> Result<usize, StoreError> {
        self.database
            .write(Commit::Other, move |connection| {
                let last = row::first(
                    connection,
                    "SELECT seq, hash, watermark FROM anchors ORDER BY seq DESC LIMIT 1",
                    &[],
                    |row| {
                        let mut cells = Cells::of(row);
                        Ok((cells.get::<i64>()?, cells.hash()?, cells.get::<i64>()?))
                    },
                )?;
                let (seq, prev, watermark) = last.unwrap_or((0, ChainHash::GENESIS, 0));
                // One writer gives event ids in order of commit, so "after the watermark" misses nothing.
                let sql =
                    "WITH fresh AS (SELECT id, session_id FROM events WHERE id > ?1 ORDER BY id LIMIT ?2)
                     SELECT e.session_id, e.seq, e.hash, (SELECT max(id) FROM fresh) FROM events e
                     WHERE (e.session_id, e.seq) IN
                         (SELECT session_id, max(seq) FROM events
                          WHERE session_id IN (SELECT session_id FROM fresh) GROUP BY session_id)";
                let heads = row::all(connection, sql, &[&watermark, &limit], |row| {
                    let mut cells = Cells::of(row);
                    let session = cells.parse("session")?;
                    let head = ChainHead { seq: cells.get()?, hash: cells.hash()? };
                    Ok((session, head, cells.get::<i64>()?))
                })?;
                let Some((_, _, watermark)) = heads.first().copied() else { return Ok(0) };
                let covered = heads.len();
                let heads = heads.into_iter().map(|(session, head, _)| (session, head)).collect();
                let anchor = Anchor::seal(seq + 1, at, heads, prev);
                connection.execute(
                    "INSERT INTO anchors (seq, at, heads, prev_hash, hash, watermark)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                    params![
                        anchor.seq,
                        anchor.at.as_micros(),
                        anchor.heads_bytes(),
                        anchor.prev.0,
                        anchor.hash.0,
                        watermark
                    ],
                )?;
                Ok(covered)
            })
            .await
    }
}
