//! Signing in and out, over REST.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use toolgate_api::{
    ChangePasswordRequest, ErrorBody, IdentityProviderView, SignInListView, SignInMethodsView, SignInRequest,
    SignInView, SignedInView, rfc3339,
};
use toolgate_app::{AppError, Password, SignInMethods, SignedIn};
use utoipa::IntoParams;

use super::cookie::SIGN_IN;
use super::csrf;
use super::signed_in::{Arriving, SignedInCaller};
use crate::ServerState;
use crate::error::ApiError;
use crate::extract::{JsonBody, PathId};
use crate::rest::query;

pub(super) const DEFAULT_TENANT: &str = "default";

/// Signs a person in and sets the cookie. Whatever was wrong, the answer is the same.
#[utoipa::path(post, path = "/api/v1/auth/sign-in", tag = "sign-in", security(()), request_body = SignInRequest,
    responses((status = 200, body = SignedInView), (status = "default", body = ErrorBody)))]
pub(super) async fn sign_in(
    State(state): State<ServerState>,
    Arriving(arrival): Arriving,
    JsonBody(body): JsonBody<SignInRequest>,
) -> Result<Response, ApiError> {
    let tenant = body.tenant.as_deref().unwrap_or(DEFAULT_TENANT);
    let password = Password::new(body.password.into_inner());
    let signed_in = state.app.sign_in(tenant, &body.login, password, &arrival).await?;
    Ok(welcome(signed_in))
}

/// Signs this browser out.
#[utoipa::path(post, path = "/api/v1/auth/sign-out", tag = "sign-in", security(("sign_in" = [])),
    responses((status = 204), (status = "default", body = ErrorBody)))]
pub(super) async fn sign_out(
    State(state): State<ServerState>,
    caller: SignedInCaller,
) -> Result<Response, ApiError> {
    state.app.end_cookie(&caller.cookie).await?;
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, SIGN_IN.clear())]).into_response())
}

/// Says who is signed in with this browser.
#[utoipa::path(get, path = "/api/v1/auth/session", tag = "sign-in", security(("sign_in" = [])),
    responses((status = 200, body = SignedInView), (status = "default", body = ErrorBody)))]
pub(super) async fn read_sign_in(caller: SignedInCaller) -> Json<SignedInView> {
    Json(SignedInView {
        id: caller.sign_in.id.to_string(),
        principal: caller.actor.principal.to_string(),
        tenant: caller.actor.tenant.to_string(),
        roles: caller.actor.roles.to_vec(),
        method: caller.sign_in.method,
        csrf_token: csrf::token(&caller.cookie),
        created_at: rfc3339(caller.sign_in.created_at),
        expires_at: rfc3339(caller.sign_in.expires_at),
    })
}

/// Lists your own sign-ins, newest first.
#[utoipa::path(get, path = "/api/v1/auth/sign-ins", tag = "sign-in", security(("sign_in" = [])),
    responses((status = 200, body = SignInListView), (status = "default", body = ErrorBody)))]
pub(super) async fn list_sign_ins(
    State(state): State<ServerState>,
    caller: SignedInCaller,
) -> Result<Json<SignInListView>, ApiError> {
    let all = state.app.own_sign_ins(&caller.actor).await?;
    let view = |sign_in: toolgate_core::principal::SignIn| {
        let current = sign_in.id == caller.sign_in.id;
        SignInView::new(sign_in, current)
    };
    Ok(Json(SignInListView { sign_ins: all.into_iter().map(view).collect() }))
}

/// Ends one of your own sign-ins, such as one in a browser you lost.
#[utoipa::path(delete, path = "/api/v1/auth/sign-ins/{id}", tag = "sign-in", security(("sign_in" = [])),
    params(("id" = String, Path)), responses((status = 204), (status = "default", body = ErrorBody)))]
pub(super) async fn end_sign_in(
    State(state): State<ServerState>,
    caller: SignedInCaller,
    PathId(id): PathId,
) -> Result<StatusCode, ApiError> {
    let id = id.parse().map_err(|_| AppError::NotFound { what: "sign-in" })?;
    state.app.end_own_sign_in(&caller.actor, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Changes your own password and ends all your other sign-ins.
#[utoipa::path(post, path = "/api/v1/auth/password", tag = "sign-in", security(("sign_in" = [])),
    request_body = ChangePasswordRequest,
    responses((status = 204), (status = "default", body = ErrorBody)))]
pub(super) async fn change_password(
    State(state): State<ServerState>,
    caller: SignedInCaller,
    JsonBody(body): JsonBody<ChangePasswordRequest>,
) -> Result<StatusCode, ApiError> {
    let (current, new) = (Password::new(body.current.into_inner()), Password::new(body.new.into_inner()));
    state.app.change_password(&caller.actor, current, new).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct OfTenant {
    /// Which tenant; `default` when it is left out.
    #[param(pattern = "^[a-z0-9][a-z0-9-]{0,62}$")]
    tenant: Option<String>,
}

/// Says how people sign in to a tenant.
#[utoipa::path(get, path = "/api/v1/auth/methods", tag = "sign-in", security(()), params(OfTenant),
    responses((status = 200, body = SignInMethodsView), (status = "default", body = ErrorBody)))]
pub(super) async fn sign_in_methods(
    State(state): State<ServerState>,
    of: Result<Query<OfTenant>, QueryRejection>,
) -> Result<Json<SignInMethodsView>, ApiError> {
    let tenant = query(of)?.tenant;
    let methods = state.app.sign_in_methods(tenant.as_deref().unwrap_or(DEFAULT_TENANT)).await?;
    Ok(Json(show_methods(methods)))
}

pub(super) fn show_methods(methods: SignInMethods) -> SignInMethodsView {
    let provider = |(name, title): (String, String)| IdentityProviderView {
        start: format!("/auth/oidc/{name}/start"),
        name,
        title,
    };
    SignInMethodsView {
        password: methods.password,
        providers: methods.providers.into_iter().map(provider).collect(),
        set_up_needed: methods.set_up_needed,
    }
}

/// Answers someone who just signed in.
pub(super) fn welcome(signed_in: SignedIn) -> Response {
    let mut roles: Vec<String> = signed_in.principal.roles.iter().map(ToString::to_string).collect();
    roles.sort();
    let view = SignedInView {
        id: signed_in.sign_in.id.to_string(),
        principal: signed_in.principal.id.to_string(),
        tenant: signed_in.principal.tenant.to_string(),
        roles,
        method: signed_in.sign_in.method,
        csrf_token: csrf::token(&signed_in.cookie),
        created_at: rfc3339(signed_in.sign_in.created_at),
        expires_at: rfc3339(signed_in.sign_in.expires_at),
    };
    ([(header::SET_COOKIE, SIGN_IN.set(&signed_in.cookie))], Json(view)).into_response()
}
