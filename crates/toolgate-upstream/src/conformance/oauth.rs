//! A person at a browser who lets us in wherever a server asks: the library's OAuth client, and a visit to the page it
//! names. The gate itself logs in by its connection broker.

use std::collections::BTreeSet;

use async_trait::async_trait;
use rmcp::transport::auth::{AuthError, AuthorizationRequest, OAuthState, WWWAuthenticateParams};
use serde_json::Value;
use tokio::sync::Mutex;
use toolgate_core::error::{CallError, ErrorCode};
use toolgate_core::port::connection::{Opened, Presented};
use url::Url;

use crate::keys::{Keys, Refusal};

const DESCRIPTION: &str = "https://conformance-test.local/client-metadata.json";
const RETURN_TO: &str = "http://localhost:3000/callback";
/// How often one request may be taken to the browser.
const MOST_VISITS: u32 = 3;

pub(super) struct OauthKeys {
    url: String,
    client: Option<(String, Option<String>)>,
    granted: Mutex<Granted>,
}

#[derive(Default)]
struct Granted {
    token: Option<String>,
    scopes: BTreeSet<String>,
}

impl OauthKeys {
    pub(super) fn new(url: &str, context: &Value) -> Self {
        let text = |key: &str| context.get(key).and_then(Value::as_str).map(str::to_owned);
        let client = text("client_id").map(|id| (id, text("client_secret")));
        Self { url: url.to_owned(), client, granted: Mutex::default() }
    }

    async fn log_in(&self, challenge: Option<&str>, scopes: &BTreeSet<String>) -> Result<String, AuthError> {
        let mut oauth = OAuthState::new(self.url.as_str(), None).await?;
        let mut request = AuthorizationRequest::new(RETURN_TO)
            .with_client_name("toolgate")
            .with_client_metadata_url(DESCRIPTION);
        if let Some((id, secret)) = &self.client {
            request = request.with_preregistered_client(id);
            if let Some(secret) = secret {
                request = request.with_client_secret(secret);
            }
        }
        if !scopes.is_empty() {
            request = request.with_scopes(scopes.iter().cloned());
        }
        if let Some(challenge) = challenge {
            request = request.with_challenge(challenge);
        }
        oauth.start_authorization(request).await?;
        let back = visit(&oauth.get_authorization_url().await?).await?;
        oauth.handle_callback_url(&back).await?;
        let manager = oauth.into_authorization_manager();
        let manager = manager.ok_or_else(|| AuthError::InternalError("no manager".to_owned()))?;
        manager.get_access_token().await
    }
}

/// Opens a page that sends the browser back at once; answers where to.
async fn visit(url: &str) -> Result<String, AuthError> {
    let broken = |why: &str| AuthError::InternalError(why.to_owned());
    let browser = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build();
    let page = browser.map_err(|_| broken("no browser"))?.get(url).send().await;
    let page = page.map_err(|_| broken("the page does not open"))?;
    let location = page.headers().get("location").and_then(|value| value.to_str().ok());
    location.map(str::to_owned).ok_or_else(|| broken("the page leads nowhere"))
}

#[async_trait]
impl Keys for OauthKeys {
    async fn present(&self) -> Result<Vec<Presented>, CallError> {
        let granted = self.granted.lock().await;
        Ok(granted.token.iter().map(|token| Presented::Bearer(Opened::new(token.clone()))).collect())
    }

    async fn refused(&self, refusal: Refusal<'_>) -> Result<(), CallError> {
        let needed = |why: String| CallError::new(ErrorCode::ConnectionNeeded, why);
        if refusal.before >= MOST_VISITS {
            return Err(needed("the server asks for more again and again".to_owned()));
        }
        let mut granted = self.granted.lock().await;
        let base = Url::parse(&self.url).map_err(|_| needed("no address".to_owned()))?;
        let asked =
            refusal.challenge.and_then(|challenge| WWWAuthenticateParams::parse(challenge, &base).scope);
        let asked: Vec<String> =
            asked.iter().flat_map(|scopes| scopes.split_whitespace()).map(str::to_owned).collect();
        let mut scopes = BTreeSet::new();
        if refusal.status == 403 {
            // What was granted before is asked for again: the new token replaces the old one.
            scopes.clone_from(&granted.scopes);
            scopes.extend(asked.clone());
        }
        let token = self.log_in(refusal.challenge, &scopes).await;
        granted.token = Some(token.map_err(|error| needed(error.to_string()))?);
        granted.scopes.extend(asked);
        Ok(())
    }
}
