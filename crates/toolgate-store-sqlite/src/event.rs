//! Events in their chains.

use rusqlite::{Connection, params};
use toolgate_core::event::{ChainHead, Event, EventDraft};

use crate::database::Fault;
use crate::row::{self, Cells};

/// Writes events in their places after `head`.
pub(crate) fn append(
    connection: &Connection,
    mut head: ChainHead,
    drafts: &[EventDraft],
) -> Result<Vec<Event>, Fault> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO events (session_id, seq, tenant_id, invocation_id, kind, actor, at, data, prev_hash, hash)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?;
    let mut events = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let event = draft.clone().seal(head);
        head = event.head();
        insert.execute(params![
            event.draft.session.to_string(),
            event.seq,
            event.draft.tenant.as_str(),
            event.draft.invocation.to_string(),
            event.draft.kind.as_str(),
            event.draft.actor.as_str(),
            event.draft.at.as_micros(),
            event.draft.data.as_str(),
            event.prev.0,
            event.hash.0,
        ])?;
        events.push(event);
    }
    Ok(events)
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
