//! Links that work once, over REST.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use toolgate_api::{AcceptRequest, ErrorBody, InvitationView, rfc3339};
use toolgate_app::{Acceptance, AppError, Password, Secret};

use super::base_url;
use super::sign_in::welcome;
use super::signed_in::Arriving;
use crate::ServerState;
use crate::error::ApiError;
use crate::extract::{Caller, JsonBody, PathId};

/// Uses a set-up link or an invitation: sets your password, signs you in and sets the cookie.
#[utoipa::path(post, path = "/api/v1/auth/accept", tag = "sign-in", security(()), request_body = AcceptRequest,
    responses((status = 200, body = toolgate_api::SignedInView), (status = "default", body = ErrorBody)))]
pub(super) async fn accept(
    State(state): State<ServerState>,
    Arriving(arrival): Arriving,
    JsonBody(body): JsonBody<AcceptRequest>,
) -> Result<Response, ApiError> {
    let acceptance = Acceptance {
        token: Secret::given(&body.token.into_inner()).ok_or(AppError::TokenInvalid)?,
        login: body.login,
        password: Password::new(body.password.into_inner()),
        title: body.title,
    };
    Ok(welcome(state.app.accept(acceptance, &arrival).await?))
}

/// Makes a link by which a user chooses a password. It is shown once and works once.
#[utoipa::path(post, path = "/api/v1/principals/{id}/invite", tag = "principals", params(("id" = String, Path)),
    responses((status = 201, body = InvitationView), (status = "default", body = ErrorBody)))]
pub(super) async fn invite(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
    headers: HeaderMap,
) -> Result<(StatusCode, Json<InvitationView>), ApiError> {
    let user = id.parse().map_err(|_| AppError::NotFound { what: "principal" })?;
    let invitation = state.app.invite(&actor, &user).await?;
    let url = format!("{}/invite?token={}", base_url(&state.settings, &headers), invitation.token.reveal());
    Ok((StatusCode::CREATED, Json(InvitationView { url, expires_at: rfc3339(invitation.expires_at) })))
}
