//! A caller known by their cookie, and what any browser brings along.

use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;
use toolgate_api::DoorCode;
use toolgate_app::{Arrival, Secret};
use toolgate_core::Actor;
use toolgate_core::principal::SignIn;

use super::cookie::SIGN_IN;
use super::{Peer, csrf};
use crate::ServerState;
use crate::error::ApiError;

/// Someone who signed in with this browser.
#[derive(Debug)]
pub(crate) struct SignedInCaller {
    pub(crate) actor: Actor,
    pub(super) sign_in: SignIn,
    pub(super) cookie: Secret,
}

impl FromRequestParts<ServerState> for SignedInCaller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ServerState) -> Result<Self, ApiError> {
        let missing = || {
            ApiError::door(DoorCode::Unauthenticated, "nobody is signed in with this browser")
                .hint("sign in with `POST /api/v1/auth/sign-in`, or at /sign-in")
        };
        let cookie = SIGN_IN.read(&parts.headers).ok_or_else(missing)?;
        csrf::check(&parts.method, &parts.headers, &cookie)?;
        let (actor, sign_in) = state.app.authenticate_cookie(&cookie).await?.ok_or_else(missing)?;
        Ok(Self { actor, sign_in, cookie })
    }
}

impl SignedInCaller {
    /// Whether the request brings a cookie that could be one of ours.
    pub(crate) fn comes_with(parts: &Parts) -> bool {
        SIGN_IN.read(&parts.headers).is_some()
    }
}

/// What a browser brings along when it signs in.
#[derive(Debug)]
pub(super) struct Arriving(pub(super) Arrival);

impl FromRequestParts<ServerState> for Arriving {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ServerState) -> Result<Self, ApiError> {
        let Peer(peer) = Peer::from_request_parts(parts, state).await?;
        let user_agent = parts.headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok());
        Ok(Self(Arrival {
            peer,
            user_agent: user_agent.unwrap_or_default().to_owned(),
            cookie: SIGN_IN.read(&parts.headers),
        }))
    }
}
