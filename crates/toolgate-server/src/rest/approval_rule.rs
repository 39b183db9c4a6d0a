//! Approval rules: list, read, write, remove.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use toolgate_api::{ApprovalRuleListView, ApprovalRuleView, ErrorBody, PutApprovalRuleRequest, rfc3339};
use toolgate_app::Stored;
use toolgate_core::Effect;
use toolgate_core::approval_rule::ApprovalRule;

use super::document::{NamePage, name, new_name, patterns, precondition, tagged, words};
use super::tool::{limit, query};
use crate::ServerState;
use crate::error::ApiError;
use crate::extract::{Caller, JsonBody, PathId};

/// Lists the approval rules, ordered by name.
#[utoipa::path(get, path = "/api/v1/approval-rules", tag = "approvals", params(NamePage),
    responses((status = 200, body = ApprovalRuleListView), (status = "default", body = ErrorBody)))]
pub(crate) async fn list_approval_rules(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    page: Result<Query<NamePage>, QueryRejection>,
) -> Result<Json<ApprovalRuleListView>, ApiError> {
    let page = query(page)?;
    let limit = limit(page.limit, 200)? as usize;
    let (found, next_cursor) = state.app.list_approval_rules(&actor, page.cursor.as_deref(), limit).await?;
    Ok(Json(ApprovalRuleListView { approval_rules: found.into_iter().map(view).collect(), next_cursor }))
}

/// Shows an approval rule.
#[utoipa::path(get, path = "/api/v1/approval-rules/{name}", tag = "approvals", params(("name" = String, Path)),
    responses((status = 200, body = ApprovalRuleView), (status = "default", body = ErrorBody)))]
pub(crate) async fn read_approval_rule(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
) -> Result<Response, ApiError> {
    Ok(show(state.app.read_approval_rule(&actor, &name(&id, "approval rule")?).await?))
}

/// Writes an approval rule: who has to decide on which calls, how many, and in what time.
#[utoipa::path(put, path = "/api/v1/approval-rules/{name}", tag = "approvals",
    params(("name" = String, Path),
        ("If-Match" = Option<String>, Header, description = "write only over this revision, in quotation marks"),
        ("If-None-Match" = Option<String>, Header, description = "`*`: write only if there is none")),
    request_body = PutApprovalRuleRequest,
    responses((status = 200, body = ApprovalRuleView), (status = "default", body = ErrorBody)))]
pub(crate) async fn put_approval_rule(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
    headers: HeaderMap,
    JsonBody(body): JsonBody<PutApprovalRuleRequest>,
) -> Result<Response, ApiError> {
    let rule = ApprovalRule {
        description: body.description,
        tools: patterns(&body.tools, "tools")?,
        effects: words(&body.effects, Effect::from_text, "effects")?,
        principals: patterns(&body.principals, "principals")?,
        approvers: body.approvers,
        needed: body.needed,
        escalate_after_seconds: body.escalate_after_seconds,
        escalate_to: body.escalate_to,
        expires_after_seconds: body.expires_after_seconds,
    };
    Ok(show(state.app.put_approval_rule(&actor, &new_name(&id)?, rule, precondition(&headers)?).await?))
}

/// Removes an approval rule. Calls that wait keep the terms they began to wait under.
#[utoipa::path(delete, path = "/api/v1/approval-rules/{name}", tag = "approvals",
    params(("name" = String, Path),
        ("If-Match" = Option<String>, Header, description = "remove only this revision, in quotation marks")),
    responses((status = 204), (status = "default", body = ErrorBody)))]
pub(crate) async fn delete_approval_rule(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
    headers: HeaderMap,
) -> Result<StatusCode, ApiError> {
    let name = name(&id, "approval rule")?;
    state.app.delete_approval_rule(&actor, &name, precondition(&headers)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn show(found: Stored<ApprovalRule>) -> Response {
    let revision = found.revision;
    tagged(view(found), Some(revision))
}

fn view(found: Stored<ApprovalRule>) -> ApprovalRuleView {
    let rule = found.body;
    ApprovalRuleView {
        name: found.name,
        rule: PutApprovalRuleRequest {
            description: rule.description,
            tools: rule.tools.iter().map(ToString::to_string).collect(),
            effects: rule.effects.iter().map(|effect| effect.as_str().to_owned()).collect(),
            principals: rule.principals.iter().map(ToString::to_string).collect(),
            approvers: rule.approvers,
            needed: rule.needed,
            escalate_after_seconds: rule.escalate_after_seconds,
            escalate_to: rule.escalate_to,
            expires_after_seconds: rule.expires_after_seconds,
        },
        revision: found.revision,
        updated_by: found.by.to_string(),
        updated_at: rfc3339(found.at),
    }
}
