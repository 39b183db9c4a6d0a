//! Sessions of the handshake era at this door: opened from their id, and ended for good by DELETE.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use toolgate_core::Actor;
use toolgate_core::json::digest;
use toolgate_mcp::{Plane, Session};

use super::{caller, refuse};
use crate::ServerState;

pub(super) const HEADER: &str = "mcp-session-id";
/// How late it is seen that another node ended a session.
const FRESH: Duration = Duration::from_secs(5);
const MOST: usize = 50_000;

/// What is known of which sessions go on.
#[derive(Debug, Default)]
pub(super) struct EndedSessions(Mutex<HashMap<[u8; 32], Seen>>);

#[derive(Debug, Clone, Copy)]
enum Seen {
    Going(Instant),
    Ended,
}

impl EndedSessions {
    fn seen(&self, key: &[u8; 32]) -> Option<Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).copied()
    }

    fn note(&self, key: [u8; 32], seen: Seen) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(key, seen);
    }
}

/// The session that a request names.
pub(super) enum Named {
    /// None.
    Nothing,
    /// This one, of this caller's, which goes on.
    Open { id: String, session: Box<Session> },
    /// One that is not, or not this caller's, or over.
    Unknown,
}

/// The session that a request names.
pub(super) async fn named(state: &ServerState, headers: &HeaderMap, actor: &Actor) -> Named {
    let Some(value) = headers.get(HEADER) else { return Named::Nothing };
    let Ok(id) = value.to_str() else { return Named::Unknown };
    let now = state.mcp.plane.now();
    let Some(session) = Session::open(state.mcp.gate.sealer(), id, actor, now) else { return Named::Unknown };
    let key = digest(id.as_bytes());
    match state.mcp.ended.seen(&key) {
        Some(Seen::Ended) => return Named::Unknown,
        Some(Seen::Going(at)) if at.elapsed() < FRESH => {}
        _ => match state.app.mcp_session_ended(id).await {
            Ok(true) => {
                state.mcp.ended.note(key, Seen::Ended);
                return Named::Unknown;
            }
            // A store that is away stops the call itself; whether the session goes on is the lesser question.
            Ok(false) | Err(_) => state.mcp.ended.note(key, Seen::Going(Instant::now())),
        },
    }
    Named::Open { id: id.to_owned(), session: Box::new(session) }
}

/// Ends a session.
pub(super) async fn delete(State(state): State<ServerState>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let actor = match caller::of(&state, &parts).await {
        Ok(actor) => actor,
        Err(refused) => return refused,
    };
    match named(&state, &parts.headers, &actor).await {
        Named::Nothing => refuse::method_not_allowed(),
        Named::Unknown => refuse::no_session(None),
        Named::Open { id, .. } => match state.app.end_mcp_session(&actor, &id).await {
            Ok(()) => {
                state.mcp.ended.note(digest(id.as_bytes()), Seen::Ended);
                // Some clients take nothing else for a yes.
                StatusCode::OK.into_response()
            }
            Err(cause) => refuse::api(cause.into()),
        },
    }
}
