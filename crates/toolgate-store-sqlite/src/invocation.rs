//! Calls and their events.

use std::sync::LazyLock;

use async_trait::async_trait;
use rusqlite::{Connection, ToSql, params};
use toolgate_core::change::{Change, NewCall, SessionUse};
use toolgate_core::event::{ChainHead, Event};
use toolgate_core::id::{
    IdempotencyKey, InvocationId, PrincipalId, PrincipalKind, TenantId, ToolName, WorkerId,
};
use toolgate_core::invocation::{Invocation, Opened};
use toolgate_core::port::store::{Begun, InvocationFilter, InvocationStore, Page, StoreError};
use toolgate_core::{Acting, Timestamp};

use crate::SqliteStore;
use crate::database::Fault;
use crate::event::{append, session_head};
use crate::inbox::ReadyCall;
use crate::row::{self, EVENT_COLUMNS, INVOCATION_COLUMNS};
use crate::writer::Commit;
use crate::{notification, spent};

#[async_trait]
impl InvocationStore for SqliteStore {
    async fn begin(&self, call: NewCall) -> Result<Begun, StoreError> {
        let call = match ReadyCall::of(call) {
            Ok((ready, row)) => {
                let before = self.database.write_call(ready).await?;
                return Ok(Begun::Fresh(before.unwrap_or(row)));
            }
            Err(call) => call,
        };
        self.database.write_again(Commit::Begin, move |connection| begin(connection, &call)).await
    }

    async fn advance(&self, change: Change) -> Result<Invocation, StoreError> {
        self.database.write_again(Commit::Advance, move |connection| advance(connection, &change)).await
    }

    async fn find_by_key(
        &self,
        tenant: &TenantId,
        acting: &Acting,
        tool: &ToolName,
        key: &IdempotencyKey,
    ) -> Result<Option<Invocation>, StoreError> {
        let texts = key_texts(tenant, acting, tool, key);
        self.database.read(move |connection| by_key(connection, &texts)).await
    }

    async fn get(&self, tenant: &TenantId, id: InvocationId) -> Result<Option<Invocation>, StoreError> {
        let (tenant, id) = (tenant.to_string(), id.to_string());
        self.database
            .read(move |connection| {
                let sql =
                    format!("SELECT {INVOCATION_COLUMNS} FROM invocations WHERE id = ?1 AND tenant_id = ?2");
                row::first(connection, &sql, &[&id, &tenant], row::invocation)
            })
            .await
    }

    async fn list(
        &self,
        tenant: &TenantId,
        filter: &InvocationFilter,
        page: Page,
    ) -> Result<Vec<Invocation>, StoreError> {
        let (sql, values) = list_query(&row::listed_columns(), tenant, filter, page);
        self.database
            .read(move |connection| {
                let values: Vec<&dyn ToSql> = values.iter().map(|value| &**value as &dyn ToSql).collect();
                row::all(connection, &sql, &values, row::invocation)
            })
            .await
    }

    async fn decided_by(
        &self,
        tenant: &TenantId,
        person: &PrincipalId,
        page: Page,
    ) -> Result<Vec<Invocation>, StoreError> {
        let (tenant, person) = (tenant.to_string(), person.to_string());
        // `~` comes after every id.
        let after = page.after.map_or_else(|| "~".to_owned(), |id| id.to_string());
        self.database
            .read(move |connection| {
                let sql = format!(
                    "SELECT {} FROM invocations WHERE id IN (
                         SELECT DISTINCT invocation_id FROM events
                         WHERE tenant_id = ?1 AND actor = ?2 AND invocation_id < ?3
                             AND (kind IN ('tool.approved', 'tool.rejected')
                                  OR (kind = 'tool.review_changed' AND data = '{{\"step\":\"voted\"}}'))
                         ORDER BY invocation_id DESC LIMIT ?4
                     ) ORDER BY id DESC",
                    row::listed_columns()
                );
                row::all(connection, &sql, &[&tenant, &person, &after, &page.limit], row::invocation)
            })
            .await
    }

    async fn due(&self, now: Timestamp, limit: u32) -> Result<Vec<Invocation>, StoreError> {
        self.database
            .read(move |connection| {
                let sql = format!(
                    "SELECT {INVOCATION_COLUMNS} FROM invocations WHERE due_at <= ?1 ORDER BY due_at LIMIT ?2"
                );
                row::all(connection, &sql, &[&now.as_micros(), &limit], row::invocation)
            })
            .await
    }

    async fn renew(
        &self,
        worker: WorkerId,
        calls: &[InvocationId],
        until: Timestamp,
    ) -> Result<Vec<InvocationId>, StoreError> {
        let calls: Vec<InvocationId> = calls.to_vec();
        self.database
            .write(Commit::Other, move |connection| {
                let mut statement = connection.prepare_cached(
                    "UPDATE invocations SET due_at = ?1 WHERE id = ?2 AND worker = ?3 AND status = 'running'
                     RETURNING cancel_requested",
                )?;
                let mut to_stop = Vec::new();
                for id in calls {
                    let mut rows =
                        statement.query(params![until.as_micros(), id.to_string(), worker.to_string()])?;
                    if let Some(row) = rows.next()?
                        && row.get(0)?
                    {
                        to_stop.push(id);
                    }
                }
                Ok(to_stop)
            })
            .await
    }

    async fn put_off(&self, invocation: &Invocation, until: Timestamp) -> Result<(), StoreError> {
        let (id, revision) =
            (invocation.id().to_string(), i64::try_from(invocation.revision).unwrap_or(i64::MAX));
        self.database
            .write(Commit::Other, move |connection| {
                connection.execute(
                    "UPDATE invocations SET due_at = ?1 WHERE id = ?2 AND revision = ?3 AND due_at IS NOT NULL",
                    params![until.as_micros(), id, revision],
                )?;
                Ok(())
            })
            .await
    }

    async fn end_foreign_leases(&self) -> Result<(), StoreError> {
        // The lock on the folder says that no other worker is alive.
        self.database
            .write(Commit::Other, |connection| {
                connection.execute(
                    "UPDATE invocations SET due_at = 0
                     WHERE due_at IS NOT NULL AND (status = 'running' OR (status = 'pending' AND approval = 'approved'))",
                    [],
                )?;
                notification::end_claims(connection)
            })
            .await
    }

    async fn spent(
        &self,
        tenant: &TenantId,
        actor: Option<&PrincipalId>,
        tool: Option<&ToolName>,
        since: Timestamp,
    ) -> Result<i64, StoreError> {
        let (tenant, actor, tool) = (tenant.clone(), actor.cloned(), tool.cloned());
        self.database
            .read(move |connection| spent::sum(connection, &tenant, actor.as_ref(), tool.as_ref(), since))
            .await
    }

    async fn invocation_events(&self, invocation: &Invocation) -> Result<Vec<Event>, StoreError> {
        let (session, id) = (invocation.opened.session.to_string(), invocation.id().to_string());
        let (first, last) = invocation.seqs;
        self.database
            .read(move |connection| {
                let sql = format!(
                    "SELECT {EVENT_COLUMNS} FROM events
                     WHERE session_id = ?1 AND seq BETWEEN ?2 AND ?3 AND invocation_id = ?4 ORDER BY seq"
                );
                row::all(connection, &sql, &[&session, &first, &last, &id], row::event)
            })
            .await
    }
}

/// The session that a call makes for itself.
pub(crate) const OWN_SESSION: &str =
    "INSERT OR IGNORE INTO sessions (id, tenant_id, owner, subject, created_at)
    VALUES (?1, ?2, ?3, ?4, ?5)";

pub(crate) fn begin(connection: &Connection, call: &NewCall) -> Result<Begun, Fault> {
    let opened = &call.invocation().opened;
    if let Some(key) = &opened.idempotency_key {
        let texts = key_texts(&opened.tenant, &opened.acting(), &opened.tool, key);
        if let Some(first) = by_key(connection, &texts)? {
            return Ok(if first.id() == opened.id { Begun::Fresh(first) } else { Begun::Repeat(first) });
        }
    }
    let session = opened.session.to_string();
    let mut head = ChainHead::EMPTY;
    match call.session() {
        SessionUse::New => {
            let mut insert = connection.prepare_cached(OWN_SESSION)?;
            let (tenant, owner, at) =
                (opened.tenant.as_str(), opened.actor.as_str(), opened.created_at.as_micros());
            let subject = opened.subject.as_ref().map(PrincipalId::as_str);
            if insert.execute(params![session, tenant, owner, subject, at])? == 0 {
                // The session has the call's own number: an earlier try got through and its answer was lost.
                return by_id(connection, opened.id)?.map(Begun::Fresh).ok_or(StoreError::NotFound.into());
            }
        }
        SessionUse::Existing { owner } => {
            check_session(connection, &session, opened, owner.as_ref())?;
            if let Some(written) = by_id(connection, opened.id)? {
                return Ok(Begun::Fresh(written));
            }
            head = session_head(connection, &session)?;
        }
    }
    let invocation = call.written_between(head, append(connection, head, call.drafts())?);
    insert(connection, &invocation)?;
    Ok(Begun::Fresh(invocation))
}

pub(crate) fn advance(connection: &Connection, change: &Change) -> Result<Invocation, Fault> {
    let session = change.next().opened.session.to_string();
    let seen = i64::try_from(change.seen()).unwrap_or(i64::MAX);
    let head = session_head(connection, &session)?;
    let next = change.written_at(append(connection, head, std::slice::from_ref(change.draft()))?);
    let mut update = connection.prepare_cached(
        "UPDATE invocations SET status = ?1, approval = ?2, decided_by = ?3, reason = ?4, output = ?5, error = ?6,
             cost_micros = ?7, attempt = ?8, worker = ?9, cancel_requested = ?10, revision = ?11, last_seq = ?12,
             started_at = ?13, completed_at = ?14, review = ?15, due_at = ?16
         WHERE id = ?17 AND revision = ?18 AND tenant_id = ?19",
    )?;
    let changed = update.execute(params![
        next.status.as_str(),
        next.approval.as_str(),
        next.decided_by.as_ref().map(PrincipalId::as_str),
        next.reason,
        next.output.as_ref().map(toolgate_core::JsonText::as_str),
        error_text(&next)?,
        next.cost_micros,
        next.attempt,
        next.worker.map(|worker| worker.to_string()),
        next.cancel_requested,
        i64::try_from(next.revision).unwrap_or(i64::MAX),
        next.seqs.1,
        next.started_at.map(Timestamp::as_micros),
        next.completed_at.map(Timestamp::as_micros),
        review_text(&next)?,
        next.due_at.map(Timestamp::as_micros),
        next.id().to_string(),
        seen,
        next.opened.tenant.as_str(),
    ])?;
    if changed == 0 {
        // The savepoint takes the event back with it.
        let gone = by_id(connection, next.id())?.is_none_or(|row| row.opened.tenant != next.opened.tenant);
        return Err(if gone { StoreError::NotFound } else { StoreError::Conflict }.into());
    }
    Ok(next)
}

pub(crate) static INSERT: LazyLock<String> = LazyLock::new(|| insert_into(INVOCATION_COLUMNS));

/// The statement that writes a row of these columns.
pub(crate) fn insert_into(columns: &str) -> String {
    let places: Vec<String> = (1..=columns.split(',').count()).map(|n| format!("?{n}")).collect();
    format!("INSERT OR FAIL INTO invocations ({columns}) VALUES ({})", places.join(", "))
}

fn insert(connection: &Connection, invocation: &Invocation) -> Result<(), Fault> {
    let opened = &invocation.opened;
    connection.prepare_cached(&INSERT)?.execute(params![
        opened.id.to_string(),
        opened.tenant.as_str(),
        opened.session.to_string(),
        opened.parent.map(|id| id.to_string()),
        opened.tool.as_str(),
        opened.tool_version.as_ref().map(|version| version.0.as_str()),
        opened.effect.as_str(),
        opened.egress.as_str(),
        opened.idempotent,
        opened.actor.as_str(),
        opened.subject.as_ref().map(PrincipalId::as_str),
        opened.key.map(|key| key.to_string()),
        opened.source.as_str(),
        opened.input.as_str(),
        opened.idempotency_key.as_ref().map(IdempotencyKey::as_str),
        opened.request_digest,
        opened.rule,
        opened.approval_required,
        opened.created_at.as_micros(),
        invocation.status.as_str(),
        invocation.approval.as_str(),
        invocation.decided_by.as_ref().map(PrincipalId::as_str),
        invocation.reason,
        invocation.output.as_ref().map(toolgate_core::JsonText::as_str),
        error_text(invocation)?,
        invocation.cost_micros,
        invocation.attempt,
        invocation.worker.map(|worker| worker.to_string()),
        invocation.cancel_requested,
        i64::try_from(invocation.revision).unwrap_or(i64::MAX),
        invocation.seqs.0,
        invocation.seqs.1,
        invocation.started_at.map(Timestamp::as_micros),
        invocation.completed_at.map(Timestamp::as_micros),
        review_text(invocation)?,
        invocation.due_at.map(Timestamp::as_micros),
    ])?;
    Ok(())
}

fn check_session(
    connection: &Connection,
    session: &str,
    opened: &Opened,
    owner: Option<&PrincipalId>,
) -> Result<(), Fault> {
    let sql = "SELECT owner, subject FROM sessions WHERE id = ?1 AND tenant_id = ?2";
    let found: Option<(String, Option<String>)> =
        row::first(connection, sql, &[&session, &opened.tenant.as_str()], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    let subject = opened.subject.as_ref().map(PrincipalId::as_str);
    match (found, owner) {
        (Some(_), None) => Ok(()),
        (Some((found, of)), Some(owner)) if found == owner.as_str() && of.as_deref() == subject => Ok(()),
        _ => Err(StoreError::NotFound.into()),
    }
}

fn key_texts(tenant: &TenantId, acting: &Acting, tool: &ToolName, key: &IdempotencyKey) -> [String; 5] {
    let subject = acting.subject.as_ref().map(ToString::to_string).unwrap_or_default();
    [tenant.to_string(), acting.principal.to_string(), subject, tool.to_string(), key.to_string()]
}

fn by_key(connection: &Connection, texts: &[String; 5]) -> Result<Option<Invocation>, Fault> {
    let sql = format!(
        "SELECT {INVOCATION_COLUMNS} FROM invocations
         WHERE tenant_id = ?1 AND actor = ?2 AND coalesce(subject, '') = ?3 AND tool_id = ?4 AND idempotency_key = ?5"
    );
    row::first(connection, &sql, &[&texts[0], &texts[1], &texts[2], &texts[3], &texts[4]], row::invocation)
}

pub(crate) fn by_id(connection: &Connection, id: InvocationId) -> Result<Option<Invocation>, Fault> {
    let sql = format!("SELECT {INVOCATION_COLUMNS} FROM invocations WHERE id = ?1");
    row::first(connection, &sql, &[&id.to_string()], row::invocation)
}

pub(crate) type Values = Vec<Box<dyn ToSql + Send>>;

/// These columns of calls, newest first.
pub(crate) fn list_query(
    columns: &str,
    tenant: &TenantId,
    filter: &InvocationFilter,
    page: Page,
) -> (String, Values) {
    let mut conditions = vec!["tenant_id = ?1".to_owned()];
    let mut values: Values = vec![Box::new(tenant.to_string())];
    let mut condition = |text: &str, value: Box<dyn ToSql + Send>| {
        values.push(value);
        conditions.push(text.replace('?', &format!("?{}", values.len())));
    };
    if let Some(tool) = &filter.tool {
        condition("tool_id = ?", Box::new(tool.to_string()));
    }
    if let Some(status) = filter.status {
        condition("status = ?", Box::new(status.as_str()));
    }
    if let Some(actor) = &filter.actor {
        condition("actor = ?", Box::new(actor.to_string()));
    }
    if let Some(session) = filter.session {
        condition("session_id = ?", Box::new(session.to_string()));
    }
    if let Some(acting) = &filter.visible_to {
        condition("(actor = ? OR subject = ?)", Box::new(acting.principal.to_string()));
        // People work for nobody, and nobody works for a machine.
        if acting.principal.kind() != PrincipalKind::User {
            let subject = acting.subject.as_ref().map(ToString::to_string).unwrap_or_default();
            condition("coalesce(subject, '') = ?", Box::new(subject));
        }
    }
    if let Some(since) = filter.since {
        condition("created_at >= ?", Box::new(since.as_micros()));
    }
    if let Some(until) = filter.until {
        condition("created_at < ?", Box::new(until.as_micros()));
    }
    if let Some(after) = page.after {
        condition("id < ?", Box::new(after.to_string()));
    }
    let sql = format!(
        "SELECT {columns} FROM invocations WHERE {} ORDER BY id DESC LIMIT {}",
        conditions.join(" AND "),
        page.limit
    );
    (sql, values)
}

fn review_text(invocation: &Invocation) -> Result<Option<String>, Fault> {
    let text = invocation.review.as_ref().map(serde_json::to_string).transpose();
    Ok(text.map_err(StoreError::unavailable)?)
}

pub(crate) fn error_text(invocation: &Invocation) -> Result<Option<String>, Fault> {
    invocation
        .error
        .as_ref()
        .map(|error| serde_json::to_string(error).map_err(|_| row::damaged("error")))
        .transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_call_writes_needs_no_table_of_its_own() {
        let mut connection = Connection::open_in_memory().unwrap();
        crate::migrate::run(&mut connection).unwrap();
        for sql in [INSERT.as_str(), crate::event::INSERT] {
            let mut explained = connection.prepare(&format!("EXPLAIN {sql}")).unwrap();
            let nulls = vec![rusqlite::types::Null; explained.parameter_count()];
            let steps: Vec<String> = explained
                .query_map(rusqlite::params_from_iter(nulls), |row| row.get(1))
                .unwrap()
                .collect::<Result<_, _>>()
                .unwrap();
            assert!(steps.iter().any(|step| step == "Insert"), "{steps:?}");
            assert!(!steps.iter().any(|step| step == "OpenEphemeral"), "{sql}");
        }
    }
}
