//! Assignments: list, write, remove.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde::Deserialize;
use toolgate_api::{AssignmentListView, AssignmentView, ErrorBody, PutAssignmentRequest, rfc3339};
use toolgate_app::Stored;
use toolgate_core::assignment::{Assigned, Assignment};
use utoipa::IntoParams;

use super::tool::{bad, limit, parse_id, query};
use crate::ServerState;
use crate::error::ApiError;
use crate::extract::{Caller, JsonBody};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct AssignmentPage {
    /// Of one agent.
    #[param(pattern = "^agent:[A-Za-z0-9_.@+/:-]{1,128}$")]
    agent: Option<String>,
    /// That give this tool, by itself or in a toolset.
    #[param(pattern = "^[A-Za-z0-9_-]+__[A-Za-z0-9_-]+$", max_length = 64)]
    tool: Option<String>,
    /// Where the page starts, from `next_cursor` of the one before.
    cursor: Option<String>,
    /// How many, from 1 to 1,000.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// Lists which agents have which tools, ordered by agent.
#[utoipa::path(get, path = "/api/v1/assignments", tag = "assignments", params(AssignmentPage),
    responses((status = 200, body = AssignmentListView), (status = "default", body = ErrorBody)))]
pub(crate) async fn list_assignments(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    page: Result<Query<AssignmentPage>, QueryRejection>,
) -> Result<Json<AssignmentListView>, ApiError> {
    let page = query(page)?;
    let agent = page.agent.map(|id| parse_id(&id, "agent")).transpose()?;
    let tool = page.tool.map(|id| parse_id(&id, "tool")).transpose()?;
    let limit = limit(page.limit, 200)? as usize;
    let (found, next_cursor) = state
        .app
        .list_assignments(&actor, agent.as_ref(), tool.as_ref(), page.cursor.as_deref(), limit)
        .await?;
    Ok(Json(AssignmentListView { assignments: found.into_iter().map(view).collect(), next_cursor }))
}

/// Gives an agent a tool or the tools of a toolset, if wanted with a profile. Takes the place of what was said of the
/// same agent and target before.
#[utoipa::path(put, path = "/api/v1/assignments", tag = "assignments", request_body = PutAssignmentRequest,
    responses((status = 200, body = AssignmentView), (status = "default", body = ErrorBody)))]
pub(crate) async fn put_assignment(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    JsonBody(body): JsonBody<PutAssignmentRequest>,
) -> Result<Json<AssignmentView>, ApiError> {
    let assignment = Assignment {
        agent: parse_id(&body.agent, "agent")?,
        target: target(body.tool.as_deref(), body.toolset.as_deref())?,
        profile: body.profile.as_deref().map(|name| parse_id(name, "profile")).transpose()?,
    };
    Ok(Json(view(state.app.put_assignment(&actor, assignment).await?)))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct AssignmentTarget {
    /// The agent.
    #[param(pattern = "^agent:[A-Za-z0-9_.@+/:-]{1,128}$")]
    agent: String,
    /// The tool to take from it.
    #[param(pattern = "^[A-Za-z0-9_-]+__[A-Za-z0-9_-]+$", max_length = 64)]
    tool: Option<String>,
    /// The toolset to take from it.
    #[param(pattern = "^[a-z0-9][a-z0-9._-]{0,63}$")]
    toolset: Option<String>,
}

/// Takes a tool or a toolset from an agent: its next call is refused.
#[utoipa::path(delete, path = "/api/v1/assignments", tag = "assignments", params(AssignmentTarget),
    responses((status = 204), (status = "default", body = ErrorBody)))]
pub(crate) async fn delete_assignment(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    which: Result<Query<AssignmentTarget>, QueryRejection>,
) -> Result<StatusCode, ApiError> {
    let which = query(which)?;
    let agent = parse_id(&which.agent, "agent")?;
    let target = target(which.tool.as_deref(), which.toolset.as_deref())?;
    state.app.delete_assignment(&actor, &agent, &target).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn target(tool: Option<&str>, toolset: Option<&str>) -> Result<Assigned, ApiError> {
    match (tool, toolset) {
        (Some(tool), None) => parse_id(tool, "tool").map(Assigned::Tool),
        (None, Some(toolset)) => parse_id(toolset, "toolset").map(Assigned::Toolset),
        _ => Err(bad("name either a `tool` or a `toolset`")),
    }
}

fn view(found: Stored<Assignment>) -> AssignmentView {
    let (tool, toolset) = match found.body.target {
        Assigned::Tool(id) => (Some(id.to_string()), None),
        Assigned::Toolset(name) => (None, Some(name.to_string())),
    };
    AssignmentView {
        agent: found.body.agent.to_string(),
        tool,
        toolset,
        profile: found.body.profile.map(|name| name.to_string()),
        revision: found.revision,
        updated_by: found.by.to_string(),
        updated_at: rfc3339(found.at),
    }
}
