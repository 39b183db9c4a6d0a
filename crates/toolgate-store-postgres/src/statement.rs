//! The one statement that writes calls: any number of new ones and of steps, each with its events, in one commit.

use std::sync::LazyLock;

use deadpool_postgres::Pool;
use tokio_postgres::types::ToSql;
use toolgate_core::JsonText;
use toolgate_core::change::SessionUse;
use toolgate_core::event::{ChainHead, Event};
use toolgate_core::id::PrincipalId;
use toolgate_core::invocation::Invocation;

use crate::connect::query;
use crate::error::Fault;
use crate::row::{EVENT_COLUMNS, INVOCATION_COLUMNS};
use crate::work::Work;

/// A call ready to be written: its row afterwards, and its events in their places.
pub(crate) struct Entry {
    pub(crate) row: Invocation,
    pub(crate) events: Vec<Event>,
    /// Where its session's chain must still end.
    pub(crate) after: ChainHead,
    pub(crate) kind: EntryKind,
}

pub(crate) enum EntryKind {
    New(SessionUse),
    Step { seen: u64 },
}

/// What the statement is part of.
pub(crate) enum Within<'a> {
    /// A commit of its own.
    Commit(&'a Pool),
    /// A change of a tenant.
    Change(&'a Work<'a>),
}

/// Writes these calls in one commit and returns the ids of those that were: a taken key, a missing session, another
/// revision or another end of the chain leaves a call out, whole. No two may be of the same session, or leaving one
/// out would tear the chain of the other.
pub(crate) async fn write(within: Within<'_>, entries: &[Entry]) -> Result<Vec<String>, Fault> {
    let texts: Vec<Texts<'_>> = entries.iter().map(Texts::of).collect();
    let (new, steps): (Vec<_>, Vec<_>) =
        texts.iter().partition(|text| matches!(text.entry.kind, EntryKind::New(_)));
    let placed: Vec<(&Texts<'_>, &Event)> =
        texts.iter().flat_map(|text| text.entry.events.iter().map(move |event| (text, event))).collect();

    let mut params = new_columns(&new);
    params.extend(step_columns(&steps));
    params.extend(event_columns(&placed));
    let params: Vec<&(dyn ToSql + Sync)> = params.iter().map(|column| &**column as _).collect();
    let rows = match within {
        Within::Commit(pool) => query(pool, &STATEMENT, &params).await?,
        Within::Change(work) => work.rows(&STATEMENT, &params).await?,
    };
    rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
}

// An event is only ever written after the one it names: `after_seq` and `after_hash` are looked up in the same
// statement. The unique place of each event alone would let a chain go on beyond a gap when a database comes back, by
// a failover or a restore, without its last commits.
//
// The plan must not depend on how large the tables were when it was made, since it is kept. So rows are looked up by
// scalar subqueries (an `EXISTS` may be planned as a hash over the whole table), the tenant is compared in a way no
// index can serve (its indexes would be read from end to end), and what was written is found again by `IN … IS TRUE`
// (as a join it would be a loop in a loop).
static STATEMENT: LazyLock<String> = LazyLock::new(|| {
    let follows = |entry: &str| {
        format!(
            "({entry}.after_seq = 0 OR {entry}.after_hash = (
                 SELECT p.hash FROM events p WHERE p.session_id = {entry}.session_id AND p.seq = {entry}.after_seq))"
        )
    };
    let mut next = 1;
    let new = unnest(NEW_TYPES, &mut next);
    let steps = unnest(STEP_TYPES, &mut next);
    let events = unnest(EVENT_TYPES, &mut next);
    let (new_follows, step_follows) = (follows("n"), follows("s"));
    format!(
        "WITH asked AS MATERIALIZED (
             SELECT * FROM {new} AS n ({INVOCATION_COLUMNS}, own_session, session_owner, after_seq, after_hash)
         ), begun AS (
             INSERT INTO invocations ({INVOCATION_COLUMNS})
             SELECT {INVOCATION_COLUMNS} FROM asked n
             WHERE (n.own_session OR (
                     SELECT x.tenant_id = n.tenant_id AND (n.session_owner IS NULL
                         OR (x.owner = n.session_owner AND x.subject IS NOT DISTINCT FROM n.subject))
                     FROM sessions x WHERE x.id = n.session_id))
                 AND {new_follows}
             ON CONFLICT DO NOTHING
             RETURNING id
         ), opened AS (
             INSERT INTO sessions (id, tenant_id, owner, subject, created_at)
             SELECT n.session_id, n.tenant_id, n.actor, n.subject, n.created_at FROM asked n
             WHERE n.own_session AND (n.id IN (SELECT id FROM begun)) IS TRUE
         ), advanced AS (
             UPDATE invocations i SET status = s.status, approval = s.approval, decided_by = s.decided_by,
                 reason = s.reason, output = s.output, error = s.error, cost_micros = s.cost_micros,
                 attempt = s.attempt, worker = s.worker, cancel_requested = s.cancel_requested,
                 revision = s.revision, last_seq = s.last_seq, started_at = s.started_at,
                 completed_at = s.completed_at, review = s.review, due_at = s.due_at
             FROM {steps} AS s (id, tenant_id, session_id, seen, status, approval, decided_by, reason, output, error,
                 cost_micros, attempt, worker, cancel_requested, revision, last_seq, started_at, completed_at,
                 review, due_at, after_seq, after_hash)
             WHERE i.id = s.id AND i.revision = s.seen AND i.tenant_id IS NOT DISTINCT FROM s.tenant_id
                 AND {step_follows}
             RETURNING i.id
         ), written AS MATERIALIZED (
             SELECT id FROM begun UNION ALL SELECT id FROM advanced
         ), appended AS (
             INSERT INTO events ({EVENT_COLUMNS})
             SELECT {EVENT_COLUMNS} FROM {events} AS e ({EVENT_COLUMNS})
             WHERE (e.invocation_id IN (SELECT id FROM written)) IS TRUE
         )
         SELECT id FROM written"
    )
});

const NEW_TYPES: &[&str] = &[
    "text", "text", "text", "text", "text", "text", "text", "text", "bool", "text", "text", "text", "text",
    "text", "text", "text", "text", "bool", "int8", "text", "text", "text", "text", "text", "text", "int8",
    "int8", "text", "bool", "int8", "int8", "int8", "int8", "int8", "text", "int8", "bool", "text", "int8",
    "bytea",
];
const STEP_TYPES: &[&str] = &[
    "text", "text", "text", "int8", "text", "text", "text", "text", "text", "text", "int8", "int8", "text",
    "bool", "int8", "int8", "int8", "int8", "text", "int8", "int8", "bytea",
];
const EVENT_TYPES: &[&str] =
    &["text", "int8", "text", "text", "text", "text", "int8", "text", "bytea", "bytea"];

fn unnest(types: &[&str], next: &mut usize) -> String {
    let columns: Vec<String> = types
        .iter()
        .map(|kind| {
            *next += 1;
            format!("${}::{kind}[]", *next - 1)
        })
        .collect();
    format!("unnest({})", columns.join(", "))
}

/// An entry and the texts of its ids, made once.
struct Texts<'a> {
    entry: &'a Entry,
    id: String,
    session: String,
    parent: Option<String>,
    worker: Option<String>,
    error: Option<String>,
    key: Option<String>,
    review: Option<String>,
}

impl<'a> Texts<'a> {
    fn of(entry: &'a Entry) -> Self {
        let row = &entry.row;
        Self {
            entry,
            id: row.id().to_string(),
            session: row.opened.session.to_string(),
            parent: row.opened.parent.map(|id| id.to_string()),
            worker: row.worker.map(|id| id.to_string()),
            // An error is plain data with string keys, so it always has a JSON form.
            error: row.error.as_ref().and_then(|error| serde_json::to_string(error).ok()),
            key: row.opened.key.map(|key| key.to_string()),
            // And so is a review.
            review: row.review.as_ref().and_then(|review| serde_json::to_string(review).ok()),
        }
    }
}

type Column<'a> = Box<dyn ToSql + Sync + Send + 'a>;

fn column<'a, R, T>(rows: &'a [R], cell: impl Fn(&'a R) -> T) -> Column<'a>
where
    T: ToSql + Sync + Send + 'a,
{
    Box::new(rows.iter().map(cell).collect::<Vec<T>>())
}

// In the order of `INVOCATION_COLUMNS` and then of `asked`.
fn new_columns<'a>(new: &'a [&'a Texts<'a>]) -> Vec<Column<'a>> {
    let of = |text: &&'a Texts<'a>| &text.entry.row;
    vec![
        column(new, |t| t.id.as_str()),
        column(new, move |t| of(t).opened.tenant.as_str()),
        column(new, |t| t.session.as_str()),
        column(new, |t| t.parent.as_deref()),
        column(new, move |t| of(t).opened.tool.as_str()),
        column(new, move |t| of(t).opened.tool_version.as_ref().map(|version| version.0.as_str())),
        column(new, move |t| of(t).opened.effect.as_str()),
        column(new, move |t| of(t).opened.egress.as_str()),
        column(new, move |t| of(t).opened.idempotent),
        column(new, move |t| of(t).opened.actor.as_str()),
        column(new, move |t| of(t).opened.subject.as_ref().map(PrincipalId::as_str)),
        column(new, |t| t.key.as_deref()),
        column(new, move |t| of(t).opened.source.as_str()),
        column(new, move |t| of(t).opened.input.as_str()),
        column(new, move |t| of(t).opened.idempotency_key.as_ref().map(|key| key.as_str())),
        column(new, move |t| of(t).opened.request_digest.as_str()),
        column(new, move |t| of(t).opened.rule.as_deref()),
        column(new, move |t| of(t).opened.approval_required),
        column(new, move |t| of(t).opened.created_at.as_micros()),
        column(new, move |t| of(t).status.as_str()),
        column(new, move |t| of(t).approval.as_str()),
        column(new, move |t| of(t).decided_by.as_ref().map(PrincipalId::as_str)),
        column(new, move |t| of(t).reason.as_deref()),
        column(new, move |t| of(t).output.as_ref().map(JsonText::as_str)),
        column(new, |t| t.error.as_deref()),
        column(new, move |t| of(t).cost_micros),
        column(new, move |t| i64::from(of(t).attempt)),
        column(new, |t| t.worker.as_deref()),
        column(new, move |t| of(t).cancel_requested),
        column(new, move |t| of(t).revision.cast_signed()),
        column(new, move |t| of(t).seqs.0),
        column(new, move |t| of(t).seqs.1),
        column(new, move |t| of(t).started_at.map(|at| at.as_micros())),
        column(new, move |t| of(t).completed_at.map(|at| at.as_micros())),
        column(new, |t| t.review.as_deref()),
        column(new, move |t| of(t).due_at.map(|at| at.as_micros())),
        column(new, |t| matches!(t.entry.kind, EntryKind::New(SessionUse::New))),
        column(new, |t| match &t.entry.kind {
            EntryKind::New(SessionUse::Existing { owner: Some(owner) }) => Some(owner.as_str()),
            EntryKind::New(_) | EntryKind::Step { .. } => None,
        }),
        column(new, |t| t.entry.after.seq),
        column(new, |t| t.entry.after.hash.0.as_slice()),
    ]
}

// In the order of `s`.
fn step_columns<'a>(steps: &'a [&'a Texts<'a>]) -> Vec<Column<'a>> {
    let of = |text: &&'a Texts<'a>| &text.entry.row;
    vec![
        column(steps, |t| t.id.as_str()),
        column(steps, move |t| of(t).opened.tenant.as_str()),
        column(steps, |t| t.session.as_str()),
        column(steps, |t| match t.entry.kind {
            EntryKind::Step { seen } => seen.cast_signed(),
            EntryKind::New(_) => 0,
        }),
        column(steps, move |t| of(t).status.as_str()),
        column(steps, move |t| of(t).approval.as_str()),
        column(steps, move |t| of(t).decided_by.as_ref().map(PrincipalId::as_str)),
        column(steps, move |t| of(t).reason.as_deref()),
        column(steps, move |t| of(t).output.as_ref().map(JsonText::as_str)),
        column(steps, |t| t.error.as_deref()),
        column(steps, move |t| of(t).cost_micros),
        column(steps, move |t| i64::from(of(t).attempt)),
        column(steps, |t| t.worker.as_deref()),
        column(steps, move |t| of(t).cancel_requested),
        column(steps, move |t| of(t).revision.cast_signed()),
        column(steps, move |t| of(t).seqs.1),
        column(steps, move |t| of(t).started_at.map(|at| at.as_micros())),
        column(steps, move |t| of(t).completed_at.map(|at| at.as_micros())),
        column(steps, |t| t.review.as_deref()),
        column(steps, move |t| of(t).due_at.map(|at| at.as_micros())),
        column(steps, |t| t.entry.after.seq),
        column(steps, |t| t.entry.after.hash.0.as_slice()),
    ]
}

// In the order of `EVENT_COLUMNS`.
fn event_columns<'a>(placed: &'a [(&'a Texts<'a>, &'a Event)]) -> Vec<Column<'a>> {
    vec![
        column(placed, |(text, _)| text.session.as_str()),
        column(placed, |(_, event)| event.seq),
        column(placed, |(_, event)| event.draft.tenant.as_str()),
        column(placed, |(text, _)| text.id.as_str()),
        column(placed, |(_, event)| event.draft.kind.as_str()),
        column(placed, |(_, event)| event.draft.actor.as_str()),
        column(placed, |(_, event)| event.draft.at.as_micros()),
        column(placed, |(_, event)| event.draft.data.as_str()),
        column(placed, |(_, event)| event.prev.0.as_slice()),
        column(placed, |(_, event)| event.hash.0.as_slice()),
    ]
}
