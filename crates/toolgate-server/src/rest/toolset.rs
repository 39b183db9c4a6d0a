//! Toolsets: list, read, write, remove.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use toolgate_api::{ErrorBody, PutToolsetRequest, ToolsetListView, ToolsetView, rfc3339};
use toolgate_app::ToolsetWithTools;
use toolgate_core::toolset::{Toolset, ToolsetMode};
use toolgate_core::{Effect, Egress};

use super::document::{NamePage, name, new_name, patterns, precondition, tagged, words};
use super::tool::{limit, query};
use crate::ServerState;
use crate::error::ApiError;
use crate::extract::{Caller, JsonBody, PathId};

/// Lists the toolsets, ordered by name.
#[utoipa::path(get, path = "/api/v1/toolsets", tag = "toolsets", params(NamePage),
    responses((status = 200, body = ToolsetListView), (status = "default", body = ErrorBody)))]
pub(crate) async fn list_toolsets(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    page: Result<Query<NamePage>, QueryRejection>,
) -> Result<Json<ToolsetListView>, ApiError> {
    let page = query(page)?;
    let limit = limit(page.limit, 200)? as usize;
    let (found, next_cursor) = state.app.list_toolsets(&actor, page.cursor.as_deref(), limit).await?;
    let toolsets = found.into_iter().map(|found| ToolsetView { tool_ids: None, ..view(found) }).collect();
    Ok(Json(ToolsetListView { toolsets, next_cursor }))
}

/// Shows a toolset with the ids of the tools it holds now.
#[utoipa::path(get, path = "/api/v1/toolsets/{name}", tag = "toolsets", params(("name" = String, Path)),
    responses((status = 200, body = ToolsetView), (status = "default", body = ErrorBody)))]
pub(crate) async fn read_toolset(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
) -> Result<Response, ApiError> {
    Ok(show(state.app.read_toolset(&actor, &name(&id, "toolset")?).await?))
}

/// Writes a toolset.
#[utoipa::path(put, path = "/api/v1/toolsets/{name}", tag = "toolsets",
    params(("name" = String, Path),
        ("If-Match" = Option<String>, Header, description = "write only over this revision, in quotation marks"),
        ("If-None-Match" = Option<String>, Header, description = "`*`: write only if there is none")),
    request_body = PutToolsetRequest,
    responses((status = 200, body = ToolsetView), (status = "default", body = ErrorBody)))]
pub(crate) async fn put_toolset(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
    headers: HeaderMap,
    JsonBody(body): JsonBody<PutToolsetRequest>,
) -> Result<Response, ApiError> {
    let toolset = Toolset {
        tools: patterns(&body.tools, "tools")?,
        exclude: patterns(&body.exclude, "exclude")?,
        effects: words(&body.effects, Effect::from_text, "effects")?,
        egress: words(&body.egress, Egress::from_text, "egress")?,
        mode: mode(body.mode.as_deref())?,
        title: body.title,
        description: body.description,
    };
    Ok(show(state.app.put_toolset(&actor, &new_name(&id)?, toolset, precondition(&headers)?).await?))
}

/// Removes a toolset that no assignment uses.
#[utoipa::path(delete, path = "/api/v1/toolsets/{name}", tag = "toolsets",
    params(("name" = String, Path),
        ("If-Match" = Option<String>, Header, description = "remove only this revision, in quotation marks")),
    responses((status = 204), (status = "default", body = ErrorBody)))]
pub(crate) async fn delete_toolset(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
    headers: HeaderMap,
) -> Result<StatusCode, ApiError> {
    state.app.delete_toolset(&actor, &name(&id, "toolset")?, precondition(&headers)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn mode(text: Option<&str>) -> Result<ToolsetMode, ApiError> {
    match text {
        None | Some("list") => Ok(ToolsetMode::List),
        Some("search") => Ok(ToolsetMode::Search),
        Some(_) => Err(super::bad("`mode` must be `list` or `search`")),
    }
}

fn show(found: ToolsetWithTools) -> Response {
    let revision = found.toolset.revision;
    tagged(view(found), Some(revision))
}

fn view(found: ToolsetWithTools) -> ToolsetView {
    let toolset = found.toolset.body;
    ToolsetView {
        name: found.toolset.name,
        title: toolset.title,
        description: toolset.description,
        tools: toolset.tools.iter().map(ToString::to_string).collect(),
        exclude: toolset.exclude.iter().map(ToString::to_string).collect(),
        effects: toolset.effects.iter().map(|effect| effect.as_str().to_owned()).collect(),
        egress: toolset.egress.iter().map(|egress| egress.as_str().to_owned()).collect(),
        mode: toolset.mode.as_str().to_owned(),
        tool_count: found.tools.len() as u64,
        tool_ids: Some(found.tools.iter().map(ToString::to_string).collect()),
        revision: found.toolset.revision,
        updated_by: found.toolset.by.to_string(),
        updated_at: rfc3339(found.toolset.at),
    }
}
