//! Refusals at this door: a JSON-RPC error with our own code and hint, and the HTTP status that fits.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use toolgate_mcp::{Id, RpcError};

use crate::error::ApiError;

/// A JSON-RPC error as a response.
pub(super) fn rpc(error: &RpcError, id: Option<&Id>) -> Response {
    let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, [(header::CONTENT_TYPE, "application/json")], error.to_message(id)).into_response()
}

/// A refusal of the door itself.
pub(super) fn door(status: StatusCode, ours: &str, message: &str, hint: &str) -> Response {
    let error = RpcError::coded(RpcError::INVALID_REQUEST, ours, message, hint).with_status(status.as_u16());
    rpc(&error, None)
}

/// A refusal made for REST, in the words of this door.
pub(super) fn api(refused: ApiError) -> Response {
    let view = refused.view();
    let hint = view.hint.as_deref().unwrap_or("see the page of this code");
    let code =
        if refused.status().is_server_error() { RpcError::INTERNAL } else { RpcError::INVALID_REQUEST };
    let error = RpcError::coded(code, &view.code, view.message.clone(), hint);
    let body = error.with_status(refused.status().as_u16());
    // Headers such as `Retry-After` say the same at every door.
    let headers = refused.into_response().headers().clone();
    let mut response = rpc(&body, None);
    for (name, value) in &headers {
        if *name != header::CONTENT_TYPE && *name != header::CONTENT_LENGTH {
            response.headers_mut().insert(name, value.clone());
        }
    }
    response
}

/// This address takes no such method.
pub(super) fn method_not_allowed() -> Response {
    let mut response = door(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        "this address does not take this method here",
        "send messages with POST",
    );
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
    response
}

/// There is no such endpoint for this caller.
pub(super) fn no_endpoint(id: Option<&Id>) -> Response {
    let error = RpcError::coded(
        RpcError::INVALID_REQUEST,
        "not_found",
        "there is no such toolset, or nothing in it that you may use",
        "use `/mcp` for all tools you may use, or check the name",
    );
    rpc(&error.with_status(404), id)
}

/// There is no such session for this caller.
pub(super) fn no_session(id: Option<&Id>) -> Response {
    let error = RpcError::coded(
        RpcError::INVALID_REQUEST,
        "not_found",
        "there is no such session, or not any more",
        "begin a new one with `initialize`",
    );
    rpc(&error.with_status(404), id)
}
