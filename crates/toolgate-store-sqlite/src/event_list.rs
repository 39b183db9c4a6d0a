//! The record as a list.

use async_trait::async_trait;
use rusqlite::{Connection, ToSql};
use toolgate_core::Timestamp;
use toolgate_core::event::EventKind;
use toolgate_core::id::TenantId;
use toolgate_core::port::event_list::{
    EventFilter, EventListStore, EventNews, EventPart, EventPlace, LOOKED_AT, ListedEvent,
};
use toolgate_core::port::store::StoreError;

use crate::SqliteStore;
use crate::database::Fault;
use crate::row::{self, Cells, EVENT_COLUMNS};

/// How many events the tail looks at, at once.
const TAIL: i64 = 1_000;
/// How many events are fetched at once, and how much of their data before a part is cut short.
const FETCHED: usize = 20;
const MOST_BYTES: usize = 4 * 1024 * 1024;

#[async_trait]
impl EventListStore for SqliteStore {
    async fn list_events(
        &self,
        tenant: &TenantId,
        filter: &EventFilter,
        before: Option<EventPlace>,
        limit: u32,
    ) -> Result<EventPart, StoreError> {
        let (tenant, filter) = (tenant.clone(), filter.clone());
        self.database.read(move |connection| list(connection, &tenant, &filter, before, limit)).await
    }

    async fn events_since(
        &self,
        tenant: &TenantId,
        filter: &EventFilter,
        after: i64,
        limit: u32,
    ) -> Result<EventNews, StoreError> {
        let (tenant, filter) = (tenant.clone(), filter.clone());
        self.database.read(move |connection| since(connection, &tenant, &filter, after, limit)).await
    }

    async fn newest_event(&self) -> Result<i64, StoreError> {
        self.database.read(newest).await
    }
}

fn list(
    connection: &Connection,
    tenant: &TenantId,
    filter: &EventFilter,
    before: Option<EventPlace>,
    limit: u32,
) -> Result<EventPart, Fault> {
    if limit == 0 {
        return Ok(EventPart::default());
    }
    let mut query = Query::default();
    let window = window(&mut query, tenant, filter, before);
    let looked = format!("SELECT id, at FROM ({window} LIMIT {LOOKED_AT}) LIMIT 1 OFFSET {}", LOOKED_AT - 1);
    let looked_values = query.values.len();
    let fits = fits(&mut query, tenant, filter);
    let sql = format!("SELECT w.id, w.at FROM ({window} LIMIT {LOOKED_AT}) AS w WHERE {fits} LIMIT {limit}");
    let places = row::all(connection, &sql, &query.params(), place)?;
    let mut next = if places.len() == limit as usize {
        places.last().copied()
    } else {
        row::first(connection, &looked, &query.params()[..looked_values], place)?
    };
    let positions: Vec<i64> = places.iter().map(|place| place.position).collect();
    let events = fetch(connection, &positions)?;
    // What was cut short goes on after the last that is shown.
    if events.len() < places.len() {
        next = places.get(events.len().saturating_sub(1)).copied();
    }
    Ok(EventPart { events, next })
}

fn since(
    connection: &Connection,
    tenant: &TenantId,
    filter: &EventFilter,
    after: i64,
    limit: u32,
) -> Result<EventNews, Fault> {
    // One writer gives ids in order of commit, so what comes later has a higher one.
    let newest = newest(connection)?;
    let after = after.clamp(0, newest);
    let until = newest.min(after + TAIL);
    let mut query = Query::default();
    let (above, below) = (query.value(after), query.value(until));
    let fits = fits(&mut query, tenant, filter);
    let sql = format!(
        "SELECT w.id, w.at FROM events AS w WHERE w.id > {above} AND w.id <= {below} AND {fits}
         ORDER BY w.id LIMIT {limit}"
    );
    let places = row::all(connection, &sql, &query.params(), place)?;
    let positions: Vec<i64> = places.iter().map(|place| place.position).collect();
    let events = fetch(connection, &positions)?;
    let whole = events.len() == places.len() && places.len() < limit as usize;
    let seen = if whole { until } else { events.last().map_or(after, |event| event.position) };
    Ok(EventNews { events, seen })
}

fn newest(connection: &Connection) -> Result<i64, Fault> {
    let newest =
        row::first(connection, "SELECT max(id) FROM events", &[], |row| Cells::of(row).get::<Option<i64>>())?;
    Ok(newest.flatten().unwrap_or(0))
}

/// The events to look through, by the index that leaves the fewest; without its limit.
fn window(query: &mut Query, tenant: &TenantId, filter: &EventFilter, before: Option<EventPlace>) -> String {
    let narrow = "SELECT id, session_id, seq, tenant_id, invocation_id, kind, actor, at FROM events";
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
    let index = match (&filter.actor, &filter.kinds[..]) {
        (Some(actor), kinds) if are_rare(kinds) => {
            wanted.push(format!("actor = {} AND {RARE}", query.value(actor.to_string())));
            "events_actor"
        }
        (None, [kind]) if are_rare(&[*kind]) => {
            wanted.push(format!("kind = {} AND {RARE}", query.value(kind.as_str().to_owned())));
            "events_kind"
        }
        _ => "events_time",
    };
    if let Some(from) = filter.from {
        wanted.push(format!("at >= {}", query.value(from.as_micros())));
    }
    if let Some(to) = filter.to {
        wanted.push(format!("at < {}", query.value(to.as_micros())));
    }
    if let Some(place) = before {
        let (at, position) = (query.value(place.at.as_micros()), query.value(place.position));
        wanted.push(format!("at <= {at} AND (at < {at} OR id < {position})"));
    }
    format!("{narrow} INDEXED BY {index} WHERE {} ORDER BY at DESC, id DESC", wanted.join(" AND "))
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
        let kinds: Vec<String> =
            filter.kinds.iter().map(|kind| query.value(kind.as_str().to_owned())).collect();
        wanted.push(format!("w.kind IN ({})", kinds.join(", ")));
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

/// The events at these positions, in this order, as far as their data is not too much.
fn fetch(connection: &Connection, positions: &[i64]) -> Result<Vec<ListedEvent>, Fault> {
    let sql = format!(
        "SELECT {}, e.id AS position, i.tool_id AS tool, i.subject AS for_whom
         FROM events e LEFT JOIN invocations i ON i.id = e.invocation_id WHERE e.id = ?1",
        row::of_table("e", EVENT_COLUMNS)
    );
    let (mut events, mut bytes) = (Vec::with_capacity(positions.len()), 0);
    for chunk in positions.chunks(FETCHED) {
        if bytes > MOST_BYTES {
            break;
        }
        for position in chunk {
            let found = row::first(connection, &sql, &[position], listed)?;
            let event = found.ok_or_else(|| row::damaged("event"))?;
            bytes += event.event.draft.data.as_str().len();
            events.push(event);
        }
    }
    Ok(events)
}

fn listed(row: &rusqlite::Row<'_>) -> Result<ListedEvent, Fault> {
    let parsed = |name: &str| row.get::<_, Option<String>>(name);
    Ok(ListedEvent {
        position: row.get("position")?,
        event: row::event(row)?,
        tool: parsed("tool")?.map(|tool| tool.parse().map_err(|_| row::damaged("tool"))).transpose()?,
        subject: parsed("for_whom")?
            .map(|subject| subject.parse().map_err(|_| row::damaged("subject")))
            .transpose()?,
    })
}

fn place(row: &rusqlite::Row<'_>) -> Result<EventPlace, Fault> {
    let mut cells = Cells::of(row);
    Ok(EventPlace { position: cells.get()?, at: Timestamp::from_micros(cells.get()?) })
}

/// A query's values, numbered as they come.
#[derive(Default)]
struct Query {
    values: Vec<Box<dyn ToSql + Send>>,
}

impl Query {
    fn value(&mut self, value: impl ToSql + Send + 'static) -> String {
        self.values.push(Box::new(value));
        format!("?{}", self.values.len())
    }

    fn params(&self) -> Vec<&dyn ToSql> {
        self.values.iter().map(|value| &**value as &dyn ToSql).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hundred thousand events of two tenants; one in a thousand is of the small one.
    fn large() -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        crate::migrate::run(&mut connection).unwrap();
        connection
            .execute_batch(
                "INSERT INTO events (session_id, seq, tenant_id, invocation_id, kind, actor, at, data, prev_hash, hash)
                 WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
                 SELECT printf('ses_%032x', i / 10), i % 10 + 1, iif(i % 1000 = 0, 'small', 'default'),
                     printf('inv_%032x', i / 2), iif(i % 997 = 0, 'tool.failed', 'tool.started'),
                     iif(i % 499 = 0, 'agent:rare', 'user:ada'), i, '{}', zeroblob(32), zeroblob(32)
                 FROM n;",
            )
            .unwrap();
        connection
    }

    fn plan(connection: &Connection, tenant: &TenantId, filter: &EventFilter) -> String {
        let mut query = Query::default();
        let place = EventPlace { at: Timestamp::from_micros(90_000), position: 90_000 };
        let window = window(&mut query, tenant, filter, Some(place));
        let fits = fits(&mut query, tenant, filter);
        let sql = format!(
            "EXPLAIN QUERY PLAN SELECT w.id FROM ({window} LIMIT {LOOKED_AT}) AS w WHERE {fits} LIMIT 50"
        );
        let mut statement = connection.prepare(&sql).unwrap();
        let lines = statement.query_map(&query.params()[..], |row| row.get::<_, String>(3)).unwrap();
        lines.map(Result::unwrap).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn no_question_scans_or_sorts_the_record() {
        let connection = large();
        let small: TenantId = "small".parse().unwrap();
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
            EventFilter { kinds: vec![EventKind::Started], ..any() },
            EventFilter { kinds: vec![EventKind::Failed, EventKind::Rejected], ..any() },
            EventFilter { tool: Some("core__x".parse().unwrap()), ..any() },
            EventFilter { subject: Some("user:ada".parse().unwrap()), ..any() },
            EventFilter { session: Some("ses_00000000000000000000000000000001".parse().unwrap()), ..any() },
            EventFilter {
                invocation: Some("inv_00000000000000000000000000000001".parse().unwrap()),
                ..any()
            },
            EventFilter {
                from: Some(Timestamp::from_micros(10)),
                to: Some(Timestamp::from_micros(20)),
                ..any()
            },
        ];
        for filter in cases {
            let plan = plan(&connection, &small, &filter);
            assert!(!plan.contains("SCAN events") && !plan.contains("TEMP B-TREE"), "{filter:?}\n{plan}");
            assert!(plan.contains("SEARCH events USING"), "{filter:?}\n{plan}");
        }
    }

    #[test]
    fn a_small_tenant_pages_through_its_own_events_alone() {
        let connection = large();
        let small: TenantId = "small".parse().unwrap();
        let (mut seen, mut before) = (Vec::new(), None);
        loop {
            let part = list(&connection, &small, &EventFilter::default(), before, 40).unwrap();
            seen.extend(part.events.iter().map(|event| event.position));
            before = part.next;
            if before.is_none() {
                break;
            }
        }
        assert_eq!(seen, (1..=100).rev().map(|number| number * 1000).collect::<Vec<i64>>());
    }

    #[test]
    fn what_fits_nothing_is_looked_for_in_steps() {
        let connection = large();
        let filter = EventFilter { tool: Some("core__x".parse().unwrap()), ..EventFilter::default() };
        let part = list(&connection, &TenantId::default_tenant(), &filter, None, 50).unwrap();
        assert!(part.events.is_empty());
        let next = part.next.unwrap();
        assert!(next.position > 89_000 && next.position < 90_001, "{next:?}");
    }
}
