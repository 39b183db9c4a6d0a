//! One person in several tenants: users of different tenants who were proved to be the same person.
//!
//! Each tenant keeps its own half of a link, within its own wall and in its own record. A link holds while both halves
//! do, so either tenant ends it alone, and nothing has to be written in two tenants at once.

use crate::id::{PrincipalId, TenantId, TenantLinkId};
use crate::principal::Principal;
use crate::tenant::Tenant;
use crate::time::Timestamp;

/// What one tenant keeps of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TenantLink {
    /// The same in both tenants.
    pub id: TenantLinkId,
    /// Whose half it is.
    pub tenant: TenantId,
    /// The user here.
    pub principal: PrincipalId,
    /// The other tenant.
    pub other_tenant: TenantId,
    /// The user there.
    pub other_principal: PrincipalId,
    /// How the person proved to be the user here: `password` or the name of an identity provider.
    pub proof: String,
    /// When.
    pub made_at: Timestamp,
}

impl TenantLink {
    /// The other tenant's half, where the person proved it in this way.
    #[must_use]
    pub fn other_half(&self, proof: &str) -> Self {
        Self {
            tenant: self.other_tenant.clone(),
            principal: self.other_principal.clone(),
            other_tenant: self.tenant.clone(),
            other_principal: self.principal.clone(),
            proof: proof.to_owned(),
            ..self.clone()
        }
    }

    /// What this half's record says of its end, which was brought about in that tenant.
    #[must_use]
    pub fn unlinked(&self, by_tenant: &TenantId) -> serde_json::Value {
        serde_json::json!({
            "action": "user.unlinked", "principal": self.principal, "other_tenant": self.other_tenant,
            "link": self.id, "by_tenant": by_tenant,
        })
    }
}

/// A user whom a link leads to, as they stand now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedUser {
    /// By which link.
    pub link: TenantLinkId,
    /// Where.
    pub tenant: Tenant,
    /// Who.
    pub principal: Principal,
    /// How the person proved to be that user.
    pub proof: String,
}

impl LinkedUser {
    /// Whether they get in: neither they nor their tenant are switched off.
    #[must_use]
    pub const fn gets_in(&self) -> bool {
        !self.principal.disabled && !self.tenant.disabled
    }
}
