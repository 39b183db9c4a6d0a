//! OAuth over HTTP: the authorization server that lets people let applications in, and what this server says of itself
//! as a resource.

mod answer;
mod authorize;
mod consent;
mod metadata;
mod parameters;
mod register;
mod token;

use axum::Router;
use axum::routing::{get, post};

use crate::ServerState;

/// What applications ask, and the page that people decide on.
pub(super) fn routes() -> Router<ServerState> {
    Router::new()
        .route("/.well-known/oauth-authorization-server", get(metadata::authorization_server))
        // Where clients look that know only OpenID Connect's address for the same document.
        .route("/.well-known/openid-configuration", get(metadata::authorization_server))
        .route("/.well-known/oauth-protected-resource", get(metadata::server_resource))
        .route("/.well-known/oauth-protected-resource/mcp", get(metadata::mcp_resource))
        .route("/.well-known/oauth-protected-resource/mcp/{toolset}", get(metadata::toolset_resource))
        .route("/oauth/authorize", get(authorize::ask).post(authorize::decide))
        .route("/oauth/token", post(token::exchange))
        .route("/oauth/revoke", post(token::revoke))
        .route("/oauth/register", post(register::register))
}
