//! Tools: list, read, call.

use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Deserialize;
use toolgate_api::{CallView, DoorCode, ErrorBody, InvokeRequest, ToolListView, ToolSummaryView, ToolView};
use toolgate_core::id::{IdempotencyKey, ToolName};
use toolgate_core::{CallResult, ErrorCode, Status};
use utoipa::IntoParams;

use crate::ServerState;
use crate::auth::base_url;
use crate::door::Outside;
use crate::error::{ApiError, call_response};
use crate::extract::{Caller, JsonBody, PathId};

/// The longest a caller may wait for a call.
const MAX_WAIT: Duration = Duration::from_secs(300);
/// How long a caller waits who does not say.
const DEFAULT_WAIT: Duration = Duration::from_secs(30);

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolPage {
    /// Where the page starts, from `next_cursor` of the one before.
    cursor: Option<String>,
    /// How many, from 1 to 1,000.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// Lists the tools you may call, ordered by id.
#[utoipa::path(get, path = "/api/v1/tools", tag = "tools", params(ToolPage),
    responses((status = 200, body = ToolListView), (status = "default", body = ErrorBody)))]
pub(crate) async fn list_tools(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    page: Result<Query<ToolPage>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<ToolListView>, ApiError> {
    let page = query(page)?;
    let limit = limit(page.limit, 200)? as usize;
    // One more than is shown tells whether there are more.
    let tools = state.app.list_tools(
        &actor,
        toolgate_app::source_of(&actor),
        page.cursor.as_deref().unwrap_or_default(),
        limit + 1,
    );
    let shown = &tools[..limit.min(tools.len())];
    let next_cursor = shown.last().filter(|_| tools.len() > limit).map(|tool| tool.contract.id.to_string());
    Ok(Json(ToolListView {
        tools: shown.iter().map(|tool| ToolSummaryView::from(&**tool)).collect(),
        next_cursor,
    }))
}

/// Shows one tool with its schemas.
#[utoipa::path(get, path = "/api/v1/tools/{id}", tag = "tools", params(("id" = String, Path)),
    responses((status = 200, body = ToolView), (status = "default", body = ErrorBody)))]
pub(crate) async fn read_tool(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
) -> Result<Json<ToolView>, ApiError> {
    let tool = state.app.read_tool(&actor, toolgate_app::source_of(&actor), &tool_name(&id)?)?;
    Ok(Json(ToolView::from(&*tool)))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wait {
    /// How many seconds to wait for the outcome, from 0 to 300; past it the answer is 202 and a handle.
    #[param(minimum = 0, maximum = 300)]
    pub(crate) wait: Option<f64>,
}

/// Calls a tool.
///
/// The answer is 200 with the result, 202 with a handle when the call waits for a person or takes longer than `wait`,
/// or an error with its code. The `Location` header names the call either way.
#[utoipa::path(post, path = "/api/v1/tools/{id}/invoke", tag = "tools",
    params(("id" = String, Path), Wait,
        ("Idempotency-Key" = Option<String>, Header, description = "makes a repeat return the first call's result")),
    request_body = InvokeRequest,
    responses((status = 200, body = CallView), (status = 202, body = CallView),
        (status = "default", body = ErrorBody)))]
pub(crate) async fn invoke_tool(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
    wait: Result<Query<Wait>, axum::extract::rejection::QueryRejection>,
    headers: HeaderMap,
    JsonBody(body): JsonBody<InvokeRequest>,
) -> Result<Response, ApiError> {
    let began = Instant::now();
    let request = toolgate_app::InvokeRequest {
        tool: tool_name(&id)?,
        input: body.input,
        session: body.session_id.map(|id| parse_id(&id, "session_id")).transpose()?,
        parent: body.parent_call_id.map(|id| parse_id(&id, "parent_call_id")).transpose()?,
        idempotency_key: idempotency_key(&headers)?,
        connection: None,
        source: toolgate_app::source_of(&actor),
        wait: wait_of(&query(wait)?, DEFAULT_WAIT)?,
        watch: None,
    };
    let mut result = state.app.invoke_tool(&actor, request).await?;
    result.error = result.error.map(|error| error.seen_from(&base_url(&state.settings, &headers)));
    let links = match (result.status, result.repeated) {
        (Status::Waiting, false) => Links {
            base: base_url(&state.settings, &headers),
            callback: state.app.callback_for(&actor.tenant, result.call_id).await?,
            share: state.app.share_input_request(&actor.tenant, result.call_id).await?,
        },
        _ => match result.asks {
            Some(question) => Links {
                base: base_url(&state.settings, &headers),
                callback: None,
                share: state.app.share_input_request(&actor.tenant, question).await?,
            },
            None => Links::default(),
        },
    };
    Ok(show(result, began.elapsed(), links))
}

/// A call's result as a response that says how long the gate took.
pub(crate) fn show_call(result: CallResult, total: Duration) -> Response {
    show(result, total, Links::default())
}

/// Where the answer to a waiting call goes: shown once, with the call's first answer.
#[derive(Debug, Default)]
struct Links {
    base: String,
    callback: Option<String>,
    share: Option<String>,
}

fn show(result: CallResult, total: Duration, links: Links) -> Response {
    let Links { base, callback, share } = links;
    let error = result.error.as_ref().map(|error| {
        let seconds = error.details.as_ref().and_then(|details| details.get("retry_after_seconds")?.as_f64());
        (error.code, seconds)
    });
    // A call that goes on in doubt or after a crash may carry no error of its own.
    let error = error
        .or_else(|| (result.status == toolgate_core::Status::InDoubt).then_some((ErrorCode::InDoubt, None)));
    let outside = Outside(result.tool_time);
    let view = CallView {
        callback_url: callback.map(|token| format!("{base}/api/v1/callbacks/{token}")),
        share_url: share.map(|token| format!("{base}/embed/v/{token}")),
        ..CallView::new(result, total)
    };
    let mut response = call_response(view, error);
    response.extensions_mut().insert(outside);
    response
}

pub(crate) fn wait_of(wait: &Wait, default: Duration) -> Result<Duration, ApiError> {
    match wait.wait {
        None => Ok(default),
        Some(seconds) if (0.0..=MAX_WAIT.as_secs_f64()).contains(&seconds) => {
            Ok(Duration::from_secs_f64(seconds))
        }
        Some(_) => Err(bad("`wait` must be from 0 to 300 seconds")),
    }
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, ApiError> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let key = value.to_str().ok().and_then(|text| text.parse().ok());
    key.map(Some).ok_or_else(|| bad("`Idempotency-Key` must be 1 to 255 visible ASCII characters"))
}

pub(crate) fn tool_name(id: &str) -> Result<ToolName, ApiError> {
    // A name that can't exist is a tool that does not exist.
    id.parse().map_err(|_| {
        ApiError::call(ErrorCode::Unavailable, "no tool has this id")
            .hint("list the tools with `GET /api/v1/tools`")
    })
}

pub(crate) fn parse_id<T: std::str::FromStr<Err = toolgate_core::id::BadId>>(
    text: &str,
    field: &str,
) -> Result<T, ApiError> {
    text.parse().map_err(|cause: toolgate_core::id::BadId| bad(format!("`{field}`: {cause}")))
}

pub(crate) fn limit(asked: Option<u32>, default: u32) -> Result<u32, ApiError> {
    match asked {
        None => Ok(default),
        Some(limit @ 1..=1000) => Ok(limit),
        Some(_) => Err(bad("`limit` must be from 1 to 1000")),
    }
}

pub(crate) fn query<T>(
    query: Result<Query<T>, axum::extract::rejection::QueryRejection>,
) -> Result<T, ApiError> {
    query.map(|Query(query)| query).map_err(|cause| {
        bad(what_is_wrong(&cause.body_text())).hint("see /api/v1/openapi.json for what may stand there")
    })
}

/// That an address takes no such parameter.
pub(crate) fn no_parameter(name: &str) -> String {
    let shown: String = name.chars().filter(|c| c.is_ascii_graphic() && *c != '`').take(64).collect();
    format!("`{shown}` is no parameter of this address")
}

/// What is wrong with a query, by the name of the parameter. What came as its value is not repeated.
fn what_is_wrong(text: &str) -> String {
    let named = |text: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        (1..=64).contains(&text.len()) && text.chars().all(plain)
    };
    let after = |start: &str| text.split_once(start)?.1.split_once('`').map(|(name, _)| name);
    if let Some(name) = after("unknown field `").filter(|name| named(name)) {
        return no_parameter(name);
    }
    if let Some(name) = after("missing field `").filter(|name| named(name)) {
        return format!("the address lacks the parameter `{name}`");
    }
    if let Some(name) = after("duplicate field `").filter(|name| named(name)) {
        return format!("`{name}` may come only once");
    }
    // Before what is wrong stands where: `…query string: limit: …`.
    let place = text.split_once("query string: ").and_then(|(_, rest)| rest.split_once(": "));
    match place.map(|(name, _)| name).filter(|name| named(name)) {
        Some(name) => format!("the parameter `{name}` of the address can't be read"),
        None => "the query of the address has an unknown or malformed parameter".to_owned(),
    }
}

pub(crate) fn bad(message: impl Into<String>) -> ApiError {
    ApiError::door(DoorCode::BadRequest, message)
}
