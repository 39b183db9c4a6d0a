//! Roles: list, read, write, remove.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use toolgate_api::{ErrorBody, PutRoleRequest, RoleListView, RoleView, rfc3339};
use toolgate_app::TenantRole;
use toolgate_core::role::Role;

use super::document::{NamePage, name, new_name, precondition, tagged};
use super::tool::{limit, query};
use crate::ServerState;
use crate::error::ApiError;
use crate::extract::{Caller, JsonBody, PathId};

/// Lists the roles, ordered by name, built-in ones included.
#[utoipa::path(get, path = "/api/v1/roles", tag = "roles", params(NamePage),
    responses((status = 200, body = RoleListView), (status = "default", body = ErrorBody)))]
pub(crate) async fn list_roles(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    page: Result<Query<NamePage>, QueryRejection>,
) -> Result<Json<RoleListView>, ApiError> {
    let page = query(page)?;
    let limit = limit(page.limit, 200)? as usize;
    let (found, next_cursor) = state.app.list_roles(&actor, page.cursor.as_deref(), limit).await?;
    Ok(Json(RoleListView { roles: found.into_iter().map(view).collect(), next_cursor }))
}

/// Shows a role.
#[utoipa::path(get, path = "/api/v1/roles/{name}", tag = "roles", params(("name" = String, Path)),
    responses((status = 200, body = RoleView), (status = "default", body = ErrorBody)))]
pub(crate) async fn read_role(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
) -> Result<Response, ApiError> {
    Ok(show(state.app.read_role(&actor, &name(&id, "role")?).await?))
}

/// Writes a role. It can't hold access rules that you do not hold yourself. A built-in role can be written over, except
/// `admin`.
#[utoipa::path(put, path = "/api/v1/roles/{name}", tag = "roles",
    params(("name" = String, Path),
        ("If-Match" = Option<String>, Header, description = "write only over this revision, in quotation marks"),
        ("If-None-Match" = Option<String>, Header, description = "`*`: write only if there is none")),
    request_body = PutRoleRequest,
    responses((status = 200, body = RoleView), (status = "default", body = ErrorBody)))]
pub(crate) async fn put_role(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
    headers: HeaderMap,
    JsonBody(body): JsonBody<PutRoleRequest>,
) -> Result<Response, ApiError> {
    let role = Role { description: body.description, rules: body.rules };
    Ok(show(state.app.put_role(&actor, &new_name(&id)?, role, precondition(&headers)?).await?))
}

/// Removes a role: whoever has it loses what it gave. A built-in role that was written over is as it comes again.
#[utoipa::path(delete, path = "/api/v1/roles/{name}", tag = "roles",
    params(("name" = String, Path),
        ("If-Match" = Option<String>, Header, description = "remove only this revision, in quotation marks")),
    responses((status = 204), (status = "default", body = ErrorBody)))]
pub(crate) async fn delete_role(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
    headers: HeaderMap,
) -> Result<StatusCode, ApiError> {
    state.app.delete_role(&actor, &name(&id, "role")?, precondition(&headers)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn show(role: TenantRole) -> Response {
    let revision = role.written.as_ref().map(|written| written.revision);
    tagged(view(role), revision)
}

fn view(role: TenantRole) -> RoleView {
    RoleView {
        name: role.name,
        description: role.role.description,
        rules: role.role.rules,
        built_in: role.built_in,
        own: role.written.is_some(),
        revision: role.written.as_ref().map(|written| written.revision),
        updated_by: role.written.as_ref().map(|written| written.by.to_string()),
        updated_at: role.written.map(|written| rfc3339(written.at)),
    }
}
