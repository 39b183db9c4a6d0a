//! Threads of work and their live events.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event as SseEvent, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use futures::stream::{self, Stream};
use tokio::sync::broadcast;
use toolgate_api::{CreateSessionRequest, ErrorBody, EventView, SessionView};
use toolgate_app::AppError;
use toolgate_core::id::SessionId;

use super::tool::bad;
use crate::ServerState;
use crate::error::ApiError;
use crate::extract::{Caller, OptionalJson, PathId, Standing};

/// How late an event from another node may be seen.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// How late it is noticed that whoever reads may read no more.
const ASK_AGAIN: Duration = Duration::from_secs(5);
const PART: u32 = 32;

/// Begins a thread of work that calls can be made in.
#[utoipa::path(post, path = "/api/v1/sessions", tag = "sessions", request_body = Option<CreateSessionRequest>,
    responses((status = 201, body = SessionView), (status = "default", body = ErrorBody)))]
pub(crate) async fn create_session(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    OptionalJson(body): OptionalJson<CreateSessionRequest>,
) -> Result<(StatusCode, Json<SessionView>), ApiError> {
    let session = state.app.create_session(&actor, body.labels).await?;
    Ok((StatusCode::CREATED, Json(session.into())))
}

/// Shows a session.
#[utoipa::path(get, path = "/api/v1/sessions/{id}", tag = "sessions", params(("id" = String, Path)),
    responses((status = 200, body = SessionView), (status = "default", body = ErrorBody)))]
pub(crate) async fn read_session(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
) -> Result<Json<SessionView>, ApiError> {
    Ok(Json(state.app.read_session(&actor, session_id(&id)?).await?.into()))
}

/// Streams a session's events (server-sent events), from the first or from `Last-Event-ID`, and goes on as they come.
///
/// Who reads is asked again every few seconds. When the key or the sign-in works no more, or the session may no longer
/// be seen, the last event is `end`, without an id, and `reason` in its data says which: `unauthenticated` or
/// `not_found`.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/events", tag = "sessions",
    params(("id" = String, Path),
        ("Last-Event-ID" = Option<i64>, Header, description = "the number of the last event you have")),
    responses((status = 200, content_type = "text/event-stream", body = String),
        (status = "default", body = ErrorBody)))]
pub(crate) async fn session_events(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    standing: Standing,
    PathId(id): PathId,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let session = state.app.read_session(&actor, session_id(&id)?).await?;
    let after = match headers.get("last-event-id") {
        None => 0,
        Some(value) => value
            .to_str()
            .ok()
            .and_then(|text| text.parse::<i64>().ok())
            .filter(|seq| *seq >= 0)
            .ok_or_else(|| bad("`Last-Event-ID` must be the number of an event"))?,
    };
    let closing = state.closing.clone();
    let events = follow(state, standing, session.id, after).take_until(closing.cancelled_owned());
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))).into_response())
}

/// Why this session may be read no more; none when it may. An error says that it can't be told now.
async fn lost(
    standing: &mut Standing,
    state: &ServerState,
    session: SessionId,
) -> Result<Option<&'static str>, ApiError> {
    let refused = match standing.caller(state).await {
        Ok(Caller(actor)) => match state.app.read_session(&actor, session).await {
            Ok(_) => return Ok(None),
            Err(cause) => ApiError::from(cause),
        },
        Err(refused) => refused,
    };
    match refused.status() {
        StatusCode::NOT_FOUND => Ok(Some("not_found")),
        StatusCode::UNAUTHORIZED => Ok(Some("unauthenticated")),
        _ => Err(refused),
    }
}

struct Tail {
    state: ServerState,
    /// None once the last word is said.
    standing: Option<Standing>,
    asked: Instant,
    session: SessionId,
    after: i64,
    news: broadcast::Receiver<SessionId>,
    ready: std::vec::IntoIter<toolgate_core::event::Event>,
}

fn follow(
    state: ServerState,
    standing: Standing,
    session: SessionId,
    after: i64,
) -> impl Stream<Item = Result<SseEvent, Infallible>> {
    let news = state.app.runner().watch();
    let (standing, asked, ready) = (Some(standing), Instant::now(), Vec::new().into_iter());
    let tail = Tail { state, standing, asked, session, after, news, ready };
    stream::unfold(tail, |mut tail| async move {
        loop {
            let standing = tail.standing.as_mut()?;
            if tail.asked.elapsed() >= ASK_AGAIN {
                match lost(standing, &tail.state, tail.session).await {
                    Ok(None) => tail.asked = Instant::now(),
                    Ok(Some(reason)) => {
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
            if let Some(event) = tail.ready.next() {
                tail.after = event.seq;
                let view = EventView::from(&event);
                let data = serde_json::to_string(&view).unwrap_or_default();
                let shown = SseEvent::default().id(view.seq.to_string()).event(view.kind).data(data);
                return Some((Ok(shown), tail));
            }
            match tail.state.app.session_events(tail.session, tail.after, PART).await {
                Ok(events) if !events.is_empty() => tail.ready = events.into_iter(),
                // Nothing new, or the store is away for a moment: wait for news, but not only for news.
                Ok(_) | Err(_) => wait_for_news(&mut tail.news, tail.session).await,
            }
        }
    })
}

async fn wait_for_news(news: &mut broadcast::Receiver<SessionId>, session: SessionId) {
    let _ = tokio::time::timeout(LOOK_AGAIN, async {
        loop {
            match news.recv().await {
                Ok(touched) if touched != session => {}
                Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => break,
                Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
            }
        }
    })
    .await;
}

fn session_id(text: &str) -> Result<SessionId, ApiError> {
    text.parse().map_err(|_| AppError::NotFound { what: "session" }.into())
}
