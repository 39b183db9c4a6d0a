//! Rows as Postgres keeps them, and their way back into the domain.

use serde::{Deserialize, Serialize};
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;
use toolgate_core::contract::{ContractVersion, Effect, Egress};
use toolgate_core::event::{ChainHash, Event, EventDraft, EventKind};
use toolgate_core::invocation::{Approval, Invocation, Opened, Source, Status};
use toolgate_core::port::store::StoreError;
use toolgate_core::{JsonText, Timestamp};

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

pub(crate) fn invocation(row: &Row) -> Result<Invocation, StoreError> {
    let mut cells = Cells::of(row);
    let opened = Opened {
        id: cells.parse("id")?,
        tenant: cells.parse("tenant")?,
        session: cells.parse("session")?,
        parent: cells.parse_opt("parent")?,
        tool: cells.parse("tool")?,
        tool_version: cells.get::<Option<String>>()?.map(ContractVersion),
        effect: cells.word("effect", Effect::from_text)?,
        egress: cells.word("egress", Egress::from_text)?,
        idempotent: cells.get()?,
        actor: cells.parse("actor")?,
        subject: cells.parse_opt("subject")?,
        key: cells.parse_opt("key")?,
        source: cells.word("source", Source::from_text)?,
        input: JsonText::from_store(cells.get()?),
        idempotency_key: cells.parse_opt("idempotency key")?,
        request_digest: cells.get()?,
        rule: cells.get()?,
        approval_required: cells.get()?,
        created_at: cells.time()?,
    };
    Ok(Invocation {
        opened,
        status: cells.word("status", Status::from_text)?,
        approval: cells.word("approval", Approval::from_text)?,
        decided_by: cells.parse_opt("decider")?,
        reason: cells.get()?,
        output: cells.get::<Option<String>>()?.map(JsonText::from_store),
        error: cells
            .get::<Option<&str>>()?
            .map(|text| serde_json::from_str(text).map_err(|_| damaged("error")))
            .transpose()?,
        cost_micros: cells.get()?,
        attempt: u32::try_from(cells.get::<i64>()?).map_err(|_| damaged("attempt"))?,
        worker: cells.parse_opt("worker")?,
        cancel_requested: cells.get()?,
        revision: u64::try_from(cells.get::<i64>()?).map_err(|_| damaged("revision"))?,
        seqs: (cells.get()?, cells.get()?),
        started_at: cells.time_opt()?,
        completed_at: cells.time_opt()?,
        review: cells
            .get::<Option<&str>>()?
            .map(|text| serde_json::from_str(text).map(Box::new).map_err(|_| damaged("review")))
            .transpose()?,
        due_at: cells.time_opt()?,
        head: None,
    })
}

pub(crate) fn event(row: &Row) -> Result<Event, StoreError> {
    let mut cells = Cells::of(row);
    let session = cells.parse("session")?;
    let seq = cells.get()?;
    let draft = EventDraft {
        session,
        tenant: cells.parse("tenant")?,
        invocation: cells.parse("invocation")?,
        kind: cells.word("kind", EventKind::from_text)?,
        actor: cells.parse("actor")?,
        at: cells.time()?,
        data: JsonText::from_store(cells.get()?),
    };
    Ok(Event { draft, seq, prev: cells.hash()?, hash: cells.hash()? })
}

/// All rows, converted.
pub(crate) fn all<T>(rows: &[Row], convert: fn(&Row) -> Result<T, StoreError>) -> Result<Vec<T>, StoreError> {
    rows.iter().map(convert).collect()
}

/// The first row, if any, converted.
pub(crate) fn first<T>(
    row: Option<&Row>,
    convert: fn(&Row) -> Result<T, StoreError>,
) -> Result<Option<T>, StoreError> {
    row.map(convert).transpose()
}

/// Columns of a table that goes by another name in a query.
pub(crate) fn of_table(table: &str, columns: &str) -> String {
    columns.split(", ").map(|column| format!("{table}.{column}")).collect::<Vec<_>>().join(", ")
}

/// A list or document as it is kept.
pub(crate) fn json_text<T: Serialize + ?Sized>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(StoreError::unavailable)
}

/// A count as Postgres keeps it.
pub(crate) fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn damaged(what: &str) -> StoreError {
    StoreError::unavailable(format!("a stored {what} can't be read"))
}

/// Reads a row's columns one after the other.
pub(crate) struct Cells<'a> {
    row: &'a Row,
    next: usize,
}

impl<'a> Cells<'a> {
    pub(crate) const fn of(row: &'a Row) -> Self {
        Self { row, next: 0 }
    }

    pub(crate) fn get<T: FromSql<'a>>(&mut self) -> Result<T, StoreError> {
        self.next += 1;
        self.row.try_get(self.next - 1).map_err(StoreError::unavailable)
    }

    pub(crate) fn parse<T: std::str::FromStr>(&mut self, what: &str) -> Result<T, StoreError> {
        self.get::<&str>()?.parse().map_err(|_| damaged(what))
    }

    pub(crate) fn parse_opt<T: std::str::FromStr>(&mut self, what: &str) -> Result<Option<T>, StoreError> {
        self.get::<Option<&str>>()?.map(|text| text.parse().map_err(|_| damaged(what))).transpose()
    }

    pub(crate) fn word<T>(&mut self, what: &str, from_text: fn(&str) -> Option<T>) -> Result<T, StoreError> {
        from_text(self.get()?).ok_or_else(|| damaged(what))
    }

    pub(crate) fn json<T: Deserialize<'a>>(&mut self, what: &str) -> Result<T, StoreError> {
        serde_json::from_str(self.get()?).map_err(|_| damaged(what))
    }

    pub(crate) fn count(&mut self, what: &str) -> Result<u64, StoreError> {
        u64::try_from(self.get::<i64>()?).map_err(|_| damaged(what))
    }

    pub(crate) fn time(&mut self) -> Result<Timestamp, StoreError> {
        self.get().map(Timestamp::from_micros)
    }

    pub(crate) fn time_opt(&mut self) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.get::<Option<i64>>()?.map(Timestamp::from_micros))
    }

    pub(crate) fn hash(&mut self) -> Result<ChainHash, StoreError> {
        ChainHash::from_slice(self.get()?).ok_or_else(|| damaged("hash"))
    }
}
