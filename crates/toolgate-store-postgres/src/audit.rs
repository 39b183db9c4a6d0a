//! The record as a whole, and the anchors over it.

use async_trait::async_trait;
use tokio_postgres::Row;
use toolgate_core::Timestamp;
use toolgate_core::event::{Anchor, ChainHash, ChainHead};
use toolgate_core::id::{InvocationId, SessionId};
use toolgate_core::invocation::Invocation;
use toolgate_core::port::store::{AuditStore, StoreError};

use crate::PostgresStore;
use crate::error::Fault;
use crate::row::{self, Cells, INVOCATION_COLUMNS};

/// Any number, the same on all nodes: who holds this lock anchors.
const LOCK: i64 = 0x746f_6f6c_616e_6368;

#[async_trait]
impl AuditStore for PostgresStore {
    async fn sessions_after(
        &self,
        after: Option<SessionId>,
        limit: u32,
    ) -> Result<Vec<SessionId>, StoreError> {
        // From one session to the next by the index, without reading the events between. The events and not the
        // sessions are walked: a removed session row must not hide them.
        let sql = "WITH RECURSIVE walk AS (
                 (SELECT session_id FROM events WHERE session_id > $1 ORDER BY session_id LIMIT 1)
                 UNION ALL
                 SELECT (SELECT e.session_id FROM events e WHERE e.session_id > walk.session_id
                         ORDER BY e.session_id LIMIT 1)
                 FROM walk WHERE walk.session_id IS NOT NULL
             )
             SELECT session_id FROM walk WHERE session_id IS NOT NULL LIMIT $2";
        let after = after.map_or_else(String::new, |id| id.to_string());
        row::all(&self.query(sql, &[&after, &i64::from(limit)]).await?, |row| Cells::of(row).parse("session"))
    }

    async fn invocations_after(
        &self,
        after: Option<InvocationId>,
        limit: u32,
    ) -> Result<Vec<Invocation>, StoreError> {
        let sql = format!("SELECT {INVOCATION_COLUMNS} FROM invocations WHERE id > $1 ORDER BY id LIMIT $2");
        let after = after.map_or_else(String::new, |id| id.to_string());
        row::all(&self.query(&sql, &[&after, &i64::from(limit)]).await?, row::invocation)
    }

    async fn anchors_after(&self, after: i64, limit: u32) -> Result<Vec<Anchor>, StoreError> {
        let sql = "SELECT seq, at, heads, prev_hash, hash FROM anchors WHERE seq > $1 ORDER BY seq LIMIT $2";
        row::all(&self.query(sql, &[&after, &i64::from(limit)]).await?, |row| {
            let mut cells = Cells::of(row);
            Ok(Anchor {
                seq: cells.get()?,
                at: cells.time()?,
                heads: Anchor::heads_from_bytes(cells.get()?),
                prev: cells.hash()?,
                hash: cells.hash()?,
            })
        })
    }

    async fn write_anchor(&self, at: Timestamp, limit: u32) -> Result<usize, StoreError> {
        let mut client = self.pool.get().await.map_err(Fault::from)?;
        let transaction = client.transaction().await.map_err(Fault::from)?;
        // A statement of its own: the ones after it must see what the holder before wrote.
        let lock =
            transaction.prepare_cached("SELECT pg_advisory_xact_lock($1)").await.map_err(Fault::from)?;
        transaction.query(&lock, &[&LOCK]).await.map_err(Fault::from)?;

        let last = transaction.prepare_cached(LAST).await.map_err(Fault::from)?;
        let last = transaction.query_opt(&last, &[]).await.map_err(Fault::from)?;
        let last = last.as_ref().map_or(Ok(Last::none()), Last::read)?;

        let touched = transaction.prepare_cached(TOUCHED).await.map_err(Fault::from)?;
        let places = usize::try_from(limit).unwrap_or(usize::MAX);
        let rows = transaction
            .query(&touched, &[&last.watermark, &last.session, &(i64::from(limit) + 1)])
            .await
            .map_err(Fault::from)?;
        let touched = row::all(&rows, Touched::read)?;
        let Some(edge) = touched.first().map(|first| first.edge.clone()).filter(|_| limit > 0) else {
            return Ok(0);
        };
        // The next anchor goes on with the first session left out, or else with what was not settled yet.
        let (watermark, watermark_session) = touched
            .get(places)
            .map_or((edge, String::new()), |next| (next.xid.clone(), next.session.to_string()));
        let heads: Vec<(SessionId, ChainHead)> =
            touched.iter().take(places).map(|touched| (touched.session, touched.head)).collect();
        let anchor = Anchor::seal(last.seq + 1, at, heads, last.hash);

        let insert = transaction.prepare_cached(INSERT).await.map_err(Fault::from)?;
        transaction
            .execute(
                &insert,
                &[
                    &anchor.seq,
                    &anchor.at.as_micros(),
                    &anchor.heads_bytes(),
                    &anchor.prev.0.as_slice(),
                    &anchor.hash.0.as_slice(),
                    &watermark,
                    &watermark_session,
                ],
            )
            .await
            .map_err(Fault::from)?;
        transaction.commit().await.map_err(Fault::from)?;
        Ok(anchor.heads.len())
    }
}

const LAST: &str =
    "SELECT seq, hash, watermark::text, watermark_session FROM anchors ORDER BY seq DESC LIMIT 1";

// Sessions with events since the watermark, in order of the transaction that first touched them. Only transactions
// older than any still open count: whatever commits later has a higher number and falls to the next anchor, so nothing
// slips through between two. A watermark ahead of the server's own numbers comes from another server, by a dump and
// restore: everything is anchored anew then.
const TOUCHED: &str = "
    WITH edge AS MATERIALIZED (
        SELECT now.xmin, now.xmin < $1::text::xid8 AS moved
        FROM (SELECT pg_snapshot_xmin(pg_current_snapshot()) AS xmin) AS now
    ), since AS MATERIALIZED (
        SELECT CASE WHEN moved THEN '0'::xid8 ELSE $1::text::xid8 END AS xid,
               CASE WHEN moved THEN '' ELSE $2::text END COLLATE \"C\" AS session_id
        FROM edge
    ), fresh AS (
        SELECT DISTINCT ON (session_id) session_id, xid FROM events
        WHERE xid >= (SELECT xid FROM since) AND xid < (SELECT xmin FROM edge)
            AND (xid > (SELECT xid FROM since) OR session_id >= (SELECT session_id FROM since))
        ORDER BY session_id, xid
    ), next AS (
        SELECT session_id, xid FROM fresh ORDER BY xid, session_id LIMIT $3
    )
    SELECT next.session_id, next.xid::text, head.seq, head.hash, (SELECT xmin FROM edge)::text
    FROM next CROSS JOIN LATERAL (
        SELECT seq, hash FROM events WHERE session_id = next.session_id ORDER BY seq DESC LIMIT 1
    ) AS head
    ORDER BY next.xid, next.session_id";

const INSERT: &str = "INSERT INTO anchors (seq, at, heads, prev_hash, hash, watermark, watermark_session)
    VALUES ($1, $2, $3, $4, $5, $6::text::xid8, $7)";

/// The anchor to go on from.
struct Last {
    seq: i64,
    hash: ChainHash,
    watermark: String,
    session: String,
}

impl Last {
    fn none() -> Self {
        Self { seq: 0, hash: ChainHash::GENESIS, watermark: "0".to_owned(), session: String::new() }
    }

    fn read(row: &Row) -> Result<Self, StoreError> {
        let mut cells = Cells::of(row);
        Ok(Self { seq: cells.get()?, hash: cells.hash()?, watermark: cells.get()?, session: cells.get()? })
    }
}

/// A session that was touched.
struct Touched {
    session: SessionId,
    xid: String,
    head: ChainHead,
    edge: String,
}

impl Touched {
    fn read(row: &Row) -> Result<Self, StoreError> {
        let mut cells = Cells::of(row);
        Ok(Self {
            session: cells.parse("session")?,
            xid: cells.get()?,
            head: ChainHead { seq: cells.get()?, hash: cells.hash()? },
            edge: cells.get()?,
        })
    }
}
