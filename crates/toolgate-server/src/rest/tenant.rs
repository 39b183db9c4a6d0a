//! Tenants: list, make, read, change, recover.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde::Deserialize;
use toolgate_api::{
    CreateTenantRequest, ErrorBody, TenantCreatedView, TenantListView, TenantView, UpdateTenantRequest,
};
use toolgate_app::{AppError, TenantChange};
use toolgate_core::id::TenantId;
use utoipa::IntoParams;

use super::tool::{limit, parse_id, query};
use crate::ServerState;
use crate::error::ApiError;
use crate::extract::{Caller, JsonBody, PathId};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct TenantPage {
    /// Where the page starts, from `next_cursor` of the one before.
    #[param(pattern = "^[a-z0-9][a-z0-9-]{0,62}$")]
    cursor: Option<String>,
    /// How many, from 1 to 1,000.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// Lists the tenants of this server, ordered by id. Only for managers of `tenants` in the default tenant.
#[utoipa::path(get, path = "/api/v1/tenants", tag = "tenants", params(TenantPage),
    responses((status = 200, body = TenantListView), (status = "default", body = ErrorBody)))]
pub(crate) async fn list_tenants(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    page: Result<Query<TenantPage>, QueryRejection>,
) -> Result<Json<TenantListView>, ApiError> {
    let page = query(page)?;
    let after = page.cursor.map(|id| parse_id(&id, "cursor")).transpose()?;
    let (found, next) = state.app.list_tenants(&actor, after, limit(page.limit, 200)?).await?;
    Ok(Json(TenantListView {
        tenants: found.into_iter().map(TenantView::from).collect(),
        next_cursor: next.map(|id| id.to_string()),
    }))
}

/// Makes a tenant with its first administrator, `user:admin`. The answer holds a key for them, shown this once.
#[utoipa::path(post, path = "/api/v1/tenants", tag = "tenants", request_body = CreateTenantRequest,
    responses((status = 201, body = TenantCreatedView), (status = "default", body = ErrorBody)))]
pub(crate) async fn create_tenant(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    JsonBody(body): JsonBody<CreateTenantRequest>,
) -> Result<(StatusCode, Json<TenantCreatedView>), ApiError> {
    let id = parse_id(&body.id, "id")?;
    let (tenant, key) = state.app.create_tenant(&actor, id, body.title.as_deref()).await?;
    let view = TenantCreatedView { tenant: tenant.into(), admin_key: key.reveal().to_owned() };
    Ok((StatusCode::CREATED, Json(view)))
}

/// Shows a tenant: your own, or any for managers of `tenants` in the default tenant.
#[utoipa::path(get, path = "/api/v1/tenants/{id}", tag = "tenants", params(("id" = String, Path)),
    responses((status = 200, body = TenantView), (status = "default", body = ErrorBody)))]
pub(crate) async fn read_tenant(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
) -> Result<Json<TenantView>, ApiError> {
    Ok(Json(state.app.read_tenant(&actor, &tenant_id(&id)?).await?.into()))
}

/// Changes what a tenant is called, or switches it off: nobody gets in then. The default tenant can't be switched off.
#[utoipa::path(patch, path = "/api/v1/tenants/{id}", tag = "tenants", params(("id" = String, Path)),
    request_body = UpdateTenantRequest,
    responses((status = 200, body = TenantView), (status = "default", body = ErrorBody)))]
pub(crate) async fn update_tenant(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
    JsonBody(body): JsonBody<UpdateTenantRequest>,
) -> Result<Json<TenantView>, ApiError> {
    let wanted = TenantChange { title: body.title, disabled: body.disabled };
    Ok(Json(state.app.update_tenant(&actor, &tenant_id(&id)?, wanted).await?.into()))
}

/// Lets a tenant in again whose keys are lost: makes a key for its `user:admin`, shown this once.
///
/// That user is switched on and made an administrator if need be. Earlier keys go on working. The default tenant can't be
/// recovered this way.
#[utoipa::path(post, path = "/api/v1/tenants/{id}/recover", tag = "tenants", params(("id" = String, Path)),
    responses((status = 201, body = TenantCreatedView), (status = "default", body = ErrorBody)))]
pub(crate) async fn recover_tenant(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
) -> Result<(StatusCode, Json<TenantCreatedView>), ApiError> {
    let (tenant, key) = state.app.recover_tenant(&actor, &tenant_id(&id)?).await?;
    let view = TenantCreatedView { tenant: tenant.into(), admin_key: key.reveal().to_owned() };
    Ok((StatusCode::CREATED, Json(view)))
}

fn tenant_id(text: &str) -> Result<TenantId, ApiError> {
    text.parse().map_err(|_| AppError::NotFound { what: "tenant" }.into())
}
