//! Calls and their events.

use async_trait::async_trait;
use tokio_postgres::types::ToSql;
use toolgate_core::change::{Change, NewCall, SessionUse};
use toolgate_core::event::Event;
use toolgate_core::id::{
    IdempotencyKey, InvocationId, PrincipalId, PrincipalKind, TenantId, ToolName, WorkerId,
};
use toolgate_core::invocation::Invocation;
use toolgate_core::port::store::{Begun, InvocationFilter, InvocationStore, Page, StoreError};
use toolgate_core::{Acting, Timestamp};

use crate::PostgresStore;
use crate::admin::head_of;
use crate::row::{self, Cells, EVENT_COLUMNS, INVOCATION_COLUMNS};
use crate::statement::{self, Entry, EntryKind, Within};
use crate::work::Work;
use crate::writer::{HeadFrom, Write};

/// How often a call is tried again when a session's chain turned out to end elsewhere.
const TRIES: u32 = 8;

/// Takes a step of a call within a change of its tenant.
pub(crate) async fn advance_within(work: &Work<'_>, change: &Change) -> Result<(), StoreError> {
    let next = change.next();
    if next.opened.tenant != work.change.tenant {
        return Err(StoreError::Refused("the call is of another tenant".to_owned()));
    }
    let after = head_of(work, &next.opened.session.to_string()).await?;
    let event = change.draft().clone().seal(after);
    let (row, kind) = (change.written_at(event.head()), EntryKind::Step { seen: change.seen() });
    let entry = Entry { row, events: vec![event], after, kind };
    let written = match statement::write(Within::Change(work), &[entry]).await.map_err(StoreError::from) {
        // Another call of the session was written in between, and took the event's place.
        Err(StoreError::Refused(_)) => return Err(StoreError::Conflict),
        other => other?,
    };
    if !written.is_empty() {
        return Ok(());
    }
    let sql = "SELECT 1 FROM invocations WHERE id = $1 AND tenant_id IS NOT DISTINCT FROM $2";
    let there = work.first(sql, &[&next.id().to_string(), &next.opened.tenant.as_str()]).await?;
    Err(if there.is_some() { StoreError::Conflict } else { StoreError::NotFound })
}

#[async_trait]
impl InvocationStore for PostgresStore {
    async fn begin(&self, call: NewCall) -> Result<Begun, StoreError> {
        let mut head = HeadFrom::Memory;
        for _ in 0..TRIES {
            if let Some(row) = self.writers.write(Write::Begin(call.clone()), head).await? {
                return Ok(Begun::Fresh(row));
            }
            if let Some(begun) = self.why_left_out(&call).await? {
                return Ok(begun);
            }
            head = HeadFrom::Database;
        }
        Err(StoreError::unavailable("the session's chain moves too fast"))
    }

    async fn advance(&self, change: Change) -> Result<Invocation, StoreError> {
        let (id, tenant) = (change.next().id().to_string(), change.next().opened.tenant.to_string());
        let mut head = HeadFrom::Memory;
        for _ in 0..TRIES {
            if let Some(row) = self.writers.write(Write::Advance(change.clone()), head).await? {
                return Ok(row);
            }
            let sql = "SELECT revision FROM invocations WHERE id = $1 AND tenant_id IS NOT DISTINCT FROM $2";
            let row = self.query_first(sql, &[&id, &tenant]).await?.ok_or(StoreError::NotFound)?;
            if Cells::of(&row).get::<i64>()? != change.seen().cast_signed() {
                return Err(StoreError::Conflict);
            }
            head = HeadFrom::Database;
        }
        Err(StoreError::unavailable("the session's chain moves too fast"))
    }

    async fn find_by_key(
        &self,
        tenant: &TenantId,
        acting: &Acting,
        tool: &ToolName,
        key: &IdempotencyKey,
    ) -> Result<Option<Invocation>, StoreError> {
        let sql = format!(
            "SELECT {INVOCATION_COLUMNS} FROM invocations
             WHERE tenant_id = $1 AND actor = $2 AND coalesce(subject, '') = $3 AND tool_id = $4
                 AND idempotency_key = $5"
        );
        let subject = acting.subject.as_ref().map_or("", PrincipalId::as_str);
        let texts = [tenant.as_str(), acting.principal.as_str(), subject, tool.as_str(), key.as_str()];
        let found = self.query_first(&sql, &[&texts[0], &texts[1], &texts[2], &texts[3], &texts[4]]).await?;
        found.as_ref().map(row::invocation).transpose()
    }

    async fn get(&self, tenant: &TenantId, id: InvocationId) -> Result<Option<Invocation>, StoreError> {
        // By the id alone: `=` on the tenant might make an index serve that is read from end to end.
        let sql = format!(
            "SELECT {INVOCATION_COLUMNS} FROM invocations WHERE id = $1 AND tenant_id IS NOT DISTINCT FROM $2"
        );
        let found = self.query_first(&sql, &[&id.to_string(), &tenant.as_str()]).await?;
        found.as_ref().map(row::invocation).transpose()
    }

    async fn list(
        &self,
        tenant: &TenantId,
        filter: &InvocationFilter,
        page: Page,
    ) -> Result<Vec<Invocation>, StoreError> {
        let query = ListQuery::of(&row::listed_columns(), tenant, filter, page);
        let params: Vec<&(dyn ToSql + Sync)> = query.params.iter().map(|param| &**param as _).collect();
        row::all(&self.query(&query.sql, &params).await?, row::invocation)
    }

    async fn decided_by(
        &self,
        tenant: &TenantId,
        person: &PrincipalId,
        page: Page,
    ) -> Result<Vec<Invocation>, StoreError> {
        let sql = format!(
            "SELECT {} FROM invocations WHERE id = ANY(ARRAY(
                 SELECT DISTINCT invocation_id FROM events
                 WHERE tenant_id = $1 AND actor = $2 AND invocation_id < $3
                     AND (kind IN ('tool.approved', 'tool.rejected')
                          OR (kind = 'tool.review_changed' AND data = '{{\"step\":\"voted\"}}'))
                 ORDER BY invocation_id DESC LIMIT $4
             )) ORDER BY id DESC",
            row::listed_columns()
        );
        // `~` comes after every id.
        let after = page.after.map_or_else(|| "~".to_owned(), |id| id.to_string());
        let (tenant, person, limit) = (tenant.as_str(), person.as_str(), i64::from(page.limit));
        row::all(&self.query(&sql, &[&tenant, &person, &after, &limit]).await?, row::invocation)
    }

    async fn due(&self, now: Timestamp, limit: u32) -> Result<Vec<Invocation>, StoreError> {
        let sql = format!(
            "SELECT {INVOCATION_COLUMNS} FROM invocations WHERE due_at <= $1 ORDER BY due_at, id LIMIT $2"
        );
        row::all(&self.query(&sql, &[&now.as_micros(), &i64::from(limit)]).await?, row::invocation)
    }

    async fn renew(
        &self,
        worker: WorkerId,
        calls: &[InvocationId],
        until: Timestamp,
    ) -> Result<Vec<InvocationId>, StoreError> {
        let ids: Vec<String> = calls.iter().map(ToString::to_string).collect();
        // Locked in order of id, so that two who renew at once can't wait for each other.
        let sql = "WITH mine AS (
                 SELECT id FROM invocations WHERE id = ANY($1) AND worker = $2 AND status = 'running'
                 ORDER BY id FOR UPDATE
             ), renewed AS (
                 UPDATE invocations i SET due_at = $3 FROM mine WHERE i.id = mine.id
                 RETURNING i.id, i.cancel_requested
             )
             SELECT id FROM renewed WHERE cancel_requested ORDER BY id";
        let rows = self.query(sql, &[&ids, &worker.to_string(), &until.as_micros()]).await?;
        row::all(&rows, |row| Cells::of(row).parse("id"))
    }

    async fn put_off(&self, invocation: &Invocation, until: Timestamp) -> Result<(), StoreError> {
        let sql = "UPDATE invocations SET due_at = $1 WHERE id = $2 AND revision = $3 AND due_at IS NOT NULL";
        let (id, revision) = (invocation.id().to_string(), invocation.revision.cast_signed());
        self.query(sql, &[&until.as_micros(), &id, &revision]).await.map(drop)
    }

    async fn end_foreign_leases(&self) -> Result<(), StoreError> {
        // Other nodes may well be alive.
        Ok(())
    }

    async fn spent(
        &self,
        tenant: &TenantId,
        actor: Option<&PrincipalId>,
        tool: Option<&ToolName>,
        since: Timestamp,
    ) -> Result<i64, StoreError> {
        // Answered from `invocations_spent` alone: actor and tool are compared in a way that no other index can serve,
        // since those would be read from their beginning. A sum too large for a number is the largest one.
        let sql = "SELECT least(coalesce(sum(cost_micros), 0), 9223372036854775807)::bigint FROM invocations
             WHERE tenant_id = $1 AND created_at >= $2 AND cost_micros IS NOT NULL
                 AND ($3::text IS NULL OR actor = $3) AND ($4::text IS NULL OR tool_id = $4)";
        let (actor, tool) = (actor.map(PrincipalId::as_str), tool.map(ToolName::as_str));
        let row = self.query_first(sql, &[&tenant.as_str(), &since.as_micros(), &actor, &tool]).await?;
        row.map_or(Ok(0), |row| Cells::of(&row).get())
    }

    async fn invocation_events(&self, invocation: &Invocation) -> Result<Vec<Event>, StoreError> {
        let sql = format!(
            "SELECT {EVENT_COLUMNS} FROM events
             WHERE session_id = $1 AND seq BETWEEN $2 AND $3 AND invocation_id = $4 ORDER BY seq"
        );
        let (session, id) = (invocation.opened.session.to_string(), invocation.id().to_string());
        let (first, last) = invocation.seqs;
        row::all(&self.query(&sql, &[&session, &first, &last, &id]).await?, row::event)
    }
}

impl PostgresStore {
    /// Why a new call was not written. None when it should have been: the chain it was to go on from is not there.
    async fn why_left_out(&self, call: &NewCall) -> Result<Option<Begun>, StoreError> {
        let opened = &call.invocation().opened;
        if let Some(key) = &opened.idempotency_key
            && let Some(first) = self.find_by_key(&opened.tenant, &opened.acting(), &opened.tool, key).await?
        {
            return Ok(Some(if first.id() == opened.id {
                Begun::Fresh(first)
            } else {
                Begun::Repeat(first)
            }));
        }
        if let Some(first) = self.get(&opened.tenant, opened.id).await? {
            return Ok(Some(Begun::Fresh(first)));
        }
        let SessionUse::Existing { owner } = call.session() else {
            return Err(StoreError::Refused("the call's id is taken".to_owned()));
        };
        use toolgate_core::port::store::SessionStore;
        let session = self.session(&opened.tenant, opened.session).await?.ok_or(StoreError::NotFound)?;
        let own = |owner: &PrincipalId| *owner == session.owner && session.subject == opened.subject;
        if owner.as_ref().is_some_and(|owner| !own(owner)) {
            return Err(StoreError::NotFound);
        }
        Ok(None)
    }
}

type Param = Box<dyn ToSql + Sync + Send>;

/// A list's SQL: only the conditions asked for, so that each combination is planned for itself.
/// Calls, newest first.
pub(crate) struct ListQuery {
    pub(crate) sql: String,
    pub(crate) params: Vec<Param>,
}

impl ListQuery {
    /// These columns of them, the id among them.
    pub(crate) fn of(columns: &str, tenant: &TenantId, filter: &InvocationFilter, page: Page) -> Self {
        let mut query = Self { sql: String::new(), params: Vec::new() };
        let mut conditions = vec![query.condition("tenant_id =", tenant.to_string())];
        if let Some(after) = page.after {
            conditions.push(query.condition("id <", after.to_string()));
        }
        if let Some(tool) = &filter.tool {
            conditions.push(query.condition("tool_id =", tool.to_string()));
        }
        if let Some(status) = filter.status {
            conditions.push(query.condition("status =", status.as_str()));
        }
        if let Some(actor) = &filter.actor {
            conditions.push(query.condition("actor =", actor.to_string()));
        }
        if let Some(session) = filter.session {
            conditions.push(query.condition("session_id =", session.to_string()));
        }
        if let Some(since) = filter.since {
            conditions.push(query.condition("created_at >=", since.as_micros()));
        }
        if let Some(until) = filter.until {
            conditions.push(query.condition("created_at <", until.as_micros()));
        }
        let conditions = conditions.join(" AND ");
        let limit = query.condition("LIMIT", i64::from(page.limit));
        let part = |more: &str| {
            format!("SELECT {columns} FROM invocations WHERE {conditions}{more} ORDER BY id DESC {limit}")
        };
        query.sql = match &filter.visible_to {
            None => part(""),
            // Two lists, each read from its own index: an OR would read the tenant's calls one by one.
            Some(Acting { principal, subject }) => {
                let mut made = query.condition("actor =", principal.to_string());
                // People work for nobody, and nobody works for a machine.
                if principal.kind() != PrincipalKind::User {
                    let subject = subject.as_ref().map(ToString::to_string).unwrap_or_default();
                    made = format!("{made} AND {}", query.condition("coalesce(subject, '') =", subject));
                }
                let made_for = query.condition("subject =", principal.to_string());
                let not_made = query.condition("actor <>", principal.to_string());
                format!(
                    "SELECT * FROM (({}) UNION ALL ({})) AS seen ORDER BY id DESC {limit}",
                    part(&format!(" AND {made}")),
                    part(&format!(" AND {made_for} AND {not_made}")),
                )
            }
        };
        query
    }

    pub(crate) fn condition(&mut self, words: &str, param: impl ToSql + Sync + Send + 'static) -> String {
        self.params.push(Box::new(param));
        format!("{words} ${}", self.params.len())
    }
}
