//! Applications that name themselves (RFC 7591), where the operator lets them.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use toolgate_api::DoorCode;
use toolgate_app::Registration;

use super::super::Peer;
use super::answer::{Refusal, failed};
use crate::ServerState;
use crate::error::ApiError;
use crate::extract::JsonBody;

/// What is read of what an application says of itself; the rest is not for us.
#[derive(Debug, Deserialize)]
pub(super) struct RegisterRequest {
    client_name: Option<String>,
    #[serde(default)]
    redirect_uris: Vec<String>,
    token_endpoint_auth_method: Option<String>,
}

#[derive(Serialize)]
struct RegisterView {
    client_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_secret: Option<String>,
    /// 0 means that it does not end by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_secret_expires_at: Option<u8>,
    client_name: String,
    redirect_uris: Vec<String>,
    token_endpoint_auth_method: String,
    grant_types: [&'static str; 2],
    response_types: [&'static str; 1],
}

pub(super) async fn register(
    State(state): State<ServerState>,
    Peer(peer): Peer,
    body: Result<JsonBody<RegisterRequest>, ApiError>,
) -> Response {
    if !state.app.oauth_registers() {
        let off = ApiError::door(DoorCode::NotFound, "applications do not name themselves here");
        return off
            .hint("use a client id metadata document, or ask an administrator for a `client_id`")
            .into_response();
    }
    let JsonBody(body) = match body {
        Ok(body) => body,
        Err(cause) => return failed(&cause),
    };
    let registration = Registration {
        name: body.client_name,
        redirect_uris: body.redirect_uris,
        auth_method: body.token_endpoint_auth_method,
    };
    match state.app.register_oauth_client(registration, peer).await {
        Ok(registered) => {
            let view = RegisterView {
                client_secret_expires_at: registered.secret.as_ref().map(|_| 0),
                client_secret: registered.secret.map(|secret| secret.reveal().to_owned()),
                client_id: registered.client_id,
                client_name: registered.client.name,
                redirect_uris: registered.client.redirect_uris,
                token_endpoint_auth_method: registered.auth_method,
                grant_types: ["authorization_code", "refresh_token"],
                response_types: ["code"],
            };
            (StatusCode::CREATED, Json(view)).into_response()
        }
        Err(cause) => Refusal(cause).into_response(),
    }
}
