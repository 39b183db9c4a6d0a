//! What this server says of itself: as one that hands out tokens (RFC 8414), and as one that takes them (RFC 9728).

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use toolgate_api::DoorCode;
use toolgate_core::id::Slug;
use toolgate_core::oauth::OauthScope;

use super::super::base_url;
use crate::ServerState;
use crate::error::ApiError;
use crate::extract::PathId;

const AUTH_METHODS: [&str; 3] = ["none", "client_secret_basic", "client_secret_post"];

pub(super) async fn authorization_server(
    State(state): State<ServerState>,
    headers: HeaderMap,
) -> Result<Json<Value>, ApiError> {
    if !state.app.oauth_built_in() {
        return Err(ApiError::door(DoorCode::NotFound, "this server hands out no tokens itself")
            .hint("see /.well-known/oauth-protected-resource for who does"));
    }
    let base = base_url(&state.settings, &headers);
    let mut document = json!({
        "issuer": base,
        "authorization_endpoint": format!("{base}/oauth/authorize"),
        "token_endpoint": format!("{base}/oauth/token"),
        "revocation_endpoint": format!("{base}/oauth/revoke"),
        "scopes_supported": scopes(),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": AUTH_METHODS,
        "revocation_endpoint_auth_methods_supported": AUTH_METHODS,
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
        "client_id_metadata_document_supported": state.app.oauth_reads_documents(),
    });
    if state.app.oauth_registers() {
        document["registration_endpoint"] = json!(format!("{base}/oauth/register"));
    }
    Ok(Json(document))
}

pub(super) async fn server_resource(State(state): State<ServerState>, headers: HeaderMap) -> Json<Value> {
    resource(&state, &headers, "")
}

pub(super) async fn mcp_resource(State(state): State<ServerState>, headers: HeaderMap) -> Json<Value> {
    resource(&state, &headers, "/mcp")
}

/// Says the same of every name that could be a toolset's: which there are is not for everyone to know.
pub(super) async fn toolset_resource(
    State(state): State<ServerState>,
    headers: HeaderMap,
    PathId(toolset): PathId,
) -> Response {
    match toolset.parse::<Slug>() {
        Ok(toolset) => resource(&state, &headers, &format!("/mcp/{toolset}")).into_response(),
        Err(_) => ApiError::door(DoorCode::NotFound, "this is not a toolset's name").into_response(),
    }
}

fn resource(state: &ServerState, headers: &HeaderMap, path: &str) -> Json<Value> {
    let base = base_url(&state.settings, headers);
    let ours = state.app.oauth_built_in().then_some(base.as_str());
    let servers: Vec<&str> = ours.into_iter().chain(state.app.oauth_issuers()).collect();
    Json(json!({
        "resource": format!("{base}{path}"),
        "resource_name": "Toolgate",
        "authorization_servers": servers,
        "bearer_methods_supported": ["header"],
        "scopes_supported": scopes(),
    }))
}

fn scopes() -> Vec<&'static str> {
    OauthScope::ALL.iter().map(|scope| scope.as_str()).collect()
}
