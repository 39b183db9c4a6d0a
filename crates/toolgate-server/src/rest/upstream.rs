//! MCP servers that this gate calls: list, read, write, switch, try, look at, remove.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use toolgate_api::{
    ErrorBody, PutUpstreamRequest, TransportView, UpstreamHealthView, UpstreamListView, UpstreamRefreshView,
    UpstreamTestView, UpstreamView, rfc3339,
};
use toolgate_app::{AppError, KnownUpstream, Looked};
use toolgate_core::port::upstream::{Health, Listing};
use toolgate_core::upstream::{Questions, Transport, Upstream, UpstreamAuth};

use super::document::{NamePage, name, new_name, precondition, tagged};
use super::tool::{bad, limit, query};
use crate::ServerState;
use crate::auth::base_url;
use crate::error::ApiError;
use crate::extract::{Caller, JsonBody, PathId};

/// Lists the MCP servers, ordered by name.
#[utoipa::path(get, path = "/api/v1/upstreams", tag = "upstreams", params(NamePage),
    responses((status = 200, body = UpstreamListView), (status = "default", body = ErrorBody)))]
pub(crate) async fn list_upstreams(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    page: Result<Query<NamePage>, QueryRejection>,
) -> Result<Json<UpstreamListView>, ApiError> {
    let page = query(page)?;
    let limit = limit(page.limit, 200)? as usize;
    let (found, next_cursor) = state.app.list_upstreams(&actor, page.cursor.as_deref(), limit).await?;
    Ok(Json(UpstreamListView { upstreams: found.into_iter().map(view).collect(), next_cursor }))
}

/// Shows an MCP server and how it does.
#[utoipa::path(get, path = "/api/v1/upstreams/{name}", tag = "upstreams", params(("name" = String, Path)),
    responses((status = 200, body = UpstreamView), (status = "default", body = ErrorBody)))]
pub(crate) async fn read_upstream(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
) -> Result<Response, ApiError> {
    Ok(show(state.app.read_upstream(&actor, &name(&id, "upstream")?).await?))
}

/// Writes an MCP server down. None of its tools is on before it is reviewed.
///
/// Naming a command takes the area `upstream_commands` beside `upstreams`.
#[utoipa::path(put, path = "/api/v1/upstreams/{name}", tag = "upstreams",
    params(("name" = String, Path),
        ("If-Match" = Option<String>, Header, description = "write only over this revision, in quotation marks"),
        ("If-None-Match" = Option<String>, Header, description = "`*`: write only if there is none")),
    request_body = PutUpstreamRequest,
    responses((status = 200, body = UpstreamView), (status = "default", body = ErrorBody)))]
pub(crate) async fn put_upstream(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
    headers: HeaderMap,
    JsonBody(body): JsonBody<PutUpstreamRequest>,
) -> Result<Response, ApiError> {
    let upstream = upstream(body)?;
    Ok(show(state.app.put_upstream(&actor, &new_name(&id)?, upstream, precondition(&headers)?).await?))
}

/// Removes an MCP server, with everything that was accepted of it.
#[utoipa::path(delete, path = "/api/v1/upstreams/{name}", tag = "upstreams",
    params(("name" = String, Path),
        ("If-Match" = Option<String>, Header, description = "remove only this revision, in quotation marks")),
    responses((status = 204), (status = "default", body = ErrorBody)))]
pub(crate) async fn delete_upstream(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
    headers: HeaderMap,
) -> Result<StatusCode, ApiError> {
    state.app.delete_upstream(&actor, &name(&id, "upstream")?, precondition(&headers)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Lets the accepted tools of an MCP server be called.
#[utoipa::path(post, path = "/api/v1/upstreams/{name}/enable", tag = "upstreams", params(("name" = String, Path)),
    responses((status = 200, body = UpstreamView), (status = "default", body = ErrorBody)))]
pub(crate) async fn enable_upstream(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
) -> Result<Response, ApiError> {
    Ok(show(state.app.switch_upstream(&actor, &name(&id, "upstream")?, true).await?))
}

/// Switches all tools of an MCP server off and ends what is open to it.
#[utoipa::path(post, path = "/api/v1/upstreams/{name}/disable", tag = "upstreams", params(("name" = String, Path)),
    responses((status = 200, body = UpstreamView), (status = "default", body = ErrorBody)))]
pub(crate) async fn disable_upstream(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
) -> Result<Response, ApiError> {
    Ok(show(state.app.switch_upstream(&actor, &name(&id, "upstream")?, false).await?))
}

/// Connects to an MCP server and shows what it has. Nothing is kept of it.
#[utoipa::path(post, path = "/api/v1/upstreams/{name}/test", tag = "upstreams", params(("name" = String, Path)),
    responses((status = 200, body = UpstreamTestView), (status = "default", body = ErrorBody)))]
pub(crate) async fn test_upstream(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
    headers: HeaderMap,
) -> Result<Json<UpstreamTestView>, ApiError> {
    let tested = state.app.test_upstream(&actor, &name(&id, "upstream")?).await;
    let Listing { protocol, server, tools, problems } =
        tested.map_err(|cause| seen_from(cause, &base_url(&state.settings, &headers)))?;
    let tools = tools.into_iter().map(|offer| offer.name).collect();
    Ok(Json(UpstreamTestView { protocol, server, tools, problems }))
}

/// Asks an MCP server for its tools and keeps what it offers for review. Nothing is switched on by this.
#[utoipa::path(post, path = "/api/v1/upstreams/{name}/refresh", tag = "upstreams", params(("name" = String, Path)),
    responses((status = 200, body = UpstreamRefreshView), (status = "default", body = ErrorBody)))]
pub(crate) async fn refresh_upstream(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
    headers: HeaderMap,
) -> Result<Json<UpstreamRefreshView>, ApiError> {
    let looked = state.app.refresh_upstream(&actor, &name(&id, "upstream")?).await;
    let looked = looked.map_err(|cause| seen_from(cause, &base_url(&state.settings, &headers)))?;
    let ids = |ids: Vec<toolgate_core::id::ToolName>| ids.iter().map(ToString::to_string).collect();
    let Looked { new, changed, gone, same, problems, protocol, server } = looked;
    Ok(Json(UpstreamRefreshView {
        protocol,
        server,
        new: ids(new),
        changed: ids(changed),
        gone: ids(gone),
        same: same as u64,
        problems,
    }))
}

/// A fault as whoever found this server at `base` reads it: its link to connect an account is whole.
fn seen_from(cause: AppError, base: &str) -> AppError {
    match cause {
        AppError::Call(error) => AppError::Call(error.seen_from(base)),
        other => other,
    }
}

fn upstream(body: PutUpstreamRequest) -> Result<Upstream, ApiError> {
    let auth = match body.auth.as_str() {
        "none" => UpstreamAuth::None,
        "shared" => UpstreamAuth::Shared,
        "per_user" => UpstreamAuth::PerUser,
        _ => return Err(bad("`auth` must be `none`, `shared` or `per_user`")),
    };
    let questions =
        Questions::from_text(&body.questions).ok_or_else(|| bad("`questions` must be `refuse` or `ask`"))?;
    let transport = match body.transport {
        TransportView::Stdio { command, args, env } => Transport::Stdio { command, args, env },
        TransportView::Http { url, headers } => Transport::Http { url, headers },
    };
    Ok(Upstream {
        title: body.title,
        transport,
        enabled: body.enabled,
        auth,
        connect_timeout_ms: body.connect_timeout_ms,
        concurrency: body.concurrency,
        questions,
    })
}

fn show(found: KnownUpstream) -> Response {
    let revision = found.stored.revision;
    tagged(view(found), Some(revision))
}

fn view(found: KnownUpstream) -> UpstreamView {
    let KnownUpstream { stored, health, tools } = found;
    let upstream = stored.body;
    let transport = match upstream.transport {
        Transport::Stdio { command, args, env } => TransportView::Stdio { command, args, env },
        Transport::Http { url, headers } => TransportView::Http { url, headers },
    };
    let auth = match upstream.auth {
        UpstreamAuth::None => "none",
        UpstreamAuth::Shared => "shared",
        UpstreamAuth::PerUser => "per_user",
    };
    UpstreamView {
        name: stored.name,
        upstream: PutUpstreamRequest {
            title: upstream.title,
            transport,
            enabled: upstream.enabled,
            auth: auth.to_owned(),
            connect_timeout_ms: upstream.connect_timeout_ms,
            concurrency: upstream.concurrency,
            questions: upstream.questions.as_str().to_owned(),
        },
        health: health.map(health_view),
        tools: tools.into_iter().map(|(state, count)| (state.as_str().to_owned(), count as u64)).collect(),
        revision: stored.revision,
        updated_by: stored.by.to_string(),
        updated_at: rfc3339(stored.at),
    }
}

fn health_view(health: Health) -> UpstreamHealthView {
    UpstreamHealthView {
        connected: health.connected,
        resting: health.resting,
        protocol: health.protocol,
        last_error: health.last_error,
        failed_at: health.failed_at.map(rfc3339),
        stderr: health.stderr,
        // A call that took less than half of one took one: nothing takes no time.
        typical_ms: health.typical.map(|took| u64::try_from(took.as_millis()).unwrap_or(u64::MAX).max(1)),
    }
}
