//! Accounts at outside services: list, give a secret, log in, remove.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use serde::Deserialize;
use toolgate_api::{
    ConnectRequest, ConnectView, ConnectionListView, ConnectionView, ErrorBody, PutConnectionRequest, rfc3339,
};
use toolgate_core::connection::{Connection, ConnectionKind, Owner};
use toolgate_core::port::connection::Opened;
use utoipa::IntoParams;

use super::tool::{bad, limit, query};
use crate::ServerState;
use crate::auth::base_url;
use crate::error::ApiError;
use crate::extract::{Caller, JsonBody, OptionalJson, PathId};

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ConnectionPage {
    /// Where the page starts, from `next_cursor` of the one before.
    #[param(pattern = "^con_[0-9a-f]{32}$")]
    cursor: Option<String>,
    /// How many, from 1 to 1,000.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// Lists your own connections and the shared ones; those who manage connections see all. No secret is shown.
#[utoipa::path(get, path = "/api/v1/connections", tag = "connections", params(ConnectionPage),
    responses((status = 200, body = ConnectionListView), (status = "default", body = ErrorBody)))]
pub(crate) async fn list_connections(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    page: Result<Query<ConnectionPage>, QueryRejection>,
) -> Result<Json<ConnectionListView>, ApiError> {
    let page = query(page)?;
    let after =
        page.cursor.map(|cursor| cursor.parse().map_err(|_| bad("this is not a cursor"))).transpose()?;
    let (found, next) = state.app.list_connections(&actor, after, limit(page.limit, 200)?).await?;
    let next_cursor = next.map(|id| id.to_string());
    Ok(Json(ConnectionListView { connections: found.into_iter().map(view).collect(), next_cursor }))
}

/// Keeps a secret for a service, in the place of what was kept before.
#[utoipa::path(put, path = "/api/v1/connections/{service}", tag = "connections",
    params(("service" = String, Path, description = "such as `mcp:github`")), request_body = PutConnectionRequest,
    responses((status = 200, body = ConnectionView), (status = "default", body = ErrorBody)))]
pub(crate) async fn put_connection(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(service): PathId,
    JsonBody(body): JsonBody<PutConnectionRequest>,
) -> Result<Json<ConnectionView>, ApiError> {
    let secret = Opened::new(body.secret.into_inner());
    let kind = kind(&body.kind, body.name)?;
    Ok(Json(view(state.app.put_connection(&actor, &service, body.shared, kind, secret).await?)))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct OwnerQuery {
    /// Whose: `shared`, or a principal; your own when it is left out.
    owner: Option<String>,
}

/// Removes a connection and what opens it.
#[utoipa::path(delete, path = "/api/v1/connections/{service}", tag = "connections",
    params(("service" = String, Path), OwnerQuery),
    responses((status = 204), (status = "default", body = ErrorBody)))]
pub(crate) async fn delete_connection(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(service): PathId,
    owner: Result<Query<OwnerQuery>, QueryRejection>,
) -> Result<StatusCode, ApiError> {
    let owner = query(owner)?.owner;
    let owner: Option<Owner> = owner
        .map(|owner| owner.parse().map_err(|_| bad("`owner` must be `shared` or a principal")))
        .transpose()?;
    state.app.remove_connection(&actor, &service, owner).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Begins a login at a service: answers where to go with a browser that is signed in here as you.
#[utoipa::path(post, path = "/api/v1/connections/{service}/connect", tag = "connections",
    params(("service" = String, Path)), request_body = Option<ConnectRequest>,
    responses((status = 200, body = ConnectView), (status = "default", body = ErrorBody)))]
pub(crate) async fn connect_service(
    State(state): State<ServerState>,
    Caller(actor): Caller,
    PathId(service): PathId,
    headers: HeaderMap,
    OptionalJson(body): OptionalJson<ConnectRequest>,
) -> Result<Json<ConnectView>, ApiError> {
    let redirect_uri = callback(&state, &headers);
    let authorize_url = state.app.connect_service(&actor, &service, body.shared, redirect_uri).await?;
    Ok(Json(ConnectView { authorize_url }))
}

/// Where browsers come back to.
pub(crate) fn callback(state: &ServerState, headers: &HeaderMap) -> String {
    format!("{}/connections/callback", base_url(&state.settings, headers))
}

fn kind(word: &str, name: Option<String>) -> Result<ConnectionKind, ApiError> {
    match (word, name) {
        ("token", None) => Ok(ConnectionKind::Token),
        ("header", Some(name)) => Ok(ConnectionKind::Header { name }),
        ("env", Some(name)) => Ok(ConnectionKind::Env { name }),
        ("token", Some(_)) => Err(bad("a `token` has no `name`")),
        ("header" | "env", None) => Err(bad("`name` has to say which")),
        _ => Err(bad("`kind` must be `token`, `header` or `env`")),
    }
}

pub(super) fn view(connection: Connection) -> ConnectionView {
    let word = connection.kind.as_str().to_owned();
    let (name, issuer, scopes) = match connection.kind {
        ConnectionKind::Token => (None, None, Vec::new()),
        ConnectionKind::Header { name } | ConnectionKind::Env { name } => (Some(name), None, Vec::new()),
        ConnectionKind::Oauth(account) => (None, Some(account.issuer), account.scopes),
    };
    ConnectionView {
        id: connection.id.to_string(),
        service: connection.service,
        owner: connection.owner.as_str().to_owned(),
        kind: word,
        name,
        issuer,
        scopes,
        place: connection.place,
        state: connection.state.as_str().to_owned(),
        created_at: rfc3339(connection.created_at),
        updated_at: rfc3339(connection.updated_at),
        last_used_at: connection.last_used_at.map(rfc3339),
    }
}
