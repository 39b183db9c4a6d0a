//! Tenants on the wire.

use serde::{Deserialize, Serialize};
use toolgate_core::tenant::Tenant;
use utoipa::ToSchema;

use crate::rfc3339;

/// A tenant: the wall around an organisation.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct TenantView {
    /// Its slug.
    #[schema(example = "acme")]
    pub id: String,
    /// What people call it.
    pub title: String,
    /// Whether nobody gets in.
    pub disabled: bool,
    /// When it was made.
    pub created_at: String,
}

impl From<Tenant> for TenantView {
    fn from(tenant: Tenant) -> Self {
        Self {
            id: tenant.id.to_string(),
            title: tenant.title,
            disabled: tenant.disabled,
            created_at: rfc3339(tenant.created_at),
        }
    }
}

/// A page of tenants.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct TenantListView {
    /// The tenants, ordered by id.
    pub tenants: Vec<TenantView>,
    /// Where the next page starts; none when this is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A tenant to make.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateTenantRequest {
    /// Its slug: lower-case letters, digits and `-`.
    #[schema(pattern = "^[a-z0-9][a-z0-9-]{0,62}$", example = "acme")]
    pub id: String,
    /// What people call it; left out, its slug.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 120)]
    pub title: Option<String>,
}

/// A tenant, new or recovered, and how its administrator gets in. Shown once.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct TenantCreatedView {
    /// The tenant.
    pub tenant: TenantView,
    /// A key of its administrator, `user:admin`. It is not stored and can't be shown again.
    pub admin_key: String,
}

/// What to change of a tenant; what is left out stays.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateTenantRequest {
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 120)]
    pub title: Option<String>,
    /// Whether nobody gets in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
}
