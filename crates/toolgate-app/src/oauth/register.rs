//! Applications that name themselves (RFC 7591), where the operator lets them.

use std::net::IpAddr;

use toolgate_core::oauth::{OauthClient, OauthClientKind, OauthRegistration};
use toolgate_core::port::store::StoreError;

use super::client::{DYNAMIC, check_redirects};
use super::client_document::shown;
use super::{DynamicRegistration, OauthCode, OauthError, redirect};
use crate::attempts::address_bucket;
use crate::secret::Secret;
use crate::{App, AppError};

/// The most applications that named themselves.
const MOST: u32 = 10_000;

/// What an application says of itself.
#[derive(Debug, Clone, Default)]
pub struct Registration {
    /// What it calls itself.
    pub name: Option<String>,
    /// Where people may be sent back to.
    pub redirect_uris: Vec<String>,
    /// How it wants to prove who it is: `none`, or it gets a secret.
    pub auth_method: Option<String>,
}

/// An application that named itself just now.
#[derive(Debug)]
pub struct Registered {
    /// Its id from now on.
    pub client_id: String,
    /// Its secret, shown here and nowhere else.
    pub secret: Option<Secret>,
    /// What is kept of what it said.
    pub client: OauthClient,
    /// How it proves who it is.
    pub auth_method: String,
}

impl App {
    /// Takes in an application that names itself. It can do nothing until a person lets it in.
    ///
    /// # Errors
    /// When applications may not name themselves, what it says can't be used, or too many come from one address.
    pub async fn register_oauth_client(
        &self,
        mut registration: Registration,
        peer: IpAddr,
    ) -> Result<Registered, OauthError> {
        if !self.oauth_registers() {
            return Err(AppError::NotFound { what: "registration" }.into());
        }
        self.oauth.registrations.take(&address_bucket(peer))?;
        check_redirects(&registration.redirect_uris).map_err(|(uri, why)| {
            OauthError::new(
                OauthCode::InvalidRedirectUri,
                format!("people can't be sent back to `{uri}`: {why}"),
            )
        })?;
        if self.oauth.settings.dynamic_registration == DynamicRegistration::Local {
            // Some name a site of theirs beside their place on the machine; they are told which are kept.
            registration.redirect_uris.retain(|uri| redirect::is_local(uri));
            if registration.redirect_uris.is_empty() {
                return Err(OauthError::new(
                    OauthCode::InvalidRedirectUri,
                    "applications that name themselves must be on the person's own machine here; others need \
                     `dynamic_registration = true`, or someone who manages applications to name them",
                ));
            }
        }
        // RFC 7591 has `client_secret_basic` where nothing is said; what says nothing here is most often a desktop
        // application, which keeps no secret.
        let auth_method = registration.auth_method.unwrap_or_else(|| "none".to_owned());
        let secret = match auth_method.as_str() {
            "none" => None,
            "client_secret_basic" | "client_secret_post" => Some(Secret::generate()?),
            _ => {
                return Err(OauthError::new(
                    OauthCode::InvalidClientMetadata,
                    "`token_endpoint_auth_method` may be `none`, `client_secret_basic` or `client_secret_post`",
                ));
            }
        };
        let client = OauthClient {
            name: shown(&registration.name.unwrap_or_default()),
            redirect_uris: registration.redirect_uris,
            kind: OauthClientKind::Dynamic,
            secret_hash: secret.as_ref().map(|secret| toolgate_core::json::to_hex(&secret.hash())),
            scopes: vec![],
        };
        let client_id = format!("{DYNAMIC}{}", &Secret::generate()?.reveal()[..32]);
        let kept = OauthRegistration {
            client_id: client_id.clone(),
            client: client.clone(),
            created_at: self.now(),
            last_used_at: None,
        };
        match self.store().put_oauth_registration(kept, MOST).await {
            Err(StoreError::Conflict) => Err(AppError::TooMany { retry_after_seconds: 3600 }.into()),
            Err(cause) => Err(cause.into()),
            Ok(()) => Ok(Registered { client_id, secret, client, auth_method }),
        }
    }
}
