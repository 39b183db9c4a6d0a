//! Links between this tenant's users and those of others: list, end.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde::Deserialize;
use toolgate_api::{ErrorBody, TenantLinkListView, TenantLinkView};
use toolgate_app::AppError;
use utoipa::IntoParams;

use super::tool::{limit, parse_id, query};
use crate::ServerState;
use crate::error::ApiError;
use crate::extract::{Caller, PathId};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct TenantLinkPage {
    /// Of one user.
    #[param(pattern = "^user:[A-Za-z0-9_.@+/:-]{1,128}$")]
    principal: Option<String>,
    /// Where the page starts, from `next_cursor` of the one before.
    #[param(pattern = "^lnk_[0-9a-f]{32}$")]
    cursor: Option<String>,
    /// How many, from 1 to 1,000.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// Lists which of your tenant's users are linked with users of other tenants, ordered by id.
#[utoipa::path(get, path = "/api/v1/tenant-links", tag = "tenants", params(TenantLinkPage),
    responses((status = 200, body = TenantLinkListView), (status = "default", body = ErrorBody)))]
pub(crate) async fn list_tenant_links(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    page: Result<Query<TenantLinkPage>, QueryRejection>,
) -> Result<Json<TenantLinkListView>, ApiError> {
    let page = query(page)?;
    let principal = page.principal.map(|id| parse_id(&id, "principal")).transpose()?;
    let after = page.cursor.map(|id| parse_id(&id, "cursor")).transpose()?;
    let limit = limit(page.limit, 200)?;
    let (found, next) = state.app.list_tenant_links(&actor, principal.as_ref(), after, limit).await?;
    Ok(Json(TenantLinkListView {
        links: found.into_iter().map(TenantLinkView::from).collect(),
        next_cursor: next.map(|id| id.to_string()),
    }))
}

/// Ends a link. Whoever came in by it is out at once; the person can link themselves again by proving who they are.
#[utoipa::path(delete, path = "/api/v1/tenant-links/{id}", tag = "tenants", params(("id" = String, Path)),
    responses((status = 204), (status = "default", body = ErrorBody)))]
pub(crate) async fn end_tenant_link(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
) -> Result<StatusCode, ApiError> {
    let id = id.parse().map_err(|_| AppError::NotFound { what: "link" })?;
    state.app.end_tenant_link(&actor, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
