//! Applications and what people let them do, on the wire.

use serde::{Deserialize, Serialize};
use toolgate_core::oauth::{OauthClient, OauthGrant, OauthScope};
use utoipa::ToSchema;

use crate::rfc3339;

/// An application that may ask people to let it in, without its secret.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct OauthClientView {
    /// Its `client_id`.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// Where people may be sent back to.
    pub redirect_uris: Vec<String>,
    /// The most it may ask for: `tools`, `tools:read`, `approve`; none means all of them.
    pub scopes: Vec<String>,
    /// Whether it proves who it is with a secret.
    pub confidential: bool,
    /// Who named it.
    pub created_by: String,
    /// When.
    pub created_at: String,
}

impl OauthClientView {
    /// An application of this id, as someone named it.
    #[must_use]
    pub fn new(id: String, client: OauthClient, by: String, at: toolgate_core::Timestamp) -> Self {
        Self {
            id,
            name: client.name,
            redirect_uris: client.redirect_uris,
            scopes: words(&client.scopes),
            confidential: client.secret_hash.is_some(),
            created_by: by,
            created_at: rfc3339(at),
        }
    }
}

/// A page of applications.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct OauthClientListView {
    /// The applications, ordered by id.
    pub clients: Vec<OauthClientView>,
    /// Where the next page starts; none when this is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// An application to name.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateOauthClientRequest {
    /// Its `client_id`.
    #[schema(pattern = "^[a-z0-9][a-z0-9_.-]{0,63}$", example = "my-editor")]
    pub id: String,
    /// What people call it.
    #[schema(min_length = 1, max_length = 120)]
    pub name: String,
    /// Where people may be sent back to: https, http on 127.0.0.1 or localhost (any port), or a scheme of its own.
    #[schema(min_items = 1, max_items = 20)]
    pub redirect_uris: Vec<String>,
    /// The most it may ask for: `tools`, `tools:read`, `approve`. Left out, all of them.
    #[serde(default)]
    #[schema(max_items = 3)]
    pub scopes: Vec<String>,
    /// Whether it gets a secret to prove who it is. Desktop applications can't keep one.
    #[serde(default)]
    pub confidential: bool,
}

/// An application that was named just now. Shown once.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct NewOauthClientView {
    /// The application.
    pub client: OauthClientView,
    /// Its secret, where it has one. It is not stored and can't be shown again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

/// What a person let an application do.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct OauthGrantView {
    /// Its id.
    #[schema(pattern = "^ogr_[0-9a-f]{32}$")]
    pub id: String,
    /// Who let it in.
    pub principal: String,
    /// The application's `client_id`.
    pub client_id: String,
    /// What people called it then.
    pub client_name: String,
    /// What it may do.
    pub scopes: Vec<String>,
    /// Where its tokens work.
    pub resource: String,
    /// When.
    pub created_at: String,
    /// When it was last used, to within a minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<String>,
    /// When it ends if it is not used.
    pub expires_at: String,
}

impl From<OauthGrant> for OauthGrantView {
    fn from(grant: OauthGrant) -> Self {
        Self {
            id: grant.id.to_string(),
            principal: grant.principal.to_string(),
            client_id: grant.client_id,
            client_name: grant.client_name,
            scopes: words(&grant.scopes),
            resource: grant.resource,
            created_at: rfc3339(grant.created_at),
            last_used_at: grant.last_used_at.map(rfc3339),
            expires_at: rfc3339(grant.expires_at),
        }
    }
}

/// A page of grants.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct OauthGrantListView {
    /// The grants that work, oldest first.
    pub grants: Vec<OauthGrantView>,
    /// Where the next page starts; none when this is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

fn words(scopes: &[OauthScope]) -> Vec<String> {
    scopes.iter().map(|scope| scope.as_str().to_owned()).collect()
}
