//! The record as a list.

use async_trait::async_trait;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use toolgate_core::event::EventKind;
use toolgate_core::id::TenantId;
use toolgate_core::port::event_list::{
    EventFilter, EventListStore, EventNews, EventPart, EventPlace, LOOKED_AT, ListedEvent,
};
use toolgate_core::port::store::StoreError;

use crate::PostgresStore;
use crate::error::Fault;
use crate::row::{self, Cells, EVENT_COLUMNS};

/// How many events the tail looks at, at once.
const TAIL: usize = 1_000;
/// How many events are fetched at once, and how much of their data before a part is cut short.
const FETCHED: usize = 20;
const MOST_BYTES: usize = 4 * 1024 * 1024;

#[async_trait]
impl EventListStore for PostgresStore {
    async fn list_events(
        &self,
        tenant: &TenantId,
        filter: &EventFilter,
        before: Option<EventPlace>,
        limit: u32,
    ) -> Result<EventPart, StoreError> {
        if limit == 0 {
            return Ok(EventPart::default());
        }
        let mut query = Query::default();
        let window = window(&mut query, tenant, filter, before);
        let looked_values = query.values.len();
        let sql = listing(&mut query, &window, tenant, filter, limit);
        let places = row::all(&self.walk(&sql, &query.params()).await?, place)?;
        let mut next = if places.len() == limit as usize {
            places.last().copied()
        } else {
            let looked = format!("SELECT w.id, w.at FROM ({window} LIMIT 1 OFFSET {}) AS w", LOOKED_AT - 1);
            let last = self.walk(&looked, &query.params()[..looked_values]).await?;
            last.first().map(place).transpose()?
        };
        let positions: Vec<i64> = places.iter().map(|place| place.position).collect();
        let events = self.fetch_events(&positions).await?;
        // What was cut short goes on after the last that is shown.
        if events.len() < places.len() {
            next = places.get(events.len().saturating_sub(1)).copied();
        }
        Ok(EventPart { events, next })
    }

    async fn events_since(
        &self,
        tenant: &TenantId,
        filter: &EventFilter,
        after: i64,
        limit: u32,
    ) -> Result<EventNews, StoreError> {
        // Ids are given before commits are made, so an event may show up after one with a higher id. Transactions older
        // than any still open can no longer be joined by others: events are met in the order of these. What was restored
        // from another server has numbers from there and goes by its id.
        let found = self.query_first(PLACE_OF, &[&after]).await?;
        let (after, xid, foreign) = match &found {
            Some(row) => {
                let mut cells = Cells::of(row);
                (cells.get::<i64>()?, cells.get::<String>()?, cells.get::<bool>()?)
            }
            None => (0, "0".to_owned(), false),
        };
        let mut query = Query::default();
        let since = query.value(if foreign { "0".to_owned() } else { xid });
        let (id, foreign) = (query.value(after), query.value(foreign));
        let fits = fits(&mut query, tenant, filter);
        let sql = format!(
            "SELECT w.id, ({fits}) FROM (
                 SELECT {NARROW}, xid FROM events
                 WHERE xid >= {since}::text::xid8 AND xid < pg_snapshot_xmin(pg_current_snapshot())
                     AND (id > {id} OR (NOT {foreign} AND xid > {since}::text::xid8))
                 ORDER BY xid, id LIMIT {TAIL}
             ) AS w ORDER BY w.xid, w.id"
        );
        let rows = self.query(&sql, &query.params()).await?;
        let (mut positions, mut seen) = (Vec::new(), after);
        for row in &rows {
            if positions.len() == limit as usize {
                break;
            }
            let mut cells = Cells::of(row);
            seen = cells.get()?;
            if cells.get::<Option<bool>>()?.unwrap_or(false) {
                positions.push(seen);
            }
        }
        let events = self.fetch_events(&positions).await?;
        if events.len() < positions.len() {
            seen = events.last().map_or(after, |event| event.position);
        }
        Ok(EventNews { events, seen })
    }

    async fn newest_event(&self) -> Result<i64, StoreError> {
        let sql = "SELECT coalesce(
                 (SELECT id FROM events WHERE xid < pg_snapshot_xmin(pg_current_snapshot())
                  ORDER BY xid DESC, id DESC LIMIT 1),
                 (SELECT max(id) FROM events), 0)";
        self.query_first(sql, &[]).await?.map_or(Ok(0), |row| Cells::of(&row).get())
    }
}

/// The event at a position or, where none is, the one before it.
const PLACE_OF: &str = "SELECT id, xid::text, xid >= pg_snapshot_xmax(pg_current_snapshot()) FROM events
     WHERE id <= $1 ORDER BY id DESC LIMIT 1";

const NARROW: &str = "id, session_id, seq, tenant_id, invocation_id, kind, actor, at";

fn listing(query: &mut Query, window: &str, tenant: &TenantId, filter: &EventFilter, limit: u32) -> String {
    let fits = fits(query, tenant, filter);
    format!("SELECT w.id, w.at FROM ({window} LIMIT {LOOKED_AT}) AS w WHERE {fits} LIMIT {limit}")
}

/// The events to look through, by the index that leaves the fewest; without its limit. No index but the one meant can
/// give this order, so the plan does not depend on how large the tenant is.
fn window(query: &mut Query, tenant: &TenantId, filter: &EventFilter, before: Option<EventPlace>) -> String {
    let narrow = format!("SELECT {NARROW} FROM events");
    if filter.session.is_some() || filter.invocation.is_some() {
        let mut wanted = Vec::new();
        if let Some(call) = filter.invocation {
            let call = query.value(call.to_string());
            let of_call = |column: &str| format!("(SELECT {column} FROM invocations WHERE id = {call})");
            wanted.push(format!("session_id = {}", of_call("session_id")));
            wanted.push(format!("seq BETWEEN {} AND {}", of_call("first_seq"), of_call("last_seq")));
        } else if let Some(session) = filter.session {
            wanted.push(format!("session_id = {}", query.value(session.to_string())));
        }
        if let Some(place) = before {
            let position = query.value(place.position);
            wanted.push(format!("seq < (SELECT seq FROM events WHERE id = {position})"));
        }
        return format!("{narrow} WHERE {} ORDER BY seq DESC", wanted.join(" AND "));
    }
    let mut wanted = vec![format!("tenant_id = {}", query.value(tenant.to_string()))];
    match (&filter.actor, &filter.kinds[..]) {
        (Some(actor), kinds) if are_rare(kinds) => {
            wanted.push(format!("actor = {} AND {RARE}", query.value(actor.to_string())));
        }
        (None, [kind]) if are_rare(&[*kind]) => {
            wanted.push(format!("kind = {} AND {RARE}", query.value(kind.as_str().to_owned())));
        }
        _ => {}
    }
    if let Some(from) = filter.from {
        wanted.push(format!("at >= {}", query.value(from.as_micros())));
    }
    if let Some(to) = filter.to {
        wanted.push(format!("at < {}", query.value(to.as_micros())));
    }
    if let Some(place) = before {
        let (at, position) = (query.value(place.at.as_micros()), query.value(place.position));
        wanted.push(format!("(at, id) < ({at}, {position})"));
    }
    format!("{narrow} WHERE {} ORDER BY at DESC, id DESC", wanted.join(" AND "))
}

/// As in the indexes, or they would not be seen to serve.
const RARE: &str = "kind NOT IN ('tool.started', 'tool.completed')";

fn are_rare(kinds: &[EventKind]) -> bool {
    !kinds.is_empty() && !kinds.iter().any(|kind| matches!(kind, EventKind::Started | EventKind::Completed))
}

/// Whether an event `w` is one of those asked for.
fn fits(query: &mut Query, tenant: &TenantId, filter: &EventFilter) -> String {
    let mut wanted = vec![format!("w.tenant_id = {}", query.value(tenant.to_string()))];
    if !filter.kinds.is_empty() {
        let kinds: Vec<String> = filter.kinds.iter().map(|kind| kind.as_str().to_owned()).collect();
        wanted.push(format!("w.kind = ANY({})", query.value(kinds)));
    }
    let mut equal = |column: &str, value: String| wanted.push(format!("{column} = {}", query.value(value)));
    if let Some(actor) = &filter.actor {
        equal("w.actor", actor.to_string());
    }
    if let Some(session) = filter.session {
        equal("w.session_id", session.to_string());
    }
    if let Some(call) = filter.invocation {
        equal("w.invocation_id", call.to_string());
    }
    // Scalar subqueries: looked up one by one, never as a join over all calls.
    if let Some(tool) = &filter.tool {
        equal("(SELECT i.tool_id FROM invocations i WHERE i.id = w.invocation_id)", tool.to_string());
    }
    if let Some(subject) = &filter.subject {
        equal("(SELECT i.subject FROM invocations i WHERE i.id = w.invocation_id)", subject.to_string());
    }
    if let Some(from) = filter.from {
        wanted.push(format!("w.at >= {}", query.value(from.as_micros())));
    }
    if let Some(to) = filter.to {
        wanted.push(format!("w.at < {}", query.value(to.as_micros())));
    }
    wanted.join(" AND ")
}

impl PostgresStore {
    /// Asks for events in the order of an index, read from where it begins to where there are enough. Left to itself, the
    /// server would collect and sort all of a tenant's events whenever it takes them to be few.
    async fn walk(&self, sql: &str, params: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, StoreError> {
        let mut client = self.pool.get().await.map_err(Fault::from)?;
        let transaction = client.transaction().await.map_err(Fault::from)?;
        let in_order = "SET LOCAL enable_sort = off; SET LOCAL enable_bitmapscan = off";
        transaction.batch_execute(in_order).await.map_err(Fault::from)?;
        let statement = transaction.prepare_cached(sql).await.map_err(Fault::from)?;
        let rows = transaction.query(&statement, params).await.map_err(Fault::from)?;
        transaction.commit().await.map_err(Fault::from)?;
        Ok(rows)
    }

    /// The events at these positions, in this order, as far as their data is not too much.
    async fn fetch_events(&self, positions: &[i64]) -> Result<Vec<ListedEvent>, StoreError> {
        let sql = format!(
            "SELECT {}, e.id AS position,
                 (SELECT i.tool_id FROM invocations i WHERE i.id = e.invocation_id) AS tool,
                 (SELECT i.subject FROM invocations i WHERE i.id = e.invocation_id) AS for_whom
             FROM events e WHERE e.id = ANY($1)",
            row::of_table("e", EVENT_COLUMNS)
        );
        let (mut events, mut bytes) = (Vec::with_capacity(positions.len()), 0);
        for chunk in positions.chunks(FETCHED) {
            if bytes > MOST_BYTES {
                break;
            }
            let mut found = row::all(&self.query(&sql, &[&chunk]).await?, listed)?;
            found.sort_by_key(|event| chunk.iter().position(|position| *position == event.position));
            bytes += found.iter().map(|event| event.event.draft.data.as_str().len()).sum::<usize>();
            events.extend(found);
        }
        Ok(events)
    }
}

fn listed(row: &Row) -> Result<ListedEvent, StoreError> {
    let text = |name: &str| row.try_get::<_, Option<&str>>(name).map_err(StoreError::unavailable);
    let damaged = |what: &str| StoreError::unavailable(format!("a stored {what} can't be read"));
    Ok(ListedEvent {
        position: row.try_get("position").map_err(StoreError::unavailable)?,
        event: row::event(row)?,
        tool: text("tool")?.map(|tool| tool.parse().map_err(|_| damaged("tool"))).transpose()?,
        subject: text("for_whom")?
            .map(|subject| subject.parse().map_err(|_| damaged("subject")))
            .transpose()?,
    })
}

fn place(row: &Row) -> Result<EventPlace, StoreError> {
    let mut cells = Cells::of(row);
    Ok(EventPlace { position: cells.get()?, at: cells.time()? })
}

/// A query's values, numbered as they come.
#[derive(Default)]
struct Query {
    values: Vec<Box<dyn ToSql + Sync + Send>>,
}

impl Query {
    fn value(&mut self, value: impl ToSql + Sync + Send + 'static) -> String {
        self.values.push(Box::new(value));
        format!("${}", self.values.len())
    }

    fn params(&self) -> Vec<&(dyn ToSql + Sync)> {
        self.values.iter().map(|value| &**value as _).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hundred thousand events of two tenants; one in a thousand is of the small one.
    const LARGE: &str = "INSERT INTO events
             (session_id, seq, tenant_id, invocation_id, kind, actor, at, data, prev_hash, hash)
         SELECT 'ses_' || lpad(to_hex(i / 10), 32, '0'), i % 10 + 1,
             CASE WHEN i % 1000 = 0 THEN 'small' ELSE 'default' END, 'inv_' || lpad(to_hex(i / 2), 32, '0'),
             CASE WHEN i % 997 = 0 THEN 'tool.failed' ELSE 'tool.started' END,
             CASE WHEN i % 499 = 0 THEN 'agent:rare' ELSE 'user:ada' END, i, '{}',
             decode(repeat('00', 32), 'hex'), decode(repeat('00', 32), 'hex')
         FROM generate_series(1, 100000) AS i";

    async fn plan(store: &PostgresStore, tenant: &TenantId, filter: &EventFilter) -> String {
        let mut query = Query::default();
        let place = EventPlace { at: toolgate_core::Timestamp::from_micros(90_000), position: 90_000 };
        let window = window(&mut query, tenant, filter, Some(place));
        let sql = format!("EXPLAIN {}", listing(&mut query, &window, tenant, filter, 50));
        let rows = store.walk(&sql, &query.params()).await.unwrap();
        rows.iter().map(|row| row.get::<_, String>(0)).collect::<Vec<_>>().join("\n")
    }

    #[tokio::test]
    async fn no_question_scans_or_sorts_the_record() {
        let url = toolgate_testkit::shared_postgres().create_database().await;
        let store = PostgresStore::connect(&url).await.unwrap();
        store.query(LARGE, &[]).await.unwrap();
        let any = EventFilter::default;
        let cases = [
            any(),
            EventFilter { actor: Some("agent:rare".parse().unwrap()), ..any() },
            EventFilter {
                actor: Some("agent:rare".parse().unwrap()),
                kinds: vec![EventKind::Failed, EventKind::AdminChanged],
                ..any()
            },
            EventFilter { kinds: vec![EventKind::Failed], ..any() },
            EventFilter { kinds: vec![EventKind::Failed, EventKind::Rejected], ..any() },
            EventFilter { tool: Some("core__x".parse().unwrap()), ..any() },
            EventFilter { subject: Some("user:ada".parse().unwrap()), ..any() },
            EventFilter { session: Some("ses_00000000000000000000000000000001".parse().unwrap()), ..any() },
        ];
        // Before the server knows how large the tables are, and after.
        for statistics in ["SELECT 1", "ANALYZE events"] {
            store.query(statistics, &[]).await.unwrap();
            for tenant in ["small", "default"] {
                for filter in &cases {
                    let plan = plan(&store, &tenant.parse().unwrap(), filter).await;
                    assert!(!plan.contains("Seq Scan on events"), "{tenant} {filter:?}\n{plan}");
                    assert!(!plan.contains("Sort"), "{tenant} {filter:?}\n{plan}");
                }
            }
        }
    }

    #[tokio::test]
    async fn a_small_tenant_pages_through_its_own_events_alone() {
        let url = toolgate_testkit::shared_postgres().create_database().await;
        let store = PostgresStore::connect(&url).await.unwrap();
        store.query(LARGE, &[]).await.unwrap();
        let small: TenantId = "small".parse().unwrap();
        let (mut seen, mut before) = (Vec::new(), None);
        loop {
            let part = store.list_events(&small, &EventFilter::default(), before, 40).await.unwrap();
            seen.extend(part.events.iter().map(|event| event.event.draft.at.as_micros()));
            before = part.next;
            if before.is_none() {
                break;
            }
        }
        assert_eq!(seen, (1..=100).rev().map(|number| number * 1000).collect::<Vec<i64>>());
        let nothing = EventFilter { tool: Some("core__x".parse().unwrap()), ..EventFilter::default() };
        let part = store.list_events(&TenantId::default_tenant(), &nothing, None, 50).await.unwrap();
        let next = part.next.expect("it goes on");
        assert!(part.events.is_empty() && (89_000..90_001).contains(&next.at.as_micros()), "{next:?}");
    }
}
