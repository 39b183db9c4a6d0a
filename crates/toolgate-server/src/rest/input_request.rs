//! Questions put to people by a link: what is asked, and the answer. The link is the permission.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use toolgate_api::{AnswerInputRequest, ErrorBody, InputRequestView, rfc3339};

use crate::ServerState;
use crate::auth::Peer;
use crate::error::ApiError;
use crate::extract::{JsonBody, PathId};

/// Shows what a link asks.
#[utoipa::path(get, path = "/api/v1/input-requests/{token}", tag = "input requests", security(()),
    params(("token" = String, Path)),
    responses((status = 200, body = InputRequestView), (status = "default", body = ErrorBody)))]
pub(crate) async fn read_input_request(
    State(state): State<ServerState>,
    Peer(peer): Peer,
    PathId(token): PathId,
) -> Result<Json<InputRequestView>, ApiError> {
    let open = state.app.read_input_request(&token, peer).await?;
    let request = serde_json::to_value(&open.request).unwrap_or_default();
    Ok(Json(InputRequestView { request, expires_at: rfc3339(open.expires_at), server: open.server }))
}

/// Answers a link, once, or declines to. An answer that does not fit can be mended and sent again.
#[utoipa::path(post, path = "/api/v1/input-requests/{token}", tag = "input requests", security(()),
    params(("token" = String, Path)), request_body = AnswerInputRequest,
    responses((status = 204), (status = "default", body = ErrorBody)))]
pub(crate) async fn answer_input_request(
    State(state): State<ServerState>,
    Peer(peer): Peer,
    PathId(token): PathId,
    JsonBody(body): JsonBody<AnswerInputRequest>,
) -> Result<StatusCode, ApiError> {
    match body.declined {
        true => state.app.decline_input_request(&token, peer).await?,
        false => state.app.answer_input_request(&token, &body.answer, peer).await?,
    }
    Ok(StatusCode::NO_CONTENT)
}
