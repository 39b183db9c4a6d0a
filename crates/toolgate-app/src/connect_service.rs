//! A person logs in at an outside service: sent to its authorization server, and back with proof.

use std::time::Duration;

use toolgate_core::Actor;
use toolgate_core::connection::{Connection, Owner};
use toolgate_core::id::PrincipalKind;
use toolgate_core::json::digest;
use toolgate_core::port::broker::{Login, Returned};
use toolgate_core::principal::OneTimeToken;

use crate::secret::Secret;
use crate::services::place_of;
use crate::{App, AppError};

/// How long someone may take at an authorization server.
const LOGIN_LASTS: Duration = Duration::from_secs(600);
const PURPOSE: &str = "connection";

impl App {
    /// Finds where a person logs in at a service. Their browser comes back to `redirect_uri`.
    ///
    /// # Errors
    /// "Not found" for a service there is not; "forbidden"; what its servers do wrong.
    pub async fn connect_service(
        &self,
        actor: &Actor,
        service: &str,
        shared: bool,
        redirect_uri: String,
    ) -> Result<String, AppError> {
        let owner = self.owner(actor, shared)?;
        if actor.principal.kind() != PrincipalKind::User {
            return Err(AppError::forbidden("only a person can log in at a service")
                .with_hint("give the service a token with `PUT /api/v1/connections/{service}`"));
        }
        let upstream = self.service(actor, service).await?;
        // Each asks other servers a few things: nobody needs that without end.
        self.entrance.journeys.take(&digest(format!("connect {}", actor.principal).as_bytes()))?;
        let state = Secret::generate()?;
        let login = Login {
            tenant: actor.tenant.clone(),
            person: actor.principal.clone(),
            service: service.to_owned(),
            owner,
            place: place_of(&upstream),
            redirect_uri,
            state: state.reveal().to_owned(),
        };
        let underway = self.broker()?.depart(&login).await.map_err(AppError::Call)?;
        let now = self.now();
        let token = OneTimeToken {
            hash: state.hash(),
            purpose: PURPOSE.to_owned(),
            tenant: login.tenant,
            principal: Some(login.person),
            data: underway.papers,
            expires_at: now.plus(LOGIN_LASTS),
        };
        self.store().put_token(token, now).await?;
        Ok(underway.url)
    }

    /// Ends a login that the same person began, with a code or with what the server says instead. The caller has to be signed in as that person: otherwise one could have
    /// another log in for oneself.
    ///
    /// # Errors
    /// [`AppError::TokenInvalid`] for a state that is unknown, used, over or another's; what the server says.
    pub async fn finish_connection(
        &self,
        actor: &Actor,
        state: &str,
        code: Result<String, Option<String>>,
        issuer: Option<String>,
    ) -> Result<Connection, AppError> {
        let hash = Secret::given(state).ok_or(AppError::TokenInvalid)?.hash();
        let now = self.now();
        let known = self.store().read_token(&hash, PURPOSE, now).await?.ok_or(AppError::TokenInvalid)?;
        if known.tenant != actor.tenant || known.principal.as_ref() != Some(&actor.principal) {
            // Not used up: whoever began it may still end it.
            return Err(AppError::TokenInvalid);
        }
        let taken = self.store().take_token(&hash, PURPOSE, now).await?.ok_or(AppError::TokenInvalid)?;
        let (code, refusal) = match code {
            Ok(code) => (Some(code), None),
            Err(refusal) => (None, refusal),
        };
        let back = Returned { papers: taken.data, code, refusal, issuer };
        let arrived = self.broker()?.arrive(&actor.tenant, &actor.principal, back).await;
        let (connection, sealed) = arrived.map_err(AppError::Call)?;
        // What was so when they left may not be so any more.
        self.owner(actor, connection.owner == Owner::Shared)?;
        let upstream = self.service(actor, &connection.service).await?;
        if place_of(&upstream).bound() != connection.place {
            return Err(AppError::Conflict {
                message: "the service has moved in the meantime; begin again".to_owned(),
            });
        }
        self.write_connection(actor, connection, sealed).await
    }
}
