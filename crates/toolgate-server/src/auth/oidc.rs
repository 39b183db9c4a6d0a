//! The two visits of a browser that signs in with an identity provider: on its way there, and back.

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use toolgate_app::Return;

use super::cookie::{JOURNEY, SIGN_IN};
use super::page::failed;
use super::signed_in::Arriving;
use super::{base_url, location, safe_path};
use crate::ServerState;
use crate::error::ApiError;
use crate::extract::PathId;
use crate::rest::bad;

#[derive(Debug, Deserialize)]
pub(super) struct Start {
    return_to: Option<String>,
}

/// Sends a browser to the provider.
pub(super) async fn start(
    State(state): State<ServerState>,
    Arriving(arrival): Arriving,
    PathId(name): PathId,
    headers: HeaderMap,
    query: Result<Query<Start>, QueryRejection>,
) -> Response {
    let depart = async {
        let Query(query) = query.map_err(|_| bad("the address has a malformed parameter"))?;
        let return_to = safe_path(query.return_to.as_deref()).to_owned();
        let redirect_uri = format!("{}/auth/oidc/{name}/callback", base_url(&state.settings, &headers));
        state.app.depart(&name, redirect_uri, return_to, &arrival).await.map_err(ApiError::from)
    };
    match depart.await {
        Ok(departure) => {
            let headers = [
                (header::SET_COOKIE, JOURNEY.set(&departure.cookie)),
                (header::LOCATION, location(&departure.url)),
            ];
            (StatusCode::FOUND, headers).into_response()
        }
        Err(cause) => failed(&cause),
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Callback {
    #[serde(default)]
    state: String,
    code: Option<String>,
    iss: Option<String>,
}

/// Takes a browser that comes back.
pub(super) async fn callback(
    State(state): State<ServerState>,
    Arriving(arrival): Arriving,
    PathId(name): PathId,
    headers: HeaderMap,
    query: Result<Query<Callback>, QueryRejection>,
) -> Response {
    let come_back = async {
        let Query(query) = query.map_err(|_| bad("the address has a malformed parameter"))?;
        let back = Return {
            cookie: JOURNEY.read(&headers),
            state: &query.state,
            code: query.code.as_deref(),
            issuer: query.iss.as_deref(),
        };
        state.app.come_back(&name, back, &arrival).await.map_err(ApiError::from)
    };
    match come_back.await {
        Ok((signed_in, return_to)) => {
            let mut response =
                (StatusCode::FOUND, [(header::LOCATION, location(safe_path(Some(&return_to))))])
                    .into_response();
            let headers = response.headers_mut();
            headers.append(header::SET_COOKIE, SIGN_IN.set(&signed_in.cookie));
            headers.append(header::SET_COOKIE, JOURNEY.clear());
            response
        }
        Err(cause) => failed(&cause),
    }
}
