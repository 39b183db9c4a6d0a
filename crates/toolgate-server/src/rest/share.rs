//! Links to calls: make, list, take back. What they show is a page of its own ([`crate::auth`]).

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use toolgate_api::{ErrorBody, NewShareView, ShareListView, ShareRequest, ShareView, rfc3339};
use toolgate_app::AppError;
use toolgate_core::id::InvocationId;

use crate::ServerState;
use crate::auth::base_url;
use crate::error::ApiError;
use crate::extract::{Caller, OptionalJson, PathId};

/// Makes a link by which anyone may look at a call you may see, without signing in. For people, not for agents or
/// services.
///
/// It shows the tool, how the call stands, who made it, when, its input, its output and its error; nothing around it. It
/// ends by itself, when it is revoked, and when you may no longer see the call.
#[utoipa::path(post, path = "/api/v1/invocations/{id}/shares", tag = "shares", params(("id" = String, Path)),
    request_body(content = Option<ShareRequest>),
    responses((status = 201, body = NewShareView), (status = "default", body = ErrorBody)))]
pub(crate) async fn share_invocation(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
    headers: HeaderMap,
    OptionalJson(body): OptionalJson<ShareRequest>,
) -> Result<(StatusCode, Json<NewShareView>), ApiError> {
    let lasts = body.expires_in_seconds.map(Duration::from_secs);
    let (share, secret) = state.app.share_invocation(&actor, call(&id)?, lasts).await?;
    let view = NewShareView {
        id: share.id.to_string(),
        url: format!("{}/share/{}", base_url(&state.settings, &headers), secret.reveal()),
        expires_at: rfc3339(share.expires_at),
    };
    Ok((StatusCode::CREATED, Json(view)))
}

/// Lists the links to a call that still work, newest first.
#[utoipa::path(get, path = "/api/v1/invocations/{id}/shares", tag = "shares", params(("id" = String, Path)),
    responses((status = 200, body = ShareListView), (status = "default", body = ErrorBody)))]
pub(crate) async fn list_shares(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
) -> Result<Json<ShareListView>, ApiError> {
    let shares = state.app.list_shares(&actor, call(&id)?).await?;
    Ok(Json(ShareListView { shares: shares.iter().map(ShareView::from).collect() }))
}

/// Takes a link back, at once: one you made, or one to a call of yours.
#[utoipa::path(delete, path = "/api/v1/shares/{id}", tag = "shares", params(("id" = String, Path)),
    responses((status = 204), (status = "default", body = ErrorBody)))]
pub(crate) async fn revoke_share(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
) -> Result<StatusCode, ApiError> {
    let id = id.parse().map_err(|_| AppError::NotFound { what: "share" })?;
    state.app.revoke_share(&actor, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn call(text: &str) -> Result<InvocationId, ApiError> {
    // An id that can't exist is a call that does not exist.
    text.parse().map_err(|_| AppError::NotFound { what: "invocation" }.into())
}
