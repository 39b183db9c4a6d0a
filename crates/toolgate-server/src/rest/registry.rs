//! The registry: all tools of the server, on or off in your tenant.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde::Deserialize;
use toolgate_api::{ErrorBody, PutToolSettingRequest, RegistryListView, RegistryToolView, ToolSettingView};
use toolgate_app::{AppError, RegistryEntry};
use toolgate_core::id::ToolName;
use toolgate_core::tool_setting::ToolSetting;
use utoipa::IntoParams;

use super::document::tightening;
use super::tool::{limit, query};
use crate::ServerState;
use crate::error::ApiError;
use crate::extract::{Caller, JsonBody, PathId};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct RegistryPage {
    /// Only those that are on, or off.
    enabled: Option<bool>,
    /// Where the page starts, from `next_cursor` of the one before.
    cursor: Option<String>,
    /// How many, from 1 to 1,000.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// Lists all tools of the server that your tenant can have, ordered by id, with whether they are on and by whose word.
#[utoipa::path(get, path = "/api/v1/registry", tag = "registry", params(RegistryPage),
    responses((status = 200, body = RegistryListView), (status = "default", body = ErrorBody)))]
pub(crate) async fn list_registry(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    page: Result<Query<RegistryPage>, QueryRejection>,
) -> Result<Json<RegistryListView>, ApiError> {
    let page = query(page)?;
    let limit = limit(page.limit, 200)? as usize;
    let (found, next_cursor) =
        state.app.list_registry(&actor, page.enabled, page.cursor.as_deref(), limit).await?;
    Ok(Json(RegistryListView { tools: found.iter().map(view).collect(), next_cursor }))
}

/// Shows a tool of the server, whether it is on in your tenant and by whose word.
#[utoipa::path(get, path = "/api/v1/registry/{tool}", tag = "registry", params(("tool" = String, Path)),
    responses((status = 200, body = RegistryToolView), (status = "default", body = ErrorBody)))]
pub(crate) async fn read_registry(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
) -> Result<Json<RegistryToolView>, ApiError> {
    Ok(Json(view(&state.app.read_registry(&actor, &tool_id(&id)?).await?)))
}

/// Switches a tool on or off in your tenant, or has every call of it ask a person. In the default tenant it holds for
/// all tenants: off is final there, and on can be switched off by each.
#[utoipa::path(put, path = "/api/v1/registry/{tool}", tag = "registry", params(("tool" = String, Path)),
    request_body = PutToolSettingRequest,
    responses((status = 200, body = RegistryToolView), (status = "default", body = ErrorBody)))]
pub(crate) async fn put_tool_setting(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
    JsonBody(body): JsonBody<PutToolSettingRequest>,
) -> Result<Json<RegistryToolView>, ApiError> {
    let setting =
        ToolSetting { enabled: body.enabled, approval: tightening(body.approval.as_deref(), "setting")? };
    let entry = state.app.put_tool_setting(&actor, &tool_id(&id)?, setting).await?;
    Ok(Json(view(&entry)))
}

/// Takes your tenant's word on a tool back.
#[utoipa::path(delete, path = "/api/v1/registry/{tool}", tag = "registry", params(("tool" = String, Path)),
    responses((status = 204), (status = "default", body = ErrorBody)))]
pub(crate) async fn delete_tool_setting(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
) -> Result<StatusCode, ApiError> {
    state.app.delete_tool_setting(&actor, &tool_id(&id)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn tool_id(text: &str) -> Result<ToolName, ApiError> {
    text.parse().map_err(|_| AppError::NotFound { what: "tool" }.into())
}

fn view(entry: &RegistryEntry) -> RegistryToolView {
    let contract = &entry.tool.contract;
    RegistryToolView {
        id: contract.id.to_string(),
        title: contract.title.clone(),
        category: contract.category.clone(),
        origin: if contract.opt_in { "system" } else { "custom" }.to_owned(),
        enabled: entry.enablement.is_on(),
        enablement: entry.enablement.as_str().to_owned(),
        setting: entry.tenant_row.as_ref().map(ToolSettingView::from),
        default_setting: entry.default_row.as_ref().map(ToolSettingView::from),
        effect: contract.effect.as_str().to_owned(),
        egress: contract.egress.as_str().to_owned(),
        requires_approval: entry.tool.requires_approval,
    }
}
