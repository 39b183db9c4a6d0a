//! Threads of work and their live events.

use std::convert::Infallible;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event as SseEvent, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use futures::stream::{self, Stream};
use tokio::sync::broadcast;
use toolgate_api::{CreateSessionRequest, ErrorBody, EventView, SessionView};
use toolgate_app::{App, AppError};
use toolgate_core::id::SessionId;

use super::tool::bad;
use crate::ServerState;
use crate::error::ApiError;
use crate::extract::{Caller, OptionalJson, PathId};

/// How late an event from another node may be seen.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
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
#[utoipa::path(get, path = "/api/v1/sessions/{id}/events", tag = "sessions",
    params(("id" = String, Path),
        ("Last-Event-ID" = Option<i64>, Header, description = "the number of the last event you have")),
    responses((status = 200, content_type = "text/event-stream", body = String),
        (status = "default", body = ErrorBody)))]
pub(crate) async fn session_events(
    State(state): State<ServerState>,
    Caller(actor): Caller,
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
    let events =
        follow(state.app.clone(), session.id, after).take_until(state.closing.clone().cancelled_owned());
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))).into_response())
}

struct Tail {
    app: App,
    session: SessionId,
    after: i64,
    news: broadcast::Receiver<SessionId>,
    ready: std::vec::IntoIter<toolgate_core::event::Event>,
}

fn follow(app: App, session: SessionId, after: i64) -> impl Stream<Item = Result<SseEvent, Infallible>> {
    let news = app.runner().watch();
    let tail = Tail { app, session, after, news, ready: Vec::new().into_iter() };
    stream::unfold(tail, |mut tail| async move {
        loop {
            if let Some(event) = tail.ready.next() {
                tail.after = event.seq;
                let view = EventView::from(&event);
                let data = serde_json::to_string(&view).unwrap_or_default();
                let shown = SseEvent::default().id(view.seq.to_string()).event(view.kind).data(data);
                return Some((Ok(shown), tail));
            }
            match tail.app.session_events(tail.session, tail.after, PART).await {
                Ok(events) if !events.is_empty() => tail.ready = events.into_iter(),
                // Nothing new, or the store is away for a moment: wait for news, but not only for news.
                Ok(_) | Err(_) => {
                    let session = tail.session;
                    let _ = tokio::time::timeout(LOOK_AGAIN, async {
                        loop {
                            match tail.news.recv().await {
                                Ok(touched) if touched != session => {}
                                Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => break,
                                Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
                            }
                        }
                    })
                    .await;
                }
            }
        }
    })
}

fn session_id(text: &str) -> Result<SessionId, ApiError> {
    text.parse().map_err(|_| AppError::NotFound { what: "session" }.into())
}
