//! POST: one message in, its answer out; or several, where the version has that.

use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::stream;
use toolgate_core::{Actor, Timestamp};
use toolgate_mcp::{
    Client, Id, MODERN, Message, Notification, RpcError, Selection, Told, is_batch, is_modern,
    legacy_version, modern_client, result_message, unsupported,
};

use super::accept::Accepts;
use super::job::{HttpHeaders, Job};
use super::session::{self, Named};
use super::sse::sse_of;
use super::{batch, caller, refuse};
use crate::ServerState;
use crate::extract::{check_json, read_body};

const VERSION: &str = "mcp-protocol-version";
/// What a client speaks that has a session and no word on its version.
const ASSUMED: &str = "2025-03-26";

/// What came, but for what it says.
pub(super) struct Came {
    pub(super) state: ServerState,
    pub(super) parts: Parts,
    pub(super) actor: Actor,
    pub(super) began: Timestamp,
}

/// Takes what comes.
pub(super) async fn post(State(state): State<ServerState>, request: Request) -> Response {
    let began = state.app.runner().parts().clock.now();
    let (parts, body) = request.into_parts();
    let actor = match caller::of(&state, &parts).await {
        Ok(actor) => actor,
        Err(refused) => return refused,
    };
    if let Err(refused) = check_json(parts.headers.get(header::CONTENT_TYPE)) {
        return refuse::api(refused);
    }
    let accepts = Accepts::of(&parts.headers);
    if !accepts.json && !accepts.stream {
        return refuse::door(
            StatusCode::NOT_ACCEPTABLE,
            "bad_request",
            "answers are JSON or a stream of events",
            "send `Accept: application/json, text/event-stream`",
        );
    }
    let bytes = match read_body(&parts.headers, body, &state).await {
        Ok(bytes) => bytes,
        Err(refused) => return refuse::api(refused),
    };
    if is_batch(&bytes) {
        return batch::take(Came { state, parts, actor, began }, &bytes, accepts).await;
    }
    let message = match Message::parse(&bytes) {
        Ok(message) => message,
        Err(malformed) => return refuse::rpc(&malformed.error, malformed.id.as_ref()),
    };
    let id = match &message {
        Message::Request(request) => Some(request.id.clone()),
        Message::Notification(_) | Message::Response(_) => None,
    };
    let selection = match selection(&state, &parts, &actor).await {
        Ok(Some(selection)) => selection,
        Ok(None) => return refuse::no_endpoint(id.as_ref()),
        Err(cause) => return refuse::api(cause.into()),
    };
    // Requests of either era have more to say on it, and are asked for that.
    if id.is_none()
        && let Err(error) = version(&parts.headers)
    {
        return refuse::rpc(&error, None);
    }
    let headers = HttpHeaders(&parts.headers);
    match message {
        Message::Request(request) if is_modern(&request, Some(&headers)) => {
            let client = match modern_client(&request, Some(&headers)) {
                Ok(client) => client,
                Err(error) => return refuse::rpc(&error, Some(&request.id)),
            };
            Job { state, parts, actor, client, began, session: None, selection }
                .answer(request, accepts)
                .await
        }
        Message::Request(request) if request.method == "initialize" => {
            initialize(&state, &actor, &request, accepts)
        }
        Message::Request(request) => {
            let (client, session) = match legacy(&state, &parts.headers, &actor, Some(&request.id)).await {
                Ok(known) => known,
                Err(refused) => return refused,
            };
            Job { state, parts, actor, client, began, session, selection }.answer(request, accepts).await
        }
        Message::Notification(notification) => {
            if let Named::Unknown = session::named(&state, &parts.headers, &actor).await {
                return refuse::no_session(None);
            }
            notice(&state, &parts.headers, &actor, &notification).await;
            StatusCode::ACCEPTED.into_response()
        }
        Message::Response(response) => {
            if let Named::Unknown = session::named(&state, &parts.headers, &actor).await {
                return refuse::no_session(None);
            }
            state.mcp.gate.take_response(&actor, response).await;
            StatusCode::ACCEPTED.into_response()
        }
    }
}

/// The tools that the address names; none where there is no such endpoint for this caller.
pub(super) async fn selection(
    state: &ServerState,
    parts: &Parts,
    actor: &Actor,
) -> Result<Option<Selection>, toolgate_app::AppError> {
    if state.settings.fixtures.is_some() {
        return Ok(Some(Selection::Fixtures));
    }
    match parts.uri.path().strip_prefix("/mcp/") {
        None => Ok(Some(Selection::Everything)),
        Some(name) => state.mcp.plane.endpoint(actor, name).await,
    }
}

fn initialize(
    state: &ServerState,
    actor: &Actor,
    request: &toolgate_mcp::Request,
    accepts: Accepts,
) -> Response {
    let gate = &state.mcp.gate;
    let opening = match gate.initialize(actor, request) {
        Ok(opening) => opening,
        Err(error) => return refuse::rpc(&error, Some(&request.id)),
    };
    let id = opening.session.id(gate.sealer()).ok().and_then(|id| HeaderValue::from_str(&id).ok());
    let Some(id) = id else {
        let hint = "whoever runs this server finds the cause in its log";
        let error = RpcError::coded(RpcError::INTERNAL, "internal", "no session could be begun", hint);
        return refuse::rpc(&error.with_status(500), Some(&request.id));
    };
    let body = result_message(&request.id, &opening.result);
    let mut response = match accepts.json {
        true => ([(header::CONTENT_TYPE, "application/json")], body).into_response(),
        false => sse_of(stream::iter([Told { message: Some(body), ..Told::default() }])),
    };
    response.headers_mut().insert(session::HEADER, id);
    response
}

/// The client of a request of the handshake era, and its session. One without a session is served as one of whom
/// nothing is known.
pub(super) async fn legacy(
    state: &ServerState,
    headers: &HeaderMap,
    actor: &Actor,
    id: Option<&Id>,
) -> Result<(Client, Option<String>), Response> {
    let version = version(headers).map_err(|error| refuse::rpc(&error, id))?;
    match session::named(state, headers, actor).await {
        Named::Unknown => Err(refuse::no_session(id)),
        Named::Nothing => Ok((Client::unknown(version), None)),
        Named::Open { id, session } => Ok((session.client(), Some(id))),
    }
}

/// The version that a header names; one that is not spoken here is an error.
fn version(headers: &HeaderMap) -> Result<&'static str, RpcError> {
    match headers.get(VERSION).map(|value| value.to_str().unwrap_or_default()) {
        // A notification or response of the modern era has no `_meta` to know it by.
        None | Some(MODERN) => Ok(ASSUMED),
        Some(text) => legacy_version(text).ok_or_else(|| unsupported(text)),
    }
}

/// What a client lets us know.
pub(super) async fn notice(
    state: &ServerState,
    headers: &HeaderMap,
    actor: &Actor,
    notification: &Notification,
) {
    if notification.method != "notifications/cancelled" {
        return;
    }
    let session = headers.get(session::HEADER).and_then(|value| value.to_str().ok());
    if let (Some(session), Some(request)) = (session, notification.params.get("requestId")) {
        state.mcp.gate.cancel(actor, session, request).await;
    }
}
