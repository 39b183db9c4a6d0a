//! Accounts at outside services on the wire. What opens them goes in and never comes out.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::SecretText;

/// A connection.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ConnectionView {
    /// Its id.
    #[schema(pattern = "^con_[0-9a-f]{32}$")]
    pub id: String,
    /// At which service.
    #[schema(example = "mcp:github")]
    pub service: String,
    /// Who uses it: `shared`, or a principal.
    #[schema(example = "user:ada@example.com")]
    pub owner: String,
    /// How its secret is used: `token`, `header`, `env` or `oauth`.
    pub kind: String,
    /// The header or the environment variable that carries it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The authorization server of a login.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// What a login lets us do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// Where its secret may be sent.
    #[schema(example = "https://mcp.example.com")]
    pub place: String,
    /// `ok`, `expired` (made anew when it is used), `revoked` or `needs_login`.
    pub state: String,
    /// When it was made.
    pub created_at: String,
    /// When its secret or state last changed.
    pub updated_at: String,
    /// When it was last used, to within a minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<String>,
}

/// A page of connections.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ConnectionListView {
    /// The connections, oldest first.
    pub connections: Vec<ConnectionView>,
    /// Where the next page starts; none when this is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A secret to keep for a service.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutConnectionRequest {
    /// How it is used: `token` (sent as a bearer token), `header` or `env`.
    #[schema(pattern = "^(token|header|env)$", example = "token")]
    pub kind: String,
    /// The header or the environment variable that carries it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "x-api-key")]
    pub name: Option<String>,
    /// The secret. It is never shown again.
    pub secret: SecretText,
    /// Whether all callers use it; otherwise it is your own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
}

/// Begins a login at a service.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ConnectRequest {
    /// Whether all callers will use it; otherwise it is your own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
}

/// Where to log in.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ConnectView {
    /// The address to open in a browser that is signed in here as you. It works for ten minutes, once.
    pub authorize_url: String,
}
