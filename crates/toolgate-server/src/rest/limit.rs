//! Limits: list, read, write, remove.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use toolgate_api::{ErrorBody, LimitListView, LimitView, PutLimitRequest, rfc3339};
use toolgate_app::Stored;
use toolgate_core::limit::{Limit, Per};

use super::document::{
    NamePage, budget, budget_view, name, new_name, overrun, overrun_word, patterns, precondition, tagged,
};
use super::tool::{bad, limit, query};
use crate::ServerState;
use crate::error::ApiError;
use crate::extract::{Caller, JsonBody, PathId};

/// Lists the limits, ordered by name.
#[utoipa::path(get, path = "/api/v1/limits", tag = "limits", params(NamePage),
    responses((status = 200, body = LimitListView), (status = "default", body = ErrorBody)))]
pub(crate) async fn list_limits(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    page: Result<Query<NamePage>, QueryRejection>,
) -> Result<Json<LimitListView>, ApiError> {
    let page = query(page)?;
    let limit = limit(page.limit, 200)? as usize;
    let (found, next_cursor) = state.app.list_limits(&actor, page.cursor.as_deref(), limit).await?;
    Ok(Json(LimitListView { limits: found.into_iter().map(view).collect(), next_cursor }))
}

/// Shows a limit.
#[utoipa::path(get, path = "/api/v1/limits/{name}", tag = "limits", params(("name" = String, Path)),
    responses((status = 200, body = LimitView), (status = "default", body = ErrorBody)))]
pub(crate) async fn read_limit(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
) -> Result<Response, ApiError> {
    Ok(show(state.app.read_limit(&actor, &name(&id, "limit")?).await?))
}

/// Writes a limit: calls a minute, calls at once, or what calls may cost, for those it names.
#[utoipa::path(put, path = "/api/v1/limits/{name}", tag = "limits",
    params(("name" = String, Path),
        ("If-Match" = Option<String>, Header, description = "write only over this revision, in quotation marks"),
        ("If-None-Match" = Option<String>, Header, description = "`*`: write only if there is none")),
    request_body = PutLimitRequest,
    responses((status = 200, body = LimitView), (status = "default", body = ErrorBody)))]
pub(crate) async fn put_limit(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
    headers: HeaderMap,
    JsonBody(body): JsonBody<PutLimitRequest>,
) -> Result<Response, ApiError> {
    let limit = Limit {
        principals: patterns(&body.principals, "principals")?,
        tools: patterns(&body.tools, "tools")?,
        per: per(&body.per)?,
        rate_per_minute: body.rate_per_minute,
        concurrency: body.concurrency,
        cost: budget(body.cost)?,
        on_overrun: overrun(body.on_overrun.as_deref())?,
        description: body.description,
    };
    Ok(show(state.app.put_limit(&actor, &new_name(&id)?, limit, precondition(&headers)?).await?))
}

/// Removes a limit.
#[utoipa::path(delete, path = "/api/v1/limits/{name}", tag = "limits",
    params(("name" = String, Path),
        ("If-Match" = Option<String>, Header, description = "remove only this revision, in quotation marks")),
    responses((status = 204), (status = "default", body = ErrorBody)))]
pub(crate) async fn delete_limit(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
    headers: HeaderMap,
) -> Result<StatusCode, ApiError> {
    state.app.delete_limit(&actor, &name(&id, "limit")?, precondition(&headers)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn per(word: &str) -> Result<Per, ApiError> {
    match word {
        "tenant" => Ok(Per::Tenant),
        "principal" => Ok(Per::Principal),
        "tool" => Ok(Per::Tool),
        "principal_and_tool" => Ok(Per::PrincipalAndTool),
        _ => Err(bad("`per` must be `tenant`, `principal`, `tool` or `principal_and_tool`")),
    }
}

const fn per_word(per: Per) -> &'static str {
    match per {
        Per::Tenant => "tenant",
        Per::Principal => "principal",
        Per::Tool => "tool",
        Per::PrincipalAndTool => "principal_and_tool",
    }
}

fn show(found: Stored<Limit>) -> Response {
    let revision = found.revision;
    tagged(view(found), Some(revision))
}

fn view(found: Stored<Limit>) -> LimitView {
    let limit = found.body;
    LimitView {
        name: found.name,
        description: limit.description,
        principals: limit.principals.iter().map(ToString::to_string).collect(),
        tools: limit.tools.iter().map(ToString::to_string).collect(),
        per: per_word(limit.per).to_owned(),
        rate_per_minute: limit.rate_per_minute,
        concurrency: limit.concurrency,
        cost: limit.cost.map(budget_view),
        on_overrun: overrun_word(limit.on_overrun),
        revision: found.revision,
        updated_by: found.by.to_string(),
        updated_at: rfc3339(found.at),
    }
}
