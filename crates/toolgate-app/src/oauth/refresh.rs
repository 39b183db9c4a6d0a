//! An application exchanges a refresh token for the next two tokens. It works once: one that comes again was stolen, by
//! whoever came first or second, so all that came from it ends (RFC 9700).
//!
//! An honest application may ask twice at the same moment, from two windows, or again after an answer was lost. For a few
//! seconds a token that was used leads to the tokens that took its place: the same ones, made from the used token and
//! from a number that is kept for as long. Neither alone is enough to make them.

use std::time::Duration;

use serde_json::json;
use toolgate_core::JsonText;
use toolgate_core::json::digest;
use toolgate_core::oauth::{OauthHolder, OauthScope, OauthTokenKind};
use toolgate_core::port::store::StoreError;
use toolgate_core::principal::OneTimeToken;

use super::client::DYNAMIC;
use super::exchange::{ACCESS, NewTokens, REFRESH, TokenRequest, Tokens, does_not_work, needed};
use super::{OauthCode, OauthError};
use crate::App;
use crate::authenticate::hash_key;
use crate::secret::Secret;

/// How long a used token leads to those that took its place.
const GRACE: Duration = Duration::from_secs(10);
const PURPOSE: &str = "oauth_successor";
/// How long the number is kept that they are made from: longer than anyone may take between two steps.
const KEPT: Duration = Duration::from_secs(300);

impl App {
    pub(super) async fn exchange_refresh(&self, request: &TokenRequest) -> Result<Tokens, OauthError> {
        let token = needed(request.refresh_token.as_deref(), "refresh_token")?;
        let mut holder = self.holder(token, OauthTokenKind::Refresh, &request.client).await?;
        if holder.token.used_at.is_none() {
            self.lasts(&holder).await?;
            let scopes = self.asked(request, &holder.grant)?;
            let new = self.successors(token, &holder).await?;
            match self.write_tokens(&holder, &scopes, &new).await {
                Ok(()) => {
                    if holder.grant.client_id.starts_with(DYNAMIC) {
                        self.store().touch_oauth_registration(&holder.grant.client_id, self.now()).await?;
                    }
                    return Ok(new.handed_out(scopes));
                }
                // Someone else was quicker with the same one.
                Err(StoreError::Conflict | StoreError::NotFound) => {
                    holder = self.holder(token, OauthTokenKind::Refresh, &request.client).await?;
                }
                Err(cause) => return Err(cause.into()),
            }
        }
        match self.again(token, request, &holder).await? {
            Some(tokens) => Ok(tokens),
            None => {
                self.end_stolen(&holder.grant).await?;
                Err(does_not_work())
            }
        }
    }

    /// The tokens that took a used one's place, for whoever asks for the same once more, at once. None when it is not
    /// that: too late, for something else, or they are in use already.
    async fn again(
        &self,
        token: &str,
        request: &TokenRequest,
        holder: &OauthHolder,
    ) -> Result<Option<Tokens>, OauthError> {
        if holder.token.used_at.is_none_or(|used| self.now() >= used.plus(GRACE)) {
            return Ok(None);
        }
        self.lasts(holder).await?;
        let scopes = match self.asked(request, &holder.grant) {
            Ok(scopes) => scopes,
            Err(OauthError::Refused { code: OauthCode::InvalidScope | OauthCode::InvalidTarget, .. }) => {
                return Ok(None);
            }
            Err(cause) => return Err(cause),
        };
        let Some(number) = self.kept_number(&holder.token.hash).await? else { return Ok(None) };
        let new = made_of(token, &number);
        let is_theirs = async |text: &str, scopes: Option<&[OauthScope]>| -> Result<bool, OauthError> {
            let found = self.store().oauth_token(&hash_key(text)).await?;
            Ok(found.is_some_and(|found| {
                found.grant.id == holder.grant.id
                    && found.token.used_at.is_none()
                    && scopes.is_none_or(|scopes| found.token.scopes == scopes)
            }))
        };
        if !is_theirs(&new.refresh, None).await? || !is_theirs(&new.access, Some(&scopes)).await? {
            return Ok(None);
        }
        tracing::debug!(grant = %holder.grant.id, "a refresh token came twice at once");
        Ok(Some(new.handed_out(scopes)))
    }

    /// What takes a token's place: the same for all who ask at the same time, on every node.
    async fn successors(&self, token: &str, holder: &OauthHolder) -> Result<NewTokens, OauthError> {
        let number = Secret::generate()?;
        let now = self.now();
        let kept = OneTimeToken {
            hash: place_of(&holder.token.hash),
            purpose: PURPOSE.to_owned(),
            tenant: holder.grant.tenant.clone(),
            principal: Some(holder.grant.principal.clone()),
            data: JsonText::from_value(&json!(number.reveal())),
            expires_at: now.plus(KEPT),
        };
        match self.store().put_token(kept, now).await {
            Ok(()) => Ok(made_of(token, number.reveal())),
            Err(StoreError::Refused(_)) => {
                let number = self.kept_number(&holder.token.hash).await?.ok_or_else(does_not_work)?;
                Ok(made_of(token, &number))
            }
            Err(cause) => Err(cause.into()),
        }
    }

    async fn kept_number(&self, used: &[u8; 32]) -> Result<Option<String>, StoreError> {
        let kept = self.store().read_token(&place_of(used), PURPOSE, self.now()).await?;
        Ok(kept.and_then(|kept| serde_json::from_str(kept.data.as_str()).ok()))
    }
}

fn place_of(hash: &[u8; 32]) -> [u8; 32] {
    digest(&[PURPOSE.as_bytes(), hash].concat())
}

fn made_of(token: &str, number: &str) -> NewTokens {
    let one = |kind: &str, prefix: &str| {
        let text = format!("toolgate.oauth.successor.v1 {kind} {} {token}{number}", token.len());
        format!("{prefix}{}", toolgate_core::json::to_hex(&digest(text.as_bytes())))
    };
    NewTokens { access: one("access", ACCESS), refresh: one("refresh", REFRESH) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn successors_need_both_the_token_and_the_number() {
        let text = |token: &str, number: &str| {
            let NewTokens { access, refresh } = made_of(token, number);
            assert_ne!(access[4..], refresh[4..]);
            (access, refresh)
        };
        let first = text("tgr_a", "1");
        assert_eq!(first, text("tgr_a", "1"));
        assert_ne!(first, text("tgr_a", "2"));
        assert_ne!(first, text("tgr_b", "1"));
        assert_ne!(text("tgr_a1", "2"), text("tgr_a", "12"), "where one ends is part of it");
    }
}
