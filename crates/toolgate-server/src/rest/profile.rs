//! Profiles: list, read, write, remove. A profile can only tighten.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use toolgate_api::{ErrorBody, ProfileListView, ProfileView, PutProfileRequest, rfc3339};
use toolgate_app::Stored;
use toolgate_core::profile::Profile;

use super::document::{
    NamePage, budget, budget_view, name, new_name, overrun, overrun_word, precondition, tagged, tightening,
};
use super::tool::{limit, query};
use crate::ServerState;
use crate::error::ApiError;
use crate::extract::{Caller, JsonBody, PathId};

/// Lists the profiles, ordered by name.
#[utoipa::path(get, path = "/api/v1/profiles", tag = "profiles", params(NamePage),
    responses((status = 200, body = ProfileListView), (status = "default", body = ErrorBody)))]
pub(crate) async fn list_profiles(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    page: Result<Query<NamePage>, QueryRejection>,
) -> Result<Json<ProfileListView>, ApiError> {
    let page = query(page)?;
    let limit = limit(page.limit, 200)? as usize;
    let (found, next_cursor) = state.app.list_profiles(&actor, page.cursor.as_deref(), limit).await?;
    Ok(Json(ProfileListView { profiles: found.into_iter().map(view).collect(), next_cursor }))
}

/// Shows a profile.
#[utoipa::path(get, path = "/api/v1/profiles/{name}", tag = "profiles", params(("name" = String, Path)),
    responses((status = 200, body = ProfileView), (status = "default", body = ErrorBody)))]
pub(crate) async fn read_profile(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
) -> Result<Response, ApiError> {
    Ok(show(state.app.read_profile(&actor, &name(&id, "profile")?).await?))
}

/// Writes a profile: what holds for an agent's use of the tools assigned with it, on top of policy. Every field can
/// only tighten.
#[utoipa::path(put, path = "/api/v1/profiles/{name}", tag = "profiles",
    params(("name" = String, Path),
        ("If-Match" = Option<String>, Header, description = "write only over this revision, in quotation marks"),
        ("If-None-Match" = Option<String>, Header, description = "`*`: write only if there is none")),
    request_body = PutProfileRequest,
    responses((status = 200, body = ProfileView), (status = "default", body = ErrorBody)))]
pub(crate) async fn put_profile(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
    headers: HeaderMap,
    JsonBody(body): JsonBody<PutProfileRequest>,
) -> Result<Response, ApiError> {
    let profile = Profile {
        approval: tightening(body.approval.as_deref(), "profile")?,
        rate_per_minute: body.rate_per_minute,
        concurrency: body.concurrency,
        cost: budget(body.cost)?,
        on_overrun: overrun(body.on_overrun.as_deref())?,
        arguments: body.arguments,
        description: body.description,
    };
    Ok(show(state.app.put_profile(&actor, &new_name(&id)?, profile, precondition(&headers)?).await?))
}

/// Removes a profile that no assignment uses.
#[utoipa::path(delete, path = "/api/v1/profiles/{name}", tag = "profiles",
    params(("name" = String, Path),
        ("If-Match" = Option<String>, Header, description = "remove only this revision, in quotation marks")),
    responses((status = 204), (status = "default", body = ErrorBody)))]
pub(crate) async fn delete_profile(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
    headers: HeaderMap,
) -> Result<StatusCode, ApiError> {
    state.app.delete_profile(&actor, &name(&id, "profile")?, precondition(&headers)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn show(found: Stored<Profile>) -> Response {
    let revision = found.revision;
    tagged(view(found), Some(revision))
}

fn view(found: Stored<Profile>) -> ProfileView {
    let profile = found.body;
    ProfileView {
        name: found.name,
        description: profile.description,
        approval: profile.approval.map(|_| "always_ask".to_owned()),
        rate_per_minute: profile.rate_per_minute,
        concurrency: profile.concurrency,
        cost: profile.cost.map(budget_view),
        on_overrun: overrun_word(profile.on_overrun),
        arguments: profile.arguments,
        revision: found.revision,
        updated_by: found.by.to_string(),
        updated_at: rfc3339(found.at),
    }
}
