//! Counts over calls.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use serde::Deserialize;
use toolgate_api::{ErrorBody, UsageRowView, UsageView, rfc3339};
use toolgate_core::Timestamp;
use toolgate_core::port::usage::UsageRow;
use utoipa::IntoParams;

use super::invocation::moment;
use super::tool::{parse_id, query};
use crate::ServerState;
use crate::error::ApiError;
use crate::extract::Caller;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct UsageRange {
    /// Of one tool.
    #[param(pattern = "^[A-Za-z0-9_-]+__[A-Za-z0-9_-]+$", max_length = 64)]
    tool: Option<String>,
    /// Made at or after this moment (RFC 3339); 30 days before `until` when left out.
    #[param(format = DateTime)]
    since: Option<String>,
    /// Made before this moment (RFC 3339); now when left out.
    #[param(format = DateTime)]
    until: Option<String>,
}

/// Counts calls by tool, day and status: your own, or everyone's if you read the record.
#[utoipa::path(get, path = "/api/v1/usage", tag = "invocations", params(UsageRange),
    responses((status = 200, body = UsageView), (status = "default", body = ErrorBody)))]
pub(crate) async fn read_usage(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    range: Result<Query<UsageRange>, QueryRejection>,
) -> Result<Json<UsageView>, ApiError> {
    let range = query(range)?;
    let tool = range.tool.map(|id| parse_id(&id, "tool")).transpose()?;
    let since = range.since.map(|text| moment(&text, "since")).transpose()?;
    let until = range.until.map(|text| moment(&text, "until")).transpose()?;
    let rows = state.app.usage(&actor, tool, since, until).await?;
    Ok(Json(UsageView { usage: rows.into_iter().map(view).collect() }))
}

#[allow(clippy::cast_precision_loss, reason = "a length of time for people")]
fn view(row: UsageRow) -> UsageRowView {
    let midnight = Timestamp::from_micros(row.day.saturating_mul(86_400_000_000));
    UsageRowView {
        tool: row.tool.to_string(),
        day: rfc3339(midnight).chars().take(10).collect(),
        status: row.status.as_str().to_owned(),
        calls: row.calls,
        cost_micros: row.cost_micros,
        run_ms: row.run_micros as f64 / 1_000.0,
        last_at: rfc3339(row.last_at),
    }
}
