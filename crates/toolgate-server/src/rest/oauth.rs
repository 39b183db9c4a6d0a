//! Applications that a tenant's managers name, and what people let applications do.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde::Deserialize;
use toolgate_api::{
    CreateOauthClientRequest, ErrorBody, NewOauthClientView, OauthClientListView, OauthClientView,
    OauthGrantListView,
};
use toolgate_app::{AppError, NewOauthClient, Stored};
use toolgate_core::id::Slug;
use toolgate_core::oauth::{OauthClient, OauthScope};
use utoipa::IntoParams;

use super::tool::{bad, limit, parse_id, query};
use crate::ServerState;
use crate::error::ApiError;
use crate::extract::{Caller, JsonBody, PathId};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClientPage {
    /// Where the page starts, from `next_cursor` of the one before.
    #[param(max_length = 64)]
    cursor: Option<String>,
    /// How many, from 1 to 1,000.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// Lists the applications that were named here. Those that name themselves, or are described at their own address, are
/// not in it.
#[utoipa::path(get, path = "/api/v1/oauth/clients", tag = "oauth", params(ClientPage),
    responses((status = 200, body = OauthClientListView), (status = "default", body = ErrorBody)))]
pub(crate) async fn list_oauth_clients(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    page: Result<Query<ClientPage>, QueryRejection>,
) -> Result<Json<OauthClientListView>, ApiError> {
    let page = query(page)?;
    let most = limit(page.limit, 200)? as usize;
    let (found, next) = state.app.list_oauth_clients(&actor, page.cursor.as_deref(), most).await?;
    Ok(Json(OauthClientListView { clients: found.into_iter().map(view).collect(), next_cursor: next }))
}

/// Names an application, so that people can let it in. Its secret, if it is to have one, is shown this once.
#[utoipa::path(post, path = "/api/v1/oauth/clients", tag = "oauth", request_body = CreateOauthClientRequest,
    responses((status = 201, body = NewOauthClientView), (status = "default", body = ErrorBody)))]
pub(crate) async fn create_oauth_client(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    JsonBody(body): JsonBody<CreateOauthClientRequest>,
) -> Result<(StatusCode, Json<NewOauthClientView>), ApiError> {
    let scopes: Option<Vec<OauthScope>> =
        body.scopes.iter().map(|scope| OauthScope::from_text(scope)).collect();
    let new = NewOauthClient {
        id: parse_id(&body.id, "id")?,
        name: body.name,
        redirect_uris: body.redirect_uris,
        scopes: scopes.ok_or_else(|| bad("`scopes` may be `tools`, `tools:read` and `approve`"))?,
        confidential: body.confidential,
    };
    let made = state.app.create_oauth_client(&actor, new).await?;
    let secret = made.secret.map(|secret| secret.reveal().to_owned());
    Ok((StatusCode::CREATED, Json(NewOauthClientView { client: view(made.client), secret })))
}

/// Shows an application.
#[utoipa::path(get, path = "/api/v1/oauth/clients/{id}", tag = "oauth", params(("id" = String, Path)),
    responses((status = 200, body = OauthClientView), (status = "default", body = ErrorBody)))]
pub(crate) async fn read_oauth_client(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
) -> Result<Json<OauthClientView>, ApiError> {
    Ok(Json(view(state.app.read_oauth_client(&actor, &client_id(&id)?).await?)))
}

/// Takes an application away, and back whatever people let it do.
#[utoipa::path(delete, path = "/api/v1/oauth/clients/{id}", tag = "oauth", params(("id" = String, Path)),
    responses((status = 204), (status = "default", body = ErrorBody)))]
pub(crate) async fn remove_oauth_client(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
) -> Result<StatusCode, ApiError> {
    state.app.remove_oauth_client(&actor, &client_id(&id)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct GrantPage {
    /// Of one person; left out, your own.
    #[param(pattern = "^(user|agent|service):[A-Za-z0-9_.@+/:-]{1,128}$")]
    principal: Option<String>,
    /// Everyone's.
    #[serde(default)]
    all: bool,
    /// Where the page starts, from `next_cursor` of the one before.
    #[param(pattern = "^ogr_[0-9a-f]{32}$")]
    cursor: Option<String>,
    /// How many, from 1 to 1,000.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// Lists what you let applications do, oldest first; for managers of `oauth_clients` also what others did.
#[utoipa::path(get, path = "/api/v1/oauth/grants", tag = "oauth", params(GrantPage),
    responses((status = 200, body = OauthGrantListView), (status = "default", body = ErrorBody)))]
pub(crate) async fn list_oauth_grants(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    page: Result<Query<GrantPage>, QueryRejection>,
) -> Result<Json<OauthGrantListView>, ApiError> {
    let page = query(page)?;
    let principal = page.principal.map(|id| parse_id(&id, "principal")).transpose()?;
    let after = page.cursor.map(|id| parse_id(&id, "cursor")).transpose()?;
    let most = limit(page.limit, 200)?;
    let (found, next) = state.app.list_oauth_grants(&actor, principal, page.all, after, most).await?;
    Ok(Json(OauthGrantListView {
        grants: found.into_iter().map(Into::into).collect(),
        next_cursor: next.map(|id| id.to_string()),
    }))
}

/// Takes back what you let an application do: its tokens stop working at once, on every node within a second. Managers
/// of `oauth_clients` can do it for others.
#[utoipa::path(delete, path = "/api/v1/oauth/grants/{id}", tag = "oauth", params(("id" = String, Path)),
    responses((status = 204), (status = "default", body = ErrorBody)))]
pub(crate) async fn revoke_oauth_grant(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(id): PathId,
) -> Result<StatusCode, ApiError> {
    let id = id.parse().map_err(|_| AppError::NotFound { what: "grant" })?;
    state.app.revoke_oauth_grant(&actor, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn view(stored: Stored<OauthClient>) -> OauthClientView {
    OauthClientView::new(stored.name, stored.body, stored.by.to_string(), stored.at)
}

fn client_id(text: &str) -> Result<Slug, ApiError> {
    text.parse().map_err(|_| AppError::NotFound { what: "application" }.into())
}
