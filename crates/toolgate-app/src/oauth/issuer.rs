//! Access tokens of other servers: whoever one vouches for is a person here, with no more than they may do here.

use std::sync::Arc;

use async_trait::async_trait;
use toolgate_core::Credential;
use toolgate_core::oauth::{OauthScope, grant_elsewhere};
use toolgate_core::port::identity::{Binding, Identity, IdentityError, IdentityProvider};
use toolgate_core::port::oauth::TokenVerifier;
use toolgate_core::{Actor, Timestamp};

use crate::identity::ConnectedProvider;
use crate::{App, AppError};

/// Another server whose access tokens are taken, and what the operator decided about its people.
#[derive(Clone)]
pub struct ConnectedIssuer {
    /// How it names itself.
    pub issuer: String,
    /// What its tokens must be for. An address of ours says where they work; any other word means `/mcp`.
    pub audience: String,
    /// What its tokens may do that name no scope of ours.
    pub scopes: Vec<OauthScope>,
    /// Who its people are here. Nobody signs in there: see [`TokensOnly`].
    pub people: ConnectedProvider,
    /// How its tokens are checked.
    pub verifier: Arc<dyn TokenVerifier>,
}

impl std::fmt::Debug for ConnectedIssuer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConnectedIssuer")
            .field("issuer", &self.issuer)
            .field("audience", &self.audience)
            .finish_non_exhaustive()
    }
}

impl ConnectedIssuer {
    /// Where its tokens work: an address of ours, or whatever is under `/mcp`.
    pub(super) fn resource(&self) -> Option<&str> {
        self.audience.starts_with("http").then_some(self.audience.trim_end_matches('/'))
    }
}

/// Stands where a provider to sign in with would: an issuer is known by its tokens alone.
#[derive(Debug, Clone, Copy)]
pub struct TokensOnly;

#[async_trait]
impl IdentityProvider for TokensOnly {
    async fn sign_in_url(&self, _: &Binding<'_>) -> Result<String, IdentityError> {
        Err(IdentityError::Unavailable("nobody signs in with this issuer".to_owned()))
    }

    async fn identify(&self, _: &Binding<'_>, _: &str, _: Option<&str>) -> Result<Identity, IdentityError> {
        Err(IdentityError::Unavailable("nobody signs in with this issuer".to_owned()))
    }
}

/// Someone another server vouches for.
pub(super) struct VouchedActor<'a> {
    pub(super) actor: Actor,
    pub(super) issuer: &'a ConnectedIssuer,
    pub(super) expires_at: Timestamp,
}

impl App {
    /// Who a token of another server speaks for: none when it is no server's we know, proves nothing, or speaks for
    /// someone who is not let in.
    pub(super) async fn vouched_actor(&self, token: &str) -> Result<Option<VouchedActor<'_>>, AppError> {
        let Some(issuer) =
            self.oauth.settings.issuers.iter().find(|issuer| issuer.verifier.is_issuer_of(token))
        else {
            return Ok(None);
        };
        let vouched = match issuer.verifier.verify(token, self.now()).await {
            Ok(vouched) => vouched,
            Err(cause) => {
                // What exactly is wrong with it helps the operator and nobody else.
                tracing::debug!(issuer = issuer.issuer, error = %cause, "a token of another server was refused");
                return Ok(None);
            }
        };
        let principal = match self.user_of(&issuer.people, &vouched.identity).await {
            Ok(principal) => principal,
            Err(AppError::Identity { message, .. }) => {
                tracing::debug!(issuer = issuer.issuer, message, "a person of another server was not let in");
                return Ok(None);
            }
            Err(other) => return Err(other),
        };
        let named: Vec<OauthScope> =
            vouched.scopes.iter().filter_map(|word| OauthScope::from_text(word)).collect();
        let scopes = if named.is_empty() { issuer.scopes.clone() } else { named };
        // Nothing allowed must not become everything.
        let Some(scopes) = OauthScope::narrow(&scopes) else { return Ok(None) };
        let credential = Credential::Token(grant_elsewhere(&vouched.identity.issuer, &vouched.identity.sub));
        let actor = self.actor_from(principal, credential, scopes, None).await?;
        Ok(actor.map(|actor| VouchedActor { actor, issuer, expires_at: vouched.expires_at }))
    }
}
