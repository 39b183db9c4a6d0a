//! Keeping tokens fresh. One refresh at a time for each connection: on this node by a lock, across nodes by a right
//! that the store gives to one of them. Many authorization servers take a refresh token that comes twice for theft.

use std::time::Duration;

use toolgate_core::connection::{ConnectionKind, ConnectionState, OauthAccount};
use toolgate_core::port::connection_store::Renewal;
use toolgate_core::port::store::StoreError;
use toolgate_core::{CallError, ErrorCode};

use crate::broker::{Open, SecretBroker, unavailable};
use crate::contents::Contents;
use crate::envelope::Belongs;
use crate::oauth::{Grant, TokenFault, Tokens, redeem};

/// A token that is over so soon is made anew before it is sent.
const SKEW: Duration = Duration::from_secs(30);
/// Longer than a refresh takes: who holds the right for longer is gone.
const RIGHT_LASTS: Duration = Duration::from_secs(40);
/// How often another node's refresh is looked for, and how many times.
const LOOK_EVERY: Duration = Duration::from_millis(100);
const LOOKS: u32 = 300;

impl SecretBroker {
    /// Whether what is there can be sent.
    pub(crate) fn is_fresh(&self, open: &Open) -> bool {
        if !matches!(open.connection.kind, ConnectionKind::Oauth(_)) {
            return true;
        }
        let now = self.parts.clock.now().plus(SKEW);
        open.connection.state == ConnectionState::Ok && open.contents.expires_at.is_none_or(|end| now < end)
    }

    /// The same connection with a token that can be sent.
    pub(crate) async fn refreshed(&self, stale: Open) -> Result<Open, CallError> {
        let _alone = self.flights.alone_with(stale.connection.id).await;
        let mut open = stale;
        for _ in 0..LOOKS {
            // Whoever was before us may have done it.
            open = self.read_again(open).await?;
            if self.is_fresh(&open) {
                return Ok(open);
            }
            let now = self.parts.clock.now();
            let (tenant, id) = (&open.connection.tenant, open.connection.id);
            let until = now.plus(RIGHT_LASTS);
            let right = self.parts.store.claim_renewal(tenant, id, open.sealed.version, now, until).await;
            if right.map_err(unavailable)? {
                return self.refresh(open).await;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Err(away())
    }

    async fn read_again(&self, open: Open) -> Result<Open, CallError> {
        let known = &open.connection;
        let needed = || self.needed(&known.service, &known.owner);
        let found = self.parts.store.connection(&known.tenant, &known.service, &known.owner).await;
        let (connection, sealed) = found.map_err(unavailable)?.ok_or_else(needed)?;
        if connection.place != known.place
            || matches!(connection.state, ConnectionState::NeedsLogin | ConnectionState::Revoked)
        {
            return Err(needed());
        }
        self.open(connection, sealed)
    }

    /// Refreshes, with the right to do so.
    async fn refresh(&self, open: Open) -> Result<Open, CallError> {
        let ConnectionKind::Oauth(account) = &open.connection.kind else { return Ok(open) };
        let Some(refresh) = &open.contents.refresh else { return Err(self.log_in_again(&open).await) };
        let secret = open.contents.client_secret.as_deref();
        match redeem(&self.parts.egress, account, secret, Grant::Refresh(refresh)).await {
            Ok(tokens) => self.keep(&open, &tokens).await,
            Err(TokenFault::Refused(why)) => {
                tracing::info!(connection = %open.connection.id, why, "a refresh token is worth nothing any more");
                Err(self.log_in_again(&open).await)
            }
            Err(TokenFault::Later(cause)) => {
                let cause = cause.map_or_else(|| "no usable answer".to_owned(), |cause| cause.to_string());
                tracing::warn!(connection = %open.connection.id, cause, "a token could not be refreshed");
                self.give_back(&open, open.connection.state).await;
                let still_good = open.contents.expires_at.is_none_or(|end| self.parts.clock.now() < end);
                if still_good && open.connection.state == ConnectionState::Ok {
                    Ok(open)
                } else {
                    Err(away())
                }
            }
        }
    }

    async fn keep(&self, open: &Open, tokens: &Tokens) -> Result<Open, CallError> {
        let now = self.parts.clock.now();
        let mut contents = Contents::of(&tokens.access_token);
        // A server that gives no new refresh token leaves the old one good (RFC 6749, 6).
        contents.refresh = tokens.refresh_token.clone().or_else(|| open.contents.refresh.clone());
        contents.client_secret.clone_from(&open.contents.client_secret);
        contents.expires_at = tokens.lasts().map(|lasts| now.plus(lasts));
        let (tenant, id, seen) = (&open.connection.tenant, open.connection.id, open.sealed.version);
        let sealed = self.sealed(Belongs { tenant, connection: id }, seen + 1, &contents)?;
        let renewal = Renewal { secret: Some(sealed.clone()), state: ConnectionState::Ok, at: now };
        let mut connection = open.connection.clone();
        match self.parts.store.renew_connection(tenant, id, seen, renewal).await {
            Ok(()) => {
                connection.state = ConnectionState::Ok;
                connection.updated_at = now;
                Ok(Open { connection, sealed, contents })
            }
            // Our right had run out and another was quicker: theirs stands.
            Err(StoreError::Conflict) => self.read_again(Open { connection, sealed, contents }).await,
            Err(StoreError::NotFound) => Err(self.needed(&connection.service, &connection.owner)),
            Err(cause) => Err(unavailable(cause)),
        }
    }

    async fn log_in_again(&self, open: &Open) -> CallError {
        self.give_back(open, ConnectionState::NeedsLogin).await;
        self.needed(&open.connection.service, &open.connection.owner)
    }

    async fn give_back(&self, open: &Open, state: ConnectionState) {
        let renewal = Renewal { secret: None, state, at: self.parts.clock.now() };
        let (tenant, id) = (&open.connection.tenant, open.connection.id);
        match self.parts.store.renew_connection(tenant, id, open.sealed.version, renewal).await {
            Ok(()) | Err(StoreError::Conflict | StoreError::NotFound) => {}
            Err(cause) => tracing::warn!(error = %cause, "a connection's state was not written"),
        }
    }
}

/// What the scopes of an account are after an answer.
pub(crate) fn granted(account: &OauthAccount, tokens: &Tokens) -> Vec<String> {
    tokens.scope.as_deref().map_or_else(
        || account.scopes.clone(),
        |scope| scope.split_ascii_whitespace().take(64).map(ToOwned::to_owned).collect(),
    )
}

fn away() -> CallError {
    CallError::new(ErrorCode::UpstreamFailed, "the account's server gives no new token at the moment")
        .hint("try again later")
}
