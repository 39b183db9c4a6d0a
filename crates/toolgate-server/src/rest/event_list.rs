//! The record as a list: newest first, narrowed, and followed as it grows.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event as SseEvent, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use futures::stream::{self, Stream};
use tokio::sync::broadcast;
use toolgate_api::{AuditEventListView, AuditEventView, ErrorBody, rfc3339};
use toolgate_app::EventQuery;
use toolgate_core::event::EventKind;
use toolgate_core::id::SessionId;
use toolgate_core::port::event_list::{EventFilter, ListedEvent};
use utoipa::IntoParams;

use super::event_place::{BEGINNING, Places};
use super::invocation::moment;
use super::tool::{bad, no_parameter, parse_id};
use crate::ServerState;
use crate::error::ApiError;
use crate::extract::{Caller, Standing};

const USUAL: u32 = 50;
const MOST: u32 = 200;
/// The most values one parameter may be given.
const MOST_TYPES: usize = 32;
/// How late an event from another node may be seen, and how soon after one look comes the next.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
const BREATH: Duration = Duration::from_millis(100);
/// How late it is noticed that whoever reads may read no more.
const ASK_AGAIN: Duration = Duration::from_secs(5);

/// Which events. For the document; what comes is read by hand, since `type` may come many times.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "describes the parameters")]
pub(crate) struct EventNarrowing {
    /// Of this type, such as `tool.failed`, or of all types that begin so: `tool.`. May be given many times.
    r#type: Option<Vec<String>>,
    /// Caused by this principal, such as `agent:helper`.
    actor: Option<String>,
    /// Of calls made for this person.
    subject: Option<String>,
    /// Of calls of this tool.
    tool: Option<String>,
    /// In this session.
    session: Option<String>,
    /// Of this call.
    invocation: Option<String>,
    /// At or after this moment (RFC 3339).
    #[param(format = DateTime)]
    from: Option<String>,
    /// Before this moment (RFC 3339).
    #[param(format = DateTime)]
    to: Option<String>,
}

/// Lists the record, newest first. For those who read the record.
///
/// One question looks at a bounded number of events, however long the record is: a page may hold fewer than asked for,
/// or none, and still name a `next_cursor`.
#[utoipa::path(get, path = "/api/v1/audit/events", tag = "audit",
    params(EventNarrowing,
        ("cursor" = Option<String>, Query, description = "where the page starts, from `next_cursor` of the one before"),
        ("limit" = Option<u32>, Query, description = "how many, from 1 to 200", minimum = 1, maximum = 200)),
    responses((status = 200, body = AuditEventListView), (status = "default", body = ErrorBody)))]
pub(crate) async fn list_events(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    RawQuery(asked): RawQuery,
) -> Result<Json<AuditEventListView>, ApiError> {
    let asked = Asked::read(asked.as_deref(), &["cursor", "limit"])?;
    let places = Places::of(&state, &actor.tenant);
    let query = EventQuery {
        before: asked.one("cursor")?.map(|text| places.open_cursor(text)).transpose()?,
        limit: asked.limit()?,
        filter: asked.filter()?,
    };
    let limit = query.limit as usize;
    let (part, newest) = state.app.list_events(&actor, query).await?;
    let short = part.events.len() < limit;
    Ok(Json(AuditEventListView {
        events: part.events.iter().map(AuditEventView::from).collect(),
        next_cursor: part.next.map(|place| places.cursor(place)).transpose()?,
        looked_back_to: part.next.filter(|_| short).map(|place| rfc3339(place.at)),
        newest: places.position(newest)?,
    }))
}

/// Streams the record as it grows (server-sent events): from now on, or from what came after `Last-Event-ID` or `after`.
/// For those who read the record.
///
/// Each is an `audit` event; its id is its place, which only this server can read. Who reads is asked again every few
/// seconds. When the key or the sign-in works no more, or the record may no longer be read, the last event is `end`,
/// without an id, and `reason` in its data says which: `unauthenticated` or `forbidden`.
#[utoipa::path(get, path = "/api/v1/audit/events/live", tag = "audit",
    params(EventNarrowing,
        ("after" = Option<String>, Query, description = "the place after which to begin, when no `Last-Event-ID` comes: \
            `newest` of a list, or `0` for the whole record"),
        ("Last-Event-ID" = Option<String>, Header, description = "the id of the last event you have")),
    responses((status = 200, content_type = "text/event-stream", body = String),
        (status = "default", body = ErrorBody)))]
pub(crate) async fn follow_events(
    State(state): State<ServerState>,
    mut standing: Standing,
    headers: HeaderMap,
    RawQuery(asked): RawQuery,
) -> Result<Response, ApiError> {
    let Caller(actor) = standing.caller(&state).await?;
    let asked = Asked::read(asked.as_deref(), &["after"])?;
    let filter = asked.filter()?;
    let last = headers.get("last-event-id").map(|value| value.to_str().unwrap_or("-"));
    let after = match last.or(asked.one("after")?) {
        Some(BEGINNING) => Some(0),
        Some(text) => Some(Places::of(&state, &actor.tenant).open_position(text)?),
        None => None,
    };
    // Asked once here, so that a refusal is an error and not a broken stream.
    let newest = state.app.newest_event(&actor).await?;
    let closing = state.closing.clone();
    let events =
        follow(state, standing, filter, after.unwrap_or(newest)).take_until(closing.cancelled_owned());
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))).into_response())
}

struct Tail {
    state: ServerState,
    /// None once the last word is said.
    standing: Option<Standing>,
    actor: Option<toolgate_core::Actor>,
    asked: Instant,
    filter: EventFilter,
    seen: i64,
    news: broadcast::Receiver<SessionId>,
    ready: std::vec::IntoIter<ListedEvent>,
}

fn follow(
    state: ServerState,
    standing: Standing,
    filter: EventFilter,
    seen: i64,
) -> impl Stream<Item = Result<SseEvent, Infallible>> {
    let (news, ready) = (state.app.runner().watch(), Vec::new().into_iter());
    let (standing, asked) = (Some(standing), Instant::now());
    let tail = Tail { state, standing, actor: None, asked, filter, seen, news, ready };
    stream::unfold(tail, |mut tail| async move {
        loop {
            let standing = tail.standing.as_mut()?;
            if tail.actor.is_none() || tail.asked.elapsed() >= ASK_AGAIN {
                match who(standing, &tail.state).await {
                    Ok(Ok(actor)) => (tail.actor, tail.asked) = (Some(actor), Instant::now()),
                    Ok(Err(reason)) => {
                        tail.standing = None;
                        let data = serde_json::json!({ "reason": reason }).to_string();
                        return Some((Ok(SseEvent::default().event("end").data(data)), tail));
                    }
                    // Nothing is shown to someone of whom it can't be told that they may see it.
                    Err(_) => {
                        tokio::time::sleep(LOOK_AGAIN).await;
                        continue;
                    }
                }
            }
            if let Some(listed) = tail.ready.next() {
                let data = serde_json::to_string(&AuditEventView::from(&listed)).unwrap_or_default();
                let shown = SseEvent::default().event("audit").data(data);
                let id = Places::of(&tail.state, &listed.event.draft.tenant).position(listed.position);
                // Without an id it is shown all the same; only a break is taken up at the one before.
                let shown = match id {
                    Ok(id) => shown.id(id),
                    Err(_) => shown,
                };
                return Some((Ok(shown), tail));
            }
            let Some(actor) = &tail.actor else { continue };
            match tail.state.app.events_since(actor, &tail.filter, tail.seen).await {
                Ok(news) if news.seen != tail.seen => {
                    tail.seen = news.seen;
                    tail.ready = news.events.into_iter();
                }
                // Nothing new, or the store is away for a moment: wait for news, but not only for news.
                Ok(_) | Err(_) => rest(&mut tail.news).await,
            }
        }
    })
}

/// Who reads, as they stand now, or why they may read no more. An error says that it can't be told now.
async fn who(
    standing: &mut Standing,
    state: &ServerState,
) -> Result<Result<toolgate_core::Actor, &'static str>, ApiError> {
    let refused = match standing.caller(state).await {
        Ok(Caller(actor)) => match state.app.newest_event(&actor).await {
            Ok(_) => return Ok(Ok(actor)),
            Err(cause) => ApiError::from(cause),
        },
        Err(refused) => refused,
    };
    match refused.status() {
        StatusCode::FORBIDDEN => Ok(Err("forbidden")),
        StatusCode::UNAUTHORIZED => Ok(Err("unauthenticated")),
        _ => Err(refused),
    }
}

async fn rest(news: &mut broadcast::Receiver<SessionId>) {
    let _ = tokio::time::timeout(LOOK_AGAIN, news.recv()).await;
    // Many changes at once are one look.
    tokio::time::sleep(BREATH).await;
    while !matches!(
        news.try_recv(),
        Err(broadcast::error::TryRecvError::Empty | broadcast::error::TryRecvError::Closed)
    ) {}
}

/// The parameters of an address; each but `type` comes once.
struct Asked(Vec<(String, String)>);

const NARROWING: &[&str] = &["type", "actor", "subject", "tool", "session", "invocation", "from", "to"];

impl Asked {
    fn read(query: Option<&str>, more: &[&str]) -> Result<Self, ApiError> {
        let unknown = || bad("the query of the address has an unknown or malformed parameter");
        let pairs: Vec<(String, String)> =
            serde_urlencoded::from_str(query.unwrap_or_default()).map_err(|_| unknown())?;
        let known = |name: &str| NARROWING.contains(&name) || more.contains(&name);
        if pairs.len() > MOST_TYPES + 16 {
            return Err(unknown());
        }
        if let Some((name, _)) = pairs.iter().find(|(name, _)| !known(name)) {
            return Err(bad(no_parameter(name)));
        }
        Ok(Self(pairs))
    }

    fn one(&self, name: &str) -> Result<Option<&str>, ApiError> {
        let mut values = self.0.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let value = values.next();
        if values.next().is_some() {
            return Err(bad(format!("`{name}` may come only once")));
        }
        Ok(value)
    }

    fn limit(&self) -> Result<u32, ApiError> {
        match self.one("limit")? {
            None => Ok(USUAL),
            Some(text) => text
                .parse()
                .ok()
                .filter(|limit| (1..=MOST).contains(limit))
                .ok_or_else(|| bad(format!("`limit` must be from 1 to {MOST}"))),
        }
    }

    fn filter(&self) -> Result<EventFilter, ApiError> {
        Ok(EventFilter {
            kinds: self.kinds()?,
            actor: self.one("actor")?.map(|text| parse_id(text, "actor")).transpose()?,
            subject: self.one("subject")?.map(|text| parse_id(text, "subject")).transpose()?,
            tool: self.one("tool")?.map(|text| parse_id(text, "tool")).transpose()?,
            session: self.one("session")?.map(|text| parse_id(text, "session")).transpose()?,
            invocation: self.one("invocation")?.map(|text| parse_id(text, "invocation")).transpose()?,
            from: self.one("from")?.map(|text| moment(text, "from")).transpose()?,
            to: self.one("to")?.map(|text| moment(text, "to")).transpose()?,
        })
    }

    /// The kinds that the given types name; all of them are none.
    fn kinds(&self) -> Result<Vec<EventKind>, ApiError> {
        let asked: Vec<&str> =
            self.0.iter().filter(|(key, _)| key == "type").map(|(_, value)| value.as_str()).collect();
        let names = |text: &str, kind: EventKind| {
            kind.as_str() == text || (text.ends_with('.') && kind.as_str().starts_with(text))
        };
        for text in &asked {
            if !EventKind::ALL.iter().any(|kind| names(text, *kind)) {
                return Err(bad("`type` names no type of event").hint(
                    "such as `tool.failed` or `admin.changed`, or the beginning of some, such as `tool.`",
                ));
            }
        }
        let kinds: Vec<EventKind> = EventKind::ALL
            .iter()
            .copied()
            .filter(|kind| asked.iter().any(|text| names(text, *kind)))
            .collect();
        Ok(if kinds.len() == EventKind::ALL.len() { Vec::new() } else { kinds })
    }
}
