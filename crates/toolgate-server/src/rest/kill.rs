//! Kill switches: list, throw, lift.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde::Deserialize;
use toolgate_api::{ErrorBody, KillListView, KillView, ThrowKillRequest, ThrownKillView, rfc3339};
use toolgate_app::Stored;
use toolgate_core::kill::{Kill, KillKind};
use utoipa::IntoParams;

use super::document::NamePage;
use super::tool::{bad, limit, query};
use crate::ServerState;
use crate::error::ApiError;
use crate::extract::{Caller, JsonBody};

/// Lists the thrown switches, ordered by kind and target.
#[utoipa::path(get, path = "/api/v1/kills", tag = "kills", params(NamePage),
    responses((status = 200, body = KillListView), (status = "default", body = ErrorBody)))]
pub(crate) async fn list_kills(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    page: Result<Query<NamePage>, QueryRejection>,
) -> Result<Json<KillListView>, ApiError> {
    let page = query(page)?;
    let limit = limit(page.limit, 200)? as usize;
    let (found, next_cursor) = state.app.list_kills(&actor, page.cursor.as_deref(), limit).await?;
    Ok(Json(KillListView { kills: found.into_iter().map(view).collect(), next_cursor }))
}

/// Throws a switch: what it names is refused at once, whatever policy says.
///
/// Calls of the tool, by or for the principal, with the connection, in the session or of the whole tenant are refused,
/// and those that run are asked to stop, except for a connection: which running calls use it is not recorded. Managing
/// goes on. Throwing a switch again changes at most its reason. What is not there can be named too: it may come.
#[utoipa::path(post, path = "/api/v1/kills", tag = "kills", request_body = ThrowKillRequest,
    responses((status = 200, body = ThrownKillView), (status = "default", body = ErrorBody)))]
pub(crate) async fn throw_kill(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    JsonBody(body): JsonBody<ThrowKillRequest>,
) -> Result<Json<ThrownKillView>, ApiError> {
    let kind = kind(&body.kind)?;
    let thrown = state.app.throw_kill(&actor, kind, body.target.as_deref(), &body.reason).await?;
    Ok(Json(ThrownKillView { kill: view(thrown.kill), known: Some(thrown.known) }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct KillTarget {
    /// What it stops.
    #[param(pattern = "^(tool|principal|connection|session|tenant)$")]
    kind: String,
    /// Which one; left out for `tenant`.
    target: Option<String>,
}

/// Lifts a switch: what it stopped can be called again.
#[utoipa::path(delete, path = "/api/v1/kills", tag = "kills", params(KillTarget),
    responses((status = 204), (status = "default", body = ErrorBody)))]
pub(crate) async fn lift_kill(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    which: Result<Query<KillTarget>, QueryRejection>,
) -> Result<StatusCode, ApiError> {
    let which = query(which)?;
    state.app.lift_kill(&actor, kind(&which.kind)?, which.target.as_deref()).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn kind(word: &str) -> Result<KillKind, ApiError> {
    KillKind::from_text(word)
        .ok_or_else(|| bad("`kind` must be `tool`, `principal`, `connection`, `session` or `tenant`"))
}

fn view(thrown: Stored<Kill>) -> KillView {
    KillView {
        kind: thrown.body.kind.as_str().to_owned(),
        target: thrown.body.target,
        reason: thrown.body.reason,
        by: thrown.by.to_string(),
        at: rfc3339(thrown.at),
    }
}
