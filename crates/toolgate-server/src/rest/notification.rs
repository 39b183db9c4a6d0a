//! Notifications: what was told outside, once more, and whether a channel works.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use serde::Deserialize;
use toolgate_api::{ErrorBody, NotificationListView, NotificationView};
use toolgate_core::id::NotificationId;
use toolgate_core::notification::NotificationState;
use utoipa::IntoParams;

use super::tool::{bad, limit, parse_id, query};
use crate::ServerState;
use crate::error::ApiError;
use crate::extract::{Caller, PathId};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct NotificationQuery {
    /// Only those that are `waiting`, `delivered` or `dead`.
    state: Option<String>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// How many, from 1 to 1000.
    limit: Option<u32>,
}

/// Lists what was told outside, newest first. For those who manage approvals.
#[utoipa::path(get, path = "/api/v1/notifications", tag = "notifications", params(NotificationQuery),
    responses((status = 200, body = NotificationListView), (status = "default", body = ErrorBody)))]
pub(crate) async fn list_notifications(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    asked: Result<Query<NotificationQuery>, QueryRejection>,
) -> Result<Json<NotificationListView>, ApiError> {
    let asked = query(asked)?;
    let which = asked.state.as_deref().map(state_of).transpose()?;
    let after = asked.cursor.as_deref().map(|cursor| parse_id(cursor, "cursor")).transpose()?;
    let limit = limit(asked.limit, 100)?;
    let (found, next) = state.app.list_notifications(&actor, which, after, limit).await?;
    Ok(Json(NotificationListView {
        notifications: found.into_iter().map(NotificationView::from).collect(),
        next_cursor: next.map(|id| id.to_string()),
    }))
}

/// Sends a notification that was not delivered once more.
#[utoipa::path(post, path = "/api/v1/notifications/{id}/retry", tag = "notifications",
    params(("id" = String, Path)),
    responses((status = 200, body = NotificationView), (status = "default", body = ErrorBody)))]
pub(crate) async fn retry_notification(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
) -> Result<Json<NotificationView>, ApiError> {
    Ok(Json(state.app.retry_notification(&actor, notification_id(&id)?).await?.into()))
}

/// Sends a message to a channel, once and at once, to see whether it arrives.
#[utoipa::path(post, path = "/api/v1/notifications/channels/{name}/test", tag = "notifications",
    params(("name" = String, Path)),
    responses((status = 200, body = NotificationView), (status = "default", body = ErrorBody)))]
pub(crate) async fn test_channel(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(name): PathId,
) -> Result<Json<NotificationView>, ApiError> {
    Ok(Json(state.app.test_channel(&actor, &name).await?.into()))
}

fn state_of(text: &str) -> Result<NotificationState, ApiError> {
    NotificationState::from_text(text).ok_or_else(|| bad("`state` must be `waiting`, `delivered` or `dead`"))
}

fn notification_id(text: &str) -> Result<NotificationId, ApiError> {
    // An id that can't exist is a notification that does not exist.
    text.parse().map_err(|_| toolgate_app::AppError::NotFound { what: "notification" }.into())
}
