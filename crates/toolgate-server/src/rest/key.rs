//! Keys: list, make, read, revoke, rotate. The key itself is shown once, in the answer that makes it.

use std::time::Duration;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde::Deserialize;
use toolgate_api::{CreateKeyRequest, ErrorBody, KeyListView, KeyView, NewKeyView, RotateKeyRequest};
use toolgate_app::{ApiKeySecret, AppError, KeyEnd, NewKey};
use toolgate_core::Timestamp;
use toolgate_core::id::ApiKeyId;
use toolgate_core::principal::ApiKey;
use toolgate_core::scope::{Scope, Scopes};
use utoipa::IntoParams;

use super::tool::{bad, limit, parse_id, query};
use crate::ServerState;
use crate::error::ApiError;
use crate::extract::{Caller, JsonBody, OptionalJson, PathId};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyPage {
    /// Of one principal.
    #[param(pattern = "^(user|agent|service):[A-Za-z0-9_.@+/:-]{1,128}$")]
    principal: Option<String>,
    /// Where the page starts, from `next_cursor` of the one before.
    #[param(pattern = "^key_[0-9a-f]{32}$")]
    cursor: Option<String>,
    /// How many, from 1 to 1,000.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// Lists keys, oldest first, without the keys themselves: your own, or all for managers of `keys`. Of an agent or
/// service that works for you, those keys that do.
#[utoipa::path(get, path = "/api/v1/keys", tag = "keys", params(KeyPage),
    responses((status = 200, body = KeyListView), (status = "default", body = ErrorBody)))]
pub(crate) async fn list_keys(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    page: Result<Query<KeyPage>, QueryRejection>,
) -> Result<Json<KeyListView>, ApiError> {
    let page = query(page)?;
    let principal = page.principal.map(|id| parse_id(&id, "principal")).transpose()?;
    let after = page.cursor.map(|id| parse_id(&id, "cursor")).transpose()?;
    let (found, next) = state.app.list_keys(&actor, principal, after, limit(page.limit, 200)?).await?;
    let now = now(&state);
    Ok(Json(KeyListView {
        keys: found.into_iter().map(|key| KeyView::at(key, now)).collect(),
        next_cursor: next.map(|id| id.to_string()),
    }))
}

/// Makes a key for yourself, or for another principal if you manage `keys` and could do all it can do. The secret is
/// shown this once.
#[utoipa::path(post, path = "/api/v1/keys", tag = "keys", request_body = CreateKeyRequest,
    responses((status = 201, body = NewKeyView), (status = "default", body = ErrorBody)))]
pub(crate) async fn create_key(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    JsonBody(body): JsonBody<CreateKeyRequest>,
) -> Result<(StatusCode, Json<NewKeyView>), ApiError> {
    let new = NewKey {
        principal: body.principal.as_deref().map(|id| parse_id(id, "principal")).transpose()?,
        label: body.label,
        scopes: scopes(&body.scopes)?,
        ends: ends(body.expires_in_seconds, body.expires_at.as_deref())?,
        on_behalf: body.on_behalf,
    };
    let made = state.app.create_key(&actor, new).await?;
    Ok(shown_once(&state, made))
}

/// Shows a key without the key itself.
#[utoipa::path(get, path = "/api/v1/keys/{id}", tag = "keys", params(("id" = String, Path)),
    responses((status = 200, body = KeyView), (status = "default", body = ErrorBody)))]
pub(crate) async fn read_key(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
) -> Result<Json<KeyView>, ApiError> {
    let key = state.app.read_key(&actor, key_id(&id)?).await?;
    Ok(Json(KeyView::at(key, now(&state))))
}

/// Revokes a key and every key that came from it by rotation: they stop working at once, on every node within a
/// second.
#[utoipa::path(delete, path = "/api/v1/keys/{id}", tag = "keys", params(("id" = String, Path)),
    responses((status = 200, body = KeyView), (status = "default", body = ErrorBody)))]
pub(crate) async fn revoke_key(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
) -> Result<Json<KeyView>, ApiError> {
    let key = state.app.revoke_key(&actor, key_id(&id)?).await?;
    Ok(Json(KeyView::at(key, now(&state))))
}

/// Makes a new key in the place of an old one, with the same principal, scopes and end. The old one works for
/// `overlap_seconds` more. The new secret is shown this once. Each key is rotated once; rotate the new one next.
#[utoipa::path(post, path = "/api/v1/keys/{id}/rotate", tag = "keys", params(("id" = String, Path)),
    request_body(content = Option<RotateKeyRequest>),
    responses((status = 201, body = NewKeyView), (status = "default", body = ErrorBody)))]
pub(crate) async fn rotate_key(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
    OptionalJson(body): OptionalJson<RotateKeyRequest>,
) -> Result<(StatusCode, Json<NewKeyView>), ApiError> {
    let overlap = Duration::from_secs(body.overlap_seconds);
    let made = state.app.rotate_key(&actor, key_id(&id)?, overlap).await?;
    Ok(shown_once(&state, made))
}

fn shown_once(state: &ServerState, (key, secret): (ApiKey, ApiKeySecret)) -> (StatusCode, Json<NewKeyView>) {
    let key = KeyView::at(key, now(state));
    (StatusCode::CREATED, Json(NewKeyView { key, secret: secret.reveal().to_owned() }))
}

fn now(state: &ServerState) -> Timestamp {
    state.app.runner().parts().clock.now()
}

fn scopes(texts: &[String]) -> Result<Scopes, ApiError> {
    let scopes: Result<Vec<Scope>, ApiError> = texts.iter().map(|text| parse_id(text, "scopes")).collect();
    scopes.map(Scopes::new)
}

fn ends(seconds: Option<u64>, at: Option<&str>) -> Result<KeyEnd, ApiError> {
    match (seconds, at) {
        (None, None) => Ok(KeyEnd::Never),
        (Some(seconds), None) => Ok(KeyEnd::After(Duration::from_secs(seconds))),
        (None, Some(text)) => text
            .parse::<jiff::Timestamp>()
            .map(|at| KeyEnd::At(Timestamp::from_micros(at.as_microsecond())))
            .map_err(|_| bad("`expires_at` must be a moment such as 2026-01-31T12:00:00Z")),
        (Some(_), Some(_)) => Err(bad("send `expires_in_seconds` or `expires_at`, not both")),
    }
}

fn key_id(text: &str) -> Result<ApiKeyId, ApiError> {
    text.parse().map_err(|_| AppError::NotFound { what: "key" }.into())
}
