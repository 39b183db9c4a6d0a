//! Codes and refresh tokens for tokens, and tokens given back.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use toolgate_app::{OauthCode, OauthError, TokenRequest, Tokens};

use super::super::Peer;
use super::answer::Refusal;
use super::parameters::ClientForm;
use crate::ServerState;

/// Tokens as applications get them.
#[derive(Serialize)]
pub(super) struct TokenView {
    access_token: String,
    token_type: &'static str,
    expires_in: u64,
    refresh_token: String,
    scope: String,
}

impl From<Tokens> for TokenView {
    fn from(tokens: Tokens) -> Self {
        let scopes: Vec<&str> = tokens.scopes.iter().map(|scope| scope.as_str()).collect();
        Self {
            access_token: tokens.access,
            token_type: "Bearer",
            expires_in: tokens.expires_in,
            refresh_token: tokens.refresh,
            scope: scopes.join(" "),
        }
    }
}

/// Exchanges a code or a refresh token.
pub(super) async fn exchange(
    State(state): State<ServerState>,
    Peer(peer): Peer,
    form: ClientForm,
) -> Result<Json<TokenView>, Refusal> {
    let ClientForm { mut parameters, client } = form;
    let request = TokenRequest {
        grant_type: parameters.take("grant_type").unwrap_or_default(),
        client,
        code: parameters.take("code"),
        redirect_uri: parameters.take("redirect_uri"),
        code_verifier: parameters.take("code_verifier"),
        refresh_token: parameters.take("refresh_token"),
        scope: parameters.take("scope"),
        resource: parameters.take("resource"),
    };
    Ok(Json(state.app.exchange_oauth(request, peer).await?.into()))
}

/// Takes a token back that an application gives up (RFC 7009). One that is not known is as good as given up.
pub(super) async fn revoke(
    State(state): State<ServerState>,
    Peer(peer): Peer,
    form: ClientForm,
) -> Result<StatusCode, Refusal> {
    let ClientForm { mut parameters, client } = form;
    let token = parameters.take("token").ok_or(OauthError::Refused {
        code: OauthCode::InvalidRequest,
        description: "`token` is missing".to_owned(),
    })?;
    state.app.revoke_oauth_token(&token, &client, peer).await?;
    Ok(StatusCode::OK)
}
