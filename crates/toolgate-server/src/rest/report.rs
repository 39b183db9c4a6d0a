//! Results of calls that were handed on: by call id, or once by a callback address.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use toolgate_api::{ErrorBody, InvocationView, LinksView, ToolResultRequest, ToolResultView};
use toolgate_app::AppError;
use toolgate_core::runner::{Report, Reported};

use super::invocation::invocation_id;
use super::tool::bad;
use crate::ServerState;
use crate::auth::{Peer, base_url};
use crate::error::ApiError;
use crate::extract::{Caller, JsonBody, PathId};

/// Reports the result of a call of this run (its session) that was handed on.
///
/// It is validated against the tool's output schema and redacted. One that does not fit is refused and the call goes on
/// waiting; one that comes after the outcome is kept as an event and changes nothing.
#[utoipa::path(post, path = "/api/v1/runs/{run}/tool-results", tag = "invocations",
    params(("run" = String, Path, description = "the session of the call")), request_body = ToolResultRequest,
    responses((status = 200, body = ToolResultView), (status = "default", body = ErrorBody)))]
pub(crate) async fn report_result(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(run): PathId,
    JsonBody(body): JsonBody<ToolResultRequest>,
) -> Result<Json<ToolResultView>, ApiError> {
    let run = run.parse().map_err(|_| AppError::NotFound { what: "session" })?;
    let id = body.call_id.clone().ok_or_else(|| bad("`callId` must name the call"))?;
    let reported = state.app.report_result(&actor, run, invocation_id(&id)?, report(body)?).await?;
    Ok(Json(view(reported)))
}

/// Reports the result of one call at its callback address. It needs no key and works once.
#[utoipa::path(post, path = "/api/v1/callbacks/{token}", tag = "invocations", security(()),
    params(("token" = String, Path)), request_body = ToolResultRequest,
    responses((status = 200, body = ToolResultView), (status = "default", body = ErrorBody)))]
pub(crate) async fn report_by_callback(
    State(state): State<ServerState>,
    Peer(peer): Peer,
    PathId(token): PathId,
    JsonBody(body): JsonBody<ToolResultRequest>,
) -> Result<Json<ToolResultView>, ApiError> {
    if body.call_id.is_some() {
        return Err(bad("`callId` is known here; leave it out"));
    }
    let mut shown = view(state.app.report_by_callback(&token, report(body)?, peer).await?);
    // Whoever has the address reports; they are not shown what was asked.
    shown.invocation.input = toolgate_core::JsonText::from_value(&serde_json::Value::Null);
    shown.invocation.review = None;
    Ok(Json(shown))
}

/// Makes a new callback or share address for your own waiting call, in case the first never reached you.
#[utoipa::path(post, path = "/api/v1/invocations/{id}/links", tag = "invocations", params(("id" = String, Path)),
    responses((status = 201, body = LinksView), (status = "default", body = ErrorBody)))]
pub(crate) async fn make_links(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
    headers: HeaderMap,
) -> Result<(StatusCode, Json<LinksView>), ApiError> {
    let (callback, share) = state.app.links_of(&actor, invocation_id(&id)?).await?;
    let base = base_url(&state.settings, &headers);
    let links = LinksView {
        callback_url: callback.map(|token| format!("{base}/api/v1/callbacks/{token}")),
        share_url: share.map(|token| format!("{base}/embed/v/{token}")),
    };
    Ok((StatusCode::CREATED, Json(links)))
}

fn report(body: ToolResultRequest) -> Result<Report, ApiError> {
    match (body.result, body.error) {
        (Some(result), None) => Ok(Report::Completed { result, cost_micros: body.cost_micros }),
        (None, Some(message)) => Ok(Report::Failed { message }),
        _ => Err(bad("send either `result` or `error`")),
    }
}

fn view(reported: Reported) -> ToolResultView {
    let (taken, row) = match reported {
        Reported::Taken(row) => (true, row),
        Reported::Late(row) => (false, row),
    };
    ToolResultView { taken, invocation: InvocationView::from(row) }
}
