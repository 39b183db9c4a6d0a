//! One person in several tenants, on the wire.

use serde::{Deserialize, Serialize};
use toolgate_core::tenant_link::TenantLink;
use utoipa::ToSchema;

use crate::rfc3339;

/// One of your tenants.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct OwnTenantView {
    /// Its slug.
    #[schema(example = "acme")]
    pub id: String,
    /// What people call it.
    pub title: String,
    /// Who you are there.
    #[schema(example = "user:ada@example.com")]
    pub principal: String,
    /// Whether you are there now.
    pub current: bool,
    /// How you get there: `current`, `switch`, `sign_in` (its identity provider has to see you first) or `closed` (you,
    /// or all of it, are switched off).
    #[schema(example = "switch", pattern = "^(current|switch|sign_in|closed)$")]
    pub access: String,
}

/// Your tenants.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct OwnTenantListView {
    /// The tenants, ordered by id. With a key: its own alone.
    pub tenants: Vec<OwnTenantView>,
}

/// Which of your tenants to go to.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchTenantRequest {
    /// Its slug.
    #[schema(example = "acme")]
    pub tenant: String,
}

/// Which tenant to link yourself with.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AddTenantRequest {
    /// Its slug.
    #[schema(pattern = "^[a-z0-9][a-z0-9-]{0,62}$", example = "acme")]
    pub tenant: String,
}

/// Where to prove who you are in the other tenant.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct TenantAddedView {
    /// The page to sign in at, in this browser, within ten minutes. It leads on to a page that asks whether to link.
    #[schema(example = "/sign-in?tenant=acme&add=true&return_to=%2Flink")]
    pub sign_in: String,
}

/// A link between a user of this tenant and one of another: one person.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct TenantLinkView {
    /// Its id, the same in both tenants.
    #[schema(pattern = "^lnk_[0-9a-f]{32}$")]
    pub id: String,
    /// The user here.
    #[schema(example = "user:ada@example.com")]
    pub principal: String,
    /// The other tenant. Who they are there is that tenant's own.
    #[schema(example = "acme")]
    pub other_tenant: String,
    /// How the person proved to be the user here: `password` or the name of an identity provider.
    #[schema(example = "password")]
    pub proof: String,
    /// When.
    pub made_at: String,
}

impl From<TenantLink> for TenantLinkView {
    fn from(link: TenantLink) -> Self {
        Self {
            id: link.id.to_string(),
            principal: link.principal.to_string(),
            other_tenant: link.other_tenant.to_string(),
            proof: link.proof,
            made_at: rfc3339(link.made_at),
        }
    }
}

/// A page of links.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct TenantLinkListView {
    /// The links, ordered by id.
    pub links: Vec<TenantLinkView>,
    /// Where the next page starts; none when this is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
