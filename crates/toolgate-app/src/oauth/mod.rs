//! Applications that act for people: who they are, what people let them do, and the tokens that prove it.
//!
//! The authorization server of OAuth 2.1 (code with PKCE, refresh tokens that work once), without its HTTP; and the
//! resource server's half: what a token opens.

mod authorize;
mod bearer;
mod client;
mod client_document;
mod error;
mod exchange;
mod grant;
mod issuer;
mod proof;
mod redirect;
mod refresh;
mod register;
mod revoke;

use std::sync::Arc;
use std::time::Duration;

use toolgate_core::port::oauth::ClientDocuments;

use crate::App;
use crate::attempts::Attempts;

pub use authorize::{Authorization, AuthorizeFault, AuthorizeRequest};
pub use bearer::Address;
pub(crate) use bearer::Audience;
pub use client::{NewOauthClient, RegisteredClient};
pub use error::{OauthCode, OauthError};
pub use exchange::{TokenRequest, Tokens};
pub use issuer::{ConnectedIssuer, TokensOnly};
pub use proof::ClientProof;
pub use register::{Registered, Registration};

use client_document::KnownDocuments;

/// How long a code may wait to be exchanged.
const CODE_LASTS: Duration = Duration::from_secs(60);
/// How long an access token works.
const ACCESS_LASTS: Duration = Duration::from_secs(3600);
/// How long a grant lasts that is not used.
const GRANT_IDLE: Duration = Duration::from_secs(30 * 24 * 3600);
/// The most grants of one person at once.
const MOST_GRANTS: u32 = 200;

/// Which applications may name themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DynamicRegistration {
    /// None.
    Off,
    /// Those on the person's own machine. A code that is sent there reaches nobody else, so what such an application
    /// calls itself can mislead, and what it can take is what any program of that person could.
    Local,
    /// Any, wherever people are sent back to.
    Any,
}

/// What the operator decided about applications.
pub struct OauthSettings {
    /// Whether this server hands out tokens itself.
    pub built_in: bool,
    /// Which applications may name themselves (RFC 7591).
    pub dynamic_registration: DynamicRegistration,
    /// Where applications' own documents are fetched; none means that ids which are addresses are refused.
    pub documents: Option<Arc<dyn ClientDocuments>>,
    /// Other servers whose access tokens are taken.
    pub issuers: Vec<ConnectedIssuer>,
}

impl Default for OauthSettings {
    fn default() -> Self {
        Self {
            built_in: true,
            dynamic_registration: DynamicRegistration::Local,
            documents: None,
            issuers: Vec::new(),
        }
    }
}

impl std::fmt::Debug for OauthSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OauthSettings")
            .field("built_in", &self.built_in)
            .field("dynamic_registration", &self.dynamic_registration)
            .field("documents", &self.documents.is_some())
            .field("issuers", &self.issuers)
            .finish()
    }
}

/// What the use cases here share.
#[derive(Debug)]
pub(crate) struct Oauth {
    settings: OauthSettings,
    /// Failures at the token endpoint from one address.
    exchanges: Attempts,
    /// Applications that named themselves from one address.
    registrations: Attempts,
    /// Documents of applications fetched for one person.
    fetches: Attempts,
    documents: KnownDocuments,
}

impl Default for Oauth {
    fn default() -> Self {
        Self::new(OauthSettings::default())
    }
}

impl Oauth {
    fn new(settings: OauthSettings) -> Self {
        Self {
            settings,
            exchanges: Attempts::new(30, Duration::from_secs(2)),
            registrations: Attempts::new(10, Duration::from_secs(60)),
            fetches: Attempts::new(20, Duration::from_secs(3)),
            documents: KnownDocuments::default(),
        }
    }
}

impl App {
    /// The same with what the operator decided about applications.
    #[must_use]
    pub fn with_oauth(mut self, settings: OauthSettings) -> Self {
        self.oauth = Arc::new(Oauth::new(settings));
        self
    }

    /// Whether this server hands out tokens itself.
    #[must_use]
    pub fn oauth_built_in(&self) -> bool {
        self.oauth.settings.built_in
    }

    /// Whether applications may name themselves, those on a person's own machine at least.
    #[must_use]
    pub fn oauth_registers(&self) -> bool {
        self.oauth.settings.built_in && self.oauth.settings.dynamic_registration != DynamicRegistration::Off
    }

    /// Whether an application's id may be the address of a document about it.
    #[must_use]
    pub fn oauth_reads_documents(&self) -> bool {
        self.oauth.settings.documents.is_some()
    }

    /// The other servers whose tokens are taken, by issuer.
    pub fn oauth_issuers(&self) -> impl Iterator<Item = &str> {
        self.oauth.settings.issuers.iter().map(|issuer| issuer.issuer.as_str())
    }
}
