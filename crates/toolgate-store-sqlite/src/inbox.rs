//! Calls on their way into the tables.
//!
//! A call that is settled when it is first written needs nothing from the tables and can be refused by none of them. It is
//! durable as soon as its rows are in the inbox, one blob for all calls of a commit, and moves into the tables together
//! with many others: that takes a fraction of the pages. Nobody can tell, because the inbox is emptied before anyone
//! reads and before anything else is written.

use rusqlite::{CachedStatement, Connection, params};
use tokio::sync::oneshot;
use toolgate_core::change::{NewCall, SessionUse};
use toolgate_core::contract::Egress;
use toolgate_core::event::ChainHead;
use toolgate_core::id::{IdempotencyKey, InvocationId, PrincipalId};
use toolgate_core::invocation::{Approval, Invocation, Status};
use toolgate_core::port::store::StoreError;
use toolgate_core::{JsonText, Timestamp};

use crate::cells::{CellReader, CellWriter};
use crate::database::Fault;
use crate::event;
use crate::invocation::{self, OWN_SESSION};
use crate::row::{INVOCATION_COLUMNS, signed};
use crate::writer::{Commit, Job, Times, in_savepoint};

/// How many calls wait at most.
const MANY: usize = 128;
/// What is larger than this goes into the tables directly: nothing is gained by writing it twice.
const LARGE: usize = 16 * 1024;

/// A call as the rows it becomes: its session, its events, itself.
#[derive(Debug)]
pub(crate) struct ReadyCall {
    id: InvocationId,
    rows: Vec<u8>,
}

impl ReadyCall {
    /// The rows of a call that can wait in the inbox, and the call as written. Other calls are given back.
    // Invariant: what the tables' own guards could refuse is never put off, so a refusal always reaches the caller.
    #[allow(clippy::result_large_err, reason = "taken apart at once; a box would cost what this saves")]
    pub(crate) fn of(call: NewCall) -> Result<(Self, Invocation), NewCall> {
        let (row, opened) = (call.invocation(), &call.invocation().opened);
        let settled = match row.status {
            Status::Failed => true,
            Status::Completed => opened.egress != Egress::Write,
            _ => false,
        };
        let alone = *call.session() == SessionUse::New && opened.idempotency_key.is_none();
        let undecided =
            row.approval == Approval::NotRequired && !opened.approval_required && row.review.is_none();
        if !settled || !alone || !undecided || row.due_at.is_some() || call.may_be_written() {
            return Err(call);
        }
        let Ok(error) = invocation::error_text(row) else { return Err(call) };
        let events: usize = call.drafts().iter().map(|draft| draft.data.as_str().len()).sum();
        let long =
            events + opened.input.as_str().len() + row.output.as_ref().map_or(0, |text| text.as_str().len());
        if long > LARGE {
            return Err(call);
        }
        let mut cells = CellWriter::with_capacity(long + 1536);
        cells
            .display(&opened.session)
            .text(opened.tenant.as_str())
            .text(opened.actor.as_str())
            .text_opt(opened.subject.as_ref().map(PrincipalId::as_str))
            .integer(opened.created_at.as_micros());
        cells.count(u8::try_from(call.drafts().len()).unwrap_or(u8::MAX));
        let mut head = ChainHead::EMPTY;
        for draft in call.drafts() {
            let next = draft.after(head);
            cells
                .display(&draft.session)
                .integer(next.seq)
                .text(draft.tenant.as_str())
                .display(&draft.invocation)
                .text(draft.kind.as_str())
                .text(draft.actor.as_str())
                .integer(draft.at.as_micros())
                .text(draft.data.as_str())
                .blob(&head.hash.0)
                .blob(&next.hash.0);
            head = next;
        }
        let row = call.into_written_between(ChainHead::EMPTY, head);
        call_row(&mut cells, &row, error.as_deref());
        Ok((Self { id: row.id(), rows: cells.into_bytes() }, row))
    }
}

// Invariant: one cell for each of `INVOCATION_COLUMNS`, in their order.
fn call_row(cells: &mut CellWriter, row: &Invocation, error: Option<&str>) {
    let opened = &row.opened;
    cells
        .display(&opened.id)
        .text(opened.tenant.as_str())
        .display(&opened.session)
        .display_opt(opened.parent.as_ref())
        .text(opened.tool.as_str())
        .text_opt(opened.tool_version.as_ref().map(|version| version.0.as_str()))
        .text(opened.effect.as_str())
        .text(opened.egress.as_str())
        .integer(opened.idempotent)
        .text(opened.actor.as_str())
        .text_opt(opened.subject.as_ref().map(PrincipalId::as_str))
        .display_opt(opened.key.as_ref())
        .text(opened.source.as_str())
        .text(opened.input.as_str())
        .text_opt(opened.idempotency_key.as_ref().map(IdempotencyKey::as_str))
        .text(&opened.request_digest)
        .text_opt(opened.rule.as_deref())
        .integer(opened.approval_required)
        .integer(opened.created_at.as_micros())
        .text(row.status.as_str())
        .text(row.approval.as_str())
        .text_opt(row.decided_by.as_ref().map(PrincipalId::as_str))
        .text_opt(row.reason.as_deref())
        .text_opt(row.output.as_ref().map(JsonText::as_str))
        .text_opt(error)
        .integer_opt(row.cost_micros)
        .integer(row.attempt)
        .display_opt(row.worker.as_ref())
        .integer(row.cancel_requested)
        .integer(signed(row.revision))
        .integer(row.seqs.0)
        .integer(row.seqs.1)
        .integer_opt(row.started_at.map(Timestamp::as_micros))
        .integer_opt(row.completed_at.map(Timestamp::as_micros))
        .text_opt(None)
        .integer_opt(row.due_at.map(Timestamp::as_micros));
}

/// The statements that put a call into its tables.
struct Tables<'c> {
    sessions: CachedStatement<'c>,
    events: CachedStatement<'c>,
    calls: CachedStatement<'c>,
}

impl<'c> Tables<'c> {
    fn of(connection: &'c Connection, columns: &str) -> Result<Self, Fault> {
        let calls = if columns == INVOCATION_COLUMNS {
            connection.prepare_cached(&invocation::INSERT)?
        } else {
            connection.prepare_cached(&invocation::insert_into(columns))?
        };
        let (sessions, events) =
            (connection.prepare_cached(OWN_SESSION)?, connection.prepare_cached(event::INSERT)?);
        Ok(Self { sessions, events, calls })
    }

    /// Writes one call; answers whether it was new.
    fn write(&mut self, rows: &[u8]) -> Result<bool, Fault> {
        let mut cells = CellReader::of(rows);
        if cells.insert(&mut self.sessions)? == 0 {
            return Ok(false);
        }
        for _ in 0..cells.count()? {
            cells.insert(&mut self.events)?;
        }
        cells.insert(&mut self.calls)?;
        Ok(true)
    }
}

/// What waits, as it is kept.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    calls: usize,
    rows: Vec<u8>,
}

impl Inbox {
    pub(crate) const fn is_empty(&self) -> bool {
        self.calls == 0
    }

    pub(crate) const fn len(&self) -> usize {
        self.calls
    }

    /// Whether all of this work can wait here.
    pub(crate) fn has_room_for(&self, batch: &[Box<dyn Job>]) -> bool {
        self.calls + batch.len() <= MANY && batch.iter().all(|job| job.call().is_some())
    }

    /// Keeps calls that can wait; gives what the inbox holds once that is committed.
    pub(crate) fn keep(
        &self,
        connection: &Connection,
        batch: &mut [Box<dyn Job>],
    ) -> Result<Self, rusqlite::Error> {
        let mut cells = CellWriter::with_capacity(batch.len() * 3072);
        for job in batch.iter_mut() {
            if let Some(call) = job.call() {
                cells.blob(&call.rows);
            }
            job.kept();
        }
        let new = cells.into_bytes();
        let mut insert = connection.prepare_cached("INSERT INTO inbox (columns, calls) VALUES (?1, ?2)")?;
        insert.execute(params![INVOCATION_COLUMNS, new])?;
        let rows = if self.rows.is_empty() { new } else { [self.rows.as_slice(), &new].concat() };
        Ok(Self { calls: self.calls + batch.len(), rows })
    }

    /// Moves everything into the tables. What fails is left to the caller to take back.
    pub(crate) fn move_on(&self, connection: &Connection) -> Result<(), Fault> {
        if !self.is_empty() {
            move_on(connection, INVOCATION_COLUMNS, &self.rows)?;
            connection.prepare_cached("DELETE FROM inbox")?.execute([])?;
        }
        Ok(())
    }

    /// The same, whatever happens: calls that can't be moved are put aside.
    pub(crate) fn move_all(&self, connection: &Connection) -> Result<(), Fault> {
        if in_savepoint(connection, &mut |connection| self.move_on(connection)).is_err() {
            move_each(connection, INVOCATION_COLUMNS, &self.rows)?;
            connection.prepare_cached("DELETE FROM inbox")?.execute([])?;
        }
        Ok(())
    }
}

fn move_on(connection: &Connection, columns: &str, rows: &[u8]) -> Result<(), Fault> {
    let mut tables = Tables::of(connection, columns)?;
    let mut calls = CellReader::of(rows);
    while !calls.is_empty() {
        tables.write(calls.blob()?)?;
    }
    Ok(())
}

fn move_each(connection: &Connection, columns: &str, rows: &[u8]) -> Result<(), Fault> {
    let mut calls = CellReader::of(rows);
    while !calls.is_empty() {
        let call = calls.blob()?;
        let moved = in_savepoint(connection, &mut |connection| Tables::of(connection, columns)?.write(call));
        if let Err(cause) = moved {
            tracing::error!(error = %cause, "a call could not be moved out of the inbox and was put aside");
            connection
                .prepare_cached("INSERT INTO inbox_aside (cause, columns, call) VALUES (?1, ?2, ?3)")?
                .execute(params![cause.to_string(), columns, call])?;
        }
    }
    Ok(())
}

/// Moves what a process before this one left here.
pub(crate) fn empty(connection: &Connection) -> Result<(), StoreError> {
    let left: Result<Vec<(String, Vec<u8>)>, rusqlite::Error> = connection
        .prepare("SELECT columns, calls FROM inbox ORDER BY id")
        .and_then(|mut all| all.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect());
    let left = left.map_err(Fault::from)?;
    if left.is_empty() {
        return Ok(());
    }
    let moved = || -> Result<(), Fault> {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        for (columns, rows) in &left {
            move_each(connection, columns, rows)?;
        }
        Ok(connection.execute_batch("DELETE FROM inbox; COMMIT")?)
    };
    Ok(moved().inspect_err(|_| {
        let _ = connection.execute_batch("ROLLBACK");
    })?)
}

/// A call that waits for its commit.
pub(crate) struct Arrival {
    call: ReadyCall,
    result: Option<Result<Option<Invocation>, StoreError>>,
    reply: oneshot::Sender<Result<Option<Invocation>, StoreError>>,
}

impl Arrival {
    pub(crate) const fn new(
        call: ReadyCall,
        reply: oneshot::Sender<Result<Option<Invocation>, StoreError>>,
    ) -> Self {
        Self { call, result: None, reply }
    }

    fn write(&self, connection: &Connection) -> Result<Option<Invocation>, Fault> {
        if Tables::of(connection, INVOCATION_COLUMNS)?.write(&self.call.rows)? {
            return Ok(None);
        }
        // The session has the call's own number: an earlier try got through and its answer was lost.
        invocation::by_id(connection, self.call.id)?.map(Some).ok_or(StoreError::NotFound.into())
    }
}

impl Job for Arrival {
    fn commit(&self) -> Commit {
        Commit::Begin
    }

    fn times(&self) -> Times {
        Times::Any
    }

    fn call(&self) -> Option<&ReadyCall> {
        Some(&self.call)
    }

    fn kept(&mut self) {
        self.result = Some(Ok(None));
    }

    fn run_bare(&mut self, connection: &Connection) -> bool {
        let result = self.write(connection);
        let well = result.is_ok();
        self.result = Some(result.map_err(StoreError::from));
        well
    }

    fn run(&mut self, connection: &Connection) {
        self.result = Some(
            in_savepoint(connection, &mut |connection| self.write(connection)).map_err(StoreError::from),
        );
    }

    fn answer(self: Box<Self>, committed: bool) {
        crate::writer::answer(self.reply, self.result, committed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgate_core::contract::{ContractVersion, Effect};
    use toolgate_core::id::{SessionId, TenantId, WorkerId};
    use toolgate_core::invocation::{Opened, Source, Step};

    fn database() -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        crate::migrate::run(&mut connection).unwrap();
        connection
    }

    fn call(change: impl FnOnce(&mut Opened)) -> NewCall {
        let id = InvocationId::generate();
        let at = Timestamp::from_micros(1_700_000_000_000_000);
        let mut opened = Opened {
            id,
            tenant: TenantId::default_tenant(),
            session: SessionId::from_uuid(id.uuid()),
            parent: Some(InvocationId::generate()),
            tool: "core__x".parse().unwrap(),
            tool_version: Some(ContractVersion("v1".into())),
            effect: Effect::Read,
            egress: Egress::None,
            idempotent: true,
            actor: "agent:bot".parse().unwrap(),
            subject: Some("user:ada".parse().unwrap()),
            key: None,
            source: Source::Mcp,
            input: JsonText::from_value(&serde_json::json!({ "text": "ünï \u{0000} \"quoted\"" })),
            idempotency_key: None,
            request_digest: "digest".into(),
            rule: Some("rule".into()),
            approval_required: false,
            created_at: at,
        };
        change(&mut opened);
        let output = JsonText::from_value(&serde_json::json!({ "said": [1, null, "x"] }));
        let steps = [
            Step::Started { attempt: 1, worker: WorkerId::generate() },
            Step::Completed { output, cost_micros: Some(7) },
        ];
        NewCall::open(opened, &steps, at, SessionUse::New).unwrap()
    }

    fn arrival(call: NewCall) -> (Box<dyn Job>, Invocation) {
        let (ready, row) = ReadyCall::of(call).unwrap();
        (Box::new(Arrival::new(ready, oneshot::channel().0)), row)
    }

    fn count(connection: &Connection, table: &str) -> i64 {
        connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
    }

    /// Puts calls into the inbox, as one commit does.
    fn kept(connection: &Connection, calls: Vec<NewCall>) -> (Inbox, Vec<Invocation>) {
        let (mut jobs, rows): (Vec<_>, Vec<_>) = calls.into_iter().map(arrival).unzip();
        let inbox = Inbox::default();
        assert!(inbox.has_room_for(&jobs));
        (inbox.keep(connection, &mut jobs).unwrap(), rows)
    }

    #[test]
    fn what_moves_on_is_what_the_tables_would_have_got() {
        let (put_off, direct) = (database(), database());
        let calls: Vec<NewCall> = (0..3).map(|_| call(|_| {})).collect();
        let (inbox, rows) = kept(&put_off, calls.clone());
        assert_eq!((count(&put_off, "inbox"), count(&put_off, "invocations")), (1, 0));
        inbox.move_on(&put_off).unwrap();
        for call in &calls {
            invocation::begin(&direct, call).unwrap();
        }
        for row in &rows {
            let found = invocation::by_id(&put_off, row.id()).unwrap().unwrap();
            assert_eq!(found, Invocation { head: None, ..row.clone() });
            assert_eq!(Some(found), invocation::by_id(&direct, row.id()).unwrap());
        }
        for (table, columns) in [("sessions", "*"), ("events", crate::row::EVENT_COLUMNS)] {
            let text = |connection: &Connection| -> Vec<String> {
                let sql = format!("SELECT {columns} FROM {table} ORDER BY 1, 2");
                let mut all = connection.prepare(&sql).unwrap();
                let width = all.column_count();
                let shown = all.query_map([], |row| {
                    (0..width).map(|at| row.get_ref(at).map(|value| format!("{value:?}"))).collect()
                });
                shown.unwrap().map(Result::unwrap).collect()
            };
            assert_eq!(text(&put_off), text(&direct), "{table}");
        }
        assert_eq!(count(&put_off, "inbox"), 0);
    }

    #[test]
    fn a_process_that_broke_off_loses_nothing_and_repeats_nothing() {
        let connection = database();
        let calls: Vec<NewCall> = (0..3).map(|_| call(|_| {})).collect();
        let (_lost, rows) = kept(&connection, calls.clone());
        // One of them had come before after all.
        invocation::begin(&connection, &calls[1]).unwrap();
        empty(&connection).unwrap();
        empty(&connection).unwrap();
        assert_eq!((count(&connection, "inbox"), count(&connection, "inbox_aside")), (0, 0));
        assert_eq!((count(&connection, "invocations"), count(&connection, "events")), (3, 6));
        assert!(rows.iter().all(|row| invocation::by_id(&connection, row.id()).unwrap().is_some()));
    }

    #[test]
    fn columns_of_another_time_are_taken_as_they_were() {
        let connection = database();
        let (_inbox, rows) = kept(&connection, vec![call(|_| {})]);
        // What a program wrote that knew one column less, which came last.
        connection.execute_batch("ALTER TABLE invocations ADD COLUMN newer TEXT DEFAULT 'unset'").unwrap();
        empty(&connection).unwrap();
        let newer: String =
            connection.query_row("SELECT newer FROM invocations", [], |row| row.get(0)).unwrap();
        assert_eq!((newer.as_str(), count(&connection, "invocations")), ("unset", 1));
        assert!(invocation::by_id(&connection, rows[0].id()).unwrap().is_some());
    }

    #[test]
    fn what_can_not_be_moved_is_put_aside_and_harms_nobody() {
        let connection = database();
        let (inbox, rows) = kept(&connection, (0..3).map(|_| call(|_| {})).collect());
        connection
            .execute_batch(&format!(
                "CREATE TRIGGER broken BEFORE INSERT ON invocations WHEN NEW.id = '{}'
                 BEGIN SELECT RAISE(FAIL, 'a broken table'); END",
                rows[1].id()
            ))
            .unwrap();
        connection.execute_batch("BEGIN").unwrap();
        inbox.move_all(&connection).unwrap();
        connection.execute_batch("COMMIT").unwrap();
        assert_eq!((count(&connection, "invocations"), count(&connection, "events")), (2, 4));
        let cause: String =
            connection.query_row("SELECT cause FROM inbox_aside", [], |row| row.get(0)).unwrap();
        assert!(cause.contains("a broken table"), "{cause}");
        assert_eq!(count(&connection, "inbox"), 0);
    }

    #[test]
    fn what_the_tables_could_refuse_never_waits() {
        assert!(ReadyCall::of(call(|_| {})).is_ok());
        assert!(ReadyCall::of(call(|_| {}).offered_before()).is_err());
        assert!(ReadyCall::of(call(|opened| opened.egress = Egress::Write)).is_err());
        assert!(ReadyCall::of(call(|opened| opened.idempotency_key = Some("k".parse().unwrap()))).is_err());
        let large = JsonText::from_value(&serde_json::json!("x".repeat(LARGE)));
        assert!(ReadyCall::of(call(|opened| opened.input = large)).is_err());
        let at = Timestamp::from_micros(1);
        let opened = call(|_| {}).invocation().opened.clone();
        let started = [Step::Started { attempt: 1, worker: WorkerId::generate() }];
        let running = NewCall::open(opened, &started, at, SessionUse::New).unwrap();
        assert!(ReadyCall::of(running).is_err());
    }

    #[test]
    fn a_damaged_inbox_is_said_to_be() {
        let connection = database();
        connection
            .execute("INSERT INTO inbox (columns, calls) VALUES (?1, x'03ffffff7f00')", [INVOCATION_COLUMNS])
            .unwrap();
        assert!(empty(&connection).is_err());
        assert_eq!(count(&connection, "inbox"), 1, "nothing is thrown away");
    }
}
