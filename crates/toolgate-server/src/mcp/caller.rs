//! Who is at this door: a bearer key or token, never a cookie, so that no page can send messages in a person's name.

use async_trait::async_trait;
use axum::http::header;
use axum::http::request::Parts;
use axum::response::Response;
use toolgate_app::Address;
use toolgate_core::Actor;
use toolgate_mcp::Standing;

use super::refuse;
use crate::ServerState;
use crate::auth::{Peer, base_url, challenge};
use crate::extract::one_credential;

/// The caller of a request, or the answer to whoever is none.
pub(super) async fn of(state: &ServerState, parts: &Parts) -> Result<Actor, Response> {
    let unknown = || challenge::unauthenticated(state, &parts.headers, parts.uri.path());
    if let Err(twice) = one_credential(&parts.headers) {
        return Err(refuse::api(twice));
    }
    match find(state, parts).await {
        Ok(Some(actor)) if challenge::lacks_tools(&actor) => {
            let (headers, path) = (&parts.headers, parts.uri.path());
            Err(challenge::insufficient_scope(state, headers, path, challenge::USUAL_SCOPE))
        }
        Ok(Some(actor)) => Ok(actor),
        Ok(None) => Err(unknown()),
        Err(cause) => Err(refuse::api(cause.into())),
    }
}

async fn find(state: &ServerState, parts: &Parts) -> Result<Option<Actor>, toolgate_app::AppError> {
    if let Some(known) = &state.settings.mcp_caller {
        return state.app.local_caller(known).await;
    }
    let Some(text) = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()) else {
        return Ok(None);
    };
    let Some((scheme, credential)) = text.split_once(' ') else { return Ok(None) };
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Ok(None);
    }
    let peer = Peer::of(&parts.extensions, &parts.headers, &state.settings.trusted_proxies);
    let base = base_url(&state.settings, &parts.headers);
    let address = Address { base: &base, path: parts.uri.path() };
    state.app.authenticate_at(credential.trim(), peer.0, address).await
}

/// What a request came with, for streams: who it is can be asked again.
pub(super) struct Bearer {
    pub(super) state: ServerState,
    pub(super) parts: Parts,
}

#[async_trait]
impl Standing for Bearer {
    async fn caller(&self) -> Option<Actor> {
        // Nothing is told to someone of whom it can't be told that they may hear it.
        find(&self.state, &self.parts).await.ok().flatten()
    }
}
