//! The review of MCP servers' tools: list, read with what changed, accept, refuse.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use serde::Deserialize;
use serde_json::Value;
use toolgate_api::{
    AcceptUpstreamToolRequest, ErrorBody, RefuseUpstreamToolRequest, UpstreamToolListView, UpstreamToolView,
    rfc3339,
};
use toolgate_app::{AppError, Stored};
use toolgate_core::contract::{ApprovalMode, Effect, Egress, Limits, Redaction};
use toolgate_core::id::ToolName;
use toolgate_core::upstream::{Acceptance, Offer, ToolState, UpstreamTool};
use utoipa::IntoParams;

use super::tool::{bad, limit, parse_id, query};
use crate::ServerState;
use crate::error::ApiError;
use crate::extract::{Caller, JsonBody, PathId};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct UpstreamToolQuery {
    /// Of one server.
    upstream: Option<String>,
    /// Only those that are `new`, `changed`, `accepted`, `refused` or `gone`.
    state: Option<String>,
    /// Where the page starts, from `next_cursor` of the one before.
    cursor: Option<String>,
    /// How many, from 1 to 1,000.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// Lists the tools of MCP servers and where they stand, ordered by id.
#[utoipa::path(get, path = "/api/v1/upstream-tools", tag = "upstreams", params(UpstreamToolQuery),
    responses((status = 200, body = UpstreamToolListView), (status = "default", body = ErrorBody)))]
pub(crate) async fn list_upstream_tools(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    asked: Result<Query<UpstreamToolQuery>, QueryRejection>,
) -> Result<Json<UpstreamToolListView>, ApiError> {
    let asked = query(asked)?;
    let limit = limit(asked.limit, 200)? as usize;
    let upstream = asked.upstream.as_deref().map(|text| parse_id(text, "upstream")).transpose()?;
    let word = |text: &str| ToolState::from_text(text).ok_or_else(|| bad("`state` holds an unknown word"));
    let where_it_stands = asked.state.as_deref().map(word).transpose()?;
    let (found, next_cursor) = state
        .app
        .list_upstream_tools(&actor, upstream.as_ref(), where_it_stands, asked.cursor.as_deref(), limit)
        .await?;
    Ok(Json(UpstreamToolListView { upstream_tools: found.into_iter().map(view).collect(), next_cursor }))
}

/// Shows a tool of an MCP server with what a reviewer has to know: what it says, what strikes in it, and what changed.
#[utoipa::path(get, path = "/api/v1/upstream-tools/{id}", tag = "upstreams", params(("id" = String, Path)),
    responses((status = 200, body = UpstreamToolView), (status = "default", body = ErrorBody)))]
pub(crate) async fn read_upstream_tool(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
) -> Result<Json<UpstreamToolView>, ApiError> {
    let found = state.app.review_upstream_tool(&actor, &tool_name(&id)?).await?;
    Ok(Json(UpstreamToolView { diff: Some(found.diff), unusable: found.unusable, ..view(found.stored) }))
}

/// Accepts a tool as it was shown, with an effect and an egress of the reviewer's own choosing.
#[utoipa::path(post, path = "/api/v1/upstream-tools/{id}/accept", tag = "upstreams", params(("id" = String, Path)),
    request_body = AcceptUpstreamToolRequest,
    responses((status = 200, body = UpstreamToolView), (status = "default", body = ErrorBody)))]
pub(crate) async fn accept_upstream_tool(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
    JsonBody(body): JsonBody<AcceptUpstreamToolRequest>,
) -> Result<Json<UpstreamToolView>, ApiError> {
    let decision = decision(body)?;
    Ok(Json(view(state.app.accept_upstream_tool(&actor, &tool_name(&id)?, decision).await?)))
}

/// Turns a tool down as it was shown: it stays off until it is offered otherwise.
#[utoipa::path(post, path = "/api/v1/upstream-tools/{id}/refuse", tag = "upstreams", params(("id" = String, Path)),
    request_body = RefuseUpstreamToolRequest,
    responses((status = 200, body = UpstreamToolView), (status = "default", body = ErrorBody)))]
pub(crate) async fn refuse_upstream_tool(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
    JsonBody(body): JsonBody<RefuseUpstreamToolRequest>,
) -> Result<Json<UpstreamToolView>, ApiError> {
    Ok(Json(view(state.app.refuse_upstream_tool(&actor, &tool_name(&id)?, &body.digest).await?)))
}

fn tool_name(text: &str) -> Result<ToolName, ApiError> {
    text.parse().map_err(|_| AppError::NotFound { what: "upstream_tool" }.into())
}

fn decision(body: AcceptUpstreamToolRequest) -> Result<Acceptance, ApiError> {
    let usual = Limits::default();
    Ok(Acceptance {
        digest: body.digest,
        effect: Effect::from_text(&body.effect)
            .ok_or_else(|| bad("`effect` must be `read`, `mutate` or `destructive`"))?,
        egress: Egress::from_text(&body.egress)
            .ok_or_else(|| bad("`egress` must be `none`, `read_only` or `write`"))?,
        idempotent: body.idempotent,
        redaction: Redaction { allow: body.redaction_allow },
        permissions: body.permissions,
        approval: if body.always_ask { ApprovalMode::AlwaysAsk } else { ApprovalMode::Auto },
        limits: Limits {
            timeout_ms: body.timeout_ms.unwrap_or(usual.timeout_ms),
            max_result_bytes: body.max_result_bytes.unwrap_or(usual.max_result_bytes),
            // Whoever names a bound means all of it.
            max_bytes_with_media: match body.max_result_bytes {
                Some(_) => None,
                None => Some(Limits::USUAL_BYTES_WITH_MEDIA),
            },
            ..usual
        },
    })
}

fn view(found: Stored<UpstreamTool>) -> UpstreamToolView {
    let tool = found.body;
    let state = tool.state().as_str().to_owned();
    let accepted = tool.accepted.as_ref();
    let name =
        tool.offer.as_ref().or(accepted.map(|accepted| &accepted.offer)).map(|offer| offer.name.clone());
    let decision = accepted.map(|accepted| {
        let decision = &accepted.decision;
        AcceptUpstreamToolRequest {
            digest: decision.digest.clone(),
            effect: decision.effect.as_str().to_owned(),
            egress: decision.egress.as_str().to_owned(),
            idempotent: decision.idempotent,
            redaction_allow: decision.redaction.allow.clone(),
            permissions: decision.permissions.clone(),
            always_ask: decision.approval == ApprovalMode::AlwaysAsk,
            timeout_ms: Some(decision.limits.timeout_ms),
            max_result_bytes: match decision.limits.max_bytes_with_media {
                Some(_) => None,
                None => Some(decision.limits.max_result_bytes),
            },
        }
    });
    UpstreamToolView {
        id: tool.id.to_string(),
        upstream: tool.upstream.to_string(),
        state,
        name: name.unwrap_or_default(),
        digest: tool.offer.as_ref().map(Offer::digest),
        offer: tool.offer.and_then(|offer| serde_json::to_value(offer).ok()).filter(Value::is_object),
        warnings: tool.warnings,
        decision,
        diff: None,
        unusable: None,
        revision: found.revision,
        updated_at: rfc3339(found.at),
    }
}
