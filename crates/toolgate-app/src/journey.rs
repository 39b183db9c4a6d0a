//! A person signs in with an identity provider: sent there, and back with proof.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;
use toolgate_core::JsonText;
use toolgate_core::port::identity::{Binding, IdentityError};
use toolgate_core::port::store::StoreError;
use toolgate_core::principal::OneTimeToken;

use crate::attempts::address_bucket;
use crate::identity::{ConnectedProvider, IdentityFault, refuse};
use crate::secret::Secret;
use crate::sign_in::{Arrival, SignedIn};
use crate::{App, AppError};

/// How long someone may take at the provider.
const JOURNEY_LASTS: Duration = Duration::from_secs(600);
const PURPOSE: &str = "oidc";

/// Someone on their way to a provider.
#[derive(Debug)]
pub struct Departure {
    /// Where the browser goes.
    pub url: String,
    /// What it keeps until it is back. State, nonce and PKCE verifier are all made from it, so that none of them has
    /// to be stored, and none is worth anything in another browser.
    pub cookie: Secret,
}

/// Someone back from a provider.
#[derive(Debug)]
pub struct Return<'a> {
    /// What the browser kept.
    pub cookie: Option<Secret>,
    /// What the provider handed back.
    pub state: &'a str,
    /// The proof to exchange; none when the provider refused.
    pub code: Option<&'a str>,
    /// Where the answer says it comes from.
    pub issuer: Option<&'a str>,
}

/// What is remembered of someone on their way. Nothing secret.
#[derive(Debug, Serialize, Deserialize)]
struct Journey {
    provider: String,
    redirect_uri: String,
    return_to: String,
}

impl App {
    /// Sends someone to a provider, to be back at `redirect_uri` and then to go on to `return_to`.
    ///
    /// # Errors
    /// When there is no such provider, it does not answer, or too many set out from one address.
    pub async fn depart(
        &self,
        provider: &str,
        redirect_uri: String,
        return_to: String,
        arrival: &Arrival,
    ) -> Result<Departure, AppError> {
        let connected = self.provider(provider)?;
        self.entrance.journeys.take(&address_bucket(arrival.peer))?;
        let cookie = Secret::generate()?;
        let journey = Journey { provider: connected.name.clone(), redirect_uri, return_to };
        let url =
            connected.provider.sign_in_url(&Papers::of(&cookie).binding(&journey)).await.map_err(fault)?;
        let now = self.now();
        let token = OneTimeToken {
            hash: cookie.hash(),
            purpose: PURPOSE.to_owned(),
            tenant: connected.tenant.clone(),
            principal: None,
            data: JsonText::from_serialize(&journey).map_err(StoreError::unavailable)?,
            expires_at: now.plus(JOURNEY_LASTS),
        };
        self.store().put_token(token, now).await?;
        Ok(Departure { url, cookie })
    }

    /// Signs in someone who is back from a provider. Answers also where they wanted to go.
    ///
    /// # Errors
    /// When what they bring proves nothing, the provider does not answer, or they are not let in.
    pub async fn come_back(
        &self,
        provider: &str,
        back: Return<'_>,
        arrival: &Arrival,
    ) -> Result<(SignedIn, String), AppError> {
        let connected = self.provider(provider)?;
        let by_address = address_bucket(arrival.peer);
        self.entrance.addresses.take(&by_address)?;
        let journey = self.end_journey(connected, &back).await?;
        let (cookie, journey) = journey.ok_or_else(|| {
            refuse(IdentityFault::Invalid, "this is not the end of a sign-in that began in this browser")
        })?;
        self.entrance.addresses.give_back(&by_address);
        let Some(code) = back.code else {
            return Err(refuse(IdentityFault::Refused, "the identity provider did not let you in"));
        };
        let papers = Papers::of(&cookie);
        let binding = papers.binding(&journey);
        let identity = connected.provider.identify(&binding, code, back.issuer).await.map_err(fault)?;
        let user = self.user_of(connected, &identity).await?;
        if let Err(cause) = self.link_by_identity(&user, &identity, &connected.name).await {
            tracing::warn!(error = %cause, "a person's users in several tenants could not be linked");
        }
        let signed_in = self.begin_sign_in(user, &connected.name, arrival).await?;
        Ok((signed_in, journey.return_to))
    }

    /// Uses up the journey that this browser began with this provider, if the state is its own.
    async fn end_journey(
        &self,
        connected: &ConnectedProvider,
        back: &Return<'_>,
    ) -> Result<Option<(Secret, Journey)>, AppError> {
        let Some(cookie) = &back.cookie else { return Ok(None) };
        // The state is checked first: a page that sends a browser here with another one ends no journey.
        if !bool::from(Papers::of(cookie).state.as_bytes().ct_eq(back.state.as_bytes())) {
            return Ok(None);
        }
        let taken = self.store().take_token(&cookie.hash(), PURPOSE, self.now()).await?;
        let journey = taken.and_then(|token| serde_json::from_str::<Journey>(token.data.as_str()).ok());
        Ok(journey
            .filter(|journey| journey.provider == connected.name)
            .map(|journey| (cookie.clone(), journey)))
    }

    fn provider(&self, name: &str) -> Result<&ConnectedProvider, AppError> {
        let found = self.entrance.providers.iter().find(|provider| provider.name == name);
        found.ok_or(AppError::NotFound { what: "identity provider" })
    }
}

/// What a browser's secret makes for a journey.
struct Papers {
    state: String,
    nonce: String,
    verifier: String,
}

impl Papers {
    fn of(cookie: &Secret) -> Self {
        let (state, nonce, verifier) =
            (cookie.derive("state"), cookie.derive("nonce"), cookie.derive("pkce"));
        Self { state, nonce, verifier }
    }

    fn binding<'a>(&'a self, journey: &'a Journey) -> Binding<'a> {
        Binding {
            redirect_uri: &journey.redirect_uri,
            state: &self.state,
            nonce: &self.nonce,
            verifier: &self.verifier,
        }
    }
}

fn fault(cause: IdentityError) -> AppError {
    // What exactly went wrong helps the operator and nobody else.
    tracing::warn!(error = %cause, "a sign-in with an identity provider failed");
    match cause {
        IdentityError::Untrusted(_) => {
            refuse(IdentityFault::Invalid, "the identity provider's answer could not be verified")
        }
        _ => refuse(IdentityFault::Unavailable, "the identity provider does not answer as it should"),
    }
}
