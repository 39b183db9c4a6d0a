//! OpenID Connect: asks an identity provider who someone is. All of that protocol stays in here; what comes out is a
//! [`toolgate_core::port::identity::Identity`]. Knows no storage and no HTTP door.

mod claims;
mod discovery;
mod http;
mod provider;

pub use provider::{OidcProvider, OidcSettings, SettingsError};
