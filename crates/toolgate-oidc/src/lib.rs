//! OpenID Connect: asks an identity provider who someone is, or checks the access tokens another server hands out. All
//! of those protocols stays in here; what comes out is a [`toolgate_core::port::identity::Identity`]. Knows no storage
//! and no HTTP door.

mod claims;
mod discovery;
mod http;
mod keys;
mod provider;
mod token;

pub use provider::{OidcProvider, OidcSettings, SettingsError};
pub use token::{IssuerSettings, TokenIssuer};
