//! Users, agents and services: list, make, read, change.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde::Deserialize;
use toolgate_api::{
    CreatePrincipalRequest, ErrorBody, PrincipalListView, PrincipalView, UpdatePrincipalRequest,
};
use toolgate_app::{AppError, NewPrincipal, PrincipalChange};
use toolgate_core::id::{PrincipalId, PrincipalKind, Slug};
use utoipa::IntoParams;

use super::document::patterns;
use super::tool::{bad, limit, parse_id, query};
use crate::ServerState;
use crate::error::ApiError;
use crate::extract::{Caller, JsonBody, PathId};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct PrincipalPage {
    /// Of one kind.
    #[param(pattern = "^(user|agent|service)$")]
    kind: Option<String>,
    /// Where the page starts, from `next_cursor` of the one before.
    #[param(pattern = "^(user|agent|service):[A-Za-z0-9_.@+/:-]{1,128}$")]
    cursor: Option<String>,
    /// How many, from 1 to 1,000.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// Lists the users, agents and services of your tenant, ordered by id.
#[utoipa::path(get, path = "/api/v1/principals", tag = "principals", params(PrincipalPage),
    responses((status = 200, body = PrincipalListView), (status = "default", body = ErrorBody)))]
pub(crate) async fn list_principals(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    page: Result<Query<PrincipalPage>, QueryRejection>,
) -> Result<Json<PrincipalListView>, ApiError> {
    let page = query(page)?;
    let kind = page.kind.as_deref().map(kind).transpose()?;
    let after = page.cursor.map(|id| parse_id(&id, "cursor")).transpose()?;
    let (found, next) = state.app.list_principals(&actor, kind, after, limit(page.limit, 200)?).await?;
    Ok(Json(PrincipalListView {
        principals: found.into_iter().map(PrincipalView::from).collect(),
        next_cursor: next.map(|id| id.to_string()),
    }))
}

/// Makes a user, agent or service. It can't be given roles or access rules that you do not hold yourself.
#[utoipa::path(post, path = "/api/v1/principals", tag = "principals", request_body = CreatePrincipalRequest,
    responses((status = 201, body = PrincipalView), (status = "default", body = ErrorBody)))]
pub(crate) async fn create_principal(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    JsonBody(body): JsonBody<CreatePrincipalRequest>,
) -> Result<(StatusCode, Json<PrincipalView>), ApiError> {
    let new = NewPrincipal {
        id: parse_id(&body.id, "id")?,
        title: body.title,
        roles: roles(&body.roles)?,
        rules: body.rules,
        acts_for: patterns(&body.acts_for, "acts_for")?,
    };
    let principal = state.app.create_principal(&actor, new).await?;
    Ok((StatusCode::CREATED, Json(principal.into())))
}

/// Shows a principal: yourself, or any for managers of `principals`.
#[utoipa::path(get, path = "/api/v1/principals/{id}", tag = "principals", params(("id" = String, Path)),
    responses((status = 200, body = PrincipalView), (status = "default", body = ErrorBody)))]
pub(crate) async fn read_principal(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
) -> Result<Json<PrincipalView>, ApiError> {
    Ok(Json(state.app.read_principal(&actor, &principal_id(&id)?).await?.into()))
}

/// Changes a principal. With `disabled`, its keys stop working and its sign-ins end; principals are never removed, as
/// the record speaks of them.
#[utoipa::path(patch, path = "/api/v1/principals/{id}", tag = "principals", params(("id" = String, Path)),
    request_body = UpdatePrincipalRequest,
    responses((status = 200, body = PrincipalView), (status = "default", body = ErrorBody)))]
pub(crate) async fn update_principal(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
    JsonBody(body): JsonBody<UpdatePrincipalRequest>,
) -> Result<Json<PrincipalView>, ApiError> {
    let wanted = PrincipalChange {
        title: body.title,
        roles: body.roles.as_deref().map(roles).transpose()?,
        rules: body.rules,
        acts_for: body.acts_for.as_deref().map(|texts| patterns(texts, "acts_for")).transpose()?,
        disabled: body.disabled,
    };
    Ok(Json(state.app.update_principal(&actor, &principal_id(&id)?, wanted).await?.into()))
}

fn kind(word: &str) -> Result<PrincipalKind, ApiError> {
    match word {
        "user" => Ok(PrincipalKind::User),
        "agent" => Ok(PrincipalKind::Agent),
        "service" => Ok(PrincipalKind::Service),
        _ => Err(bad("`kind` must be `user`, `agent` or `service`")),
    }
}

fn roles(names: &[String]) -> Result<Vec<Slug>, ApiError> {
    names.iter().map(|name| parse_id(name, "roles")).collect()
}

fn principal_id(text: &str) -> Result<PrincipalId, ApiError> {
    text.parse().map_err(|_| AppError::NotFound { what: "principal" }.into())
}
