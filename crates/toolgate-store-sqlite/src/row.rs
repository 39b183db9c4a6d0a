//! Rows as SQLite keeps them, and their way back into the domain.

use rusqlite::types::FromSql;
use rusqlite::{Row, ToSql};
use serde::Serialize;
use serde::de::DeserializeOwned;
use toolgate_core::contract::{ContractVersion, Effect, Egress};
use toolgate_core::event::{ChainHash, Event, EventDraft, EventKind};
use toolgate_core::invocation::{Approval, Invocation, Opened, Source, Status};
use toolgate_core::port::store::StoreError;
use toolgate_core::{JsonText, Timestamp};

use crate::database::Fault;

pub(crate) const INVOCATION_COLUMNS: &str = "id, tenant_id, session_id, parent_id, tool_id, tool_version, effect, \
     egress, idempotent, actor, subject, key_id, source, input, idempotency_key, request_digest, rule, approval_required, \
     created_at, status, approval, decided_by, reason, output, error, cost_micros, attempt, worker, \
     cancel_requested, revision, first_seq, last_seq, started_at, completed_at, review, due_at";

/// The same columns for lists: what is larger than 8 KiB is left out, so that a page has a bounded size.
pub(crate) fn listed_columns() -> String {
    let small = |column: &str, otherwise: &str| {
        format!(", CASE WHEN octet_length({column}) > 8192 THEN {otherwise} ELSE {column} END AS {column},")
    };
    INVOCATION_COLUMNS
        .replace(", input,", &small("input", "'null'"))
        .replace(", output,", &small("output", "NULL"))
        .replace(", review,", &small("review", "NULL"))
}

pub(crate) const EVENT_COLUMNS: &str =
    "session_id, seq, tenant_id, invocation_id, kind, actor, at, data, prev_hash, hash";

pub(crate) fn invocation(row: &Row<'_>) -> Result<Invocation, Fault> {
    let mut cells = Cells { row, next: 0 };
    let opened_id = cells.parse("id")?;
    let tenant = cells.parse("tenant")?;
    let session = cells.parse("session")?;
    let parent = cells.parse_opt("parent")?;
    let tool = cells.parse("tool")?;
    let tool_version = cells.get::<Option<String>>()?.map(ContractVersion);
    let effect = cells.word("effect", Effect::from_text)?;
    let egress = cells.word("egress", Egress::from_text)?;
    let idempotent = cells.get()?;
    let actor = cells.parse("actor")?;
    let subject = cells.parse_opt("subject")?;
    let key = cells.parse_opt("key")?;
    let source = cells.word("source", Source::from_text)?;
    let input = JsonText::from_store(cells.get()?);
    let idempotency_key = cells.parse_opt("idempotency key")?;
    let request_digest = cells.get()?;
    let rule = cells.get()?;
    let approval_required = cells.get()?;
    let created_at = Timestamp::from_micros(cells.get()?);
    Ok(Invocation {
        opened: Opened {
            id: opened_id,
            tenant,
            session,
            parent,
            tool,
            tool_version,
            effect,
            egress,
            idempotent,
            actor,
            subject,
            key,
            source,
            input,
            idempotency_key,
            request_digest,
            rule,
            approval_required,
            created_at,
        },
        status: cells.word("status", Status::from_text)?,
        approval: cells.word("approval", Approval::from_text)?,
        decided_by: cells.parse_opt("decider")?,
        reason: cells.get()?,
        output: cells.get::<Option<String>>()?.map(JsonText::from_store),
        error: cells
            .get::<Option<String>>()?
            .map(|text| serde_json::from_str(&text).map_err(|_| damaged("error")))
            .transpose()?,
        cost_micros: cells.get()?,
        attempt: cells.get()?,
        worker: cells.parse_opt("worker")?,
        cancel_requested: cells.get()?,
        revision: u64::try_from(cells.get::<i64>()?).map_err(|_| damaged("revision"))?,
        seqs: (cells.get()?, cells.get()?),
        started_at: cells.get::<Option<i64>>()?.map(Timestamp::from_micros),
        completed_at: cells.get::<Option<i64>>()?.map(Timestamp::from_micros),
        review: cells
            .get::<Option<String>>()?
            .map(|text| serde_json::from_str(&text).map(Box::new).map_err(|_| damaged("review")))
            .transpose()?,
        due_at: cells.get::<Option<i64>>()?.map(Timestamp::from_micros),
        head: None,
    })
}

pub(crate) fn event(row: &Row<'_>) -> Result<Event, Fault> {
    let mut cells = Cells { row, next: 0 };
    let session = cells.parse("session")?;
    let seq = cells.get()?;
    let draft = EventDraft {
        session,
        tenant: cells.parse("tenant")?,
        invocation: cells.parse("invocation")?,
        kind: cells.word("kind", EventKind::from_text)?,
        actor: cells.parse("actor")?,
        at: Timestamp::from_micros(cells.get()?),
        data: JsonText::from_store(cells.get()?),
    };
    Ok(Event { draft, seq, prev: cells.hash()?, hash: cells.hash()? })
}

/// All rows of a query.
pub(crate) fn all<T>(
    connection: &rusqlite::Connection,
    sql: &str,
    params: &[&dyn ToSql],
    map: fn(&Row<'_>) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(map(row)?);
    }
    Ok(found)
}

/// The first row of a query, if any.
pub(crate) fn first<T>(
    connection: &rusqlite::Connection,
    sql: &str,
    params: &[&dyn ToSql],
    map: fn(&Row<'_>) -> Result<T, Fault>,
) -> Result<Option<T>, Fault> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    rows.next()?.map(map).transpose()
}

/// Columns of a table that goes by another name in a query.
pub(crate) fn of_table(table: &str, columns: &str) -> String {
    columns.split(", ").map(|column| format!("{table}.{column}")).collect::<Vec<_>>().join(", ")
}

/// A list or document as it is kept.
pub(crate) fn json_text<T: Serialize + ?Sized>(value: &T) -> Result<String, Fault> {
    serde_json::to_string(value).map_err(|cause| StoreError::unavailable(cause).into())
}

/// A count as SQLite keeps it.
pub(crate) fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

pub(crate) fn damaged(what: &str) -> Fault {
    Fault::Store(StoreError::unavailable(format!("a stored {what} can't be read")))
}

/// Reads a row's columns one after the other.
pub(crate) struct Cells<'a> {
    pub(crate) row: &'a Row<'a>,
    pub(crate) next: usize,
}

impl<'a> Cells<'a> {
    pub(crate) const fn of(row: &'a Row<'a>) -> Self {
        Self { row, next: 0 }
    }

    pub(crate) fn get<T: FromSql>(&mut self) -> Result<T, Fault> {
        self.next += 1;
        Ok(self.row.get(self.next - 1)?)
    }

    pub(crate) fn parse<T: std::str::FromStr>(&mut self, what: &str) -> Result<T, Fault> {
        self.get::<String>()?.parse().map_err(|_| damaged(what))
    }

    pub(crate) fn parse_opt<T: std::str::FromStr>(&mut self, what: &str) -> Result<Option<T>, Fault> {
        self.get::<Option<String>>()?.map(|text| text.parse().map_err(|_| damaged(what))).transpose()
    }

    pub(crate) fn word<T>(&mut self, what: &str, from_text: fn(&str) -> Option<T>) -> Result<T, Fault> {
        from_text(&self.get::<String>()?).ok_or_else(|| damaged(what))
    }

    pub(crate) fn json<T: DeserializeOwned>(&mut self, what: &str) -> Result<T, Fault> {
        serde_json::from_str(&self.get::<String>()?).map_err(|_| damaged(what))
    }

    pub(crate) fn count(&mut self, what: &str) -> Result<u64, Fault> {
        u64::try_from(self.get::<i64>()?).map_err(|_| damaged(what))
    }

    pub(crate) fn time(&mut self) -> Result<Timestamp, Fault> {
        self.get().map(Timestamp::from_micros)
    }

    pub(crate) fn time_opt(&mut self) -> Result<Option<Timestamp>, Fault> {
        Ok(self.get::<Option<i64>>()?.map(Timestamp::from_micros))
    }

    pub(crate) fn hash(&mut self) -> Result<ChainHash, Fault> {
        ChainHash::from_slice(&self.get::<Vec<u8>>()?).ok_or_else(|| damaged("hash"))
    }
}
