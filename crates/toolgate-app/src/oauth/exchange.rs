//! An application exchanges a code for tokens; how it gets the next ones is in `refresh`. A code works once: one that is
//! shown again was stolen, by whoever came first or second, so all that came from it ends (RFC 9700).

use std::net::IpAddr;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq;
use toolgate_core::json::digest;
use toolgate_core::oauth::{OauthGrant, OauthHolder, OauthScope, OauthToken, OauthTokenKind};
use toolgate_core::port::store::StoreError;

use super::authorize::CodeBinding;
use super::{ACCESS_LASTS, ClientProof, GRANT_IDLE, OauthCode, OauthError};
use crate::attempts::address_bucket;
use crate::authenticate::hash_key;
use crate::secret::Secret;
use crate::{App, AppError};

/// What access tokens start with.
pub(super) const ACCESS: &str = "tgo_";
/// What refresh tokens start with.
pub(super) const REFRESH: &str = "tgr_";

/// What an application shows for tokens, as it came.
#[derive(Clone, Default)]
pub struct TokenRequest {
    /// `authorization_code` or `refresh_token`.
    pub grant_type: String,
    /// Who asks.
    pub client: ClientProof,
    /// A code.
    pub code: Option<String>,
    /// Where the person was sent back to with it.
    pub redirect_uri: Option<String>,
    /// What fits the challenge that came with the request (PKCE).
    pub code_verifier: Option<String>,
    /// A refresh token.
    pub refresh_token: Option<String>,
    /// Less than was granted, if it wants less.
    pub scope: Option<String>,
    /// Where the tokens are to work.
    pub resource: Option<String>,
}

impl std::fmt::Debug for TokenRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenRequest").field("grant_type", &self.grant_type).finish_non_exhaustive()
    }
}

/// Tokens, to be handed out once.
#[derive(Clone)]
pub struct Tokens {
    /// To be shown with each request.
    pub access: String,
    /// To be exchanged for the next two.
    pub refresh: String,
    /// How long the access token works, in seconds.
    pub expires_in: u64,
    /// What it may do.
    pub scopes: Vec<OauthScope>,
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokens").field("scopes", &self.scopes).finish_non_exhaustive()
    }
}

impl App {
    /// Exchanges a code or a refresh token.
    ///
    /// # Errors
    /// When what is shown does not work, or not for this application; or too much of that came from one address.
    pub async fn exchange_oauth(&self, request: TokenRequest, peer: IpAddr) -> Result<Tokens, OauthError> {
        if !self.oauth.settings.built_in {
            return Err(AppError::NotFound { what: "token endpoint" }.into());
        }
        let by_address = address_bucket(peer);
        self.oauth.exchanges.take(&by_address)?;
        let tokens = match request.grant_type.as_str() {
            "authorization_code" => self.exchange_code(&request).await,
            "refresh_token" => self.exchange_refresh(&request).await,
            _ => Err(OauthError::new(
                OauthCode::UnsupportedGrantType,
                "`grant_type` must be `authorization_code` or `refresh_token`",
            )),
        }?;
        self.oauth.exchanges.give_back(&by_address);
        Ok(tokens)
    }

    async fn exchange_code(&self, request: &TokenRequest) -> Result<Tokens, OauthError> {
        let code = needed(request.code.as_deref(), "code")?;
        let verifier = needed(request.code_verifier.as_deref(), "code_verifier")?;
        let holder = self.shown(code, OauthTokenKind::Code, &request.client).await?;
        let binding: CodeBinding = holder
            .token
            .data
            .as_ref()
            .and_then(|data| serde_json::from_str(data.as_str()).ok())
            .ok_or_else(|| invalid_grant("the code does not work"))?;
        if request.redirect_uri.as_ref().is_some_and(|uri| *uri != binding.redirect_uri) {
            return self.spoilt(&holder, "`redirect_uri` is not the one the code was sent to").await;
        }
        if !fits(verifier, &binding.challenge) {
            return self.spoilt(&holder, "`code_verifier` does not fit the `code_challenge`").await;
        }
        let asked = self.asked(request, &holder.grant)?;
        let new = NewTokens::generate()?;
        match self.write_tokens(&holder, &asked, &new).await {
            Ok(()) => Ok(new.handed_out(asked)),
            Err(StoreError::Conflict | StoreError::NotFound) => {
                // Someone else was quicker with the same one: which of the two stole it, nobody knows.
                self.end_stolen(&holder.grant).await?;
                Err(does_not_work())
            }
            Err(cause) => Err(cause.into()),
        }
    }

    /// Whoever has a code and not what belongs to it came by it wrongly: there is no second try.
    async fn spoilt(&self, holder: &OauthHolder, why: &'static str) -> Result<Tokens, OauthError> {
        tracing::warn!(grant = %holder.grant.id, client = holder.grant.client_id, "a code came without its proof");
        self.end_oauth_grant(&holder.grant, "a code came without its proof").await?;
        Err(invalid_grant(why))
    }

    /// What a token stands for, when it works, and for this application.
    async fn shown(
        &self,
        token: &str,
        kind: OauthTokenKind,
        client: &ClientProof,
    ) -> Result<OauthHolder, OauthError> {
        let holder = self.holder(token, kind, client).await?;
        if holder.token.used_at.is_some() {
            self.end_stolen(&holder.grant).await?;
            return Err(does_not_work());
        }
        self.lasts(&holder).await?;
        Ok(holder)
    }

    /// What a token of this application stands for, used or not.
    pub(super) async fn holder(
        &self,
        token: &str,
        kind: OauthTokenKind,
        client: &ClientProof,
    ) -> Result<OauthHolder, OauthError> {
        let found = self.store().oauth_token(&hash_key(token)).await?;
        let holder = found.filter(|holder| holder.token.kind == kind).ok_or_else(does_not_work)?;
        // Before anything is ended: who can't prove to be the application ends nothing either.
        self.prove_oauth_client(&holder.grant, client).await?;
        Ok(holder)
    }

    /// Whether a token's time, its grant and whoever gave it still let it work.
    pub(super) async fn lasts(&self, holder: &OauthHolder) -> Result<(), OauthError> {
        let now = self.now();
        let lasts = now < holder.token.expires_at && holder.grant.works_at(now);
        if !lasts || !self.may_come_in(&holder.principal).await? {
            return Err(does_not_work());
        }
        Ok(())
    }

    /// What is asked for, when it is no more than was granted.
    pub(super) fn asked(
        &self,
        request: &TokenRequest,
        grant: &OauthGrant,
    ) -> Result<Vec<OauthScope>, OauthError> {
        if request.resource.as_ref().is_some_and(|asked| asked.trim_end_matches('/') != grant.resource) {
            return Err(OauthError::new(
                OauthCode::InvalidTarget,
                "`resource` is not the one that was asked for first",
            ));
        }
        narrowed(request.scope.as_deref(), &grant.scopes)
    }

    /// Uses a token up and writes those that take its place.
    pub(super) async fn write_tokens(
        &self,
        holder: &OauthHolder,
        scopes: &[OauthScope],
        new: &NewTokens,
    ) -> Result<(), StoreError> {
        let (grant, now) = (&holder.grant, self.now());
        let made = |token: &str, kind, scopes: &[OauthScope], expires_at| OauthToken {
            hash: hash_key(token),
            grant: grant.id,
            kind,
            scopes: scopes.to_vec(),
            data: None,
            expires_at,
            used_at: None,
        };
        let ends = now.plus(GRANT_IDLE);
        let written = vec![
            made(&new.access, OauthTokenKind::Access, scopes, now.plus(ACCESS_LASTS)),
            made(&new.refresh, OauthTokenKind::Refresh, &grant.scopes, ends),
        ];
        self.store().exchange_oauth_token(&holder.token.hash, now, written, ends).await
    }

    pub(super) async fn end_stolen(&self, grant: &OauthGrant) -> Result<(), OauthError> {
        if grant.revoked_at.is_none() {
            tracing::warn!(grant = %grant.id, client = grant.client_id, "a used code or refresh token came again");
            metrics::counter!("toolgate_oauth_reuse_total").increment(1);
            self.end_oauth_grant(grant, "a used code or refresh token came again").await?;
        }
        Ok(())
    }
}

/// Two tokens to be handed out.
pub(super) struct NewTokens {
    pub(super) access: String,
    pub(super) refresh: String,
}

impl NewTokens {
    fn generate() -> Result<Self, StoreError> {
        Ok(Self {
            access: format!("{ACCESS}{}", Secret::generate()?.reveal()),
            refresh: format!("{REFRESH}{}", Secret::generate()?.reveal()),
        })
    }

    /// As an application gets them.
    pub(super) fn handed_out(self, scopes: Vec<OauthScope>) -> Tokens {
        Tokens { access: self.access, refresh: self.refresh, expires_in: ACCESS_LASTS.as_secs(), scopes }
    }
}

pub(super) fn does_not_work() -> OauthError {
    invalid_grant("it does not work, or does not work any more")
}

pub(super) fn needed<'a>(value: Option<&'a str>, name: &str) -> Result<&'a str, OauthError> {
    value
        .filter(|value| (1..=512).contains(&value.len()))
        .ok_or_else(|| OauthError::new(OauthCode::InvalidRequest, format!("`{name}` is missing or too long")))
}

pub(super) fn invalid_grant(description: &str) -> OauthError {
    OauthError::new(OauthCode::InvalidGrant, description)
}

/// Whether a verifier fits a challenge made with S256 (RFC 7636).
fn fits(verifier: &str, challenge: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~".contains(&b);
    let well_formed = (43..=128).contains(&verifier.len()) && verifier.bytes().all(plain);
    let made = BASE64_URL_SAFE_NO_PAD.encode(digest(verifier.as_bytes()));
    well_formed && bool::from(made.as_bytes().ct_eq(challenge.as_bytes()))
}

/// What is left of a grant when less is asked for.
fn narrowed(scope: Option<&str>, granted: &[OauthScope]) -> Result<Vec<OauthScope>, OauthError> {
    let Some(scope) = scope.filter(|scope| !scope.trim().is_empty()) else { return Ok(granted.to_vec()) };
    let asked: Vec<OauthScope> = scope.split_ascii_whitespace().filter_map(OauthScope::from_text).collect();
    if asked.is_empty() || !asked.iter().all(|scope| scope.is_within(granted)) {
        return Err(OauthError::new(OauthCode::InvalidScope, "`scope` asks for more than was granted"));
    }
    Ok(asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verifier_of_the_standard_fits_its_challenge() {
        let (verifier, challenge) =
            ("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
        assert!(fits(verifier, challenge));
        assert!(!fits(&verifier.replace('d', "e"), challenge));
        assert!(!fits(challenge, challenge), "`plain` is not taken");
        assert!(!fits("", challenge));
    }

    #[test]
    fn less_may_be_asked_for_and_never_more() {
        use OauthScope::{Approve, Tools, ToolsRead};
        assert_eq!(narrowed(None, &[Tools]).unwrap(), [Tools]);
        assert_eq!(narrowed(Some("tools:read"), &[Tools]).unwrap(), [ToolsRead]);
        assert!(narrowed(Some("tools"), &[ToolsRead]).is_err());
        assert!(narrowed(Some("tools approve"), &[Tools]).is_err());
        assert_eq!(narrowed(Some("approve"), &[Tools, Approve]).unwrap(), [Approve]);
    }
}
