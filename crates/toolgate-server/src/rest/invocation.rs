//! Calls: list, read, cancel, decide, settle.

use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use toolgate_api::{
    ApproveRequest, CallView, ErrorBody, EventView, InvocationListView, InvocationView, ReasonRequest,
    RejectRequest, SearchedView, SettleRequest, SettlementWord, rfc3339,
};
use toolgate_app::{Decision, InvocationQuery, Settlement};
use toolgate_core::id::InvocationId;
use toolgate_core::port::store::InvocationFilter;
use toolgate_core::{Invocation, Status, Timestamp};
use utoipa::IntoParams;

use super::approval::remember;
use super::tool::{Wait, bad, limit, parse_id, query, show_call, wait_of};
use crate::ServerState;
use crate::auth::base_url;
use crate::door::Outside;
use crate::error::ApiError;
use crate::extract::{Caller, JsonBody, OptionalJson, PathId};

/// How long an approved call is waited for before the answer is a handle.
const DECISION_WAIT: Duration = Duration::from_secs(30);
const MAX_REASON: usize = 2_000;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct InvocationPage {
    /// Of one tool.
    #[param(pattern = "^[A-Za-z0-9_-]+__[A-Za-z0-9_-]+$", max_length = 64)]
    tool: Option<String>,
    /// In one status.
    #[param(pattern = "^(pending|running|waiting|completed|failed|rejected|cancelled|expired|in_doubt)$")]
    status: Option<String>,
    /// By one actor, such as `agent:helper`.
    #[param(pattern = "^(user|agent|service):[A-Za-z0-9_.@+/:-]{1,128}$")]
    actor: Option<String>,
    /// In one session.
    #[param(pattern = "^ses_[0-9a-f]{32}$")]
    session_id: Option<String>,
    /// Whose input holds this text, whatever its case. A page looks at no more than 20,000 calls and may be short, or
    /// empty: `searched` says how far it went, and `next_cursor` goes on. Inputs over 8 KiB are not looked into.
    #[param(max_length = 200)]
    text: Option<String>,
    /// Made at or after this moment (RFC 3339).
    #[param(format = DateTime)]
    since: Option<String>,
    /// Made before this moment (RFC 3339).
    #[param(format = DateTime)]
    until: Option<String>,
    /// Where the page starts, from `next_cursor` of the one before.
    #[param(pattern = "^inv_[0-9a-f]{32}$")]
    cursor: Option<String>,
    /// How many, from 1 to 1,000.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// Lists calls you may see, newest first.
#[utoipa::path(get, path = "/api/v1/invocations", tag = "invocations", params(InvocationPage),
    responses((status = 200, body = InvocationListView), (status = "default", body = ErrorBody)))]
pub(crate) async fn list_invocations(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    page: Result<Query<InvocationPage>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Json<InvocationListView>, ApiError> {
    let page = query(page)?;
    let status = page.status.map(|text| {
        Status::from_text(&text)
            .ok_or_else(|| bad("`status` is not one").hint("such as completed, failed, pending"))
    });
    let filter = InvocationFilter {
        tool: page.tool.map(|id| parse_id(&id, "tool")).transpose()?,
        status: status.transpose()?,
        actor: page.actor.map(|id| parse_id(&id, "actor")).transpose()?,
        session: page.session_id.map(|id| parse_id(&id, "session_id")).transpose()?,
        visible_to: None,
        since: page.since.map(|text| moment(&text, "since")).transpose()?,
        until: page.until.map(|text| moment(&text, "until")).transpose()?,
    };
    let text = page.text.filter(|text| !text.is_empty());
    if text.as_ref().is_some_and(|text| text.chars().count() > 200) {
        return Err(bad("`text` may have at most 200 characters"));
    }
    let after = page.cursor.map(|id| parse_id(&id, "cursor")).transpose()?;
    let request = InvocationQuery { filter, text, after, limit: limit(page.limit, 50)? };
    let part = state.app.list_invocations(&actor, request).await?;
    let searched = part
        .searched
        .map(|searched| SearchedView { calls: searched.calls, back_to: searched.back_to.map(rfc3339) });
    let base = base_url(&state.settings, &headers);
    Ok(Json(InvocationListView {
        invocations: part
            .invocations
            .into_iter()
            .map(|row| InvocationView::listed(seen_from(row, &base)))
            .collect(),
        next_cursor: part.next.map(|id| id.to_string()),
        searched,
    }))
}

/// Shows one call with its events; with `wait`, not before it is settled or the wait is over.
#[utoipa::path(get, path = "/api/v1/invocations/{id}", tag = "invocations", params(("id" = String, Path), Wait),
    responses((status = 200, body = InvocationView), (status = "default", body = ErrorBody)))]
pub(crate) async fn read_invocation(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
    wait: Result<Query<Wait>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let id = invocation_id(&id)?;
    let wait = wait_of(&query(wait)?, Duration::ZERO)?;
    let began = Instant::now();
    let invocation = state.app.await_invocation(&actor, id, wait).await?;
    let outside = if wait.is_zero() { Duration::ZERO } else { began.elapsed() };
    let base = base_url(&state.settings, &headers);
    let invocation = seen_from(invocation, &base);
    let events = state.app.invocation_events(&invocation).await?;
    let asks = state.app.question_of(&invocation).await?;
    let answerable = invocation.status == Status::Waiting || asks.is_some();
    let links = answerable && state.app.may_make_links(&actor, &invocation);
    let mut view = InvocationView::from(invocation);
    view.links_url = links.then(|| format!("{base}/api/v1/invocations/{id}/links"));
    view.asks = asks.map(|question| question.id().to_string());
    view.events = Some(events.iter().map(EventView::from).collect());
    let mut response = Json(view).into_response();
    response.extensions_mut().insert(Outside(outside));
    Ok(response)
}

/// Cancels a waiting call, or tells a running one to stop.
#[utoipa::path(post, path = "/api/v1/invocations/{id}/cancel", tag = "invocations", params(("id" = String, Path)),
    request_body(content = Option<ReasonRequest>),
    responses((status = 200, body = InvocationView), (status = "default", body = ErrorBody)))]
pub(crate) async fn cancel_invocation(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
    OptionalJson(body): OptionalJson<ReasonRequest>,
) -> Result<Json<InvocationView>, ApiError> {
    let cancelled = state.app.cancel_invocation(&actor, invocation_id(&id)?, reason(body)?).await?;
    Ok(Json(cancelled.into()))
}

/// Says yes to a waiting call: as it is, or with another input; once, or from now on. It runs when enough people did.
#[utoipa::path(post, path = "/api/v1/invocations/{id}/approve", tag = "invocations",
    params(("id" = String, Path), Wait), request_body(content = Option<ApproveRequest>),
    responses((status = 200, body = CallView), (status = 202, body = CallView),
        (status = "default", body = ErrorBody)))]
pub(crate) async fn approve_invocation(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
    wait: Result<Query<Wait>, QueryRejection>,
    OptionalJson(body): OptionalJson<ApproveRequest>,
) -> Result<Response, ApiError> {
    let began = Instant::now();
    let decision = Decision {
        reason: reason(ReasonRequest { reason: body.reason })?,
        digest: body.digest,
        confirm: body.confirm,
        input: body.input,
        remember: body.remember.map(remember).transpose()?,
        wait: wait_of(&query(wait)?, DECISION_WAIT)?,
    };
    let result = state.app.approve_invocation(&actor, invocation_id(&id)?, decision).await?;
    Ok(show_call(result, began.elapsed()))
}

/// Refuses a waiting call.
#[utoipa::path(post, path = "/api/v1/invocations/{id}/reject", tag = "invocations", params(("id" = String, Path)),
    request_body = RejectRequest,
    responses((status = 200, body = InvocationView), (status = "default", body = ErrorBody)))]
pub(crate) async fn reject_invocation(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
    JsonBody(body): JsonBody<RejectRequest>,
) -> Result<Json<InvocationView>, ApiError> {
    let reason = reason(ReasonRequest { reason: Some(body.reason.clone()) })?
        .ok_or_else(|| bad("a refusal needs a `reason`"))?;
    let digest = body.digest.as_deref();
    let rejected = state.app.reject_invocation(&actor, invocation_id(&id)?, reason, digest).await?;
    Ok(Json(rejected.into()))
}

/// Settles a call in doubt: it happened, it did not, or run it once more.
#[utoipa::path(post, path = "/api/v1/invocations/{id}/settle", tag = "invocations",
    params(("id" = String, Path), Wait), request_body = SettleRequest,
    responses((status = 200, body = CallView), (status = 202, body = CallView),
        (status = "default", body = ErrorBody)))]
pub(crate) async fn settle_invocation(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
    wait: Result<Query<Wait>, QueryRejection>,
    JsonBody(body): JsonBody<SettleRequest>,
) -> Result<Response, ApiError> {
    let began = Instant::now();
    let wait = wait_of(&query(wait)?, DECISION_WAIT)?;
    let settlement = match body.outcome {
        SettlementWord::Done => Settlement::Done,
        SettlementWord::Failed => Settlement::Failed,
        SettlementWord::RunAgain => Settlement::RunAgain,
    };
    let result = state.app.settle_invocation(&actor, invocation_id(&id)?, settlement, wait).await?;
    Ok(show_call(result, began.elapsed()))
}

/// A call as whoever found this server at `base` reads it: links in its error are whole.
fn seen_from(mut invocation: Invocation, base: &str) -> Invocation {
    invocation.error = invocation.error.map(|error| error.seen_from(base));
    invocation
}

pub(crate) fn invocation_id(text: &str) -> Result<InvocationId, ApiError> {
    // An id that can't exist is a call that does not exist.
    text.parse().map_err(|_| toolgate_app::AppError::NotFound { what: "invocation" }.into())
}

fn reason(body: ReasonRequest) -> Result<Option<String>, ApiError> {
    let reason = body.reason.map(|reason| reason.trim().to_owned()).filter(|reason| !reason.is_empty());
    if reason.as_ref().is_some_and(|reason| reason.chars().count() > MAX_REASON || reason.contains('\0')) {
        return Err(bad(format!("`reason` must have at most {MAX_REASON} characters, none of them NUL")));
    }
    Ok(reason)
}

pub(crate) fn moment(text: &str, field: &str) -> Result<Timestamp, ApiError> {
    text.parse::<jiff::Timestamp>()
        .map(|at| Timestamp::from_micros(at.as_microsecond()))
        .map_err(|_| bad(format!("`{field}` must be a moment such as 2026-01-31T12:00:00Z")))
}
