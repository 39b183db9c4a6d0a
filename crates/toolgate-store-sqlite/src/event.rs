//! Events in their chains.

use rusqlite::{Connection, params};
use toolgate_core::event::{ChainHead, EventDraft};

use crate::database::Fault;
use crate::row::{self, Cells};

// Invariant: whoever writes an event takes everything back where that fails. `FAIL` leaves it to them, and so needs no copy
// of each page beforehand, as a statement with a trigger otherwise does.
pub(crate) const INSERT: &str = "INSERT OR FAIL INTO events
    (session_id, seq, tenant_id, invocation_id, kind, actor, at, data, prev_hash, hash)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";

/// Writes events in their places after `head`; answers where the chain ends then.
pub(crate) fn append(
    connection: &Connection,
    mut head: ChainHead,
    drafts: &[EventDraft],
) -> Result<ChainHead, Fault> {
    let mut insert = connection.prepare_cached(INSERT)?;
    for draft in drafts {
        let next = draft.after(head);
        insert.execute(params![
            draft.session.to_string(),
            next.seq,
            draft.tenant.as_str(),
            draft.invocation.to_string(),
            draft.kind.as_str(),
            draft.actor.as_str(),
            draft.at.as_micros(),
            draft.data.as_str(),
            head.hash.0,
            next.hash.0,
        ])?;
        head = next;
    }
    Ok(head)
}

/// Where a session's chain ends.
pub(crate) fn session_head(connection: &Connection, session: &str) -> Result<ChainHead, Fault> {
    let sql = "SELECT seq, hash FROM events WHERE session_id = ?1 ORDER BY seq DESC LIMIT 1";
    let head = row::first(connection, sql, &[&session], |row| {
        let mut cells = Cells::of(row);
        Ok(ChainHead { seq: cells.get()?, hash: cells.hash()? })
    })?;
    Ok(head.unwrap_or(ChainHead::EMPTY))
}
